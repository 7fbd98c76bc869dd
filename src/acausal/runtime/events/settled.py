"""Discrete values at a point, where no run goes on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..inputs import Signal
from ..problem import Floats, Problem
from .handler import Handler


def settle_discrete(problem: Problem, t: float, y: Floats, yp: Floats, inputs: Mapping[int, Signal], resumed: bool = False) -> bool:
    """Bring discrete values to what they are at a point, as at a start (or later, `resumed`); whether equations see another one."""
    if problem.rules is None or not (problem.rules.counts["update"] or len(problem.lowered.system.hybrid.cells)):  # type: ignore[union-attr]
        return False
    handler = Handler(problem, problem.known, inputs)
    handler.begin(t, y.copy(), yp.copy(), lambda *_: True, resumed)
    cells = handler.hybrid.cells
    changed = handler.known[cells] != problem.known[cells]
    relations = np.isin(handler.cells, handler.relations.cells)  # those are evaluated, not frozen, while a start is sought
    problem.known[cells] = handler.known[cells]
    problem.known[handler.hybrid.partners] = handler.known[cells]
    return bool((changed & handler.read & ~relations).any())


def switching(problem: Problem, t: float, y: Floats, yp: Floats, inputs: Mapping[int, Signal]) -> list[str]:
    """Names of discrete values that do not agree with the unknowns at a point."""
    from .words import cell_text

    handler = Handler(problem, problem.known, inputs)
    before = handler.w[handler.cells]
    handler.begin(t, y.copy(), yp.copy(), lambda *_: True)
    changed = (before != handler.w[handler.cells]) & handler.visible
    return [cell_text(handler, int(k)) for k in np.flatnonzero(changed)[:6]]
