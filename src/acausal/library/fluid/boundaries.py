"""Sources and sinks: pressures and flows that the plant does not change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import acausal as ac

from .passages import checked_fractions, given_enthalpy, given_fractions, refuse_fractions


class Boundary(ac.Component):
    """Base of sources and sinks. What comes out has the enthalpy `h`, or the temperature `T` or vapour quality `x` given instead:
    ``PressureBoundary(p=4e5, T=350.0)``; at saturation, where a temperature leaves it open, it is as wet as the plant needs it. Of
    a mixture, `X` are its mass fractions: ``PressureBoundary(X=[0.2, 0.8])``.
    """

    port = ac.FluidPort()
    h = ac.Input(3e5, unit="J/kg", nominal=1e5, doc="specific enthalpy of what comes out")
    T = ac.Input(300.0, unit="K", min=0, instead_of="h", doc="temperature of what comes out")
    x = ac.Input(1.0, min=0, max=1, instead_of="h", doc="vapour quality of what comes out")

    def __init__(self, X: Sequence[float] | None = None) -> None:
        self.said = given_fractions(X, "X")

    def enthalpy(self, p: Any) -> Any:
        """Of what comes out at the pressure p."""
        refuse_fractions(self.medium, self.said, "X")
        mixed = {"X": checked_fractions(self.medium, self.said, "X")} if self.medium.substances else {}
        if self.h is None and self.T is not None and self.medium.evaporates:
            return enthalpy_of_phase(self.medium, p, self.T)
        return given_enthalpy(self.medium, p, self.h, self.T, self.x, **mixed)

    def composition(self) -> Iterator[Any]:
        if self.medium.substances:
            yield self.port.X.outflow == checked_fractions(self.medium, self.said, "X")


P_BOILING = 1e-4  # of the pressure at which it boils: within it what is given by its temperature is neither liquid nor vapour
T_NEAR = 0.9999  # of the critical temperature, from which on liquid and vapour are not told apart


def enthalpy_of_phase(medium: Any, p: Any, T: Any) -> Any:
    """The enthalpy of a fluid by its temperature, where pressure or temperature may pass saturation during a run.

    There temperature says nothing about it: within `P_BOILING` of the pressure at which it boils at T it goes over from liquid to
    vapour. Where a plant comes to stay there, what comes in is as wet as the plant needs it; with a jump it would chatter. Liquid
    is taken at no less than that pressure, vapour at no more, so that each goes on until the other is taken.
    """
    below = T < T_NEAR * medium.T_critical
    boils = medium.saturation(T=ac.no_event(ac.min(T, T_NEAR * medium.T_critical))).p
    pressed, released = (ac.no_event(limit(p, boils * share)) for limit, share in ((ac.max, 1 + 1e-9), (ac.min, 1 - 1e-9)))
    liquid, vapour = (medium.state(p=ac.no_event(ac.where(below, limited, p)), T=T).h for limited in (pressed, released))
    return ac.smooth_switch(p, vapour, liquid, x0=boils, width=P_BOILING * boils)


class PressureBoundary(Boundary):
    """A reservoir: ``port.p = p``; what comes out of it has the enthalpy h. Source and sink, as the flow goes.

    ``PressureBoundary(p=4e5, T=350.0)`` is given a temperature instead, ``PressureBoundary(p=2e5, x=1.0)`` saturated vapour.
    """

    p = ac.Input(1e5, unit="Pa", min=0, nominal=1e5, doc="pressure")

    def equations(self) -> Iterator[Any]:
        yield self.port.p == self.p
        yield self.port.h.outflow == self.enthalpy(self.p)
        yield from self.composition()


class FlowSource(Boundary):
    """A flow `m_flow` out of it, into what is connected, with the enthalpy h; negative for a sink.

    ``FlowSource(m_flow=0.2, T=350.0)`` is given a temperature instead, at the pressure that the plant has there.
    """

    m_flow = ac.Input(0.01, unit="kg/s", nominal=0.01, doc="mass flow into what is connected")

    def equations(self) -> Iterator[Any]:
        yield self.port.m_flow == -self.m_flow
        yield self.port.h.outflow == self.enthalpy(self.port.p)
        yield from self.composition()


class Closed(ac.Component):
    """A blind flange: ``port.m_flow = 0``. Fluid at rest behind it has the enthalpy of what would come."""

    port = ac.FluidPort()

    def equations(self) -> Iterator[Any]:
        yield self.port.m_flow == 0
        yield self.port.h.outflow == self.port.h.inflow
        if self.medium.substances:
            yield self.port.X.outflow == self.port.X.inflow
