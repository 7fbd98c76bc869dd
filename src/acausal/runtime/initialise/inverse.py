"""Inverse problems: parameters among the unknowns, and values given for variables instead.

Problem. F(t, y, y', p) = 0 with k of the parameters p unknown as well, and values given for quantities g(y, y', p). It is an
initial problem with k more unknowns, algebraic ones, whose start is the parameter's value, and one initial equation g = value for
each quantity given. Which equation determines what is left to the structure (see `conditions`), so a given value can also
determine a start that is not fixed, and a parameter that no given value depends on is found by name before any number is computed.

Derivatives by a parameter are central differences, taken only in the rows that its cells reach (through parameters bound to it as
well). The solution does not suffer: differences enter the direction of a step, not the residual that must vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import Diagnostic, UsageError
from ...records import dataclass
from .types import Floats, Integers

_STEP = 1e-5  # relative, of central differences: truncation and rounding both about 1e-10


@dataclass(frozen=True, slots=True)
class Given:
    """A quantity that is to have a value: ± an unknown or its derivative, or, with `evaluate`, a function of several unknowns."""

    name: str
    value: float
    unknowns: Integers
    sign: float = 1.0
    slope: bool = False
    evaluate: Callable[[float, Floats, Floats, Floats], float] | None = None  # of t, y, y', known

    def error(self, t: float, y: Floats, yp: Floats, known: Floats) -> float:
        if self.evaluate is not None:
            return self.evaluate(t, y, yp, known) - self.value
        return float(self.sign * (yp if self.slope else y)[self.unknowns[0]] - self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Sought:
    """A parameter that is to be found; `minimum` and `maximum` are its bounds."""

    name: str
    start: float
    minimum: float = -np.inf
    maximum: float = np.inf


class Inverse:
    """The initial problem of `problem` with parameters among its unknowns; `known_of(values)` says what all known cells are."""

    def __init__(self, problem: Any, sought: list[Sought], given: list[Given], known_of: Callable[[Floats], Floats]) -> None:
        if len(given) < len(sought):
            raise _too_few(sought, given)
        self.problem, self.sought, self.given, self.known_of = problem, sought, given, known_of
        self.size, self.equation_count = problem.size + len(sought), problem.size
        self._own_initial = int(problem.initial_size)
        self.initial_size = self._own_initial + len(given)
        self.required_initial = np.arange(self.initial_size) >= self._own_initial
        self.continuation_index, self.uses_continuation = problem.continuation_index, problem.uses_continuation
        self.read_attributes()
        self._values: Floats = self.start[problem.size :].copy()
        self._rows = self._reached()
        self._build_patterns()

    def found(self, y: Floats) -> dict[str, float]:
        """The parameters' values in a solution, by name."""
        return {s.name: float(v) for s, v in zip(self.sought, y[self.problem.size :], strict=True)}

    def restart(self, y: Floats) -> None:
        """Begin again from these values; the problem's starts may have changed."""
        self.sought = [replace(s, start=float(v)) for s, v in zip(self.sought, y[self.problem.size :], strict=True)]
        self.read_attributes()

    def read_attributes(self) -> None:
        """Starts, bounds and the rest, from the problem and from the parameters."""
        problem, k = self.problem, len(self.sought)
        starts = np.array([s.start for s in self.sought])
        self.start = np.append(problem.start, starts)
        self.nominal = np.append(problem.nominal, np.where(starts != 0, np.abs(starts), 1.0))
        self.minimum = np.append(problem.minimum, [s.minimum for s in self.sought])
        self.maximum = np.append(problem.maximum, [s.maximum for s in self.sought])
        self.differential, self.fixed = (np.append(m, np.zeros(k, bool)) for m in (problem.differential, problem.fixed))
        self.start_given = np.append(problem.start_given, np.ones(k, bool))
        candidates = getattr(problem, "candidates", None)
        self.candidates = None if candidates is None else np.append(candidates, np.zeros(k, bool))

    # --- values -----------------------------------------------------------------------------------------------------------------
    @property
    def known(self) -> Floats:
        return np.asarray(self.problem.known)

    def _load(self, values: Floats) -> None:
        if not np.array_equal(values, self._values):
            index = self.continuation_index
            kept = self.known[index] if index is not None else 0.0
            found = self.known_of(values)
            self.known[: len(found)] = found
            if index is not None:
                self.known[index] = kept
            self._values = values.copy()

    def _split(self, y: Floats, yp: Floats) -> tuple[Floats, Floats]:
        n = self.problem.size
        self._load(y[n:])
        return y[:n], yp[:n]

    def residual(self, t: float, y: Floats, yp: Floats) -> Floats:
        return np.asarray(self.problem.residual(t, *self._split(y, yp)))

    def initial_residual(self, t: float, y: Floats, yp: Floats) -> Floats:
        y, yp = self._split(y, yp)
        own = self.problem.initial_residual(t, y, yp) if self._own_initial else np.zeros(0)
        return np.append(own, [g.error(t, y, yp, self.known) for g in self.given])

    # --- derivatives ------------------------------------------------------------------------------------------------------------
    def jacobian(self, t: float, y: Floats, yp: Floats, cj: float) -> Floats:
        by_value, by_slope = self.partials(t, y, yp)
        return by_value + cj * by_slope

    def partials(self, t: float, y: Floats, yp: Floats) -> tuple[Floats, Floats]:
        by_value, by_slope = self.problem.partials(t, *self._split(y, yp))
        by_parameters = np.concatenate([np.zeros(0), *self._by_parameters(self.residual, self._rows[0], t, y, yp)])
        return np.append(by_value, by_parameters), np.append(by_slope, np.zeros(len(by_parameters)))

    def initial_partials(self, t: float, y: Floats, yp: Floats) -> tuple[Floats, Floats]:
        n, part = self.problem.size, self._split(y, yp)
        by_value, by_slope = np.zeros((2, len(self.initial_pattern[1])))
        if self._own_initial:
            by_value[self._own_places], by_slope[self._own_places] = self.problem.initial_partials(t, *part)
        for g, places in zip(self.given, self._given_places, strict=True):
            (by_slope if g.slope else by_value)[places] = self.by_unknowns(g, t, *part)
        for k, by in enumerate(self._by_parameters(self.initial_residual, self._rows[1], t, y, yp)):
            by_value[self.initial_pattern[0][n + k] : self.initial_pattern[0][n + k + 1]] = by
        return by_value, by_slope

    def _by_parameters(self, function: Any, rows: list[Integers], t: float, y: Floats, yp: Floats) -> list[Floats]:
        """Central differences, one-sided at a bound."""
        n, found = self.problem.size, []
        for k in range(len(self.sought)):
            low, high = (np.array(y) for _ in range(2))
            step = _STEP * max(abs(y[n + k]), self.nominal[n + k])
            low[n + k] = max(y[n + k] - step, self.minimum[n + k])
            high[n + k] = min(y[n + k] + step, self.maximum[n + k])
            found.append((function(t, high, yp) - function(t, low, yp))[rows[k]] / (high[n + k] - low[n + k]))
        self._load(y[n:])
        return found

    def by_unknowns(self, given: Given, t: float, y: Floats, yp: Floats) -> Floats:
        """Derivatives of a quantity given by the unknowns it depends on (by the rate, where it is one)."""
        if given.evaluate is None:
            return np.full(len(given.unknowns), given.sign)
        slopes = []
        for i in given.unknowns:
            step = _STEP * max(abs(y[i]), self.nominal[i])
            ends = [given.error(t, y + change * (np.arange(len(y)) == i), yp, self.known) for change in (step, -step)]
            slopes.append((ends[0] - ends[1]) / (2 * step))
        return np.array(slopes)

    # --- structure --------------------------------------------------------------------------------------------------------------
    def _reached(self) -> tuple[list[Integers], list[Integers]]:
        """Rows of the equations and of the initial equations that each parameter's cells occur in."""
        first, rows, initial = self.known_of(self._values), [], []
        for k in range(len(self.sought)):
            moved = self._values.copy()
            moved[k] = self._inside(k, 1e-3)
            cells = 2 * self.problem.size + np.flatnonzero(self.known_of(moved) != first)
            rows.append(_rows_with(cells, self.problem.residual_kernels))
            own = _rows_with(cells, self.problem.initial_residual_kernels)
            expressions = [j for j, g in enumerate(self.given) if g.evaluate is not None]
            initial.append(np.append(own, self._own_initial + np.array(expressions, np.intp)))
        return rows, initial

    def _inside(self, k: int, part: float) -> float:
        value, sought = float(self._values[k]), self.sought[k]
        step = part * (abs(value) or 1.0)
        return value + step if value + step <= sought.maximum else value - step

    def _build_patterns(self) -> None:
        problem = self.problem
        indptr, indices = problem.pattern
        self.pattern = _with_columns(indptr, indices, self._rows[0])
        added = len(self.pattern[1]) - len(indices)
        by_value, by_slope = problem.pattern_parts
        self.pattern_parts = (np.append(by_value, np.ones(added, bool)), np.append(by_slope, np.zeros(added, bool)))
        self._build_initial()

    def _build_initial(self) -> None:
        """The problem's own initial equations, then one row for each value given; entries sorted by column."""
        problem, m = self.problem, self._own_initial
        rows, columns, value, slope = (np.zeros(0, np.intp) for _ in range(4))
        if m:
            rows, columns = problem.initial_pattern[1], np.repeat(np.arange(problem.size), np.diff(problem.initial_pattern[0]))
            value, slope = problem.initial_pattern_parts
        for j, g in enumerate(self.given):
            rows, columns = np.append(rows, np.full(len(g.unknowns), m + j)), np.append(columns, g.unknowns)
            value = np.append(value, np.full(len(g.unknowns), not g.slope))
            slope = np.append(slope, np.full(len(g.unknowns), g.slope))
        order = np.lexsort((rows, columns))
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        ends = np.cumsum([len(rows) - sum(len(g.unknowns) for g in self.given), *(len(g.unknowns) for g in self.given)])
        places = np.split(place, ends[:-1])
        self._own_places: Integers = places[0]
        self._given_places: list[Integers] = places[1:]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=problem.size))])
        self.initial_pattern = _with_columns(indptr, rows[order], self._rows[1])
        added = len(self.initial_pattern[1]) - len(order)
        parts = (np.append(value[order], np.ones(added)), np.append(slope[order], np.zeros(added)))
        self.initial_pattern_parts = (parts[0].astype(bool), parts[1].astype(bool))

    # --- names ------------------------------------------------------------------------------------------------------------------
    def name_of_unknown(self, i: int) -> str:
        n = self.problem.size
        return str(self.problem.name_of_unknown(i)) if i < n else self.sought[i - n].name

    def describe_equation(self, i: int) -> Any:
        return self.problem.describe_equation(i)

    def describe_initial_equation(self, k: int) -> Any:
        if k < self._own_initial:
            return self.problem.describe_initial_equation(k)
        g = self.given[k - self._own_initial]
        return Diagnostic("", component=g.name.rpartition(".")[0] or "the model", equation=f"{g.name} == {g.value:g}   (given)")


def _with_columns(indptr: Integers, indices: Integers, rows: list[Integers]) -> tuple[Integers, Integers]:
    ends = indptr[-1] + np.cumsum([len(r) for r in rows])
    both = np.append(indptr, ends), np.concatenate([indices, *rows])
    return both[0].astype(np.int32), both[1].astype(np.int32)


def _rows_with(cells: Integers, kernels: Any) -> Integers:
    """Rows of the kernels with one of these workspace cells in a slot, ascending."""
    found = [np.zeros(0, np.intp)]
    for kernel in kernels:
        slots = np.where(kernel.slots < 0, ~kernel.slots, kernel.slots)
        found.append(kernel.targets[:, np.isin(slots, cells).any(axis=0)].ravel())
    return np.unique(np.concatenate(found))


def _too_few(sought: list[Sought], given: list[Given]) -> UsageError:
    names, values = ", ".join(f"`{s.name}`" for s in sought), ", ".join(f"`{g.name}`" for g in given) or "none"
    return UsageError(
        f"Parameters to be found: {len(sought)} ({names}). Values given: only {len(given)} ({values}).",
        remedy="Give one value for each parameter in `solve_for`, or leave some parameters as they are.",
    )
