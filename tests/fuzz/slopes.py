"""Random hybrid plants differentiated by their parameters, against differences of runs.

Cells in a row, each with a random choice of: a heater that a level switches, a bounce, a step at a time that is a parameter, a
sampled copy, an algebraic loop, a larger of two, a partner that is held to it (index 2), an integral that is set back. Switching
levels, times, restitution and start values are parameters like all others. `simulate(sensitivities=…)` has to agree with central
differences of runs at a tight tolerance, wherever those agree with narrower ones: where an event lies between them they do not.
`model.gradient`, computed backward, has to agree with both at the end.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import acausal as ac

KINDS = ("heater", "bounce", "step", "sampled", "loop", "larger", "pair", "reset")
UNTIL = 3.0
GRID = np.linspace(0.0, UNTIL, 31)
WIDE = 1e-4  # of a parameter


class Cell(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    a, b, c = ac.Parameter(1.0), ac.Parameter(1.0), ac.Parameter(1.0)
    near = ac.Input(0.0)

    def __init__(self, kind: str) -> None:
        self.kind = kind
        if kind in ("bounce", "loop", "pair", "reset"):
            self.z: Any = ac.Variable(start=0.2, **({"fixed": True} if kind in ("bounce", "reset") else {}))
        if kind == "pair":
            self.pull: Any = ac.Variable()
        if kind == "sampled":
            self.held: Any = ac.Discrete(start=0.0)

    def equations(self) -> Any:
        x, a, b, c, near = self.x, self.a, self.b, self.c, 0.2 * (self.near - self.x)
        kind = self.kind
        if kind == "heater":
            yield ac.der(x) == 0.1 * near + ac.where(x > 2.0 * c, b, 2.0 * a)
        elif kind == "bounce":
            yield ac.der(x) == self.z
            yield ac.der(self.z) == -4.0 * a - 0.1 * b * self.z
        elif kind == "step":
            yield ac.der(x) == near - a * x + ac.where(ac.time > c, b, -b)
        elif kind == "sampled":
            yield ac.der(x) == near - a * x + b * self.held
        elif kind == "loop":
            yield self.z + c * self.z**3 == x
            yield ac.der(x) == near - a * self.z + b
        elif kind == "larger":
            yield ac.der(x) == near - a * ac.max(x, c) + b * ac.sin(3 * ac.time)
        elif kind == "pair":
            yield self.z == c * x
            yield ac.der(x) == near - a * x + self.pull
            yield ac.der(self.z) == b - self.pull
        else:
            yield ac.der(x) == near - a * x + b
            yield ac.der(self.z) == x

    def events(self) -> Any:
        if self.kind == "bounce":
            yield ac.when(self.x < 0, ac.reinit(self.z, -(0.7 + 0.2 * self.c) * ac.pre(self.z)))
        elif self.kind == "sampled":
            yield ac.when(ac.sample(0.25, 0.5), ac.assign(self.held, self.c * self.x))
        elif self.kind == "reset":
            yield ac.when(self.z > self.c, ac.reinit(self.z, 0.1 * self.b))


class Row(ac.Component):
    def __init__(self, kinds: list[str], numbers: list[dict[str, float]]) -> None:
        self.cells = [Cell(kind, **one) for kind, one in zip(kinds, numbers, strict=True)]

    def equations(self) -> Any:
        for before, cell in zip([self.cells[-1], *self.cells[:-1]], self.cells, strict=True):
            yield cell.near == before.x


def check(seed: int) -> str:
    rng = np.random.default_rng(seed)
    kinds = [str(k) for k in rng.choice(KINDS, int(rng.integers(1, 4)))]
    numbers = [{name: float(rng.uniform(0.5, 1.2)) for name in "abc"} for _ in kinds]
    names = [f"cells[{k}].{name}" for k in range(len(kinds)) for name in "abc"]
    chosen = [str(n) for n in rng.choice(names, 3, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ac.ModelWarning)
        return _compared(ac.compile(Row(kinds, numbers)), [f"cells[{k}].x" for k in range(len(kinds))], chosen) or "run"


def _compared(model: Any, outputs: list[str], chosen: list[str]) -> str:
    result = model.simulate(UNTIL, at=GRID, rtol=1e-8, on_failure="raise", sensitivities=chosen)
    backward, places = model.gradient(outputs, chosen, until=UNTIL, rtol=1e-8), _places(result)
    for name in chosen:
        wide, narrow = (_differences(model, outputs, name, WIDE / k) for k in (1, 4))
        for output, by, by_less in zip(outputs, wide, narrow, strict=True):
            size = np.abs(by_less).max() + 1e-2
            told = np.abs(by - by_less) < 1e-4 * size
            found = {"forward": np.ravel(result.sensitivity(output, name))[places], "backward": np.full(len(GRID), np.nan)}
            found["backward"][-1] = backward[output, name]
            for way, slopes in found.items():
                wrong = np.where(told & np.isfinite(slopes), np.abs(slopes - by_less), 0.0)
                if wrong.max() > 1e-3 * size:
                    k = int(np.argmax(wrong))
                    return f"{way} d {output} / d {name} is {slopes[k]:.6g} at {GRID[k]:g}, not {by_less[k]:.6g}"
    return ""


def _differences(model: Any, outputs: list[str], name: str, width: float) -> list[np.ndarray]:
    value = float(model.get(name))
    more, less = (
        model.simulate(UNTIL, at=GRID, rtol=1e-11, set={name: value * (1 + sign * width)}, on_failure="raise") for sign in (1, -1)
    )
    values = ([np.ravel(run[output])[_places(run)] for output in outputs] for run in (more, less))
    return [(a - b) / (2 * width * value) for a, b in zip(*values, strict=True)]


def _places(result: Any) -> np.ndarray:
    """Of the grid, among rows that events added."""
    return np.minimum(np.searchsorted(result.time, GRID - 1e-9), len(result.time) - 1)
