"""A run from start to end: one call of the solver, or several when states are exchanged on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..families.starts import StartReader
from .inputs import values_at
from .outcome import Outcome
from .problem import Problem
from .solver import COUNTERS, Request, RunResult, Solver
from .states import StateSelection, slopes_of


def run_to_end(solver: Solver, problem: Problem, request: Request, selection: StateSelection | None, starts: StartReader) -> RunResult:
    """Run to the end. Of a reduced system, states are exchanged when those chosen no longer determine the rest well."""
    if problem.size == 0:
        return _evaluated(problem, request)
    if selection is None:
        return solver.run(problem, request)
    parts: list[RunResult] = []
    known, before = problem.known, b""
    while True:
        here = values_at(request.inputs, request.t0, known)
        chosen = selection.select(request.t0, request.y0, request.yp0, here, problem.nominal)
        problem = _with_numbers(selection.problem(chosen, known, starts.starts(here)), problem, known)
        watch = selection.watch(chosen)
        if watch is not None and chosen.states.tobytes() == before:
            watch = replace(watch, limit=np.inf)  # nothing better is to be had here
        before = chosen.states.tobytes()
        request = replace(request, yp0=slopes_of(problem, request.y0, request.yp0), watch=watch)
        part = solver.run(problem, request)
        parts.append(part)
        if part.outcome is not Outcome.STATES_DEGRADED:
            return _joined(parts)
        left = request.output_times[len(part.times) :]
        request = replace(request, t0=part.t, output_times=left, y0=part.y, yp0=part.yp)


def _evaluated(problem: Problem, request: Request) -> RunResult:
    """Nothing is unknown: every variable is an expression of time, evaluated where it is wanted."""
    nothing = np.zeros(0)
    rows = np.empty((len(request.output_times), request.stored.width))
    for k, t in enumerate(request.output_times):
        known = values_at(request.inputs, float(t), problem.known)
        request.stored.row(problem.equations.workspace(float(t), nothing, nothing, known), rows[k])
    statistics: dict[str, Any] = {**dict.fromkeys(COUNTERS, 0), "seconds": {}}
    return RunResult(Outcome.FINISHED, request.t_end, request.output_times, rows, nothing, nothing, statistics)


def _with_numbers(problem: Problem, like: Problem, known: np.ndarray) -> Problem:
    """The problem of another selection with the numbers of this run."""
    import copy

    other = copy.copy(problem)
    other.known, other.nominal, other.start = known, like.nominal, like.start
    return other


def _joined(parts: list[RunResult]) -> RunResult:
    if len(parts) == 1:
        return parts[0]
    last = parts[-1]
    statistics = dict(last.statistics)
    for name, value in last.statistics.items():
        if isinstance(value, int) and not name.endswith("order"):
            statistics[name] = sum(p.statistics.get(name, 0) for p in parts)
    statistics["seconds"] = _added([p.statistics.get("seconds", {}) for p in parts])
    statistics["state_exchanges"] = len(parts) - 1
    rows = np.concatenate([p.rows for p in parts])
    return replace(last, times=np.concatenate([p.times for p in parts]), rows=rows, statistics=statistics)


def _added(seconds: list[dict[str, Any]]) -> dict[str, float]:
    names = {name for one in seconds for name in one}
    return {name: float(sum(one.get(name, 0.0) for one in seconds)) for name in names}
