"""The linear equations around one workspace: how everything moves with everything else there.

Directions are matrices with one column for each parameter (or one for time), and one row for each cell of the workspace
w = [ y | y' | known | computed ].
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import block_array, csc_array, csr_array
from scipy.sparse.linalg import splu

from ..errors import ModelError
from ..families.template import Family
from ..runtime.problem import Problem
from .partials import by_known, derivative_matrix


class Local:
    """Derivatives of a problem's equations at a workspace."""

    def __init__(self, problem: Problem, w: np.ndarray) -> None:
        self.problem, self.w, self.n = problem, w, problem.size
        self.first_computed = len(w) - problem.lowered.computed

    def slopes(self, families: list[Family], rows: int) -> csr_array:
        """Derivatives of some families by every cell."""
        shape = (rows, len(self.w))
        both = derivative_matrix(families, self.w, shape), derivative_matrix([by_known(f) for f in families], self.w, shape)
        return csr_array(both[0] + both[1])

    @cached_property
    def _residuals(self) -> csr_array:
        return self.slopes(self.problem.lowered.families, self.n)

    @cached_property
    def _computed(self) -> csr_array:
        return self.slopes(self.problem.lowered.assignments, self.problem.lowered.computed)

    def of_rule(self, role: str) -> csr_array:
        """Derivatives of what rules of a role say (see `families/hybrid.py`)."""
        part = self.problem.lowered.system.hybrid.parts[role]  # type: ignore[union-attr]
        return self.slopes(self.problem.lowered.moved(part.families), part.count)

    @cached_property
    def F_y(self) -> csc_array:
        return self._matrix(0)

    @cached_property
    def F_yp(self) -> csc_array:
        return self._matrix(1)

    @cached_property
    def _values(self) -> tuple[np.ndarray, np.ndarray]:
        w, n = self.w, self.n
        return self.problem.equations.partials(float(w[2 * n]), w[:n], w[n : 2 * n], np.ascontiguousarray(w[2 * n :]))

    def _matrix(self, which: int) -> csc_array:
        indptr, indices = self.problem.pattern
        return csc_array((self._values[which], indices, indptr), shape=(self.n, self.n))

    def follow(self, d: np.ndarray) -> np.ndarray:
        """Fill in the rows of computed cells, in place, from those of everything else."""
        if self.first_computed < len(d):
            d[self.first_computed :] = 0.0
            first = self._computed @ d
            links = csr_array(self._computed[:, self.first_computed :])
            total = first
            for _ in range(int(self.problem.lowered.explicit.level.max(initial=0)) + len(self.problem.lowered.shared_rows)):
                following = first + links @ total
                if np.array_equal(following, total):
                    break
                total = following
            d[self.first_computed :] = total
        return d

    def by_known(self, known: np.ndarray) -> np.ndarray:
        """How residuals move with known cells alone, through computed ones."""
        d = np.zeros((len(self.w), known.shape[1]))
        d[2 * self.n : self.first_computed] = known[: self.first_computed - 2 * self.n]
        return np.asarray(self._residuals @ self.follow(d))

    @cached_property
    def _factors(self) -> object:
        states = self.problem.differential
        matrix = csc_array(block_array([[self.F_yp[:, np.flatnonzero(states)], self.F_y[:, np.flatnonzero(~states)]]]))
        try:
            return splu(matrix)
        except RuntimeError:
            raise ModelError(
                f"At {self.w[2 * self.n]:g} s the equations do not determine all derivatives and algebraic unknowns, so that "
                "sensitivities cannot be followed there.",
                remedy="`model.diagnose()` says which equations.",
            ) from None

    def consistent(self, states: np.ndarray, known: np.ndarray) -> np.ndarray:
        """The direction in which everything moves, given how states and known cells move: F stays zero."""
        n, differential = self.n, self.problem.differential
        d = np.zeros((len(self.w), known.shape[1]))
        d[2 * n : self.first_computed] = known[: self.first_computed - 2 * n]
        d[:n][differential] = states[differential]
        right = self.by_known(known) + self.F_y[:, np.flatnonzero(differential)] @ states[differential]
        if n:
            solved = -self._factors.solve(np.ascontiguousarray(right))  # type: ignore[attr-defined]
            count = int(differential.sum())
            d[n : 2 * n][differential] = solved[:count]
            d[:n][~differential] = solved[count:]
        return self.follow(d)
