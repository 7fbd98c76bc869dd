"""Points of a random study: numbers between 0 and 1, from which distributions make values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import UsageError


def shares(count: int, columns: int, method: str, seed: int, correlation: Sequence[Sequence[float]] | None = None) -> np.ndarray:
    """Numbers between 0 and 1, (count, columns): plain random, a Latin hypercube, or a scrambled Sobol sequence.

    >>> shares(4, 2, "latin", seed=1).shape
    (4, 2)
    """
    from scipy.stats import qmc

    if method == "random":
        found = np.random.default_rng(seed).random((count, columns))
    elif method == "latin":
        found = qmc.LatinHypercube(columns, seed=seed).random(count)
    elif method == "sobol":
        found = qmc.Sobol(columns, seed=seed).random_base2(max(0, int(np.ceil(np.log2(max(count, 1))))))[:count]
    else:
        raise UsageError(f'`method` is "random", "latin" or "sobol", got {method!r}.')
    found = np.clip(found, 1e-12, 1 - 1e-12)
    return found if correlation is None else _correlated(found, np.asarray(correlation, dtype=float))


def _correlated(independent: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """A Gaussian copula: rank correlation is imposed on normal numbers, shares are read back from those."""
    from scipy.special import ndtr, ndtri

    columns = independent.shape[1]
    if correlation.shape != (columns, columns) or not np.allclose(correlation, correlation.T):
        raise UsageError(f"`correlation` is a symmetric matrix of {columns} × {columns} numbers, got shape {correlation.shape}.")
    try:
        factor = np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:
        raise UsageError("`correlation` is not the correlation of anything: it is not positive definite.") from None
    return np.asarray(ndtr(ndtri(independent) @ factor.T))
