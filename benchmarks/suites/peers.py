"""The heat chain in CasADi, scikit-sundae and rumoca, beside C and acausal, in the same run.

Peers use root-mean-square norms (or their own), so at the same tolerance their error grows with n while ours does not.
Each record therefore carries the error that was reached, and a peer that is less accurate than we are is run again at
tighter tolerances until it is not (case ``chain, same error``): both comparisons are of interest.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import compiled, ours

SIZES = [10, 100, 1_000, 10_000]
TOLERANCE = 1e-6
TIGHTER = (1e-7, 1e-8, 1e-9)
EXACT = 1e-10  # tolerance of the run that errors are measured against
LIMIT_SECONDS = 120.0
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Peer:
    name: str
    package: str
    module: str


PEERS = (
    Peer("CasADi", "casadi", "benchmarks.peers.chain_casadi"),
    Peer("scikit-sundae", "sksundae", "benchmarks.peers.chain_sundae"),
    Peer("rumoca", "rumoca", "benchmarks.peers.chain_rumoca"),
)


def run(sizes: list[int] | None = None) -> Iterator[dict[str, Any]]:
    """For each size: C, acausal, then every peer. `ratio` is the peer's seconds over ours (over C's where we are absent)."""
    for n in sizes or SIZES:
        reference = _c_record(n)
        yield reference
        own = _own_record(n)
        yield own
        basis = own if own.get("seconds") else reference
        for peer in PEERS:
            yield from _peer_records(peer, n, basis)


def _peer_records(peer: Peer, n: int, basis: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if importlib.util.find_spec(peer.package) is None:
        yield _record("chain", n, peer.name) | {"message": "not installed (pip install acausal[bench])"}
        return
    record = _run_peer(peer, n, TOLERANCE, "chain", basis)
    yield record
    wanted = basis.get("error")
    for tolerance in TIGHTER:
        if wanted is None or record.get("error") is None or record["error"] <= wanted:
            break
        record = _run_peer(peer, n, tolerance, "chain, same error", basis)
    if record["case"] != "chain":
        yield record


def _run_peer(peer: Peer, n: int, tolerance: float, case: str, basis: dict[str, Any]) -> dict[str, Any]:
    """One peer in its own process: what crashes or hangs there is recorded as its result."""
    record = _record(case, n, peer.name) | {"tolerance": tolerance}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "temperatures.npy"
        command = [sys.executable, "-m", peer.module, str(n), str(_repeats(n)), repr(tolerance), str(path)]
        try:
            outcome = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, cwd=ROOT, check=False)
        except subprocess.TimeoutExpired:
            return record | {"message": f"not finished after {LIMIT_SECONDS:.0f} s"}
        if outcome.returncode != 0:
            last_line = (outcome.stderr.strip().splitlines() or ["no message"])[-1]
            return record | {"message": f"ended with exit code {outcome.returncode}: {last_line}"}
        record |= json.loads(outcome.stdout.splitlines()[-1])
        record["error"] = _error(n, np.load(path))
    if basis.get("seconds"):
        record["ratio"] = record["seconds"] / basis["seconds"]
    return record


def _c_record(n: int) -> dict[str, Any]:
    record = _record("chain", n, "C")
    try:
        measured = compiled.run("chain", n, _repeats(n))
    except compiled.NoReference as missing:
        return record | {"message": str(missing)}
    record["error"] = _error(n, compiled.trajectory("chain", n, TOLERANCE)[:, :n])
    return record | {key: measured[key] for key in ("seconds", "median_seconds", "steps", "tolerance")}


def _own_record(n: int) -> dict[str, Any]:
    record = _record("chain", n, "acausal") | {"tolerance": TOLERANCE}
    reason = ours.why_not()
    if reason is not None:
        return record | {"message": reason}
    model, translation = ours.compile_case("chain", n)
    measurements = [ours.simulate(model, "chain", TOLERANCE) for _ in range(_repeats(n))]
    best = min(measurements, key=lambda measurement: measurement.seconds)
    error = _error(n, ours.chain_temperatures(best.result))
    return record | {
        "seconds": best.seconds,
        "translation_seconds": translation,
        "steps": best.steps,
        "error": error,
        "ratio": 1.0,
    }


def _error(n: int, temperatures: np.ndarray) -> float | None:
    """Largest error of any cell at any output point, in kelvin; None where there is no C program to give the exact values."""
    try:
        exact = _exact(n)
    except compiled.NoReference:
        return None
    return float(np.max(np.abs(temperatures - exact)))


@functools.lru_cache(maxsize=1)
def _exact(n: int) -> np.ndarray:
    return compiled.trajectory("chain", n, EXACT)[:, :n]


def _record(case: str, n: int, program: str) -> dict[str, Any]:
    return {"suite": "peers", "case": case, "n": n, "program": program, "seconds": None, "ratio": None, "error": None}


def _repeats(n: int) -> int:
    return 10 if n <= 100 else 3
