"""A cross-flow exchanger in cells: two fluids that pass each other at right angles, and the wall between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import acausal as ac

from ..counts import counted
from .passages import checked_fractions, given_enthalpy, root_of_difference, state_at


class CrossFlowExchanger(ac.Component):
    """Two fluids of one phase each in cross flow, neither mixed, in `cells`·`cells` pairs of cells with a wall that stores.

    The first fluid goes along the rows, the second along the columns, in `cells` lanes of equal flow each: ``M/n²·dh/dt =
    m/n·(h_before - h) + q``, ``C/n²·dT_wall/dt = -q_1 - q_2``, ``q = UA/n²·(T_wall - T)``, UA that of one side. Flow of either side
    may turn or stand still. Mass is not stored; energy is, and is conserved to rounding. What leaves is the mean of the lanes.
    Friction is ``dp_nominal·(m/m_nominal)²``, or of each side as it is given (`m1_nominal`, `dp1_nominal`, …). At rest it comes to
    the effectiveness of `HeatExchanger("cross")` as cells become many: cells are well mixed, which costs some per cent of it.
    States: enthalpies and temperatures of the wall.

    Of a mixture the composition is a state, too, ``M/n·dX/dt = m·(X_before - X)`` in each cell along the flow: air that turns is
    the air that stood there. It begins with `X1_start` and `X2_start`: ``CrossFlowExchanger(8, X2_start=[0.008])``.
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
    m_nominal = ac.Parameter(0.1, unit="kg/s", min=1e-9, doc="size of the mass flows, where both are alike")
    dp_nominal = ac.Parameter(5e3, unit="Pa", min=1e-3, doc="pressure lost with it, where both are alike")
    m1_nominal = ac.Parameter(m_nominal, unit="kg/s", min=1e-9, doc="size of the first fluid's mass flow")
    m2_nominal = ac.Parameter(m_nominal, unit="kg/s", min=1e-9, doc="size of the second fluid's mass flow")
    dp1_nominal = ac.Parameter(dp_nominal, unit="Pa", min=1e-3, doc="pressure the first fluid loses with m1_nominal")
    dp2_nominal = ac.Parameter(dp_nominal, unit="Pa", min=1e-3, doc="pressure the second fluid loses with m2_nominal")
    T1_start, T2_start = (
        ac.Parameter(293.15, unit="K", min=0, doc="temperature of the first fluid at first"),
        ac.Parameter(293.15, unit="K", min=0, doc="temperature of the second fluid at first"),
    )
    h1_start, h2_start = (
        ac.Parameter(1e5, unit="J/kg", instead_of="T1_start", doc="enthalpy of the first fluid at first"),
        ac.Parameter(1e5, unit="J/kg", instead_of="T2_start", doc="enthalpy of the second fluid at first"),
    )
    T_start = ac.Parameter(293.15, unit="K", min=0, doc="temperature of the wall at first")
    Q_flow = ac.Variable(unit="W", nominal=1e3, doc="heat from the first fluid to the wall")
    h1: Any
    h2: Any
    T1: Any
    T2: Any
    T_wall: Any
    X1: Any
    X2: Any

    def __init__(self, cells: int = 8, X1_start: Sequence[float] | None = None, X2_start: Sequence[float] | None = None) -> None:
        self.cells = n = counted(cells, 2, "A cross-flow exchanger has two cells or more along each side")
        self.arrangement = "cross"
        self.said = tuple(None if X is None else tuple(map(float, X)) for X in (X1_start, X2_start))
        self.X1 = ac.Fractions(type(self).first, shape=n, nominal=0.1, start=0.0, doc="first fluid, of a mixture, from a1 on")
        self.X2 = ac.Fractions(type(self).second, shape=n, nominal=0.1, start=0.0, doc="second fluid, of a mixture, from a2 on")
        self.h1 = ac.Variable(shape=(n, n), unit="J/kg", nominal=1e5, start=1e5, doc="first fluid, lane by lane")
        self.h2 = ac.Variable(shape=(n, n), unit="J/kg", nominal=1e5, start=1e5, doc="second fluid, along the first index")
        self.T1 = ac.Variable(shape=(n, n), unit="K", nominal=100.0, start=293.15, doc="first fluid, lane by lane")
        self.T2 = ac.Variable(shape=(n, n), unit="K", nominal=100.0, start=293.15, doc="second fluid, along the first index")
        self.T_wall = ac.Variable(shape=(n, n), unit="K", nominal=300.0, start=293.15, doc="wall of each pair of cells")

    def equations(self) -> Iterator[Any]:
        n, T_wall = self.cells, self.T_wall
        heats = []
        frictions = ((self.m1_nominal, self.dp1_nominal), (self.m2_nominal, self.dp2_nominal))
        sides = (
            (self.a1, self.b1, self.first, self.h1, self.UA1, self.M1, False),
            (self.a2, self.b2, self.second, self.h2, self.UA2, self.M2, True),
        )
        for (a, b, medium, h, UA, M, crosswise), (m, dp) in zip(sides, frictions, strict=True):
            yield a.m_flow == m / ac.sqrt(dp) * root_of_difference(a.p - b.p, 1e-3 * dp)
            yield a.m_flow + b.m_flow == 0
            X = (self.X2 if crosswise else self.X1) if medium.substances else None
            yield from self._mixed(a, b, X, M)
            at = (lambda k: (k, slice(None))) if crosswise else (lambda k: (slice(None), k))
            T = self.T2 if crosswise else self.T1
            yield from self._temperatures(medium, a.p, h, T, X, at)
            q = UA / n**2 * (T_wall - T)
            heats.append(q)
            yield a.h.outflow == ac.mean(h[at(0)])
            yield b.h.outflow == ac.mean(h[at(n - 1)])
            yield from self._carried(a, b, h, q, M / n**2, at)
        yield self.C / n**2 * ac.der(T_wall) == -heats[0] - heats[1]
        yield self.Q_flow == -ac.sum(heats[0])
        stored = self.M1 / n**2 * ac.sum(self.h1) + self.M2 / n**2 * ac.sum(self.h2) + self.C / n**2 * ac.sum(T_wall)
        self.energy = ac.named(stored, unit="J", doc="energy of both fluids and the wall")

    def _temperatures(self, medium: Any, p: Any, h: Any, T: Any, X: Any, at: Any) -> Iterator[Any]:
        """Of all cells of a fluid; of a mixture across the lanes, along which its composition changes."""
        if X is None:
            yield T == state_at(medium, p, h).T
            return
        for k in range(self.cells):
            yield T[at(k)] == state_at(medium, p, h[at(k)], X[k]).T

    def _mixed(self, a: Any, b: Any, X: Any, M: Any) -> Iterator[Any]:
        """The composition of the cells of a mixture, the same in all lanes."""
        if X is None:
            return
        n = self.cells
        forth, back = (ac.no_event(ac.max(m, 0.0)) for m in (a.m_flow, b.m_flow))
        for k in range(n):
            before, behind = (a.X.inflow if k == 0 else X[k - 1]), (b.X.inflow if k == n - 1 else X[k + 1])
            yield M / n * ac.der(X[k]) == forth * (before - X[k]) + back * (behind - X[k])
        yield a.X.outflow == X[0]
        yield b.X.outflow == X[n - 1]

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
        yield self.T_wall == self.T_start
        for side, medium, port, said in zip("12", (self.first, self.second), (self.a1, self.a2), self.said, strict=True):
            h, T, mixed = getattr(self, f"h{side}_start"), getattr(self, f"T{side}_start"), {}
            if medium.substances:
                mixed = {"X": checked_fractions(medium, said, f"X{side}_start")}
                yield getattr(self, f"X{side}") == [mixed["X"]] * self.cells
            yield getattr(self, f"h{side}") == given_enthalpy(medium, port.p, h, T, None, **mixed)
