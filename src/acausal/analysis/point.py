"""A point at which a model is looked at: a moment of a result, a time, or the start, as one workspace of the model's problem."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, UsageError
from ..families.plant import TIME
from ..families.system import System
from ..program.encoder import digest_of
from ..results.result import Result
from ..results.store import LoadedResult
from ..runtime.initialise.earlier import earlier_values, whole_names
from ..runtime.problem import Problem
from ..runtime.states import gathered
from ..runtime.storage import seconds

if TYPE_CHECKING:
    from ..model.model import Model


_SOON = 1e-9  # seconds: a run to look at its start


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A problem of the model, and the values of everything it is made of: w = [ y | y' | known | computed ]."""

    model: Model
    problem: Problem
    time: float
    w: np.ndarray

    @property
    def whole(self) -> np.ndarray:
        """The same in the layout of the translated system."""
        return self.problem.lowered.expand(self.w)


def point_of(model: Model, at: Any, time: Any) -> Point:
    """`at`: a result, a time to simulate to, or None for the start; `time`: one of the result's output times."""
    moment = None if time is None else seconds(time, "time", model.system.plant.independent[1])
    if isinstance(at, LoadedResult):
        at, moment = _read_back(model, at, moment), None
    elif not isinstance(at, Result):
        if time is not None:
            raise UsageError("`time` picks a point of a result; without one, `at` is the time itself.", remedy="at=result, time=…")
        at = _simulated(model, at)
    if not _is_of(at._system, model.system):
        raise UsageError(
            f"The result in `at` is of another model ({at.title}); this one is of {model.title}.",
            remedy="Give a result of this model: `at=model.simulate(…)` or `at=model.steady_state()`.",
        )
    if at._system.frozen is not None or model.system.frozen is not None:
        from ..families.coincidence import no_derivatives

        raise no_derivatives("There are no derivatives around this point")
    row = _row(at, moment)
    t, here = float(at.time[row]), slice(row, row + 1)
    known, ((y,), (slopes,)) = _known(model, at, here)[0], _unknowns(model, at, here)
    problem, y, slopes = _problem(model, t, y, slopes, known)
    cells = np.append(known, np.zeros(problem.lowered.computed))
    return Point(model, problem, t, problem.equations.workspace(t, y, slopes, cells))


def _is_of(one: System, other: System) -> bool:
    """Whether a result is of that model, be it a copy, from another process or from a file."""
    return one.plant is other.plant or (one.size == other.size and digest_of(one) == digest_of(other))


class _Moment:
    """One row of a result that was read from a file, as a result that ends there."""

    def __init__(self, whole: LoadedResult, row: int) -> None:
        self.whole, self.row, self.time, self.history = whole, row, whole.time[row : row + 1], whole.history
        self.time_reached = float(whole.time[row])

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self.whole[name])[self.row : self.row + 1]

    def meaning(self, name: str) -> Any:
        return self.whole.meaning(name)


def _read_back(model: Model, whole: LoadedResult, time: Any) -> Result:
    """A point of a result from a file, which has names and numbers but no model: its parameters, inputs and states are put in."""
    there = _Moment(whole, _row(whole, time))
    earlier = earlier_values(model.system, there)
    if earlier is None or not earlier.complete(model.system):
        raise UsageError(
            f"The result in `at` ({whole.title}) does not hold all states of the model ({model.title}).",
            remedy="Give a result of this model that was saved with all its variables.",
        )
    numbers: dict[str, dict[str, Any]] = {"parameter": {}, "input": {}}
    for role, found in numbers.items():
        for name in whole_names(model.system, (role,)):
            with suppress(ModelError):
                found[name] = there[name][0]
    t = float(there.time[0])
    asked: dict[str, Any] = {"set": numbers["parameter"], "inputs": numbers["input"], "start_from": there}
    return model.simulate(t + max(_SOON, _SOON * abs(t)), start=t, at=[t], derivatives=True, on_failure="keep", **asked)


def _simulated(model: Model, at: Any) -> Result:
    if not isinstance(at, (int, float, np.number, str, timedelta, np.timedelta64, NoneType)):
        raise UsageError(
            f"`at` is a result, a time or None for the start, got {at!r} of type {type(at).__name__}.",
            remedy="`at=model.steady_state()` for a state of rest, `at=result, time=…` for a point of a run.",
        )
    t = 0.0 if at is None else float(seconds(at, "at", model.system.plant.independent[1]))
    result = model.simulate(t or _SOON, at=[t], derivatives=True, on_failure="keep")
    if not len(result.time) or result.time[-1] < t:
        raise ModelError(
            f"The run did not come to {t:g} {model.system.plant.independent[1]}: {result.outcome}", *result.diagnostics
        )
    return result


def workspaces(model: Model, result: Result, rows: slice, problem: Problem) -> np.ndarray:
    """Workspaces of a problem at some rows of a result: a row [ y | y' | known | computed ] for each."""
    y, slopes = _unknowns(model, result, rows)
    if model.selection is not None:
        slopes[:, problem.states[:, 0]] = y[:, problem.states[:, 1]]
    kept, known = problem.lowered.kept, _known(model, result, rows)
    computed = np.zeros((len(known), problem.lowered.computed))
    return assigned(problem, np.hstack([y[:, kept], slopes[:, kept], known, computed]))


def assigned(problem: Problem, found: np.ndarray) -> np.ndarray:
    """Bring the computed cells of workspaces up to date, in place."""
    equations = problem.equations
    assign = equations.computed.assign if equations.native is None else equations.native.assign
    for w in found:
        assign(w)
    return found


def _row(result: Result | LoadedResult, time: Any) -> int:
    if not len(result.time):
        raise UsageError("The result in `at` holds no point.")
    if time is None:
        return len(result.time) - 1
    row = int(np.searchsorted(result.time, time, side="right")) - 1  # of several at an event the last: what holds from there on
    rows = [r for r in (row, row + 1) if 0 <= r < len(result.time)]
    best = min(rows, key=lambda r: abs(float(result.time[r]) - time))
    if abs(float(result.time[best]) - time) > 1e-9 * max(abs(time), abs(float(result.time[-1] - result.time[0]))):
        near, unit = " and ".join(f"{result.time[r]:g}" for r in rows), result.unit("time") or "s"
        raise UsageError(
            f"The result has no point at {time:g} {unit}; the nearest are at {near} {unit}.",
            remedy=f"Ask for it in the run: simulate(…, at=[…, {time:g}]).",
        )
    return best


def _known(model: Model, result: Result, rows: slice) -> np.ndarray:
    """All known cells at rows of a result: parameters, inputs there, discrete values frozen as they are."""
    plant, stored = model.system.plant, result._stored
    known = np.tile(stored.known[: model.system.known_count], (len(result.time[rows]), 1))
    known[:, TIME] = result.time[rows]
    for cell, signal in stored.inputs.items():
        known[:, cell] = np.asarray(signal.at(result._evaluator.moments[rows])).ravel()
    if result.history is not None:
        cells = plant.discrete_cells()
        known[:, cells] = result.history.trajectories(cells, len(result.time))[rows]
        known[:, plant.partner_cells()] = known[:, cells]
    for cell, column in stored.cell_columns.items():
        known[:, cell] = stored.data[rows, column]
    return known


def _unknowns(model: Model, result: Result, rows: slice) -> tuple[np.ndarray, np.ndarray]:
    system, stored = model.system, result._stored
    missing = np.flatnonzero(stored.column < 0)
    if len(missing):
        raise UsageError(
            f"The result in `at` does not hold all unknowns: `{system.name_of_unknown(int(missing[0]))}` was not stored.",
            remedy="Run again without `store`.",
        )
    missing = np.flatnonzero((stored.slope_column < 0) & system.differential)
    if len(missing):
        raise UsageError(
            "The result in `at` does not hold the derivatives of the states, which a large plant stores when asked only.",
            remedy="Run again with `derivatives=True`.",
        )
    slopes = np.zeros((len(result.time[rows]), system.size))
    there = np.flatnonzero(stored.slope_column >= 0)
    slopes[:, there] = stored.data[rows, stored.slope_column[there]]
    return stored.data[rows, stored.column], slopes


def _problem(
    model: Model, t: float, y: np.ndarray, slopes: np.ndarray, known: np.ndarray
) -> tuple[Problem, np.ndarray, np.ndarray]:
    """The problem that suits these values, and the values as its own."""
    if model.selection is None:
        problem = model._preparation._chosen(t, known)
        return problem, y[problem.lowered.kept], slopes[problem.lowered.kept]
    starts = model._starts.starts(known)
    selected = model.selection.select(t, y, slopes, known, starts.nominal)
    problem = model.selection.problem(selected, known, starts)
    return problem, *gathered(problem, y, slopes)
