"""Splines over a grid of which a corner is missing: what an equation of state does not give, the rest must not feel."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from scipy.ndimage import binary_dilation
from scipy.sparse.linalg import splu

from .splines import Axis

# Order of differences and weight. Next to what is known a spline goes on as it does there, as if it had no end: to the sixth order.
# Further away, where that would run wild, it goes on straight.
_SMOOTH = ((6, 1.0), (2, 1e-5))
_STRAIGHT = ((4, 0.1), (2, 1.0))
_NEXT = 2  # points


def fit_what_is_known(first: Axis, second: Axis, values: np.ndarray) -> np.ndarray:
    """Coefficients [x][y][field] of splines through all values over the grid that are numbers, and least bent elsewhere.

    A field of which nothing is known has no coefficients either.

    >>> x, y = Axis(np.linspace(0.0, 1.0, 9)), Axis(np.linspace(0.0, 1.0, 8))
    >>> plane = np.add.outer(x.points, 2.0 * y.points)[..., None]
    >>> whole = fit_what_is_known(x, y, plane)
    >>> plane[0, 5:] = np.nan
    >>> bool(np.allclose(fit_what_is_known(x, y, plane), whole, atol=1e-9))
    True
    """
    found = np.full(values.shape, np.nan)
    known = np.isfinite(values).reshape(-1, values.shape[-1])
    for mask in np.unique(known, axis=1).T:
        fields = np.flatnonzero((known == mask[:, None]).all(axis=0))
        if mask.all():
            found[..., fields] = second.fit(first.fit(values[..., fields]), 1)
        elif mask.any():
            found[..., fields] = _least_bent(first, second, values[..., fields], mask)
    return found


def _least_bent(first: Axis, second: Axis, values: np.ndarray, known: np.ndarray) -> np.ndarray:
    nx, ny, fields = values.shape
    basis = sparse.kron(first.basis_at(first.points), second.basis_at(second.points)).tocsr()
    flat = values.reshape(nx * ny, fields).copy()
    scale = np.max(np.abs(flat[known]), axis=0)
    flat /= scale
    near = binary_dilation(known.reshape(nx, ny), iterations=_NEXT).ravel() & ~known
    flat[near] = basis[near] @ _constrained(basis[known], _bending(nx, ny, _SMOOTH), flat[known])
    known = known | near
    found = _constrained(basis[known], _bending(nx, ny, _STRAIGHT), flat[known])
    return np.asarray((found * scale).reshape(nx, ny, fields))


def _constrained(basis: sparse.csr_matrix, bending: sparse.csr_matrix, values: np.ndarray) -> np.ndarray:
    """Coefficients of the splines through the values that are least bent."""
    count = basis.shape[1]
    system = sparse.bmat([[bending.T @ bending, basis.T], [basis, None]]).tocsc()
    right = np.concatenate([np.zeros((count, values.shape[1])), values])
    solver = splu(system)
    found = solver.solve(right)
    found += solver.solve(right - system @ found)
    return np.asarray(found[:count])


def _bending(nx: int, ny: int, weighted: tuple[tuple[int, float], ...]) -> sparse.csr_matrix:
    along_x = [w * sparse.kron(_differences(nx, n), sparse.identity(ny)) for n, w in weighted]
    along_y = [w * sparse.kron(sparse.identity(nx), _differences(ny, n)) for n, w in weighted]
    return sparse.vstack([*along_x, *along_y]).tocsr()


def _differences(n: int, order: int) -> sparse.spmatrix:
    return sparse.diags(np.poly(np.ones(order)).tolist(), list(range(order + 1)), shape=(n - order, n))
