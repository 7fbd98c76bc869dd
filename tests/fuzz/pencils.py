"""Linear descriptor systems E x' + A x = 0 solved without time steps, by an ordered generalised Schur form: the second opinion."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm, ordqz

_FINITE = 1e-7  # of the largest entries: below this a pencil's eigenvalue is at infinity


def is_regular(E: np.ndarray, A: np.ndarray) -> bool:
    """Whether det(s E + A) is not zero for all s; clearly so or clearly not, else a ValueError."""
    rng = np.random.default_rng(1)
    ratios = []
    for s in rng.uniform(0.3, 2.0, 4) * np.exp(1j * rng.uniform(0, 2 * np.pi, 4)):
        values = np.linalg.svd(s * E + A, compute_uv=False)
        ratios.append(values[-1] / values[0])
    if 1e-13 < max(ratios) < 1e-8:
        raise ValueError("neither clearly regular nor clearly singular")
    return max(ratios) > 1e-8


class Pencil:
    """All solutions of E x' + A x = 0: x(t) = Z exp(M t) w. They start in the columns of Z and stay there."""

    def __init__(self, E: np.ndarray, A: np.ndarray) -> None:
        def finite(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
            return np.abs(beta) > _FINITE * (np.abs(alpha) + np.abs(beta))

        S, T, alpha, beta, _, Z = ordqz(-A, E, sort=finite, output="complex")
        size = np.abs(beta) / (np.abs(alpha) + np.abs(beta))
        if ((size > 1e-11) & (size < 1e-4)).any():
            raise ValueError("eigenvalues neither clearly finite nor clearly infinite")
        self.count = int((size > _FINITE).sum())
        k = self.count
        self.basis = Z[:, :k]
        self.matrix = np.linalg.solve(T[:k, :k], S[:k, :k]) if k else np.zeros((0, 0))

    def distance(self, x: np.ndarray) -> float:
        """How far x is from a consistent one."""
        return float(np.abs(x - self.basis @ (self.basis.conj().T @ x)).max(initial=0.0))

    def solution(self, x0: np.ndarray, times: np.ndarray) -> np.ndarray:
        """x at equidistant times, one column each."""
        w = self.basis.conj().T @ x0
        step = _exponential(self.matrix * (times[1] - times[0]))
        columns = []
        for _ in times:
            columns.append((self.basis @ w).real)
            w = step @ w
        return np.array(columns).T

    def amplified(self, states: np.ndarray, weights: np.ndarray, shown: slice, times: np.ndarray) -> float:
        """The most that `shown` can become after `states`, which decide all others, were moved by their weights at most."""
        into = np.linalg.pinv(self.basis[states])
        step = _exponential(self.matrix * (times[1] - times[0]))
        largest = 0.0
        for _ in times:
            largest = max(largest, float((np.abs((self.basis[shown] @ into).real) @ weights).max()))
            into = step @ into
        return largest


def _exponential(matrix: np.ndarray) -> np.ndarray:
    """By way of a turned basis: for triangular matrices, scipy takes a short cut that is wrong by percents for some (1.17.1)."""
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=matrix.shape))
    return np.asarray(turn.T @ expm(turn @ matrix @ turn.T) @ turn)
