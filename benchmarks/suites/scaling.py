"""The RC ladder from ten to a hundred thousand sections: translation, simulation and peak memory apart.

Every measurement is a process of its own (peak memory has no other meaning), once with an empty cache of compiled code and
once with the cache that run left behind. `seconds` runs from the Python classes to the result, the import left out.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import ours

SIZES = [10, 100, 1_000, 9_000, 100_000]
LARGEST = 333_333  # a million unknowns; with arrays only
CASES = ("ladder", "ladder_objects")
EXACT = 0.27766133  # voltage of the first capacitor at 10 s, for n >= 100
SLOPE_RANGE = (1_000, 100_000)
LIMIT_SECONDS = 600.0
ROOT = Path(__file__).parents[2]


def run(sizes: list[int] | None = None) -> Iterator[dict[str, Any]]:
    """Two records (cold and warm cache) per case and size, then one with the slope of translation time for each case."""
    for case in CASES:
        chosen = sizes or ([*SIZES, LARGEST] if case == "ladder" else SIZES)
        cold: dict[int, float] = {}
        for n in chosen:
            with tempfile.TemporaryDirectory() as cache:
                for state in ("cold", "warm"):
                    record = _measure(case, n, state, cache)
                    if state == "cold" and "translation_seconds" in record:
                        cold[n] = record["translation_seconds"]
                    yield record
        yield from _slope(case, cold)


def _measure(case: str, n: int, state: str, cache: str) -> dict[str, Any]:
    record: dict[str, Any] = {"suite": "scaling", "case": case, "n": n, "cache": state, "seconds": None, "ratio": None}
    reason = ours.why_not()
    if reason is not None:
        return record | {"message": reason}
    command = [sys.executable, "-m", "benchmarks.suites.scaling", case, str(n)]
    environment = os.environ | {"ACAUSAL_CACHE": cache}
    try:
        outcome = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return record | {"message": f"not finished after {LIMIT_SECONDS:.0f} s"}
    if outcome.returncode != 0:
        last_line = (outcome.stderr.strip().splitlines() or ["no message"])[-1]
        return record | {"message": f"ended with exit code {outcome.returncode}: {last_line}"}
    record |= json.loads(outcome.stdout.splitlines()[-1])
    if n >= 100:
        record["error"] = abs(record["first"] - EXACT)
    return record


def _slope(case: str, translation: dict[int, float]) -> Iterator[dict[str, Any]]:
    """Exponent of translation time over n between the two ends of the range, where both were measured."""
    low, high = SLOPE_RANGE
    if low in translation and high in translation:
        slope = math.log(translation[high] / translation[low]) / math.log(high / low)
        yield {
            "suite": "scaling",
            "case": f"{case}, slope of translation",
            "n": high,
            "seconds": None,
            "ratio": None,
            "slope": slope,
        }


def _measure_here(case: str, n: int) -> dict[str, Any]:
    """The body of the child process."""
    import acausal  # noqa: F401  (imported first, so that its import counts for neither phase)

    model, translation = ours.compile_case(case, n)
    measured = ours.simulate(model, case)
    return {
        "seconds": translation + measured.call_seconds,
        "translation_seconds": translation,
        "simulation_seconds": measured.call_seconds,
        "integration_seconds": measured.seconds,
        "peak_bytes": _peak_bytes(),
        "steps": measured.steps,
        "first": measured.first,
    }


def _peak_bytes() -> int:
    """Peak resident memory of this process.

    Linux' own counter comes first, because `ru_maxrss` of a child starts at the size its parent had.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(_measure_here(sys.argv[1], int(sys.argv[2]))))
