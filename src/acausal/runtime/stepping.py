"""A stepper around any integrator: what a run asks of a solver from event to event, with the methods of native/ida.h.

The integrator only steps. Roots are searched here, on its interpolation within the step just taken; output times are interpolated,
and have no influence on the steps.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from .consistent import Consistency
from .crossings import crosses, first_crossing
from .gaps import Gaps
from .integrator import Integrator, Step, StepFailed, Task
from .problem import Floats, Mask, Problem, Stored
from .solver import COUNTERS, Progress
from .status import Status

_EPSILON = float(np.finfo(float).eps)
_NO_WAY = 1e-150  # from 0 to a stop: IDA multiplies the way by a step, and the product is no number above zero
_DEGRADATION = 3.0  # of what was found at first
_STALLED = 1000  # steps after which time must have moved


class Stepper(Protocol):
    """What a run asks of a solver: start, advance to the next thing of interest, decide, go on."""

    t: float
    message: str
    interrupted: bool

    @property
    def y(self) -> Floats: ...
    @property
    def yp(self) -> Floats: ...
    @property
    def last_step(self) -> float: ...

    def start(self, t: float, y: Floats, yp: Floats, step: float = 0.0) -> None: ...
    def advance(
        self,
        t_end: float,
        output_times: Floats,
        rows: Floats,
        progress: Progress | None = None,
        interval: float = 0.1,
        stored_until: float = -np.inf,
        stop: float = -np.inf,
    ) -> tuple[int, int]: ...
    def set_known(self, known: Floats) -> None: ...
    def consistent(self, t: float, y: Floats, yp: Floats, differential: Mask, nominal: Floats) -> tuple[bool, int]: ...
    def roots(self) -> np.ndarray: ...
    def row(self, out: Floats) -> None: ...
    def workspace(self, out: Floats) -> None: ...
    def statistics(self) -> dict[str, Any]: ...


class Stepping:
    """`t` may lie within the last step, which ended at `end`: at a root, or where the caller asked to go."""

    def __init__(self, task: Task, integrator: Integrator, stored: Stored) -> None:
        self.task, self.integrator, self.stored = task, integrator, stored
        self.problem = task.problem
        self.message, self.interrupted = "", False
        self.t = self.end = task.t0
        self.last_step = 0.0
        self._y = self._yp = np.zeros(0)
        self._end_values = self._y, self._yp
        self._to_update = False
        self._recorded = np.inf  # until here histories know what was
        self._root_values: Floats | None = None  # where it is; None: not known, or no longer valid
        rules = self.problem.rules
        self._found = np.zeros(0 if rules is None else rules.root_count, dtype=np.int32)
        self._gaps = Gaps(len(self._found))
        self._consistency: Consistency | None = None
        self._watch: Any = None  # how well the selected states determine the rest, where they may be exchanged …
        self._allowed = 0.0  # … and how badly they may
        self._asked = time.monotonic()
        self._steps = 0
        self._seconds = {"output": 0.0, "total": 0.0}

    # --- where it is ----------------------------------------------------------------------------------------------------------
    @property
    def y(self) -> Floats:
        return self._y.copy()

    @property
    def yp(self) -> Floats:
        return self._yp.copy()

    @property
    def known(self) -> Floats:
        return self.task.known.copy()

    def workspace(self, out: Floats) -> None:
        out[:] = self.task.workspace(self.t, self._y, self._yp)

    def row(self, out: Floats) -> None:
        """What is stored, where the stepper is; within a step all that is not a state is solved for, as an event does there."""
        y, yp = self.y, self.yp
        if self.t < self.end and not self.consistent(self.t, y, yp, self.problem.differential, self.problem.nominal)[0]:
            y, yp = self.y, self.yp
        self.stored.row(self.task.workspace(self.t, y, yp), out)

    def roots(self) -> np.ndarray:
        """After status ROOT: +1, -1 or 0 for each root function."""
        return self._found.copy()

    def statistics(self) -> dict[str, Any]:
        counts = {**dict.fromkeys(COUNTERS, 0), "steps": self._steps, **self.task.counts}
        return {**counts, "seconds": {**self.task.seconds, **self._seconds}}

    # --- other equations for the same unknowns ---------------------------------------------------------------------------------
    def take(self, task: Task, integrator: Integrator) -> None:
        """Go on with these; a start follows."""
        self.task, self.integrator, self.problem, self._consistency = task, integrator, task.problem, None

    def lend(self, problem: Problem) -> None:
        """Let `consistent` work with these, until it is lent those of the run again."""
        self._consistency = Consistency(problem)

    def look_at(self, watch: Any) -> None:
        """After every step, see whether the states that were selected still determine the rest well (native/watch.h)."""
        self._watch, self._allowed = watch, 0.0

    def _degraded(self) -> bool:
        if self._watch is None or self.t < self.end:
            return False
        from .states import spread

        known = self.task.known_at(self.t)
        whole = spread(self.problem, self.t, self._y, self._yp, known)
        now = self._watch.growth(self.t, *whole, known[: self.problem.lowered.system.known_count])
        if self._allowed == 0.0:
            self._allowed = max(self._watch.limit, _DEGRADATION * now)  # nothing better was to be had
        return bool(now > self._allowed)

    # --- between two calls of advance -----------------------------------------------------------------------------------------
    def start(self, t: float, y: Floats, yp: Floats, step: float = 0.0) -> None:
        """First start, or restart after an event. `step`: a time within which slopes change little, if one is known."""
        if self._recorded < self.t == t:  # left within a step: what was before whatever happens here
            self._record()
        self.t = self.end = float(t)
        self._y, self._yp = np.array(y, dtype=float), np.array(yp, dtype=float)
        self._end_values = self._y, self._yp
        self.last_step, self._to_update = 0.0, False
        self._root_values = None
        self._gaps.forget()
        self.integrator.start(self.t, self.y, self.yp, step)
        self._record()  # histories begin a new segment here

    def set_known(self, known: Floats) -> None:
        self.task.set_known(known)
        self._root_values = None
        self._gaps.forget()

    def set_cells(self, cells: np.ndarray, values: Floats) -> None:
        known = self.task.known.copy()
        known[cells] = values
        self.set_known(known)

    def consistent(
        self,
        t: float,
        y: Floats,
        yp: Floats,
        differential: Mask,
        nominal: Floats,
        tolerance: float = 1e-10,
        max_iterations: int = 20,
    ) -> tuple[bool, int]:
        """Consistent y and y' at a time, in place; the stepper stays where it is. On failure nothing is changed."""
        if self._consistency is None:
            self._consistency = Consistency(self.problem)
        known = self.task.known_at(t)
        return self._consistency.solve(t, y, yp, known, differential, nominal, tolerance, max_iterations)

    # --- integration ----------------------------------------------------------------------------------------------------------
    def advance(
        self,
        t_end: float,
        output_times: Floats,
        rows: Floats,
        progress: Progress | None = None,
        interval: float = 0.1,
        stored_until: float = -np.inf,
        stop: float = -np.inf,
    ) -> tuple[int, int]:
        """To `t_end`, the first root, or the first change of a watched step update; with rows for the output times on the way.

        Steps do not pass `stop`; where it is later than `t_end` they take no notice of `t_end`.
        """
        begin = time.perf_counter()
        output, self.message = _Output(output_times, rows), ""
        nearest = self.t + max(8 * _EPSILON * max(abs(self.t), abs(t_end)), _NO_WAY)  # closer than this, a step does not move
        self._write(output, nearest)
        status: Status = Status.FINISHED
        try:
            if t_end > nearest:
                status = self._integrate(t_end, max(stop, t_end), output, progress, interval)
            else:
                self.t = max(self.t, t_end)
        except KeyboardInterrupt:
            status, self.interrupted = Status.CANCELLED, True
        self._seconds["total"] += time.perf_counter() - begin
        return int(status), output.written

    def _integrate(self, t_end: float, stop: float, output: _Output, progress: Progress | None, interval: float) -> Status:
        """Step by step; what lies within a step is looked at after it."""
        limit, counts = self.task.options.get("max_steps", 0), self.task.counts
        moved = _Movement(self.t, counts["non_finite_evaluations"])
        while self.t < t_end:
            if self.t >= self.end:
                if limit and self._steps >= limit:
                    return Status.TOO_MANY_STEPS
                failed = self._step(stop)
                if failed is not None:
                    return failed
            crossed = self._move(min(self.end, t_end))
            self._write(output, self.t)
            assigned = (crossed or self.t >= self.end) and self._update_after_step()
            if crossed or assigned:
                return Status.ROOT if crossed else Status.ASSIGNED
            if self._degraded():
                return Status.STATES_DEGRADED
            if moved.stalled(self.t, counts["non_finite_evaluations"]):
                return Status.NOT_FINITE if moved.without_value else Status.STEP_TOO_SMALL
            if progress is not None and time.monotonic() - self._asked >= interval:
                self._asked = time.monotonic()
                if progress(self.t) is False:
                    return Status.CANCELLED
        return Status.FINISHED

    def _step(self, stop: float) -> Status | None:
        """One step of the integrator, not beyond `stop`; what failed, if it did."""
        try:
            found = Step(*self.integrator.step(stop))
        except StepFailed as failed:
            self.message = failed.message
            in_vain = failed.status in (Status.CONVERGENCE, Status.SINGULAR)
            return Status.NOT_FINITE if in_vain and not self.task.last_finite else failed.status
        if found.t > self.end:
            self.last_step = float(found.t) - self.end
            self.end, self._end_values = float(found.t), (np.array(found.y, dtype=float), np.array(found.yp, dtype=float))
            self._to_update = True
            self._steps += 1
        return None

    def _values_at(self, t: float) -> tuple[Floats, Floats]:
        """y and y' at a time within the last step."""
        if t == self.end:
            return self._end_values
        y, yp = self.integrator.at(t)
        return np.asarray(y, dtype=float), np.asarray(yp, dtype=float)

    def _move(self, target: float) -> bool:
        """Go to a time within the last step, or to the first root before it: then True."""
        values, crossed = self._values_at(target), False
        if len(self._found):
            before = self._roots(self.t) if self._root_values is None else self._root_values
            after = self._roots(target)
            if crosses(before, after).any():
                tolerance = 100 * _EPSILON * (abs(self.end) + self.last_step)
                target, before, after = first_crossing((self.t, target), before, after, self._roots, tolerance)
                values, crossed = self._values_at(target), True
                self._found = np.where(crosses(before, after), -np.sign(before), 0).astype(np.int32)
            self._root_values = after
        self.t, (self._y, self._yp) = target, values
        return crossed

    def _roots(self, t: float) -> Floats:
        """Root functions at a time within the last step, those without a value as they were last."""

        def values(t: float) -> Floats:
            return self.task.roots(t, *((self._y, self._yp) if t == self.t else self._values_at(t)))

        rules = self.problem.rules
        assert rules is not None
        known, found = self.task.known, values(t)
        found = self._gaps.left_zero(found, self.t, t, rules.rests(found, known), rules.zero)
        return self._gaps.filled(found, self.t, t, rules.sides(known), values)

    def take_silent(self) -> list[tuple[int, float, Floats]]:
        """Relations that have no value, each once: (row, time, workspace where the stepper is)."""
        found, self._gaps.silent = self._gaps.silent, []
        return [(row, t, self.task.workspace(self.t, self._y, self._yp)) for row, t in found]

    def _update_after_step(self) -> bool:
        """True: a watched cell changed. A step that is left at a root is not done again when the run goes on from there, but
        histories see every root: otherwise what is after a jump at the second one would be the end of an ordinary step."""
        first, self._to_update = self._to_update, False
        found = self._record() if first or self.t > self._recorded else None
        if found is None or not first:
            return False
        rules, (w, values) = self.problem.rules, found
        assert rules is not None
        changed = values != w[2 * self.problem.size + rules.step_cells]
        if changed.any():
            self.set_cells(rules.step_cells, values)
        return bool((changed & rules.step_watched).any())

    def _record(self) -> tuple[Floats, Floats] | None:
        """The workspace and what is assigned after steps, the evaluation of which writes histories (`native/delays.cpp`)."""
        rules = self.problem.rules
        if rules is None or not len(rules.step_cells):
            return None
        self._recorded, w = self.t, self.task.workspace(self.t, self._y, self._yp)
        return w, rules.values("step", w)

    def _write(self, output: _Output, until: float) -> None:
        """Rows for the output times that were passed."""
        begin = time.perf_counter()
        while (t := output.next()) <= until:
            y, yp = (self._y, self._yp) if t >= self.t or self.last_step == 0 else self._values_at(t)
            self.stored.row(self.task.workspace(t, y, yp), output.rows[output.written])
            output.written += 1
        self._seconds["output"] += time.perf_counter() - begin


class _Output:
    """Output times of one call of `advance`, and the rows for them."""

    def __init__(self, times: Floats, rows: Floats) -> None:
        self.times, self.rows, self.written = times, rows, 0

    def next(self) -> float:
        return float(self.times[self.written]) if self.written < len(self.times) else np.inf


class _Movement:
    """Sees that time still moves, a thousand steps at a time."""

    def __init__(self, t: float, non_finite: int) -> None:
        self.t, self.count, self.non_finite, self.without_value = t, 0, non_finite, False

    def stalled(self, t: float, non_finite: int) -> bool:
        self.count += 1
        if self.count % _STALLED:
            return False
        still = t - self.t < 16 * _EPSILON * abs(t) * _STALLED
        self.without_value = non_finite > self.non_finite
        self.t, self.non_finite = t, non_finite
        return bool(still)
