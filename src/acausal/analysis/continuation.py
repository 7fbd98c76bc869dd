"""Steady states along a parameter, through folds: limit points, Hopf points and branch points found and named.

With F_y the derivatives of the equations at rest, the parameter turns where F_y is singular and the tangent has no part along it
(a limit point); two curves cross where the bordered matrix is singular (a branch point); an oscillation begins where a pair of
eigenvalues of the linearised model passes the imaginary axis (a Hopf point).
Kuznetsov, Elements of Applied Bifurcation Theory, chapter 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array

from ..errors import ModelError, NameNotFound, UsageError, an
from ..families.plant import FIRST_PARAMETER
from ..language.units import convert, dimension, quantity
from ..program.evaluator import Evaluator
from ..program.rows import Stored
from ..runtime.inputs import values_at
from ..runtime.preparation import Beginning, Prepared
from .arclength import OnCurve, Tracer
from .linearise import followed_roots

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from ..model.model import Model

_STATES = 300  # up to which eigenvalues are computed
_STEP = 1e-6  # of the parameter's range, for derivatives by it


@dataclass(frozen=True, slots=True, eq=False)
class Special:
    """A point at which something changes: "limit point", "Hopf point" or "branch point"."""

    kind: str
    parameter: float
    number: int  # of the point on the branch before it
    frequency: float = 0.0  # of a Hopf point: in Hz
    point: OnCurve | None = field(default=None, repr=False)

    def __str__(self) -> str:
        more = f", {self.frequency:.6g} Hz" if self.kind == "Hopf point" else ""
        return f"{self.kind} at {self.parameter:.8g}{more}"


class AtRest:
    """The equations of a model at rest, with one parameter free (see `arclength.Equations`)."""

    def __init__(self, model: Model, parameter: str, prepared: Prepared, changes: Mapping[str, Any], span: float) -> None:
        self.model, self.name, self.changes = model, parameter, dict(changes)
        self.problem, self.signals = prepared.problem, prepared.signals
        self.scale = np.append(np.maximum(self.problem.nominal, np.abs(prepared.y)), span)
        self.known, self._read = self.problem.known.copy(), dict[float, np.ndarray]()

    def at(self, parameter: float) -> np.ndarray:
        """All known values with the parameter."""
        if parameter not in self._read:
            if len(self._read) > 8:
                self._read.clear()
            self._read[parameter] = self._known(parameter)
        return self._read[parameter]

    def _known(self, parameter: float) -> np.ndarray:
        known = self.known.copy()
        count = self.model.system.known_count
        fresh = values_at(self.signals, float(known[0]), self.model._parameters.known({**self.changes, self.name: parameter}))
        keep = self._decided()
        known[:count][~keep] = fresh[~keep]
        return known

    def _decided(self) -> np.ndarray:
        """Known cells that are no parameters: discrete values, time and marks keep what they have at rest."""
        keep = np.zeros(self.model.system.known_count, dtype=bool)
        keep[:FIRST_PARAMETER] = True
        hybrid = self.model.system.hybrid
        if hybrid is not None:
            keep[hybrid.cells] = keep[hybrid.partners] = True
        return keep

    def residual(self, u: np.ndarray, parameter: float) -> np.ndarray:
        with np.errstate(all="ignore"):
            return self.problem.residual(float(self.known[0]), u, np.zeros(len(u)), known=self.at(parameter))

    def jacobian(self, u: np.ndarray, parameter: float) -> csc_array:
        values, _ = self.problem.partials(float(self.known[0]), u, np.zeros(len(u)), known=self.at(parameter))
        indptr, indices = self.problem.pattern
        return csc_array((values, indices, indptr), shape=(len(u), len(u)))

    def slope(self, u: np.ndarray, parameter: float) -> np.ndarray:
        """Derivatives by the parameter, from both sides: known values that are bound to it follow."""
        h = _STEP * max(abs(parameter), self.scale[-1])
        return (self.residual(u, parameter + h) - self.residual(u, parameter - h)) / (2 * h)

    def eigenvalues(self, u: np.ndarray, parameter: float) -> np.ndarray:
        """Of the linearised model; none for one with many states."""
        states, n = self.problem.differential, len(u)
        if not 0 < int(states.sum()) <= _STATES or n > 4 * _STATES:
            return np.zeros(0, dtype=complex)
        indptr, indices = self.problem.pattern
        parts = self.problem.partials(float(self.known[0]), u, np.zeros(n), known=self.at(parameter))
        by_value, by_slope = (csc_array((values, indices, indptr), shape=(n, n)).toarray() for values in parts)
        try:
            moved = -np.linalg.solve(np.column_stack([by_slope[:, states], by_value[:, ~states]]), by_value[:, states])
        except np.linalg.LinAlgError:
            return np.zeros(0, dtype=complex)
        return np.linalg.eigvals(moved[: int(states.sum())])


class Branch:
    """Steady states along a parameter: `branch["T"]` and `branch.values` are arrays along the curve, `branch.special` its points of
    change, `branch.stable` says where the state is stable, `branch.plot("T")` shows it."""

    def __init__(self, equations: AtRest, points: list[OnCurve], special: list[Special], broken_off: bool = False) -> None:
        self._equations, self._points, self.special = equations, points, special
        self.broken_off = broken_off  # after as many points as were allowed, before the parameter left its range
        self.parameter = equations.name
        self.values = np.array([p.parameter for p in points])

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        found = ", ".join(map(str, self.special)) or "nothing special"
        found += "; broken off: allow `most` points or a `largest_step` that is larger" if self.broken_off else ""
        return (
            f"<Branch of {len(self)} steady states along {self.parameter}, {self.values.min():g} … {self.values.max():g}: {found}>"
        )

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array([self._value(p, name) for p in self._points])

    def at(self, special: Special, name: str) -> Any:
        """A quantity at a special point."""
        assert special.point is not None
        return self._value(special.point, name)

    def _value(self, point: OnCurve, name: str) -> Any:
        e, system = self._equations, self._equations.model.system
        known = e.at(point.parameter)
        w = e.problem.equations.workspace(float(known[0]), point.u, np.zeros(len(point.u)), known)
        whole, n = e.problem.lowered.expand(w), system.size
        stored = Stored(np.array([whole[2 * n]]), whole[None, :], np.arange(n), n + np.arange(n), whole[2 * n :])
        return Evaluator(system, stored)[name][0]

    @property
    def stable(self) -> np.ndarray:
        """Whether small disturbances die out."""
        return np.array([self._stability(p) for p in self._points])

    def _stability(self, point: OnCurve) -> bool:
        found = self._equations.eigenvalues(point.u, point.parameter)
        return bool((found.real < 0).all())

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues along the branch, (point, eigenvalue), each column followed from point to point: a root locus."""
        return followed_roots([self._equations.eigenvalues(p.u, p.parameter) for p in self._points])

    def root_locus(self, file: str | os.PathLike[str] | None = None) -> Figure:
        """Where the eigenvalues go as the parameter changes, in the complex plane."""
        from .pictures import locus_picture

        return locus_picture(self.eigenvalues, self.values, self.parameter, file)

    def switched(self, special: Special, **options: Any) -> Branch:
        """The other branch that crosses at a branch point."""
        if special.kind != "branch point" or special.point is None:
            raise UsageError(f"Branches cross at a branch point; this is {an(special.kind)}.")
        return _other_branch(self._equations, special.point, self.values, **options)

    def plot(self, name: str, file: str | os.PathLike[str] | None = None) -> Figure:
        """A quantity over the parameter: stable states drawn through, unstable ones dashed, special points marked."""
        from .pictures import branch_picture

        return branch_picture(self, name, file)


def continuation(
    model: Model,
    parameter: str,
    between: Iterable[float],
    *,
    set: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    start_from: Any = None,
    most: int = 500,
    largest_step: float = 0.05,
) -> Branch:
    """See `Model.continuation`."""
    low, high = _range(model, parameter, between)
    prepared, begin = _first(model, parameter, (low, high), dict(set or {}), dict(inputs or {}), start_from)
    equations = AtRest(model, parameter, prepared, set or {}, abs(high - low))
    tracer = Tracer(equations)
    start = tracer.first(prepared.y, begin, 1.0 if begin < max(low, high) else -1.0)
    return _traced(tracer, start, min(low, high), max(low, high), most, largest_step)


def _range(model: Model, parameter: str, between: Iterable[float | str]) -> tuple[float, float]:
    """The two ends, as numbers or as texts with a unit."""
    if np.size(model._parameters.cells(parameter)) != 1:
        raise UsageError(f"`{parameter}` is an array; a curve follows one number.", remedy=f"`{parameter}[0]`")
    try:
        given = [] if isinstance(between, str) else list(between)
        low, high = (quantity(v, _unit(model, parameter)) if isinstance(v, str) else float(v) for v in given)
    except (TypeError, ValueError):
        raise UsageError(f"`between` is a pair of numbers, got {between!r}.", remedy="between=(0.0, 1.0)") from None
    if not (np.isfinite(low) and np.isfinite(high)):
        raise UsageError(f"`between` is a pair of finite numbers, got {between!r}.")
    if low == high:
        raise UsageError("`between` holds one value twice.")
    return low, high


def frequencies(model: Model, parameter: str, between: Iterable[float | str]) -> tuple[float, float]:
    """The same for the frequency of a forcing: 1/period, in Hz (or 1/year … where the model is integrated over years)."""
    unit, over = _unit(model, parameter), model.system.plant.independent[1]
    own = "Hz" if over == "s" else f"1/{over}"
    if unit and (dimension(unit) != dimension(own) or "rad" in unit or convert(1.0, unit, own) != 1.0):
        raise UsageError(
            f"`{parameter}` is in {unit}; the frequency of a forcing is one over its period, in {own}.",
            remedy='Declare `f = ac.Parameter(…, unit="Hz")`, and write `2 * ac.pi * self.f` where an angular frequency is meant.',
        )
    low, high = _range(model, parameter, between)
    if min(low, high) <= 0:
        raise UsageError(f"Frequencies are positive, got {low:g} … {high:g}.")
    return low, high


def _unit(model: Model, parameter: str) -> str:
    found = model.system.plant.locate(parameter)
    return "" if found.flat is None else str(found.kind.quantities[found.name].declaration.unit)


def _first(
    model: Model, parameter: str, values: tuple[float, float], changes: dict[str, Any], inputs: dict[str, Any], start_from: Any
) -> tuple[Prepared, float]:
    """A state of rest at one end of the range, or else at the other."""
    reasons = []
    for value in values:
        asked = Beginning(0.0, "steady", {**changes, parameter: value}, inputs, start_from)
        try:
            return model.prepare(asked), value
        except ModelError as error:
            reasons.append(error)
    raise ModelError(
        f"There is no state of rest at {parameter} = {values[0]:g}, nor at {values[1]:g}, to begin from.",
        *reasons[0].diagnostics,
        remedy="Give values to search from (`start_from`), or another range.",
    )


def _traced(tracer: Tracer, start: OnCurve, low: float, high: float, most: int, largest: float) -> Branch:
    equations: Any = tracer.equations
    special: list[Special] = []
    numbers = {"count": 0}
    kept: dict[bytes, np.ndarray] = {}

    def eigenvalues(p: OnCurve) -> np.ndarray:
        key = p.z.tobytes()
        if key not in kept:
            kept[key] = equations.eigenvalues(p.u, p.parameter)
        return kept[key]

    def seen(here: OnCurve, there: OnCurve) -> None:
        step = float((there.z - here.z) @ here.tangent)
        number = numbers["count"]
        numbers["count"] += 1
        if here.tangent[-1] * there.tangent[-1] < 0:
            found = tracer.located(here, step, lambda p: float(p.tangent[-1]))
            if found is not None:
                special.append(Special("limit point", found.parameter, number, 0.0, found))
        elif here.sign * there.sign < 0:
            found = tracer.located(here, step, lambda p: _smallest(tracer, p))
            if found is not None:
                special.append(Special("branch point", found.parameter, number, 0.0, found))
        before, after = eigenvalues(here), eigenvalues(there)
        if len(before) and abs(int((before.real > 0).sum()) - int((after.real > 0).sum())) >= 2:
            found = tracer.located(here, step, lambda p: _pair(eigenvalues(p)).real)
            pair = _pair(eigenvalues(found)) if found is not None else 0j
            if found is not None and abs(pair.imag) > 1e-6 * np.abs(before).max():
                special.append(Special("Hopf point", found.parameter, number, abs(pair.imag) / (2 * np.pi), found))

    points = tracer.follow(start, low, high, most, min(0.01, largest), largest, seen)
    within = low < points[-1].parameter < high
    closed = len(points) > 5 and np.linalg.norm(points[-1].z - start.z) < 0.5 * largest
    return Branch(equations, points, special, bool(len(points) >= most and within and not closed))


def _pair(eigenvalues: np.ndarray) -> complex:
    """The complex pair that is nearest to the imaginary axis."""
    complex_ones = eigenvalues[np.abs(eigenvalues.imag) > 1e-9 * np.abs(eigenvalues).max(initial=0.0)]
    if not len(complex_ones):
        return complex(eigenvalues[np.argmax(eigenvalues.real)])
    return complex(complex_ones[np.argmin(np.abs(complex_ones.real))])


def _smallest(tracer: Tracer, point: OnCurve) -> float:
    """The smallest singular value of the bordered matrix, with the sign of its determinant."""
    dense = tracer._bordered(point.z, point.tangent)[0]
    return point.sign * float(np.linalg.svd(dense, compute_uv=False)[-1])


def _other_branch(
    equations: AtRest, point: OnCurve, values: np.ndarray, most: int = 500, largest_step: float = 0.05, direction: float = 1.0
) -> Branch:
    tracer = Tracer(equations)
    jacobian, slope, _ = tracer._matrix(point.z)
    _, _, v = np.linalg.svd(np.column_stack([jacobian, slope]))
    plane = v[-2:]  # both tangents lie in it
    across = plane - np.outer(plane @ point.tangent, point.tangent)
    other = across[np.argmax(np.linalg.norm(across, axis=1))]
    along = OnCurve(point.z, direction * other / np.linalg.norm(other), 0.0, equations.scale)
    for step in (1e-2, 3e-3, 3e-2, 1e-3):
        start = tracer.ahead(along, step)
        if start is not None and abs(float((start.z - point.z) @ point.tangent)) < 0.9 * np.linalg.norm(start.z - point.z):
            return _traced(tracer, start, float(values.min()), float(values.max()), most, largest_step)
    raise ModelError(f"No other branch was found at {equations.name} = {point.parameter:g}.")


def many_steady_states(
    model: Model, spread: Mapping[str, tuple[float, float]], count: int = 50, seed: int = 0, **options: Any
) -> list[Any]:
    """See `Model.find_steady_states`."""
    if not isinstance(spread, Mapping) or not spread:
        raise UsageError("`spread` says from where to search.", remedy='spread={"room.T": (280.0, 320.0)}')
    for path, pair in spread.items():
        try:
            low, high = pair
        except (TypeError, ValueError):
            raise UsageError(f"The range of `{path}` is a pair of numbers, got {pair!r}.") from None
        located = model.system.plant.locate(path)
        quantity = located.kind.quantities.get(located.name)
        if quantity is not None and quantity.declaration.is_known:
            raise UsageError(
                f"`{path}` is no variable: a search for states of rest begins from values of variables.",
                remedy=f'Follow them along a parameter: `model.continuation("{path}", between=({low}, {high}))`.',
            )
        if not all(isinstance(v, int | float | np.number) for v in (low, high)) or not low < high:
            raise UsageError(f"The range of `{path}` is two numbers and must grow: got {low!r} … {high!r}.")
    if not isinstance(count, int | np.integer) or not 1 <= count <= 1_000_000:
        raise UsageError(
            f"`count` is from how many points the search begins: a whole number of at least 1, a million at most, got {count!r}."
        )
    from scipy.stats import qmc

    found: list[Any] = []
    for shares in qmc.Sobol(len(spread), seed=seed).random(1 << max(0, int(np.ceil(np.log2(count)))))[:count]:
        guess = {p: low + s * (high - low) for (p, (low, high)), s in zip(spread.items(), shares, strict=True)}
        try:
            state = model.steady_state(start_from=guess, **{**options, "warn": False})
        except NameNotFound:
            raise
        except ModelError:
            continue
        if not any(_same(model, state, other) for other in found):
            found.append(state)
    return sorted(found, key=lambda s: tuple(s.data[0]))


def _same(model: Model, one: Any, other: Any) -> bool:
    size = np.maximum(np.abs(one.data[0]), np.abs(other.data[0]))
    return bool((np.abs(one.data[0] - other.data[0]) <= 1e-5 * np.maximum(size, 1e-3 * size.max(initial=0.0)) + 1e-9).all())
