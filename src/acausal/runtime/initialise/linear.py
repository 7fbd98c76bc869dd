"""One sparse matrix pattern, factorised again and again.

The native core's KLU is taken when it is there: it analyses the pattern once and keeps its pivots while they are good. Otherwise
SuperLU through scipy does the same job without the memory. Either way a matrix equal to the last one is not factorised again:
a rerun of a linear plant costs one comparison.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .types import Floats, Integers

_FEW = 40  # unknowns up to which a full matrix is the quicker one


class SparseFactor:
    """LU of the matrices of one compressed-column pattern.

    >>> lu = SparseFactor(np.array([0, 1, 2], np.int32), np.array([0, 1], np.int32))
    >>> lu.factor(np.array([2.0, 4.0]))
    True
    >>> lu.solve(np.array([1.0, 1.0])).tolist()
    [0.5, 0.25]
    """

    def __init__(self, indptr: Integers, indices: Integers) -> None:
        self.size = len(indptr) - 1
        self.indptr = np.ascontiguousarray(indptr, np.int32)
        self.indices = np.ascontiguousarray(indices, np.int32)
        self.factorisations = 0
        self._klu = _native(self.size, self.indptr, self.indices)
        self._superlu: Any = None
        self._last: Floats | None = None
        self._regular = False

    @property
    def native(self) -> Any:
        """The native factorisation, for others to use too; who does, says so with `forget`."""
        return self._klu

    def forget(self) -> None:
        self._last = None

    def factor(self, data: Floats) -> bool:
        """True if the matrix is regular, as far as its pivots tell."""
        if self._last is not None and np.array_equal(data, self._last):
            return self._regular
        self._last = data
        self.factorisations += 1
        self._regular = self._klu.factor(data) if self._klu is not None else self._factor_superlu(data)
        return self._regular

    def _factor_superlu(self, data: Floats) -> bool:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        if self.size == 0:
            return True
        try:
            self._superlu = splu(csc_array((data, self.indices, self.indptr), shape=(self.size, self.size)))
        except RuntimeError:  # scipy's way to say "exactly singular"
            return False
        return True

    def solve(self, right: Floats) -> Floats:
        if self.size == 0:
            return right.copy()
        if self._klu is None:
            return np.asarray(self._superlu.solve(right))
        result = np.array(right, dtype=float)
        self._klu.solve(result)
        return result


def _native(size: int, indptr: Integers, indices: Integers) -> Any:
    try:
        from acausal._core import Klu
    except ImportError:
        return None
    return Klu(size, indptr, indices)


def damped_least_squares(
    indptr: Integers, indices: Integers, data: Floats, right: Floats, damping: float, free: np.ndarray[Any, np.dtype[np.bool_]]
) -> Floats:
    """The d that minimises |A d - right|² + damping |A|² |d|², with d = 0 where not `free` (Levenberg and Marquardt's step).

    It exists for a singular A, where Newton's does not, and of many solutions it is the nearest one.
    """
    size = len(indptr) - 1
    column = np.repeat(np.arange(size), np.diff(indptr))
    kept = np.where(free[column], data, 0.0)
    if size <= _FEW:
        return _densely(size, indices, column, kept, right, damping)
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    matrix = csc_array((kept, indices, indptr), shape=(size, size))
    normal = matrix.T @ matrix
    largest = normal.diagonal().max(initial=0.0) or 1.0
    try:
        factor = splu((normal + damping * largest * eye_array(size, format="csc")).tocsc())
    except RuntimeError:  # entries whose squares are no numbers any more: there is no step that says anything
        return np.zeros(size)
    return np.asarray(factor.solve(matrix.T @ right))


def _densely(size: int, row: Integers, column: Integers, entries: Floats, right: Floats, damping: float) -> Floats:
    """The same for a few unknowns: a search for a start takes thousands of such steps, and a sparse matrix costs more to make."""
    matrix = np.zeros((size, size))
    matrix[row, column] = entries
    with np.errstate(over="ignore", invalid="ignore"):
        normal, slope = matrix.T @ matrix, matrix.T @ right
    normal[np.diag_indices(size)] += damping * (normal.diagonal().max(initial=0.0) or 1.0)
    if not (np.isfinite(normal).all() and np.isfinite(slope).all()):
        return np.zeros(size)
    try:
        return np.asarray(np.linalg.solve(normal, slope))
    except np.linalg.LinAlgError:
        return np.zeros(size)
