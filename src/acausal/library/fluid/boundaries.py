"""Sources and sinks: pressures and flows that the plant does not change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import acausal as ac

from .passages import checked_fractions


class Boundary(ac.Component):
    """Base of sources and sinks. Of a mixture, `X` are the mass fractions of what comes out: ``PressureBoundary(X=[0.2, 0.8])``."""

    port = ac.FluidPort()

    def __init__(self, X: Sequence[float] | None = None) -> None:
        self.said = None if X is None else tuple(map(float, X))

    def composition(self) -> Iterator[Any]:
        if self.medium.substances:
            yield self.port.X.outflow == checked_fractions(self.medium, self.said, "X")


class PressureBoundary(Boundary):
    """A reservoir: ``port.p = p``; what comes out of it has the enthalpy h. Source and sink, as the flow goes."""

    p = ac.Input(1e5, unit="Pa", min=0, nominal=1e5, doc="pressure")
    h = ac.Input(3e5, unit="J/kg", nominal=1e5, doc="specific enthalpy of what comes out")

    def equations(self) -> Iterator[Any]:
        yield self.port.p == self.p
        yield self.port.h.outflow == self.h
        yield from self.composition()


class FlowSource(Boundary):
    """A flow `m_flow` out of it, into what is connected, with the enthalpy h; negative for a sink."""

    m_flow = ac.Input(0.01, unit="kg/s", nominal=0.01, doc="mass flow into what is connected")
    h = ac.Input(3e5, unit="J/kg", nominal=1e5, doc="specific enthalpy of what comes out")

    def equations(self) -> Iterator[Any]:
        yield self.port.m_flow == -self.m_flow
        yield self.port.h.outflow == self.h
        yield from self.composition()


class Closed(ac.Component):
    """A blind flange: nothing flows. Fluid at rest behind it has the enthalpy of what would come."""

    port = ac.FluidPort()

    def equations(self) -> Iterator[Any]:
        yield self.port.m_flow == 0
        yield self.port.h.outflow == self.port.h.inflow
        if self.medium.substances:
            yield self.port.X.outflow == self.port.X.inflow
