"""Exchangers in cells: the reference for those with moving boundaries, and for what has no zones."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import acausal as ac

from ..counts import counted
from ..fluid.cells import balances, end_slope, limited_slope
from ..fluid.friction import both_phases
from ..fluid.heat_transfer import Transfer, along_quality, through_cells, wall_flux
from ..fluid.passages import one_substance, root_of_difference, upwind
from ..fluid.two_phase import share
from .exchanger import RefrigerantExchanger
from .moving_boundary import SLIPS, checked_slip


class DistributedExchanger(RefrigerantExchanger):
    """An evaporator or a condenser of `cells` cells in a row, each with its wall; connected as those with moving boundaries.

    States of a cell are its mass and energy, ``M = V·rho(p, h)/n`` and ``U = M·h - p·V/n``, and the temperature of its wall.
    Cells have pressures of their own, and between them flows ``m = m_nominal·sqrt(dp·(n-1)/dp_nominal)`` with its sign (a
    staggered grid); what flows takes the enthalpy of the cell it comes from, at the border that it leaves by (slopes within
    cells, limited after van Albada 1982): a few cells hold nearly as much as many. Where a cell begins to boil, or is all liquid,
    there is an event; where it falls dry, and hardly anything bends, there is none (with one, a day took a quarter more time, and
    was no more exact). Heat transfer changes smoothly with quality from liquid over two phases to vapour. Above the critical
    pressure it is a gas cooler.
    Both phases go equally fast, unless `slip` is "zivi" or "fauske" (see `Void`): then the vapour is faster by ``s =
    (rho'/rho'')^k``, k = 1/3 or 1/2, and where the quality x stands ``x·s/(1 - x + x·s)`` passes. An evaporator holds up to twice
    as much so; `Evaporator` and `Condenser` have Zivi's slip unless they are told otherwise.
    With `transfer="tube"` it follows the flow of each cell (see `RefrigerantExchanger`), and with a `friction` the loss between
    cells is that of tubes instead of `dp_nominal`.
    """

    m_nominal = ac.Parameter(0.01, unit="kg/s", min=1e-9, doc="size of the mass flow")
    dp_nominal = ac.Parameter(5e3, unit="Pa", min=1e-3, doc="pressure lost from end to end with m_nominal")
    dp_small = ac.Parameter(
        500.0, unit="Pa", min=1e-6, group="method", doc="pressure difference from end to end below which flow is laminar"
    )
    x_band = ac.Parameter(0.03, min=1e-4, group="method", doc="half the range of quality over which heat transfer changes")

    flux: Any
    m_mean: Any
    p: Any
    h: Any
    h_passing: Any
    slope: Any
    x: Any
    M: Any
    U: Any
    T_wall_cell: Any
    m: Any

    def __init__(
        self, cells: int = 10, transfer: str | Transfer = "constant", friction: str = "nominal", slip: str = "homogeneous"
    ) -> None:
        self.slip = checked_slip(slip)
        self.cells = n = counted(cells, 2, "A DistributedExchanger has two cells or more", "Ten are a good beginning.")
        self.choose(transfer, friction)
        if self.law is not None:
            self.flux = ac.Variable(shape=n, unit="W/m^2", nominal=1e3, start=0.0, doc="heat from the wall of each cell")
            self.m_mean = ac.Variable(shape=n, unit="kg/s", nominal=0.01, start=0.0, doc="mass flow through each cell")
        self.p = ac.Variable(shape=n, unit="Pa", nominal=1e5, start=5e5, doc="pressure of each cell")
        self.h = ac.Variable(shape=n, unit="J/kg", nominal=1e5, start=3e5, doc="enthalpy of each cell")
        if slip != "homogeneous":
            self.h_passing = ac.Variable(shape=n, unit="J/kg", nominal=1e5, start=3e5, doc="enthalpy of what flows in each cell")
        self.slope = ac.Variable(shape=n, unit="J/kg", nominal=1e5, start=0.0, doc="rise of enthalpy within each cell")
        self.M = ac.Variable(shape=n, unit="kg", nominal=0.1, start=0.1 / n, state="always", doc="mass of each cell")
        self.U = ac.Variable(shape=n, unit="J", nominal=2e4, start=2e4 / n, state="always", doc="energy of each cell")
        self.T_wall_cell = ac.Variable(shape=n, unit="K", nominal=300.0, start=293.15, state="always", doc="wall of each cell")
        self.m = ac.Variable(shape=n - 1, unit="kg/s", nominal=0.01, start=0.0, doc="mass flow from cell to cell")
        self.x = ac.Variable(shape=n, start=0.5, doc="quality of what flows in each cell, below 0 of liquid, above 1 of vapour")
        self.q = ac.Variable(shape=n, unit="W", nominal=1e3, start=0.0, doc="heat from the wall of each cell to the refrigerant")

    def equations(self) -> Iterator[Any]:
        n, p, h, m = self.cells, self.p, self.h, self.m
        one_substance(self)
        state, ends = self.medium.state(p=p, h=h, phase="liquid or not"), self.medium.saturation(p=p)
        x = self.x
        if self.slip != "homogeneous":
            yield self.h_passing == self._with_slip(h, ends)
            h = self.h_passing
        yield x == self.quality(h, state.h_liquid, state.h_vapour)
        yield self.M == self.V / n * state.rho
        yield self.U == self.M * self.h - self.V / n * p
        yield self._flows(state, ends)
        yield self.a.p == p[0]
        yield self.b.p == p[n - 1]
        rise = h[1:] - h[:-1]  # from cell to cell
        yield self.slope[0] == self._at_end(self.a, rise[0], rise[1] if n > 2 else 0.0)
        yield self.slope[n - 1] == self._at_end(self.b, rise[n - 2], rise[n - 3] if n > 2 else 0.0)
        if n > 2:
            yield self.slope[1:-1] == limited_slope(rise[:-1], rise[1:])
        first, last = h - self.slope / 2, h + self.slope / 2  # at the borders of each cell
        yield self.a.h.outflow == first[0]
        yield self.b.h.outflow == last[n - 1]
        if self.law is not None:
            yield from self._correlated(self.law, state, h)
        q = self.q
        yield q == (self.area / n) * (self.flux if self.law is not None else self._alpha(x) * (self.T_wall_cell - state.T))
        q_air = self.UA / n * (self.air.T - self.T_wall_cell)
        yield self.C / n * ac.der(self.T_wall_cell) == self.from_outside(q_air, 1 / n) - q
        yield from self.moisture()
        yield self.air.Q_flow == ac.sum(q_air)
        yield from balances(self, q, m * ac.no_event(ac.where(m > 0, last[:-1], first[1:])))
        self.charge = ac.named(ac.sum(self.M), unit="kg", doc="refrigerant in it")
        walls = self.C / n * ac.sum(self.T_wall_cell)
        self.energy = ac.named(ac.sum(self.U) + walls, unit="J", doc="energy of refrigerant and wall")
        self.h_out = ac.named(last[n - 1], unit="J/kg", doc="enthalpy of what leaves at b")
        self.T_wall = ac.named(ac.mean(self.T_wall_cell), unit="K", doc="mean temperature of the wall")
        self.T_saturation = ac.named(ends.T[0], unit="K", doc="saturation temperature at a")

    def _at_end(self, port: Any, rise: Any, next_rise: Any) -> Any:
        """The slope of the first or last cell; where it flows in there is none, so that no cell is hotter than what comes."""
        return end_slope(rise, next_rise) * (1 - ac.smooth_step(port.m_flow, 0.0, 0.02 * self.m_nominal))

    def _flows(self, state: Any, ends: Any) -> Any:
        """From cell to cell, by friction."""
        n, p, m, x = self.cells, self.p, self.m, self.x
        if self.friction == "nominal":
            share = 1 / (n - 1)
            return m == self.m_nominal / ac.sqrt(self.dp_nominal * share) * root_of_difference(
                p[:-1] - p[1:], self.dp_small * share
            )
        liquid, vapour = (
            SimpleNamespace(**{name: upwind(m, q[:-1], q[1:]) for name, q in vars(phase).items()})
            for phase in both_phases(x, state, ends)
        )
        return p[:-1] - p[1:] == self.loss(m, upwind(m, x[:-1], x[1:]), liquid, vapour, 1 / (n - 1))

    def _alpha(self, x: Any) -> Any:
        return along_quality(x, self.alpha_liquid, self.alpha_two_phase, self.alpha_vapour, self.x_band)

    def _with_slip(self, h: Any, ends: Any) -> Any:
        """The enthalpy of what flows where the enthalpy of what is there is h: more of it is vapour, which is faster."""
        faster = (ends.liquid.rho / ends.vapour.rho) ** (1 - SLIPS[self.slip])
        x = share(self.quality(h, ends.liquid.h, ends.vapour.h))
        return h + (x * faster / (1 - x + x * faster) - x) * ends.h_evaporation

    def _correlated(self, law: Transfer, state: Any, h: Any) -> Iterator[Any]:
        """Heat transfer of each cell by the mean of what flows in and out of it."""
        yield from through_cells(self)
        flow = self.tube_flow(self.m_mean, h, self.p, state, ac.smooth_abs(self.flux, 1.0))
        yield self.flux == wall_flux(law, self.medium, flow, self.p, state.T, self.T_wall_cell, self.x_band)

    def initial_equations(self) -> Iterator[Any]:
        start = self.medium.state(rho=self.charge_start / self.V, T=self.T_start)
        yield self.p == start.p
        yield self.h == start.h
        yield self.T_wall_cell == self.T_start
