"""Values between the stored rows of a run. At an event two rows have the same time; the later one is what holds from then on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .events import Array


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
    bend = (slopes[left] * width - (b - a)) * (1 - share) - (slopes[right] * width - (b - a)) * share
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
        pieces = pieces + np.nan_to_num(width**2 / 12 * (slopes[:-1] - slopes[1:]), posinf=0.0, neginf=0.0)
    return np.concatenate([np.zeros_like(values[:1], dtype=float), np.cumsum(pieces, axis=0)])


def means(time: Array, values: Array, edges: Array, steps: bool, slopes: Array | None = None) -> Array:
    """Mean over time between neighbouring edges: the exact one of what is between the rows."""
    left = np.clip(np.searchsorted(time, edges, side="right") - 1, 0, len(time) - 1)
    there = interpolated(time, values, edges, steps, slopes)
    beyond = (edges - time[left]).reshape(-1, *[1] * (values.ndim - 1))
    total = areas(time, values, steps, slopes)[left] + beyond * 0.5 * (values[left] + there)
    if slopes is not None and not steps:
        change = slopes[left] - _slope_at(time, values, slopes, edges, left)
        total = total + np.nan_to_num(beyond**2 / 12 * change, posinf=0.0, neginf=0.0)
    return np.asarray(np.diff(total, axis=0) / np.diff(edges).reshape(-1, *[1] * (values.ndim - 1)))


def _slope_at(time: Array, values: Array, slopes: Array, at: Array, left: NDArray[np.int64]) -> Array:
    """The slope of the cubic between two rows."""
    right = np.minimum(left + 1, len(time) - 1)
    width = time[right] - time[left]
    share = np.divide(at - time[left], width, out=np.zeros(len(at)), where=width > 0)
    share, width = (x.reshape(-1, *[1] * (values.ndim - 1)) for x in (share, width))
    chord = np.divide(values[right] - values[left], width, out=np.zeros(np.shape(values[left])), where=width > 0)
    a, b = slopes[left], slopes[right]
    found = a + share * (6 * chord - 4 * a - 2 * b) + share**2 * (3 * a + 3 * b - 6 * chord)
    return np.asarray(np.where(width > 0, found, a))


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
