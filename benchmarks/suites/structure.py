"""Index reduction and structural analysis: problems in their raw form, pendulums, Modelica examples, 10^6 equations.

Each record has what was reached and, as `bar`, what is asked for; `ratio` is the one over the other where a number is to stay below
a bar. Structural analysis of large models is measured in processes of their own, as peak memory has no other meaning.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ours

TOLERANCES = (1e-5, 1e-7, 1e-9)
SIZES = [10_000, 100_000, 1_000_000]  # equations of the index-1 model
PENDULUMS = (10, 100, 1_000)
REVOLUTIONS = 1_000
ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 600.0
Record = dict[str, Any]


def run(sizes: list[int] | None = None) -> Iterator[Record]:
    """`sizes`: numbers of equations of the index-1 model; with it only that part is run."""
    reason = ours.why_not()
    if reason is not None:
        yield _record("structure", 0) | {"message": reason}
        return
    if sizes is None:
        for part in (_raw_problems, _pendulum, _pendulum_arrays, _modelica_examples, _thesis):
            yield from _guarded(part)
    yield from _large_models(sizes or SIZES)


def _record(case: str, n: int, seconds: float | None = None, ratio: float | None = None) -> Record:
    return {"suite": "structure", "case": case, "n": n, "seconds": seconds, "ratio": ratio}


def _guarded(part: Callable[[], Iterator[Record]]) -> Iterator[Record]:
    """The first line of the message where acausal gives up: the other parts are still of interest."""
    from acausal import AcausalError

    try:
        yield from part()
    except AcausalError as failure:
        yield _record(part.__name__.strip("_").replace("_", " "), 0) | {"message": str(failure).splitlines()[0]}


def _states(model: Any) -> int:
    return int(model.problem.differential.sum())


# --- problems with published end values ---------------------------------------------------------------------------------


def _raw_problems() -> Iterator[Record]:
    from acausal import compile
    from benchmarks.structure.andrews import andrews
    from benchmarks.structure.car_axis import car_axis
    from benchmarks.structure.water_tube import water_tube

    for problem in (car_axis, andrews, water_tube):
        model = compile(problem.component())
        for rtol in TOLERANCES:
            result = model.simulate(until=problem.end, points=2, rtol=rtol)
            record = _record(problem.name, len(problem.states) + len(problem.others), result.statistics.seconds["integration"])
            record |= {"rtol": rtol, "index": problem.index, "states": _states(model), "steps": result.statistics.steps}
            if result.outcome.name == "FINISHED":
                yield record | {"digits": problem.digits(result), "bar": 4.0 if rtol == 1e-7 else None}
            else:
                yield record | {"message": result.outcome.value}


# --- pendulums ----------------------------------------------------------------------------------------------------------


def _pendulum() -> Iterator[Record]:
    """Energy drift against that of the same pendulum in its angle; the rod's length at all output points."""
    from acausal import compile
    from benchmarks.structure.pendulum import AnglePendulum, Pendulum, drift, period

    results = []
    for component in (AnglePendulum(), Pendulum()):
        results.append(compile(component).simulate(until=REVOLUTIONS * period(), rtol=1e-8, points=20 * REVOLUTIONS + 1))
    angle, cartesian = results
    record = _record("pendulum, energy drift", 5, cartesian.statistics.seconds["integration"])
    if cartesian.outcome.name != "FINISHED":
        yield record | {"message": cartesian.outcome.value}
        return
    drifts = [drift(result["energy"]) for result in results]
    record |= {"ratio": drifts[1] / drifts[0], "bar": 2.0, "drift": drifts[1], "drift_of_angle": drifts[0]}
    statistics = cartesian.statistics
    yield record | {"steps": statistics.steps, "steps_of_angle": angle.statistics.steps, "exchanges": statistics.state_exchanges}
    length = float(np.abs(np.asarray(cartesian["x"]) ** 2 + np.asarray(cartesian["y"]) ** 2 - 1).max())
    yield _record("pendulum, constraint", 5, ratio=length / 1e-8) | {"reached": length, "bar": 1e-8}


def _pendulum_arrays() -> Iterator[Record]:
    """Seconds of what index reduction adds to a translation: Pantelides, differentiated families, selection of states."""
    from acausal import compile
    from acausal.families.statistics import statistics
    from benchmarks.structure.pendulum import Pendulums

    compile(Pendulums(2))  # so that nothing is compiled in what is measured
    for n in PENDULUMS:
        model = compile(Pendulums(n))
        begin = time.perf_counter()
        model._preparation.selected(0.0, model._parameters.known({}))
        seconds = model.seconds["structure"] + time.perf_counter() - begin
        bar = 2.0 if n == 1_000 else None
        record = _record("pendulums, index reduction", n, seconds, seconds / bar if bar else None)
        yield record | {"bar": bar, "kernels": statistics(model).kernels, "states": _states(model)}


# --- trajectories and closed forms ------------------------------------------------------------------------------------------


def _modelica_examples() -> Iterator[Record]:
    from acausal import compile
    from benchmarks.structure.msl import FOLDER, CauerLowPass, First, trajectories, worst_deviation

    for name, component, start, states in (("First", First(), 0.0, 4), ("CauerLowPassAnalog", CauerLowPass(), 1.0, 5)):
        model = compile(component)
        record = _record(name, model.system.size) | {"states": _states(model), "states_of_dymola": states}
        if not FOLDER.is_dir():
            yield record | {"message": "the published trajectories are not beside the project"}
            continue
        published = trajectories(name)
        times = published["time"]
        picked = np.flatnonzero((times >= start) & np.append(np.diff(times) > 0, True))
        result = model.simulate(start=start, until=float(times[-1]), at=times[picked])
        worst = worst_deviation(result, picked, published)
        yield record | {"seconds": result.statistics.seconds["integration"], "ratio": worst / 2e-3, "reached": worst, "bar": 2e-3}


def _thesis() -> Iterator[Record]:
    """Largest relative error of rates and trajectories that have a closed form."""
    from acausal import compile
    from benchmarks.structure import thesis

    result = compile(thesis.TwoCapacitors()).simulate(until=10.0, rtol=1e-8)
    yield _closed("circuit, R2 = 0", result, result["C2.v"], 1 - np.exp(-result.time / 3))
    result = compile(thesis.TwoCapacitors(500.0)).simulate(until=10.0, rtol=1e-8)
    fast, slow = thesis.circuit_poles(500.0)
    exact = 1 + (slow * np.exp(fast * result.time) - fast * np.exp(slow * result.time)) / (fast - slow)
    yield _closed("circuit, R2 = 500", result, result["C2.v"], exact)
    result = compile(thesis.GasSpring()).simulate(until=0.5, rtol=1e-8)
    yield _closed("gas spring, energy", result, result["energy"], result["energy"][0])
    result = compile(thesis.Basins(10)).simulate(until=5e4, rtol=1e-8)
    xs, rho, v = (np.asarray(result[f"basin.{name}"]) for name in ("xs", "rho", "v"))
    by_hand = thesis.basin_outflow(xs[:, 1:], rho[:, 1:], xs[:, :-1], rho[:, :-1], v[:, :-1])
    yield _closed("salt basins, outflow", result, v[:, 1:], by_hand)
    result = compile(thesis.Superheater()).simulate(until=20.0, rtol=1e-8)
    rates = thesis.superheater_rates(*(np.asarray(result[name]) for name in ("p", "h", "mass_rate", "energy_rate")))
    yield _closed("superheater, dp/dt", result, result["der(p)"], rates[0])


def _closed(case: str, result: Any, actual: Any, exact: Any) -> Record:
    error = float(np.abs(np.asarray(actual) - exact).max() / np.abs(exact).max())
    return _record(case, result._system.size, result.statistics.seconds["integration"]) | {"reached": error}


# --- structural analysis of large models ------------------------------------------------------------------------------------


def _large_models(sizes: list[int]) -> Iterator[Record]:
    """The RC ladder, three equations a section: alias reduction, pattern, matching, index; and the slopes over size."""
    measured: dict[int, Record] = {}
    for n in sizes:
        record = _in_process(n)
        if record["seconds"] is not None:
            measured[n] = record
        yield record
    if len(measured) > 1:
        low, high = sorted(measured)[-2:]
        for what in ("seconds", "bytes"):
            slope = math.log(measured[high][what] / max(measured[low][what], 1e-9)) / math.log(high / low)
            yield _record(f"index-1 ladder, slope of {what}", high) | {"slope": slope}


def _in_process(n: int) -> Record:
    record = _record("index-1 ladder, structure", n)
    command = [sys.executable, "-m", "benchmarks.suites.structure", str(n)]
    try:
        outcome = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return record | {"message": f"not finished after {LIMIT_SECONDS:.0f} s"}
    if outcome.returncode != 0:
        return record | {"message": (outcome.stderr.strip().splitlines() or ["no message"])[-1]}
    record |= json.loads(outcome.stdout.splitlines()[-1])
    if n == 1_000_000:
        record |= {"bar": 10.0, "ratio": record["seconds"] / 10.0}
    return record


def _measure_here(n: int) -> Record:
    """The body of the child process. Structural analysis is what stands between the families and the machine code."""
    from acausal.families.assemble import assemble, read
    from acausal.families.balance import check_structure
    from acausal.families.pattern import jacobian_pattern
    from acausal.families.reduction import reduce
    from benchmarks.models import ladder

    assemble(read(ladder(3)))  # what it imports is no part of the model
    begin, base = time.perf_counter(), _peak_bytes()
    system = assemble(read(ladder(n // 3)))
    families, before = time.perf_counter() - begin, _peak_bytes()
    begin = time.perf_counter()
    pattern = jacobian_pattern(system.families, system.equation_count, system.size)
    check_structure(system, pattern)
    reduced = reduce(system, pattern)
    seconds = time.perf_counter() - begin
    assert reduced is system  # nothing to do for it
    memory = {"bytes": _peak_bytes() - base, "bytes_of_families": before - base, "peak_bytes": _peak_bytes()}
    return {"n": system.size, "seconds": seconds, "families_seconds": families, **memory}


def _peak_bytes() -> int:
    """Peak resident memory of this process alone; what `getrusage` gives on Linux may be the parent's, handed on at the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(_measure_here(int(sys.argv[1]))))
