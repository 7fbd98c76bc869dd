"""Valves besides the plain one: check valves, choking nozzles, three and four ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .passages import Passage, Throttle, entering, root_of_difference, upwind


class CheckValve(Throttle):
    """Lets fluid pass from a to b only: it opens within `dp_open`, and leaks a little backwards.

    The area goes smoothly from ``leak·A`` below zero to A at `dp_open`.
    """

    A = ac.Parameter(1e-5, unit="m^2", min=0, doc="effective area when open (discharge coefficient times area)")
    dp_open = ac.Parameter(2e3, unit="Pa", min=1e-3, doc="pressure difference at which it is open")
    leak = ac.Parameter(1e-6, min=0, max=1, doc="share of the area that stays open")

    def effective_area(self) -> Any:
        dp = self.a.p - self.b.p
        return self.A * (self.leak + (1 - self.leak) * ac.smooth_step(dp, 0.5 * self.dp_open, self.dp_open))


class SolenoidValve(Throttle):
    """Open or closed, as `run` says; it moves within `tau` and leaks a little when it is closed."""

    run = ac.InputStates(on="all", off="any", default="on", doc="whether it is open: if everything connected says so")
    A = ac.Parameter(1e-5, unit="m^2", min=0, doc="effective area when open (discharge coefficient times area)")
    leak = ac.Parameter(1e-6, min=0, max=1, doc="share of the area that stays open")
    tau = ac.Parameter(0.2, unit="s", min=1e-3, doc="time constant of the slide")
    open = ac.Variable(start=1.0, fixed=True, doc="opening")

    def effective_area(self) -> Any:
        return self.A * (self.leak + (1 - self.leak) * self.open)

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.tau * ac.der(self.open) == ac.match(self.run, on=1.0, off=0.0) - self.open


class Nozzle(Passage):
    """A nozzle for gas, that chokes: ``m_flow = A·Psi·sqrt(2·p·rho)`` of the side it comes from (Tummescheit 4.41, 4.42).

    ``Psi = sqrt(k/(k-1)·(r^(2/k) - r^((k+1)/k)))`` with the ratio r of the pressures, held at its highest value below the
    critical ratio ``(2/(k+1))^(k/(k-1))`` (printed inverted in 4.41a). Near r = 1 the root is linear.
    """

    A = ac.Parameter(1e-5, unit="m^2", min=0, doc="effective area (discharge coefficient times area)")
    kappa = ac.Parameter(1.4, min=1.01, max=1.7, doc="isentropic exponent")
    r_small = ac.Parameter(1e-3, min=1e-8, group="method", doc="1 - r below which the root is linear")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        a, b, k = self.a, self.b, self.kappa
        dp = a.p - b.p
        rho = upwind(dp, *(entering(self.medium, port).rho for port in (a, b)))
        high, low = ac.no_event(ac.max(a.p, b.p)), ac.no_event(ac.min(a.p, b.p))
        ratio = ac.no_event(ac.max(low / high, (2 / (k + 1)) ** (k / (k - 1))))
        inside = k / (k - 1) * (ratio ** (2 / k) - ratio ** ((k + 1) / k))
        rounded = inside / (inside + self.r_small) ** 0.5
        yield self.m_flow == upwind(dp, 1.0, -1.0) * self.A * rounded * ac.sqrt(2 * high * rho)


class ThreeWayValve(ac.Component):
    """Divides what comes at `common` between `a` (share `opening` of the area) and `b` (the rest), or mixes it the other way
    round.

    It holds no fluid; what leaves is the mixture of what comes in, and the mean of both where nothing does.
    """

    common, a, b = ac.FluidPort(doc="all of it"), ac.FluidPort(doc="the first way"), ac.FluidPort(doc="the second way")
    opening = ac.Input(0.5, min=0, max=1, doc="1: all through a; 0: all through b")
    A = ac.Parameter(1e-4, unit="m^2", min=0, doc="effective area of a way that is open")
    leak = ac.Parameter(1e-4, min=0, max=0.1, doc="share of the area of a way that is closed")
    dp_small = ac.Parameter(100.0, unit="Pa", min=1e-6, group="method", doc="pressure difference below which flow is laminar")

    def equations(self) -> Iterator[Any]:
        yield self.common.m_flow + self.a.m_flow + self.b.m_flow == 0
        for way, others, share in ((self.a, self.b, self.opening), (self.b, self.a, 1 - self.opening)):
            rho = entering(self.medium, self.common).rho
            area = self.A * (self.leak + (1 - self.leak) * share)
            yield way.m_flow == -area * ac.sqrt(2 * rho) * root_of_difference(self.common.p - way.p, self.dp_small)
            yield from self._leaves(way, self.common, others)
        yield from self._leaves(self.common, self.a, self.b)

    def _leaves(self, port: Any, one: Any, other: Any) -> Iterator[Any]:
        """What leaves at a port, of what comes in at two others; at rest the mean of both."""
        m1, m2 = (ac.no_event(ac.max(each.m_flow, 0.0)) + 1e-8 for each in (one, other))
        yield from mixture(self.medium, port, m1, m2, one, other)


class FourWayValve(ac.Component):
    """Turns a heat pump round: `discharge` goes to `indoor` and `outdoor` to `suction` while it heats, the other way while it
    cools.

    The slide moves within `tau`; halfway all four are open to each other, as they are. Flow is ``A·sqrt(2·rho·dp)`` through
    each of the four ways.
    """

    discharge, suction = ac.FluidPort(doc="from the compressor"), ac.FluidPort(doc="to the compressor")
    indoor, outdoor = ac.FluidPort(doc="coil that heats"), ac.FluidPort(doc="the other coil")
    mode = ac.InputStates("heat", "cool", default="heat", doc="which way it stands")
    A = ac.Parameter(1e-4, unit="m^2", min=0, doc="effective area of a way that is open")
    leak = ac.Parameter(1e-5, min=0, max=0.1, doc="share of the area of a way that is closed")
    tau = ac.Parameter(1.0, unit="s", min=1e-3, doc="time to turn")
    dp_small = ac.Parameter(500.0, unit="Pa", min=1e-6, group="method", doc="pressure difference below which flow is laminar")
    slide = ac.Variable(start=1.0, fixed=True, doc="1: heats, 0: cools")

    def equations(self) -> Iterator[Any]:
        yield self.tau * ac.der(self.slide) == ac.match(self.mode, heat=1.0, cool=0.0) - self.slide
        straight, crossed = self._open(self.slide), self._open(1 - self.slide)
        high, low = (self.discharge, self.suction)
        flows = {
            (0, 0): self._flow(high, self.indoor, straight),
            (0, 1): self._flow(high, self.outdoor, crossed),
            (1, 0): self._flow(self.indoor, low, crossed),
            (1, 1): self._flow(self.outdoor, low, straight),
        }
        yield high.m_flow == flows[0, 0] + flows[0, 1]
        yield low.m_flow == -flows[1, 0] - flows[1, 1]
        yield self.indoor.m_flow == flows[1, 0] - flows[0, 0]
        yield self.outdoor.m_flow == flows[1, 1] - flows[0, 1]
        yield from self._leaves(high, -flows[0, 0], self.indoor, -flows[0, 1], self.outdoor)
        yield from self._leaves(low, flows[1, 0], self.indoor, flows[1, 1], self.outdoor)
        yield from self._leaves(self.indoor, flows[0, 0], high, -flows[1, 0], low)
        yield from self._leaves(self.outdoor, flows[0, 1], high, -flows[1, 1], low)

    def _open(self, share: Any) -> Any:
        return self.A * (self.leak + (1 - self.leak) * share)

    def _flow(self, one: Any, other: Any, area: Any) -> Any:
        dp = one.p - other.p
        rho = upwind(dp, *(entering(self.medium, port).rho for port in (one, other)))
        return area * ac.sqrt(2 * rho) * root_of_difference(dp, self.dp_small)

    def _leaves(self, port: Any, first: Any, one: Any, second: Any, other: Any) -> Iterator[Any]:
        """What leaves at a port, of two flows, counted towards it."""
        m1, m2 = (ac.no_event(ac.max(m, 0.0)) + 1e-9 for m in (first, second))
        yield from mixture(self.medium, port, m1, m2, one, other)


def mixture(medium: Any, port: Any, m1: Any, m2: Any, one: Any, other: Any) -> Iterator[Any]:
    """At a port leaves what two flows bring from two others: the mean of their enthalpies and compositions."""
    for name in ("h", "X") if medium.substances else ("h",):
        first, second = (getattr(each, name).inflow for each in (one, other))
        yield getattr(port, name).outflow == (m1 * first + m2 * second) / (m1 + m2)
