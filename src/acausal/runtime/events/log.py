"""The log of a hybrid run, and its stored rows: pieces between events, with both sides of each event."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...families.system import System
from ...program.rows import Cause, EventLog
from ...records import dataclass
from ..problem import Floats
from .handler import Happening

SOURCES = ("relation", "timed", "crossing", "clock_start", "step", "start", "input")
_RULES = ("relation", "timed", "crossing", "clock_start")  # of these, those that stand in the model
_STRIDE = len(SOURCES)  # a source is row·stride + role, so that one integer names it


class Record:
    """Grows while a run goes on."""

    def __init__(self, system: System, width: int) -> None:
        self.system, self.width = system, width
        self.pieces: list[tuple[Floats, Floats]] = []
        self.count = 0
        self.times: list[float] = []
        self.rows: list[int] = []
        self.causes: list[np.ndarray] = []
        self.parameters: set[int] = set()  # known cells that were set in the middle of the run
        self.changes: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def piece(self, times: Floats, rows: Floats) -> None:
        if len(times):
            self.pieces.append((times, rows))
            self.count += len(times)

    def row(self, t: float, row: Floats) -> None:
        self.piece(np.array([t]), row[None, :])

    @property
    def last_time(self) -> float:
        return float(self.pieces[-1][0][-1]) if self.pieces else -np.inf

    def event(self, happening: Happening, cells: np.ndarray) -> None:
        """An event whose row before is the last one stored."""
        event = len(self.times)
        self.times.append(happening.t)
        self.rows.append(self.count - 1)
        sources = [self.source(role, row) for role, row in happening.causes]
        self.causes.append(np.array([[event, s] for s in sources], dtype=np.int64).reshape(-1, 2))
        changed = np.flatnonzero(happening.before != happening.after)
        self.changes.append((np.full(len(changed), event), cells[changed], happening.after[changed]))

    def cut(self, rows: int, events: int) -> None:
        """Forget everything after so many rows and events."""
        while self.count > rows:
            times, piece = self.pieces.pop()
            kept = len(times) - min(len(times), self.count - rows)
            self.count -= len(times)
            self.piece(times[:kept], piece[:kept])
        self.times, self.rows = self.times[:events], self.rows[:events]
        self.causes = [c[c[:, 0] < events] for c in self.causes]
        self.changes = [tuple(part[event < events] for part in (event, *rest)) for event, *rest in self.changes]  # type: ignore[misc]

    def also_changed(self, cells: np.ndarray, values: Floats) -> None:
        """Parameters that the last event changed."""
        self.changes.append((np.full(len(cells), len(self.times) - 1), cells, values))
        self.parameters.update(cells.tolist())

    def latest(self, count: int) -> list[tuple[float, list[tuple[str, int]]]]:
        """The last events, so many at most: times, and the rules (role, row) that brought them about."""
        first = max(0, len(self.times) - count)
        found: list[tuple[float, list[tuple[str, int]]]] = [(t, []) for t in self.times[first:]]
        for causes in reversed(self.causes):
            if not len(causes):
                continue
            for event, source in causes[causes[:, 0] >= first].tolist():
                row, role = divmod(source, _STRIDE)
                if SOURCES[role] in _RULES:
                    found[event - first][1].append((SOURCES[role], row))
            if causes[0, 0] < first:
                break
        return found

    @staticmethod
    def source(role: str, row: Any) -> Any:
        """One number for a role's row; rows may be an array."""
        return row * _STRIDE + SOURCES.index(role)

    def finished(self) -> tuple[Floats, Floats, EventLog]:
        none = np.zeros(0, dtype=np.int64)
        rows = self._rows()
        times = self.pieces[0][0]
        changes = self.changes or [(none, none, none)]
        event, cell, value = (np.concatenate(part) for part in zip(*changes, strict=True))
        causes = np.concatenate([np.zeros((0, 2), dtype=np.int64), *self.causes])
        at, before = np.array(self.times), np.array(self.rows, dtype=np.int64)
        log = EventLog(at, before, causes, event, cell, value.astype(float), Causes(self.system, frozenset(self.parameters)))
        return times, rows, log

    def _rows(self) -> Floats:
        """All rows in one array, which they are from then on: a result may be large."""
        if len(self.pieces) != 1:
            times = np.concatenate([np.zeros(0), *(t for t, _ in self.pieces)])
            rows, place = np.empty((self.count, self.width)), 0
            self.pieces.reverse()
            while self.pieces:
                _, piece = self.pieces.pop()
                rows[place : place + len(piece)] = piece
                place += len(piece)
            self.pieces.append((times, rows))
        return self.pieces[0][1]


@dataclass(frozen=True, slots=True, eq=False)
class Causes:
    """Says what the sources of events are."""

    system: System
    parameters: frozenset[int] = frozenset()  # known cells that were set in the middle of the run

    def __call__(self, source: int) -> Cause:
        row, role = divmod(source, _STRIDE)
        if SOURCES[role] == "start":
            return Cause("the model", "the start")
        if SOURCES[role] == "input":
            name = self.system.plant.name_of(row, "known")
            return Cause("the model", f"{name} was set" if row in self.parameters else f"input {name}")
        found = self.system.describe_rule(SOURCES[role], row)
        return Cause(found.component, found.equation, found.location)
