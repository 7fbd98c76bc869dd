"""The same problems with a second solver (scikit-sundae's IDA), which shows that the statements and end values belong together.

Run as ``python -m benchmarks.ivp.independent``: prints the digits reached at each tolerance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.ivp.problems import PROBLEMS, Problem

TOLERANCES = (1e-5, 1e-7)


def digits(problem: Problem, rtol: float) -> float:
    """mescd reached by scikit-sundae with a difference Jacobian."""
    import sksundae

    def residual(t: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> None:
        out[:] = problem.evaluate(float(t), yp.tolist(), y.tolist())

    options: dict[str, Any] = {"rtol": rtol, "atol": rtol * np.array(problem.nominal), "max_num_steps": 10_000_000}
    algebraic = np.flatnonzero(~np.array(problem.differential))
    if algebraic.size:
        options["algebraic_idx"] = algebraic
    solution = sksundae.ida.IDA(residual, **options).solve([0.0, problem.end], problem.start, problem.start_derivative)
    if not solution.success:
        raise RuntimeError(f"{problem.name}: {solution.message}")
    return problem.digits(solution.y[-1])


if __name__ == "__main__":
    for each in PROBLEMS:
        print(each.name, *(f"rtol {rtol:g}: {digits(each, rtol):.1f} digits" for rtol in TOLERANCES), sep="\n  ")
