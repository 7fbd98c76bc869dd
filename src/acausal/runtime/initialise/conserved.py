"""States of rest with a value given for what the model conserves: the charge of a closed circuit.

*Problem.* F(t, y, 0) = 0 and g(y) = value, where some combination of the rows of F vanishes identically: the mass balances of a
closed circuit sum to zero, so that they leave the charge open, and g says it. There is one row more than unknowns, and which one
is to be left out is a matter of numbers. So none is: rates y' = D σ are admitted along a fixed direction D, one σ for each value
given. If λᵀF_y = 0, then λᵀF_y' D σ = 0 follows from the rows themselves; with λᵀF_y' D ≠ 0, σ is zero at a solution, which then is
a state of rest. If nothing is conserved, σ is not zero, and the value cannot be met at rest.

From the state of rest that the start leads to, the values are carried to those given, in steps as large as Newton's method follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .initialiser import Initialised, Initialiser
from .inverse import Inverse
from .linear import SparseFactor
from .newton import newton
from .options import Options
from .report import Attempt, InitialisationError, Outcome, Report
from .types import Floats, Integers

_STEPS = 60
_SMALLEST = 1e-4  # part of the way
_AT_REST = 1e-7  # rates, in units of the scales per unit of time, that count as none


def at_rest_with_given(inverse: Inverse, t: float) -> Initialised | None:
    """The state of rest with the values given, if the model conserves something that they say; else None."""
    problem = inverse.problem
    if inverse.sought or not problem.differential.any() or any(g.slope for g in inverse.given):
        return None
    try:
        rest = Initialiser(problem, "steady").run(t)
    except InitialisationError:
        return None
    system = _Bordered(inverse, t)
    first = np.append(rest.y, np.zeros(system.k))
    found = _carried(system, first, Options())
    if found is None or np.abs(found[problem.size :]).max() > _AT_REST:
        return None
    y, yp = found[: problem.size], np.zeros(problem.size)
    report = Report(inverse, t, Initialiser(inverse, "steady").conditions, np.append(y, yp))  # type: ignore[arg-type]
    report.y, report.yp, report.outcome = y, yp, Outcome.REST
    report.attempts = [*rest.report.attempts, Attempt("values given for what is conserved", system.size, True)]
    return Initialised(y, yp, report, Outcome.REST)


def _carried(system: _Bordered, z: Floats, options: Options) -> Floats | None:
    """From the values that the state of rest has to those given."""
    values, reached, step = system.values(z), 0.0, 1.0
    for _ in range(_STEPS):
        share = min(1.0, reached + step)
        system.target = values + share * (system.given - values)
        tried = newton(system, z, options, 20)  # type: ignore[arg-type]
        if tried.converged.all() and tried.regular:
            z, reached, step = tried.z, share, 2.0 * step
            if reached == 1.0:
                return z
        else:
            step *= 0.3
            if step < _SMALLEST:
                return None
    return None


class _Bordered:
    """F(t, y, D σ) = 0 and g(y) = target for (y, σ), as `newton` sees a `Subsystem`."""

    def __init__(self, inverse: Inverse, t: float) -> None:
        self.inverse, self.problem, self.t = inverse, inverse.problem, t
        n, self.k = self.problem.size, len(inverse.given)
        self.size = n + self.k
        self.given = np.array([g.value for g in inverse.given])
        self.target = self.given
        nominal = np.where(self.problem.nominal > 0, self.problem.nominal, 1.0)
        self.nominal = np.append(nominal, np.ones(self.k))
        self.lower = np.append(self.problem.minimum, np.full(self.k, -np.inf))
        self.upper = np.append(self.problem.maximum, np.full(self.k, np.inf))
        rates = np.random.default_rng(20260611).uniform(0.5, 1.5, (n, self.k)) * nominal[:, None]
        self.direction: Floats = np.where(self.problem.differential[:, None], rates, 0.0)
        self._build_pattern()
        self._factor = SparseFactor(self.indptr, self.indices)

    def _build_pattern(self) -> None:
        """Entries: those of F by y, by each σ every row, and the values given by the unknowns they depend on."""
        n, k = self.problem.size, self.k
        indptr, indices = self.problem.pattern
        self._column: Integers = np.repeat(np.arange(n), np.diff(indptr))
        self._row: Integers = np.asarray(indices, dtype=np.int64)
        unknowns = [np.asarray(g.unknowns, dtype=np.int64) for g in self.inverse.given]
        rows = np.concatenate([self._row, np.tile(np.arange(n), k), *(np.full(len(u), n + j) for j, u in enumerate(unknowns))])
        columns = np.concatenate([self._column, np.repeat(n + np.arange(k), n), *unknowns])
        self._order = np.lexsort((rows, columns))
        self.indices: Integers = rows[self._order].astype(np.int32)
        self.column_of_entry: Integers = columns[self._order].astype(np.int32)
        self.indptr: Integers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=self.size))]).astype(np.int32)

    def _split(self, z: Floats) -> tuple[Floats, Floats]:
        n = self.problem.size
        return z[:n], self.direction @ z[n:]

    def values(self, z: Floats) -> Floats:
        """What the quantities are for which values are given."""
        y, yp = self._split(z)
        return np.array([g.error(self.t, y, yp, self.inverse.known) + g.value for g in self.inverse.given])

    def residual(self, z: Floats) -> Floats:
        y, yp = self._split(z)
        own = np.asarray(self.problem.residual(self.t, y, yp), dtype=float)
        return np.append(own, self.values(z) - self.target)

    def jacobian(self, z: Floats) -> Floats:
        y, yp = self._split(z)
        by_value, by_slope = self.problem.partials(self.t, y, yp)
        border = np.zeros((self.k, self.problem.size))
        for j in range(self.k):
            np.add.at(border[j], self._row, by_slope * self.direction[self._column, j])
        by_given = [self.inverse.by_unknowns(g, self.t, y, yp) for g in self.inverse.given]
        return np.concatenate([by_value, border.ravel(), *by_given])[self._order]

    def factorise(self, entries: Floats) -> bool:
        return self._factor.factor(entries)

    def solve(self, right: Floats) -> Floats:
        return self._factor.solve(right)

    def project(self, z: Floats) -> Any:
        return np.clip(z, self.lower, self.upper)
