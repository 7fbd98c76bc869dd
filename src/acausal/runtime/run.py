"""A run from start to end: evaluation where nothing is unknown, a solver otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import Diagnostic, UsageError
from ..families.starts import StartReader
from .build import without_rules
from .inputs import has_corners, values_at
from .outcome import Outcome
from .problem import Problem
from .solver import COUNTERS, Request, RunResult, Solver
from .states import Exchange, StateSelection, spread


def run_to_end(
    solver: Solver, problem: Problem, request: Request, selection: StateSelection | None, starts: StartReader
) -> RunResult:
    """One run. Of a reduced system, states are exchanged on the way when those chosen no longer determine the rest well."""
    if not getattr(solver, "events", False):
        _refuse_events(solver, problem)
    elif problem.rules is None and any(has_corners(s) for s in request.inputs.values()):
        problem = without_rules(problem)  # the jumps and corners of inputs are met all the same
    if problem.size == 0 and problem.rules is not None:
        from .events.driver import run_still

        return run_still(problem, request)
    if problem.size == 0:
        return _evaluated(problem, request)
    if selection is None:
        return solver.run(problem, request)
    known = problem.known[: problem.lowered.system.known_count]
    here = values_at(request.inputs, request.t0, known)
    y, yp = spread(problem, request.t0, request.y0, request.yp0, values_at(request.inputs, request.t0, problem.known))
    chosen = selection.select(request.t0, y, yp, here, starts.starts(here).nominal)
    watch = selection.watch(chosen, problem)
    if watch is None:
        return solver.run(problem, request)
    exchange = Exchange(selection, known, request.inputs, starts)
    return solver.run(problem, replace(request, watch=watch, exchange=exchange))


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


def _evaluated(problem: Problem, request: Request) -> RunResult:
    """Nothing is unknown: every variable is an expression of time, evaluated where it is wanted."""
    nothing = np.zeros(0)
    rows = np.empty((len(request.output_times), request.stored.width))
    for k, t in enumerate(request.output_times):
        known = values_at(request.inputs, float(t), problem.known)
        request.stored.row(problem.equations.workspace(float(t), nothing, nothing, known), rows[k])
    statistics: dict[str, Any] = {**dict.fromkeys(COUNTERS, 0), "seconds": {}}
    return RunResult(Outcome.FINISHED, request.t_end, request.output_times, rows, nothing, nothing, statistics)
