"""The compiled model as a value: what it costs to keep, send, read and describe it, and what a run costs beside its steps.

Each record has what was measured as `value`, what is asked for as `bar`, and `ok`; `ratio` is the one over the other. Seconds are
those of the processor, the least of several rounds.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import acausal as ac
from benchmarks import translation

Record = dict[str, Any]
ROUNDS = 5


def run(sizes: list[int] | None = None) -> Iterator[Record]:
    """`sizes` is not looked at: each figure has the size that it is asked for."""
    for part in (_load, _classes_of_a_plant, _pickle, _save_result, _selection, _alike, _catalogue, _runs, _time_event):
        try:
            yield from part()
        except ac.AcausalError as failure:
            yield {"suite": "program", "case": part.__name__.strip("_"), "n": 0, "message": str(failure).splitlines()[0]}


def record(case: str, n: int, value: float, bar: float, unit: str = "s") -> Record:
    measured = {"value": value, "unit": unit, "bar": bar, "ratio": value / bar, "ok": value <= bar}
    return {"suite": "program", "case": case, "n": n, **measured}


def least(action: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The least seconds of the processor in some rounds: what others do on the machine does not count."""
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        action()
        found.append(time.process_time() - begin)
    return min(found)


# --- a file ---------------------------------------------------------------------------------------------------------------
def _classes(count: int) -> list[type]:
    """Component classes with an equation of their own each, so that each needs a kernel of its own."""

    def equations(self: Any, k: int) -> Iterator[Any]:
        shape = self.x
        for _ in range(k % 7):
            shape = ac.sin(shape) + self.a
        for _ in range(k // 7):
            shape = ac.cos(shape) * self.a
        yield ac.der(self.x) == -self.x + 0.1 * shape

    def body(k: int) -> dict[str, Any]:
        return {"x": ac.Variable(start=1.0), "a": ac.Parameter(0.5), "equations": lambda self: equations(self, k)}

    return [type(f"Kind{k}", (ac.Component,), body(k)) for k in range(count)]


def _load() -> Iterator[Record]:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.parts = [cls() for cls in _classes(54)]

    model = ac.compile(Plant())
    code = (
        "import time, numpy, acausal as ac; begin = time.process_time(); "
        "ac.load('plant.acm').simulate(until=0.1, points=3); print(time.process_time() - begin)"
    )
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "plant.acm"))
        found = []
        with_bytecode = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        with_bytecode["PYTHONPYCACHEPREFIX"] = os.path.join(folder, "bytecode")  # as an installed program has it
        for _ in range(ROUNDS + 1):
            command = [sys.executable, "-c", code]
            done = subprocess.run(command, cwd=folder, env=with_bytecode, capture_output=True, text=True, check=True)
            found.append(float(done.stdout))
        yield record("load a file in a new process, to its first result", 54, min(found), 0.080)
        yield record("size of that file", 54, os.path.getsize(os.path.join(folder, "plant.acm")) / 1e6, 5.0, "MB")


# --- classes --------------------------------------------------------------------------------------------------------------
def _classes_of_a_plant() -> Iterator[Record]:
    """A plant of many classes, each new to the cache and each known to it; and whether a class costs more in a larger plant."""
    few, many = 75, 300
    with tempfile.TemporaryDirectory() as folder:
        cold = translation.compiled_elsewhere(many, folder)
        warm, smaller = (min(translation.compiled_elsewhere(n, folder) for _ in range(2)) for n in (many, few))
    yield record("a class of many, cold", many, 1e3 * cold / many, 8.0, "ms")
    yield record("a class of many, warm", many, 1e3 * warm / many, 2.0, "ms")
    yield record("a class of 300 over one of 75, warm", many, (warm / many) / (smaller / few), 1.2, "")


# --- pickle ---------------------------------------------------------------------------------------------------------------
class Mass(ac.Component):
    T, Q = ac.Variable(start=300.0), ac.Variable()
    C = ac.Parameter(1.0)

    def equations(self) -> Iterator[Any]:
        self.heat = self.C * self.T
        yield self.C * ac.der(self.T) == self.Q + ac.sin(self.T)
        yield self.Q + 1e-3 * self.Q**3 == -self.T


class Row(ac.Component):
    def __init__(self, n: int) -> None:
        self.masses = ac.array(Mass, n)


class Masses(ac.Component):
    def __init__(self, n: int) -> None:
        self.masses = [Mass(C=1.0 + k) for k in range(n)]


def _pickle() -> Iterator[Record]:
    for case, component in (("array", Row(4_000)), ("list", Masses(4_000))):
        model = ac.compile(component)
        n = model.system.size
        text = pickle.dumps(model)
        yield record(f"pickled model, {case}", n, len(text) / 1e6, 5.0, "MB")
        yield record(f"pickle and back, {case}", n, least(lambda m=model: pickle.loads(pickle.dumps(m))), 0.050)


# --- results and states ---------------------------------------------------------------------------------------------------
def _save_result() -> Iterator[Record]:
    result = ac.compile(Masses(1_000)).simulate(until=0.1, points=101)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.acausal")
        yield record("result.save", len(result.names()), least(lambda: result.save(path)), 0.1)


class Pendulum(ac.Component):
    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0)
    u, w, F = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.w
        yield ac.der(self.u) == -self.F * self.x
        yield ac.der(self.w) == -self.F * self.y - 9.81
        yield self.x**2 + self.y**2 == 1.0


class Pendulums(ac.Component):
    def __init__(self, n: int) -> None:
        self.each = ac.array(Pendulum, n)


def _selection() -> Iterator[Record]:
    model = ac.compile(Pendulums(1_000))
    selection = model.selection
    assert selection is not None
    known = model._parameters.known({})
    starts = model._starts.starts(known)

    def select() -> None:
        chosen = selection.select(0.0, starts.start, np.zeros(model.system.size), known, starts.nominal)
        selection.watch(chosen, selection.problem(chosen, known, starts), starts.nominal)

    yield record("state selection, pendulums", 1_000, least(select), 0.020)


# --- kinds ----------------------------------------------------------------------------------------------------------------
def _alike() -> Iterator[Record]:
    class Decay(ac.Component):
        x = ac.Variable(start=1.0)

        def __init__(self, rate: float) -> None:
            self.rate = rate

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.x) == -self.rate * ac.sin(self.x)

    class Many(ac.Component):
        def __init__(self, n: int) -> None:
            self.parts = [Decay(0.37 + 0.011 * k) for k in range(n)]

    class Curved(Decay):
        def equations(self) -> Iterator[Any]:
            yield ac.der(self.x) == -self.rate(self.x)

    def tables(n: int) -> Many:
        whole, x = Many(0), np.linspace(0.0, 2.0, 9)
        whole.parts = [Curved(ac.Table(x, np.sinh(x) * (1.0 + 0.01 * k))) for k in range(n)]  # type: ignore[arg-type]
        return whole

    for what, make, name in (("a number", Many, "Decay"), ("a table", tables, "Curved")):
        one, many = (ac.compile(make(n)) for n in (1, 100))
        kinds = sum(k.name == name for k in many.system.plant.kinds)
        yield record(f"kinds of components that differ in {what}", 100, kinds, 1, "")
        yield record("kernels, over those of one", 100, len(many.problem.code) / len(one.problem.code), 1.0, "")


def _catalogue() -> Iterator[Record]:
    model = ac.compile(Row(100_000))
    yield record("catalogue of an array", 100_000, len(json.dumps(model.catalogue())) / 1e3, 20.0, "kB")


# --- a run ----------------------------------------------------------------------------------------------------------------
class Spring(ac.Component):
    """A small model: two states, an explicit variable, an input."""

    u = ac.Input(0.0)
    x, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    k = ac.Parameter(1.0)
    force = ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == self.force
        yield self.force == self.u - self.k * self.x


class Sampled(ac.Component):
    """A slow state, and a clock that counts."""

    x = ac.Variable(start=1.0, fixed=True)
    period = ac.Parameter(1.0)
    count = ac.Integer(0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -1e-6 * self.x

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sample(self.period, self.period), ac.assign(self.count, ac.pre(self.count) + 1))


def _runs() -> Iterator[Record]:
    """What `simulate` and `advance` cost beyond the integrator."""
    model = ac.compile(Spring())
    integrator = min(model.simulate(until=1.0, points=2).statistics.seconds["total"] for _ in range(100))
    yield record("fixed cost of simulate", 2, least(lambda: model.simulate(until=1.0, points=2), 300) - integrator, 2e-4)
    others = itertools.count()
    changed = least(lambda: model.simulate(until=1.0, points=2, set={"k": 1.0 + 1e-6 * next(others)}), 300)
    yield record("the same, with another parameter each time", 2, changed - integrator, 2e-4)
    session = model.start()
    session.advance(1.0)
    yield record("fixed cost of advance", 2, least(lambda: session.advance(session.time + 1e-6), 300), 1e-4)


def _time_event() -> Iterator[Record]:
    """A run with many ticks less one with few, over the same time."""
    model, few, many = ac.compile(Sampled()), 10, 10_010
    seconds = [least(lambda p=p: model.simulate(until=1e4, points=2, set={"period": p})) for p in (1e4 / few, 1e4 / many)]  # type: ignore[misc]
    yield record("time event", many, (seconds[1] - seconds[0]) / (many - few), 1e-5)
