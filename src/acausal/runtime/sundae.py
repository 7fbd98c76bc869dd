"""The portable solver: IDA of scikit-sundae, plain wheels, Python callbacks. Slower, and always there."""

from __future__ import annotations

import time
import warnings
from typing import Any, ClassVar

import numpy as np

from ..errors import Diagnostic
from .inputs import values_at
from .outcome import Outcome, explain_not_finite
from .problem import Floats, Problem
from .solver import COUNTERS, Option, Request, RunResult, Statistics, check_options, first_step, with_last_row

# IDA's return codes
OUTCOMES = {
    -1: Outcome.TOO_MANY_STEPS,
    -2: Outcome.TOO_MUCH_ACCURACY,
    -3: Outcome.ERROR_TEST,
    -4: Outcome.CONVERGENCE,
    -6: Outcome.SINGULAR,
    -9: Outcome.NOT_FINITE,
}
_STALLED = 1000  # steps after which time must have moved


class Sundae:
    """The same method as `ida`, driven from Python."""

    name = "sundae"
    doc = (
        "IDA of scikit-sundae with SuperLU; needs no compiler. It has root-mean-square norms only, which let the error of one "
        "variable grow with the square root of the size: both tolerances are divided by that square root, so that results are at "
        "least as accurate as those of `ida`. Algebraic unknowns take part in its error test."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("max_order", int, 5, "largest order of the integration formula", 1, 5),
        Option("max_step", float, 0.0, "largest step in seconds; 0: no limit", 0.0),
        Option("initial_step", float, 0.0, "first step in seconds; 0: estimated", 0.0),
        Option("max_steps", int, 0, "number of steps after which a run ends; 0: no limit", 0),
        Option("max_nonlinear_iterations", int, 4, "Newton iterations per attempt", 1, 100),
        Option("max_convergence_failures", int, 10, "failed attempts to solve a step before a run ends", 1, 1000),
        Option("progress_interval", float, 0.1, "seconds of wall time between two calls of the progress function", 0.0),
    )

    def run(self, problem: Problem, request: Request) -> RunResult:
        request = request.checked(problem)
        return _Run(problem, request, check_options(self, request.options)).result()


class _Movement:
    """Sees that time still moves, a thousand steps at a time."""

    def __init__(self, t: float) -> None:
        self.t, self.count, self.non_finite, self.without_value = t, 0, 0, False

    def stalled(self, t: float, non_finite: int) -> bool:
        self.count += 1
        if self.count % _STALLED:
            return False
        still = t - self.t < 16 * np.finfo(float).eps * abs(t) * _STALLED
        self.without_value = non_finite > self.non_finite
        self.t, self.non_finite = t, non_finite
        return bool(still)


class _Run:
    """One run; holds what the callbacks and the loop over the steps share."""

    def __init__(self, problem: Problem, request: Request, options: dict[str, Any]) -> None:
        self.problem, self.request, self.options = problem, request, options
        assert request.known is not None  # a checked request has its own
        self.known, self.known_time = request.known, np.nan
        self.non_finite: tuple[float, Floats, Floats] | None = None
        self.last_finite = True
        self.seconds = dict.fromkeys(("residual", "jacobian", "output", "total"), 0.0)
        self.statistics: Statistics = {**dict.fromkeys(COUNTERS, 0), "seconds": self.seconds}
        indptr, indices = problem.pattern
        columns = np.repeat(np.arange(problem.size), np.diff(indptr))
        self.order = np.lexsort((indices, columns))  # scikit-sundae wants the rows of a column in order
        self.solver = self._create(columns, indices)
        self.rows = np.empty((len(request.output_times), request.stored.width))
        self.written = 0
        self.t, self.y, self.yp = request.t0, request.y0, request.yp0
        self.message = ""

    def _create(self, columns: np.ndarray, indices: np.ndarray) -> Any:
        from scipy.sparse import csc_matrix
        from sksundae.ida import IDA

        problem, request, options = self.problem, self.request, self.options
        n = problem.size
        share = np.sqrt(n)
        settings: dict[str, Any] = {
            "jacfn": self.jacobian,
            "algebraic_idx": [int(i) for i in np.flatnonzero(~problem.differential)],
            "linsolver": "sparse",
            "sparsity": csc_matrix((np.ones(len(indices)), (indices, columns)), shape=(n, n)),
            "rtol": float(max(request.rtol / share, 1e-14)),
            "atol": np.asarray(request.atol) / share,
            "first_step": float(options["initial_step"] or first_step(request, problem.differential)),
            "max_step": float(options["max_step"]),
            "max_order": options["max_order"],
            "max_num_steps": _STALLED,
            "max_nonlin_iters": options["max_nonlinear_iterations"],
            "max_conv_fails": options["max_convergence_failures"],
        }
        with warnings.catch_warnings():  # it tells that a given Jacobian is used instead of its own
            warnings.simplefilter("ignore", UserWarning)
            return IDA(self.residual, **settings)

    def known_at(self, t: float) -> Floats:
        if self.request.inputs and t != self.known_time:
            self.known, self.known_time = values_at(self.request.inputs, t, self.known), t
        return self.known

    def residual(self, t: float, y: Floats, yp: Floats, res: Floats) -> None:
        begin = time.perf_counter()
        res[:] = self.problem.residual(t, y, yp, known=self.known_at(t))
        self._watch(t, y, yp, res)
        self.seconds["residual"] += time.perf_counter() - begin

    def jacobian(self, t: float, y: Floats, yp: Floats, res: Floats, cj: float, JJ: Floats) -> None:
        begin = time.perf_counter()
        JJ[:] = self.problem.jacobian(t, y, yp, cj, known=self.known_at(t))[self.order]
        if not np.isfinite(JJ).all():
            self._watch(t, y, yp, JJ)
            JJ[:] = 0.0  # singular: a failure IDA recovers from with a smaller step
        self.seconds["jacobian"] += time.perf_counter() - begin

    def _watch(self, t: float, y: Floats, yp: Floats, values: Floats) -> None:
        self.last_finite = bool(np.isfinite(values).all())
        if not self.last_finite:
            self.statistics["non_finite_evaluations"] += 1
            if np.isfinite(y).all() and np.isfinite(yp).all():  # the first cause, not what followed from it
                self.non_finite = (t, y.copy(), yp.copy())

    def result(self) -> RunResult:
        begin = time.perf_counter()
        self._write(self.request.t0)
        outcome = Outcome.FINISHED
        if self.request.t_end > self.request.t0:
            self.solver.init_step(self.request.t0, self.request.y0, self.request.yp0)
            try:
                outcome = self._integrate()
            except KeyboardInterrupt:
                outcome = Outcome.CANCELLED
        self.seconds["total"] = time.perf_counter() - begin
        written = self.written
        result = RunResult(
            outcome,
            self.t,
            self.request.output_times[:written],
            self.rows[:written],
            self.y,
            self.yp,
            self.statistics,
            self.message,
            self._explain(outcome),
        )
        return with_last_row(result, self.problem, self.request)

    def _integrate(self) -> Outcome:
        """Step by step to the end, output behind each step by interpolation, as the native solver does."""
        t_end, limit = self.request.t_end, self.options["max_steps"]
        asked, moved = time.monotonic(), _Movement(self.t)
        while self.t < t_end:
            if limit and self.statistics["steps"] >= limit:
                return Outcome.TOO_MANY_STEPS
            found = self.solver.step(t_end, method="onestep", tstop=t_end)
            if not found.success:
                self.message = found.message
                return self._failed(found.status)
            if found.t > self.t:
                self._accept(found)
            if moved.stalled(self.t, self.statistics["non_finite_evaluations"]):
                return Outcome.NOT_FINITE if moved.without_value else Outcome.STEP_TOO_SMALL
            if self.request.progress is not None and time.monotonic() - asked >= self.options["progress_interval"]:
                asked = time.monotonic()
                if self.request.progress(self.t) is False:
                    return Outcome.CANCELLED
        return Outcome.FINISHED

    def _accept(self, found: Any) -> None:
        self.t, self.y, self.yp = float(found.t), np.asarray(found.y), np.asarray(found.yp)
        self.statistics["steps"] += 1
        self.statistics.update(residual_evaluations=int(found.nfev), jacobian_evaluations=int(found.njev))
        self._write(self.t)

    def _failed(self, status: int) -> Outcome:
        outcome = OUTCOMES.get(status, Outcome.FAILED)
        singular_or_not = outcome in (Outcome.CONVERGENCE, Outcome.SINGULAR)
        return Outcome.NOT_FINITE if singular_or_not and not self.last_finite else outcome

    def _write(self, until: float) -> None:
        """Rows for the output times that were passed."""
        begin = time.perf_counter()
        times, equations = self.request.output_times, self.problem.equations
        while self.written < len(times) and times[self.written] <= until:
            t = float(times[self.written])
            y, yp = self.y, self.yp
            if t < self.t:
                between = self.solver.step(t, method="normal", tstop=self.request.t_end)
                y, yp = np.asarray(between.y), np.asarray(between.yp)
            self.request.stored.row(equations.workspace(t, y, yp, self.known_at(t)), self.rows[self.written])
            self.written += 1
        self.seconds["output"] += time.perf_counter() - begin

    def _explain(self, outcome: Outcome) -> tuple[Diagnostic, ...]:
        if outcome is not Outcome.NOT_FINITE or self.non_finite is None:
            return ()
        t, y, yp = self.non_finite
        return explain_not_finite(self.problem, t, y, yp, values_at(self.request.inputs, t, self.known))
