"""Line searches: how much of a Newton step is taken. Three of them, which differ in what must get smaller.

- `descending`: the mean square of the scaled residual. Newton's direction descends in it, it is smooth and notices every component;
  the safe choice, and the first. It creeps where equations have kinks (a check valve closes): every kink is a valley of its own.
- `unguarded`: nothing; any step will do that leads to a point where the equations have values. Where the equations are monotone, as
  those of a network of valves are, full steps find within a few iterations which valve is open, whatever they do to the
  residual meanwhile: 1 000 nodes with check valves 10^6 times tighter backwards take 10 to 40. Should they run in a circle, shorter
  steps leave it: after `_CIRCLING` iterations half ones, then quarters, and full ones again at the end.
- `natural`: the mean square of the simplified Newton correction J⁻¹R, an estimate of the error and not of the residual (the natural
  monotonicity test; Deuflhard, Newton Methods for Nonlinear Problems, 3.3). It goes where ill-conditioned equations let the
  residual rise while the error falls, along a curved valley.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .newton import DAMPINGS, Iteration, Verdict
from .types import Floats, Integers

_DESCENT = 1e-4  # the part of the predicted decrease that a step must deliver (Armijo)
_SHORT, _PATIENCE = 0.02, 6  # so many steps in a row as short as that: there is no way through here
_SLOW = 0.25  # a full step that leaves more of the residual than this is worth extending
_CIRCLING = 25  # full steps without arriving
_CLOSE = 1e-6  # scaled residual from which on full steps are taken whatever happened before

Measure = Callable[[Floats], Floats]


def descending(iteration: Iteration) -> LineSearch:
    def measure(r: Floats) -> Floats:
        return iteration.groups.mean_square(r / iteration.weight)

    return LineSearch(iteration, measure, _PATIENCE, extending=True)


def unguarded(iteration: Iteration) -> LineSearch:
    def measure(r: Floats) -> Floats:
        return np.where(np.isfinite(iteration.groups.mean_square(r / iteration.weight)), 0.0, np.inf)

    return LineSearch(iteration, measure, shortening=_CIRCLING)


def natural(iteration: Iteration) -> LineSearch:
    def measure(r: Floats) -> Floats:
        right = r / iteration.weight
        size = iteration.groups.mean_square(right)
        if not iteration.regular:
            return size
        corrections = iteration.groups.mean_square(iteration.system.solve(np.where(np.isfinite(right), right, 0.0)))
        return np.where(np.isfinite(size), corrections, np.inf)

    return LineSearch(iteration, measure)


class LineSearch:
    """Steps along Newton's direction, of the longest length tried that brings `measure` down; in need, along another direction."""

    def __init__(
        self, iteration: Iteration, measure: Measure, patience: int = 0, extending: bool = False, shortening: int = 0
    ) -> None:
        self.at, self.measure = iteration, measure
        self.patience, self.extending, self.shortening = patience, extending, shortening
        self.short: Integers = np.zeros(iteration.groups.count, int)  # short steps in a row

    def advance(self, z: Floats, r: Floats, step: Floats, number: int) -> tuple[Floats, Floats, Floats]:
        at = self.at
        z_new, r_new, length = self._search(z, r, step, np.where(at.running, self._first_length(r, number), 0.0))
        stuck = at.running & (length == 0)
        for damping in DAMPINGS if stuck.any() else ():
            other = at.least_squares_step(r_new, at.inwards(z_new, r_new), damping)
            z_new, r_new, moved = self._search(z_new, r_new, other, stuck.astype(float))
            stuck &= moved == 0
            if not stuck.any():
                break
        self.short = np.where(length < _SHORT, self.short + 1, 0)
        if self.patience:
            stuck |= at.running & (self.short >= self.patience)
        at.end(stuck, Verdict.STALLED, z_new, r_new)
        if self.extending and number > 1:
            z_new, r_new, length = self._extend(z, z_new, r, r_new, step, length)
        return z_new, r_new, length

    def _first_length(self, r: Floats, number: int) -> Floats | float:
        if not self.shortening:
            return 1.0
        return np.where(self.at.scaled(r) > _CLOSE, max(0.5 ** ((number - 1) // self.shortening), 0.25), 1.0)

    def _search(self, z: Floats, r: Floats, step: Floats, length: Floats) -> tuple[Floats, Floats, Floats]:
        """Per group the longest step tried that will do; length 0 if there is none, and where none is wanted."""
        at, groups, before = self.at, self.at.groups, self.measure(r)
        tolerance = at.options.tolerance
        near = at.scaled(r) <= tolerance
        pending = length > 0
        for _ in range(at.options.shortenings):
            trial = at.system.project(z + groups.spread(length) * at.scale * step)
            r_trial = at.system.residual(trial)
            after = self.measure(r_trial)
            # Below the tolerance a residual is made of rounding errors, and the size of the next step alone decides.
            enough = (after <= (1 - 2 * _DESCENT * length) * before) | (near & (at.scaled(r_trial) <= tolerance))
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
        at, groups = self.at, self.at.groups
        before, best = self.measure(r), self.measure(r_new)
        going = at.running & (length == 1.0) & (best > _SLOW**2 * before) & (at.scaled(r_new) > at.options.tolerance)
        while going.any() and length.max() < 1e6:
            length = np.where(going, 2 * length, length)
            trial = at.system.project(np.where(groups.spread(going), z + groups.spread(length) * at.scale * step, z_new))
            r_trial = at.system.residual(trial)
            after = self.measure(r_trial)
            going &= after < 0.9 * best
            taken = groups.spread(going)
            z_new, r_new, best = np.where(taken, trial, z_new), np.where(taken, r_trial, r_new), np.where(going, after, best)
        return z_new, r_new, length


def _shorter(length: Floats, before: Floats, after: Floats) -> Floats:
    """The minimum of the parabola through both values and the slope at 0, kept between a tenth and a half of the length tried."""
    ideal = length**2 * before / (after - before + 2 * length * before)
    return np.asarray(np.where(np.isfinite(after), np.clip(ideal, 0.1 * length, 0.5 * length), 0.25 * length))
