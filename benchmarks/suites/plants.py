"""Plants: a cold store over a day and at random, moving boundaries against cells, cells by their number, a cycle at rest.

Each record has a `case`, the `value` reached, its `bar` and whether it is `ok`. Seconds are of this process's CPU. `sizes` is
how many plants are drawn (500 in the table of figures).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac
from acausal.library.refrigeration import ColdStore
from acausal.library.refrigeration.cold_store import accounts
from benchmarks.cold_stores import REST, STEPS, InCells, OpenAtStandstill, draw, rig, stepped
from benchmarks.fluids import CYCLES, Cycle, exact_cop

DAY = 86400.0
DRAWS = 20
Record = dict[str, Any]


def run(sizes: list[int] | None = None) -> Iterator[Record]:
    """`sizes`: how many plants are drawn."""
    yield from _day()
    yield from _draws((sizes or [DRAWS])[0])
    yield from _boundaries()
    yield from _cells()
    yield from _at_rest()


def _record(case: str, value: float, bar: float | None, *, least: bool = False, **more: Any) -> Record:
    ok = None if bar is None else bool(value >= bar if least else value <= bar)
    return {"suite": "plants", "case": case, "value": float(value), "bar": bar, "ok": ok} | more


def _seconds(action: Any, repeats: int = 1) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = action()
        best = min(best, time.process_time() - start)
    return best, result


def _day() -> Iterator[Record]:
    ac.media.fluid("R134a")  # its table is made, or loaded
    translation, model = _seconds(lambda: ac.compile(ColdStore()))
    seconds, result = _seconds(lambda: model.simulate(until=DAY, points=1441, on_failure="keep"), repeats=3)
    starts = sum(s.state == "on" for s in result.states("compressor.run"))
    drift, gap = accounts(result)
    yield _record("cold store, translation, s", translation, 5.0)
    yield _record("cold store, a day, s", seconds, 0.6, steps=result.statistics["steps"], outcome=result.outcome.name)
    yield _record("cold store, compressor starts", starts, 80, least=True)
    yield _record("cold store, drift of charge", drift, 1e-10)
    yield _record("cold store, gap of energy", gap, 1e-8)
    cells = ac.compile(InCells())
    seconds, result = _seconds(lambda: cells.simulate(until=DAY, points=1441, on_failure="keep"), repeats=3)
    yield _record(
        "cold store of 10 + 10 cells, a day, s", seconds, 2.0, steps=result.statistics["steps"], outcome=result.outcome.name
    )


def _draws(count: int) -> Iterator[Record]:
    """From rest, for two hours."""
    models, rng, failed, spent = [ac.compile(c()) for c in (ColdStore, OpenAtStandstill)], np.random.default_rng(1), [], 0.0
    for k in range(count):
        model = models[k % 2]
        values, inputs = draw(model, rng)
        try:
            seconds, result = _seconds(lambda m=model, v=values, i=inputs: m.simulate(7200.0, set=v, inputs=i, on_failure="keep"))
        except ac.AcausalError as error:
            failed.append(f"{k}: {error}".splitlines()[0])
            continue
        spent += seconds
        if not result.outcome:
            failed.append(f"{k}: {result.outcome.name} at {result.time_reached:g} s")
    share = 1 - len(failed) / count
    yield _record(
        "random cold stores that finish, share", share, 0.995, least=True, draws=count, failed=failed, seconds=spent / count
    )


def _boundaries() -> Iterator[Record]:
    """Moving boundaries against 50 cells, each from its own rest: rms of outlet enthalpy over its swing, charge, time."""
    for kind, steps in STEPS.items():
        ours, cells = rig(kind), rig(kind, 50)
        for what in steps:
            mine, result = _seconds(lambda m=ours, k=kind, w=what: stepped(m, k, w), repeats=2)
            theirs, reference = _seconds(lambda m=cells, k=kind, w=what: stepped(m, k, w))
            grid = np.arange(REST - 20.0, float(result.time[-1]), 1.0)
            (h, charge), (h50, charge50) = (
                [np.interp(grid, r.time, np.asarray(r[f"exchanger.{q}"])) for q in ("h_out", "charge")] for r in (result, reference)
            )
            swing = float(np.ptp(h50))
            error = float(np.sqrt(np.mean((h - h50) ** 2))) / swing
            yield _record(f"{kind}, {what}: outlet enthalpy against 50 cells, of its swing", error, 0.1, swing=swing)
            # Of an overfed one a cell of liquid is 4 %, and a second while liquid is pushed out is more than what stays: no bar.
            bar = 0.03 if kind != "overfed" else None
            yield _record(f"{kind}, {what}: charge against 50 cells", float(np.abs(charge / charge50 - 1).max()), bar)
            yield _record(f"{kind}, {what}: times faster than 50 cells", theirs / mine, 10.0, least=True, seconds=mine)


def _cells() -> Iterator[Record]:
    """Translation and simulation of an evaporator by its number of cells."""
    numbers, translation, simulation = (10, 100, 1000, 10000), [], []
    for n in numbers:
        seconds, model = _seconds(lambda n=n: rig("evaporator", n), repeats=2)
        translation.append(seconds)
        inputs = {"feed.m_flow": 0.008, "outlet.opening": 0.7}
        seconds, result = _seconds(lambda m=model, i=inputs: m.simulate(until=0.2, inputs=i, points=3, on_failure="keep"))
        simulation.append(seconds / max(result.statistics["steps"], 1))
    slope = float(np.polyfit(np.log(numbers[1:]), np.log(simulation[1:]), 1)[0])
    flat = float(np.polyfit(np.log(numbers), np.log(translation), 1)[0])
    ratio = translation[-1] / translation[0]  # templates cost the same however many cells there are; integers of tables do not
    yield _record("slope of the time of a translation over cells", flat, 0.2, ratio=ratio, seconds=translation)
    yield _record("slope of the time of a step over cells", slope, 1.2, seconds=simulation)


def _at_rest() -> Iterator[Record]:
    for name, given in CYCLES.items():
        model = ac.compile(Cycle(ac.media.fluid(name))).set(given)
        seconds, result = _seconds(model.steady_state, repeats=3)
        error = abs(float(np.ravel(result["COP"])[0]) / exact_cop(name, **given) - 1)
        yield _record(f"COP of a cycle at rest, {name}", error, 1e-6)
        yield _record(f"cycle at rest, {name}, s", seconds, 0.05)
