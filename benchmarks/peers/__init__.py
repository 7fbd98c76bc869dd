"""The heat chain in other programs, each in a process of its own.

Every module is run as ``python -m benchmarks.peers.MODULE N REPEATS TOLERANCE FILE``: it prints one line of JSON and stores
the cells' temperatures at the output points in FILE (numpy, one row per point), from which the suite takes the error.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")

END = 1000.0
POINTS = np.linspace(0.0, END, 100)
START = 290.0
PATIENCE = 20.0  # seconds after which a run is not repeated
INLET_FLOW = 10.0 * (1.0 + 0.001 * 300.0) * (300.0 - START)  # q_1(0), which makes the start consistent


def timed(simulate: Callable[[], Result], repeats: int) -> tuple[Result, dict[str, Any]]:
    """The result of the last of some runs, and best and median seconds. Slow programs are repeated less often."""
    seconds: list[float] = []
    while len(seconds) < repeats and sum(seconds) < PATIENCE:
        begin = time.perf_counter()
        result = simulate()
        seconds.append(time.perf_counter() - begin)
    return result, {"seconds": min(seconds), "median_seconds": statistics.median(seconds), "repeats": len(seconds)}


def answer(solve: Callable[[int, int, float], tuple[np.ndarray, dict[str, Any]]]) -> None:
    """The main program of a peer: read the arguments, solve, store the temperatures, print the record."""
    n, repeats, tolerance, path = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])
    temperatures, record = solve(n, repeats, tolerance)
    np.save(path, temperatures)
    print(json.dumps(record))
