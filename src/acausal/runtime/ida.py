"""The default solver: SUNDIALS IDAS with KLU in the native core. No Python runs between two output points."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import Diagnostic, UsageError
from .inputs import Constant, Function, Steps, Table, values_at
from .journal import journal_of
from .outcome import Outcome, explain_limiting, explain_not_finite, explain_singular
from .problem import Floats, Problem, Stored, core
from .solver import Option, Request, RunResult, check_options, with_last_row
from .states import Watch
from .status import Status


class Ida:
    """BDF of variable order and step on the fully implicit system, with exact sparse Jacobians and maximum norms."""

    name = "ida"
    events: ClassVar[bool] = True
    doc = "SUNDIALS IDAS with KLU, native. Errors are measured in weighted maximum norms: accuracy does not dilute with size."
    options: ClassVar[tuple[Option, ...]] = (
        Option("max_order", int, 5, "largest order of the integration formula", 1, 5),
        Option("max_step", float, 0.0, "largest step in seconds; 0: no limit", 0.0),
        Option("initial_step", float, 0.0, "first step in seconds; 0: estimated", 0.0),
        Option("max_steps", int, 0, "number of steps after which a run ends; 0: no limit", 0),
        Option(
            "suppress_algebraic",
            bool,
            False,
            "leave all algebraic unknowns out of the error test; at output points they are solved for",
        ),
        Option("ordering", str, "amd", "ordering of the sparse factorisation", choices=("amd", "colamd")),
        Option("max_nonlinear_iterations", int, 8, "Newton iterations per attempt", 1, 100),
        Option("max_convergence_failures", int, 1000, "failed attempts to solve a step before a run ends", 1, 10000),
        Option("max_error_test_failures", int, 40, "failed error tests of a step before a run ends", 1, 1000),
        Option("nonlinear_tolerance", float, 0.01, "Newton's tolerance as a part of the error tolerance", 1e-6, 1.0),
        Option("record_steps", bool, False, "look at every step for `result.diagnose()`, not only at some"),
        Option("progress_interval", float, 0.1, "seconds of wall time between two calls of the progress function", 0.0),
    )

    def run(self, problem: Problem, request: Request) -> RunResult:
        request = request.checked(problem)
        options = check_options(self, request.options)
        interval = options.pop("progress_interval")
        session, known = open_session(problem, request, options)
        if problem.rules is not None:
            return _hybrid(problem, request, session, known, interval)
        session.start(request.t0, request.y0, request.yp0)
        if problem.fresh_jacobians:
            session.refresh_jacobian()
        if request.watch is not None:
            _watch(session, request.watch)
        rows = np.empty((len(request.output_times), request.stored.width))
        status, written = session.advance(request.t_end, request.output_times, rows, request.progress, interval)
        exchanges = 0
        while status == Status.STATES_DEGRADED and request.exchange is not None:
            problem, watch = request.exchange(session.t, session.y, session.yp)
            session.exchange(problem.native, *problem.error_test(request.options.get("suppress_algebraic", False)))
            _watch(session, watch)
            left = request.output_times[written:]
            status, more = session.advance(request.t_end, left, rows[written:], request.progress, interval)
            written, exchanges = written + more, exchanges + 1
        outcome = Status(status).outcome
        result = RunResult(
            outcome,
            session.t,
            request.output_times[:written],
            rows[:written],
            session.y,
            session.yp,
            {**session.statistics(), "state_exchanges": exchanges},
            session.message,
            _explain(problem, request, session, outcome, known),
            None,
            None,
            frozenset(),
            journal_of(session, problem, known, request.inputs),
            session.interrupted,
        )
        return with_last_row(result, problem, request)


def _hybrid(problem: Problem, request: Request, session: Any, known: Floats, interval: float) -> RunResult:
    """A run with events."""
    from .events.driver import run_hybrid

    if problem.fresh_jacobians:
        session.refresh_jacobian()
    if request.watch is not None:
        _watch(session, request.watch)
    return run_hybrid(
        problem,
        request,
        session,
        known,
        interval,
        lambda outcome: _explain(problem, request, session, outcome, known),
        lambda: journal_of(session, problem, known, request.inputs),
    )


def _watch(session: Any, watch: Watch) -> None:
    session.set_watch(watch.equations.native, watch.source, watch.blocks(), watch.limit)


def native_outputs(problem: Problem, stored: Stored) -> Any:
    """`_core.Outputs` for what a run stores."""
    outputs = core.Outputs(problem.native, np.ascontiguousarray(stored.gather, dtype=np.int32), stored.expressions)
    for kernel in stored.kernels:
        outputs.add(*kernel)
    return outputs


def open_session(problem: Problem, request: Request, options: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """A native session for a checked request, with its inputs in place but not started; and the known values it was given."""
    if problem.native is None:
        raise UsageError(
            "The solver `ida` needs the native core, which this problem does not use.", remedy='choose solver="sundae"'
        )
    known = request.known
    assert known is not None  # a checked request has its own
    for cell, given in request.inputs.items():
        if isinstance(given, (Constant, Steps)):
            known[cell] = given(request.t0)
    outputs = native_outputs(problem, request.stored)
    options = dict(options)
    tested, algebraic = problem.error_test(options.pop("suppress_algebraic"))
    session = core.Ida(problem.native, known, request.rtol, request.atol, tested, outputs, algebraic=algebraic, **options)
    for cell, given in request.inputs.items():
        if isinstance(given, Function):
            session.add_function(cell, given.function)
        elif isinstance(given, Table):
            session.add_table(cell, given.times, given.values, given.slopes)
    return session, known


def _explain(problem: Problem, request: Request, session: Any, outcome: Outcome, known: np.ndarray) -> tuple[Diagnostic, ...]:
    if outcome is Outcome.NOT_FINITE and session.non_finite is not None:  # else an event told it
        t, y, yp = session.non_finite
        return explain_not_finite(problem, t, y, yp, values_at(request.inputs, t, known))
    if outcome is Outcome.SINGULAR:
        here = values_at(request.inputs, session.t, known)
        return explain_singular(problem, session.t, session.singular_column, session.y, session.yp, here)
    if outcome in (Outcome.ERROR_TEST, Outcome.CONVERGENCE, Outcome.STEP_TOO_SMALL, Outcome.TOO_MANY_STEPS):
        return explain_limiting(problem, session.t, session.weighted_errors(), always=outcome is Outcome.TOO_MANY_STEPS)
    return ()
