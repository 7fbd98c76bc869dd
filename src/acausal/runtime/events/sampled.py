"""Turns and jumps of inputs that are given as functions: a step ends at each, so that none is stepped over.

Of a function that somebody wrote in Python nothing is known but its values. It is asked at points spread over the run, irregularly
so that no period hides behind theirs, and where the result will show it, so that nothing is to be seen there that the run did not
see; and at twice as many until turns are few compared with points. Between two turns it rises or
falls, and a relation that compares it with something slow switches once at most. A function that turns at every second point
however many there are cannot be followed, and the user is told.

Where it jumps is found by bisection: between points where most of a difference is in one place, and between points around which it
is constant, as it is of values that are held. A jump is an event. One too small beside what the function does otherwise is looked
for again where a step fails, since just there it is all that the function does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from ...errors import Diagnostic
from ..inputs import Function, Side, Sided, Signal, Table, jump_between, turning
from ..problem import Floats, Problem

T = TypeVar("T")
NOWHERE = np.zeros(0)

_FIRST, _MOST = 384, 1 << 15  # points
_POINTS_PER_TURN = 8
_MOST_STEPS = 4096  # between two points
_MOST_TURNS = _MOST // _POINTS_PER_TURN
_AHEAD = 10  # of a run whose end nobody knows: how far one looks, in distances that it is asked to go
_REFINED = 24  # halvings of where a turn may be
_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
_CLOSE = 4 * np.finfo(float).eps
_BESIDE = 1e-9  # of a distance: a function that has not changed there is constant for a while
_NEAR = tuple(10.0**-k for k in range(13, 2, -1))  # of the run: where a jump is looked for that made a step fail


class Jump(NamedTuple):
    """A jump of the input in a known cell: the last time before it, and the first one after it."""

    after: float
    before: float
    cell: int


class Sampled:
    """The turns and jumps of smooth inputs of a run that is at time t, and on which side of the jumps it is."""

    def __init__(
        self, problem: Problem, inputs: Mapping[int, Signal], t: float, t_end: float, span: float, shown: Floats = NOWHERE
    ) -> None:
        """`shown`: times at which the result has values of the inputs."""
        self._shown = shown if len(shown) <= _MOST else NOWHERE  # closer than points are asked anyway
        self.t_end, self.diagnostics, self._problem, self._span = t_end, list[Diagnostic](), problem, span
        self.side, self.given, self._last = Side(t), inputs, dict[int, float]()
        self._functions = {c: s.function for c, s in inputs.items() if isinstance(s, Function)}
        self._smooth = {c: s for c, s in inputs.items() if isinstance(s, Table) and s.slopes is not None}
        self.inputs = {c: Function(Sided(s.function, self.side)) if isinstance(s, Function) else s for c, s in inputs.items()}
        self._read = _read_by_relations(problem) if self._functions or self._smooth else np.zeros(0, dtype=bool)
        self._times, self._until = np.zeros(0), -np.inf
        self._jumps = deque[Jump]()  # to come, in order

    # --- turns ----------------------------------------------------------------------------------------------------------------
    def next(self, t: float, target: float) -> float:
        """The first turn after t, for a run that is asked to go to a target."""
        if not self._functions and not self._smooth:
            return np.inf
        if t >= self._until and self._until < self.t_end:
            self._look(t, self.t_end if np.isfinite(self.t_end) else target + _AHEAD * (target - t))
        k = int(np.searchsorted(self._times, t, side="right"))
        return float(self._times[k]) if k < len(self._times) else np.inf

    def _look(self, t: float, until: float) -> None:
        self._until, found, jumps = until, [np.zeros(0)], list(self._jumps)
        for signal in self._smooth.values():
            every = self._read.any()  # for the sake of relations; else it is enough to see what comes after a rest
            found.append(_turns_of(signal, signal.times, signal.values) if every else turning(signal))
        for cell, function in self._functions.items() if until > t else ():  # a run may be asked to go nowhere
            points = self._points(cell, function, t)
            if points is not None:
                found.append(_turns_of(function, *points))
                jumps += [Jump(after, before, cell) for before, after in _jumps(function, *points)]
        self._times = np.unique(np.concatenate(found))
        if self._until < self.t_end:
            self._times = np.append(self._times[self._times < self._until], self._until)  # one looks further there
        self._jumps = deque(sorted(jumps))
        self._turn_to_next()

    def _points(self, cell: int, function: Callable[[float], float], begin: float) -> tuple[Floats, Floats] | None:
        """Where a function was asked, and what it said; None if that says nothing about what it does in between."""
        count = _FIRST
        while True:
            times, values = _asked(function, begin, self._until, count, self._shown)
            changes = np.diff(values)
            turns = int((changes[:-1] * changes[1:] < 0).sum())
            if _POINTS_PER_TURN * turns <= len(times):
                return times, values
            if count >= _MOST:
                if self._read[2 * self._problem.size + cell]:
                    self.diagnostics.append(self._too_fast(cell, turns))
                return None
            count *= 2

    def _too_fast(self, cell: int, turns: int) -> Diagnostic:
        name = self._problem.lowered.system.plant.name_of(cell, "known")
        return Diagnostic(
            f"Input {name} turns more than {turns} times within the run: a relation that reads it may change, and change back, "
            "between two steps of the solver, and nobody sees it.",
            remedy="Write the function as an expression of ac.time in the model, give sampled values "
            f'(inputs={{"{name}": ac.hold(times, values)}}), or limit the step: simulate(…, max_step=…).',
        )

    # --- what is no function of time ------------------------------------------------------------------------------------------
    def keep(self, t: float) -> None:
        """Remember what functions give where a run is left."""
        self._last = {cell: _value(function, t) for cell, function in self._functions.items()}

    def moved(self, t: float) -> np.ndarray:
        """Cells of those that give something else where it is taken up again: somebody changed what they read."""
        now = {c: _value(self._functions[c], t) for c in self._last}
        return np.array([c for c, v in self._last.items() if v != now[c] and np.isfinite([v, now[c]]).all()], dtype=np.int64)

    # --- jumps ----------------------------------------------------------------------------------------------------------------
    @property
    def next_jump(self) -> float:
        return self._jumps[0].after if self._jumps else np.inf

    def is_now(self, t: float) -> bool:
        """Whether a jump is here but for rounding."""
        return bool(self.next_jump <= t + _CLOSE * max(abs(t), self._span))

    def passed(self, t: float) -> np.ndarray:
        """Go beyond the jumps that are here; the cells that they are of."""
        cells = []
        while self.is_now(t):
            jump = self._jumps.popleft()
            self.side.after = jump.after
            cells.append(jump.cell)
        self._turn_to_next()
        return np.array(cells, dtype=np.int64)

    def missed(self, t: float) -> bool:
        """Whether there is a jump close ahead, where a step failed, that nobody knew of."""
        size = max(abs(t), self._span)
        for cell, function in self._functions.items():
            for reach in _NEAR:
                found = _safely(lambda f=function, r=reach: jump_between(f, t, t + r * size))  # type: ignore[misc]
                if found is not None and found[1] < self.next_jump:
                    self._jumps.appendleft(Jump(found[1], found[0], cell))
                    self._turn_to_next()
                    return True
        return False

    def _turn_to_next(self) -> None:
        self.side.before = self._jumps[0].before if self._jumps else np.inf


def _asked(function: Callable[[float], float], begin: float, end: float, count: int, shown: Floats) -> tuple[Floats, Floats]:
    """Values at a point within each of `count` parts of a stretch, at its ends, and at those of other times that are in it; not a
    number where it fails: the run will come there, or not."""
    parts = np.arange(count)
    times = begin + (end - begin) * (parts + np.modf(parts * _GOLDEN)[0]) / count
    within = shown[(shown > begin) & (shown < end)]
    times = np.unique(np.concatenate([times, within, [end]]))  # of a stretch of some roundings there are fewer
    return times, np.array([_value(function, t) for t in times.tolist()])


def _value(function: Callable[[float], float], t: float) -> float:
    found = _safely(lambda: float(function(t)))
    return np.nan if found is None else found


def _safely(asked: Callable[[], T]) -> T | None:
    """What a user's function gives, or None if it fails."""
    try:
        return asked()
    except Exception:
        return None


def _turns_of(signal: Callable[[float], float], times: Floats, values: Floats) -> Floats:
    """Where a function turns, and where one that rested has begun to move."""
    before, after = values[1:-1] - values[:-2], values[2:] - values[1:-1]
    turned, begun = np.flatnonzero(before * after < 0), times[2:][(before == 0) & (after != 0)]
    if len(turned) > _MOST_TURNS:  # of data; close to their points is near enough
        return np.concatenate([times[turned + 1], begun])
    return np.concatenate([[_turn(signal, times[k], times[k + 2], before[k] > 0) for k in turned], begun])


def _turn(signal: Callable[[float], float], low: float, high: float, top: bool) -> float:
    """Where between two times a function has its largest value, or its smallest; a little behind it."""
    sign = -1.0 if top else 1.0
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    of_a, of_b = sign * _value(signal, a), sign * _value(signal, b)
    for _ in range(_REFINED):
        if of_a < of_b:
            high, b, of_b = b, a, of_a
            a = high - _GOLDEN * (high - low)
            of_a = sign * _value(signal, a)
        else:
            low, a, of_a = a, b, of_b
            b = low + _GOLDEN * (high - low)
            of_b = sign * _value(signal, b)
    return float(high)


def _jumps(function: Callable[[float], float], times: Floats, values: Floats) -> list[tuple[float, float]]:
    """Jumps that show between points: each the last time before it and the first one after it."""
    found, steep = list[tuple[float, float]](), _stands_out(np.diff(values) / np.diff(times))
    may_be_held = True
    for k in np.flatnonzero(np.abs(np.diff(values)) > 0):
        low, high = float(times[k]), float(times[k + 1])
        if may_be_held and _is_held(function, low, high, float(values[k])):
            steps = _safely(lambda a=low, b=high: _steps(function, a, b))  # type: ignore[misc]
            may_be_held = steps is not None  # a smooth one of few digits is not, and would be asked a million times
            found += steps or []
        elif steep[k]:
            one = _safely(lambda a=low, b=high: jump_between(function, a, b))  # type: ignore[misc]
            found += [] if one is None else [one]
    return found


def _stands_out(slopes: Floats) -> np.ndarray:
    """Whether a slope is one that its neighbours, which are those of a smooth function, do not explain."""
    before, after = np.append(np.nan, slopes[:-1]), np.append(slopes[1:], np.nan)
    low, high = np.fmin(before, after), np.fmax(before, after)
    room = high - low + 0.1 * np.fmax(np.abs(low), np.abs(high))
    return ~((slopes >= low - room) & (slopes <= high + room))


def _is_held(function: Callable[[float], float], low: float, high: float, of_low: float) -> bool:
    """Whether a function is constant at both ends of a stretch and within it, though not between them."""

    def rests(place: float) -> bool:
        t, beside = low + place * (high - low), _BESIDE * (high - low)
        return _value(function, t - beside) == _value(function, t + beside)

    first = _value(function, low + _BESIDE * (high - low)) == of_low
    return first and rests(1 - 2 * _BESIDE) and (rests(0.5) or rests(_GOLDEN))


def _steps(function: Callable[[float], float], low: float, high: float) -> list[tuple[float, float]] | None:
    """All jumps of a function that is constant in between, as far as halving shows them; None if it is not constant."""
    found, left = list[tuple[float, float]](), [(low, function(low), high, function(high))]
    while left:
        halves = []
        for a, of_a, b, of_b in left:
            middle = 0.5 * (a + b)
            if middle in (a, b) or b - a <= 1e-16 * (high - low):
                found.append((a, b))
            else:
                here = function(middle)
                halves += [(a, of_a, middle, here), (middle, here, b, of_b)]
        left = [half for half in halves if half[1] != half[3]]
        if len(left) > _MOST_STEPS:
            return None
    return found


def _read_by_relations(problem: Problem) -> np.ndarray:
    """Mask over the workspace: what relations are computed from."""
    lowered = problem.lowered
    assert lowered.system.hybrid is not None
    wanted = np.zeros(2 * problem.size + len(problem.known), dtype=bool)
    for family in lowered.moved(lowered.system.hybrid.parts["relation"].families):
        wanted[np.where(family.slots < 0, ~family.slots, family.slots)] = True
    first = len(wanted) - lowered.computed
    for family in reversed(lowered.assignments):
        columns = wanted[first + family.rows].any(axis=0)
        slots = family.slots[:, columns]
        wanted[np.where(slots < 0, ~slots, slots)] = True
    return wanted
