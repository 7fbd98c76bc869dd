"""Random relations at their edges: quantities of any size, levels that are met exactly, limits on which something rests.

x runs at constant rates, which change at known times, in a unit between 1e-14 and 1e9. Truth values compare x, and x limited by the
very level that it is compared with, in all ways. When x passes a level follows by arithmetic: there each of them changes, neither
earlier nor later, and between these times it has the value that is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import acausal as ac

UNTIL = 4.0
_NEAR = 1e-6  # seconds around a switching point
_LATE = 1e-7  # seconds

Shape = Callable[[Any, float, Any], Any]
SHAPES: dict[str, Shape] = {
    "x": lambda x, level, m: x,
    "min": lambda x, level, m: m.minimum(x, level),
    "max": lambda x, level, m: m.maximum(x, level),
    "abs": lambda x, level, m: m.absolute(x - level) + level,
    "where": lambda x, level, m: m.where(x > level, level, x),
}
COMPARED: dict[str, Callable[[Any, float], Any]] = {
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
}  # fmt: skip


class Ours:
    """Functions of acausal by the names that numpy has for them."""

    minimum, maximum, absolute, where = staticmethod(ac.min), staticmethod(ac.max), staticmethod(ac.abs), staticmethod(ac.where)


def draw(seed: int) -> tuple[ac.Component, Callable[[Any], Any], list[tuple[str, str, float]], np.ndarray]:
    """A model, its x at given times, what its truth values compare, and the times at which rates change."""
    rng = np.random.default_rng(seed)
    unit = float(10.0 ** rng.integers(-14, 10))
    turns = np.sort(rng.uniform(0.2, UNTIL - 0.2, int(rng.integers(0, 4))))
    rates = rng.uniform(0.3, 2.0, len(turns) + 1) * rng.choice([-1.0, 1.0], len(turns) + 1)
    first = float(rng.choice([0.0, rng.uniform(-1.0, 1.0)]))
    drawn = []
    for _ in range(int(rng.integers(1, 5))):
        level = float(rng.choice([0.0, 1.0, np.round(rng.uniform(-1.0, 1.0), 2)])) * unit
        drawn.append((str(rng.choice(list(SHAPES))), str(rng.choice(list(COMPARED))), level))

    def equations(self: Any) -> Any:
        rate = rates[-1] * unit
        for turn, before in zip(turns[::-1], rates[-2::-1], strict=True):
            rate = ac.where(ac.time < float(turn), float(before) * unit, rate)
        yield ac.der(self.x) == rate
        for k, (shape, sign, level) in enumerate(drawn):
            yield getattr(self, f"b{k}") == COMPARED[sign](SHAPES[shape](self.x, level, Ours), level)

    space: dict[str, Any] = {"x": ac.Variable(start=first * unit, fixed=True), "equations": equations}
    space |= {f"b{k}": ac.Boolean(False) for k in range(len(drawn))}
    ends = np.concatenate([[0.0], turns, [UNTIL]])
    values = unit * np.concatenate([[first], first + np.cumsum(rates * np.diff(ends))])
    return type("Drawn", (ac.Component,), space)(), lambda t: np.interp(t, ends, values), drawn, ends


def passed(x: Callable[[Any], Any], ends: np.ndarray, level: float) -> np.ndarray:
    """The times at which x is at a level."""
    a, b = x(ends[:-1]) - level, x(ends[1:]) - level
    with np.errstate(divide="ignore", invalid="ignore"):
        share = a / (a - b)
    inside = (share >= 0) & (share <= 1)
    return np.asarray((ends[:-1] + share * np.diff(ends))[inside])


def check(seed: int) -> str:
    """ "run", or what is wrong with it."""
    component, x, drawn, ends = draw(seed)
    levels = [passed(x, ends, level) for _, _, level in drawn]
    edges = np.concatenate([*levels, ends])
    if np.diff(np.unique(edges)).min(initial=1.0) < 1e-3:
        return "run"  # what happens that close together is another generator's
    size = float(np.abs(x(ends)).max())
    times = np.linspace(0.0, UNTIL, 401)
    result = ac.compile(component).simulate(until=UNTIL, at=times, rtol=1e-10, atol=1e-10 * size, on_failure="keep")
    said = f"{drawn}, rates change at {ends[1:-1].tolist()}"
    if not result.outcome.ok:
        return f"{result.outcome.name} at {result.time_reached:g}: {said}"
    for k, (shape, sign, level) in enumerate(drawn):
        t = times[np.abs(times[:, None] - np.append(levels[k], 0.0)).min(axis=1) > _NEAR]
        found = np.asarray(result[f"b{k}"])[np.searchsorted(result.time, t, side="right") - 1]
        wanted = COMPARED[sign](SHAPES[shape](x(t), level, np), level)
        if (found != wanted).any():
            return f"b{k} is wrong at {t[found != wanted][0]:g}: {said}"
        changes = np.array([e.time for e in result.events if any(c.name == f"b{k}" for c in e.changes)])
        late = [float(np.abs(levels[k] - when).min(initial=np.inf)) for when in changes]
        if late and max(late) > _LATE:
            return f"b{k} changes {max(late):.1e} s away from where x passes {level:g}: {said}"
    return "run"
