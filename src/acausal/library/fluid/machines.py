"""Pumps, fans and turbines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .correlations import LASTING
from .passages import H_WET, Passage, entering, one_substance, root_of_difference, same_composition, upwind

FLOW_SMALL = 0.01  # of the design point: below it the loss of a pump at rest is in proportion to the flow, which turns smoothly
SHARE_OPEN = 1e-3  # square of a turbine's flow, over that into a vacuum, from which on it is open
SHARE_LINEAR = 1e-4  # the same, below which its root is linear


class Pump(ac.Component):
    """A centrifugal pump or fan: a quadratic curve that follows the laws of similarity, also for flow that comes back.

    With pressure rise, volume flow and speed over those of the design point, ``dp = R1·n² + 2·R2·n·V - R3·V·|V|`` (Tummescheit
    4.44); R1 is `shut_off`, the rise at no flow, and ``R1 + 2·R2 - R3 = 1``. Power is ``V·dp/eta``, and goes into the fluid. What
    comes back, or is driven through it by a higher pressure before it, takes no power and gives none: that flow is throttled.

    With ``bend <= shut_off - 1`` the curve falls everywhere. With more it has a hump: two flows belong to a pressure near that of
    no flow, and a valve that closes behind the pump may come to a point where none does, which ends a run. Real pumps with a hump
    jump there, which takes the inertia of the fluid: a `DistributedPipe(…, "dynamic")` behind the pump has it.
    """

    a, b = ac.FluidPort(doc="suction"), ac.FluidPort(doc="delivery")
    speed = ac.Input(1.0, min=0, doc="speed over that of the design point")
    dp_nominal = ac.Parameter(1e5, unit="Pa", min=1e-3, doc="pressure rise of the design point")
    V_nominal = ac.Parameter(1e-3, unit="m^3/s", min=1e-12, doc="volume flow of the design point")
    shut_off = ac.Parameter(1.3, min=1, doc="pressure rise at no flow over that of the design point")
    bend = ac.Parameter(0.2, min=0, doc="R3: how steeply the curve falls; `shut_off + 2·R2 - bend = 1`")
    eta = ac.Parameter(0.6, min=0.01, max=1, doc="efficiency")
    m_flow = ac.Variable(unit="kg/s", nominal=0.1, start=0.1, doc="mass flow from a to b")
    P = ac.Variable(unit="W", nominal=100.0, doc="power")

    def equations(self) -> Iterator[Any]:
        a, b = self.a, self.b
        comes, back = (entering(self.medium, port).rho for port in (a, b))
        flow = self.m_flow / (upwind(self.m_flow, comes, back) * self.V_nominal)
        middle = (1 + self.bend - self.shut_off) / 2
        n = self.speed
        rise = self.shut_off * n**2 + 2 * middle * n * flow - self.bend * flow * ac.sqrt(flow * flow + FLOW_SMALL**2)
        yield b.p - a.p == self.dp_nominal * rise
        # on a kg of what is pumped: with the density of either way the enthalpy at b would jump where the flow turns
        work = ac.no_event(ac.max(b.p - a.p, 0.0)) / (comes * self.eta)
        yield self.P == ac.no_event(ac.max(self.m_flow, 0.0)) * work
        yield a.m_flow == self.m_flow
        yield b.m_flow == -self.m_flow
        yield b.h.outflow == a.h.inflow + work
        yield a.h.outflow == b.h.inflow
        yield from same_composition(self.medium, a, b)

    def events(self) -> Iterator[Any]:
        if self.medium.evaporates:
            ends, h = self.medium.saturation(p=self.a.p), self.a.h.inflow
            wet = (h > ends.liquid.h + H_WET) & (h < ends.vapour.h - H_WET) & (self.a.p < self.medium.p_critical)
            text = (
                "The pump takes in liquid and vapour together, for which its curve does not hold: it cavitates. Give it a higher "
                "pressure at `a` (a vessel that stands higher, less friction before it) or colder liquid."
            )
            yield ac.assert_(~wet | (self.m_flow <= 0), text, level="warning", lasting=LASTING)


class Fan(Pump):
    """A fan with similarity laws: the `Pump` of air, in its sizes. Air that is blown back passes it, too.

    For a shaft and large ratios of pressure there is `TurboCompressor`.
    """

    dp_nominal = ac.Parameter(60.0, unit="Pa", min=1e-3, doc="pressure rise of the design point")
    V_nominal = ac.Parameter(0.5, unit="m^3/s", min=1e-12, doc="volume flow of the design point")
    shut_off = ac.Parameter(1.6, min=1, doc="pressure rise at no flow over that of the design point")
    bend = ac.Parameter(0.5, min=0, doc="R3: how steeply the curve falls; `shut_off + 2·R2 - bend = 1`")
    eta = ac.Parameter(0.4, min=0.01, max=1, doc="efficiency, of fan and motor")


class Turbine(Passage):
    """A turbine by Stodola's law, with an isentropic efficiency: ``m_flow = K·sqrt(rho·p·(1 - (p_b/p)²))``, ``P = m_flow·eta·(h
    - h(p_b, s))``.

    For an ideal gas that is Stodola's ``m·sqrt(T)/p = C·sqrt(1 - Pi²)`` (Tummescheit 4.37), linear where both pressures are nearly
    the same. Against a higher pressure behind it only the share `leak` of that flow comes back, without work: so what stands
    between a turbine and a closed valve keeps a pressure.
    """

    K = ac.Parameter(1e-4, unit="m^2", min=0, doc="flow coefficient")
    eta = ac.Parameter(0.85, min=0.01, max=1, doc="isentropic efficiency")
    leak = ac.Parameter(1e-6, min=0, max=1, doc="share of the flow that comes back against a higher pressure")
    P = ac.Variable(unit="W", nominal=1e3, doc="power")

    def share(self, ratio: Any) -> Any:
        """The square of the flow over that into a vacuum, at a ratio of outlet to inlet pressure; negative above one."""
        return 1 - ratio**2

    def efficiency(self, drop: Any) -> Any:
        """The isentropic efficiency with an isentropic drop of enthalpy."""
        return self.eta

    def ideal_drop(self) -> Any:
        """The isentropic drop of enthalpy, at no pressure above that before it."""
        inlet = entering(self.medium, self.a)
        return inlet.h - self.medium.state(p=ac.no_event(ac.min(self.a.p, self.b.p)), s=inlet.s).h

    def equations(self) -> Iterator[Any]:
        a, b = self.a, self.b
        one_substance(self)
        inlet, ideal = entering(self.medium, a), self.ideal_drop()
        share = self.share(b.p / a.p)
        passes = self.leak + (1 - self.leak) * ac.smooth_step(share, SHARE_OPEN / 2, SHARE_OPEN)
        yield self.m_flow == self.K * ac.sqrt(inlet.rho * a.p) * passes * root_of_difference(share, SHARE_LINEAR)
        drop = self.efficiency(ideal) * ideal
        yield self.P == ac.no_event(ac.max(self.m_flow, 0.0)) * drop
        yield a.m_flow == self.m_flow
        yield b.m_flow == -self.m_flow
        yield b.h.outflow == inlet.h - drop
        yield a.h.outflow == b.h.inflow

    def events(self) -> Iterator[Any]:
        if self.medium.evaporates:
            ends = self.medium.saturation(p=self.a.p)
            wet = (self.a.h.inflow < ends.liquid.h + 0.5 * ends.h_evaporation) & (self.a.p < self.medium.p_critical)
            text = (
                "The turbine takes in more liquid than vapour, for which its law does not hold. Heat what comes, or part it before."
            )
            yield ac.assert_(~wet | (self.m_flow <= 0), text, level="warning")
