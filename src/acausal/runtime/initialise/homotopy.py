"""Continuation: from a problem that is solved to the one that is not, in steps that Newton's method can follow.

Two paths, λ from 0 to 1:

- the model's own: equations written with a simplified form contain the homotopy parameter; at 0 they are easy, at 1 as written
  ("a linearized version of difficult nonlinear models", IDA Solver 2.4);
- Newton homotopy: H(z, λ) = R(z) - (1 - λ) R(z0), which z0 solves at λ = 0 (IDA Solver 2.4). It needs no word from the model. Where
  this path does not turn back in λ, other methods hardly ever fail, so it is followed by arc length: `follow_arc`, one group at a
  time.

Along the model's path groups that share no unknown (see `newton`) walk together. One that cannot follow, even in the smallest
step, is left behind, and the others go on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .equations import Subsystem
from .newton import Groups, newton
from .options import Options
from .types import Floats, Mask

_FIRST_STEP = 0.1
_CORRECTIONS = 15
_LOOSE = 1e-4
_FAR = 1e6  # a path that gets that far from where it began, in units of the scales, does not come back


def follow_model(system: Subsystem, z: Floats, groups: Groups, options: Options) -> tuple[Floats, Mask]:
    """Along the model's own simplification. Returns the end point and which groups arrived."""
    stack = system.stack
    try:
        stack.set_continuation(0.0)
        simple = newton(system, z, options, options.block_iterations, groups)
        return _follow(system, simple.z, groups, options, simple.converged)
    finally:
        stack.set_continuation(1.0)


def uses_model_continuation(system: Subsystem, z: Floats) -> bool:
    """Whether any of the equations contains the homotopy parameter."""
    stack = system.stack
    if not stack.has_continuation:
        return False
    declared = getattr(stack.problem, "uses_continuation", None)
    if declared is not None and not declared:
        return False
    as_written = system.residual(z)
    try:
        stack.set_continuation(0.0)
        return not np.array_equal(as_written, system.residual(z), equal_nan=True)
    finally:
        stack.set_continuation(1.0)


def _follow(system: Subsystem, z: Floats, groups: Groups, options: Options, walking: Mask) -> tuple[Floats, Mask]:
    """From a solution at 0 to one at 1: secant predictor, Newton corrector, step length by success."""
    loose = replace(options, tolerance=max(_LOOSE, options.tolerance), shortenings=8)
    at, step = 0.0, _FIRST_STEP
    before, length_before = z, 0.0
    walking = walking.copy()
    while at < 1.0 and walking.any():
        target = min(1.0, at + step)
        system.stack.set_continuation(target)
        guess = z + (z - before) * ((target - at) / length_before) if length_before else z
        guess = np.where(groups.spread(walking), guess, z)
        tried = newton(system, guess, options if target == 1.0 else loose, _CORRECTIONS, groups)
        lost = walking & ~tried.converged
        if not lost.any():
            before, length_before = z, target - at
            z, at = np.where(groups.spread(walking), tried.z, z), target
            step *= 2.0 if tried.iterations <= 4 else 1.2
        elif step > options.smallest_continuation_step:
            step *= 0.4
        else:
            walking &= ~lost
            step = _FIRST_STEP
    return z, walking


def follow_arc(system: Subsystem, z: Floats, options: Options, most: int = 150) -> tuple[Floats, bool]:
    """The Newton homotopy of one group by arc length, which passes the points where the path turns back in λ.

    In units of the scales: tangent (ż, λ̇) of H(z, λ) = R(z) - (1 - λ) R(z0), Euler step along it, Newton corrections in the plane
    across it.
    """
    with np.errstate(all="ignore"):
        try:
            return _Arc(system, z).walk(z, options, most)
        except (RuntimeError, ArithmeticError):  # a singular bordered matrix: a path that ends or forks
            return z, False


class _Arc:
    def __init__(self, system: Subsystem, z: Floats) -> None:
        self.system = system
        self.scale = np.maximum(system.nominal, np.abs(z))
        self.first = system.residual(z)
        entries = np.abs(system.jacobian(z) * self.scale[system.column_of_entry])
        weight = np.bincount(system.indices, entries, system.size)
        self.weight = np.where(np.isfinite(weight) & (weight > 0), weight, 1.0)

    def walk(self, z: Floats, options: Options, most: int) -> tuple[Floats, bool]:
        """Until λ reaches 1, where an ordinary Newton iteration ends it."""
        if not np.isfinite(self.first).all():
            return z, False
        point = np.append(z / self.scale, 0.0)
        tangent, step = self._tangent(point, np.append(np.zeros(len(z)), 1.0)), 0.1
        for _ in range(most):
            following = self._correct(point + step * tangent, tangent)
            if following is None:
                step *= 0.4
                if step < 1e-8:
                    return z, False
                continue
            if following[-1] >= 1.0:
                return self._arrive(point, following, options)
            if np.abs(following).max() > _FAR:
                return z, False
            tangent, point, step = self._tangent(following, tangent), following, min(1.5 * step, 1e3)
        return z, False

    def _arrive(self, before: Floats, after: Floats, options: Options) -> tuple[Floats, bool]:
        part = (1.0 - before[-1]) / (after[-1] - before[-1])
        z = (before + part * (after - before))[:-1] * self.scale
        last = newton(self.system, z, options, options.iterations)
        return last.z, bool(last.converged.all())

    def _value(self, point: Floats) -> Floats:
        return np.asarray((self.system.residual(point[:-1] * self.scale) - (1.0 - point[-1]) * self.first) / self.weight)

    def _bordered(self, point: Floats, tangent: Floats):  # type: ignore[no-untyped-def]
        from scipy.sparse import block_array, csc_array
        from scipy.sparse.linalg import splu

        system = self.system
        entries = system.jacobian(point[:-1] * self.scale) * self.scale[system.column_of_entry] / self.weight[system.indices]
        if not np.isfinite(entries).all():
            raise ArithmeticError
        matrix = csc_array((entries, system.indices, system.indptr), shape=(system.size, system.size))
        last_column, last_row = csc_array((self.first / self.weight)[:, None]), csc_array(tangent[None, :-1])
        return splu(block_array([[matrix, last_column], [last_row, csc_array([[tangent[-1]]])]]).tocsc())

    def _tangent(self, point: Floats, old: Floats) -> Floats:
        right = np.zeros(len(point))
        right[-1] = 1.0
        tangent = np.asarray(self._bordered(point, old).solve(right))
        return tangent / np.linalg.norm(tangent)

    def _correct(self, point: Floats, tangent: Floats) -> Floats | None:
        inside = self.system.project(point[:-1] * self.scale) / self.scale
        if not np.allclose(inside, point[:-1], rtol=1e-12, atol=0):
            return None
        for _ in range(6):
            value = self._value(point)
            if not np.isfinite(value).all():
                return None
            change = np.asarray(self._bordered(point, tangent).solve(np.append(value, 0.0)))
            point = point - change
            if np.abs(change).max() <= 1e-6 * max(1.0, float(np.abs(point).max())):
                return point
        return None
