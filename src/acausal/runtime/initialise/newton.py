"""Newton's method for a subsystem, made safe: scaling, bounds, domains, line search, and a least-squares step when it must be.

Problem: R(z) = 0 within lower ≤ z ≤ upper, falling apart into *groups*: consecutive rows and columns that share no unknown with
another group (one group: the ordinary case). All groups go through the same evaluations and one factorisation, but each has its
own step length and its own verdict, so that thousands of small systems cost as many evaluations as the hardest of them.

Scaling. An unknown is measured by s_j = max(nominal_j, |z_j|), an equation by w_i = Σ_j |J_ij| s_j: what it would change by if all
its unknowns changed by all they are. R_i / w_i has no dimension, and 1e-16 is its rounding error.

Norms. Convergence is judged in the maximum norm, so that accuracy does not dilute with the size of the plant. The line search
watches the root mean square: Newton's direction descends in both, but the mean square is smooth, lets a small residual grow while
large ones fall (which the maximum norm allows too) and notices every component (which the maximum norm does not).

Convergence. After a full step the old factorisation gives a simplified Newton correction from the new residual, an estimate of
the error that is left. If it is small everywhere it is applied and that is the end: a linear problem takes one iteration and this
check, that is two residuals and one Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .equations import Subsystem
from .linear import damped_least_squares
from .options import Options
from .types import Floats, Integers, Mask

_DESCENT = 1e-4  # the part of the predicted decrease that a step must deliver (Armijo)
_SHORT, _PATIENCE = 0.02, 6  # so many steps in a row as short as that: there is no way through here
_SLOW = 0.25  # a full step that leaves more of the residual than this is worth extending
_ROUNDING = 1e3 * np.finfo(float).eps
_DAMPINGS = (1e-8, 1e-4, 1e-2)
_SHIFTS = (1e-3, -1e-3, 1e-1, -1e-1, 1.0, -1.0)


class Verdict(IntEnum):
    """What became of a group."""

    RUNNING = 0
    CONVERGED = 1
    STALLED = 2
    SINGULAR = 3
    OUTSIDE_DOMAIN = 4
    TOO_MANY_ITERATIONS = 5


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

    def mean_square(self, values: Floats) -> Floats:
        """Not finite (inf) wherever a value is not."""
        sums = np.add.reduceat(values * values, self.begin) / self.sizes
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
        return np.asarray(self.verdict == Verdict.CONVERGED)


def newton(system: Subsystem, z: Floats, options: Options, limit: int | None = None, groups: Groups | None = None) -> NewtonResult:
    """Solve `system` from z. The bounds hold for every point that is evaluated."""
    if system.size == 0:
        return NewtonResult(z.copy(), np.ones(1, int), np.zeros(1), 0)
    with np.errstate(all="ignore"):
        return _Iteration(system, groups or Groups.one(system.size), options).run(z, options.iterations if limit is None else limit)


class _Iteration:
    def __init__(self, system: Subsystem, groups: Groups, options: Options) -> None:
        self.system, self.groups, self.options = system, groups, options
        self.verdict: Integers = np.zeros(groups.count, int)
        self.scale: Floats = system.nominal
        self.weight: Floats = np.ones(system.size)
        self.entries: Floats = np.empty(0)
        self.regular = True
        self.undefined: Integers = np.empty(0, np.intp)
        self.short: Integers = np.zeros(groups.count, int)  # short steps in a row

    @property
    def running(self) -> Mask:
        return np.asarray(self.verdict == Verdict.RUNNING)

    def run(self, z: Floats, limit: int) -> NewtonResult:
        z, r = self._into_domain(self.system.project(z))
        iteration = 0
        while self.running.any():
            z, r = self._linearise(z, r)
            step = self._newton_step(r)
            z = self._settle(z, r, step)
            if not self.running.any():
                break
            if iteration == limit:
                self._end(self.running, Verdict.TOO_MANY_ITERATIONS, z, r)
                break
            iteration += 1
            z, r, length = self._advance(z, r, step, iteration)
            z = self._check(z, r, length)
        return NewtonResult(z, self.verdict, self._scaled(r), iteration, self.regular, self.undefined)

    # --------------------------------------------------------------------------------------------------------------- measuring

    def _scaled(self, r: Floats) -> Floats:
        """Largest scaled residual per group; not a number where one is not, which no comparison accepts."""
        return self.groups.max(np.abs(r / self.weight))

    def _right(self, r: Floats) -> Floats:
        """Scaled residuals to solve for. Groups outside their domain are there, but nobody looks at their steps."""
        right = r / self.weight
        return np.where(np.isfinite(right), right, 0.0) if (self.verdict == Verdict.OUTSIDE_DOMAIN).any() else right

    def _end(self, which: Mask, verdict: Verdict, z: Floats, r: Floats) -> None:
        """A group that cannot be improved, but whose residual is rounding error, is solved as well as numbers allow."""
        if not which.any():
            return
        exact = which & (self._scaled(r) <= _ROUNDING)
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
            step = -self.system.solve(self._right(r))
            if np.isfinite(step).all():
                return self._of_running(step)
        self.regular = False
        return self._least_squares_step(r, np.ones(self.system.size, bool), _DAMPINGS[0])

    def _least_squares_step(self, r: Floats, free: Mask, damping: float) -> Floats:
        """Shortest in units of the nominal values, so that "nearest" does not depend on where the iteration stands."""
        system, right = self.system, -self._right(r)
        ratio = system.nominal / self.scale
        entries = self.entries * ratio[system.column_of_entry]
        return self._of_running(ratio * damped_least_squares(system.indptr, system.indices, entries, right, damping, free))

    def _of_running(self, step: Floats) -> Floats:
        return np.asarray(np.where(self.groups.spread(self.running), step, 0.0))

    def _inwards(self, z: Floats, r: Floats) -> Mask:
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
        done = self.running & (self.groups.max(np.abs(step)) <= tolerance) & (self._scaled(r) <= tolerance)
        if not done.any():
            return z
        self.verdict[done] = Verdict.CONVERGED
        taken = self.groups.spread(done)
        return self.system.project(np.where(taken, z + self.scale * step, z))

    def _advance(self, z: Floats, r: Floats, step: Floats, iteration: int) -> tuple[Floats, Floats, Floats]:
        z_new, r_new, length = self._search(z, r, step, self.running)
        stuck = self.running & (length == 0)
        for damping in _DAMPINGS if stuck.any() else ():
            other = self._least_squares_step(r_new, self._inwards(z_new, r_new), damping)
            z_new, r_new, moved = self._search(z_new, r_new, other, stuck)
            stuck &= moved == 0
            if not stuck.any():
                break
        self.short = np.where(length < _SHORT, self.short + 1, 0)
        stuck |= self.running & (self.short >= _PATIENCE)
        self._end(stuck, Verdict.STALLED, z_new, r_new)
        if iteration > 1:
            z_new, r_new, length = self._extend(z, z_new, r, r_new, step, length)
        return z_new, r_new, length

    def _search(self, z: Floats, r: Floats, step: Floats, which: Mask) -> tuple[Floats, Floats, Floats]:
        """Per group the longest step tried that brings the mean square of the scaled residual down; length 0 if there is none."""
        groups, before = self.groups, self.groups.mean_square(r / self.weight)
        near = self._scaled(r) <= self.options.tolerance
        length, pending = which.astype(float), which.copy()
        for _ in range(self.options.shortenings):
            trial = self.system.project(z + groups.spread(length) * self.scale * step)
            r_trial = self.system.residual(trial)
            after = groups.mean_square(r_trial / self.weight)
            # Below the tolerance a residual is made of rounding errors, and the size of the next step alone decides.
            enough = (after <= (1 - 2 * _DESCENT * length) * before) | (near & (self._scaled(r_trial) <= self.options.tolerance))
            pending &= ~enough
            if not pending.any():
                return trial, r_trial, length
            length = np.where(pending, _shorter(length, before, after), length)
        kept = groups.spread(pending)
        return np.where(kept, z, trial), np.where(kept, r, r_trial), np.where(pending, 0.0, length)

    def _extend(
        self, z: Floats, z_new: Floats, r: Floats, r_new: Floats, step: Floats, length: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Double full steps while that pays. From far out on an exponential Newton's method crawls by one e-fold a step."""
        groups = self.groups
        before, best = groups.mean_square(r / self.weight), groups.mean_square(r_new / self.weight)
        going = self.running & (length == 1.0) & (best > _SLOW**2 * before) & (self._scaled(r_new) > self.options.tolerance)
        while going.any() and length.max() < 1e6:
            length = np.where(going, 2 * length, length)
            trial = self.system.project(np.where(groups.spread(going), z + groups.spread(length) * self.scale * step, z_new))
            r_trial = self.system.residual(trial)
            after = groups.mean_square(r_trial / self.weight)
            going &= after < 0.9 * best
            taken = groups.spread(going)
            z_new, r_new, best = np.where(taken, trial, z_new), np.where(taken, r_trial, r_new), np.where(going, after, best)
        return z_new, r_new, length

    def _check(self, z: Floats, r: Floats, length: Floats) -> Floats:
        """The simplified Newton correction after a full step, when the residual gives reason to hope that it is the last one."""
        hopeful = self.running & (length == 1.0) & (self._scaled(r) <= 1e3 * self.options.tolerance)
        if not self.regular or not hopeful.any():
            return z
        correction = -self.system.solve(self._right(r))
        return self._settle(z, r, np.where(self.groups.spread(self.running), correction, 0.0))


def _shorter(length: Floats, before: Floats, after: Floats) -> Floats:
    """The minimum of the parabola through both values and the slope at 0, kept between a tenth and a half of the length tried."""
    ideal = length**2 * before / (after - before + 2 * length * before)
    return np.asarray(np.where(np.isfinite(after), np.clip(ideal, 0.1 * length, 0.5 * length), 0.25 * length))
