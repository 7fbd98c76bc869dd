"""A session for models in which nothing is left to solve for: every variable is an expression of time and of discrete values.

It has the methods of a solver's session, so that events are handled as everywhere. Crossings are looked for on a grid and located
by bisection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..crossings import crosses
from ..gaps import Gaps
from ..inputs import Signal, Steps
from ..problem import Floats, Problem, Stored
from ..solver import COUNTERS
from ..status import Status

GRID = 5000  # points of a run between which crossings are looked for, unless `max_step` asks for more


class Still:
    """Moves through time without unknowns."""

    def __init__(self, problem: Problem, stored: Stored, inputs: Mapping[int, Signal], span: float, max_step: float = 0.0) -> None:
        self.problem, self.stored, self.inputs = problem, stored, inputs
        self.step = min(span / GRID, max_step or span)
        self.steps = 0
        self.t, self.y, self.yp, self.last_step, self.message = 0.0, np.zeros(0), np.zeros(0), 0.0, ""
        self.interrupted = False
        self._known = problem.known.copy()
        self._roots = np.zeros(0, dtype=np.int32)
        self._gaps = Gaps(0 if problem.rules is None else problem.rules.root_count)

    def start(self, t: float, y: Floats, yp: Floats, step: float = 0.0) -> None:
        self.t = t

    def set_known(self, known: Floats) -> None:
        self._known = known.copy()
        self._gaps.forget()

    def consistent(self, *_: Any) -> tuple[bool, int]:
        return True, 0

    def row(self, out: Floats) -> None:
        self.stored.row(self.evaluated(self.t), out)

    def roots(self) -> np.ndarray:
        return self._roots

    def evaluated(self, t: float) -> Floats:
        known = self._known.copy()
        for cell, signal in self.inputs.items():
            if not isinstance(signal, Steps):  # its jumps are events, and until then it is what it was
                known[cell] = signal(t)
        return self.problem.equations.workspace(t, self.y, self.yp, known)

    def _functions(self, t: float) -> Floats:
        """Crossing functions; those without a value are as they were last."""
        rules = self.problem.rules
        assert rules is not None

        def values(t: float) -> Floats:
            w = self.evaluated(t)
            return np.concatenate([rules.values("relation", w), rules.values("crossing", w)])

        known, found = self._known, values(t)
        found = self._gaps.left_zero(found, self.t, t, rules.rests(found, known), rules.zero)
        return self._gaps.filled(found, self.t, t, rules.sides(known), values)

    def take_silent(self) -> list[tuple[int, float, Floats]]:
        """Relations that have no value, each once: (row, time, workspace)."""
        found, self._gaps.silent = self._gaps.silent, []
        return [(row, t, self.evaluated(t)) for row, t in found]

    def advance(
        self, stop: float, times: Floats, rows: Floats, progress: Any = None, interval: float = 0.1, *_: float
    ) -> tuple[int, int]:
        written, g = 0, self._functions(self.t)
        while self.t < stop:
            ahead = min(self.t + self.step, stop)
            new = self._functions(ahead)
            crossed = crosses(g, new)
            if crossed.any():
                ahead, new = self._located(self.t, ahead, g)
                crossed = crosses(g, new)
            while written < len(times) and times[written] <= ahead:
                if not self._stored(float(times[written]), rows[written]):
                    return Status.NOT_FINITE, written + 1
                written += 1
            self.t = ahead
            self.steps += 1
            if progress is not None and self.steps % 1000 == 0 and progress(self.t) is False:
                return Status.CANCELLED, written
            changed = self._assigned()
            if crossed.any():
                self._roots = np.where(crossed, np.sign(new - g), 0).astype(np.int32)
                return Status.ROOT, written
            if changed:
                return Status.ASSIGNED, written
            g = new
        while written < len(times) and times[written] <= self.t:
            if not self._stored(float(times[written]), rows[written]):
                return Status.NOT_FINITE, written + 1
            written += 1
        return Status.FINISHED, written

    def _stored(self, t: float, out: Floats) -> bool:
        """Whether everything has a value at an output point, which is stored in any case."""
        workspace = self.evaluated(t)
        self.stored.row(workspace, out)
        if self.problem.has_values(workspace):
            return True
        self.t = t
        return False

    def _assigned(self) -> bool:
        """Assignments after a step (`ac.after_step`); whether one of them changed what others read."""
        rules = self.problem.rules
        assert rules is not None
        if not rules.counts["step"]:
            return False
        values, before = rules.values("step", self.evaluated(self.t)), self._known[rules.step_cells]
        self._known[rules.step_cells] = values
        return bool(((values != before) & rules.step_watched).any())

    def workspace(self, out: Floats) -> None:
        out[:] = self.evaluated(self.t)

    def _located(self, low: float, high: float, g: Floats) -> tuple[float, Floats]:
        """The first crossing: the least time at which some function has another sign than at `low`."""
        while high - low > 4 * np.finfo(float).eps * max(abs(low), abs(high)):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            if crosses(g, self._functions(middle)).any():
                high = middle
            else:
                low = middle
        return high, self._functions(high)

    def statistics(self) -> dict[str, Any]:
        return {**dict.fromkeys(COUNTERS, 0), "steps": self.steps, "seconds": {}}
