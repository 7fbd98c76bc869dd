"""An event log as arrays and texts in a file, and back without the model. Its size is that of the log.

event_times, event_rows    of each event
event_causes               pairs (event, number into "causes" of `about.json`: component, text, file, line)
event_changed, event_cells, event_values    event, cell and new value of each change of a cell that has a name
cell_names, cell_name_ends, cell_start, cell_meaning    of each cell its name, first value and kind of values
meaning                    of each name of the file its kind of values, a number into "meanings" of `about.json`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..errors import Location
from .events import Cause, EventLog, History, Meaning
from .series import Trajectories

MEMBERS = (
    *("event_times", "event_rows", "event_causes", "event_changed", "event_cells", "event_values"),
    *("cell_names", "cell_name_ends", "cell_start", "cell_meaning", "meaning"),
)


@final
class EventTables:
    """What of a result's events goes into a file. Cells are numbered anew, from 0."""

    def __init__(self, result: Trajectories) -> None:
        self._history = result.history
        named = self._history.named_cells() if self._history is not None else []
        self._cells = {cell: number for number, cell in enumerate(named)}
        self._meanings: dict[Meaning, int] = {}

    def __bool__(self) -> bool:
        return self._history is not None

    def number(self, cell: int) -> int:
        """The number of a cell in the file; from now on it is kept."""
        return self._cells.setdefault(cell, len(self._cells))

    def arrays(self, meanings: Iterable[Meaning]) -> dict[str, NDArray[Any]]:
        """The members of the file, given what the values of each of its names mean."""
        history = self._history
        if history is None:
            return {}
        cells = list(self._cells)
        changed, changed_cells, values = history.changes_in(np.array(cells, dtype=np.int64))
        names = [history.known_as.name(cell).encode() for cell in cells]
        return {
            "event_times": history.times,
            "event_rows": history.rows,
            "event_causes": self._causes(history)[0],
            "event_changed": changed,
            "event_cells": np.array([self._cells[cell] for cell in changed_cells.tolist()], dtype=np.int64),
            "event_values": values,
            "cell_names": np.frombuffer(b"".join(names), dtype=np.uint8),
            "cell_name_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
            "cell_start": np.asarray(history.start[cells], dtype=np.float64),
            "cell_meaning": self._numbered(history.known_as.meaning(cell) for cell in cells),
            "meaning": self._numbered(meanings),
        }

    def about(self) -> dict[str, Any]:
        """What `about.json` says besides; to be asked after `arrays`."""
        if self._history is None:
            return {}
        causes = [self._history.describe(source) for source in self._causes(self._history)[1]]
        places = [(cause.location.file, cause.location.line) if cause.location else ("", 0) for cause in causes]
        return {
            "causes": [[cause.component, cause.text, *place] for cause, place in zip(causes, places, strict=True)],
            "meanings": [[meaning.type, *meaning.states] for meaning in self._meanings],
        }

    def _numbered(self, meanings: Iterable[Meaning]) -> NDArray[np.int32]:
        return np.array([self._meanings.setdefault(m, len(self._meanings)) for m in meanings], dtype=np.int32)

    @staticmethod
    def _causes(history: History) -> tuple[NDArray[np.int64], list[int]]:
        """Pairs (event, number of its source), and the sources."""
        pairs = np.array(history.log.causes, dtype=np.int64).reshape(-1, 2)
        sources, pairs[:, 1] = np.unique(pairs[:, 1], return_inverse=True)
        return pairs, sources.tolist()


@final
class SavedCells:
    """Names and meanings of the cells of a file."""

    def __init__(self, text: bytes, ends: NDArray[np.int64], numbers: NDArray[np.int32], meanings: list[Meaning]) -> None:
        self._text, self._ends, self._numbers, self._meanings = text, ends, numbers, meanings

    def name(self, cell: int) -> str:
        return self._text[self._ends[cell - 1] if cell else 0 : self._ends[cell]].decode()

    def meaning(self, cell: int) -> Meaning:
        return self._meanings[self._numbers[cell]]


def read_meanings(about: Any) -> list[Meaning]:
    """What the values of a name can stand for, by number."""
    return [Meaning(kind, tuple(states)) for kind, *states in about["meanings"]]


def read_history(tables: dict[str, NDArray[Any]], about: Any) -> History:
    """The log again, or a ValueError when its tables do not fit together."""
    if problem := _misfit(tables, about):
        raise ValueError(problem)
    causes = [
        Cause(component, text, Location(file, int(line)) if file else None) for component, text, file, line in about["causes"]
    ]
    times, rows, pairs, changed, numbers, values = (tables[name] for name in MEMBERS[:6])
    log = EventLog(times, rows, pairs, changed, numbers, values, causes.__getitem__)
    cells = SavedCells(tables["cell_names"].tobytes(), tables["cell_name_ends"], tables["cell_meaning"], read_meanings(about))
    return History(log, tables["cell_start"], cells)


def _misfit(tables: dict[str, NDArray[Any]], about: Any) -> str:
    """What is wrong with the tables, in words; nothing if they fit."""
    t = tables
    events, cells, meanings = len(t["event_times"]), len(t["cell_start"]), len(about["meanings"])
    lengths = len({len(t[f"event_{part}"]) for part in ("changed", "cells", "values")}) == 1 and len(t["event_rows"]) == events
    ends = t["cell_name_ends"]
    named = len(ends) == len(t["cell_meaning"]) == cells and (ends[-1] if cells else 0) == len(t["cell_names"])
    reals = ("event_times", "event_values", "cell_start")
    fits: dict[str, Callable[[], bool]] = {
        "types": lambda: all((t[name].dtype.kind in "iu") != (name in reals) for name in MEMBERS),
        "lengths": lambda: lengths and named and t["event_causes"].shape[1:] == (2,),
        "names": lambda: bool(np.all(np.diff(ends, prepend=0) >= 0)),
        "events": lambda: within(t["event_changed"], events) and within(t["event_causes"][:, 0], events),
        "cells": lambda: within(t["event_cells"], cells),
        "causes": lambda: within(t["event_causes"][:, 1], len(about["causes"])),
        "meanings": lambda: within(t["cell_meaning"], meanings) and within(t["meaning"], meanings),
    }
    return next((f"the {what} of its event log do not fit together" for what, fit in fits.items() if not fit()), "")


def within(numbers: NDArray[Any], count: int) -> bool:
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < count)
