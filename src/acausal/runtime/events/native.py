"""Ordinary state events without Python: what the native core needs to know of a model's rules, and what it hands back.

`native/switches.h` does for an ordinary state event what `Handler` does, within the solver's own loop. Whatever is unusual it leaves to
the handler. Rows that are stored at events and at output times go into one buffer, in the order of time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Floats, Problem, core
from .chatter import SHORT, SHRINKING, SHRUNK, WINDOW
from .handler import Handler
from .log import Record

RESTART = 0.1  # first step after an event, in steps before it
ROOM = 2_000  # rows for events in a new buffer
MOST_BYTES = 1 << 26  # of a new buffer, unless output times alone need more
HANDLED = ("relation", "net", "update", "reinit", "guess", "snapshot", "stop", "assertion")
WITHOUT = ("timed", "crossing", "clock_start", "clock_period")  # roles that need no kernels there


class Tape:
    """Rows to write on: pieces of a few large arrays, so that nothing is copied or wasted where events are many and rows are wide."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.blank = np.empty((0, width))

    def rows(self, count: int) -> Floats:
        """At least `count` rows, and some more for events."""
        if len(self.blank) < count + 2:
            most = max(2, MOST_BYTES // (8 * max(1, self.width)))
            self.blank = np.empty((count + min(ROOM, most), self.width))
        return self.blank

    def used(self, count: int) -> Floats:
        """The first `count` of those rows, for good."""
        used, self.blank = self.blank[:count], self.blank[count:]
        return used


class Native:
    """The switches of one run, in its session. Values of discrete cells are the session's while it advances; `fetch` brings them back."""

    def __init__(self, handler: Handler, session: Any, span: float) -> None:
        self.handler, self.session = handler, session
        session.set_switches(switches(handler, span))

    def take(self, record: Record, rows: Floats) -> dict[str, Any]:
        """Events and rows since the last time, into the record; and what else is known of them."""
        taken: dict[str, Any] = self.session.take_events()
        if taken["handled"]:
            self.session.workspace(self.handler.w)
        taken["causes"] = self._sources(taken["cause_rows"])
        record.many(taken, rows)
        return taken

    def _sources(self, rows: np.ndarray) -> list[tuple[str, int]]:
        relations = self.handler.relations.count
        return [("relation", int(r)) if r < relations else ("crossing", int(r) - relations) for r in rows]


def is_ordinary(problem: Problem, session: Any) -> bool:
    """Whether events of the model can be handled natively at all."""
    assert problem.rules is not None
    counts = problem.rules.counts
    unusual = [role for role, count in counts.items() if count and role not in HANDLED and role not in WITHOUT]
    return core is not None and isinstance(session, core.Ida) and not unusual


def switches(handler: Handler, span: float) -> Any:
    """`_core.Switches` of a handler whose run has begun: bands have their widths then."""
    problem, relations, first = handler.problem, handler.relations, 2 * handler.n
    found = core.Switches(problem.native)
    for role in HANDLED:
        part = handler.hybrid.parts.get(role)
        if part is None or not part.count:
            continue
        found.set_rules(role, part.count, _indices(_targets(handler, role, first)))
        for kernel in handler.rules.kernels[role]:
            found.add_rules(role, *kernel)
    masks = (np.ascontiguousarray(mask, dtype=bool) for mask in (handler.read, handler.visible, _read_by_timed(handler)))
    found.set_cells(_indices(handler.cells), _indices(handler.partners), *masks)
    found.set_relations(_indices(relations.bands), relations.sense, relations.width, _directions(handler))
    found.set_unknowns(problem.differential, problem.nominal, np.ascontiguousarray(handler.state_signs, dtype=float), RESTART)
    found.set_haste(WINDOW, SHORT * span, SHRINKING, SHRUNK)
    return found


def _targets(handler: Handler, role: str, first: int) -> np.ndarray:
    if role in ("stop", "assertion"):
        return np.zeros(0)
    targets = handler.hybrid.parts[role].targets
    return handler.problem.lowered.place[targets] if role in ("reinit", "guess") else first + targets


def _read_by_timed(handler: Handler) -> np.ndarray:
    """Mask over the discrete cells: those on which times of events to come depend."""
    used = np.zeros(len(handler.w), dtype=bool)
    for kernel in handler.rules.kernels["timed"]:
        used[np.where(kernel.slots < 0, ~kernel.slots, kernel.slots)] = True
    computed = handler.problem.computed.count if handler.problem.computed else 0
    if used[len(used) - computed :].any():
        return np.ones(len(handler.cells), dtype=bool)
    return np.asarray(used[handler.cells] | used[handler.partners])


def _directions(handler: Handler) -> np.ndarray:
    part = handler.hybrid.parts["crossing"]
    directions = np.zeros(part.count, dtype=np.int32)
    for block in part.blocks:
        sense = {"rising": 1, "falling": -1}.get(block.rule.detail.split()[0], 0)
        directions[block.start : block.start + block.count] = sense
    return directions


def _indices(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.int32)
