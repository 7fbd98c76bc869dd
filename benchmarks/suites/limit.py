"""Our simulation time over that of a C program on the same SUNDIALS, KLU, norms, tolerances and output times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import compiled, ours

SIZES = [10, 100, 1_000, 10_000]
CASES = ("chain", "ladder")
ROUNDS = 5


def run(sizes: list[int] | None = None) -> Iterator[dict[str, Any]]:
    """One record per case and size.

    `ratio` is against the C program on the vector operations of the installed SUNDIALS, `ratio_tuned` against the same
    program with vector operations compiled beside it (see ``c/vectors.h``): the stricter of the two.
    """
    for case in CASES:
        for n in sizes or SIZES:
            yield _compare(case, n)


def repeats_for(n: int) -> int:
    """Enough repeats in each round that the shortest runs are not decided by one interruption."""
    return max(1, min(20, 2_000 // n))


def _compare(case: str, n: int) -> dict[str, Any]:
    record: dict[str, Any] = {"suite": "limit", "case": case, "n": n, "seconds": None, "ratio": None}
    reason = ours.why_not()
    if reason is not None:
        record["message"] = reason
    model = ours.compile_case(case, n)[0] if reason is None else None
    try:
        compiled.build(case)
    except compiled.NoReference as missing:
        return record | {"message": str(missing)}

    # The sides take turns, so that a machine that slows down for a while slows both.
    plain, tuned, measurements = [], [], []
    for _ in range(ROUNDS):
        plain.append(compiled.run(case, n, repeats_for(n)))
        tuned.append(compiled.run(case, n, repeats_for(n), vectors="tuned"))
        if model is not None:
            measurements += [ours.simulate(model, case) for _ in range(repeats_for(n))]
    return record | _describe(plain, tuned, measurements)


def _describe(plain: list[dict[str, Any]], tuned: list[dict[str, Any]], measurements: list[ours.Measurement]) -> dict[str, Any]:
    c_seconds = min(entry["seconds"] for entry in plain)
    c_tuned_seconds = min(entry["seconds"] for entry in tuned)
    described = {
        "c_seconds": c_seconds,
        "c_tuned_seconds": c_tuned_seconds,
        "c_steps": plain[0]["steps"],
        "c_first": plain[0]["first"],
        "c_last": plain[0]["last"],
    }
    if measurements:
        best = min(measurements, key=lambda measurement: measurement.seconds)
        described |= {
            "seconds": best.seconds,
            "call_seconds": min(measurement.call_seconds for measurement in measurements),
            "ratio": best.seconds / c_seconds,
            "ratio_tuned": best.seconds / c_tuned_seconds,
            "steps": best.steps,
            "first": best.first,
            "last": best.last,
        }
    return described
