"""The portable solver: IDA of scikit-sundae, plain wheels, Python callbacks. Slower, and always there."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..errors import Diagnostic
from .inputs import values_at
from .outcome import Outcome, explain_not_finite
from .problem import Problem
from .solver import Option, Request, RunResult, check_options, with_last_row
from .status import Status
from .sundae_session import SundaeSession


class Sundae:
    """The same method as `ida`, driven from Python."""

    name = "sundae"
    events: ClassVar[bool] = True
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
        options = check_options(self, request.options)
        interval = options.pop("progress_interval")
        session = SundaeSession(problem, request, options)

        def explain(outcome: Outcome) -> tuple[Diagnostic, ...]:
            return _explain(problem, request, session, outcome)

        if problem.rules is not None:
            from .events.driver import run_hybrid

            assert request.known is not None  # a checked request has its own
            return run_hybrid(problem, request, session, request.known, interval, explain)
        session.start(request.t0, request.y0, request.yp0)
        rows = np.empty((len(request.output_times), request.stored.width))
        status, written = session.advance(request.t_end, request.output_times, rows, request.progress, interval)
        outcome = Status(status).outcome
        result = RunResult(
            outcome,
            session.t,
            request.output_times[:written],
            rows[:written],
            session.y,
            session.yp,
            session.statistics(),
            session.message,
            explain(outcome),
            interrupted=session.interrupted,
        )
        return with_last_row(result, problem, request)


def _explain(problem: Problem, request: Request, session: SundaeSession, outcome: Outcome) -> tuple[Diagnostic, ...]:
    found = session.evaluation.non_finite
    if outcome is not Outcome.NOT_FINITE or found is None:
        return ()
    return explain_not_finite(problem, *found, values_at(request.inputs, found[0], session.known))
