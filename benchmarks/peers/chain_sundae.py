"""The heat chain in scikit-sundae: IDA with Python callbacks, residuals vectorised with numpy.

Configured for speed: unknowns ordered q_1 T_1 q_2 T_2 ... so that the Jacobian is tridiagonal, and its banded linear solver
with the built-in banded differences, which costs three residuals per Jacobian. (Measured slower: the sparse solver with an
exact Jacobian, 4 to 8 times; a Jacobian of one's own with the banded solver needs a full n x n array.) The package has no
option to leave algebraic variables out of the error test, and its norms are root-mean-square ones.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import sksundae

from benchmarks.peers import INLET_FLOW, POINTS, START, answer, timed


def residual_of(n: int) -> Any:
    hot = np.empty(n)

    def residual(t: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> None:
        q, T = y[0::2], y[1::2]
        hot[0] = 300.0 + 50.0 * np.sin(0.1 * t)
        hot[1:] = T[:-1]
        out[1::2] = 100.0 * yp[1::2] - q[:-1] + q[1:]
        out[0:-1:2] = q[:-1] - 10.0 * (1.0 + 0.001 * hot) * (hot - T)
        u = T[-1] - START
        out[-1] = q[-1] - 0.1 * u * np.sqrt(1.0 + abs(u))

    return residual


def solve(n: int, repeats: int, tolerance: float) -> tuple[np.ndarray, dict[str, Any]]:
    size = 2 * n + 1
    y0, yp0 = np.zeros(size), np.zeros(size)
    y0[1::2] = START
    y0[0] = INLET_FLOW
    yp0[1] = INLET_FLOW / 100.0

    def simulate() -> np.ndarray:
        solver = sksundae.ida.IDA(
            residual_of(n),
            rtol=tolerance,
            atol=tolerance,
            algebraic_idx=np.arange(0, size, 2),
            linsolver="band",
            lband=1,
            uband=1,
            max_num_steps=1_000_000,
        )
        solution = solver.solve(POINTS, y0, yp0)
        if not solution.success:
            raise RuntimeError(solution.message)
        return np.asarray(solution.y[:, 1::2])

    temperatures, record = timed(simulate, repeats)
    return temperatures, record | {"translation_seconds": 0.0, "version": version("scikit-sundae")}


if __name__ == "__main__":
    answer(solve)
