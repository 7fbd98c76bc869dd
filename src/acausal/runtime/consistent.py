"""Values that satisfy the equations after a jump, so that an integration may start again there; as native/consistent.cpp has it.

Given t, known values and y of the differential unknowns, F(t, y, y', known) = 0 is solved for y of the algebraic unknowns and y' of
the differential ones. Used by solvers that have no native session; `tests/runtime/test_consistent.py` compares the two.
"""

from __future__ import annotations

import numpy as np

from .initialise.linear import SparseFactor
from .problem import Floats, Mask, Problem

_EPSILON = float(np.finfo(float).eps)
_SLOWEST = 1e-6  # a rate below this part of the nominal value a second is as good as none
_HALVINGS = 10


class Consistency:
    """Newton's method for derivatives of states and values of the other unknowns, as native/consistent.cpp has it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        indptr, self.rows = problem.pattern
        self.columns = np.repeat(np.arange(problem.size), np.diff(indptr))
        self.factor = SparseFactor(indptr, self.rows)
        self.slope = problem.differential
        self.by_value = self.by_slope = np.zeros(0)

    def solve(
        self, t: float, y: Floats, yp: Floats, known: Floats, differential: Mask, nominal: Floats, tolerance: float, most: int
    ) -> tuple[bool, int]:
        value, rate = y.copy(), np.where(differential, yp, 0.0)
        residual = self.problem.residual(t, value, rate, known=known)
        if not np.isfinite(residual).all():
            return False, 0
        for iteration in range(most):
            if not self._linearise(t, value, rate, known):
                return False, iteration
            if iteration == 0:
                self.slope = differential & (np.bincount(self.columns, self.by_slope != 0, len(y)) > 0)
                rate[~self.slope] = 0.0
                if (np.abs(residual) <= 4 * _EPSILON * self._scale(value, rate)).all():
                    return self._accepted(y, yp, value, rate), 0
            if not self.factor.factor(np.where(self.slope[self.columns], self.by_slope, self.by_value)):
                return False, iteration
            correction = self.factor.solve(residual)
            if not np.isfinite(correction).all():
                return False, iteration
            size = np.maximum(np.abs(np.where(self.slope, rate, value)), np.where(self.slope, _SLOWEST, 1.0) * nominal)
            small = bool((np.abs(correction) <= tolerance * size).all())
            found = self._corrected(t, value, rate, known, correction, residual, nominal, tolerance, small)
            if found is None:
                return False, iteration + 1
            value, rate, residual = found
            if small or self._within(residual, value, rate, nominal, tolerance):
                return self._accepted(y, yp, value, rate), iteration + 1
        return False, most

    def _accepted(self, y: Floats, yp: Floats, value: Floats, rate: Floats) -> bool:
        y[:], yp[:] = value, rate
        return True

    def _linearise(self, t: float, value: Floats, rate: Floats, known: Floats) -> bool:
        """Both parts of the Jacobian."""
        self.by_value, self.by_slope = self.problem.partials(t, value, rate, known=known)
        return bool(np.isfinite(self.by_slope).all() and np.isfinite(self.by_value).all())

    def _scale(self, value: Floats, rate: Floats, nominal: Floats | float = 0.0, moved: Floats | float = 0.0) -> Floats:
        """How large the terms of each row are: what a residual is measured against."""
        value = np.maximum(np.abs(value), nominal) + np.where(self.slope, 0.0, moved)
        rate = np.abs(rate) + np.where(self.slope, moved, 0.0)
        terms = np.abs(self.by_value) * value[self.columns] + np.abs(self.by_slope) * rate[self.columns]
        return np.bincount(self.rows, terms, len(value)).astype(float, copy=False)

    def _within(self, residual: Floats, value: Floats, rate: Floats, nominal: Floats, tolerance: float) -> bool:
        return bool((np.abs(residual) <= tolerance * self._scale(value, rate, nominal)).all())

    def _corrected(
        self,
        t: float,
        value: Floats,
        rate: Floats,
        known: Floats,
        correction: Floats,
        residual: Floats,
        nominal: Floats,
        tolerance: float,
        small: bool,
    ) -> tuple[Floats, Floats, Floats] | None:
        """One correction, halved until the residuals become smaller; rounding decides that after a small one."""
        weight = self._scale(value, rate, nominal, np.abs(correction))
        before = _worst(residual, weight)
        for k in range(_HALVINGS + 1):
            part = correction * 0.5**k
            new_value, new_rate = value - np.where(self.slope, 0.0, part), rate - np.where(self.slope, part, 0.0)
            new = self.problem.residual(t, new_value, new_rate, known=known)
            if not np.isfinite(new).all():
                continue
            if small or _worst(new, weight) < before or self._within(new, new_value, new_rate, nominal, tolerance):
                return new_value, new_rate, new
        return None


def _worst(residual: Floats, weight: Floats) -> float:
    some = residual != 0
    with np.errstate(divide="ignore"):
        return float((np.abs(residual[some]) / weight[some]).max(initial=0.0))
