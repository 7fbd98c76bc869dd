"""When a quantity first passes a level: not at a row, but where the curve through the rows does.

As for largest values (`extremes.py`) a polynomial goes through rows that no event parts; where rows do not resolve the curve, a
straight line does. The value of the polynomial at that time is a sum of rows with weights w, and it stays at the level when
parameters move: so the time moves by -Σ w dx / x', a sum over the same rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .events import Array
from .extremes import FEWER, ROWS, Through, one_element, roots_between, stretch

_AGREE = 0.1  # of the distance of two rows: so far polynomials of two degrees may differ
_HIGHEST = 0.3  # of the spread of rows around a peak: more than a parabola can be above it


class Crossing(NamedTuple):
    """A time, and what the rows from `first` on have to do with it (nothing, where the time is that of a row by itself)."""

    time: float
    first: int
    weights: Array


def first_above(time: Array, values: Array, level: float, steps: bool) -> Crossing | None:
    """When values first rise above a level; None if they never do."""
    v = np.asarray(values, dtype=float) - level
    beyond = np.flatnonzero(v > 0)
    row = int(beyond[0]) if len(beyond) else len(v)
    if not steps:
        peak = _peak_before(time, v, row)
        if peak is not None:
            return peak
    if row == len(v):
        return None
    if row == 0 or steps or time[row] <= time[row - 1]:
        return Crossing(float(time[row]), row, np.zeros(0))
    return _curved(time, v, row - 1, row) or _straight(time, v, row)


def _straight(time: Array, v: Array, row: int) -> Crossing:
    rise, width = v[row] - v[row - 1], time[row] - time[row - 1]
    share = -v[row - 1] / rise
    return Crossing(float(time[row - 1] + share * width), row - 1, -np.array([1 - share, share]) * width / rise)


def _curved(time: Array, v: Array, low: int, high: int) -> Crossing | None:
    """Where the polynomial through the rows around passes zero first between two of them; None if rows do not resolve it."""
    first, end = stretch(time, low)
    if end - first < FEWER:
        return None
    found = [_on(Through.rows(time, v, low, first, end, count, 1), time, v, low, high) for count in (ROWS, FEWER)]
    if found[0] is None or found[1] is None or abs(found[0].time - found[1].time) > _AGREE * (time[high] - time[low]):
        return None
    return found[0]


def _on(curve: Through | None, time: Array, v: Array, row: int, until: int) -> Crossing | None:
    if curve is None:
        return None
    level = curve.coefficients.copy()
    level[0] += v[row]
    slack = 1e-9
    places = roots_between(level, -slack, (time[until] - time[row]) / curve.width + slack)
    slopes = np.polynomial.polynomial.polyval(places, curve.slope) / curve.width
    rising = np.flatnonzero(slopes > 0)
    if not len(rising):
        return None
    x, slope = float(places[rising[0]]), float(slopes[rising[0]])
    return Crossing(float(time[row] + x * curve.width), curve.begin, -curve.weights(x) / slope)


def _peak_before(time: Array, v: Array, row: int) -> Crossing | None:
    """A peak between rows that rises above the level though no row does, up to a row."""
    inner = v[1 : min(row, len(v) - 1)]
    k = np.arange(1, 1 + len(inner))
    if not len(k):
        return None
    lower = np.minimum(v[k - 1], v[k + 1])
    near = (inner >= v[k - 1]) & (inner >= v[k + 1]) & (inner > lower) & (-inner < _HIGHEST * (inner - lower))
    for top in k[near].tolist():
        for low, high in ((top - 1, top), (top, top + 1)):
            found = _curved(time, v, low, high)
            if found is not None:
                return found
    return None


def crossing_of(result: Any, name: str, level: float, above: bool) -> float:
    """The time at which a quantity of a run first passes a level; not a number if it never does."""
    sign = 1.0 if above else -1.0
    found = first_above(result.time, sign * one_element(result, name), sign * level, result.meaning(name).steps)
    return float("nan") if found is None else found.time
