"""Steady states along parameters.

Problem. F(t, y, 0, p) = 0 for parameters p(s), s from one given value to the next. The solution at one value is a good guess for
the next one, two of them give a secant; where that is not good enough, the way is cut into smaller steps. What still fails is
tried from the model's own start values with everything that initialisation knows, and if that fails too it keeps its reason, and
the next value is approached from the last one that was solved.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import unmasked
from ..errors import ModelError, RunWarning, UsageError, level_of_caller
from ..results.point import point
from ..results.result import Result
from ..runtime.initialise import InitialisationError
from ..runtime.initialise.earlier import Earlier, earlier_values
from ..runtime.outcome import Outcome
from ..runtime.parameters import by_name
from .failure import told_of_warnings

if TYPE_CHECKING:
    from ..runtime.preparation import Beginning, Prepared
    from .model import Model

_SMALLEST_PART = 1.0 / 64.0  # of the way between two given values
_SUSPICIOUS = 0.05  # relative change of an unknown from one value to the next that might be a jump
_HALVINGS = 24  # of the way, before a difference that stays counts as a jump


class SteadyStates:
    """Steady states over parameter values: `states["room.T"]` is an array with one value (or more axes) for each of them.

    `states.ok` says which were found; the others are not numbers, and `states.reasons[k]` says why. `states.results[k]` is the
    whole result of one of them (of a failed one: what was reached). Where the branch that was followed ends, and a state is on
    another one, `states.jumps[k]` and `states.reasons[k]` say so.
    """

    def __init__(
        self, over: dict[str, np.ndarray], results: list[Result | None], reasons: list[str], jumps: Mapping[int, str] | None = None
    ) -> None:
        self.over, self.results, self.jumps = over, results, dict(jumps or {})
        self.ok = np.array([not r for r in reasons], dtype=bool)
        self.reasons = [r or self.jumps.get(k, "") for k, r in enumerate(reasons)]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result | None]:
        return iter(self.results)

    def __repr__(self) -> str:
        names = ", ".join(self.over)
        jumps = f", {len(self.jumps)} on another branch than the one before" if self.jumps else ""
        return f"<SteadyStates over {names}: {int(self.ok.sum())} of {len(self)} found{jumps}>"

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.over:
            return self.over[name]
        rows = [r[name][0] if good and r is not None else None for r, good in zip(self.results, self.ok, strict=True)]
        like = next((row for row in rows if row is not None), None)
        if like is None:
            raise ModelError("None of the steady states was found.", details=tuple(self.reasons[:3]))
        return np.stack([np.full(np.shape(like), np.nan) if row is None else row for row in rows])

    def table(self, *names: str) -> dict[str, np.ndarray]:
        """Columns by name, the parameters first; `pandas.DataFrame(states.table("room.T"))` makes a frame of it."""
        return {**self.over, **{name: self[name] for name in names}}


Point = tuple[np.ndarray, np.ndarray]  # parameters, unknowns
Solve = Callable[[Mapping[str, float], "Earlier | None", bool], tuple[Result, np.ndarray]]


def state_of_rest(model: Model, asked: Beginning, sensitivities: Iterable[str] | str | None, warn: bool) -> Result:
    """The steady state of a model; conditions that do not hold there are told."""
    found = model.prepare(asked)
    result = _point(model, found, asked.t)
    if sensitivities is not None:
        from ..analysis.sensitivity import at_rest

        result.sensitivities = at_rest(model, result, found, sensitivities, bool(asked.given))
    if warn:
        told_of_warnings(result, result.diagnostics, f"The steady state of {result.title} was found, but:")
    return result


def _point(model: Model, found: Prepared, t: float) -> Result:
    result = point(model.program, found, t, Outcome.FINISHED)
    if found.problem.rules is not None:
        from ..runtime.events.lasting import told_at_rest  # many models have no events

        result.diagnostics = told_at_rest(found.problem, t, found.y, found.yp, found.signals)
    return result


def states_along(model: Model, over: Mapping[str, Any], asked: Beginning) -> SteadyStates:
    """The steady states of a model that is asked for one of them."""
    system = model.system
    nominal = np.full(system.size, np.inf)  # what is computed from others jumps with them

    def solve(values: Mapping[str, float], guess: Earlier | None, quick: bool) -> tuple[Result, np.ndarray]:
        found = model.prepare(replace(asked, set={**by_name(asked.set, "set"), **values}, start_from=guess, quick=quick))
        problem = found.problem
        nominal[problem.lowered.kept] = problem.nominal
        unknowns = problem.equations.workspace(asked.t, found.y, found.yp, problem.known)[problem.lowered.place]
        return _point(model, found, asked.t), unknowns

    return along(over, solve, earlier_values(system, asked.start_from), system.name_of_unknown, lambda: nominal)


def along(
    over: Mapping[str, Any],
    solve: Solve,
    first: Earlier | None = None,
    name_of: Callable[[int], str] = lambda k: f"unknown {k}",
    nominal: Callable[[], np.ndarray | float] = lambda: 0.0,
) -> SteadyStates:
    """Solve for every value, each from its neighbours. `solve(values, guess, quick)` gives a result and all unknowns."""
    values = _columns(over)
    names = list(values)
    path = _Path(names, solve, first)
    results: list[Result | None] = []
    reasons: list[str] = []
    jumps: dict[int, str] = {}
    for target in np.stack([values[n] for n in names], axis=1):
        try:
            before = path.points[-1:]
            results.append(path.to(target))
            reasons.append("")
            if before and (said := path.jump(before[0], name_of, nominal())):
                jumps[len(results) - 1] = said
        except ModelError as error:
            results.append(getattr(error, "result", None))
            reasons.append(str(error))
    if jumps:
        warnings.warn("\n".join(jumps.values()), RunWarning, stacklevel=level_of_caller())
    return SteadyStates(values, results, reasons, jumps)


def _columns(over: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if not isinstance(over, Mapping) or not over:
        raise UsageError(
            f"`over` names parameters and their values, got {over!r}.", remedy='over={"T_source": np.linspace(280, 320, 41)}'
        )
    columns = {}
    for name, given in over.items():
        try:
            column = np.asarray(unmasked(given), dtype=float)
            fits = column.ndim == 1 and len(column) > 0 and bool(np.isfinite(column).all())
        except (TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            raise UsageError(f"`over` gives {name!r} the values {given!r:.200}; it takes a list of numbers, all of them finite.")
        columns[name] = column
    lengths = {len(c) for c in columns.values()}
    if len(lengths) > 1:
        sizes = ", ".join(f"{n}: {len(c)}" for n, c in columns.items())
        raise UsageError(f"All parameters in `over` change together, so they take as many values each; got {sizes}.")
    return columns


class _Path:
    """The last points that were solved, and how to get from there to another one."""

    def __init__(self, names: Sequence[str], solve: Solve, first: Earlier | None) -> None:
        self.names, self.solve, self.first = names, solve, first
        self.points: list[Point] = []  # the last two

    def to(self, target: np.ndarray) -> Result:
        if self.points:
            try:
                return self._walk(target)
            except InitialisationError:
                self.points = self.points[-1:]  # a secant across a failure means nothing
        return self._solved(target, self.first, quick=False)

    def _walk(self, target: np.ndarray) -> Result:
        """In one step, or in smaller ones where that fails; twice as long again after each success."""
        begin, part, done = self.points[-1][0], 1.0, 0.0
        while True:
            ahead = min(1.0, done + part)
            here = target if ahead == 1.0 else begin + ahead * (target - begin)
            try:
                result = self._solved(here, self._guess(here), quick=True)
            except InitialisationError:
                part *= 0.5
                if part < _SMALLEST_PART:
                    raise
                continue
            if ahead == 1.0:
                return result
            done, part = ahead, 2.0 * part

    def jump(self, before: Point, name_of: Callable[[int], str], nominal: np.ndarray | float) -> str:
        """What to say if the last point is not on the branch of the one before; nothing if it is.

        A branch is continuous: of two points that differ much, one half of the way between them holds less of the difference than
        both. Where the way is halved again and again and the difference stays, the branch has ended.
        """
        after = self.points[-1]
        size = np.maximum(np.abs(before[1]) + np.abs(after[1]), nominal)
        apart = np.abs(after[1] - before[1])
        most = int(np.argmax(np.where(size > 0, apart / np.where(size > 0, size, 1.0), 0.0)))
        first = float(apart[most])
        if not first > _SUSPICIOUS * size[most]:
            return ""
        low, high = before, after
        for _ in range(_HALVINGS):
            middle = self._between(low, high)
            if middle is None:
                return ""
            nearer = abs(middle[1][most] - low[1][most]) > abs(high[1][most] - middle[1][most])
            low, high = (low, middle) if nearer else (middle, high)
            if abs(high[1][most] - low[1][most]) < 0.6 * first:
                return ""
        where = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.names, low[0], strict=True))
        return (
            f"The steady states that were followed end at {where}: {name_of(most)} jumps from {low[1][most]:.6g} to "
            f"{high[1][most]:.6g}, to another branch (a fold, or something switches)."
        )

    def _between(self, low: Point, high: Point) -> Point | None:
        """Half way, from the lower end if that works."""
        here, kept = 0.5 * (low[0] + high[0]), self.points
        try:
            for guess in (low, high):
                try:
                    self._solved(here, Earlier(guess[1], np.isfinite(guess[1])), quick=True)
                    return self.points[-1]
                except InitialisationError:
                    continue
            return None
        finally:
            self.points = kept

    def _guess(self, target: np.ndarray) -> Earlier:
        parameters, unknowns = self.points[-1]
        if len(self.points) > 1:
            before, unknowns_before = self.points[-2]
            way = parameters - before
            length = float(way @ way)
            if length > 0:
                unknowns = unknowns + (float((target - parameters) @ way) / length) * (unknowns - unknowns_before)
        return Earlier(unknowns, np.isfinite(unknowns))

    def _solved(self, target: np.ndarray, guess: Earlier | None, quick: bool) -> Result:
        result, unknowns = self.solve(dict(zip(self.names, target.tolist(), strict=True)), guess, quick)
        self.points = [*self.points[-1:], (target, unknowns)]
        return result
