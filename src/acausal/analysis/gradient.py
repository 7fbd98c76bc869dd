"""Gradients of a few numbers by many parameters: backward over the steps of a run and across its events (see `backward.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, NameNotFound, UsageError, near_matches
from ..language.reductions import Reduction, final
from ..results.crossings import first_above
from ..results.extremes import finer_times, peak
from ..results.result import Result
from ..runtime.outcome import Outcome
from ..runtime.recording import Recording
from ..runtime.storage import times_to_integrate
from .backward import Backward
from .directions import directions_of
from .partials import own_parameters
from .sensitivity import Following

if TYPE_CHECKING:
    from ..model.model import Model

_KINDS = ("final", "first", "mean", "integral", "max", "min", "first above", "first below")


@dataclass(frozen=True, eq=False)
class Gradients:
    """Derivatives of numbers that came of a run, by parameters: `found["T", "wall.G"]`; `data` has a row for each output."""

    outputs: tuple[str, ...]
    parameters: tuple[str, ...]
    values: np.ndarray
    data: np.ndarray
    result: Any

    def __getitem__(self, key: tuple[str, str]) -> float:
        output, parameter = key
        return float(self.data[_number(self.outputs, output), _number(self.parameters, parameter)])

    def ranking(self, output: str, parameters: Mapping[str, float]) -> dict[str, float]:
        """What matters: by how much the output changes when each parameter changes by 1 % of its value, the most first."""
        row = self.data[_number(self.outputs, output)]
        moved = {p: 0.01 * parameters[p] * float(g) for p, g in zip(self.parameters, row, strict=True) if p in parameters}
        return dict(sorted(moved.items(), key=lambda pair: -abs(pair[1])))

    def __repr__(self) -> str:
        return f"<Gradients of {', '.join(self.outputs)} by {len(self.parameters)} parameters>"


def _number(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise NameNotFound(f"There is no `{name}` here. {near_matches(name, names)}".rstrip())
    return names.index(name)


def gradient(model: Model, outputs: Any, parameters: Iterable[str] | str | None = None, *, until: Any, **options: Any) -> Gradients:
    """See `Model.gradient`."""
    reductions = _reductions(outputs)
    ours = next((name for name in ("sensitivities", "derivatives") if name in options), None)
    if ours is not None:
        raise UsageError(f"`{ours}` is no option of a gradient: its run has what it needs.", remedy=f"Leave `{ours}` out.")
    options = {"on_failure": "raise", **_with_rows(model, reductions, until, options)}
    result, recording = _recorded(model, until, options)
    places = [r for r in reductions if r.is_between_rows]
    finer = finer_times(result, options["at"], places) if places and result.outcome.ok else None
    if finer is not None:
        result, recording = _recorded(model, until, {**options, "at": finer})
    if not result.outcome.ok:
        raise ModelError(f"The run stopped before its end, so that there is no gradient: {result.outcome}", *result.diagnostics)
    following = Following(model, result, recording)
    names = _all_parameters(model) if parameters is None else parameters
    values = np.array([r.of(result) for r in reductions])
    directions = directions_of(model, names, recording.first.problem, "parameters", recording.first)
    weights = [_weights(r, result) for r in reductions]
    jumps, moving = (
        [_jumps(r, result) for r in reductions],
        [_moving(r, w, result) for r, w in zip(reductions, weights, strict=True)],
    )
    data = Backward(following, reductions, weights, jumps, moving).gradient(directions)
    return Gradients(tuple(r.label for r in reductions), directions.names, values, data, result)


def _recorded(model: Model, until: Any, options: dict[str, Any]) -> tuple[Result, Recording]:
    recording = Recording()
    return model.simulate(until, sensitivities=recording, derivatives=True, **options), recording


def _reductions(outputs: Any) -> list[Reduction]:
    given = list(outputs) if isinstance(outputs, Iterable) and not isinstance(outputs, str) else [outputs]
    found = [final(o) if isinstance(o, str) else o for o in given]
    if not found:
        raise UsageError("`outputs` names nothing to differentiate.", remedy='model.gradient("room.T", until=…)')
    for each in found:
        if not isinstance(each, Reduction) or each.kind not in _KINDS:
            kinds = ", ".join(f"ac.{k}" for k in _KINDS if " " not in k) + ", ac.when_first"
            raise UsageError(f"A gradient is of a path (its final value) or of {kinds}; got {getattr(each, 'label', each)!r}.")
    return found


def _all_parameters(model: Model) -> list[str]:
    from .point import Point

    problem = model.problem
    point = Point(model, problem, 0.0, np.zeros(2 * problem.size + len(problem.known)))
    return [model.system.plant.name_of(int(cell), "known") for cell in own_parameters(point)]


def _weights(reduction: Reduction, result: Result) -> np.ndarray:
    """What the rows of a result have to do with a reduction of them: it is their sum with these weights."""
    time, values, found = result.time, np.asarray(result.values_of(reduction.path), dtype=float), np.zeros(len(result.time))
    if reduction.kind in ("final", "first"):
        found[-1 if reduction.kind == "final" else 0] = 1.0
    elif reduction.kind in ("max", "min"):
        first, weights = peak(time, values, result.meaning(reduction.path).steps, reduction.kind == "max")
        found[first : first + len(weights)] = weights
    elif reduction.level is not None:
        found = _of_crossing(reduction, result, values)
    else:
        held = result.meaning(reduction.path).steps
        found = np.append(np.diff(time), 0.0) if held else _of_cubics(time)
        found = found / _span(reduction, result)
    return found


def _of_crossing(reduction: Reduction, result: Result, values: np.ndarray) -> np.ndarray:
    """What the rows have to do with the time at which a level is passed."""
    sign, found = 1.0 if reduction.kind == "first above" else -1.0, np.zeros(len(values))
    level, steps = reduction.number(result), result.meaning(reduction.path).steps
    crossing = first_above(result.time, sign * values, sign * level, steps)
    if crossing is None:
        raise ModelError(f"There is no gradient of `{reduction.label}`: it does not happen within the run.")
    if not len(crossing.weights):
        raise ModelError(
            f"There is no gradient of `{reduction.label}`: "
            f"at {crossing.time:g} {result.unit('time')} it is beyond from the start or jumps there.",
            remedy="Ask for the time of what makes it jump: the level that another quantity passes.",
        )
    found[crossing.first : crossing.first + len(crossing.weights)] = sign * crossing.weights
    return found


def _span(reduction: Reduction, result: Result) -> float:
    """What an integral over a run is divided by."""
    return float(result.time[-1] - result.time[0]) if reduction.kind == "mean" else 1.0


def _jumps(reduction: Reduction, result: Result) -> dict[float, float]:
    """What an integral gains because events come later: what was there before each of them, less what is there after it."""
    if reduction.kind not in ("mean", "integral"):
        return {}
    values, time = np.asarray(result.values_of(reduction.path), dtype=float), result.time
    moments = np.unique(time[1:][np.diff(time) == 0])
    before, after = (np.searchsorted(time, moments, side=side) for side in ("left", "right"))
    gained = dict(zip(moments.tolist(), (values[before] - values[after - 1]).tolist(), strict=True))
    if result.outcome is Outcome.TERMINATED:
        last = values[np.searchsorted(time, time[-1], side="left")]
        gained[float(time[-1])] = float(last - (reduction.of(result) if reduction.kind == "mean" else 0.0))
    return {t: value / _span(reduction, result) for t, value in gained.items()}


def _moving(reduction: Reduction, weights: np.ndarray, result: Result) -> int | None:
    """The row that a value is taken from, if it moves with an event: the last one of a run that an event ended, or an extreme
    value where something jumps."""
    if reduction.kind not in ("final", "max", "min") or np.count_nonzero(weights) > 1:
        return None
    row, time = int(np.flatnonzero(weights)[0]), result.time
    at_event = np.count_nonzero(time == time[row]) > 1 and reduction.kind != "final"
    return row if at_event or (time[row] == time[-1] and result.outcome is Outcome.TERMINATED) else None


def _of_cubics(time: np.ndarray) -> np.ndarray:
    """Weights of rows in an integral as `results/between.py` takes it: slopes are those of parabolas through the rows around."""
    steps = np.diff(time)
    found, by_slopes = np.zeros(len(time)), np.zeros(len(time))
    found[:-1] += steps / 2
    found[1:] += steps / 2
    by_slopes[:-1] += steps**2 / 12
    by_slopes[1:] -= steps**2 / 12
    borders = np.flatnonzero(steps <= 0) + 1
    for first, end in zip([0, *borders], [*borders, len(time)], strict=True):
        if end - first > 1:
            part = time[first:end]
            for row in range(end - first):  # a slope is made of three rows at most
                near = slice(max(0, min(row - 1, end - first - 3)), min(end - first, max(row + 2, 3)))
                unit = np.gradient(
                    np.eye(near.stop - near.start), part[near], axis=0, edge_order=min(2, near.stop - near.start - 1)
                )
                found[first + near.start : first + near.stop] += by_slopes[first + row] * unit[row - near.start]
    return found


def _with_rows(model: Model, reductions: list[Reduction], until: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Options with output points between those asked for, where an integral or an extreme value of few is to be differentiated."""
    if all(r.kind in ("final", "first") for r in reductions):
        return options
    times = times_to_integrate(until, model.system.size, options, model.system.plant.independent[1])
    return {**{k: v for k, v in options.items() if k not in ("points", "every")}, "at": times}
