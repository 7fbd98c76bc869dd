"""The largest and the smallest value of a run: not those of a row, but where the curve through the rows turns.

Around the best row a polynomial goes through the rows that no event parts from it. Where it is highest, its value is a sum of those
rows with weights; and since the slope is zero there, the same weights, of how the rows move with a parameter, are how the largest
value moves (it does not matter that the time of the peak moves, too). Rows count as resolving the curve when fewer of them say the
same; otherwise the best row is the answer. `finer_times` says where a run had many steps between two rows that matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..errors import RunWarning, UsageError, level_of_caller
from ..language.reductions import Reduction
from .events import Array

ROWS, FEWER = 7, 5  # of the polynomial, and of the one that it is compared with
_AGREE = 0.1  # of what a peak is above its row: so far they may differ
_LEFT = 5e-3  # of the spread of rows: what a polynomial of a lower degree may leave of them
_HIGHEST = 0.3  # of the spread of the rows around: more than a parabola can be above the best of them
_NEAR = 0.1  # of the range of a quantity: as near to the best row others may lie that could have a higher peak beside them
_STEPS, _PARTS = 4, 2.0  # steps between two rows that are too many; how many are wanted
_GROWS = 1.5  # of the step before: a step that is longer is on its way from a start, and follows nothing
_MOST = 50_000


def peak(time: Array, values: Array, steps: bool, highest: bool = True) -> tuple[int, Array]:
    """Rows and weights whose sum is the largest (or smallest) value: the first of the rows, and a weight for each."""
    v = np.asarray(values if highest else -values, dtype=float)
    row = int(np.argmax(v))
    one = row, np.ones(1)
    first, end = stretch(time, row)
    if steps or not np.isfinite(v[row]) or end - first < FEWER or _falls_away(time, v, row, first, end):
        return one
    many, few = (_top(time, v, row, first, end, count) for count in (ROWS, FEWER))
    around = v[max(first, row - 2) : min(end, row + 3)]
    if many is None or few is None or not 0 < many[0] <= _HIGHEST * float(np.ptp(around)):
        return one
    if not abs(many[0] - few[0]) <= _AGREE * many[0]:
        return one
    return many[1], many[2]


def _falls_away(time: Array, v: Array, row: int, first: int, end: int) -> bool:
    """Whether the best row is the first or the last of its stretch, and a parabola falls from there on: most extremes are such."""
    if first < row < end - 1:
        return False
    a, b, c = (row, row + 1, row + 2) if row == first else (row, row - 1, row - 2)
    near, far = (v[b] - v[a]) / (time[b] - time[a]), (v[c] - v[b]) / (time[c] - time[b])
    slope = near - (far - near) * (time[b] - time[a]) / (time[c] - time[a])
    return bool(slope <= 0 if row == first else slope >= 0)


def _is_smooth(powers: Array, values: Array, degrees: int) -> bool:
    """Whether a polynomial of a degree lower by some goes by all rows: it leaves a jump or a corner."""
    lower = powers[:, : max(3, len(values) - degrees)]
    left = values - lower @ np.linalg.lstsq(lower, values, rcond=None)[0]
    return bool(np.abs(left).max() <= _LEFT * float(np.ptp(values)))


def stretch(time: Array, row: int) -> tuple[int, int]:
    """The rows around one that no event parts."""
    borders = np.flatnonzero(np.diff(time) <= 0) + 1
    k = int(np.searchsorted(borders, row, side="right"))
    return int(borders[k - 1]) if k else 0, int(borders[k]) if k < len(borders) else len(time)


class Through(NamedTuple):
    """A polynomial through rows around one of them: in x, from there on and in mean distances of the rows, above its value."""

    begin: int  # the first of the rows
    x: Array
    coefficients: Array
    width: float
    powers: Array

    @classmethod
    def rows(cls, time: Array, v: Array, row: int, first: int, end: int, count: int, degrees: int = 2) -> Through | None:
        """Through `count` of the rows of a stretch; None where they are no smooth curve (`degrees`: see `_is_smooth`)."""
        begin = max(first, min(row - count // 2, end - count))
        part = slice(begin, min(end, begin + count))
        width = float(time[part][-1] - time[part][0]) / (count - 1)
        if not width > 0 or not np.isfinite(v[part]).all():
            return None
        x = (time[part] - time[row]) / width
        powers = np.vander(x, increasing=True)
        try:
            coefficients = np.linalg.solve(powers, v[part] - v[row])
        except np.linalg.LinAlgError:
            return None
        return cls(begin, x, coefficients, width, powers) if _is_smooth(powers, v[part], degrees) else None

    @property
    def slope(self) -> Array:
        """The coefficients of its derivative by x."""
        return np.asarray(self.coefficients[1:] * np.arange(1, len(self.x)))

    def weights(self, x: float) -> Array:
        """Its value at x is a sum of the rows with these."""
        return np.linalg.solve(self.powers.T, x ** np.arange(len(self.x)))


def roots_between(coefficients: Array, low: float, high: float) -> Array:
    """The real roots of a polynomial within a range, in order."""
    found = np.polynomial.polynomial.polyroots(coefficients) if coefficients.any() else np.zeros(0)
    real = np.sort(np.real(found[np.abs(np.imag(found)) < 1e-9]))
    return real[(real > low) & (real < high)]


def _top(time: Array, v: Array, row: int, first: int, end: int, count: int) -> tuple[float, int, Array] | None:
    """How high a polynomial through `count` rows rises above the best one beside it, the first of these rows, and their weights."""
    curve = Through.rows(time, v, row, first, end, count)
    if curve is None:
        return None
    place = row - curve.begin
    inside = roots_between(curve.slope, curve.x[max(0, place - 1)], curve.x[min(len(curve.x) - 1, place + 1)])
    if not len(inside):
        return None
    rises = np.polynomial.polynomial.polyval(inside, curve.coefficients)
    best = int(np.argmax(rises))
    return float(rises[best]), curve.begin, curve.weights(float(inside[best]))


def extreme(result: Any, name: str, highest: bool) -> float:
    """The largest (or smallest) value of a quantity over a run; it warns where rows are too far apart to say."""
    values = one_element(result, name)
    _warn_of_few_rows(result, Reduction("max" if highest else "min", name), values)
    first, weights = peak(result.time, values, result.meaning(name).steps, highest)
    return float(weights @ values[first : first + len(weights)])


def one_element(result: Any, name: str) -> Array:
    """The values of a quantity that is no array."""
    values = np.asarray(result[name], dtype=float)
    if values.ndim != 1:
        raise UsageError(
            f"`{name}` is an array of shape {values.shape[1:]}; the largest value is that of one element.",
            remedy=f"Name it: `{name}[{','.join('0' * (values.ndim - 1))}]`.",
        )
    return values


def _warn_of_few_rows(result: Any, asked: Reduction, values: Array) -> None:
    """A result has no more rows than it was asked for; a study and a gradient ask for more (`finer_times`)."""
    time, between = result.time, _steps_between(result, result.time)
    if between is None or result.meaning(asked.path).steps:
        return
    row = int(np.argmax(values) if asked.kind == "max" else np.argmin(values))
    sides = [k for k in (row - 1, row) if 0 <= k < len(between) and time[k + 1] > time[k]]
    many = max((_needed(result, k, between[k]) for k in sides if not _resolved(time, values, k)), default=0)
    if many > _STEPS:
        warnings.warn(
            f"`{asked.path}` has rows that are too far apart ({many} steps of the solver from one to the next, where it is "
            f"{'largest' if asked.kind == 'max' else 'smallest'}): a peak between them is not seen. "
            "Ask for more rows (points=…, every=…); a study of `ac.max` and `ac.min` adds them by itself.",
            RunWarning,
            stacklevel=level_of_caller(),
        )


def _needed(result: Any, k: int, steps: float) -> int:
    """How many steps what happens between two rows takes. After an event steps are short for another reason: there, as many as are
    as long as the longest."""
    time, journal = result.time, result.journal
    if k and time[k] > time[k - 1]:
        return int(steps)
    inside = (journal.time > time[k]) & (journal.time <= time[k + 1])
    longest = float(np.max(journal.step, where=inside, initial=0.0))
    return int(min(steps, (time[k + 1] - time[k]) / longest)) if longest > 0 and k else int(steps)


def _resolved(time: Array, values: Array, k: int) -> bool:
    """Whether the rows around two neighbours are those of a smooth curve."""
    first, end = stretch(time, k)
    return end - first >= FEWER and Through.rows(time, np.asarray(values, dtype=float), k, first, end, FEWER, 1) is not None


def finer_times(result: Any, times: Array, asked: Iterable[Reduction]) -> Array | None:
    """Output times that resolve extreme values of quantities and when they pass a level; None if those of the run do.

    The steps of the solver follow what happens: where there were many between two rows, a peak may have gone by.
    """
    between = _steps_between(result, times)
    if between is None:
        return None
    parts = np.where(between > _STEPS, np.ceil(between / _PARTS), 1.0).astype(int)
    if parts.sum() > _MOST:
        parts = np.where(_beside(result, times, asked), parts, 1)
    if parts.max(initial=1) == 1 or parts.sum() > _MOST:
        return None
    which = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[which]
    return np.append(times[which] + share * np.diff(times)[which], times[-1])


def _steps_between(result: Any, times: Array) -> Array | None:
    """How many steps the solver made from each time to the next; None where nobody knows."""
    journal = getattr(result, "journal", None)
    if journal is None or not len(journal.time) or len(times) < 2:
        return None
    before = np.append(np.inf, journal.step[:-1])
    follow = np.where((journal.steps == 1) & (journal.step > _GROWS * before), 0, journal.steps)  # others find their length
    taken = np.interp(times, np.append(times[0], journal.time), np.append(0, np.cumsum(follow)))
    return np.diff(taken)


def _beside(result: Any, times: Array, asked: Iterable[Reduction]) -> Array:
    """Intervals between times with nearly the value that is asked for at either end."""
    found = np.zeros(len(times) - 1, dtype=bool)
    for each in asked:
        upward = 1.0 if each.kind in ("max", "first above") else -1.0
        values = np.interp(times, result.time, np.asarray(result[each.path], dtype=float)) * upward
        goal = values.max() if each.level is None else each.number(result) * upward
        near = values >= goal - _NEAR * float(np.ptp(values))
        if each.level is not None and (values > goal).any():  # what comes later does not matter
            near[int(np.argmax(values > goal)) + 1 :] = False
        found |= near[:-1] | near[1:]
    return found
