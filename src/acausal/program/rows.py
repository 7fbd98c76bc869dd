"""What a run leaves: rows of stored columns, and the log of its events. Arrays; what they mean is asked of an `Evaluator`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from os.path import basename
from typing import Any, NamedTuple

import numpy as np

from ..errors import Location
from ..records import dataclass

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Cause:
    """What brought an event about: a relation that changed, a clock that ticked, a time that was reached."""

    component: str
    text: str
    location: Location | None = None

    @property
    def place(self) -> str:
        """`cabinet.py:31`, without the folders before it; empty when it has no place."""
        return f"{basename(self.location.file)}:{self.location.line}" if self.location else ""

    def __str__(self) -> str:
        what = f"{self.component}: {self.text}" if self.component else self.text
        return f"{what} ({self.place})" if self.place else what


def _numbered(source: int) -> Cause:
    return Cause("", str(source))


@dataclass(slots=True, eq=False)
class EventLog:
    """Events in order of time. Of event k, `rows[k]` is the stored row just before it and `rows[k] + 1` the one just after.

    `causes` are pairs (event, source), where `describe(source)` says what the source is. `cells` of the known part of the workspace
    changed to `values` at events `changed`; before the first change a cell has its value of `Stored.known`.
    """

    times: np.ndarray
    rows: np.ndarray
    causes: np.ndarray  # (k, 2)
    changed: np.ndarray  # event of each change, ascending
    cells: np.ndarray
    values: np.ndarray
    describe: Callable[[int], Cause] = field(default=_numbered)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the numbers of a quantity stand for: `type` is "real", "integer", "boolean" or "states" (whose names `states` are)."""

    type: str = "real"
    states: tuple[str, ...] = ()

    @property
    def steps(self) -> bool:
        """Whether there is nothing between two neighbouring values."""
        return self.type != "real"

    @property
    def values(self) -> tuple[str, ...]:
        """Every value there can be, as `text` gives it; empty when there is no end of them."""
        return ("False", "True") if self.type == "boolean" else self.states

    def of(self, number: float) -> Value:
        """A number as the user thinks of it: True, 3, "off". What is no such number stays one."""
        whole = np.isfinite(number) and number == round(number)
        if self.type == "boolean":
            return bool(number)
        if self.type == "integer" and whole:
            return int(number)
        if self.type == "states" and whole and 0 <= number < len(self.states):
            return self.states[int(number)]
        return float(number)

    def text(self, number: float) -> str:
        value = self.of(number)
        return f"{value:.6g}" if isinstance(value, float) else str(value)


class Place(NamedTuple):
    """Where a name's values are in the log: `sign` times those of `cell`, `lag` rows late (1: the value before an event)."""

    cell: int
    sign: int = 1
    lag: int = 0


@dataclass(slots=True, eq=False)
class Stored:
    """What was kept of a run: `data[k, c]` is column c at time k; columns are found by unknown, -1 where it was not stored."""

    time: np.ndarray
    data: np.ndarray
    column: np.ndarray  # per unknown
    slope_column: np.ndarray  # per unknown, of its derivative
    known: np.ndarray  # parameters and constants of the run
    inputs: dict[int, Any] = field(default_factory=dict)  # known cell → function of time
    reached: float | None = None  # how far the run came; to the last of the times otherwise
    cell_columns: dict[int, int] = field(default_factory=dict)  # of known cells that are assigned after every step
    log: EventLog | None = None  # what happened at events; None for a run that looks for none
