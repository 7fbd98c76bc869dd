"""The log of a hybrid run, and its stored rows: pieces between events, with both sides of each event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...families.system import System
from ...program.rows import Cause, EventLog
from ..problem import Floats
from .handler import Happening

SOURCES = ("relation", "timed", "crossing", "clock_start", "step", "start", "input")
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

    @staticmethod
    def source(role: str, row: Any) -> Any:
        """One number for a role's row; rows may be an array."""
        return row * _STRIDE + SOURCES.index(role)

    def finished(self) -> tuple[Floats, Floats, EventLog]:
        none = np.zeros(0, dtype=np.int64)
        times = np.concatenate([np.zeros(0), *(t for t, _ in self.pieces)])
        rows = self._rows()
        changes = self.changes or [(none, none, none)]
        event, cell, value = (np.concatenate(part) for part in zip(*changes, strict=True))
        causes = np.concatenate([np.zeros((0, 2), dtype=np.int64), *self.causes])
        at, before = np.array(self.times), np.array(self.rows, dtype=np.int64)
        log = EventLog(at, before, causes, event, cell, value.astype(float), Causes(self.system))
        return times, rows, log

    def _rows(self) -> Floats:
        """All rows in one array; pieces are let go as they are copied, since a result may be large."""
        rows, place = np.empty((self.count, self.width)), 0
        self.pieces.reverse()
        while self.pieces:
            _, piece = self.pieces.pop()
            rows[place : place + len(piece)] = piece
            place += len(piece)
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class Causes:
    """Says what the sources of events are."""

    system: System

    def __call__(self, source: int) -> Cause:
        row, role = divmod(source, _STRIDE)
        if SOURCES[role] == "start":
            return Cause("the model", "the start")
        if SOURCES[role] == "input":
            return Cause("the model", f"input {self.system.plant.name_of(row, 'known')}")
        found = self.system.describe_rule(SOURCES[role], row)
        return Cause(found.component, found.equation, found.location)
