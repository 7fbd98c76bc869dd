"""B-splines of degree 5 on one coordinate: knots, basis polynomials for native evaluation, interpolation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import lu_factor, lu_solve

DEGREE = 5
LANES = 8  # of a basis polynomial in native code: six are used
BUCKETS_A_SPAN = 8  # a point finds its span through a table this much finer


def graded(low: float, high: float, count: int, density: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """`count` points from `low` to `high`, as dense as `density` says.

    >>> graded(0.0, 1.0, 3, lambda x: np.ones_like(x)).tolist()
    [0.0, 0.5, 1.0]
    """
    fine = np.linspace(low, high, 20001)
    weight = density(fine)
    total = np.concatenate([[0.0], np.cumsum(0.5 * (weight[1:] + weight[:-1]) * np.diff(fine))])
    found = np.interp(np.linspace(0.0, total[-1], count), total, fine)
    found[0], found[-1] = low, high
    return found


class Axis:
    """A coordinate with the points where values are given ("not-a-knot": there are as many coefficients as points).

    >>> axis = Axis(np.linspace(0.0, 1.0, 9))
    >>> spline = BSpline(axis.t, axis.fit(axis.points**3), DEGREE)
    >>> round(float(spline(0.3)), 12)
    0.027
    """

    def __init__(self, points: np.ndarray) -> None:
        self.points = np.asarray(points, dtype=float)
        self.t = make_interp_spline(self.points, self.points, DEGREE).t
        self.count = len(self.points)
        self.spans = self.count - DEGREE
        self.knots = self.t[DEGREE : self.count + 1]
        self._factors = lu_factor(self.basis_at(self.points))

    def basis_at(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(BSpline.design_matrix(np.clip(x, self.knots[0], self.knots[-1]), self.t, DEGREE).toarray())

    def fit(self, values: np.ndarray, axis: int = 0) -> np.ndarray:
        """Coefficients of the splines that go through `values` along `axis`."""
        moved = np.moveaxis(np.asarray(values, dtype=float), axis, 0)
        solved = lu_solve(self._factors, moved.reshape(moved.shape[0], -1), check_finite=False).reshape(moved.shape)
        return np.moveaxis(solved, 0, axis)

    def sampled(self, between: int) -> np.ndarray:
        """`between` points in each span and the two ends, for least squares."""
        width = np.diff(self.knots)
        inner = (self.knots[:-1, None] + width[:, None] * (np.arange(between) + 0.5) / between).ravel()
        return np.concatenate([self.knots[:1], inner, self.knots[-1:]])

    def polynomials(self) -> np.ndarray:
        """[span][power][basis function], over s = (x - knot) / width of the span."""
        nodes = 0.5 - 0.5 * np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
        to_powers = np.linalg.inv(np.vander(nodes, DEGREE + 1, increasing=True))
        found = np.zeros((self.spans, DEGREE + 1, LANES))
        for i in range(self.spans):
            x = self.knots[i] + (self.knots[i + 1] - self.knots[i]) * nodes
            found[i, :, : DEGREE + 1] = to_powers @ self.basis_at(x)[:, i : i + DEGREE + 1]
        found[0, 0] = np.eye(LANES)[0]  # at its first point a spline is its first coefficient, to the last bit
        return found

    def layout(self) -> list[np.ndarray]:
        """What native code reads: a head of eight, first span of each bucket, knots, 1/width, polynomials."""
        buckets = BUCKETS_A_SPAN * self.spans
        per_unit = buckets / (self.knots[-1] - self.knots[0])
        starts = self.knots[0] + np.arange(buckets) / per_unit
        first = np.clip(np.searchsorted(self.knots, starts, side="right") - 1, 0, self.spans - 1)
        first = np.maximum(first - 1, 0)  # the start of a bucket may be off by rounding
        head = np.array([self.spans, buckets, self.knots[0], per_unit, 0.0, 0.0, 0.0, 0.0])
        return [head, first.astype(float), self.knots, 1.0 / np.diff(self.knots), self.polynomials()]
