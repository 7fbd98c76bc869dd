"""Rows of a study as columns of numbers: a hundred thousand cases take a few megabytes, and the same from the first case on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from .case_run import Row

_WAITING = ""  # the outcome of a case that was not run yet


class Rows(Sequence[Row]):
    """`rows[k]` is what became of case k; `values` has a row of numbers for each case and a column for each output."""

    def __init__(self, count: int, width: int) -> None:
        self.values = np.full((count, width), np.nan)
        self.reached, self.seconds = np.full(count, np.nan), np.zeros(count)
        self._names, self._outcome = [_WAITING], np.zeros(count, dtype=np.int16)
        self._messages: dict[int, str] = {}
        self.done = 0

    def put(self, row: Row) -> None:
        """Keep what became of a case."""
        k = row.number
        self.done += self._outcome[k] == 0
        self.values[k], self.reached[k], self.seconds[k] = row.values, row.reached, row.seconds
        if row.outcome not in self._names:
            self._names.append(row.outcome)
        self._outcome[k] = self._names.index(row.outcome)
        self._messages.pop(k, None)
        if row.message:
            self._messages[k] = row.message

    def left(self) -> list[int]:
        """Numbers of the cases that are still to be run."""
        return [int(k) for k in np.flatnonzero(self._outcome == 0)]

    @property
    def ok(self) -> np.ndarray:
        """Which cases came to their end."""
        good = np.array([Row(0, (), name, 0.0).ok for name in self._names])
        return np.asarray(good[self._outcome])

    @property
    def outcomes(self) -> list[str]:
        return [self._names[k] for k in self._outcome]

    @property
    def messages(self) -> list[str]:
        return [self._messages.get(k, "") for k in range(len(self))]

    def __len__(self) -> int:
        return len(self._outcome)

    @overload
    def __getitem__(self, k: int) -> Row: ...

    @overload
    def __getitem__(self, k: slice) -> list[Row]: ...

    def __getitem__(self, k: int | slice) -> Row | list[Row]:
        if isinstance(k, slice):
            return [self[j] for j in range(len(self))[k]]
        k = range(len(self))[k]
        outcome, values = self._names[self._outcome[k]], tuple(self.values[k].tolist())
        return Row(k, values, outcome, float(self.reached[k]), self._messages.get(k, ""), float(self.seconds[k]))
