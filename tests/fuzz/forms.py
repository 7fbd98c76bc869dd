"""The same plant in objects, in arrays and in composites, with events, delays and tables.

Cells in a ring: a store with a heater that a thermostat switches, warmed by what its neighbour was some time ago, and a body whose
speed a table prescribes, so that the force jumps at the corners of the table. Speed and force have closed forms; everything else
must be the same in all forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac

FORMS = ("objects", "arrays", "composites")
UNTIL = 4.0


class Cell(ac.Component):
    C, G, P = ac.Parameter(1.0, unit="J/K"), ac.Parameter(1.0, unit="W/K"), ac.Parameter(1.0, unit="W")
    low, high = ac.Parameter(1.0, unit="K"), ac.Parameter(1.5, unit="K")
    m, scale = ac.Parameter(1.0, unit="kg"), ac.Parameter(1.0, unit="m/s")
    T, before = ac.Variable(start=1.2, fixed=True, unit="K"), ac.Input(0.0, unit="K")
    x, v, F = ac.Variable(start=0.0, fixed=True, unit="m"), ac.Variable(unit="m/s"), ac.Variable(unit="N")
    on, count = ac.Boolean(False), ac.Integer(0)
    table = ac.Table(np.array([0.0, 0.7, 1.9, 2.3, 5.0]), np.array([0.0, 1.0, -0.5, 0.2, 0.0]), method="linear")

    def equations(self) -> Iterator[Any]:
        yield self.C * ac.der(self.T) == ac.where(self.on, self.P, 0.0) - self.G * (self.T - 0.3 * self.before)
        yield ac.der(self.x) == self.v
        yield self.m * ac.der(self.v) == self.F
        yield self.v == self.scale * self.table(ac.time)

    def events(self) -> Iterator[Any]:
        yield ac.when(self.T < self.low, ac.assign(self.on, True), ac.assign(self.count, ac.pre(self.count) + 1)).elsewhen(
            self.T > self.high, ac.assign(self.on, False)
        )


class Objects(ac.Component):
    def __init__(self, numbers: dict[str, np.ndarray], delay: float) -> None:
        self.delay, count = delay, len(numbers["C"])
        self.cell = [Cell(**{name: float(v[k]) for name, v in numbers.items()}) for k in range(count)]

    def equations(self) -> Iterator[Any]:
        for one, other in zip(self.cell, [*self.cell[1:], self.cell[0]], strict=True):
            yield other.before == ac.delay(one.T, self.delay)


class Arrays(ac.Component):
    def __init__(self, numbers: dict[str, np.ndarray], delay: float) -> None:
        self.delay, self.count = delay, len(numbers["C"])
        self.cell = ac.array(Cell, self.count, **numbers)

    def equations(self) -> Iterator[Any]:
        yield self.cell[1:].before == ac.delay(self.cell[:-1].T, self.delay)
        yield self.cell[0].before == ac.delay(self.cell[self.count - 1].T, self.delay)


class Pair(ac.Component):
    def __init__(self, one: Cell, other: Cell, delay: float) -> None:
        self.one, self.other, self.delay = one, other, delay

    def equations(self) -> Iterator[Any]:
        yield self.other.before == ac.delay(self.one.T, self.delay)


class Composites(ac.Component):
    def __init__(self, numbers: dict[str, np.ndarray], delay: float) -> None:
        self.delay, count = delay, len(numbers["C"])
        cell = [Cell(**{name: float(v[k]) for name, v in numbers.items()}) for k in range(count)]
        self.pair = [Pair(cell[k], cell[k + 1], delay) for k in range(0, count, 2)]

    def equations(self) -> Iterator[Any]:
        for one, other in zip(self.pair, [*self.pair[1:], self.pair[0]], strict=True):
            yield other.one.before == ac.delay(one.other.T, self.delay)


def _value(result: ac.Result, form: str, k: int, name: str) -> np.ndarray:
    if form == "composites":
        return np.asarray(result[f"pair[{k // 2}].{('one', 'other')[k % 2]}.{name}"], dtype=float)
    return np.asarray(result[f"cell[{k}].{name}"], dtype=float)


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    rng = np.random.default_rng(seed)
    count, delay = 2 * int(rng.integers(1, 3)), float(np.round(rng.uniform(0.05, 0.8), 2))
    low = np.round(rng.uniform(0.9, 1.1, count), 3)
    numbers = {
        "C": rng.uniform(4.0, 9.0, count), "G": rng.uniform(0.3, 2.0, count), "P": rng.uniform(4.0, 6.0, count), "low": low,
        "high": low + rng.uniform(0.1, 0.3, count), "m": rng.uniform(0.5, 2.0, count), "scale": rng.uniform(1.0, 9.0, count),
    }  # fmt: skip
    times = np.linspace(0.0, UNTIL, 41) + np.append(0.0, np.full(40, 0.003))
    times = times[times <= UNTIL]
    results = {}
    for form, kind in zip(FORMS, (Objects, Arrays, Composites), strict=True):
        results[form] = ac.compile(kind(numbers, delay)).simulate(until=UNTIL, at=times, rtol=1e-8)
    slope = np.select([times < 0.7, times < 1.9, times < 2.3], [1.0 / 0.7, -1.5 / 1.2, 0.7 / 0.4], -0.2 / 2.7)
    for k in range(count):
        rows = {form: np.searchsorted(r.time, times + 1e-13) - 1 for form, r in results.items()}
        told = {form: {n: _value(r, form, k, n)[rows[form]] for n in ("T", "x", "v", "F", "count")} for form, r in results.items()}
        speed = numbers["scale"][k] * np.interp(times, Cell.table.x, Cell.table.y)
        force = numbers["m"][k] * numbers["scale"][k] * slope
        for form in FORMS:
            if np.abs(told[form]["v"] - speed).max() > 1e-7 or np.abs(told[form]["F"] - force)[1:].max() > 1e-6:
                return f"{form}: speed or force of {k} are wrong, {told[form]['F'][:5]}, wanted {force[:5]}"
            for name, value in told["objects"].items():
                apart = np.abs(told[form][name] - value).max()
                if apart > 1e-6 * max(1.0, np.abs(value).max()):
                    return f"{form}: {name} of {k} differs by {apart:.2g}"
    return "run"
