"""Pipes: friction from laminar to fully rough, heights, lumped and in cells, with and without the inertia of the fluid."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from types import SimpleNamespace
from typing import Any

import numpy as np

import acausal as ac
from acausal.errors import UsageError

from ..counts import counted
from ..thermal import HeatPort
from .cells import ALPHA_LEAST, balances
from .correlations import LASTING
from .friction import MULTIPLIERS, checked_law, friction_range, pressure_loss, two_phase_loss
from .heat_transfer import X_BAND, Transfer, checked_transfer, pipe_warnings, through_cells, tube_flow, wall_flux
from .passages import Passage, entering, given_enthalpy, one_substance, stored_density, upwind

GRAVITY = 9.80665  # m/s²
RE_CREEPING = 1000.0  # Reynolds number below which fluids of two densities come to rest on each other in a pipe
UPSET = 1e-3  # of the density: heavier fluid by so much over lighter one is told
STATES = {"pressure": ("always", "avoid"), "mass": ("default", "always")}  # of pressure and enthalpy, and of mass and energy


def _checked_states(said: str | None, friction: str) -> str:
    chosen = said or ("mass" if friction in MULTIPLIERS else "pressure")
    if chosen not in STATES:
        raise UsageError(f"The states of a pipe of cells are 'pressure' or 'mass', not {said!r}.")
    return chosen


class Pipe(Passage):
    """A pipe without storage: friction, height, and losses of bends and fittings; ``a.p - b.p = friction + zeta·rho·v²/2 +
    rho·g·height``.

    Density and viscosity are those of what comes, either way; below a Reynolds number of 1000 the column goes over from the density
    at one end to that at the other. What circulates by itself wants `DistributedPipe`s, which hold what came. `friction` is a law
    of `fluid.friction`: "churchill" (any flow, any roughness), "blasius" (smooth pipes) or "laminar".

    As in all pipes here, heights count for pressures and not for energy: what rises keeps its enthalpy, of which it gives up
    ``g·height``, 1 K in 430 m of water or 100 m of air. Round a closed circuit that comes to nothing.
    """

    length = ac.Parameter(1.0, unit="m", min=0, doc="length")
    diameter = ac.Parameter(0.02, unit="m", min=1e-6, doc="inner diameter")
    roughness = ac.Parameter(2.5e-5, unit="m", min=0, doc="height of the wall's roughness")
    height = ac.Parameter(0.0, unit="m", doc="how much higher b is than a")
    zeta = ac.Parameter(0.0, min=0, doc="loss of bends and fittings, in dynamic pressures")

    def __init__(self, friction: str = "churchill") -> None:
        self.friction = checked_law(friction)

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        rho, viscosity = self._passing("rho"), self._passing("viscosity")
        loss = pressure_loss(self.m_flow, rho, viscosity, self.length, self.diameter, self.roughness, self.friction)
        area = pi / 4 * self.diameter**2
        fittings = self.zeta * self.m_flow * ac.smooth_abs(self.m_flow, 1e-6) / (2 * rho * area**2)
        yield self.a.p - self.b.p == loss + fittings + column_density(self) * GRAVITY * self.height

    def _passing(self, quantity: str) -> Any:
        """A property of what passes."""
        return upwind(self.m_flow, *(getattr(entering(self.medium, port), quantity) for port in (self.a, self.b)))

    def events(self) -> Iterator[Any]:
        yield from friction_range(self.friction, self.m_flow, self._passing("viscosity"), self.diameter)
        yield from upset_column(self)


def column_density(pipe: Any) -> Any:
    """The density of what stands in a pipe between `a` and `b`.

    It is that of what comes. Of two densities the heavier may rest at the lower end: then the flow ceases at any pressure between
    those of the two columns, which a jump from one to the other would pass over. So below `RE_CREEPING` the border between both
    moves through the pipe.
    """
    from_a, from_b = (entering(pipe.medium, port) for port in (pipe.a, pipe.b))
    return ac.smooth_switch(pipe.m_flow, from_b.rho, from_a.rho, width=2 * _creeping(pipe, from_a, from_b))


def _creeping(pipe: Any, from_a: Any, from_b: Any) -> Any:
    """The flow of `RE_CREEPING`, by the mean viscosity of what comes at either end, whichever way it goes."""
    return RE_CREEPING * pi / 4 * pipe.diameter * (from_a.viscosity + from_b.viscosity) / 2


def upset_column(pipe: Any) -> Iterator[Any]:
    """A warning, given once, where heavier fluid rests on lighter one in a pipe without storage; to be yielded by `events`."""
    from_a, from_b = (entering(pipe.medium, port) for port in (pipe.a, pipe.b))
    upset = (from_b.rho - from_a.rho) * pipe.height > UPSET * from_a.rho * ac.abs(pipe.height)
    rests = ac.no_event(ac.abs(pipe.m_flow)) < _creeping(pipe, from_a, from_b)
    text = (
        "Heavier fluid rests on lighter one in this pipe, which holds nothing that could turn over: it may stand still where fluid "
        "goes round by itself. Take a `DistributedPipe` there."
    )
    yield ac.assert_(~(upset & rests), text, level="warning", lasting=LASTING)


def _shares(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """How much of the cell before and of that behind it counts for the flow between two."""
    before = np.full(cells - 1, 0.5)
    before[0] = 1.0
    return before, before[::-1]


class DistributedPipe(ac.Component):
    """A pipe of `cells` cells with mass and energy balances, and flows between them: a staggered grid.

    Between cells ``dp = friction + rho·g·height/cells`` with the mean density of both (`momentum="static"`), or ``length/(cells·A)·
    dm/dt = dp - friction - …`` with the inertia of the fluid (`momentum="dynamic"`), which gives pressure waves. The first and the
    last cell have the pressures at the ends: put something with a flow there. They count wholly for the flow beside them, other
    cells by half for that on either side, so that between the ends is all of the length.

    Cells have heat ports with the heat transfer `alpha` to them; without anything connected the pipe is insulated. Friction as in
    `Pipe`, or as in `TwoPhasePipe` ("mueller-steinhagen-heck", …) for fluid that boils or condenses. With `transfer="tube"` heat
    transfer follows the flow, in one phase and in two, instead of `alpha`; see `fluid.Tube` for its sources and ranges.

    With `states="pressure"` the states are pressure and enthalpy: in a liquid, mass to some tolerance says little about pressure.
    With "mass" they are mass and energy, for fluid that boils or condenses: both are conserved to rounding, and a cell that becomes
    liquid passes the border of its phases, where pressures as states would go to and fro. The friction of two phases implies it.
    """

    medium = ac.AnyMedium(doc="what flows")
    a, b = ac.FluidPort(medium, doc="inlet by design"), ac.FluidPort(medium, doc="outlet by design")
    heat: Any
    length = ac.Parameter(10.0, unit="m", min=1e-6, doc="length")
    diameter = ac.Parameter(0.02, unit="m", min=1e-6, doc="inner diameter")
    roughness = ac.Parameter(2.5e-5, unit="m", min=0, doc="height of the wall's roughness")
    height = ac.Parameter(0.0, unit="m", doc="how much higher b is than a")
    alpha = ac.Parameter(500.0, unit="W/(m^2*K)", min=0, doc="heat transfer to the wall")
    p_start = ac.Parameter(2e5, unit="Pa", min=1e-3, doc="pressure at first")
    h_start = ac.Parameter(1e5, unit="J/kg", doc="specific enthalpy at first")
    T_start = ac.Parameter(300.0, unit="K", min=0, instead_of="h_start", doc="temperature at first")
    x_start = ac.Parameter(0.5, min=0, max=1, instead_of="h_start", doc="vapour quality at first")
    law: Transfer | None
    flux: Any
    m_mean: Any
    p: Any
    h: Any
    M: Any
    U: Any
    m: Any

    def __init__(
        self,
        cells: int = 10,
        momentum: str = "static",
        friction: str = "churchill",
        transfer: str | Transfer = "constant",
        states: str | None = None,
    ) -> None:
        if momentum not in ("static", "dynamic"):
            raise UsageError(f"The momentum of a pipe is 'static' or 'dynamic', not {momentum!r}.")
        cells = counted(cells, 2, "A pipe of cells has two of them or more", "`Pipe` is one without storage.")
        self.cells, self.momentum, self.law = cells, momentum, checked_transfer(transfer)
        self.friction = friction if friction in MULTIPLIERS else checked_law(friction)
        of_pressure, of_mass = STATES[_checked_states(states, self.friction)]
        n, inertia = cells, "always" if momentum == "dynamic" else "default"
        self.heat = HeatPort(shape=n, doc="wall of each cell")
        if self.law is not None:
            self.flux = ac.Variable(shape=n, unit="W/m^2", nominal=1e3, start=0.0, doc="heat from the wall of each cell")
            self.m_mean = ac.Variable(shape=n, unit="kg/s", nominal=0.1, start=0.0, doc="mass flow through each cell")
        self.p = ac.Variable(shape=n, unit="Pa", nominal=1e5, start=2e5, state=of_pressure, doc="pressure of each cell")
        self.h = ac.Variable(shape=n, unit="J/kg", nominal=1e5, start=1e5, state=of_pressure, doc="enthalpy of each cell")
        self.M = ac.Variable(shape=n, unit="kg", nominal=1.0, start=1.0, state=of_mass, doc="mass of each cell")
        self.U = ac.Variable(shape=n, unit="J", nominal=1e5, start=1e5, state=of_mass, doc="energy of each cell")
        self.m = ac.Variable(shape=n - 1, unit="kg/s", nominal=0.1, start=0.0, state=inertia, doc="mass flow from cell to cell")

    def equations(self) -> Iterator[Any]:
        n, p, h, m = self.cells, self.p, self.h, self.m
        area, dx = pi / 4 * self.diameter**2, self.length / n
        one_substance(self)
        state = self.medium.state(p=p, h=h)
        yield self.M == area * dx * stored_density(self, state)
        yield self.U == self.M * h - area * dx * p
        before, behind = _shares(n)
        apart = dx * (before + behind)
        loss = self._friction(state, apart) + (before * state.rho[:-1] + behind * state.rho[1:]) * GRAVITY * self.height / n
        if self.momentum == "dynamic":
            yield apart / area * ac.der(m) == p[:-1] - p[1:] - loss
        else:
            yield p[:-1] - p[1:] == loss
        yield self.a.p == p[0]
        yield self.b.p == p[n - 1]
        yield self.a.h.outflow == h[0]
        yield self.b.h.outflow == h[n - 1]
        if self.law is not None:
            yield from through_cells(self)
            flow = tube_flow(self.medium, self.m_mean, self.diameter, p, h, state, ac.smooth_abs(self.flux, 1.0))
            yield self.flux == wall_flux(self.law, self.medium, flow, p, state.T, self.heat.T, X_BAND)
        flux = (self.alpha + ALPHA_LEAST) * (self.heat.T - state.T) if self.law is None else self.flux
        q = pi * self.diameter * dx * flux
        yield self.heat.Q_flow == q
        yield from balances(self, q, m * upwind(m, h[:-1], h[1:]))
        self.T = ac.named(state.T, unit="K", doc="temperature of each cell")

    def _evaporating(self) -> Any:
        if not self.medium.evaporates:
            raise UsageError(
                f"{self.medium.name} has one phase, and the friction {self.friction!r} is for two.",
                remedy='Take `friction="churchill"`.',
            )
        return self.medium

    def _friction(self, state: Any, apart: Any) -> Any:
        """What friction takes between cells, with the properties of the cell it comes from."""
        m, sizes = self.m, (apart, self.diameter, self.roughness)
        if self.friction not in MULTIPLIERS:
            rho, viscosity = (upwind(m, q[:-1], q[1:]) for q in (state.rho, state.viscosity))
            return pressure_loss(m, rho, viscosity, *sizes, self.friction)
        flow = tube_flow(self._evaporating(), m, self.diameter, self.p, self.h, state)
        liquid, vapour = (
            SimpleNamespace(**{name: upwind(m, (q := getattr(phase, name))[:-1], q[1:]) for name in ("rho", "viscosity")})
            for phase in (flow.liquid, flow.vapour)
        )
        return two_phase_loss(self.friction, m, upwind(m, flow.x[:-1], flow.x[1:]), liquid, vapour, *sizes)

    def events(self) -> Iterator[Any]:
        yield from pipe_warnings(self)

    def initial_equations(self) -> Iterator[Any]:
        yield self.p == self.p_start
        h_start = given_enthalpy(self.medium, self.p_start, self.h_start, self.T_start, self.x_start)
        yield self.h == h_start
        if self.momentum == "dynamic":
            yield self.m == 0
