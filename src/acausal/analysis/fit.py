"""Calibration: parameters with which a model comes as close as it can to measured data.

Least squares over all experiments, with gradients from forward sensitivities (`sensitivity.py`); scipy's trust region method
keeps bounds. Where a run cannot be made with some parameters, the step towards them is shortened.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..errors import ModelError, RunWarning, UsageError, level_of_caller
from ..language.units import quantity as in_unit
from ..runtime.recording import Recording
from ..runtime.storage import is_number
from .directions import directions_of
from .measured import Measured, looks_like_data, measured
from .sensitivity import followed

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from ..model.model import Model

_APART = 1e-6  # relative singular value below which parameters cannot be told apart
_SHARE = 0.1  # of a combination that the data do not see, or of its largest effect: from here on a parameter takes part in it
_FINE = 1e-2  # of the tolerance of runs: steps of parameters below it follow the noise of the solver
_GOOD = 0.98  # share of the data's variance that a fit explains, or it is tried again with less of the data first
_PARTS = (0.15, 0.35, 0.65, 1.0)
_OF_RUNS = ("at", "points", "every", "store", "sensitivities", "derivatives", "on_failure")  # which a fit decides
_LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")  # scipy's


@checked
def fit(
    model: Model,
    data: Any,
    parameters: Iterable[str] | Mapping[str, Any],
    *,
    start: Mapping[str, float | str] | None = None,
    weights: Mapping[str, float] | None = None,
    starts: int = 1,
    seed: int = 0,
    loss: str = "linear",
    rtol: float = 1e-6,
    apply: bool = False,
    **options: Any,
) -> Fit:
    """See `Model.fit`."""
    if looks_like_data(parameters):
        raise UsageError("The data come first, then the parameters.", remedy='model.fit(data, ["wall.G"])')
    _check_options(starts, loss, rtol, options)
    several = isinstance(data, list | tuple)
    if several and not data:
        raise UsageError("There are no data to fit.", remedy='{"time": [0.0, 10.0], "room.T [degC]": [20.0, 20.5]}')
    experiments = [measured(model, each, k) for k, each in enumerate(data if several else [data])]
    problem = FitProblem(model, experiments, parameters, weights or {}, rtol, options)
    first = problem.first(start or {})
    found = problem.solved(first, loss)
    for guess in problem.guesses(starts - 1, seed):
        other = problem.solved(guess, loss)
        found = other if found is None or (other is not None and other.cost < found.cost) else found
    if found is None:
        raise ModelError(
            "The model cannot be run with the parameters that the fit begins with.",
            *problem.trouble,
            remedy="Begin with others: start={…}; or narrow the bounds.",
        )
    result = problem.result(found)
    for told in result.diagnostics:
        warnings.warn(told, RunWarning, stacklevel=level_of_caller())
    if apply:
        model.set(result.parameters)
    return result


class FitProblem:
    """Residuals and their derivatives by scaled parameters."""

    def __init__(
        self, model: Model, experiments: list[Measured], parameters: Any, weights: Mapping[str, float], rtol: float, options: Any
    ) -> None:
        self.model, self.experiments, self.rtol, self.options = model, experiments, rtol, options
        self.names, self.low, self.high = _bounds(model, parameters)
        self.trouble: tuple[Any, ...] = ()
        self._latest: tuple[tuple[bytes, float], list[_Run]] | None = None
        self.weights = {path: _weight(path, experiments, weights) for e in experiments for path in e.values}
        unknown = next((path for path in weights if path not in self.weights), None)
        if unknown is not None:
            raise UsageError(f"`weights` names `{unknown}`, which is no column of the data.")
        directions_of(model, self.names, model.problem, "parameters")

    def first(self, start: Mapping[str, float | str]) -> np.ndarray:
        wrong = next((n for n in start if n not in self.names), None)
        if wrong is not None:
            raise UsageError(f"`start` names `{wrong}`, which is not fitted.")
        values = np.array([_number(self.model, n, start[n]) if n in start else _present(self.model, n) for n in self.names])
        return np.clip(values, self.low, self.high)

    def guesses(self, count: int, seed: int) -> np.ndarray:
        """Points spread over the bounds; without bounds, over a factor of ten around the present values."""
        if count < 1:
            return np.zeros((0, len(self.names)))
        from scipy.stats import qmc  # seconds on a slow disk, and most fits have one start

        now = self.first({})
        low = np.where(np.isfinite(self.low), self.low, np.minimum(now / 3, now * 3))
        high = np.where(np.isfinite(self.high), self.high, np.maximum(now / 3, now * 3))
        shares = qmc.LatinHypercube(len(now), seed=seed).random(count)
        even = (low > 0) & (high > 3 * low)  # over decades
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(even, np.exp(np.log(np.abs(low)) + shares * np.log(np.abs(high / low))), low + shares * (high - low))

    def solved(self, first: np.ndarray, loss: str) -> Any:
        """From one guess; what explains the data badly is tried once more with their beginning first, where phases agree."""
        direct = self._least(first, loss, 1.0)
        if direct is not None and self.explained(direct) > _GOOD:
            return direct
        staged: Any = first
        for part in _PARTS:
            now = self._least(staged, loss, part)
            if now is None:
                return direct
            staged = now.x
        return now if direct is None or now.cost < direct.cost else direct

    def _least(self, first: np.ndarray, loss: str, part: float) -> Any:
        from scipy.optimize import least_squares

        inside = np.where(np.isfinite(self.high - self.low), 1e-9 * (self.high - self.low), 0.0)
        x0 = np.clip(first, self.low + inside, self.high - inside)
        if not np.isfinite(self.residuals(x0, part)).all():
            return None
        scale = np.where(x0 != 0, np.abs(x0), 1.0)
        found = least_squares(
            lambda x: self.residuals(x * scale, part),
            x0 / scale,
            lambda x: self.slopes(x * scale, part) * scale,
            (self.low / scale, self.high / scale),
            x_scale="jac",
            loss=loss,
            xtol=max(1e-10, _FINE * self.rtol),
            ftol=1e-10,
            gtol=1e-12,
            max_nfev=200,
        )
        found.x = found.x * scale
        return found

    # --- runs -----------------------------------------------------------------------------------------------------------------
    def residuals(self, x: np.ndarray, part: float = 1.0) -> np.ndarray:
        return np.concatenate([run.residuals() for run in self._runs(x, part)])

    def slopes(self, x: np.ndarray, part: float = 1.0) -> np.ndarray:
        return np.vstack([run.slopes() for run in self._runs(x, part)])

    def _runs(self, x: np.ndarray, part: float) -> list[_Run]:
        """The runs of all experiments; the latest are kept, since derivatives are asked for where values were."""
        key = x.tobytes(), part
        if self._latest is None or self._latest[0] != key:
            self._latest = key, [_Run(self, e, x, part) for e in self.experiments]
        return self._latest[1]

    # --- what came of it --------------------------------------------------------------------------------------------------------
    def explained(self, found: Any) -> float:
        """The share of the data's variance that the model explains, of the column where it is least."""
        residuals, worst, place = self.residuals(found.x), 1.0, 0
        for e in self.experiments:
            for path, column in e.values.items():
                data = self.weights[path] * column[np.isfinite(column)]
                part = residuals[place : place + len(data)]
                place += len(data)
                spread = float(((data - data.mean()) ** 2).sum())
                worst = min(worst, 1.0 - float((part**2).sum()) / spread if spread > 0 else 1.0)
        return worst

    def result(self, found: Any) -> Fit:
        residuals, slopes = self.residuals(found.x), self.slopes(found.x)
        size = np.where(found.x != 0, np.abs(found.x), 1.0)
        missing = np.zeros((max(0, len(size) - len(slopes)), len(size)))  # with fewer values than parameters something is not seen
        _, singular, v = np.linalg.svd(np.vstack([slopes * size, missing]), full_matrices=False)
        freedom = max(1, len(residuals) - len(found.x))
        variance = float(residuals @ residuals) / freedom
        regular = singular > _APART * singular.max(initial=0.0)
        spread = v[regular] / singular[regular, None]
        covariance = variance * (size[:, None] * (spread.T @ spread) * size)
        for lost in np.flatnonzero(_part_of_unseen(singular, v)[~regular].any(axis=0)):  # not determined by themselves
            covariance[lost, :] = covariance[:, lost] = np.nan
            covariance[lost, lost] = np.inf
        values = dict(zip(self.names, found.x.tolist(), strict=True))
        fitted = Fit(
            self.model, values, covariance, residuals, found.cost, freedom, singular, v, self.explained(found), self.experiments,
            dict(self.weights), self, bool(found.success),
        )  # fmt: skip
        fitted.diagnostics = fitted._told(regular)
        return fitted


class _Run:
    """One experiment with some parameters: the beginning of its data, the run, and where measured values are in it."""

    def __init__(self, problem: FitProblem, e: Measured, x: np.ndarray, part: float) -> None:
        self.problem, self.experiment, self.count = problem, e, len(x)
        self.kept = max(2, int(np.ceil(part * len(e.time)))) if part < 1 else len(e.time)
        self.times = e.time[: self.kept]
        self.good = {path: np.isfinite(column[: self.kept]) for path, column in e.values.items()}
        self.size = int(sum(g.sum() for g in self.good.values()))
        self.recording = Recording()
        try:
            self.result = self._simulated(x)
        except ModelError as error:
            self.result, problem.trouble = None, error.diagnostics
        if self.result is not None and not self.result.outcome.ok:
            self.result, problem.trouble = None, self.result.diagnostics

    def _simulated(self, x: np.ndarray) -> Any:
        problem, e, end = self.problem, self.experiment, float(self.times[-1])
        begin = problem.options.get("start", min(0.0, float(self.times[0])))
        changes = {**e.set, **dict(zip(problem.names, x.tolist(), strict=True))}
        asked = {"set": changes, "inputs": e.inputs, "start": begin, "sensitivities": self.recording, "derivatives": True}
        return problem.model.simulate(end, at=self.times, rtol=problem.rtol, on_failure="keep", **{**problem.options, **asked})

    def residuals(self) -> np.ndarray:
        if self.result is None:
            return np.full(self.size, np.nan)
        found = [np.zeros(0)]
        for path, where in self.good.items():
            computed = np.asarray(self.result.values_of(path), dtype=float)[self._rows(where)]
            found.append(self.problem.weights[path] * (computed - self.experiment.values[path][: self.kept][where]))
        return np.concatenate(found)

    def slopes(self) -> np.ndarray:
        if self.result is None:
            return np.full((self.size, self.count), np.nan)
        moving = followed(self.problem.model, self.result, self.recording, self.problem.names)
        found = [np.zeros((0, self.count))]
        for path, where in self.good.items():
            found.append(self.problem.weights[path] * moving.of(path)[self._rows(where)])
        return np.concatenate(found)

    def _rows(self, where: np.ndarray) -> np.ndarray:
        rows = np.searchsorted(self.result.time, self.times, side="right") - 1
        return np.asarray(rows[where])


@dataclass(eq=False)
class Fit:
    """What a fit found: `parameters`, `deviations` (standard errors), `confidence()`, `identifiability()`, `plot()`."""

    model: Model
    parameters: dict[str, float]
    covariance: np.ndarray
    residuals: np.ndarray
    cost: float
    freedom: int
    singular_values: np.ndarray
    directions: np.ndarray
    explained: float
    experiments: list[Measured]
    weights: dict[str, float]
    _problem: FitProblem = field(repr=False)
    converged: bool = True
    diagnostics: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float:
        return self.parameters[name]

    @property
    def deviations(self) -> dict[str, float]:
        """Standard errors, by the curvature of the sum of squares at the minimum."""
        return dict(zip(self.parameters, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def correlation(self) -> np.ndarray:
        """Correlations between the errors of the parameters."""
        size = np.sqrt(np.diag(self.covariance))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.covariance / np.outer(size, size))

    def confidence(self, share: float = 0.95) -> dict[str, tuple[float, float]]:
        """Intervals in which the parameters lie with this probability."""
        from scipy.stats import t

        factor = float(t.ppf(0.5 + share / 2, self.freedom))
        return {
            n: (v - factor * d, v + factor * d) for (n, v), d in zip(self.parameters.items(), self.deviations.values(), strict=True)
        }

    def identifiability(self) -> list[tuple[float, dict[str, float]]]:
        """Combinations of relative changes of parameters, the worst determined first: (singular value, share of each parameter).

        A combination with a small singular value hardly changes what is measured: data say nothing about it.
        """
        return [
            (float(s), dict(zip(self.parameters, d.tolist(), strict=True)))
            for s, d in sorted(zip(self.singular_values, self.directions, strict=True), key=lambda pair: float(pair[0]))
        ]

    def _told(self, regular: np.ndarray) -> tuple[str, ...]:
        names, part = list(self.parameters), _part_of_unseen(self.singular_values, self.directions)
        without = _without_effect(self.singular_values, self.directions)
        found = [f"The data say nothing about `{n}`: what is measured does not change with it." for n in np.array(names)[without]]
        for k in np.flatnonzero(~regular)[::-1]:
            among = np.flatnonzero(part[k] & ~without)
            if len(among):
                how = " ".join(f"{self.directions[k, j]:+.2g} {names[j]}" for j in among)
                found.append(
                    f"{', '.join(f'`{names[j]}`' for j in among)} cannot be told apart: changed together (relative changes in the "
                    f"ratio {how}) they leave what is measured as it is (singular value {self.singular_values[k]:.1e}). "
                    "Fix one of them, or measure something else."
                )
        return tuple(found)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"{'parameter':<24} {'value':>12} {'± (95 %)':>12}"]
        for name, (low, high) in self.confidence().items():
            found = self.model.system.plant.locate(name)
            unit = found.kind.quantities[found.name].declaration.unit
            lines.append(f"{name:<24} {self.parameters[name]:>12.6g} {(high - low) / 2:>12.3g}  {unit}".rstrip())
        lines.append(f"{100 * self.explained:.2f} % of the variance explained, {len(self.residuals)} values")
        return "\n".join([*lines, *self.diagnostics])

    def result(self, experiment: int = 0) -> Any:
        """The run of an experiment with the parameters found."""
        e = self.experiments[experiment]
        begin = min(0.0, float(e.time[0]))
        asked = {"rtol": self._problem.rtol, **self._problem.options, "set": {**e.set, **self.parameters}, "inputs": e.inputs}
        return self.model.simulate(float(e.time[-1]), start=begin, **asked)

    def plot(self, file: str | os.PathLike[str] | None = None) -> Figure:
        """Measured and computed values of each experiment, and what is left between them."""
        from .pictures import fit_picture

        return fit_picture(self, file)


def _part_of_unseen(singular: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """For each combination, which parameters take part in it if it leaves what is measured as it is.

    Effects cancel there. What has a large one takes part with a small change, too: a temperature in kelvin that makes up for a
    power changes by less than a tenth of what the power does.
    """
    effects = np.abs(directions) * np.sqrt((singular**2) @ directions**2)  # the norm of each column of the slopes, times the change
    largest = effects.max(axis=1, initial=0.0, keepdims=True)
    cancels = (effects > _SHARE * largest) & (largest > _APART * singular.max(initial=0.0))
    return np.asarray((np.abs(directions) > _SHARE) | cancels)


def _without_effect(singular: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Which parameters by themselves hardly change what is measured."""
    return np.asarray(np.sqrt((singular**2) @ directions**2) <= _APART * singular.max(initial=0.0))


def _check_options(starts: Any, loss: Any, rtol: Any, options: Mapping[str, Any]) -> None:
    own = next((name for name in ("inputs", "set") if name in options), None)
    if own is not None:
        raise UsageError(
            f"`{own}` belongs to the data it was measured with.", remedy=f"`model.fit(ac.experiment(data, {own}=…), …)`."
        )
    ours = next((name for name in _OF_RUNS if name in options), None)
    if ours is not None:
        raise UsageError(f"`{ours}` is no option of a fit: its runs stop at the times of the data.", remedy=f"Leave `{ours}` out.")
    if isinstance(starts, bool) or not isinstance(starts, int | np.integer) or starts < 1:
        raise UsageError(f"`starts` is how many points a fit begins from: a whole number of at least 1, got {starts!r}.")
    if loss not in _LOSSES:
        raise UsageError(f"`loss` is one of {', '.join(_LOSSES)}; got {loss!r}.")
    if not is_number(rtol) or not 0 < rtol < 1:
        raise UsageError(f"`rtol` is the relative tolerance of the runs, such as 1e-6; got {rtol!r}.")


def _number(model: Model, name: str, given: Any) -> float:
    """A value of a parameter: a number in its unit, or a text with another."""
    try:
        return float(in_unit(given, _unit(model, name)) if isinstance(given, str) else given)
    except (TypeError, ValueError):
        raise UsageError(f"`{name}` begins with a number or a text with a unit, got {given!r}.") from None


def _bounds(model: Model, parameters: Any) -> tuple[list[str], np.ndarray, np.ndarray]:
    if isinstance(parameters, str):
        parameters = [parameters]
    given = dict(parameters) if isinstance(parameters, Mapping) else dict.fromkeys(parameters)
    if not given:
        raise UsageError("No parameter is to be fitted.", remedy='parameters=["wall.G"]')
    low, high = [], []
    for name, bounds in given.items():
        _refuse_array(model, name)
        declared = _declared(model, name)
        try:
            own = declared if bounds is None else tuple(bounds)
            own = tuple(in_unit(b, _unit(model, name)) if isinstance(b, str) else b for b in own)
            first, last = (d if b is None else float(b) for b, d in zip(own, declared, strict=True))
        except (TypeError, ValueError):
            raise UsageError(
                f"The bounds of `{name}` are a pair of numbers or texts with a unit, or None for none; got {bounds!r}."
            ) from None
        if not first < last:
            raise UsageError(f"The bounds of `{name}` must grow: got {first:g} … {last:g}.")
        low.append(first)
        high.append(last)
    return list(given), np.array(low), np.array(high)


def _refuse_array(model: Model, name: str) -> None:
    flat = model.system.plant.locate(name).flat
    if flat is not None and np.ndim(flat):
        first = "0" + ", 0" * (np.ndim(flat) - 1)
        raise UsageError(f"`{name}` is an array of shape {np.shape(flat)}; one number is varied.", remedy=f"`{name}[{first}]`, …")


def _unit(model: Model, name: str) -> str:
    located = model.system.plant.locate(name)
    return "" if located.flat is None else located.kind.quantities[located.name].declaration.unit


def _declared(model: Model, name: str) -> tuple[float, float]:
    located = model.system.plant.locate(name)
    quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
    bounds = (-np.inf, np.inf)
    if quantity is not None:
        limits = (quantity.declaration.min, quantity.declaration.max)
        bounds = tuple(float(v) if isinstance(v, int | float) else b for v, b in zip(limits, bounds, strict=True))  # type: ignore[assignment]
    return bounds


def _present(model: Model, name: str) -> float:
    try:
        return float(model.get(name))
    except ModelError:
        starts = model._preparation.starts.starts(model._parameters.known({}))
        located = model.system.plant.locate(name)
        number = located.kind.quantities[located.name].base + int(np.asarray(located.flat).ravel()[0])
        index, sign = int(model.system.aliases.index[number]), float(model.system.aliases.sign[number])
        return sign * float(starts.start[index])


def _weight(path: str, experiments: list[Measured], weights: Mapping[str, float]) -> float:
    """As given, or such that columns of different size count alike."""
    if path in weights:
        if not float(weights[path]) > 0:
            raise UsageError(f"The weight of `{path}` is positive, got {weights[path]!r}.")
        return float(weights[path])
    values = np.concatenate([e.values[path] for e in experiments if path in e.values])
    values = values[np.isfinite(values)]
    spread = float(np.std(values))
    return 1.0 / (spread if spread > 0 else max(float(np.max(np.abs(values))), 1e-300))
