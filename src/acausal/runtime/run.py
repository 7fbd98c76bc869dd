"""One run of a problem with a solver: begin, go on to some time, and what came of it so far.

`Run` is what `simulate` and sessions have in common. A solver is driven from event to event (`events/driver.py`); without events it
just goes on (`Smooth`); where nothing is unknown there is nothing to solve (`Evaluated`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from ..errors import Diagnostic, UsageError
from ..families.starts import StartReader
from .build import without_rules
from .inputs import Constant, Function, Signal, Steps, Table, has_corners, values_at
from .outcome import STUCK, Outcome, explain_not_finite, explain_place, explain_unmoved
from .problem import Floats, Problem
from .solver import COUNTERS, Request, RunResult, Solver, check_options, with_last_row

if TYPE_CHECKING:
    from .events.driver import Hybrid
    from .ida import NativeSolver
    from .integrator import Task
    from .journal import Journal
    from .states import StateSelection, Watch

_NONE = np.zeros(0)


class Opened(Protocol):
    """A solver opened for one run: its session, and what is asked beyond the session's methods."""

    session: Any

    def set_inputs(self, inputs: Mapping[int, Signal]) -> None: ...
    def exchange(self, problem: Problem, watch: Watch) -> None: ...
    def lend(self, problem: Problem) -> None: ...
    def journal(self, known: Floats) -> Callable[[], Journal] | None: ...
    def explain(self, outcome: Outcome, known: Floats) -> tuple[Diagnostic, ...]: ...


class PlugIn:
    """An opened solver that brings an integrator and nothing else."""

    def __init__(self, solver: Any, problem: Problem, request: Request) -> None:
        from .integrator import Task
        from .stepping import Stepping

        assert request.known is not None  # a checked request has its own
        self.solver, self.request, self.problem = solver, request, problem
        self.options = check_options(solver, request.options)
        self.task: Task = self._task(Task(problem, request.known, request.inputs))
        self.session = Stepping(self.task, solver.open(self.task), request.stored)
        self.session.look_at(request.watch)

    def _task(self, task: Task) -> Task:
        r = self.request
        task.rtol, task.atol, task.t0, task.t_end = r.rtol, np.asarray(r.atol), r.t0, r.t_end
        task.options = self.options
        return task

    def set_inputs(self, inputs: Mapping[int, Signal]) -> None:
        self.task.set_inputs(inputs)

    def exchange(self, problem: Problem, watch: Watch) -> None:
        """Other equations for the same unknowns. An integrator of somebody else knows nothing of that: it begins anew there."""
        from .integrator import Task
        from .states import gathered, spread

        session, before = self.session, self.task
        whole = spread(self.problem, session.t, session.y, session.yp, before.known_at(session.t))
        self.problem, self.task = problem, self._task(Task(problem, before.known, before.inputs))
        self.task.counts, self.task.seconds, self.task.non_finite = before.counts, before.seconds, before.non_finite
        session.take(self.task, self.solver.open(self.task))
        session.look_at(watch)
        session.start(session.t, *gathered(problem, *whole), session.last_step)

    def lend(self, problem: Problem) -> None:
        self.session.lend(problem)

    def journal(self, known: Floats) -> Callable[[], Journal] | None:
        return None

    def explain(self, outcome: Outcome, known: Floats) -> tuple[Diagnostic, ...]:
        found, session = self.task.non_finite, self.session
        if outcome is Outcome.NOT_FINITE and found is not None:
            return explain_not_finite(self.problem, *found, values_at(self.task.inputs, found[0], known))
        if outcome in STUCK:
            here = values_at(self.task.inputs, session.t, known)
            return explain_place(self.problem, session.t, session.y, session.yp, here)
        return ()


class Unmoved:
    """An opened "solver" of a model in which nothing is unknown."""

    def __init__(self, problem: Problem, request: Request) -> None:
        from .events.still import Still

        span, max_step = request.t_end - request.t0, float(request.options.get("max_step", 0.0))
        self.session = Still(problem, request.stored, request.inputs, span if np.isfinite(span) else 1.0, max_step)

    def set_inputs(self, inputs: Mapping[int, Signal]) -> None:
        self.session.inputs = inputs

    def exchange(self, problem: Problem, watch: Watch) -> None:
        """Other states of no unknowns: all that is left is how the variables are computed."""
        self.session.problem = problem

    def lend(self, problem: Problem) -> None:
        """There is nothing that `consistent` would solve for."""

    def journal(self, known: Floats) -> Callable[[], Journal] | None:
        return None

    def explain(self, outcome: Outcome, known: Floats) -> tuple[Diagnostic, ...]:
        if outcome is not Outcome.NOT_FINITE:
            return ()
        return explain_unmoved(self.session.problem, self.session.t, self.session.evaluated(self.session.t))


def opened(solver: Solver, problem: Problem, request: Request) -> Opened:
    """The solver, ready to start."""
    if problem.size == 0:
        return Unmoved(problem, request)
    if hasattr(solver, "stepper"):
        whole: Any = solver
        native: NativeSolver = whole.stepper(problem, request)
        return native
    return PlugIn(solver, problem, request)


class Smooth:
    """A run without events."""

    def __init__(self, problem: Problem, request: Request, solver: Opened) -> None:
        self.problem, self.request, self.solver = problem, request, solver
        self.session = solver.session
        self.exchanges = 0
        self.pieces: list[tuple[Floats, Floats]] = []

    def begin(self) -> Outcome | None:
        r, problem = self.request, self.problem
        self.session.start(r.t0, r.y0, r.yp0)
        bends = [s.times for s in r.inputs.values() if isinstance(s, Table) and s.slopes is None]
        if bends and hasattr(self.session, "set_bends"):  # copies of a problem; others with such inputs are driven as with events
            from .events.pace import RESTART

            times = np.unique(np.concatenate(bends))
            times = times[(times > r.t0) & (times < r.t_end)]
            self.session.set_bends(times, problem.differential, problem.nominal, RESTART)
        return None

    def advance(self, to: float, times: Floats) -> Outcome | None:
        """To a time, with rows at the times given; an outcome if the run ended on the way."""
        from .status import Status

        r, done = self.request, 0
        rows = np.empty((len(times), r.stored.width))
        while True:
            left = (times[done:], rows[done:]) if done else (times, rows)
            status, written = self.session.advance(to, *left, r.progress, r.interval, -np.inf, r.t_end)
            done += written
            if status != Status.STATES_DEGRADED or r.exchange is None:
                break
            self.problem, watch = r.exchange(self.problem, self.session.t, self.session.y, self.session.yp)
            self.solver.exchange(self.problem, watch)
            self.exchanges += 1
        self.pieces.append((times[:done], rows[:done]) if done < len(times) else (times, rows))
        return None if status == Status.FINISHED else Status(status).outcome

    def present(self) -> tuple[Floats, Floats]:
        """What would be stored now, and all known values."""
        assert self.request.known is not None
        row = np.empty(self.request.stored.width)
        self.session.row(row)
        return row, self.request.known

    def end(self) -> None:
        """Nothing waited for it."""

    def result(self, outcome: Outcome) -> RunResult:
        session, r = self.session, self.request
        assert r.known is not None
        if not self.pieces:  # Ctrl-C came as Python took over from the session
            self.pieces.append((np.zeros(0), np.empty((0, r.stored.width))))
        times, rows = self.pieces[0] if len(self.pieces) == 1 else map(np.concatenate, zip(*self.pieces, strict=True))
        statistics = {**session.statistics(), "state_exchanges": self.exchanges}
        why = () if outcome.ok else self.solver.explain(outcome, r.known)
        found = RunResult(outcome, session.t, times, rows, session.y, session.yp, statistics, session.message, why)
        found.journal, found.interrupted = self.solver.journal(r.known), session.interrupted
        return with_last_row(found, self.problem, r)


class Evaluated:
    """A run in which nothing is unknown and nothing happens: variables are expressions of time, evaluated where they are wanted."""

    def __init__(self, problem: Problem, request: Request) -> None:
        self.problem, self.request, self.t, self.interrupted = problem, request, request.t0, False
        self.session = self  # it needs nobody else's
        self.pieces: list[tuple[Floats, Floats]] = []
        self.told: tuple[Diagnostic, ...] = ()

    def begin(self) -> Outcome | None:
        return None

    def advance(self, to: float, times: Floats) -> Outcome | None:
        rows = np.empty((len(times), self.request.stored.width))
        for k, t in enumerate(times.tolist()):
            known = values_at(self.request.inputs, t, self.problem.known)
            workspace = self.problem.equations.workspace(t, _NONE, _NONE, known)
            self.request.stored.row(workspace, rows[k])
            if not self.problem.has_values(workspace):
                self.t, self.told = t, explain_unmoved(self.problem, t, workspace)
                self.pieces.append((times[: k + 1], rows[: k + 1]))
                return Outcome.NOT_FINITE
        self.pieces.append((times, rows))
        self.t = to
        return None

    def present(self) -> tuple[Floats, Floats]:
        known = values_at(self.request.inputs, self.t, self.problem.known)
        row = np.empty(self.request.stored.width)
        self.request.stored.row(self.problem.equations.workspace(self.t, _NONE, _NONE, known), row)
        return row, known

    def end(self) -> None:
        """Nothing waited for it."""

    def result(self, outcome: Outcome) -> RunResult:
        times, rows = map(np.concatenate, zip(*self.pieces, strict=True))
        statistics: dict[str, Any] = {**dict.fromkeys(COUNTERS, 0), "seconds": {}}
        return RunResult(outcome, self.t, times, rows, _NONE, _NONE, statistics, diagnostics=self.told)


class Whole(Evaluated):
    """A run that a solver makes by itself."""

    def __init__(self, solver: Any, problem: Problem, request: Request) -> None:
        super().__init__(problem, request)
        self.solver, self.found = solver, RunResult(Outcome.FAILED, request.t0, _NONE, _NONE, request.y0, request.yp0, {})

    def advance(self, to: float, times: Floats) -> Outcome | None:
        self.found = self.solver.run(self.problem, self.request)
        self.t = self.found.t
        return self.found.outcome

    def result(self, outcome: Outcome) -> RunResult:
        return self.found


Driver: TypeAlias = "Smooth | Hybrid | Evaluated"


def driver(
    solver: Solver,
    problem: Problem,
    request: Request,
    selection: StateSelection | None,
    starts: StartReader,
    interruptible: bool = False,
) -> Driver:
    """A run that has not begun. One that may be interrupted, by other parameters or inputs, is driven as if it had events."""
    if not hasattr(solver, "open") and not hasattr(solver, "stepper"):
        _refuse_events(solver, problem)
        return Whole(solver, problem, request) if problem.size else Evaluated(problem, request)
    corners = interruptible or any(has_corners(s) for s in request.inputs.values() if problem.size or not isinstance(s, Function))
    if problem.rules is None and hasattr(problem, "lowered"):
        from .events.asked import may_bend

        corners = corners or may_bend(problem)
    bare = corners and problem.rules is None and hasattr(problem, "lowered")
    if bare:
        problem = without_rules(problem)  # the jumps and corners of inputs are met all the same
    request = request.checked(problem)
    assert request.known is not None
    for cell, given in request.inputs.items():
        if isinstance(given, (Constant, Steps)):
            request.known[cell] = given(request.t0)
    if problem.size == 0 and problem.rules is None:
        return Evaluated(problem, request)
    if selection is not None and problem.size:
        request = _watched(problem, request, selection, starts)
        if bare and request.exchange is not None:
            request = replace(request, exchange=_bare(request.exchange))
    if selection is not None:
        request = replace(request, reduced=lambda: selection.whole[0])
    solving = opened(solver, problem, request)
    if problem.rules is None:
        return Smooth(problem, request, solving)
    from .events.driver import Hybrid  # most of the code of a run, which many models never need

    return Hybrid(problem, request, solving)


def _bare(exchange: Any) -> Any:
    """With other states, too, a problem that says nothing about events has the form of one that does."""

    def exchanged(problem: Problem, t: float, y: Floats, yp: Floats) -> Any:
        other, watch = exchange(problem, t, y, yp)
        return without_rules(other), watch

    return exchanged


def run_to_end(
    solver: Solver, problem: Problem, request: Request, selection: StateSelection | None = None, starts: StartReader | None = None
) -> RunResult:
    """One run, from its start to its end or to where it stops."""
    run = driver(solver, problem, request, selection, starts)  # type: ignore[arg-type]
    over = run.begin()
    if over is None:
        over = run.advance(request.t_end, np.ascontiguousarray(request.output_times, dtype=np.float64))
    run.end()
    return run.result(Outcome.FINISHED if over is None else over)


def _watched(problem: Problem, request: Request, selection: StateSelection, starts: StartReader) -> Request:
    """Of a reduced system, states are exchanged on the way when those chosen no longer determine the rest well."""
    from .states import Exchange, spread

    known = problem.known[: problem.lowered.system.known_count]
    here = values_at(request.inputs, request.t0, known)
    y, yp = spread(problem, request.t0, request.y0, request.yp0, values_at(request.inputs, request.t0, problem.known))
    nominal = starts.starts(here).nominal
    chosen = selection.select(request.t0, y, yp, here, nominal)
    watch, exchange = selection.watch(chosen, problem, nominal), Exchange(selection, known, request.inputs, starts)
    if watch is None:  # none but these can be states, which an event may set through others all the same
        return replace(request, lender=exchange)
    return replace(request, watch=watch, exchange=exchange, lender=exchange)


def _refuse_events(solver: Solver, problem: Problem) -> None:
    """A solver that looks for no events would pass over them, and nobody would notice."""
    rules = problem.rules
    if rules is None or not problem.size:
        return
    found = [WORDS[role] for role, count in rules.counts.items() if count and role in WORDS]
    system = problem.lowered.system
    role = next((role for role, count in rules.counts.items() if count and role in WORDS), "")
    where = system.describe_rule(role, 0) if role else Diagnostic("")
    raise UsageError(
        replace(
            where,
            what=f"The model has events ({', '.join(found) or 'rules'}), and the solver `{solver.name}` looks for none.",
            remedy='Leave `solver` out, or choose "ida". A solver with `open` has events; see docs/solvers.md.',
        )
    )


WORDS = {
    "relation": "relations that switch",
    "timed": "relations of time",
    "crossing": "crossing functions",
    "clock_start": "clocks",
    "update": "assignments",
    "reinit": "states that are set",
    "step": "assignments after steps",
    "stop": "an end of its own",
    "assertion": "assertions",
}
