"""Values between the stored rows of a run. At an event two rows have the same time; the later one is what holds from then on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .events import Array

_RESOLVED = 0.5  # an exponential that falls to 3 % between two rows: beyond, a cubic leaves it further and further


def interpolated(time: Array, values: Array, at: Array, steps: bool, slopes: Array | None = None) -> Array:
    """Values at any times within the rows: held where `steps`, cubic where the slopes are known, else along straight lines."""
    left = np.clip(np.searchsorted(time, at, side="right") - 1, 0, len(time) - 1)
    if steps or len(time) == 1:
        return np.asarray(values[left])
    right = np.minimum(left + 1, len(time) - 1)
    width = time[right] - time[left]
    share = np.divide(at - time[left], width, out=np.zeros(len(at)), where=width > 0)
    share, width = (x.reshape(-1, *[1] * (values.ndim - 1)) for x in (share, width))
    a, b = values[left], values[right]
    straight = a + share * (b - a)
    if slopes is None:
        return np.asarray(straight)
    begin, end = _believed(slopes[left], slopes[right], width, b - a)
    bend = (begin * width - (b - a)) * (1 - share) - (end * width - (b - a)) * share
    return np.asarray(np.where(np.isfinite(bend), straight + share * (1 - share) * bend, straight))


def estimated_slopes(time: Array, values: Array) -> Array:
    """Slopes of parabolas through neighbouring rows, within stretches that no event parts: linear in the values."""
    slopes = np.zeros(values.shape)
    borders = np.flatnonzero(np.diff(time) <= 0) + 1
    for first, end in zip([0, *borders], [*borders, len(time)], strict=True):
        if end - first > 1:
            part = slice(first, end)
            slopes[part] = np.gradient(values[part], time[part], axis=0, edge_order=min(2, end - first - 1))
    return slopes


def areas(time: Array, values: Array, steps: bool, slopes: Array | None = None) -> Array:
    """The integral over time from the first row to each: of steps, of cubics where the slopes are known, else of straight lines."""
    width = np.diff(time).reshape(-1, *[1] * (values.ndim - 1))
    pieces = width * (values[:-1] if steps else 0.5 * (values[1:] + values[:-1]))
    if slopes is not None and not steps:
        begin, end = _believed(slopes[:-1], slopes[1:], width, np.diff(values, axis=0))
        pieces = pieces + np.nan_to_num(width**2 / 12 * (begin - end))
    return np.concatenate([np.zeros_like(values[:1], dtype=float), np.cumsum(pieces, axis=0)])


def means(time: Array, values: Array, edges: Array, steps: bool, slopes: Array | None = None) -> Array:
    """Mean over time between neighbouring edges: the exact one of what is between the rows."""
    left = np.clip(np.searchsorted(time, edges, side="right") - 1, 0, len(time) - 1)
    there = interpolated(time, values, edges, steps, slopes)
    beyond = (edges - time[left]).reshape(-1, *[1] * (values.ndim - 1))
    total = areas(time, values, steps, slopes)[left] + beyond * 0.5 * (values[left] + there)
    if slopes is not None and not steps:
        begin, there = _slopes_at(time, values, slopes, edges, left)
        total = total + np.nan_to_num(beyond**2 / 12 * (begin - there))
    return np.asarray(np.diff(total, axis=0) / np.diff(edges).reshape(-1, *[1] * (values.ndim - 1)))


def _slopes_at(time: Array, values: Array, slopes: Array, at: Array, left: NDArray[np.int64]) -> tuple[Array, Array]:
    """The slopes of the cubics between two rows: where they begin, and at some times."""
    right = np.minimum(left + 1, len(time) - 1)
    width = time[right] - time[left]
    share = np.divide(at - time[left], width, out=np.zeros(len(at)), where=width > 0)
    share, width = (x.reshape(-1, *[1] * (values.ndim - 1)) for x in (share, width))
    rise = values[right] - values[left]
    a, b = _believed(slopes[left], slopes[right], width, rise)
    chord = _chord(width, rise)
    found = a + share * (6 * chord - 4 * a - 2 * b) + share**2 * (3 * a + 3 * b - 6 * chord)
    return a, np.asarray(np.where(width > 0, found, a))


def _believed(begin: Array, end: Array, width: Array, rise: Array) -> tuple[Array, Array]:
    """The slopes at both ends of what is between two rows, as far as they say something of it.

    Of a curve that the rows resolve, the chord is about the mean of the slopes. Where it is not (what happens between the rows is
    over long before the next one), a cubic with these slopes would leave the curve by any amount: there, one that stays between
    its ends is taken, whose slopes are at most three times that of the chord.
    """
    chord = _chord(width, rise)
    with np.errstate(invalid="ignore"):
        resolved = np.abs(begin + end - 2 * chord) <= _RESOLVED * np.abs(begin - end)
    resolved &= np.isfinite(begin) & np.isfinite(end)
    low, high = np.minimum(0.0, 3 * chord), np.maximum(0.0, 3 * chord)
    return np.where(resolved, begin, np.clip(begin, low, high)), np.where(resolved, end, np.clip(end, low, high))


def _chord(width: Array, rise: Array) -> Array:
    return np.divide(rise, width, out=np.zeros(np.shape(rise)), where=np.broadcast_to(width > 0, np.shape(rise)))


def extremes(time: Array, values: Array, begin: Array, end: Array, steps: bool) -> tuple[Array, Array]:
    """Smallest and largest value from each `begin` to its `end`, both included."""
    first, last = interpolated(time, values, begin, steps), interpolated(time, values, end, steps)
    low, high = np.minimum(first, last), np.maximum(first, last)
    starts, ends = np.searchsorted(time, begin, side="right"), np.searchsorted(time, end, side="left")
    some = np.flatnonzero(starts < ends)
    if len(some):
        pairs = np.stack([starts[some], ends[some]], axis=1).ravel()
        padded = np.concatenate([values, values[-1:]])  # an end may be just behind the last row
        low[some] = np.minimum(low[some], np.minimum.reduceat(padded, pairs, axis=0)[::2])
        high[some] = np.maximum(high[some], np.maximum.reduceat(padded, pairs, axis=0)[::2])
    return low, high
