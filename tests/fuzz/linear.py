"""Linear DAEs of index 0 to 4 with known solutions: Weierstrass form behind random transformations.

P (E z' + A z) = P g(t), x = Q z, with E = diag(I, N), A = diag(-J, I), N nilpotent. Then z1' = J z1 + g1, and
z2 = Σ (-1)^k N^k g2^(k). g is sinusoidal, so that everything has a closed form. The numbers are integers (P and Q unimodular) or
anything, and stand in the equations as literals, as parameters, or as products of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import block_diag, expm

import acausal as ac

FORMS = ("literals", "arrays", "scalars")
UNTIL = 1.0


class Literals(ac.Component):
    """One equation for each row, over elements of one array."""

    def __init__(self, E: np.ndarray, A: np.ndarray, S: np.ndarray, C: np.ndarray, w: float, x0: np.ndarray) -> None:
        self.E, self.A, self.S, self.C, self.w, n = E, A, S, C, w, len(E)
        self.x = ac.Variable(shape=n, start=x0)

    def equations(self) -> Any:
        n = len(self.E)
        for i in range(n):
            left = sum(float(self.E[i, j]) * ac.der(self.x[j]) for j in range(n) if self.E[i, j])
            left = left + sum(float(self.A[i, j]) * self.x[j] for j in range(n) if self.A[i, j])
            yield left == float(self.S[i]) * ac.sin(self.w * ac.time) + float(self.C[i]) * ac.cos(self.w * ac.time)


class Arrays(Literals):
    def equations(self) -> Any:
        source = self.S * ac.sin(self.w * ac.time) + self.C * ac.cos(self.w * ac.time)
        yield ac.dot(self.E, ac.der(self.x)) + ac.dot(self.A, self.x) == source


class Scalars(ac.Component):
    """Every unknown by itself, derivatives as unknowns of their own."""

    def __init__(self, E: np.ndarray, A: np.ndarray, S: np.ndarray, C: np.ndarray, w: float, x0: np.ndarray) -> None:
        self.E, self.A, self.S, self.C, self.w = E, A, S, C, w
        for j in range(len(E)):
            setattr(self, f"x{j}", ac.Variable(start=float(x0[j])))
            setattr(self, f"d{j}", ac.Variable())

    def equations(self) -> Any:
        n = len(self.E)
        x, d = [getattr(self, f"x{j}") for j in range(n)], [getattr(self, f"d{j}") for j in range(n)]
        for j in range(n):
            yield ac.der(x[j]) == d[j]
        for i in range(n):
            left = sum(float(self.E[i, j]) * d[j] + float(self.A[i, j]) * x[j] for j in range(n))
            yield left == float(self.S[i]) * ac.sin(self.w * ac.time) + float(self.C[i]) * ac.cos(self.w * ac.time)


class Case:
    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.index = int(rng.integers(0, 5))
        finite = int(rng.integers(1 if self.index == 0 else 0, 4))
        sizes = [] if self.index == 0 else [self.index, *rng.integers(1, self.index + 1, int(rng.integers(0, 2))).tolist()]
        nilpotent = [np.eye(s, k=1) for s in sizes]
        self.J = rng.uniform(-1.0, 1.0, (finite, finite)) - 1.0 * np.eye(finite)
        self.N = block_diag(*nilpotent) if sizes else np.zeros((0, 0))
        m, n = len(self.N), finite + len(self.N)
        self.finite, self.w = finite, float(np.round(rng.uniform(0.5, 2.0), 2))
        whole = bool(rng.integers(2))
        P, self.Q = _transformation(rng, n, whole), _transformation(rng, n, whole)
        if whole:
            self.J = np.round(2 * self.J) / 2
        self.s, self.c = (np.round(rng.uniform(-1, 1, n), 2) for _ in range(2))
        inverse = np.round(np.linalg.inv(self.Q)) if whole else np.linalg.inv(self.Q)
        E = P @ block_diag(np.eye(finite), self.N) @ inverse
        A = P @ block_diag(-self.J, np.eye(m)) @ inverse
        self.z0 = rng.uniform(-1, 1, finite)
        self.arguments = (E, A, P @ self.s, P @ self.c, self.w, self.exact(np.zeros(1))[:, 0])
        self.runs = True

    def __repr__(self) -> str:
        return f"index {self.index}, {self.finite} states, {len(self.Q)} unknowns"

    def exact(self, times: np.ndarray) -> np.ndarray:
        """x at times, one column each, from phasors: g = Im((s + i c) e^{iwt})."""
        f, w = self.finite, self.w
        phasor = self.s + 1j * self.c
        turning = np.exp(1j * w * times)
        particular = np.linalg.solve(1j * w * np.eye(f) - self.J, phasor[:f]) if f else np.zeros(0)
        z1 = (particular[:, None] * turning).imag
        if f:
            z1 = z1 + np.array([expm(self.J * t) @ (self.z0 - particular.imag) for t in times]).T
        term, z2 = phasor[f:], np.zeros((len(self.N), len(times)))
        for _ in range(max(self.index, 1)):
            z2 = z2 + (term[:, None] * turning).imag
            term = -1j * w * (self.N @ term)
        return self.Q @ np.vstack([z1, z2])

    def build(self, form: str) -> ac.Component:
        return {"literals": Literals, "arrays": Arrays, "scalars": Scalars}[form](*self.arguments)

    def options(self) -> dict[str, Any]:
        return {"until": UNTIL, "rtol": 1e-8, "points": 21}

    def check(self, results: dict[str, Any]) -> None:
        for form, result in results.items():
            assert result.outcome.ok, f"{form}: {result.outcome.name}"
            each = [result[f"x{j}"] for j in range(len(self.Q))] if form == "scalars" else np.moveaxis(result["x"], 0, 1)
            found = np.array(each)
            exact = self.exact(result.time)
            wrong = float(np.abs(found - exact).max()) / max(1.0, float(np.abs(exact).max()))
            assert wrong < 1e-4, f"{form}: wrong by {wrong:.1e}"


def _transformation(rng: np.random.Generator, n: int, whole: bool) -> np.ndarray:
    """Well conditioned; of integers with determinant ±1, or anything."""
    if not whole:
        turn, _ = np.linalg.qr(rng.normal(size=(n, n)))
        return turn * rng.uniform(0.7, 1.4, n)
    lower = np.tril(rng.integers(-1, 2, (n, n)), -1) * (rng.random((n, n)) < 0.5) + np.eye(n)
    upper = np.triu(rng.integers(-1, 2, (n, n)), 1) * (rng.random((n, n)) < 0.5) + np.eye(n)
    return (lower @ upper)[rng.permutation(n)]


def generate(seed: int) -> Case:
    return Case(seed)
