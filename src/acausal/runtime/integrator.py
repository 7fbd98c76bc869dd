"""What a solver of somebody else has to bring: an integrator that starts, takes one step, and interpolates within it.

Everything that is not integration is done around it (`stepping.py`): output times, events and where they lie, consistent values
after a jump, stops, progress, statistics. `docs/solvers.md` has a whole solver in thirty lines.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from .inputs import Signal, Steps, values_at
from .problem import Floats, Integers, Mask, Problem
from .status import Status


class Step(NamedTuple):
    """Where a step ended."""

    t: float
    y: Floats
    yp: Floats


class StepFailed(Exception):
    """A step could not be made: `raise StepFailed(Status.CONVERGENCE, "in the solver's own words")`."""

    def __init__(self, status: Status, message: str = "") -> None:
        super().__init__(message or status.name)
        self.status, self.message = status, message


@runtime_checkable
class Integrator(Protocol):
    """One integration. It is started at the beginning and after every event, and goes on from the end of its last step."""

    def start(self, t: float, y: Floats, yp: Floats, step: float) -> None:
        """Begin at consistent values; `step` is a time within which slopes change little, if one is known, else 0."""

    def step(self, stop: float) -> Step:
        """One step, not beyond `stop` (which may be infinite)."""

    def at(self, t: float) -> tuple[Floats, Floats]:
        """y and y' at a time within the last step."""


class Task:
    """What an integrator integrates: F(t, y, y') = 0, with the parameters, inputs and discrete values of the moment.

    `options` are the solver's own, checked. `jacobian` gives dF/dy + cj dF/dy' as values of `pattern`, compressed columns. A
    residual that is not finite asks for a smaller step.
    """

    def __init__(self, problem: Problem, known: Floats, inputs: Mapping[int, Signal]) -> None:
        self.problem = problem
        self.size: int = problem.size
        self.differential: Mask = problem.differential
        self.pattern: tuple[Integers, Integers] = problem.pattern
        self.nominal: Floats = problem.nominal
        self.rtol, self.atol = 1e-6, np.full(problem.size, 1e-6)
        self.t0, self.t_end = 0.0, np.inf
        self.options: Mapping[str, Any] = {}
        self.known, self._here = known.copy(), known
        self.set_inputs(inputs)
        self.non_finite: tuple[float, Floats, Floats] | None = None  # the last place where something had no value
        self.last_finite = True
        names = ("residual_evaluations", "jacobian_evaluations", "root_evaluations", "non_finite_evaluations")
        self.counts = dict.fromkeys(names, 0)
        self.seconds = dict.fromkeys(("residual", "jacobian", "roots"), 0.0)

    def residual(self, t: float, y: Floats, yp: Floats, out: Floats | None = None) -> Floats:
        begin = time.perf_counter()
        self.counts["residual_evaluations"] += 1
        values = self.problem.residual(t, y, yp, out, known=self.known_at(t))
        self._watch(t, y, yp, values)
        self.seconds["residual"] += time.perf_counter() - begin
        return values

    def jacobian(self, t: float, y: Floats, yp: Floats, cj: float) -> Floats:
        begin = time.perf_counter()
        self.counts["jacobian_evaluations"] += 1
        values = self.problem.jacobian(t, y, yp, cj, known=self.known_at(t))
        if not np.isfinite(values).all():
            self._watch(t, y, yp, values)
            values = np.zeros_like(values)  # singular: a failure to recover from with a smaller step
        self.seconds["jacobian"] += time.perf_counter() - begin
        return values

    # --- for whoever drives the integrator --------------------------------------------------------------------------------------
    def set_known(self, known: Floats) -> None:
        self.known, self._time = known.copy(), np.nan

    def set_inputs(self, inputs: Mapping[int, Signal]) -> None:
        """What holds its values is constant between events, and among the known values: it has not jumped before its event."""
        self.inputs, self._time = {cell: given for cell, given in inputs.items() if not isinstance(given, Steps)}, np.nan

    def known_at(self, t: float) -> Floats:
        if not self.inputs:
            return self.known
        if t != self._time:
            self._here, self._time = values_at(self.inputs, t, self.known), t
        return self._here

    def workspace(self, t: float, y: Floats, yp: Floats) -> Floats:
        return self.problem.equations.workspace(t, y, yp, self.known_at(t))

    def roots(self, t: float, y: Floats, yp: Floats) -> Floats:
        begin = time.perf_counter()
        self.counts["root_evaluations"] += 1
        rules = self.problem.rules
        assert rules is not None
        w = self.workspace(t, y, yp)
        values = np.concatenate([rules.values("relation", w), rules.values("crossing", w)])
        self.seconds["roots"] += time.perf_counter() - begin
        return values

    def _watch(self, t: float, y: Floats, yp: Floats, values: Floats) -> None:
        self.last_finite = bool(np.isfinite(values).all())
        if not self.last_finite:
            self.counts["non_finite_evaluations"] += 1
            if np.isfinite(y).all() and np.isfinite(yp).all():  # the first cause, not what followed from it
                self.non_finite = (t, y.copy(), yp.copy())


def suggested_step(task: Task, t: float, y: Floats, yp: Floats, stop: float, hint: float = 0.0) -> float:
    """A first step as native/ida.cpp estimates it: output times have no say in it, and a start at rest does not mislead.

    Within `hint` slopes change little, if it is known: the error of order 1 is about rate h² / hint.
    """
    weights = np.maximum(task.rtol * np.abs(y) + task.atol, np.finfo(float).tiny)
    rate = float((np.abs(yp) / weights)[task.differential].max(initial=0.0))
    if hint > 0:
        h = min(hint, stop - t)
        return float(np.sqrt(0.5 * hint / rate)) if rate * h * h > 0.5 * hint else h
    h = 1e-6 * (stop - t if stop < 1e300 else 1.0)
    return 0.5 / rate if rate * h > 0.5 else h
