"""A run from start to end: one call of the solver, or several when states are exchanged on the way."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ..families.starts import StartReader
from .inputs import values_at
from .outcome import Outcome
from .problem import Problem, Stored
from .solver import COUNTERS, Request, RunResult, Solver
from .states import StateSelection, gathered, spread


def run_to_end(
    solver: Solver, problem: Problem, request: Request, selection: StateSelection | None, starts: StartReader, gather: np.ndarray
) -> RunResult:
    """Run to the end. Of a reduced system, states are exchanged when those chosen no longer determine the rest well.

    `gather` are the cells to store, in the system's own numbers; each selection of states has numbers of its own.
    """
    if problem.size == 0:
        return _evaluated(problem, request)
    if selection is None:
        return solver.run(problem, request)
    parts: list[RunResult] = []
    known, before = problem.known[: problem.lowered.system.known_count], b""
    y, yp = spread(problem, request.t0, request.y0, request.yp0, problem.known)
    tolerance = _tolerances(problem, request)
    while True:
        here = values_at(request.inputs, request.t0, known)
        at_start = starts.starts(here)
        chosen = selection.select(request.t0, y, yp, here, at_start.nominal)
        problem = _with_numbers(selection.problem(chosen, known, at_start), known)
        watch = selection.watch(chosen, problem)
        if watch is not None and chosen.states.tobytes() == before:
            watch = replace(watch, limit=np.inf)  # nothing better is to be had here
        before = chosen.states.tobytes()
        y0, yp0 = gathered(problem, y, yp)
        stored = Stored(problem.lowered.index[gather].astype(np.int32))
        request = replace(request, y0=y0, yp0=yp0, watch=watch, stored=stored, atol=tolerance[problem.lowered.kept])
        part = solver.run(problem, request)
        parts.append(part)
        if part.outcome is not Outcome.STATES_DEGRADED:
            return _joined(parts)
        y, yp = spread(problem, part.t, part.y, part.yp, values_at(request.inputs, part.t, problem.known))
        request = replace(request, t0=part.t, output_times=request.output_times[len(part.times) :])


def _tolerances(problem: Problem, request: Request) -> np.ndarray:
    """Absolute tolerances of all unknowns of the system; those that are explicit here take the smallest that was given."""
    given = np.broadcast_to(np.asarray(request.atol, dtype=float), (problem.size,))
    whole = np.full(problem.lowered.system.size, given.min(initial=np.inf))
    whole[problem.lowered.kept] = given
    return whole


def _evaluated(problem: Problem, request: Request) -> RunResult:
    """Nothing is unknown: every variable is an expression of time, evaluated where it is wanted."""
    nothing = np.zeros(0)
    rows = np.empty((len(request.output_times), request.stored.width))
    for k, t in enumerate(request.output_times):
        known = values_at(request.inputs, float(t), problem.known)
        request.stored.row(problem.equations.workspace(float(t), nothing, nothing, known), rows[k])
    statistics: dict[str, Any] = {**dict.fromkeys(COUNTERS, 0), "seconds": {}}
    return RunResult(Outcome.FINISHED, request.t_end, request.output_times, rows, nothing, nothing, statistics)


def _with_numbers(problem: Problem, known: np.ndarray) -> Problem:
    """The problem of another selection with the numbers of this run."""
    other = copy.copy(problem)
    other.known = np.append(known, np.zeros(problem.lowered.computed))
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
