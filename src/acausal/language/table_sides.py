"""On which side of its corners the argument of a table is, as functions that change their signs there.

Problem. Factors of a Jacobian that were made where a table is steep are wrong where it is not (see `families/bends.py`). Given the
places k_0 < … < k_(m-1) at which the slope of a table becomes another one, find few functions such that in any two of the m + 1
pieces one of them has different signs. The answer is Gray's code of the number of the piece: from one piece to the next exactly one
bit changes, so each place is a zero of one function, and a code tells all pieces apart. Each bit is piecewise linear, with the
distance to its nearest zero as its size.

Slopes that differ by less than a factor count as the same one, and so do those too small to matter beside the largest.
"""

from __future__ import annotations

import numpy as np

_DIFFERENT = {"linear": 10.0}  # of slopes, by method; within a cubic they change step by step, and an iteration follows
_CURVED = 100.0
_NOTHING = 1e-6  # of the largest slope
_PARTS = 8  # in which an interval of a cubic is looked at

Bits = list[tuple[np.ndarray, np.ndarray]]  # points of each piecewise linear function


def bits(places: np.ndarray) -> Bits:
    """Gray's code of the pieces between some places.

    >>> [list(x) for x, y in bits(np.array([0.0, 1.0, 3.0]))]
    [[-1.0, 0.0, 1.5, 3.0, 4.0], [0.0, 1.0, 2.0]]
    """
    numbers = np.arange(1, len(places) + 1)
    lowest = (numbers & -numbers).tolist()  # the bit that changes at a place is the lowest one of its number
    return [_alternating(places[[b == 1 << k for b in lowest]]) for k in range(len(places).bit_length())]


def _alternating(zeros: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A function with some zeros, with slopes 1 and -1."""
    middle, half = 0.5 * (zeros[:-1] + zeros[1:]), 0.5 * np.diff(zeros)
    inner = np.stack([zeros[1:], middle])[::-1].T.ravel()
    x = np.concatenate([[zeros[0] - 1.0, zeros[0]], inner, [zeros[-1] + 1.0]])
    sizes = np.concatenate([[1.0, 0.0], np.stack([half, np.zeros_like(half)]).T.ravel(), [1.0]])
    signs = np.concatenate([[-1.0, 0.0], np.repeat((-1.0) ** np.arange(len(half)), 2), [(-1.0) ** len(half)]])
    return x, sizes * signs


def places(axis: np.ndarray, slopes: np.ndarray, method: str, clamped: bool) -> np.ndarray:
    """Where slopes become others. `slopes` has a row for each piece between two points of the axis, and columns for all lines."""
    size = np.abs(slopes).max(initial=0.0)
    if not (np.isfinite(size) and size > 0):
        return axis[:0]
    if clamped:
        rest = np.zeros((1, *slopes.shape[1:]))
        axis, slopes = np.concatenate([axis[:1], axis, axis[-1:]]), np.concatenate([rest, slopes, rest])
    sizes = np.maximum(np.abs(slopes), _NOTHING * size) / size
    sorts = np.round(np.log(sizes) / np.log(_DIFFERENT.get(method, _CURVED)))
    turned = (slopes[1:] * slopes[:-1] < 0) & (sizes[1:] > _NOTHING) & (sizes[:-1] > _NOTHING) & (method == "linear")
    other = (np.diff(sorts, axis=0) != 0) | turned
    return np.unique(axis[1:-1][other.any(axis=tuple(range(1, other.ndim)))])


def parts(axis: np.ndarray) -> np.ndarray:
    """The points of an axis, and some in between."""
    share = np.arange(_PARTS) / _PARTS
    return np.append((axis[:-1, None] + np.diff(axis)[:, None] * share).ravel(), axis[-1])
