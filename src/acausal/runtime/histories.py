"""The histories of the delays of a run: one set for each run, whose addresses stand in known cells (`native/delays.cpp`)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..errors import Diagnostic, UsageError
from ..families.roots import HISTORY
from ..families.system import System

State = list[list[float]]


def history_cells(system: System) -> np.ndarray:
    """Known cells that hold histories."""
    found: list[int] = []
    for kind in system.plant.kinds:
        for q in kind.quantities.values():
            if q.role == "parameter" and q.declaration.auxiliary and q.name.startswith(HISTORY):
                found += range(q.base, q.base + kind.count * q.size)
    return np.array(found, dtype=np.int64)


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

    def __init__(self, system: System) -> None:
        self.cells = history_cells(system)
        self._native: Any = importlib.import_module("acausal._core").Histories(len(self.cells)) if len(self.cells) else None

    def enter(self, known: np.ndarray) -> None:
        """Let the equations of a run read and write these."""
        if self._native is not None:
            known[self.cells] = self._native.handles()

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


def fresh_past(system: System, start_from: Any) -> list[Diagnostic]:
    """What somebody should know who starts a plant that remembers from a point: the point has no past."""
    count = 0 if start_from is None else len(history_cells(system))
    if not count:
        return []
    return [
        Diagnostic(
            f"A point to start from has no past: before the start, what is delayed ({count} in all) was what it is there.",
            remedy="Say what was before, `ac.delay(x, T, before=…)`; or go on with a session (`model.start()`).",
        )
    ]


def refuse_delays(system: System, what: str) -> None:
    """Whoever goes by the present state alone cannot treat a plant that remembers."""
    if len(history_cells(system)):
        raise UsageError(
            f"{what} of a model with `ac.delay` is not possible: its state is a whole stretch of the past, not a list of numbers.",
            remedy="Replace the delay by a chain of first-order lags (library.signal.FirstOrder), which has states.",
        )
