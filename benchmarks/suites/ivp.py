"""Digits reached against time on problems with published end values (Test Set for IVP Solvers)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import ours
from benchmarks.ivp.problems import PROBLEMS, Problem

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
REPEATS = 3


def run(sizes: list[int] | None = None) -> Iterator[dict[str, Any]]:
    """One record per problem and relative tolerance. `sizes` is there for the common signature; these problems have one size."""
    reason = ours.why_not()
    for problem in PROBLEMS:
        for rtol in TOLERANCES:
            record = {"suite": "ivp", "case": problem.name, "n": len(problem.start), "rtol": rtol, "seconds": None, "ratio": None}
            yield record | ({"message": reason} if reason is not None else _solve(problem, rtol))


def _solve(problem: Problem, rtol: float) -> dict[str, Any]:
    """Seconds and digits, or the first line of the message where acausal gives up: the other problems are still of interest."""
    from acausal import AcausalError

    try:
        runs = [ours.solve_plain(problem, rtol) for _ in range(REPEATS)]
    except AcausalError as failure:
        return {"message": str(failure).splitlines()[0]}
    return {"seconds": min(seconds for _, seconds in runs), "digits": problem.digits(runs[0][0])}
