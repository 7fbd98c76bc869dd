"""Points of a random study: numbers between 0 and 1, from which distributions make values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import NameNotFound, UsageError, near_matches

Correlation = Mapping[tuple[str, str], float] | Sequence[Sequence[float]]  # by pairs of names, or a matrix in their order

MOST_CASES = 10_000_000  # that are drawn


def shares(count: int, columns: int, method: str, seed: int, correlation: Any = None) -> np.ndarray:
    """Numbers between 0 and 1, (count, columns): plain random, a Latin hypercube, or a scrambled Sobol sequence.

    >>> shares(4, 2, "latin", seed=1).shape
    (4, 2)
    """
    from scipy.stats import qmc

    if count > MOST_CASES or seed < 0:
        raise UsageError(
            f"`count` is at most {MOST_CASES:g} cases and `seed` a whole number that is not negative; got {count!r} and {seed!r}."
        )
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


def correlation_matrix(given: Correlation, names: Sequence[str]) -> np.ndarray:
    """The matrix that correlations of pairs stand for; one that is given, as numbers.

    >>> correlation_matrix({("a", "c"): 0.5}, ["a", "b", "c"])[0].tolist()
    [1.0, 0.0, 0.5]
    """
    if not isinstance(given, Mapping):
        try:
            return np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise UsageError(f"`correlation` is numbers, got {given!r}.", remedy=_REMEDY) from None
    found = np.eye(len(names))
    for pair, value in given.items():
        a, b = _places(pair, names)
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not -1 < value < 1:
            raise UsageError(f"The correlation of `{pair[0]}` and `{pair[1]}` is a number between -1 and 1, got {value!r}.")
        again = given.get((pair[1], pair[0]), value)
        if again != value:
            raise UsageError(f"The correlation of `{pair[0]}` and `{pair[1]}` is said twice: {value!r} and {again!r}.")
        found[a, b] = found[b, a] = value
    return found


_REMEDY = '`correlation={("wall.G", "room.C"): 0.8}`, or a symmetric matrix over the parameters in their order.'


def _places(pair: Any, names: Sequence[str]) -> tuple[int, int]:
    if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
        raise UsageError(f"A correlation is that of two parameters, got {pair!r}.", remedy=_REMEDY)
    for name in pair:
        if name not in names:
            raise NameNotFound(f"`{name}` is correlated, but not drawn. {near_matches(str(name), list(names))}".rstrip())
    return names.index(pair[0]), names.index(pair[1])


def _correlated(independent: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """A Gaussian copula: rank correlation is imposed on normal numbers, shares are read back from those."""
    from scipy.special import ndtr, ndtri

    columns = independent.shape[1]
    if correlation.shape != (columns, columns) or not np.allclose(correlation, correlation.T):
        raise UsageError(f"`correlation` is a symmetric matrix of {columns} × {columns} numbers, got shape {correlation.shape}.")
    if not np.allclose(np.diag(correlation), 1.0):
        raise UsageError(
            "`correlation` has ones on its diagonal: every parameter goes with itself. "
            f"This one has {', '.join(f'{v:g}' for v in np.diag(correlation)[:4])}.",
            remedy="Divide covariances by the standard deviations of both parameters.",
        )
    try:
        factor = np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:
        raise UsageError("`correlation` is not the correlation of anything: it is not positive definite.") from None
    return np.asarray(ndtr(ndtri(independent) @ factor.T))
