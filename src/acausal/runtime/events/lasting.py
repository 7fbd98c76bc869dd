"""Warnings that wait for a condition to fail for a while, where there is nothing more to wait for: at the end of a run, at rest.

A run that was too short for a condition which failed from its start to its end has seen nothing else, and says so. At rest a
condition that fails will fail for as long as anybody waits.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import Diagnostic
from ...families.durations import NEVER
from ..inputs import Signal
from ..problem import Floats, Problem
from .handler import Handler
from .words import explain


def failing_since(handler: Handler, t: float, levels: tuple[str, ...] = ("warning",)) -> list[int]:
    """Rows of assertions that wait, of those whose conditions fail and have failed since a time at least."""
    found: list[int] = []
    plant = handler.problem.lowered.system.plant
    for block in handler.hybrid.parts["assertion"].blocks:
        if block.rule.since is not None and block.rule.detail.startswith(levels):
            since = handler.known[plant.numbers(block.kind, block.rule.since).ravel()]
            found += (block.start + np.flatnonzero(since <= t)).tolist()
    return found


def told_at_rest(problem: Problem, t: float, y: Floats, yp: Floats, inputs: Mapping[int, Signal]) -> tuple[Diagnostic, ...]:
    """Assertions that do not hold at a state of rest, each told once: as warnings, as there is no run that they could end."""
    if problem.rules is None or not problem.rules.counts["assertion"]:
        return ()
    handler = Handler(problem, problem.known, inputs)
    found = handler.begin(t, y.copy(), yp.copy(), lambda *_: True, resumed=True)
    waiting = failing_since(handler, np.nextafter(NEVER, 0.0), ("warning", "error"))
    errors = found.rows if found.failure == "assertion" else ()
    rows, part = sorted({*found.warnings, *errors, *waiting}, reverse=True), handler.hybrid.parts["assertion"]
    once = {part.statement(row): row for row in rows}
    return tuple(explain(handler, "warning", found, once[statement]) for statement in sorted(once))
