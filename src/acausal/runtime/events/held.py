"""Values that an event gives to unknowns which are not among the selected states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..problem import Floats, Problem
from ..states import Exchange
from .ties import ranks

if TYPE_CHECKING:
    from ..run import Opened

_MOST_RELEASED = 100  # selected states that are tried, one after the other


def held(
    solver: Opened,
    exchange: Exchange | None,
    problem: Problem,
    t: float,
    y: Floats,
    yp: Floats,
    lost: np.ndarray,
    was_set: np.ndarray,
) -> bool:
    """Those that are `lost` become states for a moment, each in place of one of its kind (a velocity for a velocity), the one whose
    release changes the others least; none that the event set, too (`was_set`). y in place; whether all could
    be held."""
    if exchange is None:
        return False
    rank, chosen, solved = ranks(problem), problem, True
    for unknown in lost:
        best: tuple[float, Problem, Floats] | None = None
        alike = chosen.differential & (rank == rank[unknown])
        free = np.setdiff1d(np.flatnonzero(alike), was_set)[:_MOST_RELEASED]
        if not len(free):
            continue  # those it is tied to were set too: to what agrees with it, or there is a conflict
        for state in free:
            other, y_try, yp_try = exchange.replaced(chosen, int(state), int(unknown), t), y.copy(), yp.copy()
            solver.lend(other)
            ok, _ = solver.session.consistent(t, y_try, yp_try, other.differential, other.nominal)
            moved = float((np.abs(y_try - y) / other.nominal).sum())
            if ok and np.isfinite(moved) and (best is None or moved < best[0]):
                best = moved, other, y_try
        if best is None:
            solved = False
            break
        chosen, y[:] = best[1], best[2]
    if chosen is not problem or not solved:
        solver.lend(problem)
    return solved
