"""Sources and sinks: pressures and flows that the plant does not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac


class PressureBoundary(ac.Component):
    """A reservoir: ``port.p = p``; what comes out of it has the enthalpy h. Source and sink, as the flow goes."""

    port = ac.FluidPort()
    p = ac.Input(1e5, unit="Pa", min=0, nominal=1e5, doc="pressure")
    h = ac.Input(3e5, unit="J/kg", nominal=1e5, doc="specific enthalpy of what comes out")

    def equations(self) -> Iterator[Any]:
        yield self.port.p == self.p
        yield self.port.h.outflow == self.h


class FlowSource(ac.Component):
    """A flow `m_flow` out of it, into what is connected, with the enthalpy h; negative for a sink."""

    port = ac.FluidPort()
    m_flow = ac.Input(0.01, unit="kg/s", nominal=0.01, doc="mass flow into what is connected")
    h = ac.Input(3e5, unit="J/kg", nominal=1e5, doc="specific enthalpy of what comes out")

    def equations(self) -> Iterator[Any]:
        yield self.port.m_flow == -self.m_flow
        yield self.port.h.outflow == self.h


class Closed(ac.Component):
    """A blind flange: nothing flows. Fluid at rest behind it has the enthalpy of what would come."""

    port = ac.FluidPort()

    def equations(self) -> Iterator[Any]:
        yield self.port.m_flow == 0
        yield self.port.h.outflow == self.port.h.inflow
