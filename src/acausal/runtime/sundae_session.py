"""A session of scikit-sundae's IDA with the methods of the native one (`native/ida.h`), for runs from event to event.

scikit-sundae searches roots too, but then gives no values before a root any more, and output times are wanted there. So the
solver only steps; roots are searched here, on its interpolation within the step just taken.
"""

from __future__ import annotations

import ctypes
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .initialise.linear import SparseFactor
from .inputs import values_at
from .problem import Floats, Mask, Problem
from .solver import COUNTERS, Progress, Request, first_step
from .status import Status

_EPSILON = float(np.finfo(float).eps)
_STALLED = 1000  # steps after which time must have moved


# By IDA's return codes
_FAILURES = {
    -1: Status.TOO_MANY_STEPS,
    -2: Status.TOO_MUCH_ACCURACY,
    -3: Status.ERROR_TEST,
    -4: Status.CONVERGENCE,
    -6: Status.SINGULAR,
    -9: Status.NOT_FINITE,
}


class SundaeSession:
    """Start, advance to the next thing of interest, decide, go on.

    `t` may lie within the last step, which ended at `end`: at a root, or at a stop that was asked for later.
    """

    def __init__(self, problem: Problem, request: Request, options: dict[str, Any]) -> None:
        assert request.known is not None  # a checked request has its own
        self.problem, self.request, self.options = problem, request, options
        self.evaluation = Evaluation(problem, request)
        self.message, self.interrupted = "", False
        self.t = self.end = request.t0
        self.last_step = 0.0
        self._y, self._yp = request.y0.copy(), request.yp0.copy()
        self._end_values = self._y, self._yp
        self._step_hint = 0.0
        self._fresh, self._looked_back, self._to_update = True, False, False
        self._root_values: Floats | None = None  # where the session is; None: not known, or no longer valid
        self._found = np.zeros(0 if problem.rules is None else problem.rules.root_count, dtype=np.int32)
        self._consistency: Consistency | None = None
        self._asked = time.monotonic()
        self._steps = 0
        self._seconds = {"output": 0.0, "total": 0.0}
        self._solver: Any = None

    def _create(self, line: _Line, stop: float) -> Any:
        """A solver that starts where the session is. To start an old one anew would leak the memory of its factorisation.

        Both tolerances are divided by the square root of the size: see `Sundae.doc`.
        """
        from sksundae.ida import IDA

        problem, request, options = self.problem, self.request, self.options
        share = np.sqrt(problem.size)
        settings: dict[str, Any] = {
            "jacfn": line.jacobian,
            "algebraic_idx": [int(i) for i in np.flatnonzero(~problem.differential)],
            "linsolver": "sparse",
            "sparsity": self.evaluation.sparsity,
            "rtol": float(max(request.rtol / share, 1e-14)),
            "atol": np.asarray(request.atol) / share,
            "first_step": float(options["initial_step"] or self._first_step(stop)),
            "max_step": float(options["max_step"]),
            "max_order": options["max_order"],
            "max_num_steps": _STALLED,
            "max_nonlin_iters": options["max_nonlinear_iterations"],
            "max_conv_fails": options["max_convergence_failures"],
        }
        with warnings.catch_warnings():  # it tells that a given Jacobian is used instead of its own
            warnings.simplefilter("ignore", UserWarning)
            solver = IDA(line.residual, **settings)
        solver.init_step(self.t, self._y, self._yp)
        return solver

    # --- where it is ----------------------------------------------------------------------------------------------------------
    @property
    def y(self) -> Floats:
        return self._y.copy()

    @property
    def yp(self) -> Floats:
        return self._yp.copy()

    @property
    def known(self) -> Floats:
        return self.evaluation.known.copy()

    def workspace(self, out: Floats) -> None:
        out[:] = self.evaluation.workspace(self.t, self._y, self._yp)

    def row(self, out: Floats) -> None:
        """What is stored, where the session is."""
        self.request.stored.row(self.evaluation.workspace(self.t, self._y, self._yp), out)

    def roots(self) -> np.ndarray:
        """After status ROOT: +1, -1 or 0 for each root function."""
        return self._found.copy()

    def statistics(self) -> dict[str, Any]:
        counts = {**dict.fromkeys(COUNTERS, 0), "steps": self._steps, **self.evaluation.counts}
        return {**counts, "seconds": {**self.evaluation.seconds, **self._seconds}}

    # --- between two calls of advance -----------------------------------------------------------------------------------------
    def start(self, t: float, y: Floats, yp: Floats, step: float = 0.0) -> None:
        """First start, or restart after an event. `step`: a time within which slopes change little, if one is known."""
        self.t = self.end = float(t)
        self._y, self._yp = np.array(y, dtype=float), np.array(yp, dtype=float)
        self._end_values = self._y, self._yp
        self._step_hint, self.last_step = step, 0.0
        self._fresh, self._looked_back, self._to_update = True, False, False
        self._root_values = None

    def set_known(self, known: Floats) -> None:
        self.evaluation.set_known(known)
        self._root_values = None

    def set_cells(self, cells: np.ndarray, values: Floats) -> None:
        known = self.evaluation.known.copy()
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
        """Consistent y and y' at a time, in place; the session stays where it is. On failure nothing is changed."""
        if self._consistency is None:
            self._consistency = Consistency(self.problem)
        known = self.evaluation.known_at(t)
        return self._consistency.solve(t, y, yp, known, differential, nominal, tolerance, max_iterations)

    # --- integration ----------------------------------------------------------------------------------------------------------
    def advance(
        self, stop: float, output_times: Floats, rows: Floats, progress: Progress | None = None, interval: float = 0.1
    ) -> tuple[int, int]:
        """To `stop`, the first root, or the first change of a watched step update; with rows for the output times on the way."""
        begin = time.perf_counter()
        output, self.message = _Output(output_times, rows), ""
        nearest = self.t + 8 * _EPSILON * max(abs(self.t), abs(stop))  # closer than this, IDA does not move
        self._write(output, nearest)
        status: Status = Status.FINISHED
        try:
            if stop > nearest:
                status = self._integrate(stop, output, progress, interval)
            else:
                self.t = max(self.t, stop)
        except KeyboardInterrupt:
            status, self.interrupted = Status.CANCELLED, True
        self._seconds["total"] += time.perf_counter() - begin
        return int(status), output.written

    def _integrate(self, stop: float, output: _Output, progress: Progress | None, interval: float) -> Status:
        """Step by step; what lies within a step is looked at after it. Output times do not influence the steps."""
        limit, counts = self.options["max_steps"], self.evaluation.counts
        moved = _Movement(self.t, counts["non_finite_evaluations"])
        while self.t < stop:
            if self.t >= self.end:
                if limit and self._steps >= limit:
                    return Status.TOO_MANY_STEPS
                failed = self._step(stop)
                if failed is not None:
                    return failed
            crossed = self._move(min(self.end, stop))
            self._write(output, self.t)
            assigned = self._update_after_step()
            if crossed or assigned:
                return Status.ROOT if crossed else Status.ASSIGNED
            if moved.stalled(self.t, counts["non_finite_evaluations"]):
                return Status.NOT_FINITE if moved.without_value else Status.STEP_TOO_SMALL
            if progress is not None and time.monotonic() - self._asked >= interval:
                self._asked = time.monotonic()
                if progress(self.t) is False:
                    return Status.CANCELLED
        return Status.FINISHED

    def _step(self, stop: float) -> Status | None:
        """One step of the solver, not beyond `stop`; what failed, if it did."""
        found = self._first(stop) if self._fresh else self._solver.step(stop, method="onestep", tstop=stop)
        if self._looked_back and found.success and found.t <= self.end:  # it only came back from there
            found = self._solver.step(stop, method="onestep", tstop=stop)
        if not found.success:
            self.message = found.message
            return self._failure(found.status)
        self._fresh = self._looked_back = False
        if found.t > self.end:
            self.last_step = float(found.t) - self.end
            self.end, self._end_values = float(found.t), (np.asarray(found.y), np.asarray(found.yp))
            self._to_update = True
            self._steps += 1
        return None

    def _first(self, stop: float) -> Any:
        """The first step after a start. Freed before it has factorised a matrix, an IDA of scikit-sundae ends the process."""
        line = _Line(self.evaluation)
        self._solver = self._create(line, stop)
        kept = ctypes.py_object(self._solver)
        ctypes.pythonapi.Py_IncRef(kept)
        try:
            found = self._solver.step(stop, method="onestep", tstop=stop)
        except BaseException:
            line.evaluation = None
            raise
        if found.njev:
            ctypes.pythonapi.Py_DecRef(kept)
        return found

    def _first_step(self, stop: float) -> float:
        """As native/ida.cpp estimates it."""
        here = replace(self.request, t0=self.t, t_end=stop, y0=self._y, yp0=self._yp)
        h, hint = first_step(here, self.problem.differential), self._step_hint
        if hint > 0:  # slopes change little within it: the error of order 1 is about rate h² / hint
            weights = self.request.rtol * np.abs(self._y) + np.asarray(self.request.atol)
            rate = float((np.abs(self._yp) / np.maximum(weights, np.finfo(float).tiny))[self.problem.differential].max(initial=0.0))
            h = min(hint, stop - self.t)
            h = float(np.sqrt(0.5 * hint / rate)) if rate * h * h > 0.5 * hint else h
        return max(h, 32 * _EPSILON * max(abs(self.t), abs(stop)))

    def _failure(self, code: int) -> Status:
        status = _FAILURES.get(code, Status.FAILED)
        in_vain = status in (Status.CONVERGENCE, Status.SINGULAR)
        return Status.NOT_FINITE if in_vain and not self.evaluation.last_finite else status

    def _values_at(self, t: float) -> tuple[Floats, Floats]:
        """y and y' at a time within the last step."""
        if t == self.end:
            return self._end_values
        self._looked_back = True
        between = self._solver.step(t, method="normal", tstop=None)
        return np.asarray(between.y), np.asarray(between.yp)

    def _move(self, target: float) -> bool:
        """Go to a time within the last step, or to the first root before it: then True."""
        values, crossed = self._values_at(target), False
        if len(self._found):
            before = self.evaluation.roots(self.t, self._y, self._yp) if self._root_values is None else self._root_values
            after = self.evaluation.roots(target, *values)
            after = np.where(np.isnan(after), before, after)
            if crosses(before, after).any():
                tolerance = 100 * _EPSILON * (abs(self.end) + self.last_step)
                target, before, after = first_crossing(
                    (self.t, target), before, after, lambda t: self.evaluation.roots(t, *self._values_at(t)), tolerance
                )
                values, crossed = self._values_at(target), True
                self._found = np.where(crosses(before, after), -np.sign(before), 0).astype(np.int32)
            self._root_values = after
        self.t, (self._y, self._yp) = target, values
        return crossed

    def _update_after_step(self) -> bool:
        """True: a watched cell changed. A step that is left at a root is not done again when the run goes on from there."""
        rules = self.problem.rules
        if not self._to_update or rules is None or not len(rules.step_cells):
            return False
        self._to_update = False
        w = self.evaluation.workspace(self.t, self._y, self._yp)
        values = rules.values("step", w)
        changed = values != w[2 * self.problem.size + rules.step_cells]
        if changed.any():
            self.set_cells(rules.step_cells, values)
        return bool((changed & rules.step_watched).any())

    def _write(self, output: _Output, until: float) -> None:
        """Rows for the output times that were passed."""
        begin = time.perf_counter()
        while (t := output.next()) <= until:
            y, yp = (self._y, self._yp) if self._fresh or t >= self.t else self._values_at(t)
            self.request.stored.row(self.evaluation.workspace(t, y, yp), output.rows[output.written])
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


class Evaluation:
    """What IDA calls; knows the known values of the moment, and the last place where something had no value."""

    def __init__(self, problem: Problem, request: Request) -> None:
        from scipy.sparse import csc_matrix

        assert request.known is not None
        self.problem, self.inputs = problem, request.inputs
        self.known, self._here, self._time = request.known.copy(), request.known, np.nan
        self.non_finite: tuple[float, Floats, Floats] | None = None
        self.last_finite = True
        names = ("residual_evaluations", "jacobian_evaluations", "root_evaluations", "non_finite_evaluations")
        self.counts = dict.fromkeys(names, 0)
        self.seconds = dict.fromkeys(("residual", "jacobian", "roots"), 0.0)
        indptr, indices = problem.pattern
        columns = np.repeat(np.arange(problem.size), np.diff(indptr))
        self._order = np.lexsort((indices, columns))  # scikit-sundae wants the rows of a column in order
        shape = (problem.size, problem.size)
        self.sparsity = csc_matrix((np.ones(len(indices)), (indices, columns)), shape=shape)

    def set_known(self, known: Floats) -> None:
        self.known, self._time = known.copy(), np.nan

    def known_at(self, t: float) -> Floats:
        if not self.inputs:
            return self.known
        if t != self._time:
            self._here, self._time = values_at(self.inputs, t, self.known), t
        return self._here

    def workspace(self, t: float, y: Floats, yp: Floats) -> Floats:
        return self.problem.equations.workspace(t, y, yp, self.known_at(t))

    def residual(self, t: float, y: Floats, yp: Floats, res: Floats) -> None:
        begin = time.perf_counter()
        self.counts["residual_evaluations"] += 1
        res[:] = self.problem.residual(t, y, yp, known=self.known_at(t))
        self._watch(t, y, yp, res)
        self.seconds["residual"] += time.perf_counter() - begin

    def jacobian(self, t: float, y: Floats, yp: Floats, cj: float, out: Floats) -> None:
        begin = time.perf_counter()
        self.counts["jacobian_evaluations"] += 1
        out[:] = self.problem.jacobian(t, y, yp, cj, known=self.known_at(t))[self._order]
        if not np.isfinite(out).all():
            self._watch(t, y, yp, out)
            out[:] = 0.0  # singular: a failure IDA recovers from with a smaller step
        self.seconds["jacobian"] += time.perf_counter() - begin

    def roots(self, t: float, y: Floats, yp: Floats) -> Floats:
        begin = time.perf_counter()
        self.counts["root_evaluations"] += 1
        rules = self.problem.rules
        assert rules is not None
        w = self.workspace(t, y, yp)
        values = np.concatenate([rules.values("relation", w), rules.values("crossing", w)])
        self.seconds["roots"] += time.perf_counter() - begin
        return values

    def _watch(self, t: float, y: Floats, yp: Floats, values: Floats) -> None:
        self.last_finite = bool(np.isfinite(values).all())
        if not self.last_finite:
            self.counts["non_finite_evaluations"] += 1
            if np.isfinite(y).all() and np.isfinite(yp).all():  # the first cause, not what followed from it
                self.non_finite = (t, y.copy(), yp.copy())


class _Line:
    """Between a solver and what it evaluates. It can be cut, so that a solver that must not be freed keeps nothing else alive."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation: Evaluation | None = evaluation

    def residual(self, t: float, y: Floats, yp: Floats, res: Floats) -> None:
        assert self.evaluation is not None
        self.evaluation.residual(t, y, yp, res)

    def jacobian(self, t: float, y: Floats, yp: Floats, res: Floats, cj: float, JJ: Floats) -> None:
        assert self.evaluation is not None
        self.evaluation.jacobian(t, y, yp, cj, JJ)


# --- roots ----------------------------------------------------------------------------------------------------------------
def crosses(before: Floats, after: Floats) -> Mask:
    """Which functions left their side of zero. One that was zero had no side to leave."""
    return np.asarray((before * after < 0) | ((np.abs(before) > 0) & (after == 0)))


def first_crossing(
    span: tuple[float, float], before: Floats, after: Floats, values: Callable[[float], Floats], tolerance: float
) -> tuple[float, Floats, Floats]:
    """Where the first of several functions crosses zero within a span at whose end some have crossed.

    Returns a time behind the crossing by `tolerance` at most, and all values before and behind. Secants of the function that
    seems to be first, with less weight for an end that stays (the Illinois method), and a bisection where they are
    slow. A function without a value keeps the one it had.

    >>> t, _, after = first_crossing((0.0, 2.0), np.array([-1.0]), np.array([3.0]), lambda t: np.array([t * t - 1]), 1e-12)
    >>> 0 <= t - 1 <= 1e-12, bool(after[0] >= 0)
    (True, True)
    """
    lo, hi = span
    weights, kept, widths = [1.0, 1.0], None, [np.inf, np.inf]
    while hi - lo > tolerance:
        candidates = np.flatnonzero(crosses(before, after))
        a, b = before[candidates], after[candidates]
        first = candidates[np.argmin(a / (a - b))]
        a, b = weights[0] * before[first], weights[1] * after[first]
        slow, widths = hi - lo > 0.5 * widths[0], [widths[1], hi - lo]
        t = lo + (hi - lo) * float(0.5 if slow else a / (a - b))
        t = min(max(t, lo + tolerance / 2), hi - tolerance / 2)
        here = values(t)
        stays = 0 if crosses(before, here).any() else 1
        weights[1 - stays] = 1.0
        weights[stays] = weights[stays] / 2 if stays == kept else 1.0
        kept = stays
        if stays == 0:
            hi, after = t, here
        else:
            lo, before = t, np.where(np.isnan(here), before, here)
    return hi, before, after


# --- consistent values ----------------------------------------------------------------------------------------------------
_LARGE = 2.0**200  # with such a cj the difference of two Jacobians is dF/dy' to the last bit (see native/consistent.cpp)
_RESIDUE = 1e-40  # what contributions to dF/dy' that cancel leave behind, as a part of dF/dy
_SLOWEST = 1e-6  # a rate below this part of the nominal value a second is as good as none
_HALVINGS = 10


class Consistency:
    """Newton's method for derivatives of states and values of the other unknowns, as native/consistent.cpp has it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        indptr, self.rows = problem.pattern
        self.columns = np.repeat(np.arange(problem.size), np.diff(indptr))
        self.factor = SparseFactor(indptr, self.rows)
        self.slope = problem.differential
        self.by_value = self.by_slope = np.zeros(0)

    def solve(
        self, t: float, y: Floats, yp: Floats, known: Floats, differential: Mask, nominal: Floats, tolerance: float, most: int
    ) -> tuple[bool, int]:
        value, rate = y.copy(), np.where(differential, yp, 0.0)
        residual = self.problem.residual(t, value, rate, known=known)
        if not np.isfinite(residual).all():
            return False, 0
        for iteration in range(most):
            if not self._linearise(t, value, rate, known):
                return False, iteration
            if iteration == 0:
                self.slope = differential & (np.bincount(self.columns, self.by_slope != 0, len(y)) > 0)
                rate[~self.slope] = 0.0
                if (np.abs(residual) <= 4 * _EPSILON * self._scale(value, rate)).all():
                    return self._accepted(y, yp, value, rate), 0
            if not self.factor.factor(np.where(self.slope[self.columns], self.by_slope, self.by_value)):
                return False, iteration
            correction = self.factor.solve(residual)
            if not np.isfinite(correction).all():
                return False, iteration
            size = np.maximum(np.abs(np.where(self.slope, rate, value)), np.where(self.slope, _SLOWEST, 1.0) * nominal)
            small = bool((np.abs(correction) <= tolerance * size).all())
            found = self._corrected(t, value, rate, known, correction, residual, nominal, tolerance, small)
            if found is None:
                return False, iteration + 1
            value, rate, residual = found
            if small or self._within(residual, value, rate, nominal, tolerance):
                return self._accepted(y, yp, value, rate), iteration + 1
        return False, most

    def _accepted(self, y: Floats, yp: Floats, value: Floats, rate: Floats) -> bool:
        y[:], yp[:] = value, rate
        return True

    def _linearise(self, t: float, value: Floats, rate: Floats, known: Floats) -> bool:
        """Both parts of the Jacobian."""
        self.by_value = self.problem.jacobian(t, value, rate, 0.0, known=known)
        with np.errstate(all="ignore"):
            slopes = (self.problem.jacobian(t, value, rate, _LARGE, known=known) - self.by_value) / _LARGE
        self.by_slope = np.where(np.abs(slopes) > _RESIDUE * np.abs(self.by_value), slopes, 0.0)
        return bool(np.isfinite(slopes).all() and np.isfinite(self.by_value).all())

    def _scale(self, value: Floats, rate: Floats, nominal: Floats | float = 0.0, moved: Floats | float = 0.0) -> Floats:
        """How large the terms of each row are: what a residual is measured against."""
        value = np.maximum(np.abs(value), nominal) + np.where(self.slope, 0.0, moved)
        rate = np.abs(rate) + np.where(self.slope, moved, 0.0)
        terms = np.abs(self.by_value) * value[self.columns] + np.abs(self.by_slope) * rate[self.columns]
        return np.bincount(self.rows, terms, len(value)).astype(float, copy=False)

    def _within(self, residual: Floats, value: Floats, rate: Floats, nominal: Floats, tolerance: float) -> bool:
        return bool((np.abs(residual) <= tolerance * self._scale(value, rate, nominal)).all())

    def _corrected(
        self,
        t: float,
        value: Floats,
        rate: Floats,
        known: Floats,
        correction: Floats,
        residual: Floats,
        nominal: Floats,
        tolerance: float,
        small: bool,
    ) -> tuple[Floats, Floats, Floats] | None:
        """One correction, halved until the residuals become smaller; rounding decides that after a small one."""
        weight = self._scale(value, rate, nominal, np.abs(correction))
        before = _worst(residual, weight)
        for k in range(_HALVINGS + 1):
            part = correction * 0.5**k
            new_value, new_rate = value - np.where(self.slope, 0.0, part), rate - np.where(self.slope, part, 0.0)
            new = self.problem.residual(t, new_value, new_rate, known=known)
            if not np.isfinite(new).all():
                continue
            if small or _worst(new, weight) < before or self._within(new, new_value, new_rate, nominal, tolerance):
                return new_value, new_rate, new
        return None


def _worst(residual: Floats, weight: Floats) -> float:
    some = residual != 0
    with np.errstate(divide="ignore"):
        return float((np.abs(residual[some]) / weight[some]).max(initial=0.0))
