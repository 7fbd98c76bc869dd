"""What kernels cost and whether they are right: derivatives against differences, a plant of distinct classes, a long cascade."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import acausal as ac
from acausal.library import demo, electrical, electromechanics, sampled, signal, switching, thermal
from acausal.library.mechanics import friction, rotational, stops, translational
from benchmarks.derivatives import of_component

LIBRARY = (electrical, switching, thermal, translational, rotational, friction, stops, electromechanics, signal, sampled, demo)
CLASSES, INSTANCES, CASCADE, MANY = 300, 3, 25_600, 100_000
ROOT = Path(__file__).parents[1]


def records() -> Iterator[dict[str, Any]]:
    yield _record("partials against differences, library", len(components()), worst(), 1e-6, "")
    with tempfile.TemporaryDirectory() as folder:
        for case, bar in (("cold", 8.0), ("warm", 2.0)):
            seconds = compiled_elsewhere(CLASSES, folder)
            yield _record(f"a class of {CLASSES} distinct ones, {case}", CLASSES, 1e3 * seconds / CLASSES, bar, "ms")
    yield _record("cascade, a state and step", CASCADE, 1e9 * cascade(CASCADE), 15.0, "ns")
    for plant, until in ((Cascade(MANY), 0.01), (Reacting(MANY), 5.0)):
        name = type(plant).__name__.lower()
        yield _record(f"what kernels on a second core would save, {name}", MANY, saved_by_a_second_core(plant, until), 0.2, "")


def _record(case: str, n: int, value: float, bar: float, unit: str) -> dict[str, Any]:
    measured = {"value": value, "unit": unit, "bar": bar, "ratio": value / bar, "ok": value <= bar}
    return {"suite": "kernels", "case": case, "n": n, **measured}


# --- derivatives ------------------------------------------------------------------------------------------------------------
def components() -> list[type]:
    """Component classes of the library that can be made without arguments and have equations."""
    return [c for module in LIBRARY for c in _own(module) if c not in (switching.OnCurve, switching.Switch) and _is_plain(c)]


def _own(module: ModuleType) -> list[type]:
    found = (value for name, value in vars(module).items() if not name.startswith("_") and inspect.isclass(value))
    return [c for c in found if c.__module__ == module.__name__ and issubclass(c, ac.Component)]


def _is_plain(component: type) -> bool:
    wanted = list(inspect.signature(component.__init__).parameters.values())[1:]  # type: ignore[misc]
    return all(p.default is not p.empty or p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in wanted)


def worst() -> float:
    return max(of_component(component()) for component in components())


# --- translation ------------------------------------------------------------------------------------------------------------
def distinct_class(k: int) -> type:
    """A reacting cell whose equations no other one has."""
    a, b, power = 1.0 + 0.37 * k % 1.7, 0.3 + 0.11 * k % 1.1, 2 + k % 5

    def equations(self: Any) -> Iterator[Any]:
        rate = ac.exp(-a * self.x) * (self.T / self.T0) ** power + (k + 0.5) * ac.sin(b * self.x)
        yield self.C * ac.der(self.T) == self.port.Q_flow - self.q * rate
        yield self.q == self.G * (self.T - self.T0) * (1.0 + a * ac.tanh(self.x * b))
        yield ac.der(self.x) == (0.5 - self.x * rate) / ac.sqrt(k + 1.0 + self.x**2) / 3600.0
        yield self.port.T == self.T + b * self.port.Q_flow / self.G

    body = {
        "port": thermal.HeatPort(),
        "C": ac.Parameter(100.0 + k, unit="J/K"),
        "G": ac.Parameter(1.0 + k / 100, unit="W/K"),
        "T0": ac.Parameter(290.0, unit="K"),
        "T": ac.Variable(unit="K", start=300.0),
        "x": ac.Variable(start=0.5),
        "q": ac.Variable(unit="W"),
        "equations": equations,
    }
    return type(f"Kind{k}", (ac.Component,), body)


class Chain(ac.Component):
    """Cells of `count` classes, some of each, one connected to the next."""

    def __init__(self, count: int) -> None:
        self.cells = [cls() for cls in [distinct_class(k) for k in range(count)] for _ in range(INSTANCES)]

    def connections(self) -> Iterator[Any]:
        for one, other in zip(self.cells, self.cells[1:], strict=False):
            yield one.port, other.port


def compiled_elsewhere(count: int, folder: str) -> float:
    """Seconds of all processors for `ac.compile` in a process of its own, with a cache of its own; modules are loaded before."""
    command = [sys.executable, "-m", "benchmarks.translation", str(count)]
    settings = {**os.environ, "ACAUSAL_CACHE": folder}
    done = subprocess.run(command, env=settings, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


# --- integration ------------------------------------------------------------------------------------------------------------
class Cascade(ac.Component):
    """Cascaded first-order systems, of the ScalableTestSuite: T/N x' = what comes in - x."""

    T = ac.Parameter(1.0)

    def __init__(self, count: int) -> None:
        self.count = count
        self.x = ac.Variable(shape=count, start=0.0)

    def equations(self) -> Iterator[Any]:
        tau = self.T / self.count
        yield tau * ac.der(self.x[0]) == 1.0 - self.x[0]
        yield tau * ac.der(self.x[1:]) == self.x[:-1] - self.x[1:]


def cascade(count: int) -> float:
    """Seconds of the processor for a state and a step."""
    model = ac.compile(Cascade(count))
    found = []
    for _ in range(2):
        begin = time.process_time()
        result = model.simulate(until=2.0, points=2)
        found.append((time.process_time() - begin) / result.statistics.steps / count)
    return min(found)


class Reacting(ac.Component):
    """A reaction in a tube, with a flow from cell to cell: equations that cost as much as equations do."""

    def __init__(self, count: int) -> None:
        self.T = ac.Variable(shape=count, start=300.0, nominal=300.0)
        self.c = ac.Variable(shape=count, start=1.0)

    def equations(self) -> Iterator[Any]:
        T, c = self.T, self.c
        rate = 1e7 * c * ac.exp(-6000.0 / T) * ac.tanh(c) / ac.sqrt(1.0 + c**2)
        yield ac.der(T[0]) == 320.0 - T[0] + 50.0 * rate[0]
        yield ac.der(c[0]) == 1.0 - c[0] - rate[0]
        yield ac.der(T[1:]) == 2.0 * (T[:-1] - T[1:]) + 50.0 * rate[1:]
        yield ac.der(c[1:]) == 2.0 * (c[:-1] - c[1:]) - rate[1:]


def saved_by_a_second_core(plant: ac.Component, until: float) -> float:
    """At most half of what kernels take of a run: the rest, passes over vectors and the solution with factors, waits for memory."""
    model = ac.compile(plant)
    model.simulate(until=1e-6, points=2)
    spent = model.simulate(until=until, points=2, rtol=1e-6).statistics.seconds
    return float(0.5 * (spent["residual"] + spent["jacobian"]) / spent["total"])


if __name__ == "__main__":
    for name in ("model.model", "families.assemble", "families.reduction", "families.balance", "runtime.build"):
        importlib.import_module(f"acausal.{name}")  # once for a process, not for a class
    plant = Chain(int(sys.argv[1]))
    begin = time.process_time()
    ac.compile(plant)
    print(time.process_time() - begin)
