"""Evaporator and condenser with moving boundaries: zones of one phase each, whose lengths follow from what they hold.

Every zone i has its own mass M and enthalpy Y as states, and its own piece of wall with energy E. Lengths L (as shares of the
whole) and the one pressure follow from ``V·L = M/rho(p, Y/M)`` and ``sum(L) = 1``. There is a fixed number of zones: one that
is not needed stays as a small cell of length `eps`, in whatever phase. So nothing appears or vanishes and nothing is
differentiated; an exchanger may flood, run dry, stand still and start again.

- ``dM/dt`` is what flows in less what flows out; ``dY/dt`` likewise with heat and ``V·L·dp/dt``. For the rate of the pressure
  stands that of `p_slow`, which follows p within `tau_p`; as the lengths sum to one, ``sum(Y) - V·p_slow`` is conserved to
  rounding, and so is charge.
- Mass crosses a boundary as fast as the zones ask for: the flow pulls the void of the two-phase zone to that of its steady
  profile (Zivi's slip), and keeps every zone longer than `eps`. These pulls decide how fast a boundary moves, not where it
  ends.
- The wall is divided as the zones are, within `tau_wall`. The boundary takes the heat of the wall that it passes along, upwind
  (Tummescheit 4.65, with the signs of 4.49, which are misprinted in 4.65). Behind the boiling zone of an evaporator it is in
  pieces: wall that falls dry cools what is next to it, not the whole of the zone and what leaves it.
- Where boiling advances over warm wall, what this evaporates at once is not there to fill the zone with vapour: its quality rises
  less along the way, and it holds more (Evaporator._dry_from).

Heat transfer and friction are chosen as `RefrigerantExchanger` says; a zone has one coefficient, the mean over its qualities. There
is one pressure: what friction takes is lost at b.

Void fraction after Zivi: ``gamma(x) = x/(c + (1-c)·x)`` with ``c = (rho_v/rho_l)^(2/3)`` (Tummescheit 4.71, 4.74; the exponent
of 4.74 is misprinted there).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from ..fluid.correlations import LASTING
from ..fluid.friction import both_phases
from ..fluid.heat_transfer import H_LEAST, X_DRY, Transfer, TubeFlow
from ..fluid.passages import one_substance, state_at
from .exchanger import RefrigerantExchanger


def _least(a: Any, b: Any) -> Any:
    return ac.no_event(ac.min(a, b))


def _most(a: Any, b: Any) -> Any:
    return ac.no_event(ac.max(a, b))


def _within(x: Any, low: Any, high: Any) -> Any:
    return _least(_most(x, low), high)


def _upwind(flow: Any, here: Any, there: Any) -> Any:
    """What a flow carries: of `here` if it goes forth, of `there` if it comes back. Always a factor of the flow."""
    return ac.no_event(ac.where(flow > 0, here, there))


BEYOND = 0.02  # of the two-phase range: so far outside of it may be what leaves a zone that is about to be left by a phase
X_WET = 0.03  # of quality: within so much of saturation the heat transfer of liquid becomes that of two phases
T_LITTLE = 0.3  # K: superheat below which the profile of a zone tells nothing
LATE_MOST = 0.3  # of the liquid of a zone of two phases: more than this is never on its way
COLD = 0.03  # of the heat of evaporation: liquid that wants so much to boil is worth a zone of its own
COLDEST = 50.0  # K: liquid leaves no colder than that below the mean of its zone; a wet zone that is swept out has no such profile
SWEPT = 0.1  # of the flow through an exchanger: as if m_nominal were as large, zones are kept from being swept out
HIGHEST = 0.98  # of the critical pressure: above it zones are not told apart
SLIPS = {"zivi": 2 / 3, "fauske": 1 / 2, "homogeneous": 1.0}  # slip·rho_vapour/rho_liquid is the densities' ratio to this power


def checked_slip(said: str) -> str:
    """One of the slips, by its name.

    >>> checked_slip("zivi")
    'zivi'
    """
    if said not in SLIPS:
        raise UsageError(f"The slip of an exchanger is one of {', '.join(SLIPS)}, not {said!r}.")
    return said


class Void:
    """Void fraction over quality, its mean and its inverse, for a ratio of densities of vapour and liquid.

    `slip` is "zivi" (vapour faster by the cube root of the densities' ratio: least kinetic energy), "fauske" (by its square root:
    least momentum) or "homogeneous" (both equally fast).

    >>> round(float(Void(0.02).mean(0.0)), 4)
    0.8556
    """

    def __init__(self, ratio: Any, slip: str = "zivi") -> None:
        self.ratio, self.c = ratio, ratio ** SLIPS[slip]

    def at(self, x: Any) -> Any:
        return x / (self.c + (1 - self.c) * x)

    def quality(self, void: Any) -> Any:
        return self.c * void / (1 - (1 - self.c) * void)

    def homogeneous(self, x: Any) -> Any:
        return x / (x + (1 - x) * self.ratio)

    def mean(self, x: Any, end: Any = 1.0) -> Any:
        """Over the qualities from x to `end`, as when each metre takes up the same heat."""
        c = self.c
        return 1 / (1 - c) - c / ((1 - c) ** 2 * (end - x)) * ac.log((c + (1 - c) * end) / (c + (1 - c) * x))


class MovingBoundary(RefrigerantExchanger):
    """Base: the balances of `ZONES` zones in a row and of their walls. A subclass adds what crosses the boundaries.

    Of each zone ``dM/dt = m_in - m_out``, ``dY/dt = H_in - H_out + q + V·L·dp/dt``, ``V·L = M/rho(p, Y/M)``, ``sum(L) = 1``, ``q =
    alpha·area·L·(T_wall - T)``; of its wall ``dE/dt = (1 + latent)·UA·L·(T_air - T_wall) + L·(Q_wall - latent·Q) - q`` and what its
    ends pass along (Tummescheit 4.65), ``E = C·L·T_wall``. The module has the rest, and what stands for dp/dt.
    """

    ZONES: int
    TWO_PHASE: int  # which zone that is
    PIECES: tuple[int, ...]  # of wall, zone by zone

    m_nominal = ac.Parameter(0.01, unit="kg/s", min=1e-9, group="method", doc="size of the mass flow")
    eps = ac.Parameter(0.01, min=1e-6, max=0.2, group="method", doc="share of the length that a zone keeps")
    eps_band = ac.Parameter(0.01, min=1e-6, group="method", doc="share of the length over which that is enforced")
    void_band = ac.Parameter(0.05, min=1e-6, group="method", doc="share of the hold-up that moves the boundary with m_nominal")
    h_band = ac.Parameter(
        10000.0, unit="J/kg", min=1, group="method", doc="error of the boundary's enthalpy that moves it with m_nominal"
    )
    m_small = ac.Parameter(1e-4, unit="kg/s", min=1e-9, group="method", doc="flow that is small")
    m_soft = ac.Parameter(
        2e-3, unit="kg/s", min=1e-9, group="method", doc="flow over which one rule of a boundary gives way to another"
    )
    v_small = ac.Parameter(1e-3, unit="1/s", min=1e-9, group="method", doc="speed of a boundary that is small, in lengths")
    tau_wall = ac.Parameter(0.05, unit="s", min=1e-6, group="method", doc="time within which the wall's division follows the zones")
    tau_p = ac.Parameter(0.1, unit="s", min=1e-6, group="method", doc="time within which pressure does its work on the zones")

    alpha: Any
    M: Any
    Y: Any
    E: Any
    L: Any
    wall: Any
    h: Any
    m: Any
    H: Any
    p = ac.Variable(unit="Pa", nominal=1e5, start=5e5, doc="pressure")
    p_slow = ac.Variable(unit="Pa", nominal=1e5, start=5e5, state="always", doc="pressure whose change does work on the zones")
    h_out = ac.Variable(unit="J/kg", nominal=1e5, start=3e5, doc="enthalpy of what leaves at b")
    T_wall = ac.Variable(unit="K", nominal=300.0, start=293.15, doc="mean temperature of the wall")

    def __init__(self, slip: str = "zivi", transfer: str | Transfer = "constant", friction: str = "nominal") -> None:
        self.slip = checked_slip(slip)
        self.choose(transfer, friction)
        if self.law is not None:
            self.alpha = ac.Variable(unit="W/(m^2*K)", nominal=1e3, start=3e3, doc="heat transfer of the zone of two phases")
        n = self.ZONES
        self.M = ac.Variable(shape=n, unit="kg", nominal=0.1, start=0.1, state="always", doc="mass of each zone")
        self.Y = ac.Variable(shape=n, unit="J", nominal=2e4, start=2e4, state="always", doc="enthalpy of each zone")
        pieces = sum(self.PIECES)
        self.E = ac.Variable(
            shape=pieces, unit="J", nominal=6e5, start=1e5, state="always", doc="energy of each piece of wall, from 0 K"
        )
        self.wall = ac.Variable(shape=n - 1, start=0.3, state="always", doc="length of all walls but the last")
        self.L = ac.Variable(shape=n, start=0.3, doc="length of each zone as a share of the whole")
        self.h = ac.Variable(shape=n, unit="J/kg", nominal=1e5, start=3e5, doc="enthalpy of each zone")
        self.m = ac.Variable(shape=n - 1, unit="kg/s", nominal=0.01, start=0.0, doc="mass flow from zone to zone")
        self.H = ac.Variable(shape=n - 1, unit="W", nominal=1e3, start=0.0, doc="enthalpy flow from zone to zone")

    def equations(self) -> Iterator[Any]:
        p, h, L = self.p, self.h, self.L
        one_substance(self)
        state, ends = self.medium.state(p=p, h=h, phase="any"), self.medium.saturation(p=p)
        yield h == self.Y / self.M
        for i in range(self.ZONES):  # one by one, as all that asks for these states
            yield self.V * L[i] == self.M[i] / state.rho[i]
        yield ac.sum(L) == 1.0
        yield self.a.p == p
        yield self.b.p == (p if self.friction == "nominal" else p - self._lost(state, ends))
        yield self.a.h.outflow == h[0]
        yield self.b.h.outflow == self.h_out
        if self.law is not None:
            warmer = self._wall_temperatures()[self.TWO_PHASE][0] - state.T[self.TWO_PHASE]
            yield self.alpha == self._correlated(self.law, warmer, ends)
        yield from self._balances(state.T, ends)
        yield from self.boundaries(ends)
        self.charge = ac.named(ac.sum(self.M), unit="kg", doc="refrigerant in it")
        self.energy = ac.named(
            ac.sum(self.Y) - self.p_slow * self.V + ac.sum(self.E), unit="J", doc="energy of refrigerant and wall"
        )
        self.x = ac.named((h - ends.liquid.h) / ends.h_evaporation, doc="quality of each zone")
        yield self.T_wall == ac.sum(self.E) / self.C
        self.T_saturation = ac.named(ends.T, unit="K", doc="saturation temperature")

    def events(self) -> Iterator[Any]:
        yield from super().events()
        text = (
            "The pressure comes to the critical one, where there are no zones any more. Does more come in than can leave, or is "
            "the charge too large? For transcritical operation take a `DistributedExchanger`."
        )
        yield ac.assert_(self.p < HIGHEST * self.medium.p_critical, text)

    @abstractmethod
    def boundaries(self, ends: Any) -> Iterator[Any]:
        """What crosses the boundaries, `m` and `H`, and `h_out`."""

    def _balances(self, T: Any, ends: Any) -> Iterator[Any]:
        n = self.ZONES
        L, wall = [self.L[i] for i in range(n)], self._lengths()
        m = [self.a.m_flow, *(self.m[i] for i in range(n - 1)), -self.b.m_flow]
        H = [self.a.m_flow * self.a.h.actual, *(self.H[i] for i in range(n - 1)), -self.b.m_flow * self.b.h.actual]
        growth = [(L[i] - wall[i]) / self.tau_wall for i in range(n - 1)]
        speed = [0.0, *(sum(growth[1 : i + 1], growth[0]) for i in range(n - 1)), 0.0]
        dp = (self.p - self.p_slow) / self.tau_p
        q, q_air = self._heat(T, ends)
        for i in range(n):
            yield ac.der(self.M[i]) == m[i] - m[i + 1]
            yield ac.der(self.Y[i]) == H[i] - H[i + 1] + sum(q[i][1:], q[i][0]) + self.V * L[i] * dp
        yield from self._wall_balances(speed, q, q_air)
        yield from self.moisture()
        for i in range(n - 1):
            yield ac.der(self.wall[i]) == growth[i]
        yield ac.der(self.p_slow) == dp
        yield self.air.Q_flow == self.UA * (self.air.T - self.T_wall)

    def _lengths(self) -> list[Any]:
        """Of the walls, zone by zone."""
        wall = [self.wall[i] for i in range(self.ZONES - 1)]
        return [*wall, 1 - sum(wall[1:], wall[0])]

    def _wall_temperatures(self) -> list[list[Any]]:
        """Of the pieces of wall, zone by zone; pieces of a zone are equally long."""
        found, first = [], 0
        for length, pieces in zip(self._lengths(), self.PIECES, strict=True):
            found.append([self.E[first + k] / (self.C * length / pieces) for k in range(pieces)])
            first += pieces
        return found

    def _heat(self, T: Any, ends: Any) -> tuple[list[list[Any]], list[list[Any]]]:
        """Heat from the wall to the refrigerant and from the air to the wall, piece by piece of each zone."""
        q, q_air = [], []
        zones = zip(self._alphas(ends), self._lengths(), self._wall_temperatures(), strict=True)
        for i, (alpha, length, T_wall) in enumerate(zones):
            part = length / self.PIECES[i]
            inside = self._inside(i, T[i], ends)
            q.append([alpha * self.area * part * (outer - inner) for outer, inner in zip(T_wall, inside, strict=True)])
            q_air.append([self.UA * part * (self.air.T - T_w) for T_w in T_wall])
        return q, q_air

    def _inside(self, i: int, T: Any, ends: Any) -> list[Any]:
        """Temperature of the refrigerant along the pieces of wall of zone i, whose mean is T."""
        return [T] * self.PIECES[i]

    def _wall_balances(self, speed: list[Any], q: list[list[Any]], q_air: list[list[Any]]) -> Iterator[Any]:
        """Pieces move with the boundaries of their zone, those in between in proportion."""
        T_wall, moving, own = [], [], []  # temperatures, speeds of the ends where pieces begin, and heat
        for i, (length, pieces) in enumerate(zip(self._lengths(), self.PIECES, strict=True)):
            T_wall += self._wall_temperatures()[i]
            moving += [speed[i] + (speed[i + 1] - speed[i]) * (k / pieces) for k in range(pieces)]
            own += [self.from_outside(q_air[i][k], length / pieces) - q[i][k] for k in range(pieces)]
        passed = [self.C * v * self._passed(v, T_wall[k + 1], T_wall[k]) for k, v in enumerate(moving[1:])]
        taken = [0.0, *passed, 0.0]
        for k, heat in enumerate(own):
            yield ac.der(self.E[k]) == heat + taken[k + 1] - taken[k]

    @abstractmethod
    def _alphas(self, ends: Any) -> list[Any]:
        """Heat transfer inside, zone by zone."""

    @abstractmethod
    def _correlated(self, law: Transfer, warmer: Any, ends: Any) -> Any:
        """Mean heat transfer of the zone of two phases by a law, with a wall that is `warmer`."""

    def _two_phase(self) -> Any:
        return self.alpha_two_phase if self.law is None else self.alpha

    def _vapour(self, i: int, m_flow: Any, ends: Any) -> Any:
        """Heat transfer to vapour in zone i."""
        if self.law is None:
            return self.alpha_vapour
        return self.law.single(self._tube(m_flow, ends), state_at(self.medium, self.p, _most(self.h[i], ends.vapour.h)))

    def _liquid(self, i: int, m_flow: Any, ends: Any) -> Any:
        """Heat transfer to liquid in zone i."""
        if self.law is None:
            return self.alpha_liquid
        return self.law.single(self._tube(m_flow, ends), state_at(self.medium, self.p, _least(self.h[i], ends.liquid.h)))

    def _tube(self, m_flow: Any, ends: Any, warmer: Any = 0.0) -> TubeFlow:
        """Two phases in its tubes."""
        evaporation, reduced = _most(ends.h_evaporation, H_LEAST), self.p / self.medium.p_critical
        flux = ac.smooth_abs(warmer, 1e-3) * self._two_phase()
        return TubeFlow(m_flow / self.circuits, self.diameter(), ends.liquid, ends.vapour, 0.5, flux, evaporation, reduced)

    def _lost(self, state: Any, ends: Any) -> Any:
        """By friction, zone by zone as if all of them passed what leaves: there is one pressure inside."""
        x, leaves, lost = self.quality(self.h, ends.liquid.h, ends.vapour.h), -self.b.m_flow, []
        for i in range(self.ZONES):
            one = SimpleNamespace(rho=state.rho[i], viscosity=state.viscosity[i])
            lost.append(self.loss(leaves, x[i], *both_phases(x[i], one, ends), self.L[i]))
        return sum(lost[1:], lost[0])

    def initial_equations(self) -> Iterator[Any]:
        n = self.ZONES
        start = self.medium.state(rho=self.charge_start / self.V, T=self.T_start)
        yield self.p_slow == start.p
        for i in range(n):
            length = 1 - (n - 1) * self.eps if i == self.TWO_PHASE else self.eps
            yield self.M[i] == self.charge_start * length
            yield self.Y[i] == self.charge_start * length * start.h
            first, pieces = sum(self.PIECES[:i]), self.PIECES[i]
            for k in range(pieces):
                yield self.E[first + k] == self.C * length / pieces * self.T_start
            if i < n - 1:
                yield self.wall[i] == length

    # --- what both kinds need -----------------------------------------------------------------------------------------
    def _stiffness(self) -> Any:
        """By how much the flow over a boundary changes with the length of a zone, so that no zone becomes shorter than `eps`.

        It grows with what flows. Two limits meet at a boundary: what leaves may empty neither the zone behind nor that before it.
        With a fixed slope they contradict each other where a hundred times `m_nominal` more leaves than comes in, as when an
        exchanger full of liquid blows into an empty vessel: the mass of a zone became negative.
        """
        flow = SWEPT**2 * (self.a.m_flow**2 + self.b.m_flow**2)
        return ac.sqrt(self.m_nominal**2 + flow) / self.eps_band

    def _reach(self, flow: Any, alpha: Any, i: int, cp: Any) -> Any:
        """How much further from its inlet than its mean the outlet of a one-phase zone is: 0 at rest, 1 in a fast flow.

        In a zone of N transfer units, wall and air in series, the enthalpy comes nearer to that of the air exponentially: from
        inlet to outlet it changes ``N·(1 - e)/(N - 1 + e)`` times as much as from inlet to mean, with ``e = exp(-N)``.
        """
        inside, outside = alpha * self.area, self.UA
        units = inside * outside / (inside + outside) * self.L[i] / (cp * (flow + self.m_small)) + 1e-3
        rest = ac.exp(-units)
        return units * (1 - rest) / (units - 1 + rest) - 1

    def _passed(self, speed: Any, ahead: Any, behind: Any) -> Any:
        """Temperature of the wall that a boundary passes: of that side it moves into, of the mean of both where it hardly moves.

        With a corner at rest, where it takes more heat on its way forth than it gives back, it would never come to rest.
        """
        return (ahead + behind) / 2 + (ahead - behind) / 2 * speed / ac.sqrt(speed * speed + self.v_small**2)

    def _most_flow(self, a: Any, b: Any) -> Any:
        return ac.smooth_max(a, b, self.m_soft)

    def _least_flow(self, a: Any, b: Any) -> Any:
        return ac.smooth_min(a, b, self.m_soft)

    def _quality(self, ends: Any) -> Any:
        return _most((self.h[self.TWO_PHASE] - ends.liquid.h) / ends.h_evaporation, 0.0)


class Evaporator(MovingBoundary):
    """Two zones, boiling and superheated, for refrigerant that enters through an expansion valve at a and leaves at b; or, with
    ``zones=3``, one of subcooled liquid before them, for liquid that is pumped in or overfed.

    It floods (the last zone is small and wet), runs dry (the boiling one is small), stands still. Balances as in
    `MovingBoundary`. Vapour goes on as ``m = m_out + m_nominal·(1 - held)/void_band``, `held` being the liquid of the boiling zone
    over that of its steady profile, ``1 - mean(gamma)`` from x_in to 1 with Zivi's ``gamma = x/(c + (1 - c)·x)`` (Tummescheit
    4.71), within limits that keep each zone longer than `eps`. What leaves at b lies beyond the mean of the last zone as far as
    vapour comes nearer to the wall along it, exponentially.

    Liquid goes on to boil as ``m_1 = m_in + m_nominal·(h_1 - h')/h_band``, h_1 its enthalpy at the end of the first zone: as hot
    gas does in a `Condenser`. Behind an expansion valve there is no such liquid, and a zone that sleeps takes a third of the time
    of a run (a `ColdStore` over a day: 27 % more steps). Where there is, two zones hold a third of what they should: they say so.
    """

    def __init__(
        self, slip: str = "zivi", transfer: str | Transfer = "constant", friction: str = "nominal", zones: int = 2
    ) -> None:
        if zones not in (2, 3):
            raise UsageError(f"An Evaporator has three zones, or two without the one of subcooled liquid, not {zones!r}.")
        self.ZONES, self.TWO_PHASE, self.PIECES = zones, zones - 2, (1, 1, 4)[3 - zones :]
        super().__init__(slip, transfer, friction)

    def events(self) -> Iterator[Any]:
        yield from super().events()
        if self.TWO_PHASE == 0:
            ends = self._saturation()
            missing = ends.liquid.h - COLD * ends.h_evaporation - self.a.h.inflow
            text = (
                "Liquid comes in well below boiling, and this evaporator has no zone for it: it holds too little. Give it one, "
                "Evaporator(zones=3)."
            )
            comes = _most(self.a.m_flow, 0.0) * missing < 0.1 * COLD * self.m_nominal * ends.h_evaporation
            yield ac.assert_(comes, text, level="warning", lasting=LASTING)

    def _alphas(self, ends: Any) -> list[Any]:
        """The first of three zones boils where it is wet: it is there, and small, with a feed of two phases."""
        boiling, dry = self._two_phase(), self._vapour(self.ZONES - 1, -self.b.m_flow, ends)
        if self.TWO_PHASE == 0:
            return [boiling, dry]
        wet = ac.smooth_step((self.h[0] - ends.liquid.h) / ends.h_evaporation, 0.0, X_WET)
        liquid = self._liquid(0, self.a.m_flow, ends)
        return [liquid + (boiling - liquid) * wet, boiling, dry]

    def _correlated(self, law: Transfer, warmer: Any, ends: Any) -> Any:
        flow = self._tube(self.a.m_flow, ends, warmer)
        x_in = _within((self.a.h.inflow - ends.liquid.h) / flow.h_evaporation, 0.0, X_DRY - 0.05)
        dry = (law.two_phase(flow.at(X_DRY), warmer) + self._vapour(self.ZONES - 1, self.a.m_flow, ends)) / 2
        wet = law.mean(flow, warmer, x_in, X_DRY)
        return ((X_DRY - x_in) * wet + (1 - X_DRY) * dry) / (1 - x_in)

    def boundaries(self, ends: Any) -> Iterator[Any]:
        h, L, low, span, two = self.h, self.L, ends.liquid.h, ends.h_evaporation, self.TWO_PHASE
        void, enters, leaves = Void(ends.vapour.rho / ends.liquid.rho, self.slip), self.a.m_flow, -self.b.m_flow
        h_fed, m_fed = self._after_liquid(ends)
        x_in = _within((h_fed - low) / span, 0.0, 0.9)
        full = 1 - void.mean(x_in, self._dry_from(x_in, span, m_fed))
        held = (1 - _least(void.homogeneous(self._quality(ends)), 1.0)) / full
        most = (1 - void.at(x_in)) / full
        x_end = _least(1 - (1 - x_in) * self._over(held, most), 1 + BEYOND)
        h_end = _most(low + x_end * span, h[two]) - _most(low - h[two], 0.0)  # of what is all liquid the mean flows
        asked = leaves + self.m_nominal * (1 - held) / self.void_band
        some = self._most_flow(asked, leaves + self._stiffness() * (self.eps - L[two + 1]))
        if two == 0:
            yield self.m[0] == self._least_flow(some, enters + self._stiffness() * (L[0] - self.eps))
        else:
            missing = self._most_flow(self._stiffness() * (self.eps - L[1]) - (m_fed - some), 0.0)
            part = L[0] / (L[0] + L[2])
            yield self.m[0] == m_fed + part * missing
            yield self.m[1] == some - (1 - part) * missing
            x_begin = x_in + (1 - x_in) * _most(1 - held, 0.0)
            h_begin = _least(low + x_begin * span, h[1]) + _most(h[1] - ends.vapour.h, 0.0)
            yield self.H[0] == self.m[0] * _upwind(self.m[0], h_fed, h_begin)
        yield self.H[two] == self.m[two] * _upwind(self.m[two], h_end, h[two + 1])
        mean, end = self._rise(ends)[1:]
        share = _most((end - mean) * mean / (mean * mean + T_LITTLE**2), -1.0)  # no colder than where its zone begins
        beyond = _least(share * _most(h[two + 1] - h_end, 0.0), ends.vapour.cp * _most(end, 0.0))  # however wet it begins
        yield self.h_out == h[two + 1] + beyond

    def _after_liquid(self, ends: Any) -> tuple[Any, Any]:
        """Enthalpy and flow of what comes to the boiling zone: of the feed, or from the end of a zone of liquid."""
        enters, h_in = self.a.m_flow, self.a.h.inflow
        if self.TWO_PHASE == 0:
            return h_in, enters
        share = self._reach(_most(enters, 0.0), self._liquid(0, enters, ends), 0, ends.liquid.cp)
        h_first = self.h[0] + share * _most(self.h[0] - h_in, 0.0)
        asked = enters + self.m_nominal * (h_first - ends.liquid.h) / self.h_band
        return h_first, self._least_flow(asked, enters + self._stiffness() * (self.L[0] - self.eps))

    def _over(self, held: Any, most: Any) -> Any:
        """How much more than its profile a zone holds: 0 with the profile (held = 1), 1 if all of it is as wet as what enters.

        Beyond that it grows on, but the curve through both points has a pole there where `most` is below 2, as it is while boiling
        advances: then it goes on straight.
        """
        beyond, bend = _most(held - most, 0.0), 1 - 1 / (most - 1)
        up_to = held - beyond - 1
        return up_to / (1 + bend * up_to) + beyond / ((most - 1) * (most - 1 + _most(bend, 0.0) * beyond))

    def _dry_from(self, x_in: Any, span: Any, m_fed: Any) -> Any:
        """The quality that boiling along the zone reaches; warm wall that its end comes to evaporates what is left at once.

        Only of a feed that flows and is wet: of another there is no such profile.
        """
        two = self.TWO_PHASE
        (wet,), dry = self._wall_temperatures()[two:]
        speed = (self.L[two + 1] - self._lengths()[two + 1]) / -self.tau_wall
        forth = (speed + ac.sqrt(speed * speed + self.v_small**2) - self.v_small) / 2  # nothing at rest
        warm = self.C * forth * _most(dry[0] - wet, 0.0)
        flow = ac.smooth_max(m_fed, 0.0, 0.1 * self.m_nominal) * span
        steady = ac.smooth_step(m_fed, 0.15 * self.m_nominal, 0.3 * self.m_nominal) * (1 - ac.smooth_step(x_in, 0.65, 0.3))
        return 1 - (1 - x_in) * steady * ac.smooth_min(warm / (flow * (1 - x_in)), 0.95, 0.05)

    def _inside(self, i: int, T: Any, ends: Any) -> list[Any]:
        if i <= self.TWO_PHASE:
            return [T]
        rise, mean, _ = self._rise(ends)
        leaves = _most(-self.b.m_flow, 0.0)
        passing = leaves**2 / (leaves**2 + self.m_small**2)  # what stands still has one temperature
        return [T + passing * (part - mean) for part in rise]

    def _rise(self, ends: Any) -> tuple[list[Any], Any, Any]:
        """How much warmer than saturated the vapour is, piece by piece, in the mean and at the outlet, if it stores nothing.

        Along a piece its temperature comes exponentially near to that of the air; of a wall that has not settled, to that of an
        air with which it would have.
        """
        T_wall, pieces = self._wall_temperatures()[-1], self.PIECES[-1]
        inside = self._vapour(self.ZONES - 1, -self.b.m_flow, ends) * self.area
        outside = ac.sqrt((self.UA * (1 + self.latent)) ** 2 + (0.05 * inside) ** 2)  # some, where fans stand still
        flow = _most(-self.b.m_flow, 0.0) + self.m_small
        units = inside * outside / (inside + outside) * self._lengths()[-1] / pieces / (ends.vapour.cp * flow) + 1e-3
        left = ac.exp(-units)
        mean = (1 - left) / units
        comes, rise = 0.0, []
        for T in T_wall:
            above = T - ends.T
            goal = (above * (inside + outside) - inside * mean * comes) / (outside + inside * (1 - mean))
            rise.append(goal + (comes - goal) * mean)
            comes = goal + (comes - goal) * left
        return rise, sum(rise[1:], rise[0]) / pieces, comes


class Condenser(MovingBoundary):
    """Three zones, superheated, condensing and subcooled, for hot gas that enters at a and liquid that leaves at b.

    Balances as in `MovingBoundary`. Hot gas goes on as ``m_1 = m_in + m_nominal·(h'' - h_1)/h_band``, h_1 its enthalpy at the end
    of the first zone; condensate as ``m_2 = m_out + m_nominal·(held - 1)/void_band``, `held` being the liquid of the second zone
    over that of its steady profile, ``1 - mean(gamma)`` with Zivi's ``gamma = x/(c + (1 - c)·x)`` (Tummescheit 4.71); both within
    limits that keep each zone longer than `eps`.
    """

    ZONES, TWO_PHASE, PIECES = 3, 1, (1, 1, 1)
    # Hot gas comes in a burst when a compressor starts: over 2 g/s it took more steps, and was no nearer to cells.
    m_soft = ac.Parameter(
        6e-3, unit="kg/s", min=1e-9, group="method", doc="flow over which one rule of a boundary gives way to another"
    )

    def moisture(self) -> Iterator[Any]:
        """Nothing condenses on what warms the air: all of `Q_wall` is spread over the length."""
        yield self.latent == 0.0

    def _alphas(self, ends: Any) -> list[Any]:
        """The last zone condenses on where it is wet: else what is left of it while liquid is missing would hold too much."""
        wet = ac.smooth_step((self.h[2] - ends.liquid.h) / ends.h_evaporation, 0.0, X_WET)
        liquid, two_phase = self._liquid(2, -self.b.m_flow, ends), self._two_phase()
        return [self._vapour(0, self.a.m_flow, ends), two_phase, liquid + (two_phase - liquid) * wet]

    def _correlated(self, law: Transfer, warmer: Any, ends: Any) -> Any:
        return law.mean(self._tube((self.a.m_flow - self.b.m_flow) / 2, ends, warmer), warmer, 0.0, 1.0)

    def boundaries(self, ends: Any) -> Iterator[Any]:
        h, L, eps, stiff = self.h, self.L, self.eps, self._stiffness()
        enters, leaves, void = self.a.m_flow, -self.b.m_flow, Void(ends.vapour.rho / ends.liquid.rho, self.slip)
        full = 1 - void.mean(0.0)
        held = (1 - _least(void.homogeneous(self._quality(ends)), 1.0)) / full
        share = self._reach(_most(enters, 0.0), self._vapour(0, enters, ends), 0, ends.vapour.cp)
        h_first = h[0] + share * _least(h[0] - self.a.h.inflow, 0.0)
        asked = enters + self.m_nominal * (ends.vapour.h - h_first) / self.h_band
        first = self._least_flow(asked, enters + stiff * (L[0] - eps))
        second = self._most_flow(leaves + self.m_nominal * (held - 1) / self.void_band, leaves + stiff * (eps - L[2]))
        missing, part = self._most_flow(stiff * (eps - L[1]) - (first - second), 0.0), L[0] / (L[0] + L[2])
        yield self.m[0] == first + part * missing
        yield self.m[1] == second - (1 - part) * missing
        settled = held * (1 - self.late / ac.sqrt(1 + (self.late / LATE_MOST) ** 2))
        x_end = _most((1 - settled) / (1 + (1 / full - 2) * settled), -BEYOND)
        x_begin = _within((1 / full - held) / (1 / full - 1), 0.0, 1.0)
        low, high, span = ends.liquid.h, ends.vapour.h, ends.h_evaporation
        h_begin = _most(low + x_begin * span, h[1]) - _most(low - h[1], 0.0)  # of what is all liquid, or all vapour, the mean flows
        h_end = _least(low + x_end * span, h[1]) + _most(h[1] - high, 0.0)
        yield self._on_its_way(ends, full, self.H[0] - self.m[0] * h_end)
        yield self.H[0] == self.m[0] * _upwind(self.m[0], h_first, h_begin)
        yield self.H[1] == self.m[1] * _upwind(self.m[1], h_end, h[2])
        cp = state_at(self.medium, self.p, _least(h[2], low)).cp  # near the critical point that of boiling liquid is no mean
        share = self._reach(_most(leaves, 0.0), self._liquid(2, leaves, ends), 2, cp)
        yield self.h_out == h[2] + _most(share * _least(h[2] - h_end, 0.0), -ends.liquid.cp * COLDEST)

    late = ac.Variable(
        start=0.0,
        fixed=True,
        state="always",
        doc="condensate on its way to the end of its zone, as a share of the liquid there",
    )

    def _on_its_way(self, ends: Any, full: Any, supply: Any) -> Any:
        """Condensate that `supply` does not account for arises all along the zone; what it holds more says nothing yet about what
        leaves it. That comes later, by the time in which half of the zone's mass passes: heat that is taken out faster moves along
        with the fluid (the outlet of 50 cells stays as it is for ten seconds), while liquid that flows out faster, or that a
        falling pressure evaporates, is missed at the end at once.
        """
        taken = self._two_phase() * self.area * self._lengths()[1] * (ends.T - self._wall_temperatures()[1][0])
        liquid = ends.liquid.rho * self.V * self.L[1] * full
        passing = (ac.smooth_abs(self.b.m_flow, self.m_small) + 0.1 * self.m_nominal) / (0.5 * self.M[1])
        return ac.der(self.late) == (taken - supply) / (ends.h_evaporation * liquid) - passing * self.late
