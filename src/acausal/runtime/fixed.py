"""The solver for real time: implicit formulas of order 1 and 2 with a fixed step, native. Each step costs nearly the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..errors import Diagnostic, UsageError
from .ida import NativeSolver, native_outputs
from .inputs import values_at
from .journal import Journal
from .outcome import STUCK, Outcome, explain_not_finite, explain_place, explain_singular
from .problem import Floats, Problem, core
from .solver import Option, Request, check_options

_PARTS = 1000  # of a run, if nobody says how long a step is


class Fixed:
    """Backward differences with a fixed step on the fully implicit system, with exact sparse Jacobians."""

    name = "fixed"
    events: ClassVar[bool] = True
    doc = (
        "Backward differences of order 1 or 2 with a fixed step and a bounded number of Newton iterations, native: for real time. "
        "There is no error control; halve the step, and compare. Events are located within the step in which they are found; the "
        "next step is shorter, so that later ones end on the grid again."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("step", float, 0.0, "the step in seconds; 0: a thousandth of the run", 0.0),
        Option("order", int, 2, "order of the formula: 1 (implicit Euler) or 2", 1, 2),
        Option("max_iterations", int, 8, "most Newton iterations of a step, with old and again with new factors", 1, 100),
        Option("max_steps", int, 0, "number of steps after which a run ends; 0: no limit", 0),
        Option("progress_interval", float, 0.1, "seconds of wall time between two calls of the progress function", 0.0),
    )

    def stepper(self, problem: Problem, request: Request) -> FixedSolver:
        if problem.native is None:
            raise UsageError("The solver `fixed` needs the native core, which this problem does not use.", remedy='choose "sundae"')
        options = check_options(self, request.options)
        del options["progress_interval"]
        if not options["step"]:
            if not np.isfinite(request.t_end):
                raise UsageError(
                    "The solver `fixed` needs a step where nobody knows how long the run will be.",
                    remedy='model.start(solver="fixed", step=0.01)',
                )
            options["step"] = (request.t_end - request.t0) / _PARTS
        latest = request.t_end if np.isfinite(request.t_end) else request.t0
        if latest + options["step"] == latest:
            raise UsageError(
                f"A step of {options['step']:g} s leads nowhere at {latest:g} s: the time is the same after it.",
                remedy=f"Choose a step of {1e-9 * max(abs(latest), 1.0):g} s or more.",
            )
        outputs = native_outputs(problem, request.stored)
        session = core.Fixed(problem.native, request.known, request.rtol, request.atol, outputs, **options)
        return FixedSolver(problem, request, session, options["step"])


class FixedSolver(NativeSolver):
    """An opened `fixed`. It takes no notice of how well selected states determine the rest."""

    def __init__(self, problem: Problem, request: Request, session: Any, step: float) -> None:
        self.problem, self.request, self.session, self.inputs, self.step = problem, request, session, {}, step
        self.set_inputs(request.inputs)

    def lend(self, problem: Problem) -> None:
        self.session.lend(problem.native)

    def journal(self, known: Floats) -> Callable[[], Journal] | None:
        return None

    def explain(self, outcome: Outcome, known: Floats) -> tuple[Diagnostic, ...]:
        session, problem = self.session, self.problem
        if outcome is Outcome.NOT_FINITE and session.non_finite is not None:
            t, y, yp = session.non_finite
            return explain_not_finite(problem, t, y, yp, values_at(self.inputs, t, known))
        if outcome is Outcome.SINGULAR:
            here = values_at(self.inputs, session.t, known)
            return explain_singular(problem, session.t, session.singular_column, session.y, session.yp, here)
        if outcome in STUCK:
            return explain_place(problem, session.t, session.y, session.yp, values_at(self.inputs, session.t, known))
        return ()
