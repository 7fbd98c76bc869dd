"""Bounds of variables during a run.

They guide the search for a start; what the equations do afterwards they do not change, so that a value beyond them tells of a model
that is wrong, or of a range that is too narrow. It is reported, once for each variable.
"""

from __future__ import annotations

import numpy as np

from ..errors import Diagnostic
from ..families.starts import StartReader
from .problem import Floats, Problem

_MOST = 8  # variables that are told
_ROOM = 100.0  # times the tolerance: errors of the integration are no violation


def violated(
    problem: Problem, starts: StartReader, columns: np.ndarray, times: Floats, rows: Floats, tolerance: Floats, rtol: float
) -> list[Diagnostic]:
    """Variables that left their bounds; of those that are one unknown, the one whose bound it is. `columns` says which cell of the
    workspace each column of `rows` holds."""
    if problem.bounded is not None and not len(problem.bounded):
        return []
    unknown = np.flatnonzero(columns < problem.size)
    unknown = unknown[(columns[unknown] >= 0)]
    cells = columns[unknown]
    bounded = np.isfinite(problem.minimum[cells]) | np.isfinite(problem.maximum[cells])
    found = []
    for column, cell in zip(unknown[bounded], cells[bounded], strict=True):
        low, high = float(problem.minimum[cell]), float(problem.maximum[cell])
        values = rows[:, column]
        room = _ROOM * (tolerance[cell] + rtol * np.abs(values))
        outside = np.flatnonzero((values < low - room) | (values > high + room))
        if len(outside):
            upper = bool(values[outside[0]] > high)
            name, sign = starts.who_bounds(int(problem.lowered.kept[cell]), upper, high if upper else low)
            own = (low, high) if sign > 0 else (-high, -low)
            found.append(_told(name, *own, times[outside], sign * values[outside]))
        if len(found) == _MOST:
            break
    return found


def _told(name: str, low: float, high: float, times: Floats, values: Floats) -> Diagnostic:
    below = values[0] < low
    worst = values.min() if below else values.max()
    beyond = f"below its minimum of {low:g}" if below else f"above its maximum of {high:g}"
    own = name.rpartition(".")[2].partition("[")[0]
    return Diagnostic(
        f"`{name}` is {beyond} from time {times[0]:.6g} on; at worst it is {worst:.6g}.",
        remedy="Bounds do not change what equations say. Check the equations that drive it there; where such values are meant, "
        f"widen the range: {own}=ac.modify(min=…, max=…).",
    )
