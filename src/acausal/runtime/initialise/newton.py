"""Newton's method for a subsystem, made safe: scaling, bounds, domains, and a choice of ways to take a step (see `steps`, `trust`).

Problem: R(z) = 0 within lower ≤ z ≤ upper, falling apart into *groups*: consecutive rows and columns that share no unknown with
another group (one group: the ordinary case). All groups go through the same evaluations and one factorisation, but each has its
own step length and its own verdict, so that thousands of small systems cost as many evaluations as the hardest of them.

Scaling. An unknown is measured by s_j = max(nominal_j, |z_j|), an equation by w_i = Σ_j |J_ij| s_j: what it would change by if all
its unknowns changed by all they are. R_i / w_i has no dimension, and 1e-16 is its rounding error.

Convergence. It is judged in the maximum norm, so that accuracy does not dilute with the size of the plant. After a full step the
old factorisation gives a simplified Newton correction from the new residual, an estimate of the error that is left. If it is
small everywhere it is applied and that is the end: a linear problem takes one iteration and this check, that is two residuals and
one Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...records import dataclass
from .equations import Subsystem
from .linear import damped_least_squares
from .options import Options
from .types import Floats, Integers, Mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAMPINGS = (1e-8, 1e-4, 1e-2)
_ROUNDING = 1e3 * np.finfo(float).eps
_SHIFTS = (1e-3, -1e-3, 1e-1, -1e-1, 1.0, -1.0)


class Verdict(IntEnum):
    """What became of a group."""

    RUNNING = 0
    CONVERGED = 1
    STALLED = 2
    SINGULAR = 3
    OUTSIDE_DOMAIN = 4
    TOO_MANY_ITERATIONS = 5


_RUNNING, _CONVERGED = int(Verdict.RUNNING), int(Verdict.CONVERGED)  # an enumeration is slow to compare an array with


class Groups:
    """Consecutive, non-empty pieces of a vector: group k is [offsets[k], offsets[k+1])."""

    def __init__(self, offsets: Integers) -> None:
        self.begin: Integers = np.asarray(offsets[:-1], np.intp)
        self.sizes: Integers = np.diff(offsets)
        self.count = len(self.sizes)

    @staticmethod
    def one(size: int) -> Groups:
        return Groups(np.array([0, size]))

    def max(self, values: Floats) -> Floats:
        return np.maximum.reduceat(values, self.begin)

    def sum(self, values: Floats) -> Floats:
        return np.add.reduceat(values, self.begin)

    def mean_square(self, values: Floats) -> Floats:
        """Not finite (inf) wherever a value is not."""
        sums = self.sum(values * values) / self.sizes
        return np.where(np.isfinite(sums), sums, np.inf)

    def spread(self, per_group: NDArray[Any]) -> Any:
        """For each place the value of its group; for one group just that value."""
        return per_group[0] if self.count == 1 else np.repeat(per_group, self.sizes)


@dataclass(slots=True)
class NewtonResult:
    """Where the iteration ended; `verdict` and `residual` (scaled, maximum norm) are per group.

    `undefined` are the rows that had no value at the start. `regular` is false if the last Jacobian was singular.
    """

    z: Floats
    verdict: Integers
    residual: Floats
    iterations: int
    regular: bool = True
    undefined: Integers = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def converged(self) -> Mask:
        return np.asarray(self.verdict == _CONVERGED)

    @property
    def all_converged(self) -> bool:
        return self.verdict.tolist().count(_CONVERGED) == len(self.verdict)


class Way(Protocol):
    """How a step is taken: from z with residual r and the Newton step (in units of `scale`) to the next z, r, and the length taken
    per group: 1 for a full Newton step, 0 if there is no way on. A way ends groups that it gives up (`Iteration.end`)."""

    def advance(self, z: Floats, r: Floats, step: Floats, number: int) -> tuple[Floats, Floats, Floats]: ...


def newton(
    system: Subsystem,
    z: Floats,
    options: Options,
    limit: int | None = None,
    groups: Groups | None = None,
    way: Callable[[Iteration], Way] | None = None,
) -> NewtonResult:
    """Solve `system` from z. The bounds hold for every point that is evaluated."""
    if system.size == 0:
        return NewtonResult(z.copy(), np.ones(1, int), np.zeros(1), 0)
    if groups is None and way is None and limit is None:
        found = system.at_once(z, options.tolerance, options.iterations)
        if found is not None:
            solution, residual, iterations = found
            return NewtonResult(solution, np.array([_CONVERGED]), np.array([residual]), iterations)
    from .steps import descending

    with np.errstate(all="ignore"):
        iteration = Iteration(system, groups or Groups.one(system.size), options)
        return iteration.run(z, options.iterations if limit is None else limit, (way or descending)(iteration))


class Iteration:
    """The state of an iteration, shared with the way its steps are taken."""

    def __init__(self, system: Subsystem, groups: Groups, options: Options) -> None:
        self.system, self.groups, self.options = system, groups, options
        self.verdict: Integers = np.zeros(groups.count, int)
        self.scale: Floats = system.nominal
        self.weight: Floats = np.ones(system.size)
        self.entries: Floats = np.empty(0)
        self.regular = True
        self.undefined: Integers = np.empty(0, np.intp)

    @property
    def running(self) -> Mask:
        return np.asarray(self.verdict == _RUNNING)

    def run(self, z: Floats, limit: int, way: Way) -> NewtonResult:
        z, r = self._into_domain(self.system.project(z))
        iteration = 0
        while self.running.any():
            z, r = self._linearise(z, r)
            step = self._newton_step(r)
            z = self._settle(z, r, step)
            if not self.running.any():
                break
            if iteration == limit:
                self.end(self.running, Verdict.TOO_MANY_ITERATIONS, z, r)
                break
            iteration += 1
            z, r, length = way.advance(z, r, step, iteration)
            z = self._check(z, r, length)
        return NewtonResult(z, self.verdict, self.scaled(r), iteration, self.regular, self.undefined)

    # --------------------------------------------------------------------------------------------------------------- measuring

    def scaled(self, r: Floats) -> Floats:
        """Largest scaled residual per group; not a number where one is not, which no comparison accepts."""
        return self.groups.max(np.abs(r / self.weight))

    def right(self, r: Floats) -> Floats:
        """Scaled residuals to solve for. Groups outside their domain are there, but nobody looks at their steps."""
        right = r / self.weight
        return np.where(np.isfinite(right), right, 0.0) if (self.verdict == Verdict.OUTSIDE_DOMAIN).any() else right

    def end(self, which: Mask, verdict: Verdict, z: Floats, r: Floats) -> None:
        """A group that cannot be improved, but whose residual is rounding error, is solved as well as numbers allow."""
        if not which.any():
            return
        exact = which & (self.scaled(r) <= _ROUNDING)
        singular = not self.regular and not self._regular_beside(z)
        self.verdict[which & ~exact] = Verdict.SINGULAR if singular else verdict
        self.verdict[exact] = Verdict.SINGULAR if singular and not self.options.accept_nearest else Verdict.CONVERGED

    def _regular_beside(self, z: Floats) -> bool:
        """Whether the Jacobian is singular by chance at this point (m |m| at rest) or everywhere around it."""
        beside = np.random.default_rng(1991).uniform(1e-3, 2e-3, len(z)) * self.system.nominal
        scale, weight, entries = self.scale, self.weight, self.entries
        self._factor(z, self.system.jacobian(self.system.project(z + beside)))
        found, self.regular = self.regular, False
        self.scale, self.weight, self.entries = scale, weight, entries
        return found

    # ----------------------------------------------------------------------------------------------------- staying in the domain

    def _into_domain(self, z: Floats) -> tuple[Floats, Floats]:
        """A start where every residual exists: unknowns of those that do not are moved a little, then more, up and down."""
        first, r = z, self.system.residual(z)
        self.undefined = np.flatnonzero(~np.isfinite(r))
        for shift in _SHIFTS:
            bad = ~np.isfinite(r)
            if not bad.any():
                return z, r
            trial = self._moved(first, z, self._columns_of(bad), shift)
            r_trial = self.system.residual(trial)
            if np.count_nonzero(~np.isfinite(r_trial)) < np.count_nonzero(bad):
                z, r = trial, r_trial
        lost = self.groups.max(~np.isfinite(r)).astype(bool)
        self.verdict[lost & self.running] = Verdict.OUTSIDE_DOMAIN
        return z, r

    def _moved(self, first: Floats, z: Floats, columns: Mask, shift: float) -> Floats:
        return self.system.project(np.where(columns, first + shift * self.system.nominal, z))

    def _columns_of(self, rows: Mask) -> Mask:
        columns = np.zeros(self.system.size, bool)
        columns[self.system.column_of_entry[rows[self.system.indices]]] = True
        return columns

    def _linearise(self, z: Floats, r: Floats) -> tuple[Floats, Floats]:
        """Jacobian, scales and factors at z, which moves a little where a derivative does not exist (a root at zero, say)."""
        entries = self.system.jacobian(z)
        for shift in _SHIFTS[:4]:
            bad = ~np.isfinite(entries)
            if not bad.any():
                break
            columns = np.zeros(self.system.size, bool)
            columns[self.system.column_of_entry[bad]] = True
            trial = self._moved(z, z, columns, shift)
            r_trial = self.system.residual(trial)
            if np.isfinite(r_trial[np.isfinite(r)]).all():
                z, r, entries = trial, r_trial, self.system.jacobian(trial)
        self._factor(z, np.where(np.isfinite(entries), entries, 0.0))
        return z, r

    def _factor(self, z: Floats, entries: Floats) -> None:
        system = self.system
        self.scale = np.maximum(system.nominal, np.abs(z))
        by_column = entries * self.scale[system.column_of_entry]
        weight = np.bincount(system.indices, np.abs(by_column), system.size)
        self.weight = np.where((weight > 0) & np.isfinite(weight), weight, 1.0)
        self.entries = by_column / self.weight[system.indices]
        self.regular = system.factorise(self.entries)

    # ---------------------------------------------------------------------------------------------------------------- directions

    def _newton_step(self, r: Floats) -> Floats:
        """The step in units of `scale`; the least-squares one where the Jacobian is singular."""
        if self.regular:
            step = -self.system.solve(self.right(r))
            if np.isfinite(step).all():
                return self._of_running(step)
        self.regular = False
        return self.least_squares_step(r, np.ones(self.system.size, bool), DAMPINGS[0])

    def least_squares_step(self, r: Floats, free: Mask, damping: float) -> Floats:
        """Shortest in units of the nominal values, so that "nearest" does not depend on where the iteration stands."""
        system, right = self.system, -self.right(r)
        ratio = system.nominal / self.scale
        entries = self.entries * ratio[system.column_of_entry]
        return self._of_running(ratio * damped_least_squares(system.indptr, system.indices, entries, right, damping, free))

    def _of_running(self, step: Floats) -> Floats:
        return np.asarray(np.where(self.groups.spread(self.running), step, 0.0))

    def inwards(self, z: Floats, r: Floats) -> Mask:
        """Unknowns not held at a bound: those inside, and those that steepest descent would take inside."""
        system = self.system
        slope = np.bincount(system.column_of_entry, self.entries * (r / self.weight)[system.indices], system.size)
        return np.asarray(~((z <= system.lower) & (slope >= 0)) & ~((z >= system.upper) & (slope <= 0)))

    # --------------------------------------------------------------------------------------------------------------- one iteration

    def _settle(self, z: Floats, r: Floats, step: Floats) -> Floats:
        """Groups whose residual and whose next step are both below the tolerance are done, with that step taken."""
        if not self.regular and not self.options.accept_nearest:
            return z
        tolerance = self.options.tolerance
        done = self.running & (self.groups.max(np.abs(step)) <= tolerance) & (self.scaled(r) <= tolerance)
        if not done.any():
            return z
        self.verdict[done] = Verdict.CONVERGED
        taken = self.groups.spread(done)
        return self.system.project(np.where(taken, z + self.scale * step, z))

    def _check(self, z: Floats, r: Floats, length: Floats) -> Floats:
        """The simplified Newton correction after a full step, when the residual gives reason to hope that it is the last one."""
        hopeful = self.running & (length == 1.0) & (self.scaled(r) <= 1e3 * self.options.tolerance)
        if not self.regular or not hopeful.any():
            return z
        correction = -self.system.solve(self.right(r))
        return self._settle(z, r, np.where(self.groups.spread(self.running), correction, 0.0))
