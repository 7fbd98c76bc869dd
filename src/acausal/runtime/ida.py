"""The default solver: SUNDIALS IDAS with KLU in the native core. No Python runs between two output points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import Diagnostic, UsageError
from .inputs import Function, Signal, Table, on_both_sides, values_at
from .outcome import STUCK, Outcome, explain_not_finite, explain_singular, explain_stopped
from .problem import Floats, Problem, Stored, core
from .solver import Option, Request, check_options

if TYPE_CHECKING:
    from .journal import Journal
    from .states import Watch


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
        Option(
            "ordering",
            str,
            "auto",
            "ordering of sparse factors; auto: what fills in less",
            choices=("auto", "amd", "colamd"),
        ),
        Option("max_nonlinear_iterations", int, 8, "Newton iterations per attempt", 1, 100),
        Option("max_convergence_failures", int, 1000, "failed attempts to solve a step before a run ends", 1, 10000),
        Option("max_error_test_failures", int, 40, "failed error tests of a step before a run ends", 1, 1000),
        Option("nonlinear_tolerance", float, 0.01, "Newton's tolerance as a part of the error tolerance", 1e-6, 1.0),
        Option("record_steps", bool, False, "look at every step for `result.diagnose()`, not only at some"),
        Option("progress_interval", float, 0.1, "seconds of wall time between two calls of the progress function", 0.0),
    )

    def stepper(self, problem: Problem, request: Request) -> NativeSolver:
        """A native session for a checked request, with its inputs in place but not started."""
        if problem.native is None:
            raise UsageError(
                "The solver `ida` needs the native core, which this problem does not use.", remedy='choose solver="sundae"'
            )
        options = check_options(self, request.options)
        del options["progress_interval"]
        tested, algebraic, derivative = problem.error_test(options.pop("suppress_algebraic"))
        known = request.known
        assert known is not None  # a checked request has its own
        outputs = native_outputs(problem, request.stored)
        kinds = {"tested": tested, "algebraic": algebraic, "derivative": derivative}
        native = core.Ida(problem.native, known, request.rtol, request.atol, outputs=outputs, **kinds, **options)
        return NativeSolver(problem, request, native)


class NativeSolver:
    """An opened solver whose session is native: what is asked of it beyond the session's own methods."""

    def __init__(self, problem: Problem, request: Request, session: Any) -> None:
        self.problem, self.request, self.session = problem, request, session
        self.inputs: Mapping[int, Signal] = {}
        self.set_inputs(request.inputs)
        if problem.fresh_jacobians:
            session.refresh_jacobian()
        if request.watch is not None:
            request.watch.attach(session)
        if request.recording is not None:
            request.recording.open(problem, session, request.inputs)

    def set_inputs(self, inputs: Mapping[int, Signal]) -> None:
        """Functions and tables are evaluated natively; what is constant between events is among the known values."""
        if self.inputs:
            self.session.clear_inputs()
        self.inputs = inputs
        for cell, given in inputs.items():
            if isinstance(given, Function):
                self.session.add_function(cell, given.function)
            elif isinstance(given, Table):
                self.session.add_table(cell, given.times, given.values, given.slopes, given.rate)

    def exchange(self, problem: Problem, watch: Watch) -> None:
        """Go on with other equations for the same unknowns."""
        self.problem = problem
        if self.request.recording is not None:
            self.request.recording.exchanged(problem)
        self.session.exchange(problem.native, *problem.error_test(self.request.options.get("suppress_algebraic", False)))
        watch.attach(self.session)

    def lend(self, problem: Problem) -> None:
        """Let `consistent` work with other equations for the same unknowns, until it is lent those of the run again."""
        self.session.exchange(problem.native, *problem.error_test(bool(self.request.options.get("suppress_algebraic", False))))

    def journal(self, known: Floats) -> Callable[[], Journal] | None:
        return self._journal(known)

    def _journal(self, known: Floats) -> Callable[[], Journal]:
        return partial(_journal_of, self.session.kept_journal(), self.problem, known, on_both_sides(self.inputs))

    def _dependent(self, known: Floats) -> tuple[Diagnostic, ...]:
        """Equations that say the same but for rounding: factors of their matrix are noise, no step is short enough for it, and
        what it drives away overflows."""
        from .singular import EXACT, explain_point

        session = self.session
        return explain_point(self.problem, session.t, session.y, session.yp, values_at(self.inputs, session.t, known), EXACT)

    def explain(self, outcome: Outcome, known: Floats) -> tuple[Diagnostic, ...]:
        """Why it stopped, where the solver, not an event, stopped it."""
        session, problem = self.session, self.problem
        if outcome is Outcome.NOT_FINITE and session.non_finite is not None:  # else an event told it
            t, y, yp = session.non_finite
            return (*explain_not_finite(problem, t, y, yp, values_at(self.inputs, t, known)), *self._dependent(known))
        if outcome is Outcome.SINGULAR:
            here = values_at(self.inputs, session.t, known)
            return explain_singular(problem, session.t, session.singular_column, session.y, session.yp, here)
        if outcome in STUCK:
            told, newton = self._journal(known)(), outcome is Outcome.CONVERGENCE
            stopped = explain_stopped(problem, session.t, session.weighted_errors(), told, newton)
            return stopped if outcome is Outcome.TOO_MANY_STEPS else (*self._dependent(known), *stopped)
        return ()


def native_outputs(problem: Problem, stored: Stored) -> Any:
    """`_core.Outputs` for what a run stores."""
    outputs = core.Outputs(problem.native, np.ascontiguousarray(stored.gather, dtype=np.int32), stored.expressions)
    for kernel in stored.kernels:
        outputs.add(*kernel)
    return outputs


def _journal_of(*kept: Any) -> Journal:
    """The journal, when somebody looks at it."""
    from .journal import journal_of

    return journal_of(*kept)
