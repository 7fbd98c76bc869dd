"""Where functions of time cross zero within a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .problem import Floats, Mask


def crosses(before: Floats, after: Floats) -> Mask:
    """Which functions left their side of zero. One that was zero had no side to leave."""
    return np.asarray((before * after < 0) | ((np.abs(before) > 0) & (after == 0)))


def first_crossing(
    span: tuple[float, float], before: Floats, after: Floats, values: Callable[[float], Floats], tolerance: float
) -> tuple[float, Floats, Floats]:
    """Where the first of several functions crosses zero within a span at whose end some have crossed.

    Returns a time behind the crossing by `tolerance` at most, and all values before and behind. Secants of the function that
    seems to be first, with less weight for an end that stays (the Illinois method), and a bisection where they are
    slow. A function without a value keeps the one it had.

    >>> t, _, after = first_crossing((0.0, 2.0), np.array([-1.0]), np.array([3.0]), lambda t: np.array([t * t - 1]), 1e-12)
    >>> 0 <= t - 1 <= 1e-12, bool(after[0] >= 0)
    (True, True)
    """
    lo, hi = span
    weights, kept, widths = [1.0, 1.0], None, [np.inf, np.inf]
    while hi - lo > tolerance:
        candidates = np.flatnonzero(crosses(before, after))
        a, b = before[candidates], after[candidates]
        first = candidates[np.argmin(a / (a - b))]
        a, b = weights[0] * before[first], weights[1] * after[first]
        slow, widths = hi - lo > 0.5 * widths[0], [widths[1], hi - lo]
        t = lo + (hi - lo) * float(0.5 if slow else a / (a - b))
        t = min(max(t, lo + tolerance / 2), hi - tolerance / 2)
        here = values(t)
        stays = 0 if crosses(before, here).any() else 1
        weights[1 - stays] = 1.0
        weights[stays] = weights[stays] / 2 if stays == kept else 1.0
        kept = stays
        if stays == 0:
            hi, after = t, here
        else:
            lo, before = t, np.where(np.isnan(here), before, here)
    return hi, before, after
