"""B-splines of degree 5 on one coordinate: knots, basis polynomials for native evaluation, interpolation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import lu_factor, lu_solve

DEGREE = 5
LANES = 8  # of a basis polynomial in native code: six are used


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
        """[span][power][basis function], over s = (x - knot) / width of the span, in lanes of native code."""
        found = np.zeros((self.spans, DEGREE + 1, LANES))
        found[..., : DEGREE + 1] = self._exact
        return found

    def pieces(self, coefficients: np.ndarray) -> np.ndarray:
        """Splines as the polynomials that they are in each span: [span][power][spline], or [span][power] of a single one.

        Native code that waits for a curve has it sooner than by way of basis functions.
        """
        window = np.arange(self.spans)[:, None] + np.arange(DEGREE + 1)
        found = np.einsum("smk,sk...->sm...", self._exact, coefficients[window].astype(np.longdouble)).astype(float)
        return found if found.ndim == 3 else np.pad(found, ((0, 0), (0, LANES - DEGREE - 1)))

    @cached_property
    def _exact(self) -> np.ndarray:
        """[span][power][basis function] by de Boor's recursion for coefficients.

        Neighbours must agree at a knot to the last bits, or differences across it show it; hence more digits than are kept.
        """
        t, left = self.t.astype(np.longdouble), DEGREE + np.arange(self.spans)
        width = t[left + 1] - t[left]
        basis = np.ones((self.spans, 1, 1), dtype=np.longdouble)  # [span][function][power], of degree 0
        for degree in range(1, DEGREE + 1):
            raised = np.zeros((self.spans, degree + 1, degree + 1), dtype=np.longdouble)
            for k in range(degree):
                first, last = t[left - degree + 1 + k], t[left + 1 + k]
                slope = (width / (last - first))[:, None] * basis[:, k]
                raised[:, k + 1, :degree] += ((t[left] - first) / (last - first))[:, None] * basis[:, k]
                raised[:, k + 1, 1:] += slope
                raised[:, k, :degree] += ((last - t[left]) / (last - first))[:, None] * basis[:, k]
                raised[:, k, 1:] -= slope
            basis = raised
        return basis.transpose(0, 2, 1)

    def _span(self, x: np.ndarray) -> np.ndarray:
        return np.clip(np.searchsorted(self.knots, x, side="right") - 1, 0, self.spans - 1)

    def widths(self, x: np.ndarray) -> np.ndarray:
        """How wide the span is that each point lies in."""
        return np.asarray(np.diff(self.knots)[self._span(x)])

    def rows(self, x: np.ndarray, order: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The six basis functions that matter at each point, or their first derivatives, and the number of the first of them."""
        span, width = self._span(x), self.widths(x)
        s = ((np.clip(x, self.knots[0], self.knots[-1]) - self.knots[span]) / width)[:, None]
        power = self.polynomials()[span, :, : DEGREE + 1]
        if order:
            return sum(m * power[:, m] * s ** (m - 1) for m in range(1, DEGREE + 1)) / width[:, None], span
        return sum(power[:, m] * s**m for m in range(DEGREE + 1)), span

    def layout(self) -> list[np.ndarray]:
        """What native code reads: a head of eight, knots, the last of them at infinity, 1/width, polynomials."""
        return [
            np.array([self.spans] + 7 * [0.0]),
            np.append(self.knots[:-1], np.inf),
            1.0 / np.diff(self.knots),
            self.polynomials(),
        ]
