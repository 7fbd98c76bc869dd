"""The largest and the smallest value of a run: not those of a row, but where the curve through the rows turns.

Around the best row a polynomial goes through the rows that no event parts from it. Where it is highest, its value is a sum of those
rows with weights; and since the slope is zero there, the same weights, of how the rows move with a parameter, are how the largest
value moves (it does not matter that the time of the peak moves, too). Rows count as resolving the curve when fewer of them say the
same; otherwise the best row is the answer. `finer_times` says where a run had many steps between two rows that matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import UsageError
from .events import Array

_ROWS, _FEWER = 7, 5  # of the polynomial, and of the one that it is compared with
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
    first, end = _stretch(time, row)
    if steps or not np.isfinite(v[row]) or end - first < _FEWER or _falls_away(time, v, row, first, end):
        return one
    many, few = (_top(time, v, row, first, end, count) for count in (_ROWS, _FEWER))
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


def _is_smooth(powers: Array, values: Array) -> bool:
    """Whether a polynomial of a lower degree goes by all rows: it leaves a jump or a corner."""
    lower = powers[:, : max(3, len(values) - 2)]
    left = values - lower @ np.linalg.lstsq(lower, values, rcond=None)[0]
    return bool(np.abs(left).max() <= _LEFT * float(np.ptp(values)))


def _stretch(time: Array, row: int) -> tuple[int, int]:
    """The rows around one that no event parts."""
    borders = np.flatnonzero(np.diff(time) <= 0) + 1
    k = int(np.searchsorted(borders, row, side="right"))
    return int(borders[k - 1]) if k else 0, int(borders[k]) if k < len(borders) else len(time)


def _top(time: Array, v: Array, row: int, first: int, end: int, count: int) -> tuple[float, int, Array] | None:
    """How high a polynomial through `count` rows rises above the best one beside it, the first of these rows, and their weights."""
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
    if not _is_smooth(powers, v[part]):
        return None
    slope = coefficients[1:] * np.arange(1, len(x))
    turns = np.polynomial.polynomial.polyroots(slope) if slope.any() else np.zeros(0)
    real = np.real(turns[np.abs(np.imag(turns)) < 1e-9])
    place = row - begin
    inside = real[(real > x[max(0, place - 1)]) & (real < x[min(len(x) - 1, place + 1)])]
    if not len(inside):
        return None
    rises = np.polynomial.polynomial.polyval(inside, coefficients)
    best = int(np.argmax(rises))
    weights = np.linalg.solve(powers.T, inside[best] ** np.arange(len(x)))
    return float(rises[best]), begin, weights


def extreme(result: Any, name: str, highest: bool) -> float:
    """The largest (or smallest) value of a quantity over a run."""
    values = np.asarray(result[name], dtype=float)
    if values.ndim != 1:
        raise UsageError(
            f"`{name}` is an array of shape {values.shape[1:]}; the largest value is that of one element.",
            remedy=f"Name it: `{name}[{','.join('0' * (values.ndim - 1))}]`.",
        )
    first, weights = peak(result.time, values, result.meaning(name).steps, highest)
    return float(weights @ values[first : first + len(weights)])


def finer_times(result: Any, times: Array, asked: Iterable[tuple[str, bool]]) -> Array | None:
    """Output times that resolve the largest (True) or smallest values of quantities; None if those of the run do.

    The steps of the solver follow what happens: where there were many between two rows, a peak may have gone by.
    """
    journal = result.journal
    if journal is None or not len(journal.time) or len(times) < 2:
        return None
    before = np.append(np.inf, journal.step[:-1])
    follow = np.where((journal.steps == 1) & (journal.step > _GROWS * before), 0, journal.steps)  # others find their length
    taken = np.interp(times, np.append(times[0], journal.time), np.append(0, np.cumsum(follow)))
    between = np.diff(taken)
    parts = np.where(between > _STEPS, np.ceil(between / _PARTS), 1.0).astype(int)
    if parts.sum() > _MOST:
        parts = np.where(_beside_the_best(result, times, asked), parts, 1)
    if parts.max(initial=1) == 1 or parts.sum() > _MOST:
        return None
    which = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[which]
    return np.append(times[which] + share * np.diff(times)[which], times[-1])


def _beside_the_best(result: Any, times: Array, asked: Iterable[tuple[str, bool]]) -> Array:
    """Intervals between times with nearly the best value at either end."""
    found = np.zeros(len(times) - 1, dtype=bool)
    for name, highest in asked:
        values = np.interp(times, result.time, np.asarray(result[name], dtype=float)) * (1.0 if highest else -1.0)
        near = values >= values.max() - _NEAR * float(np.ptp(values))
        found |= near[:-1] | near[1:]
    return found
