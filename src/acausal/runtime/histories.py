"""The histories of the delays of a run: one set for each run, whose addresses stand in known cells (`native/delays.cpp`)."""

from __future__ import annotations

import importlib
from typing import Any, cast

import numpy as np

from ..errors import Diagnostic, UsageError
from ..families.system import System
from ..language.declarations import HISTORY, LONG_BEFORE, PASSED
from ..records import dataclass

State = list[list[float]]
PAST_ALONE = -1.0  # in the cell of a history: what is delayed has nothing to do with the present, and determines no part of it


def history_cells(system: System) -> np.ndarray:
    """Known cells that hold histories."""
    return _cells(system, "parameter", HISTORY)


def _cells(system: System, role: str, stem: str) -> np.ndarray:
    found: list[int] = []
    for kind in system.plant.kinds:
        for q in kind.quantities.values():
            if q.role == role and q.declaration.auxiliary and q.name.startswith(stem):
                found += range(q.base, q.base + kind.count * q.size)
    return np.array(found, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """What the delayed quantities of a run were, when it ended, and which breaks they had passed."""

    state: State
    marks: np.ndarray
    end: float

    def ending_at(self, t: float) -> Past:
        """The same past, as if it had led to another time."""
        moved = t - self.end
        if moved == 0.0:
            return self
        marks = np.where(self.marks > LONG_BEFORE / 2, self.marks + moved, self.marks)
        return Past([_moved(channel, moved) for channel in self.state], marks, t)


def _moved(channel: list[float], by: float) -> list[float]:
    """A channel whose times are others: of each segment level, start, length, times and values (`native/delays.cpp`)."""
    out, k = list(channel), 1
    while k + 2 < len(out):
        count = int(out[k + 2])
        for place in (k + 1, *range(k + 3, k + 3 + count)):
            out[place] += by
        k += 3 + 2 * count
    return out


def remembered(system: System) -> np.ndarray:
    """Unknowns of which a history is kept."""
    found: list[int] = []
    for kind in system.plant.kinds:
        for q in kind.quantities.values():
            if q.role == "variable" and q.declaration.auxiliary and q.name.startswith(HISTORY):
                found += range(q.base, q.base + kind.count * q.size)
    numbers = np.array(found, dtype=np.int64)
    return np.asarray(system.aliases.index[numbers[~system.aliases.known[numbers]]])


class Histories:
    """What the delayed quantities of a run were."""

    def __init__(self, system: System, cells: np.ndarray | None = None, rtol: float = 0.0, forgets: bool = False) -> None:
        """`rtol`: of the run; what is smooth to it is no event. `forgets`: nobody will set another delay on the way."""
        self.cells, self._system, self._native = history_cells(system) if cells is None else cells, system, cast("Any", None)
        self._recalled: Past | None = None
        if len(self.cells):
            self._native = importlib.import_module("acausal._core").Histories(len(self.cells), rtol, forgets)

    def enter(self, known: np.ndarray) -> None:
        """Let the equations of a run read and write these."""
        if self._native is not None:
            known[self.cells] = self._native.handles()

    def recall(self, before: Any, t: float) -> bool:
        """Begin with the past of an earlier run of the same model, if that is where a run starts from."""
        past: Past | None = getattr(before, "past", None)
        if self._native is None or past is None or not _same_delays(self._system, before.program.system):
            return False
        self._recalled = past.ending_at(t)
        self._native.set_state(self._recalled.state)
        return True

    def begin(self, known: np.ndarray) -> None:
        """Numbers of a run whose past is known, before its first values are sought."""
        if self._recalled is not None:
            self.enter(known)
            marks, count = self._marks, len(self.cells)
            known[marks[:count]] = known[marks[count:]] = self._recalled.marks

    @property
    def _marks(self) -> np.ndarray:
        """Known cells of the marks, and those of what they were before an event."""
        hybrid = self._system.hybrid
        assert hybrid is not None
        cells = _cells(self._system, "discrete", PASSED)
        partner = dict(zip(hybrid.cells.tolist(), hybrid.partners.tolist(), strict=True))
        return np.concatenate([cells, [partner[c] for c in cells.tolist()]]).astype(np.int64)

    def past(self, known: np.ndarray, t: float) -> Past | None:
        """What a later run may go on with."""
        return None if self._native is None else Past(self.save(), known[self._marks[: len(self.cells)]], t)

    def leave(self, known: np.ndarray) -> np.ndarray:
        """Known values that mean something to others, too."""
        if self._native is None:
            return known
        without = known.copy()
        without[self.cells] = 0.0
        return without

    def save(self) -> State:
        return [] if self._native is None else self._native.state()

    def restore(self, state: State) -> None:
        if self._native is not None:
            self._native.set_state(state)


def _same_delays(one: System, other: System) -> bool:
    """Whether the histories of two plants are about the same quantities."""
    if one is other:
        return True
    mine, theirs = history_cells(one), history_cells(other)
    return len(mine) == len(theirs) and all(
        one.plant.name_of(int(a), "known") == other.plant.name_of(int(b), "known") for a, b in zip(mine, theirs, strict=True)
    )


def fresh_past(system: System, start_from: Any) -> list[Diagnostic]:
    """What somebody should know who starts a plant that remembers from a point without a past."""
    count = 0 if start_from is None else len(history_cells(system))
    if not count:
        return []
    return [
        Diagnostic(
            f"A point to start from has no past: before the start, what is delayed ({count} in all) was what it is there.",
            remedy="Start from a result of the same model, as the run gave it: that has its past. Or say what was before, "
            "`ac.delay(x, T, before=…)`.",
        )
    ]


def refuse_delays(system: System, what: str) -> None:
    """Whoever goes by the present state alone cannot treat a plant that remembers."""
    if len(history_cells(system)):
        raise UsageError(
            f"{what} of a model with `ac.delay` is not possible: its state is a whole stretch of the past, not a list of numbers.",
            remedy="Replace the delay by a chain of first-order lags (library.signal.FirstOrder), which has states.",
        )
