"""What rules the steps and what a step costs: steam pipes, chains of bodies, grids, a rectifier, a network of district heating.

Records of one size have what was reached; those with a `slope` compare the sizes of a case (n is the largest). `bar` is what is
asked for, `ratio` is the one over the other, `ok` says whether the bar holds. IVP problems run at 1e-6 and 1e-9: digits grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import ours

PIPES = (40, 80, 160, 320, 640)
BODIES = (8, 16, 32, 64, 128)
SIDES = (20, 40, 80, 160, 320)
USERS = 40
Record = dict[str, Any]


def run(sizes: list[int] | None = None) -> Iterator[Record]:
    """`sizes`: of the pipes, chains and grids alike; with it only these are run."""
    for record in _records(sizes):
        judged = {"ok": record["ratio"] is not None and record["ratio"] <= 1.0} if "bar" in record else {}
        yield record | judged


def _records(sizes: list[int] | None) -> Iterator[Record]:
    reason = ours.why_not()
    if reason is not None:
        yield _record("stepping", 0) | {"message": reason}
        return
    yield from _pipes(tuple(sizes or PIPES))
    yield from _bodies(tuple(sizes or BODIES))
    yield from _grids(tuple(sizes or SIDES))
    if sizes is None:
        yield from _small()
        yield from _network()
        yield from _digits()


def _record(case: str, n: int, seconds: float | None = None, ratio: float | None = None) -> Record:
    return {"suite": "stepping", "case": case, "n": n, "seconds": seconds, "ratio": ratio}


def _slope(case: str, sizes: tuple[int, ...], values: list[float], bar: float) -> Iterator[Record]:
    """The exponent with which a figure grows, by least squares over all sizes."""
    if len(sizes) > 1:
        slope = float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
        yield _record(case, sizes[-1], ratio=slope / bar) | {"slope": slope, "bar": bar}


def _timed(model: Any, repeats: int, **run: Any) -> tuple[Any, float]:
    """The last of some runs, and the seconds of the fastest."""
    results = [model.simulate(**run) for _ in range(repeats)]
    return results[-1], min(r.statistics.seconds["integration"] for r in results)


def _of(result: Any, seconds: float) -> Record:
    s = result.statistics
    return {"steps": s.steps, "outcome": result.outcome.name, "ms_per_step": 1e3 * seconds / max(s.steps, 1)}


def _pipes(sizes: tuple[int, ...]) -> Iterator[Record]:
    from acausal import compile
    from benchmarks.stepping.steam_pipe import SteamPipe

    steps, times = [], []
    for n in sizes:
        model = compile(SteamPipe(n), units=False)
        result, seconds = _timed(model, 1, until=20.0, rtol=1e-8, points=21, initial="steady")
        steps.append(float(result.statistics.steps))
        times.append(seconds)
        yield _record("steam pipe", n, seconds) | _of(result, seconds) | {"unknowns": model.problem.size}
    yield from _slope("steam pipe, steps", sizes, steps, 0.5)
    yield from _slope("steam pipe, time", sizes, times, 1.5)


def _bodies(sizes: tuple[int, ...]) -> Iterator[Record]:
    from acausal import compile
    from benchmarks.stepping.bodies import Chain

    each, share = [], 0.0
    for n in sizes:
        model = compile(Chain(n), units=False)
        results = [model.simulate(until=0.1, rtol=1e-6, points=11) for _ in range(5)]
        result = min(results, key=lambda r: float(r.statistics.seconds["total"]))
        clock = result.statistics.seconds
        share = clock["watch"] / clock["total"]
        each.append(clock["total"] / result.statistics.steps)
        energy = Chain.energy(result, n)
        drift = float(np.abs(energy - energy[0]).max() / np.abs(energy).max())
        yield _record("chain of bodies", n, clock["total"]) | _of(result, clock["total"]) | {"watch": share, "drift": drift}
    yield from _slope("chain of bodies, time a step", sizes, each, 1.1)
    yield _record("chain of bodies, watch", sizes[-1], ratio=share / 0.1) | {"share": share, "bar": 0.1}


def _grids(sizes: tuple[int, ...]) -> Iterator[Record]:
    from acausal import compile
    from benchmarks.stepping.grid import Grid

    unknowns, times = [], []
    for side in sizes:
        model = compile(Grid(side))
        result, seconds = _timed(model, 3 if side < 100 else 1, until=1.0, rtol=1e-6, points=11)
        unknowns.append(model.problem.size)
        times.append(seconds)
        entries = {"entries": result.statistics.factor_entries, "factorisations": result.statistics.refactorisations}
        yield _record("grid", side, seconds) | _of(result, seconds) | entries
    yield from _slope("grid, time in unknowns", tuple(unknowns), times, 1.3)


def _small() -> Iterator[Record]:
    from acausal import compile
    from benchmarks.stepping.small import Declared, Divided, Rectifier

    model = compile(Rectifier())
    for rtol, bar in ((1e-6, 1000), (1e-8, 3000)):
        result, seconds = _timed(model, 1, until=0.1, rtol=rtol)
        steps = result.statistics.steps
        yield _record("rectifier", 1, seconds, steps / bar) | _of(result, seconds) | {"rtol": rtol, "bar": bar}
    sizes, steps = [], []
    for component in (Divided(200), Declared(200)):
        model = compile(component, units=False)
        sizes.append(model.problem.size)
        steps.append(model.simulate(until=1.0, rtol=1e-8).statistics.steps)
    record = _record("dx inside equations over dx as a parameter", 200, ratio=max(sizes[0] / sizes[1], steps[0] / steps[1]))
    yield record | {"bar": 1.0, "unknowns": sizes, "steps": steps}


def _network() -> Iterator[Record]:
    from acausal import compile
    from benchmarks.stepping.district import DAY, Network

    result, seconds = _timed(compile(Network(USERS), units=False), 1, until=DAY, points=25)
    bar = 10_000
    yield _record("district heating", USERS, seconds, result.statistics.steps / bar) | _of(result, seconds) | {"bar": bar}


def _digits() -> Iterator[Record]:
    """Digits at a loose tolerance over those at a tight one; above 1 they did not grow."""
    for name, reached in _problems():
        low, high = reached(1e-6), reached(1e-9)
        record = _record(f"digits of {name}", 0, ratio=None if low is None or high is None else low / max(high, 1e-3))
        yield record | {"digits": [low, high], "bar": 1.0}


def _problems() -> Iterator[tuple[str, Callable[[float], float | None]]]:
    from benchmarks.ivp.problems import PROBLEMS

    for problem in PROBLEMS:
        yield problem.name, lambda rtol, p=problem: _plain_digits(p, rtol)
    from benchmarks.structure.andrews import andrews
    from benchmarks.structure.car_axis import car_axis
    from benchmarks.structure.water_tube import water_tube

    for raw in (car_axis, andrews, water_tube):
        yield raw.name, lambda rtol, p=raw: _raw_digits(p, rtol)


def _plain_digits(problem: Any, rtol: float) -> float | None:
    from acausal import AcausalError

    try:
        return float(problem.digits(ours.solve_plain(problem, rtol)[0]))
    except AcausalError:
        return None


def _raw_digits(problem: Any, rtol: float) -> float | None:
    from acausal import compile

    result = compile(problem.component()).simulate(until=problem.end, points=2, rtol=rtol)
    return float(problem.digits(result)) if result.outcome.name == "FINISHED" else None
