"""Valves besides the plain one: check valves, choking nozzles, three and four ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .correlations import LASTING
from .passages import DP_SMALL, Passage, Throttle, Valve, entering, root_of_difference, state_at, upwind

M_TOLD = 1e-9  # kg/s: what rests at a nozzle is not told of


class CheckValve(Throttle):
    """Lets fluid pass from a to b only: it opens within `dp_open`, and leaks a little backwards.

    ``m_flow = A·(leak + (1 - leak)·s)·sqrt(2·rho·dp)`` (see `Throttle`), s going smoothly from 0 at ``dp <= 0`` to 1 at `dp_open`.
    """

    A = ac.Parameter(1e-5, unit="m^2", min=0, doc="effective area when open (discharge coefficient times area)")
    dp_open = ac.Parameter(2e3, unit="Pa", min=1e-3, doc="pressure difference at which it is open")
    leak = ac.Parameter(1e-6, min=0, max=1, doc="share of the area that stays open")

    def effective_area(self) -> Any:
        dp = self.a.p - self.b.p
        return self.A * (self.leak + (1 - self.leak) * ac.smooth_step(dp, 0.5 * self.dp_open, self.dp_open))


SEAT = 1e-3  # of the lift of a slide: below it, its seat closes


def seated(lift: Any) -> Any:
    """What a slide leaves open, ``lift³/(lift² + seat²)·(1 + seat²)``: hardly anything before it has come to its seat.

    Were it the lift itself, an error of the lift within its tolerance would be as much as the leak of a closed valve.

    >>> round(seated(1.0), 6), round(seated(0.5), 5), seated(1e-5) < 2e-9, seated(-2e-3) < 0
    (1.0, 0.5, True, True)
    """
    return lift**3 / (lift**2 + SEAT**2) * (1 + SEAT**2)


class SolenoidValve(Throttle):
    """Open or closed, as `run` says; it moves within `tau` and leaks a little when it is closed.

    ``m_flow = A·(leak + (1 - leak)·share)·sqrt(2·rho·dp)`` (see `Throttle`) with ``share = open³/(open² + 1e-6)``, which is the
    lift but for the last of it, where the seat closes; ``tau·d(open)/dt = 1 - open`` while it is to be open and ``-open`` while it
    is not. State: open.
    """

    run = ac.InputStates(on="all", off="any", default="on", doc="whether it is open: if everything connected says so")
    A = ac.Parameter(1e-5, unit="m^2", min=0, doc="effective area when open (discharge coefficient times area)")
    leak = ac.Parameter(1e-6, min=0, max=1, doc="share of the area that stays open")
    tau = ac.Parameter(0.2, unit="s", min=1e-3, doc="time constant of the slide")
    open = ac.Variable(start=1.0, fixed=True, doc="lift of the slide")

    def effective_area(self) -> Any:
        return self.A * (self.leak + (1 - self.leak) * seated(self.open))

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.tau * ac.der(self.open) == ac.match(self.run, on=1.0, off=0.0) - self.open


class Nozzle(Passage):
    """A nozzle for gas, that chokes: ``m_flow = A·Psi·sqrt(2·p·rho)`` of the side it comes from (Tummescheit 4.41, 4.42).

    ``Psi = sqrt(k/(k-1)·(r^(2/k) - r^((k+1)/k)))`` with the ratio r of the pressures, held at its highest value below the
    critical ratio ``(2/(k+1))^(k/(k-1))`` (printed inverted in 4.41a). Near r = 1 the root is linear. Fluid of
    which more is liquid than vapour is told once.
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
        psi = root_of_difference(inside, self.r_small)
        yield self.m_flow == upwind(dp, 1.0, -1.0) * self.A * psi * ac.sqrt(2 * high * rho)

    def events(self) -> Iterator[Any]:
        if self.medium.evaporates:
            p, h = (upwind(self.m_flow, *sides) for sides in ((self.a.p, self.b.p), (self.a.h.inflow, self.b.h.inflow)))
            ends = self.medium.saturation(p=p)
            wet = (h < ends.liquid.h + 0.5 * ends.h_evaporation) & (p < self.medium.p_critical)
            passes = ac.no_event(ac.abs(self.m_flow)) > M_TOLD
            text = (
                "The nozzle takes in more liquid than vapour, for which its law, that of a gas, does not hold. Take an `Orifice` "
                "for liquid, or heat what comes."
            )
            yield ac.assert_(~(wet & passes), text, level="warning", lasting=LASTING)


def _ways(valve: Any, count: int) -> list[Valve]:
    """The ways of a valve, alike."""
    alike: Any = {"A": valve.A, "dp_small": valve.dp_small, "medium": valve.medium}
    return [Valve(**alike) for _ in range(count)]


class Chamber(ac.Component):
    """Where three ways meet: one pressure, ``sum(m) = 0``, and a constant mass M in which what comes is mixed, ``M·dh/dt =
    sum(max(m, 0)·(h_before - h))``; what leaves has the enthalpy h. Its mass fractions follow in the same way. States: h, X.

    At the start h is that of the mixture of what comes, ``sum(max(m, 0)·h_before)/sum(max(m, 0))``; where less than `m_small`
    comes, the mean of all that might. Joints that are merely connected mix at once, which suits fluids of one phase. Put this
    where liquid meets vapour: liquid makes hot vapour denser by more than its own mass, so that more of it is drawn, and from some
    mixture on no flow fits.
    """

    medium = ac.AnyMedium(doc="what flows")
    common = ac.FluidPort(medium, doc="first way")
    one, two = ac.FluidPort(medium, doc="second way"), ac.FluidPort(medium, doc="third way")
    M = ac.Parameter(1e-3, unit="kg", min=1e-9, doc="mass of what it holds")
    m_small = ac.Parameter(3e-8, unit="kg/s", min=1e-9, group="method", doc="flow below which what meets is its mean, at the start")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=3e5, state="always", doc="enthalpy of what it holds")
    X: Any

    def __init__(self) -> None:
        self.X = ac.Fractions(type(self).medium, nominal=0.1, start=0.0, state="always", doc="composition of that, of a mixture")

    def equations(self) -> Iterator[Any]:
        ports, comes = self._ports(), self._comes()
        yield ac.sum([port.m_flow for port in ports]) == 0
        for port in ports[1:]:
            yield port.p == self.common.p
        for held, streams in self._carried():
            yield self.M * ac.der(held) == ac.sum([w * (stream.inflow - held) for w, stream in zip(comes, streams, strict=True)])
            for stream in streams:
                yield stream.outflow == held
        self.U = ac.named(self.M * self.h, unit="J", doc="energy of what it holds")

    def initial_equations(self) -> Iterator[Any]:
        for held, streams in self._carried():
            yield held == mixture(self._comes(), [stream.inflow for stream in streams], self.m_small)

    def _ports(self) -> tuple[Any, ...]:
        return self.common, self.one, self.two

    def _comes(self) -> list[Any]:
        return [ac.no_event(ac.max(port.m_flow, 0.0)) for port in self._ports()]

    def _carried(self) -> list[tuple[Any, list[Any]]]:
        """What it holds of what streams carry."""
        ports = self._ports()
        found = [(self.h, [port.h for port in ports])]
        return found + ([(self.X, [port.X for port in ports])] if self.medium.substances else [])


def mixture(comes: list[Any], values: list[Any], m_small: Any) -> Any:
    """What flows bring together; the mean of all values where less than `m_small` comes."""
    spread = m_small * (1 - ac.smooth_step(ac.sum(comes), m_small / 2, m_small))
    weights = [w + spread for w in comes]
    return ac.sum([w * value for w, value in zip(weights, values, strict=True)]) / ac.sum(weights)


class ThreeWayValve(ac.Component):
    """Divides what comes at `common` between `a` (share `opening` of the area) and `b` (the rest), or mixes it the other way
    round: two `Valve`s, ``m_flow = A·sqrt(2·rho·dp)`` each, that meet at `common`.

    There a `Chamber` of the mass M mixes what comes, ``M·dh/dt = sum(max(m, 0)·(h_before - h))``, and what leaves has its
    enthalpy. State: the enthalpy in it.
    """

    medium = ac.AnyMedium(doc="what flows")
    common = ac.FluidPort(medium, doc="all of it")
    a, b = ac.FluidPort(medium, doc="the first way"), ac.FluidPort(medium, doc="the second way")
    opening = ac.Input(0.5, min=0, max=1, doc="1: all through a; 0: all through b")
    A = ac.Parameter(1e-4, unit="m^2", min=0, doc="effective area of a way that is open")
    leak = ac.Parameter(1e-4, min=0, max=0.1, doc="share of the area of a way that is closed")
    M = ac.Parameter(1e-3, unit="kg", min=1e-9, doc="mass of what the chamber holds")
    dp_small = ac.Parameter(DP_SMALL, unit="Pa", min=1e-6, group="method", doc="pressure difference below which flow is laminar")

    def __init__(self) -> None:
        self.first, self.second = _ways(self, 2)
        alike: Any = {"M": self.M, "medium": self.medium}
        self.chamber = Chamber(**alike)

    def connections(self) -> Iterator[Any]:
        yield self.common, self.chamber.common
        yield self.chamber.one, self.first.a
        yield self.chamber.two, self.second.a
        yield self.first.b, self.a
        yield self.second.b, self.b

    def equations(self) -> Iterator[Any]:
        for way, share in ((self.first, self.opening), (self.second, 1 - self.opening)):
            yield way.opening == self.leak + (1 - self.leak) * share
        self.U = ac.named(self.M * self.chamber.h, unit="J", doc="energy of what the chamber holds")


class FourWayValve(ac.Component):
    """Turns a heat pump round: `discharge` goes to `indoor` and `outdoor` to `suction` while it heats, the other way while it
    cools.

    The slide moves within `tau`, ``tau·d(slide)/dt = 1 - slide`` to heat and ``-slide`` to cool; halfway all four are open to
    each other, as they are. Through each of the four ways ``m = A·y·sqrt(2·rho·dp)``, with ``y = leak + (1 - leak)·slide`` of the
    two that heat, and ``1 - slide`` in its place of the two that cool. At each port meet it and two ways, in a chamber that holds
    `M` of fluid: ``M·dh/dt = sum(max(m, 0)·(h_before - h))``, and what leaves there has the enthalpy h. At the start it is the
    mixture of what comes, ``h = sum(max(m, 0)·h_before)/sum(max(m, 0))``; where less than `m_small` comes, the mean of all that
    might (see `Chamber`). States: slide, h.
    """

    medium = ac.AnyMedium(doc="what flows")
    discharge, suction = ac.FluidPort(medium, doc="from the compressor"), ac.FluidPort(medium, doc="to the compressor")
    indoor, outdoor = ac.FluidPort(medium, doc="coil that heats"), ac.FluidPort(medium, doc="the other coil")
    mode = ac.InputStates("heat", "cool", default="heat", doc="which way it stands")
    A = ac.Parameter(1e-4, unit="m^2", min=0, doc="effective area of a way that is open")
    leak = ac.Parameter(1e-5, min=0, max=0.1, doc="share of the area of a way that is closed")
    tau = ac.Parameter(1.0, unit="s", min=1e-3, doc="time to turn")
    dp_small = ac.Parameter(DP_SMALL, unit="Pa", min=1e-6, group="method", doc="pressure difference below which flow is laminar")
    m_small = ac.Parameter(
        3e-8, unit="kg/s", min=1e-9, group="method", doc="flow below which what meets at a port is its mean, at the start"
    )
    M = ac.Parameter(1e-3, unit="kg", min=1e-9, doc="mass of what each of the four chambers holds")
    slide = ac.Variable(start=1.0, fixed=True, doc="1: heats, 0: cools")
    m = ac.Variable(
        shape=4, unit="kg/s", nominal=0.01, start=0.0, doc="to indoor and outdoor from the discharge, from them to the suction"
    )
    h = ac.Variable(
        shape=4, unit="J/kg", nominal=1e5, start=3e5, state="always", doc="what meets at discharge, suction, indoor and outdoor"
    )
    X: Any

    def __init__(self) -> None:
        self.X = ac.Fractions(
            type(self).medium, shape=4, nominal=0.1, start=0.0, state="always", doc="composition of that, of a mixture"
        )

    def equations(self) -> Iterator[Any]:
        ports = self._ports()
        yield self.tau * ac.der(self.slide) == ac.match(self.mode, heat=1.0, cool=0.0) - self.slide
        rho = [state_at(self.medium, port.p, self.h[k], self._composition(k)).rho for k, port in enumerate(ports)]
        for way, (begin, end, heats) in enumerate(WAYS):
            opening = self.leak + (1 - self.leak) * (self.slide if heats else 1 - self.slide)
            dp = ports[begin].p - ports[end].p
            flow = self.A * opening * ac.sqrt(2 * upwind(dp, rho[begin], rho[end])) * root_of_difference(dp, self.dp_small)
            yield self.m[way] == flow
        for k, port in enumerate(ports):
            yield port.m_flow + ac.sum([sign * self.m[way] for way, sign, _ in _meeting(k)]) == 0
            comes = self._comes(k, port)
            for held, stream in self._carried(port):
                brought = [stream.inflow, *(held[other] for _, _, other in _meeting(k))]
                gains = ac.sum([w * (value - held[k]) for w, value in zip(comes, brought, strict=True)])
                yield self.M * ac.der(held[k]) == gains
                yield stream.outflow == held[k]
        self.U = ac.named(self.M * ac.sum(self.h), unit="J", doc="energy of what the chambers hold")

    def initial_equations(self) -> Iterator[Any]:
        for k, port in enumerate(self._ports()):
            for held, stream in self._carried(port):
                brought = [stream.inflow, *(held[other] for _, _, other in _meeting(k))]
                yield held[k] == mixture(self._comes(k, port), brought, self.m_small)

    def _ports(self) -> tuple[Any, ...]:
        return self.discharge, self.suction, self.indoor, self.outdoor

    def _composition(self, k: int) -> Any:
        return self.X[k] if self.medium.substances else None

    def _comes(self, k: int, port: Any) -> list[Any]:
        """What comes into a chamber, from its port and through two ways."""
        flows = (port.m_flow, *(sign * self.m[way] for way, sign, _ in _meeting(k)))
        return [ac.no_event(ac.max(flow, 0.0)) for flow in flows]

    def _carried(self, port: Any) -> list[tuple[Any, Any]]:
        """What the chambers hold of what streams carry."""
        return [(self.h, port.h)] + ([(self.X, port.X)] if self.medium.substances else [])


WAYS = ((0, 2, True), (0, 3, False), (2, 1, False), (3, 1, True))  # from one port to another, and whether it is open to heat


def _meeting(k: int) -> list[tuple[int, float, int]]:
    """The ways that meet at a port: their number, the sign of flow to it, and the port at their other end."""
    ways = [(way, 1.0, begin) for way, (begin, end, _) in enumerate(WAYS) if end == k]
    return ways + [(way, -1.0, end) for way, (begin, end, _) in enumerate(WAYS) if begin == k]
