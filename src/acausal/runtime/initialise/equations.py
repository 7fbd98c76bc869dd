"""The equations of the initial problem, whole and in part.

All equations are stacked: first the rows of F(t, y, y'), then the initial equations. All quantities are stacked as well:
x = [ y | y' ], so that column i is y_i and column n+i is y'_i. An initial system is a choice of rows and columns; the other
columns are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...records import dataclass
from ..problem import Problem, core
from .linear import SparseFactor
from .types import Floats, InitialProblem, Integers, Mask

_WITHOUT_LIMIT = 1e12  # times a push of the size of the terms in a row, in units of the scales
_NEGLIGIBLE = 1e-9  # part of the largest entry of a row, in units of the scales


class PatternGrew(Exception):
    """A derivative by y' appeared where the trial evaluations had seen none; the incidence has been widened: start again."""


@dataclass(slots=True)
class Counts:
    """What the initialisation cost, in evaluations of the whole model."""

    residuals: int = 0
    jacobians: int = 0
    factorisations: int = 0


class Stack:
    """Evaluates the stacked equations of one problem at one time. The time may be set anew; everything else stays."""

    def __init__(self, problem: InitialProblem) -> None:
        self.problem = problem
        self.size = int(problem.size)
        self.equations = int(getattr(problem, "equation_count", problem.size))  # fewer when parameters are unknowns too
        self.initial_size = int(getattr(problem, "initial_size", 0) or 0)
        self.time = 0.0
        self.counts = Counts()
        self.incidence = Incidence(self)

    @property
    def rows(self) -> int:
        return self.equations + self.initial_size

    def residual(self, x: Floats) -> Floats:
        """F and the initial equations at x; numbers that do not exist come as nan or inf, silently."""
        self.counts.residuals += 1
        n = self.size
        y, yp = x[:n], x[n:]
        with np.errstate(all="ignore"):
            values = np.asarray(self.problem.residual(self.time, y, yp), dtype=float)
            if not self.initial_size:
                return values
            return np.concatenate([values, self.problem.initial_residual(self.time, y, yp)])  # type: ignore[attr-defined]

    def derivatives(self, x: Floats) -> Floats:
        """Entries of [dF/dy | dF/dy' | dG/dy | dG/dy'], one after the other, each in the order of its pattern."""
        entries = self._all_derivatives(x)
        self.incidence.watch(entries)
        return entries

    def _all_derivatives(self, x: Floats) -> Floats:
        self.counts.jacobians += 1
        n = self.size
        y, yp = x[:n], x[n:]
        with np.errstate(all="ignore"):
            parts = self.problem.partials(self.time, y, yp)
            if self.initial_size:
                parts += self.problem.initial_partials(self.time, y, yp)  # type: ignore[attr-defined]
        return np.concatenate(parts)

    # ---------------------------------------------------------------------------------------------------- the model's own homotopy

    @property
    def has_continuation(self) -> bool:
        index = getattr(self.problem, "continuation_index", None)
        return index is not None and 0 <= index < len(self.problem.known)

    def set_continuation(self, value: float) -> None:
        """0: the simplified model; 1: the model as written."""
        self.problem.known[self.problem.continuation_index] = value  # type: ignore[attr-defined]


class Incidence:
    """Which stacked column occurs in which stacked row, compressed by columns: `rows[indptr[c]:indptr[c+1]]`.

    `source` says which entry of `Stack.derivatives` holds the value. The problem's pattern does not part y from y', and counting
    every y as a possible y' would let the structure determine y' from an equation it does not occur in. So the parts are asked of
    the problem, or found by trial evaluations; should a trial have missed an entry, `watch` notices and widens the incidence.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._keep: Mask | None = None
        self._dropped: Integers = np.empty(0, np.intp)
        self.indptr: Integers
        self.rows: Integers
        self.source: Integers

    def prepare(self) -> None:
        """Find the parts and compress them; nothing when that has been done."""
        if self._keep is None:
            self._keep = self._declared_parts()
            if self._keep is None:
                self._keep = self._observed_parts()
                self._dropped = np.flatnonzero(~self._keep)
            self._compress()

    @property
    def dropped(self) -> Integers:
        """Entries of `Stack.derivatives` that were zero in all trials."""
        return self._dropped

    def watch(self, entries: Floats) -> None:
        if len(self._dropped) and entries[self._dropped].any():
            assert self._keep is not None
            self._keep[self._dropped[entries[self._dropped] != 0]] = True
            self._dropped = np.flatnonzero(~self._keep)
            self._compress()
            raise PatternGrew

    def _declared_parts(self) -> Mask | None:
        declared = getattr(self._stack.problem, "pattern_parts", None)
        if declared is None:
            return None
        masks = [*declared]
        if self._stack.initial_size:
            initial = getattr(self._stack.problem, "initial_pattern_parts", None)
            if initial is None:
                return None
            masks += initial
        return np.concatenate([np.asarray(m, bool) for m in masks])

    def _observed_parts(self) -> Mask:
        """A y' part is kept where a trial shows one. A y part is dropped only where every trial shows y' alone."""
        seen = self._trials()
        keep = np.empty(len(seen), bool)
        begin = 0
        for _, entries in self._patterns():
            value, slope = slice(begin, begin + entries), slice(begin + entries, begin + 2 * entries)
            keep[slope] = seen[slope]
            keep[value] = seen[value] | ~seen[slope]
            begin += 2 * entries
        return keep

    def _trials(self) -> Mask:
        """Entries that are not zero at the start or at one of two points beside it."""
        problem, n = self._stack.problem, self._stack.size
        beside = np.random.default_rng(20080303)
        x = np.concatenate([np.where(np.isfinite(problem.start), problem.start, 0.0), np.zeros(n)])
        nominal = np.tile(np.where(problem.nominal > 0, problem.nominal, 1.0), 2)
        seen = self._stack._all_derivatives(x) != 0
        for _ in range(2):
            seen |= self._stack._all_derivatives(x + nominal * beside.uniform(0.1, 1.0, 2 * n)) != 0
        return np.asarray(seen)

    def _patterns(self) -> list[tuple[tuple[Integers, Integers], int]]:
        problem = self._stack.problem
        patterns = [problem.pattern]
        if self._stack.initial_size:
            patterns.append(problem.initial_pattern)  # type: ignore[attr-defined]
        return [(p, len(p[1])) for p in patterns]

    def _compress(self) -> None:
        assert self._keep is not None
        n, first_row = self._stack.size, 0
        rows, columns = [], []
        for (indptr, indices), _ in self._patterns():
            column = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
            rows += [indices + first_row] * 2
            columns += [column, column + n]
            first_row += self._stack.equations
        source = np.flatnonzero(self._keep)
        row, column = np.concatenate(rows)[source], np.concatenate(columns)[source]
        if self._stack.initial_size:
            order = np.lexsort((row, column))
            row, column, source = row[order], column[order], source[order]
        self.rows, self.source = row.astype(np.int32), source
        self.indptr = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=2 * n))])

    def without_zeros(self, x: Floats) -> tuple[Integers, Integers]:
        """(indptr, rows) of the entries that are not negligible in their rows at x."""
        column = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        problem = self._stack.problem
        scale = np.maximum(np.tile(np.where(problem.nominal > 0, problem.nominal, 1.0), 2), np.abs(x))
        size = np.abs(self._stack.derivatives(x)[self.source]) * scale[column]
        largest = np.zeros(self._stack.rows)
        np.maximum.at(largest, self.rows, np.where(np.isfinite(size), size, 0.0))
        keep = ~(size <= _NEGLIGIBLE * largest[self.rows])
        return np.concatenate([[0], np.cumsum(np.bincount(column[keep], minlength=len(self.indptr) - 1))]), self.rows[keep]

    def columns_of(self, rows: Integers) -> Integers:
        """The columns that occur in these rows."""
        columns = np.repeat(np.arange(2 * self._stack.size), np.diff(self.indptr))
        return np.unique(columns[np.isin(self.rows, rows)])

    def part(self, rows: Integers, columns: Integers) -> tuple[Integers, Integers, Integers]:
        """(indptr, indices, source) of a submatrix, rows ascending in each column; O(stack rows + entries of the columns)."""
        position = np.full(self._stack.rows, -1, np.int32)
        position[rows] = np.arange(len(rows), dtype=np.int32)
        counts = self.indptr[columns + 1] - self.indptr[columns]
        column = np.repeat(np.arange(len(columns)), counts)
        before = np.cumsum(counts) - counts
        entry = np.arange(len(column)) + np.repeat(self.indptr[columns] - before, counts)
        row = position[self.rows[entry]]
        inside = row >= 0
        row, column, entry = row[inside], column[inside], entry[inside]
        if len(rows) > 1 and np.any(np.diff(rows) < 0):
            order = np.lexsort((row, column))
            row, column, entry = row[order], column[order], entry[order]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=len(columns)))])
        return indptr.astype(np.int32), row.astype(np.int32), self.source[entry]


class Subsystem:
    """Some rows of the stack as equations for as many of its columns; all other columns keep the values they have in `x`.

    Evaluations write into `x`.
    """

    def __init__(self, stack: Stack, rows: Integers, columns: Integers, x: Floats | None = None) -> None:
        self.stack, self.rows, self.columns = stack, rows, columns
        self.size = len(rows)
        self._slope: Integers = np.flatnonzero(columns >= stack.size)  # the columns that are derivatives
        self._unknown: Integers = columns - stack.size * (columns >= stack.size)
        self.indptr, self.indices, self._source = stack.incidence.part(rows, columns)
        self.column_of_entry: Integers = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.indptr))
        self._factor = SparseFactor(self.indptr, self.indices)
        self.nominal: Floats
        self.lower: Floats
        self.upper: Floats
        self.x: Floats = np.zeros(2 * stack.size) if x is None else x
        self._at_once: Any = None
        self._read: tuple[bytes, bytes, bytes] | None = None
        self.read_attributes()

    def read_attributes(self) -> None:
        """Nominal values and bounds, which may change from run to run. Derivatives: y's nominal value per second, and no bounds."""
        problem = self.stack.problem
        now = problem.nominal.tobytes(), problem.minimum.tobytes(), problem.maximum.tobytes()
        if now == self._read:
            return
        self._read = now
        nominal = problem.nominal[self._unknown]
        self.nominal = np.where(nominal > 0, nominal, 1.0)
        self.lower, self.upper = problem.minimum[self._unknown], problem.maximum[self._unknown]
        self.lower[self._slope], self.upper[self._slope] = -np.inf, np.inf
        self._bounded = bool((self.lower > -np.inf).any() or (self.upper < np.inf).any())

    def residual(self, z: Floats) -> Floats:
        self.x[self.columns] = z
        return np.asarray(self.stack.residual(self.x)[self.rows])

    def jacobian(self, z: Floats) -> Floats:
        """Entries in the order of (indptr, indices)."""
        self.x[self.columns] = z
        return np.asarray(self.stack.derivatives(self.x)[self._source])

    def factorise(self, entries: Floats) -> bool:
        """True if the matrix with these entries is regular; then `solve` solves with it."""
        before = self._factor.factorisations
        regular = self._factor.factor(entries)
        self.stack.counts.factorisations += self._factor.factorisations - before
        return regular

    def solve(self, right: Floats) -> Floats:
        return self._factor.solve(right)

    def at_once(self, z: Floats, tolerance: float, limit: int) -> tuple[Floats, float, int] | None:
        """The solution that full Newton steps of the native core find from z, its scaled residual, and how many steps it took."""
        problem, counts = self.stack.problem, self.stack.counts
        if type(problem) is not Problem or problem.native is None or self.stack.initial_size or self._factor.native is None:
            return None
        if self._at_once is None:
            tables = (self.rows, self.columns, self._source, self.indptr, self.indices, self.stack.incidence.dropped)
            self._at_once = core.Newton(problem.native, self._factor.native, *(np.asarray(t, np.int32) for t in tables))
        found, known, t = np.array(z, float), np.ascontiguousarray(problem.known), self.stack.time
        numbers = self.nominal, self.lower, self.upper, tolerance, limit
        done, residual, iterations, *evaluations = self._at_once.solve(found, self.x, known, t, *numbers)
        self._factor.forget()
        counts.residuals, counts.jacobians = counts.residuals + evaluations[0], counts.jacobians + evaluations[1]
        counts.factorisations += evaluations[2]
        return (found, residual, iterations) if done else None

    def nearly_singular(self) -> bool:
        """Whether the matrix factorised last is singular but for rounding: something in it answers a small push without limit."""
        push = np.random.default_rng(1748).uniform(-1.0, 1.0, self.size)
        return self.size > 0 and not float(np.abs(self._factor.solve(push)).max()) < _WITHOUT_LIMIT

    def project(self, z: Floats) -> Floats:
        """The nearest point within the bounds."""
        return np.asarray(np.minimum(np.maximum(z, self.lower), self.upper)) if self._bounded else z
