"""Narrow peaks of a table: places that an integrator may step over without noticing.

*Problem.* An error test sees a table at the ends of steps. Where a table is straight on both sides of a stretch that is short
against these sides, a step may begin before the stretch and end behind it; if the table goes on behind it about where the side
before leads, nothing tells that there was a peak, whatever its area is. (A narrow *step* is seen: the values behind it are others.)

*Method.* The table is reduced to a polyline that differs from it by a thousandth of its range at most (Ramer, Douglas and Peucker),
so that it does not matter how finely it is given. A peak is a run of the polyline's intervals that is shorter than a third of each
of its neighbours, and leaves the chord of its ends by more than these differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_STRAIGHT = 1e-3  # of the range of the values: what differs by less from a straight line is one
_NARROW = 1 / 3  # of the straight piece next to it
ENTRIES = ("rising", "both", "falling")  # how an argument passes the three places of a peak on its way through it


class Peak(NamedTuple):
    """Where a peak begins, is farthest from the chord of its ends, and ends."""

    left: float
    top: float
    right: float


def narrow_peaks(x: np.ndarray, y: np.ndarray) -> list[Peak]:
    """Peaks of the points (x, y), whose x increase; one may be part of another.

    >>> narrow_peaks(np.array([0.0, 4.9, 5.0, 5.1, 10.0]), np.array([0.0, 0.0, 7.0, 0.0, 0.0]))
    [Peak(left=4.9, top=5.0, right=5.1)]
    """
    corners = _polyline(x, y, _STRAIGHT * float(np.ptp(y)))
    x, y = x[corners], y[corners]
    span = float(x[-1] - x[0])  # as far as that, a table is taken to be straight beyond its ends
    lengths = [span, *np.diff(x).tolist(), span]  # before the k-th corner is the k-th
    found: list[Peak] = []
    for first in range(len(x) - 2):
        last = _end_of_peak(x, y, lengths, first)
        if last:
            top = first + 1 + int(np.argmax(_distances(x, y, first, last)))
            found.append(Peak(float(x[first]), float(x[top]), float(x[last])))
    return found


def _end_of_peak(x: np.ndarray, y: np.ndarray, lengths: list[float], first: int) -> int:
    """The corner at which a peak ends that begins at `first`; 0 if there is none."""
    for last in range(first + 2, len(x)):
        width = x[last] - x[first]
        if width > _NARROW * lengths[first]:
            return 0
        if width <= _NARROW * lengths[last + 1] and _distances(x, y, first, last).max() > abs(y[last] - y[first]):
            return last
    return 0


def _distances(x: np.ndarray, y: np.ndarray, first: int, last: int) -> np.ndarray:
    """How far the points between two are from their chord."""
    inner = slice(first + 1, last)
    chord = y[first] + (y[last] - y[first]) / (x[last] - x[first]) * (x[inner] - x[first])
    return np.asarray(np.abs(y[inner] - chord))


def _polyline(x: np.ndarray, y: np.ndarray, tolerance: float) -> np.ndarray:
    """Which points are needed."""
    kept, stack = {0, len(x) - 1}, [(0, len(x) - 1)]
    while stack:
        first, last = stack.pop()
        if last - first < 2:
            continue
        distances = _distances(x, y, first, last)
        farthest = int(np.argmax(distances))
        if distances[farthest] > tolerance:
            middle = first + 1 + farthest
            kept.add(middle)
            stack += [(first, middle), (middle, last)]
    return np.array(sorted(kept))
