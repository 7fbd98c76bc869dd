"""A cross-flow exchanger in cells: two fluids that pass each other at right angles, and the wall between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from .passages import entering, nominal_friction, state_at, upwind


class CrossFlowExchanger(ac.Component):
    """Two fluids of one phase each in cross flow, neither mixed, in `cells`·`cells` pairs of cells with a wall that stores.

    The first fluid goes along the rows, the second along the columns, in `cells` lanes of equal flow each: ``M/n²·dh/dt =
    m/n·(h_before - h) + q``, ``C/n²·dT_wall/dt = -q_1 - q_2``, ``q = UA/n²·(T_wall - T)``, UA that of one side. Flow of either side
    may turn or stand still. Mass is not stored; energy is, and is conserved to rounding. What leaves is the mean of the lanes.
    Friction is ``dp_nominal·(m/m_nominal)²``. At rest it comes to the effectiveness of `HeatExchanger("cross")` as cells become
    many: cells are well mixed, which costs some per cent of it. States: enthalpies and temperatures of the wall.
    """

    first, second = ac.AnyMedium(doc="the first fluid"), ac.AnyMedium(doc="the second fluid")
    a1, b1 = ac.FluidPort(first, doc="first fluid, inlet by design"), ac.FluidPort(first, doc="first fluid, outlet")
    a2, b2 = ac.FluidPort(second, doc="second fluid, inlet by design"), ac.FluidPort(second, doc="second fluid, outlet")
    UA1, UA2 = (
        ac.Input(2000.0, unit="W/K", min=0, doc="first fluid to wall"),
        ac.Input(2000.0, unit="W/K", min=0, doc="second fluid to wall"),
    )
    M1 = ac.Parameter(0.5, unit="kg", min=1e-9, doc="first fluid in it")
    M2 = ac.Parameter(0.5, unit="kg", min=1e-9, doc="second fluid in it")
    C = ac.Parameter(2000.0, unit="J/K", min=1e-9, doc="heat capacity of the wall")
    m_nominal = ac.Parameter(0.1, unit="kg/s", min=1e-9, doc="size of the mass flows")
    dp_nominal = ac.Parameter(5e3, unit="Pa", min=1e-3, doc="pressure lost with m_nominal")
    h1_start, h2_start = (
        ac.Parameter(1e5, unit="J/kg", doc="enthalpy of the first fluid at first"),
        ac.Parameter(1e5, unit="J/kg", doc="enthalpy of the second fluid at first"),
    )
    T_start = ac.Parameter(293.15, unit="K", min=0, doc="temperature of the wall at first")
    Q_flow = ac.Variable(unit="W", nominal=1e3, doc="heat from the first fluid to the wall")
    h1: Any
    h2: Any
    T_wall: Any

    def __init__(self, cells: int = 8) -> None:
        if cells < 2:
            raise UsageError(f"A cross-flow exchanger has two cells or more along each side, not {cells!r}.")
        self.cells = n = cells
        self.h1 = ac.Variable(shape=(n, n), unit="J/kg", nominal=1e5, start=1e5, doc="first fluid, lane by lane")
        self.h2 = ac.Variable(shape=(n, n), unit="J/kg", nominal=1e5, start=1e5, doc="second fluid, along the first index")
        self.T_wall = ac.Variable(shape=(n, n), unit="K", nominal=300.0, start=293.15, doc="wall of each pair of cells")

    def equations(self) -> Iterator[Any]:
        n, T_wall = self.cells, self.T_wall
        heats = []
        sides = (
            (self.a1, self.b1, self.first, self.h1, self.UA1, self.M1, False),
            (self.a2, self.b2, self.second, self.h2, self.UA2, self.M2, True),
        )
        for a, b, medium, h, UA, M, crosswise in sides:
            yield from nominal_friction(a, b, medium, self.m_nominal, self.dp_nominal)
            q = UA / n**2 * (T_wall - self._temperature(medium, a, b, h))
            heats.append(q)
            at = (lambda k: (k, slice(None))) if crosswise else (lambda k: (slice(None), k))
            yield a.h.outflow == ac.mean(h[at(0)])
            yield b.h.outflow == ac.mean(h[at(n - 1)])
            yield from self._carried(a, b, h, q, M / n**2, at)
        yield self.C / n**2 * ac.der(T_wall) == -heats[0] - heats[1]
        yield self.Q_flow == -ac.sum(heats[0])
        stored = self.M1 / n**2 * ac.sum(self.h1) + self.M2 / n**2 * ac.sum(self.h2) + self.C / n**2 * ac.sum(T_wall)
        self.energy = ac.named(stored, unit="J", doc="energy of both fluids and the wall")

    def _temperature(self, medium: Any, a: Any, b: Any, h: Any) -> Any:
        X = upwind(a.m_flow, a.X.inflow, b.X.inflow) if medium.substances else None
        return state_at(medium, entering(medium, a).p, h, X).T

    def _carried(self, a: Any, b: Any, h: Any, q: Any, M: Any, at: Any) -> Iterator[Any]:
        """The energy of all cells of a fluid: what comes from the cell before, as it flows, and heat."""
        n = self.cells
        forth, back = (ac.no_event(ac.max(m, 0.0)) / n for m in (a.m_flow, b.m_flow))
        first, last, inner = at(0), at(n - 1), at(slice(1, -1))
        yield M * ac.der(h[first]) == forth * (a.h.inflow - h[first]) + back * (h[at(1)] - h[first]) + q[first]
        yield M * ac.der(h[last]) == forth * (h[at(n - 2)] - h[last]) + back * (b.h.inflow - h[last]) + q[last]
        if n > 2:
            before, behind = h[at(slice(0, -2))], h[at(slice(2, None))]
            yield M * ac.der(h[inner]) == forth * (before - h[inner]) + back * (behind - h[inner]) + q[inner]

    def initial_equations(self) -> Iterator[Any]:
        yield self.h1 == self.h1_start
        yield self.h2 == self.h2_start
        yield self.T_wall == self.T_start
