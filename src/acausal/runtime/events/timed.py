"""What happens at times that can be computed: relations of time alone, clocks, corners of inputs. No root is searched for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ...errors import UsageError
from ...families.differentiate import gradient
from ...families.template import Family
from ...kernels.interpret import evaluate
from ...language.expression import Expression, Slot, walk
from ..clocks import Clocks
from ..inputs import Signal, Steps, Table
from ..problem import Floats, Problem
from .relations import leaf_values, senses

_CLOSE = 4 * np.finfo(float).eps


def is_now(time: float, t: float) -> bool:
    """Whether a time is passed at `t`: times that differ by a rounding are one instant."""
    return bool(time <= t + _CLOSE * abs(t))


class Timed:
    """Relations `a·time + b > 0`, with a and b free of unknowns: each changes its value at one time only, until b changes."""

    def __init__(self, problem: Problem) -> None:
        hybrid = problem.lowered.system.hybrid
        assert hybrid is not None and problem.rules is not None
        self.problem, self.rules, self.part = problem, problem.rules, hybrid.parts["timed"]
        self.count, self.clock = self.part.count, problem.time_index
        self.cells = 2 * problem.size + self.part.targets
        self.sense, self.strict = senses(self.part.blocks, self.count)
        self.families = problem.lowered.moved(self.part.families)
        self.times, self.slope = np.full(self.count, np.inf), np.zeros(self.count)
        self._held = np.zeros(self.count, dtype=bool)
        self._looked, self._old = False, np.zeros(self.count)

    def open(self, w: Floats) -> None:
        """A round of an event begins."""
        self._held[:], self._looked, self._old = False, False, w[self.cells]

    def hold(self, rows: np.ndarray) -> bool:
        """These keep in this round what they get at first; whether one is new among them. The round begins anew."""
        new = bool((rows & ~self._held).any())
        self._held |= rows
        self._looked = False
        return new

    def close(self, w: Floats) -> np.ndarray:
        """Rows that changed in this round."""
        return np.flatnonzero(w[self.cells] != self._old)

    def follow(self, w: Floats, t: float) -> np.ndarray:
        """Bring values up to date at time t: at its very time a relation has the value it has afterwards. Rows that changed."""
        if not self.count:
            return np.zeros(0, dtype=np.intp)
        w[self.clock] = 0.0  # so that of `time >= T` the time is T to the last digit
        offset = self.rules.values("timed", w)
        self.slope = slopes_in_time(self.problem, self.families, self.count, w)
        w[self.clock] = t
        with np.errstate(divide="ignore", invalid="ignore"):
            self.times = np.where(self.slope != 0, -offset / self.slope, np.inf)
        after = t * (1 + np.sign(t) * _CLOSE) >= self.times
        g = self.sense * np.where(self.slope != 0, np.where(after, self.slope, -self.slope), offset)
        value = np.where(self.strict | (self.slope != 0), g > 0, g >= 0).astype(float)
        if self._looked:
            value[self._held] = w[self.cells[self._held]]
        self._looked = True
        rows = np.flatnonzero(value != w[self.cells])
        w[self.cells] = value
        return rows

    def look(self, w: Floats) -> None:
        """Find the times again: those of breaks in a history are known when the integration has begun."""
        now, w[self.clock] = w[self.clock], 0.0
        offset = self.rules.values("timed", w)
        w[self.clock] = now
        with np.errstate(divide="ignore", invalid="ignore"):
            self.times = np.where(self.slope != 0, -offset / self.slope, np.inf)

    def next(self, t: float) -> float:
        later = self.times[self.times > t + _CLOSE * abs(t)]
        return float(later.min()) if len(later) else np.inf


def slopes_in_time(problem: Problem, families: list[Family], count: int, w: Floats) -> Floats:
    """By how much each row of some families changes with time, everything else held."""
    slopes = np.zeros(count)
    for family in families:
        for output, expression in enumerate(family.template.outputs):
            for slot, partial in slopes_by_known(expression):
                here = family.slots[slot.number] == problem.time_index
                if here.any():
                    value = evaluate([partial], lambda leaf, f=family: leaf_values(f, w, leaf))[0]  # type: ignore[misc]
                    np.add.at(slopes, family.rows[output][here], np.broadcast_to(value, here.shape)[here])
    return slopes


@lru_cache(maxsize=4096)
def slopes_by_known(expression: Expression) -> list[tuple[Slot, Expression]]:
    slots = [n for n in walk(expression) if isinstance(n, Slot) and n.kind == "known"]
    return [(s, p) for s, p in gradient(expression, slots).items() if isinstance(s, Slot)]


def set_at_start(problem: Problem, t: float) -> None:
    """Relations of time alone have their values before anything else is computed."""
    w = np.concatenate([np.zeros(2 * problem.size), problem.known])
    timed = Timed(problem)
    for _ in range(1 + timed.count):
        if not len(timed.follow(w, t)):
            break
    problem.known[:] = w[2 * problem.size :]


MOST_TICKS = 1e9  # of a clock in a run


class Ticks:
    """The clocks of `ac.sample`: cells that are true at the instant of their tick."""

    def __init__(self, problem: Problem, w: Floats, span: float = 0.0) -> None:
        hybrid = problem.lowered.system.hybrid
        assert hybrid is not None and problem.rules is not None
        self.cells = 2 * problem.size + hybrid.parts["clock_start"].targets
        self.clocks: Clocks | None = None
        if len(self.cells):
            starts, periods = problem.rules.values("clock_start", w), problem.rules.values("clock_period", w)
            self._check(problem, starts, periods, span)
            self.clocks = Clocks(starts, periods, problem.lowered.system.plant.independent[1])

    def _check(self, problem: Problem, starts: Floats, periods: Floats, span: float) -> None:
        """Complaints about clocks name the first one that is wrong, and where it stands."""
        unit = problem.lowered.system.plant.independent[1]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            endless = np.flatnonzero((periods > 0) & (span / periods > MOST_TICKS))
        if len(endless):
            k = int(endless[0])
            place = problem.lowered.system.describe_rule("clock_period", k)
            what = f"A clock with the period {periods[k]:g} {unit} would tick {span / periods[k]:.1e} times: the run would not end."
            raise UsageError(replace(place, what=what, remedy=f"Is the period in {_spoken(unit)}? A shorter run would do, too."))
        wrong = np.flatnonzero(~(np.isfinite(starts) & np.isfinite(periods) & (periods > 0)))
        if len(wrong):
            k = int(wrong[0])
            place = problem.lowered.system.describe_rule("clock_period", k)
            what = f"A clock cannot start at {starts[k]:g} {unit} and have the period {periods[k]:g} {unit}."
            remedy = f"Give `ac.sample(start, period)` a finite period above zero, in {_spoken(unit)}."
            raise UsageError(replace(place, what=what, remedy=remedy))

    def next(self, t: float, inclusive: bool = False) -> tuple[float, np.ndarray]:
        if self.clocks is None:
            return np.inf, np.zeros(0, dtype=np.int64)
        return self.clocks.next(t, inclusive)

    def at(self, t: float) -> np.ndarray:
        """Clocks that tick at a time."""
        due = self.next(t, inclusive=True)
        return due[1] if due[0] <= t else due[1][:0]


class Corners:
    """Times at which inputs given as tables, and tables of time, bend: a step ends there, so that none is overlooked."""

    def __init__(self, problem: Problem, w: Floats, inputs: Mapping[int, Signal], t0: float, t_end: float) -> None:
        found = {id(s.times): s.times for s in inputs.values() if isinstance(s, Table) and s.slopes is None}
        tables = _table_corners(problem, w)
        self.of_tables = bool(tables)  # of time, in equations
        times = np.unique(np.concatenate([np.zeros(0), *found.values(), *tables]))
        self.times = times[(times > t0) & (times < t_end)]
        jumps = {id(s): s.times for s in inputs.values() if isinstance(s, Steps)}
        self.jumps = np.unique(np.concatenate([np.zeros(0), *jumps.values()]))  # these are events

    def next_jump(self, t: float) -> float:
        return first_after(t, self.jumps)

    def next(self, t: float) -> float:
        return first_after(t, self.times)


def first_after(t: float, times: Floats) -> float:
    """The first of some times that is later, and not the same but for rounding."""
    k = int(np.searchsorted(times, t + _CLOSE * abs(t), side="right"))
    return float(times[k]) if k < len(times) else np.inf


def _table_corners(problem: Problem, w: Floats) -> list[Floats]:
    hybrid = problem.lowered.system.hybrid
    assert hybrid is not None and problem.rules is not None
    part = hybrid.parts["corner"]
    if not part.count:
        return []
    now = w[problem.time_index]
    w[problem.time_index] = 0.0
    offset = problem.rules.values("corner", w)
    slope = slopes_in_time(problem, problem.lowered.moved(part.families), part.count, w)
    w[problem.time_index] = now
    found = []
    for block in part.blocks:
        rows = np.unique(np.stack([offset, slope])[:, block.start : block.start + block.count], axis=1)
        rows = rows[:, rows[1] != 0]
        assert block.rule.knots is not None
        found.append(((block.rule.knots[:, None] - rows[0]) / rows[1]).ravel())
    return found


def _spoken(unit: str) -> str:
    return "seconds" if unit == "s" else unit
