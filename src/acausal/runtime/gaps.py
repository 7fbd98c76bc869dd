"""Crossing functions that have no value for a while, as `sqrt(x - 0.5) - 0.1` has none below x = 0.5.

Whoever searches for roots sees such a function on the side on which it was last: that of the frozen value of its relation. Where it
loses its value within a step, it keeps the last one from there on, so that a crossing before that is found. Where it gets a value
within a step, and that is beyond the switching point, it has crossed there, whatever it does in the rest of the step.

One that comes to rest exactly at zero (an input that rises to 1 and stays there, in `u >= 1`) has crossed as well, if the relation
has another value than is written for that point.

`native/gaps.h` says the same for native sessions; `tests/runtime/events/test_gaps.py` runs both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .problem import Floats, Mask

_EPSILON = float(np.finfo(float).eps)

Values = Callable[[float], Floats]  # all functions at a time within the last step, as they are
Point = tuple[float, Floats]  # a time, and all functions then


class Gap(NamedTuple):
    """Where a function loses its value, or gets one."""

    begins: bool
    time: float
    value: float  # the last one, or the first


class Gaps:
    """Of all root functions of a run, those of relations first."""

    def __init__(self, count: int) -> None:
        self.silent: list[tuple[int, float]] = []  # relations without a value at both ends of a stretch, each once
        self._told: set[int] = set()
        self._last = np.full(count, np.nan)  # the side on which each was seen last
        self._found: dict[int, Gap] = {}
        self._beginning = np.zeros(count)
        self._from, self._open = np.nan, False
        self._rest_from, self._furthest, self._resting = np.nan, np.nan, np.zeros(0, dtype=bool)

    def forget(self) -> None:
        """Something else has changed than time."""
        self._from = self._rest_from = np.nan

    def left_zero(self, g: Floats, low: float, t: float, rests: Mask, written: Floats) -> Floats:
        """All functions at a time, of which those have crossed that came to rest on their switching points, not in passing.

        `rests`: which relations are there now, with another value than is written; `written`: the side that goes with that."""
        if low != self._rest_from:
            self._rest_from, self._furthest, self._resting = low, low, np.zeros(len(rests), dtype=bool)
        if not t > low:
            return g
        if t >= self._furthest:
            self._furthest, self._resting = t, rests
        crossed = rests & self._resting
        return np.concatenate([np.where(crossed, written, g[: len(rests)]), g[len(rests) :]]) if crossed.any() else g

    def filled(self, g: Floats, low: float, t: float, sides: Floats, values: Values) -> Floats:
        """All functions at a time, each with a value. What is before `low` has been dealt with; `sides` are those of relations."""
        without = np.isnan(g)
        if not (self._open or without.any()):
            return g
        if low != self._from:
            self._from, self._found, self._beginning = low, {}, values(low)
            self._last = np.where(self._beginning == self._beginning, np.sign(self._beginning), self._last)
        before = np.isnan(self._beginning)
        self._open = bool(self._found or without.any() or before.any())
        if t > low:
            self._look(g, t, before, without, values)
            self._note(np.flatnonzero((before & without)[: len(sides)]))
        held = self._last.copy()
        held[: len(sides)] = sides
        filled = np.where(without, held, g)
        for row, gap in self._found.items():
            if gap.begins and t > gap.time:
                filled[row] = gap.value
            elif not gap.begins and t < gap.time:
                filled[row] = held[row]
            elif not gap.begins and gap.value * held[row] < 0:
                filled[row] = gap.value
        return filled

    def _look(self, g: Floats, t: float, before: Mask, without: Mask, values: Values) -> None:
        for begins in (True, False):
            changed = np.flatnonzero(without & ~before if begins else before & ~without)
            rows = np.array([k for k in changed.tolist() if k not in self._found], dtype=np.intp)
            if len(rows):
                self._narrow(rows, begins, (self._from, self._beginning), (t, g), values)

    def _narrow(
        self, rows: np.ndarray, begins: bool, low: tuple[float, Floats], high: tuple[float, Floats], values: Values
    ) -> None:
        """Bisection for all rows at once; those that part on the way are followed apart."""
        middle = 0.5 * (low[0] + high[0])
        if not low[0] < middle < high[0] or high[0] - low[0] <= 4 * _EPSILON * abs(high[0]):
            t, g = low if begins else high
            self._found.update({k: Gap(begins, t, float(g[k])) for k in rows.tolist()})
            return
        here = middle, values(middle)
        earlier = np.isnan(here[1][rows]) == begins
        if earlier.any():
            self._narrow(rows[earlier], begins, low, here, values)
        if not earlier.all():
            self._narrow(rows[~earlier], begins, here, high, values)

    def _note(self, rows: np.ndarray) -> None:
        fresh = [k for k in rows.tolist() if k not in self._told]
        self._told.update(fresh)
        self.silent += [(k, self._from) for k in fresh]
