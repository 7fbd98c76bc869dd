"""What components of cells in a row have in common: the balances of mass and energy, and slopes of enthalpy within cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac


def balances(row: Any, q: Any, H: Any) -> Iterator[Any]:
    """Balances of cells with mass `M` and energy `U`, between which flow `m` and the enthalpy `H`, and which get the heat `q`.

    ``dM/dt = m_in - m_out``, ``dU/dt = H_in - H_out + q``; the first cell has port `a`, the last port `b`.
    """
    n, a, b, m = row.cells, row.a, row.b, row.m
    dM, dU = ac.der(row.M), ac.der(row.U)
    yield dM[0] == a.m_flow - m[0]
    yield dM[n - 1] == m[n - 2] + b.m_flow
    yield dU[0] == a.m_flow * a.h.actual - H[0] + q[0]
    yield dU[n - 1] == H[n - 2] + b.m_flow * b.h.actual + q[n - 1]
    if n > 2:
        yield dM[1:-1] == m[:-1] - m[1:]
        yield dU[1:-1] == H[:-1] - H[1:] + q[1:-1]


ALPHA_LEAST = 1e-9  # W/(m² K): without any, nothing would say how warm a wall is to which nobody connects
H_SMALL = 100.0  # J/kg: differences below this are taken as they are


def limited_slope(before: Any, after: Any) -> Any:
    """The slope of a cell by the differences to its neighbours (van Albada 1982): their mean where they are alike, little where one
    is far smaller or of another sign, so that no border lies beyond both cells."""
    one, other = before * before + H_SMALL**2, after * after + H_SMALL**2
    return (before * other + after * one) / (one + other)


def end_slope(rise: Any, next_rise: Any) -> Any:
    """The slope of the first or last cell: beyond it the rise goes on as it changed before, so that what leaves comes near to the
    temperature of the wall and not beyond."""
    ratio = ac.no_event(ac.min(ac.max(rise * next_rise / (next_rise * next_rise + H_SMALL**2), 0.0), 1.0))
    return rise * ratio**2
