"""Turns of inputs that are given as functions: a step ends at each, so that no crossing is stepped over.

Of a function that somebody wrote in Python nothing is known but its values. It is asked at points spread over the run, irregularly
so that no period hides behind theirs, and at twice as many until turns are few compared with points. Between two turns it rises or
falls, and a relation that compares it with something slow switches once at most. A function that turns at every second point
however many there are cannot be followed, and the user is told.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import Diagnostic
from ..inputs import Function, Signal, Table
from ..problem import Floats, Problem

_FIRST, _MOST = 128, 1 << 15  # points
_POINTS_PER_TURN = 8
_REACH = 1000.0  # seconds: of a run whose end nobody knows
_REFINED = 24  # halvings of where a turn may be
_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


class Sampled:
    """The turns of those functions among the inputs that relations read."""

    def __init__(self, problem: Problem, inputs: Mapping[int, Signal], t_end: float) -> None:
        self.t_end, self.diagnostics, self._problem = t_end, list[Diagnostic](), problem
        functions = [c for c, s in inputs.items() if isinstance(s, Function) or (isinstance(s, Table) and s.slopes is not None)]
        read = _read_by_relations(problem) if functions else np.zeros(0, dtype=bool)
        self._signals = {cell: inputs[cell] for cell in functions if read[2 * problem.size + cell]}
        self._times, self._until = np.zeros(0), -np.inf

    def next(self, t: float) -> float:
        """The first turn after t."""
        if not self._signals:
            return np.inf
        if t >= self._until and self._until < self.t_end:
            self._until = self.t_end if np.isfinite(self.t_end) else t + _REACH
            self._times = np.unique(np.concatenate([np.zeros(0), *(self._turns(c, s, t) for c, s in self._signals.items())]))
            if self._until < self.t_end:
                self._times = np.append(self._times, self._until)  # one looks further there
        k = int(np.searchsorted(self._times, t, side="right"))
        return float(self._times[k]) if k < len(self._times) else np.inf

    def _turns(self, cell: int, signal: Signal, begin: float) -> Floats:
        try:
            count = _FIRST
            while True:
                times, values = _asked(signal, begin, self._until, count)
                middle = np.flatnonzero((values[1:-1] - values[:-2]) * (values[2:] - values[1:-1]) < 0) + 1
                if _POINTS_PER_TURN * len(middle) <= count or not np.isfinite(values).all():
                    break
                if count >= _MOST:
                    self.diagnostics.append(self._too_fast(cell, len(middle)))
                    return np.zeros(0)
                count *= 2
            return np.array([_turn(signal, times[k - 1], times[k + 1], values[k] > values[k - 1]) for k in middle])
        except Exception:  # it is the user's function, and the run will come to where it fails, or not
            return np.zeros(0)

    def _too_fast(self, cell: int, turns: int) -> Diagnostic:
        name = self._problem.lowered.system.plant.name_of(cell, "known")
        return Diagnostic(
            f"Input {name} turns more than {turns} times within the run: a relation that reads it may change, and change back, "
            "between two steps of the solver, and nobody sees it.",
            remedy="Write the function as an expression of ac.time in the model, give sampled values "
            f'(inputs={{"{name}": ac.hold(times, values)}}), or limit the step: simulate(…, max_step=…).',
        )


def _asked(signal: Signal, begin: float, end: float, count: int) -> tuple[Floats, Floats]:
    """Values at a point within each of `count` parts of a stretch, and at its ends."""
    parts = np.arange(count)
    times = begin + (end - begin) * (parts + np.modf(parts * _GOLDEN)[0]) / count
    times = np.concatenate([times, [end]])
    return times, signal.at(times)


def _turn(signal: Signal, low: float, high: float, top: bool) -> float:
    """Where between two times a function has its largest value, or its smallest; a little behind it."""
    sign = -1.0 if top else 1.0
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    of_a, of_b = sign * signal(a), sign * signal(b)
    for _ in range(_REFINED):
        if of_a < of_b:
            high, b, of_b = b, a, of_a
            a = high - _GOLDEN * (high - low)
            of_a = sign * signal(a)
        else:
            low, a, of_a = a, b, of_b
            b = low + _GOLDEN * (high - low)
            of_b = sign * signal(b)
    return high


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
