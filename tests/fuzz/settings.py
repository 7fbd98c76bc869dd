"""Parameters that change the structure: what vanishes with `set=` is as if it had never been written, or it is refused.

Linear equations between states, their derivatives and algebraic unknowns, in which every coefficient is a parameter. Some of them
are set to zero after the translation: loops fall apart, states become algebraic, equations lose the unknown that they were to
determine. The exact solution of the equations that are left is the second opinion; where they have none with these states, the
model is refused, or what it gives is the same at every tolerance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm

import acausal as ac

UNTIL, RTOL = 1.0, 1e-8
FEW = 30.0  # tolerances, enlarged as the equations do it: runs stay within seven, and half of them within one


class Solution(NamedTuple):
    """End values, and what a tolerance may have become in them: an error of the states on the way grows as the solution does from
    there, and the other unknowns follow."""

    end: np.ndarray
    tolerance: float


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    rng = np.random.default_rng(seed)
    states, others = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n = states + others
    mass = np.where(rng.random((states, states)) < 0.2, np.round(rng.uniform(-0.4, 0.4, (states, states)), 2), 0.0) + np.eye(states)
    matrix = np.where(rng.random((n, n)) < 0.6, np.round(rng.uniform(-1.0, 1.0, (n, n)), 2), 0.0)
    matrix[states:, states:] += 2.0 * np.eye(others)
    source, start = np.round(rng.uniform(-1.0, 1.0, (2, n)), 2)
    gone_mass, gone = np.where(rng.random(mass.shape) < 0.15, 0.0, mass), np.where(rng.random((n, n)) < 0.3, 0.0, matrix)
    model = ac.compile(_component(mass, matrix, source, start[:states]))
    zeros = {f"m{i}_{j}": 0.0 for i, j in zip(*np.nonzero(mass != gone_mass), strict=True)}
    zeros |= {f"a{i}_{j}": 0.0 for i, j in zip(*np.nonzero(matrix != gone), strict=True)}
    exact = _exact(gone_mass, gone, source, start[:states])
    try:
        result = model.simulate(until=UNTIL, set=zeros, rtol=RTOL, points=3)
    except ac.ModelError as error:
        return "run" if exact is None else f"refused, though regular, {zeros}: {error}"
    found = np.array([float(result[f"x{k}"][-1]) for k in range(n)])
    if exact is None:
        for looser in (1e-5, 1e-6):  # what grows by e^300 is the same only for the second of these
            again = model.simulate(until=UNTIL, set=zeros, rtol=looser, points=3)
            if np.allclose(found, [float(again[f"x{k}"][-1]) for k in range(n)], atol=1e-3 * (1.0 + np.abs(found).max())):
                return "run"
        return f"runs, though nothing determines it, {zeros}"
    error = np.abs(found - exact.end).max()
    return "run" if error < FEW * exact.tolerance else f"ends at {found}, wanted {exact.end}, {zeros}"


def _component(mass: np.ndarray, matrix: np.ndarray, source: np.ndarray, start: np.ndarray) -> ac.Component:
    states, n = len(mass), len(matrix)

    def equations(self: Any) -> Any:
        x = [getattr(self, f"x{k}") for k in range(n)]
        for i in range(n):
            left: Any = sum(getattr(self, f"a{i}_{j}") * x[j] for j in range(n) if matrix[i, j])
            if i < states:
                left = left + sum(getattr(self, f"m{i}_{j}") * ac.der(x[j]) for j in range(states) if mass[i, j])
            yield left == float(source[i])

    space: dict[str, Any] = {f"x{k}": ac.Variable(start=float(start[k]) if k < states else 0.0) for k in range(n)}
    space |= {f"m{i}_{j}": ac.Parameter(float(mass[i, j])) for i in range(states) for j in range(states) if mass[i, j]}
    space |= {f"a{i}_{j}": ac.Parameter(float(matrix[i, j])) for i in range(n) for j in range(n) if matrix[i, j]}
    return type("Drawn", (ac.Component,), {**space, "equations": equations})()


def _exact(mass: np.ndarray, matrix: np.ndarray, source: np.ndarray, start: np.ndarray) -> Solution | None:
    """Where the states keep their starts and the rest follows; None where that is not so."""
    states = len(mass)
    a, b, c, d = matrix[:states, :states], matrix[:states, states:], matrix[states:, :states], matrix[states:, states:]
    if min(np.linalg.svd(d, compute_uv=False).min(), np.linalg.svd(mass, compute_uv=False).min()) < 1e-3:
        return None
    inner = np.linalg.solve(d, np.column_stack([c, source[states:]]))
    flow = -np.linalg.solve(mass, a - b @ inner[:, :-1])
    rate = np.linalg.solve(mass, source[:states] - b @ inner[:, -1])
    whole = np.zeros((states + 1, states + 1))
    whole[:-1, :-1], whole[:-1, -1] = flow, rate
    moments = np.linspace(0.0, UNTIL, 21)
    courses = [(expm(t * whole) @ np.append(start, 1.0))[:-1] for t in moments]
    follows = np.vstack([np.eye(states), -inner[:, :-1]])
    enlarged = max(np.abs(follows @ expm(t * flow)).sum(axis=1).max() for t in moments)
    x, size = courses[-1], max(1.0, *(float(np.abs(x).max()) for x in courses))
    return Solution(np.append(x, inner[:, -1] - inner[:, :-1] @ x), RTOL * float(enlarged) * size)
