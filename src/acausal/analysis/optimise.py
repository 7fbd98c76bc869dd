"""Optimisation of design and set points: the best value of a number that comes of a run, or of a state of rest.

scipy's sequential quadratic programming, or IPOPT where it is installed, with gradients of the objective and of all constraints
from one backward pass over the run (`gradient.py`), or from the sensitivities of the steady state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, UsageError
from ..language.reductions import Reduction, final
from ..language.units import quantity
from .fit import _bounds, _number, _present
from .gradient import gradient
from .ipopt import ipopt

if TYPE_CHECKING:
    from ..model.model import Model

METHODS = ("SLSQP", "ipopt")
_FAR = 1e8  # of what a parameter was at first: where one without bounds has run away


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best `parameters`, the `value` of the objective there, the `limited` quantities and the run or state (`result`)."""

    parameters: dict[str, float]
    value: float
    limited: dict[str, float]
    result: Any
    converged: bool
    message: str
    runs: int

    def __getitem__(self, name: str) -> float:
        return self.parameters[name]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"{name} = {value:.6g}" for name, value in {**self.parameters, "objective": self.value, **self.limited}.items()]
        return "\n".join([*lines, "" if self.converged else f"not converged: {self.message}"]).rstrip()


def optimise(
    model: Model,
    objective: str | Reduction,
    over: Any,
    *,
    subject_to: Mapping[Any, Any] | None = None,
    maximise: bool = False,
    until: Any = None,
    steady: bool = False,
    start: Mapping[str, float | str] | None = None,
    tolerance: float = 1e-8,
    method: str = "SLSQP",
    **options: Any,
) -> Optimum:
    """See `Model.optimise`."""
    if method not in METHODS:
        raise UsageError(f"`method` is one of {', '.join(METHODS)}; got {method!r}.")
    if (until is None) == (not steady):
        raise UsageError("An optimisation is of runs (`until=…`) or of states of rest (`steady=True`).")
    if subject_to is not None and not isinstance(subject_to, Mapping):
        raise UsageError(
            f"`subject_to` takes limits by name, got {subject_to!r} of type {type(subject_to).__name__}.",
            remedy='subject_to={"room.T": (293.15, None)}',
        )
    problem = _Problem(model, objective, over, subject_to or {}, -1.0 if maximise else 1.0, None if steady else until, options)
    return problem.solved(start or {}, tolerance, method)


def _minimiser(method: str, tolerance: float) -> Callable[..., Any]:
    """A function with the arguments of scipy's `minimize`."""
    from scipy.optimize import minimize

    if method != "ipopt":
        return partial(minimize, method=method, options={"ftol": tolerance, "maxiter": 200})
    return ipopt(tolerance)


@dataclass(eq=False)
class _Point:
    values: np.ndarray
    slopes: np.ndarray
    result: Any


@dataclass(eq=False)
class _Problem:
    model: Model
    objective: str | Reduction
    over: Any
    subject_to: Mapping[Any, Any]
    sign: float
    until: Any
    options: dict[str, Any]
    seen: dict[bytes, _Point] = field(default_factory=dict)
    scale: np.ndarray = field(default_factory=lambda: np.ones(1))
    runs: int = 0

    def __post_init__(self) -> None:
        self.names, self.low, self.high = _bounds(self.model, self.over)
        given = [self.objective, *self.subject_to]
        self.outputs = [final(o) if isinstance(o, str) else o for o in given]
        wrong = next((o for o in self.outputs if not isinstance(o, Reduction)), None)
        if wrong is not None:
            raise UsageError(f"An objective is a path or a reduction such as ac.mean(…), got {wrong!r}.")
        if self.until is None and any(o.kind != "final" for o in self.outputs):
            raise UsageError("A state of rest has no means or maxima: name the quantity itself.")
        self.limits = [self._limits(o, self.subject_to[key]) for o, key in zip(self.outputs[1:], self.subject_to, strict=True)]

    def _limits(self, output: Reduction, pair: Any) -> tuple[float, float]:
        try:
            low, high = pair
        except (TypeError, ValueError):
            raise UsageError(
                f"The limits of `{output.label}` are a pair such as (None, 300.0), got {pair!r}.",
                remedy="None: no limit on that side.",
            ) from None
        own = output.unit_from(self._unit)
        number = [quantity(v, own) if isinstance(v, str) else v for v in (low, high)]
        return -np.inf if number[0] is None else float(number[0]), np.inf if number[1] is None else float(number[1])

    def _unit(self, name: str) -> str:
        plant = self.model.system.plant
        if name == "time":
            return str(plant.independent[1])
        found = plant.locate(name)
        return "" if found.flat is None else str(found.kind.quantities[found.name].declaration.unit)

    def at(self, x: np.ndarray) -> _Point:
        self._check_bounded(x)
        key = x.tobytes()
        if key not in self.seen:
            self.runs += 1
            self.seen[key] = self._steady(x) if self.until is None else self._run(x)
        return self.seen[key]

    def _check_beyond(self, first: np.ndarray, last: np.ndarray) -> None:
        """A search that gave up along a side without a bound: whether it only gets better further out, within all limits."""
        free = np.where(last > first, np.isinf(self.high), np.isinf(self.low)) & (np.abs(last - first) > self.scale)
        best, away = self.at(last).values, np.where(free, last - first, 0.0)
        while free.any() and not self._missed(best, np.maximum(np.abs(best), 1.0)):
            away = 100.0 * away
            try:
                there = self.at(last + away).values  # tells it when it comes to where nobody should be
            except ModelError as error:
                if isinstance(error, UsageError):
                    raise
                return
            if not self.sign * there[0] < self.sign * best[0]:
                return
            best = there

    def _check_bounded(self, x: np.ndarray) -> None:
        """Far out on a side without a bound there is no optimum, only a direction in which it gets better and better."""
        away = np.flatnonzero((x < -_FAR * self.scale) & np.isinf(self.low) | (x > _FAR * self.scale) & np.isinf(self.high))
        if len(away):
            name, way = self.names[int(away[0])], "grows" if x[away[0]] > 0 else "falls"
            best, goal = "smaller" if self.sign > 0 else "larger", self.outputs[0].label
            raise UsageError(
                f"The optimisation is unbounded: `{goal}` becomes {best} and {best} as `{name}` {way} without end.",
                remedy=f'Give bounds: over={{"{name}": (low, high)}}; or limits of other quantities: subject_to={{…}}.',
            )

    def _run(self, x: np.ndarray) -> _Point:
        changes = {**self.options.get("set", {}), **dict(zip(self.names, x.tolist(), strict=True))}
        found = gradient(self.model, self.outputs, self.names, until=self.until, **{**self.options, "set": changes})
        return _Point(found.values, found.data, found.result)

    def _steady(self, x: np.ndarray) -> _Point:
        changes = {**self.options.get("set", {}), **dict(zip(self.names, x.tolist(), strict=True))}
        earlier = list(self.seen.values())[-1].result if self.seen else self.options.get("start_from")
        asked = {**self.options, "set": changes, "start_from": earlier, "sensitivities": self.names, "warn": False}
        found = self.model.steady_state(**asked)
        values = np.array([float(np.asarray(found.values_of(o.path))[-1]) for o in self.outputs])
        slopes = np.array([[found.sensitivity(o.path, n)[-1] for n in self.names] for o in self.outputs], dtype=float)
        return _Point(values, slopes, found)

    def solved(self, start: Mapping[str, float | str], tolerance: float, method: str) -> Optimum:
        wrong = next((n for n in start if n not in self.names), None)
        if wrong is not None:
            raise UsageError(f"`start` names `{wrong}`, which is not optimised.", remedy=f"Optimised are: {', '.join(self.names)}.")
        begin = [_number(self.model, n, start[n]) if n in start else _present(self.model, n) for n in self.names]
        x0 = np.clip(begin, self.low, self.high)
        span = self.high - self.low
        scale = np.where(np.isfinite(span), span, np.where(x0 != 0, np.abs(x0), 1.0))
        self.scale = scale
        first = self.at(x0)
        size = np.maximum(np.abs(first.values), np.abs(first.slopes) @ scale)
        size = np.where(size > 0, size, 1.0)
        constraints = []
        for k, (low, high) in enumerate(self.limits, start=1):
            for bound, sign in ((low, 1.0), (high, -1.0)):
                if np.isfinite(bound):
                    constraints.append(self._constraint(k, bound, sign / size[k], scale))
        found = _minimiser(method, tolerance)(
            lambda x: self.sign * self.at(x * scale).values[0] / size[0],
            x0 / scale,
            jac=lambda x: self.sign * self.at(x * scale).slopes[0] * scale / size[0],
            bounds=list(zip(self.low / scale, self.high / scale, strict=True)),
            constraints=constraints,
        )
        best = self.at(found.x * scale)
        if not found.success:
            self._check_beyond(x0, found.x * scale)
        if not np.isfinite(best.values).all():
            raise ModelError("The optimisation came to a point at which the model has no values.")
        limited = {o.label: float(v) for o, v in zip(self.outputs[1:], best.values[1:], strict=True)}
        parameters = dict(zip(self.names, (found.x * scale).tolist(), strict=True))
        said = self._missed(best.values, size) or str(found.message)
        return Optimum(parameters, float(best.values[0]), limited, best.result, bool(found.success), said, self.runs)

    def _missed(self, values: np.ndarray, size: np.ndarray) -> str:
        """Which limit is not kept at the point that was found, in words; empty if none."""
        for k, (low, high) in enumerate(self.limits, start=1):
            for bound, sign, side in ((low, 1.0, "≥"), (high, -1.0, "≤")):
                if sign * (bound - values[k]) > 1e-6 * size[k]:
                    limit = f"`{self.outputs[k].label}` {side} {bound:g}"
                    return f"no values within the bounds were found with {limit}; it came to {values[k]:g}."
        return ""

    def _constraint(self, k: int, bound: float, factor: float, scale: np.ndarray) -> dict[str, Any]:
        return {
            "type": "ineq",
            "fun": lambda x: factor * (self.at(x * scale).values[k] - bound),
            "jac": lambda x: factor * self.at(x * scale).slopes[k] * scale,
        }
