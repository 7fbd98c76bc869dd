"""The linear equations around one workspace: how everything moves with everything else there.

Directions are matrices with one column for each parameter (or one for time), and one row for each cell of the workspace
w = [ y | y' | known | computed ].
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse import block_array, csc_array, csr_array
from scipy.sparse.linalg import splu

from ..errors import ModelError
from ..families.template import Family
from ..runtime.problem import Problem
from .partials import by_known, derivative_matrix
from .slopes import SMALL, slopes_of


def through_computed(computed: Any, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What an output has to do with computed cells (at `places`, with these derivatives) goes to those they are computed from."""
    links, first = computed[:, places].T, weights[places]
    total = first
    for _ in range(len(places) + 1):  # none depends on itself
        following = first + links @ total
        if np.array_equal(following, total):
            break
        total = following
    found = weights + computed.T @ total
    found[places] = 0.0
    return np.asarray(found)


class Factors:
    """A matrix that was factorised, a plain or a sparse one; RuntimeError if it is singular."""

    def __init__(self, matrix: Any) -> None:
        self.plain = isinstance(matrix, np.ndarray)
        if not self.plain:
            self.found: Any = splu(matrix)
            return
        triangular, pivots, self.singular = dgetrf(matrix)
        if self.singular > 0 or not np.isfinite(triangular).all():
            raise RuntimeError("singular")
        self.found = triangular, pivots

    def solve(self, right: np.ndarray, transposed: bool = False) -> np.ndarray:
        if self.plain:
            return np.asarray(dgetrs(*self.found, right, trans=int(transposed))[0])
        return np.asarray(self.found.solve(np.ascontiguousarray(right), trans="T" if transposed else "N"))


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
    def _residuals(self) -> Any:
        return slopes_of(self.problem, "residuals", len(self.w)).at(self.w)

    @cached_property
    def _computed(self) -> Any:
        return slopes_of(self.problem, "computed", len(self.w)).at(self.w)

    @cached_property
    def _links(self) -> Any:
        """Of computed cells by computed cells."""
        return self._computed[:, self.first_computed :]

    def of_rule(self, role: str) -> Any:
        """Derivatives of what rules of a role say (see `families/hybrid.py`)."""
        return slopes_of(self.problem, role, len(self.w)).at(self.w)

    @cached_property
    def F_y(self) -> Any:
        return self._matrix(0)

    @cached_property
    def F_yp(self) -> Any:
        return self._matrix(1)

    @cached_property
    def _values(self) -> tuple[np.ndarray, np.ndarray]:
        w, n = self.w, self.n
        return self.problem.equations.partials(float(w[2 * n]), w[:n], w[n : 2 * n], np.ascontiguousarray(w[2 * n :]))

    def _matrix(self, which: int) -> Any:
        indptr, indices = self.problem.pattern
        if self.n**2 <= SMALL:
            found = np.zeros((self.n, self.n))
            found[indices, np.repeat(np.arange(self.n), np.diff(indptr))] = self._values[which]
            return found
        return csc_array((self._values[which], indices, indptr), shape=(self.n, self.n))

    def follow(self, d: np.ndarray) -> np.ndarray:
        """Fill in the rows of computed cells, in place, from those of everything else."""
        if self.first_computed < len(d):
            d[self.first_computed :] = 0.0
            first = self._computed @ d
            total = first
            for _ in range(int(self.problem.lowered.explicit.level.max(initial=0)) + len(self.problem.lowered.shared_rows)):
                following = first + self._links @ total
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

    # --- the same, transposed: from what an output has to do with the results to what it has to do with what they were made of ----
    def follow_back(self, weights: np.ndarray) -> np.ndarray:
        """`follow`, transposed, in place: what an output has to do with computed cells goes to those they are computed from."""
        if self.first_computed < len(weights):
            weights[:] = through_computed(self._computed, np.arange(self.first_computed, len(weights)), weights)
        return weights

    def consistent_back(self, weights: np.ndarray, given: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """`consistent`, transposed: what an output has to do with states and with known cells."""
        n, differential = self.n, self.problem.differential
        given = differential if given is None else given
        weights = self.follow_back(weights)
        known, states = weights[2 * n : self.first_computed].copy(), np.zeros((n, weights.shape[1]))
        states[given] = weights[:n][given]
        if n:
            solved = np.vstack([weights[n : 2 * n][differential], weights[:n][~given]])
            right = -self._factors(given).solve(solved, transposed=True)
            states[given] += self.F_y[:, np.flatnonzero(given)].T @ right
            known += self.follow_back(np.asarray(self._residuals.T @ right))[2 * n : self.first_computed]
        return states, known

    def _factors(self, given: np.ndarray) -> Factors:
        key = given.tobytes()
        if key not in self._factorised:
            self._factorised[key] = self._factorise(given)
        return self._factorised[key]

    @cached_property
    def _factorised(self) -> dict[bytes, Factors]:
        return {}

    def _factorise(self, given: np.ndarray) -> Factors:
        parts = self.F_yp[:, np.flatnonzero(self.problem.differential)], self.F_y[:, np.flatnonzero(~given)]
        try:
            return Factors(np.hstack(parts) if isinstance(parts[0], np.ndarray) else csc_array(block_array([list(parts)])))
        except RuntimeError:
            when = self.problem.lowered.system.plant.moment(self.w[2 * self.n])
            raise ModelError(
                f"At {when} the equations do not determine all derivatives and algebraic unknowns, so that "
                "sensitivities cannot be followed there.",
                remedy="`model.diagnose()` says which equations.",
            ) from None

    def consistent(self, states: np.ndarray, known: np.ndarray, given: np.ndarray | None = None) -> np.ndarray:
        """The direction in which everything moves, given how states and known cells move: F stays zero. `given`: the unknowns that
        are in place of the states, as many as these."""
        n, differential = self.n, self.problem.differential
        given = differential if given is None else given
        d = np.zeros((len(self.w), known.shape[1]))
        d[2 * n : self.first_computed] = known[: self.first_computed - 2 * n]
        d[:n][given] = states[given]
        right = self.by_known(known) + self.F_y[:, np.flatnonzero(given)] @ states[given]
        if n:
            solved = -self._factors(given).solve(right)
            count = int(differential.sum())
            d[n : 2 * n][differential] = solved[:count]
            d[:n][~given] = solved[count:]
        return self.follow(d)
