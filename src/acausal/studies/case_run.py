"""One case of a study: what a worker runs, and the row it gives back. Both are plain values that any process can be sent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np

from ..errors import ModelError
from ..language.reductions import Reduction
from ..results.extremes import finer_times
from ..runtime.parameters import later
from ..runtime.storage import times_to_integrate
from .outputs import Column
from .together import Together
from .variants import Variants

STEADY = "steady"  # the cases are states of rest, not runs
Stop = Event | None  # set: nobody waits for what is under way


@dataclass(frozen=True, eq=False)
class Job:
    """What all cases of a study have in common."""

    model: Any
    columns: tuple[Column, ...]
    options: Mapping[str, Any]  # of `simulate`, or of `steady_state`
    steady: bool = False
    inputs: frozenset[str] = frozenset()  # paths among the changes that are inputs
    variants: Variants | None = None  # other models, where some of the changes are structural
    together: bool = False  # cases of a group are advanced in one solve

    def solve(self, changes: Mapping[str, Any], start_from: Any = None, *, reduced: bool = False, stop: Stop = None) -> Any:
        """The result of one case; if it is only `reduced` to numbers, with more output points where there are few."""
        model, options = self.model, self._fine if reduced else self.options
        if self.variants is not None:
            model, changes = self.variants.of(changes)
        options = dict(options)
        given = {path: v for path, v in changes.items() if path in self.inputs}
        options["inputs"] = {**(options.get("inputs") or {}), **given}
        options["set"] = later(options.get("set") or {}, {p: v for p, v in changes.items() if p not in self.inputs})
        if start_from is not None:
            options["start_from"] = start_from
        if stop is not None and not self.steady:
            options.setdefault("progress", lambda t: not stop.is_set())
        if self.steady:
            return model.steady_state(**{**options, "warn": False})
        result = model.simulate(**{"on_failure": "keep", **options})
        finer = self._finer(result) if reduced else None
        return result if finer is None else model.simulate(**{"on_failure": "keep", **options, "at": finer})

    def _finer(self, result: Any) -> np.ndarray | None:
        """Output times that resolve what is asked for, where those of a run do not."""
        asked = [c.what for c in self.columns if isinstance(c.what, Reduction) and c.what.is_between_rows]
        return finer_times(result, self._fine["at"], asked) if asked and "at" in self._fine and result.outcome.ok else None

    @cached_property
    def advanced(self) -> Together:
        """What runs several cases in one solve."""
        return Together(self.model, self._fine, self.inputs)

    @cached_property
    def _fine(self) -> dict[str, Any]:
        kinds = {c.what.kind for c in self.columns if isinstance(c.what, Reduction)}
        own = any(not isinstance(c.what, Reduction) for c in self.columns)  # a function counts on the rows that were asked for
        if self.steady or own or kinds <= {"final", "first"}:
            return dict(self.options)
        times = times_to_integrate(
            self.options["until"], self.model.system.size, self.options, self.model.system.plant.independent[1]
        )
        return {**{k: v for k, v in self.options.items() if k not in ("points", "every")}, "at": times}


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one case."""

    number: int
    values: tuple[float, ...]
    outcome: str
    reached: float
    message: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def ok(self) -> bool:
        return self.outcome in ("FINISHED", "TERMINATED")


def run_case(job: Job, number: int, changes: Mapping[str, Any], start_from: Any = None, stop: Stop = None) -> tuple[Row, Any]:
    """Run one case. Whatever goes wrong in it becomes part of its row: other cases have nothing to do with it."""
    begun = time.perf_counter()
    try:
        result = job.solve(changes, start_from, reduced=True, stop=stop)
    except ModelError as error:
        return _failed(job, number, type(error).__name__, str(error), begun, getattr(error, "result", None))
    return _row(job, number, result, begun), result


def _row(job: Job, number: int, result: Any, begun: float) -> Row:
    """What became of a case, from its result."""
    values, problems = [], []
    for column in job.columns:
        try:
            values.append(column.of(result))
        except ModelError as error:
            values.append(float("nan"))
            problems.append(str(error))
    outcome = result.outcome
    said = [] if outcome.ok else [str(outcome), *map(str, result.diagnostics)]
    name = "OUTPUT" if problems and outcome.ok else outcome.name
    message = "\n".join([*said, *problems])
    return Row(number, tuple(values), name, float(result.time_reached), message, time.perf_counter() - begun)


def _failed(job: Job, number: int, name: str, message: str, begun: float, result: Any) -> tuple[Row, Any]:
    empty = (float("nan"),) * len(job.columns)
    return Row(number, empty, name, float("nan"), message, time.perf_counter() - begun), result


def run_chunk(job: Job, cases: Sequence[tuple[int, Mapping[str, Any]]], start_from: Any = None, stop: Stop = None) -> list[Row]:
    """Several cases; a worker gets them at once, so that sending them does not cost more than running. What it gives back after it
    was told to stop is not what the cases would have given."""
    found = job.advanced.results(cases, stop) if job.together and len(cases) > 1 else {}
    if found and job._finer(next(iter(found.values()))[0]) is not None:  # all have the same steps
        found = {}
    rows: list[Row] = []
    for number, changes in cases:
        if stop is not None and stop.is_set():
            return rows
        result, seconds = found.get(number, (None, 0.0))
        if result is not None:
            rows.append(_row(job, number, result, time.perf_counter() - seconds))
        else:
            rows.append(run_case(job, number, changes, start_from, stop)[0])
    return rows
