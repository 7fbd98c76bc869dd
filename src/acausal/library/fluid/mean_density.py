"""A long pipe with one pressure and mean densities, for fluid that boils or condenses on its way."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import acausal as ac

from ..counts import counted
from ..thermal import HeatPort
from .cells import ALPHA_LEAST, balances
from .correlations import quiet
from .heat_transfer import X_BAND, Transfer, checked_transfer, pipe_warnings, through_cells, tube_flow, wall_flux
from .passages import given_enthalpy, one_substance, root_of_difference, state_at, stored_density, upwind

H_LEAST = 0.1  # of `_unit`: no less enthalpy lies between the ends of a cell, or all of it would begin to boil at once
H_ROUND = 0.02  # of `_unit`: over so much an end passes from one phase to the next
P_HELD, P_ROUND = 0.985, 0.01  # of the critical pressure: where the borders of two phases are held, and over how much
P_BEYOND, P_BLEND = 1.025, 0.04  # likewise: where nothing bends any more between these borders

# s: what boils drives the flow at once, as cells share one pressure, and heat transfer that followed the flow at once would have
# several values, or none.
TAU_FELT = 0.1
# of a cell's mass: so much has to come in until the inlet is known, as half of it lies before the middle. With less, pressure fell
# as soon as something cold came in, more was drawn in, and what flows to and fro at the inlet of a warm pipe was driven on.
MEMORY = 0.5
REST = 1e-2  # of the size of the mass flow: below it the inlet comes to be as warm as the cell


def mean_density(medium: Any, p: Any, one: Any, other: Any) -> Any:
    """The mean of the density over all enthalpies between two, at one pressure: ``1/(h2 - h1)·∫rho dh``.

    In the two-phase region volume is linear in enthalpy, so that the integral is a logarithm; outside it is smooth, and done by
    Simpson's rule: within 0.05 %, and within 3 % where the pressure is nearer to the critical one than 2 %. So a phase border moves
    through a cell without a kink in its mass (as in the lumped pipes of ThermoFluid). Where both ends are equal it is the mean
    around them, over a tenth of ``p_critical/rho_critical``: 0.8 kJ/kg of R134a.

    >>> import acausal as ac
    >>> water = ac.media.fluid("water")
    >>> ends = water.saturation(p=1e5)
    >>> round(float(mean_density(water, 1e5, ends.liquid.h, ends.vapour.h)), 2)
    4.37
    """
    middle = (one + other) / 2
    if not hasattr(medium, "p_critical"):
        return state_at(medium, p, middle).rho
    apart = other - one
    width = ac.sqrt(apart * apart + (H_LEAST * _unit(medium)) ** 2)
    return _integral(medium, p, middle - width / 2, middle + width / 2) / width


def _integral(medium: Any, p: Any, one: Any, other: Any) -> Any:
    """∫rho dh from one enthalpy to another, in three pieces, each between what lies of both in it.

    Not as a difference of integrals from the border: their errors would part a mean over a little from the density there, and the
    slopes of cold liquid, which hardly changes with enthalpy, would have the wrong sign. A piece begins and ends within `H_ROUND`
    of its border: Simpson's rule has errors, and with a corner there the flows between cells, which follow from slopes, would jump.
    """
    low, high, width = *_borders(medium, p), H_ROUND * _unit(medium)
    rho = state_at(medium, p, low).rho
    slope = (1 / state_at(medium, p, high).rho - 1 / rho) / (high - low)
    below, above = [_above(low - h, width) for h in (one, other)], [_above(h - high, width) for h in (one, other)]
    inner = [h + b - a for h, b, a in zip((one, other), below, above, strict=True)]
    first, last = (1 + slope * (h - low) * rho for h in inner)
    boiling = ac.log(last / first) / slope
    boiling = boiling + _beyond(medium, p) * (_simpson(medium, p, *inner) - boiling)
    liquid = _simpson(medium, p, *(low - b for b in below))
    vapour = _simpson(medium, p, *(high + a for a in above))
    return liquid + boiling + vapour


def _beyond(medium: Any, p: Any) -> Any:
    """From 0 to 1 above the critical pressure."""
    return ac.smooth_step(p, P_BEYOND * medium.p_critical, P_BLEND * medium.p_critical)


def _borders(medium: Any, p: Any) -> tuple[Any, Any]:
    """Enthalpies between which fluid boils; near and above the critical pressure, to which they come together infinitely fast,
    those that they are at `P_HELD` of it: there volume between them is not quite linear, which costs 3 % of the density."""
    held = p - _above(p - P_HELD * medium.p_critical, P_ROUND * medium.p_critical)
    ends = medium.saturation(p=held)
    return ends.liquid.h, ends.vapour.h


def _simpson(medium: Any, p: Any, one: Any, other: Any) -> Any:
    """∫rho dh outside of the dome."""
    first, middle, last = (state_at(medium, p, one + share * (other - one)).rho for share in (0.0, 0.5, 1.0))
    return (other - one) * (first + 4 * middle + last) / 6


def _above(x: Any, width: float) -> Any:
    """max(x, 0) without its corner: the integral of a smooth step of that width, exact beyond it."""
    u = quiet(ac.min(ac.max(x / width + 0.5, 0.0), 1.0))
    return width * u**3 * (1 - u / 2) + quiet(ac.max(x - width / 2, 0.0))


def _unit(medium: Any) -> float:
    """A unit of enthalpy, J/kg: 8e3 of R134a, 16e3 of CO2, 69e3 of water."""
    return float(medium.p_critical / medium.rho_critical)


class MeanDensityPipe(ac.Component):
    """A pipe of `cells` cells with one pressure: fewer states than a `DistributedPipe`, and no pressure waves.

    States are the pressure and the enthalpy at which each cell is left; the flows from cell to cell are those that keep the
    pressure the same everywhere: ``dM/dt = m_in - m_out``, ``dU/dt = m_in·h_in - m_out·h + q``, ``M = V/n·mean_density``, ``U =
    M·h - p·V/n``. The density is the mean over the enthalpies between inlet and outlet of a cell, as it flows by design
    (`mean_density`): with that of one point, flows would jump whenever a cell begins to boil. What flows the other way is described
    less exactly. Heat transfer is `alpha`, or follows the flow within 0.1 s with `transfer="tube"` (`fluid.Tube`). Friction is
    that of the ends, ``dp_nominal/2·(m/m_nominal)²`` at each. Charge and energy are conserved to the tolerance of the run.
    """

    medium = ac.AnyMedium(doc="what flows")
    a, b = ac.FluidPort(medium, doc="inlet by design"), ac.FluidPort(medium, doc="outlet by design")
    heat: Any
    length = ac.Parameter(10.0, unit="m", min=1e-6, doc="length")
    diameter = ac.Parameter(0.02, unit="m", min=1e-6, doc="inner diameter")
    alpha = ac.Parameter(500.0, unit="W/(m^2*K)", min=0, doc="heat transfer to the wall")
    m_nominal = ac.Parameter(0.05, unit="kg/s", min=1e-9, doc="size of the mass flow")
    dp_nominal = ac.Parameter(5e3, unit="Pa", min=1e-3, doc="pressure lost from end to end with m_nominal")
    p_start = ac.Parameter(2e5, unit="Pa", min=1e-3, doc="pressure at first")
    h_start = ac.Parameter(1e5, unit="J/kg", doc="specific enthalpy at first")
    T_start = ac.Parameter(300.0, unit="K", min=0, instead_of="h_start", doc="temperature at first")
    x_start = ac.Parameter(0.5, min=0, max=1, instead_of="h_start", doc="vapour quality at first")
    p = ac.Variable(unit="Pa", nominal=1e5, start=2e5, state="always", doc="pressure")
    h_in = ac.Variable(unit="J/kg", nominal=1e5, start=1e5, state="always", doc="enthalpy of what came in last")
    law: Transfer | None
    flux: Any
    m_mean: Any
    m_felt: Any
    h: Any
    M: Any
    U: Any
    m: Any

    def __init__(self, cells: int = 10, transfer: str | Transfer = "constant") -> None:
        cells = counted(cells, 2, "A pipe of cells has two of them or more", "`fluid.Volume` is one cell.")
        self.cells, self.law = cells, checked_transfer(transfer)
        n = cells
        if self.law is not None:
            self.flux = ac.Variable(shape=n, unit="W/m^2", nominal=1e3, start=0.0, doc="heat from the wall of each cell")
            self.m_mean = ac.Variable(shape=n, unit="kg/s", nominal=0.1, start=0.0, doc="mass flow through each cell")
            self.m_felt = ac.Variable(
                shape=n, unit="kg/s", nominal=0.1, start=0.0, fixed=True, doc="that which heat transfer follows, a moment later"
            )
        self.heat = HeatPort(shape=n, doc="wall of each cell")
        self.h = ac.Variable(shape=n, unit="J/kg", nominal=1e5, start=1e5, state="always", doc="enthalpy of each cell")
        self.M = ac.Variable(shape=n, unit="kg", nominal=0.1, start=0.1, state="avoid", doc="mass of each cell")
        self.U = ac.Variable(shape=n, unit="J", nominal=1e5, start=1e5, state="avoid", doc="energy of each cell")
        self.m = ac.Variable(shape=n - 1, unit="kg/s", nominal=0.1, start=0.0, doc="mass flow from cell to cell")

    def equations(self) -> Iterator[Any]:
        n, p, h, m = self.cells, self.p, self.h, self.m
        V = pi / 4 * self.diameter**2 * self.length / n
        one_substance(self)
        stored_density(self, state_at(self.medium, p, self.h_in))
        yield self.M[0] == V * mean_density(self.medium, p, self.h_in, h[0])
        yield self.M[1:] == V * mean_density(self.medium, p, h[:-1], h[1:])
        comes, settles = (ac.no_event(ac.max(m, 0.0)) for m in (self.a.m_flow, REST * self.m_nominal - self.a.m_flow))
        inlet = comes * (self.a.h.inflow - self.h_in) + settles * (h[0] - self.h_in)
        yield MEMORY * self.M[0] * ac.der(self.h_in) == inlet
        yield self.U == self.M * h - V * p
        for port in (self.a, self.b):
            yield port.m_flow == self.m_nominal * root_of_difference((port.p - p) / (self.dp_nominal / 2), 1e-3)
        yield self.a.h.outflow == h[0]
        yield self.b.h.outflow == h[n - 1]
        T = state_at(self.medium, p, h).T
        yield from self._correlated(T)
        flux = (self.alpha + ALPHA_LEAST) * (self.heat.T - T) if self.law is None else self.flux
        q = pi * self.diameter * self.length / n * flux
        yield self.heat.Q_flow == q
        yield from balances(self, q, m * upwind(m, h[:-1], h[1:]))
        self.T = ac.named(T, unit="K", doc="temperature of each cell")
        self.charge = ac.named(ac.sum(self.M), unit="kg", doc="fluid in it")

    def _correlated(self, T: Any) -> Iterator[Any]:
        if self.law is not None:
            yield from through_cells(self)
            state = state_at(self.medium, self.p, self.h)
            yield TAU_FELT * ac.der(self.m_felt) == self.m_mean - self.m_felt
            flow = tube_flow(self.medium, self.m_felt, self.diameter, self.p, self.h, state, ac.smooth_abs(self.flux, 1.0))
            yield self.flux == wall_flux(self.law, self.medium, flow, self.p, T, self.heat.T, X_BAND)

    def events(self) -> Iterator[Any]:
        yield from pipe_warnings(self)

    def initial_equations(self) -> Iterator[Any]:
        yield self.p == self.p_start
        h_start = given_enthalpy(self.medium, self.p_start, self.h_start, self.T_start, self.x_start)
        yield self.h == h_start
        yield self.h_in == h_start
