"""Trust region: the step that a linear model of the equations wants, no longer than the model is to be trusted (Powell's dogleg).

In units of the scales (see `newton`), with the linear model R + J p: the path from the steepest descent's minimum c to the Newton
step, cut off at the radius. The radius follows how well the model predicted the last decrease. Where Newton's direction is almost
across the residual's descent, which lets a line search creep, the dogleg bends.
"""

from __future__ import annotations

import numpy as np

from .newton import Iteration, Verdict
from .types import Floats, Mask

_FIRST_RADIUS = 10.0  # times the scales
_SMALLEST_RADIUS = 1e-12
_TRIALS = 30
_TINY = 1e-300


class Dogleg:
    """A way to take steps; the radius is kept per group."""

    def __init__(self, iteration: Iteration) -> None:
        self.at = iteration
        self.radius: Floats = _FIRST_RADIUS * np.sqrt(iteration.groups.sizes)

    def advance(self, z: Floats, r: Floats, step: Floats, number: int) -> tuple[Floats, Floats, Floats]:
        at, sum_of, spread = self.at, self.at.groups.sum, self.at.groups.spread
        right = at.right(r)
        descent = self._descent(right)
        before, pending, length = sum_of(right * right), at.running, np.zeros(at.groups.count)
        z_new, r_new = z, r
        for _ in range(_TRIALS):
            part, whole = self._bent(descent, step)
            p = np.where(spread(pending), part, 0.0)
            trial = at.system.project(z + at.scale * p)
            r_trial = at.system.residual(trial)
            predicted = before - sum_of((right + self._times(p)) ** 2)
            ratio = (before - sum_of((r_trial / at.weight) ** 2)) / np.maximum(predicted, _TINY)
            good = pending & ((ratio > 1e-4) | self._near(r, r_trial))  # a ratio that is no number is not
            taken = spread(good)
            z_new, r_new, length = np.where(taken, trial, z_new), np.where(taken, r_trial, r_new), np.where(good, whole, length)
            self._adapt(pending & ~(ratio >= 0.25), good & (ratio > 0.75), np.sqrt(sum_of(p * p)))
            pending = pending & ~good
            if not pending.any() or self.radius[pending].max() < _SMALLEST_RADIUS:
                break
        at.end(pending, Verdict.STALLED, z_new, r_new)
        return z_new, r_new, length

    def _descent(self, right: Floats) -> Floats:
        """The step to the minimum of the linear model along its steepest descent."""
        system, sum_of = self.at.system, self.at.groups.sum
        down = -np.bincount(system.column_of_entry, self.at.entries * right[system.indices], system.size).astype(float)
        along = self._times(down)
        return np.asarray(self.at.groups.spread(sum_of(down * down) / np.maximum(sum_of(along * along), _TINY)) * down)

    def _bent(self, descent: Floats, step: Floats) -> tuple[Floats, Floats]:
        """The point of the dogleg at the radius, and per group 1.0 where that is the whole Newton step, else 0.5."""
        sum_of, spread, radius = self.at.groups.sum, self.at.groups.spread, self.radius
        rest = step - descent
        first, second, across = sum_of(descent * descent), sum_of(rest * rest), sum_of(descent * rest)
        full = sum_of(step * step) <= radius**2
        root = np.sqrt(np.maximum(across**2 + second * (radius**2 - first), 0.0))
        bend = np.where(full, 1.0, np.where(first >= radius**2, 0.0, (root - across) / np.maximum(second, _TINY)))
        shortened = np.minimum(1.0, radius / np.maximum(np.sqrt(first), _TINY))
        return spread(np.where(full, 1.0, shortened)) * descent + spread(bend) * rest, np.where(full, 1.0, 0.5)

    def _adapt(self, worse: Mask, better: Mask, length: Floats) -> None:
        self.radius = np.where(worse, 0.25 * np.minimum(length, self.radius), self.radius)
        self.radius = np.where(better, np.maximum(self.radius, 2 * length), self.radius)

    def _times(self, p: Floats) -> Floats:
        system = self.at.system
        return np.bincount(system.indices, self.at.entries * p[system.column_of_entry], system.size).astype(float)

    def _near(self, r: Floats, r_trial: Floats) -> Mask:
        tolerance = self.at.options.tolerance
        return np.asarray((self.at.scaled(r) <= tolerance) & (self.at.scaled(r_trial) <= tolerance))
