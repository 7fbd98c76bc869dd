"""Where air comes from and goes to, by temperature and relative humidity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac
from acausal.errors import UsageError
from acausal.media.moist_air import MoistAir, saturation_pressure


def only_moist_air(component: Any) -> None:
    """What is for air and its moisture says so in a circuit of something else."""
    medium = component.moist
    if not isinstance(medium, MoistAir):
        raise UsageError(
            f"{type(component).__name__} is for moist air, and in its circuit flows {medium.name}.",
            remedy="Take a part of `fluid` there, or `ac.media.moist_air()` for the circuit.",
        )


class AirBoundary(ac.Component):
    """Base: air of temperature T and relative humidity phi comes out, ``h = h(p, T, w)`` with ``w = 0.622·phi·p_s/(p -
    phi·p_s)``, p_s the pressure of saturation at T; what goes in does not matter.
    """

    moist = ac.AnyMedium(ac.media.moist_air(), doc="the air")
    port = ac.FluidPort(moist)
    T = ac.Input(293.15, unit="K", min=193.15, max=393.15, doc="temperature of the air that comes out")
    phi = ac.Input(0.5, min=0, max=1, doc="its relative humidity")

    def equations(self) -> Iterator[Any]:
        only_moist_air(self)
        air = self.moist.state(p=self.port.p, T=self.T, phi=self.phi, phase="any")
        yield self.port.h.outflow == air.h
        yield self.port.X.outflow[0] == air.x_water
        self.w = ac.named(air.w, unit="kg/kg", doc="its humidity ratio")

    def events(self) -> Iterator[Any]:
        text = (
            "There is no such air: at this temperature and relative humidity its vapour alone has the pressure of all of it. "
            "Above 100 °C give a smaller `phi`."
        )
        yield ac.assert_(self.phi * saturation_pressure(self.T) < 0.95 * self.port.p, text)


class Surroundings(AirBoundary):
    """The weather, a hall, a shop: ``port.p = p``, air of T and phi comes out of it. Source and sink, as the flow goes."""

    p = ac.Input(101325.0, unit="Pa", min=1e4, nominal=1e5, doc="pressure")

    def equations(self) -> Iterator[Any]:
        yield self.port.p == self.p
        yield from super().equations()


class AirFlow(AirBoundary):
    """``port.m_flow = -m_flow``: a flow of air out of it, into what is connected, with T and phi; negative for a sink."""

    m_flow = ac.Input(0.5, unit="kg/s", nominal=0.5, doc="mass flow of moist air into what is connected")

    def equations(self) -> Iterator[Any]:
        yield self.port.m_flow == -self.m_flow
        yield from super().equations()
