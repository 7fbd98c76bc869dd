"""Pseudo-transient continuation: a steady state is where the model comes to rest, so let it.

F(t, y, (y - y_before)/h) = 0 is solved again and again, implicit Euler with time standing still and a step h that grows as long as
Newton's method can follow. Small steps are easy, because each y' holds its y; large ones are Newton's method for the steady state.
Of several steady states it finds the one that the start leads to, a stable one, and quantities that the model conserves (the mass
in a closed circuit) keep the value they have at the start.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .equations import Stack, Subsystem
from .linear import SparseFactor
from .newton import newton
from .options import Options
from .types import Floats

_STEPS = 200
_CORRECTIONS = 12
_LOOSE = 1e-6
_FIRST_CHANGE = 0.1  # of the fastest unknown during the first step, in units of its scale
_AT_REST = 1e-7  # change during a step that is not a small one, in units of the scales


def settle(stack: Stack, y: Floats, options: Options) -> tuple[Floats, bool]:
    """Where the model is about to rest when it starts from y, and whether it came so far."""
    with np.errstate(all="ignore"):
        y, first = _first_step(stack, y, options)
        loose = replace(options, tolerance=max(_LOOSE, options.tolerance), accept_nearest=False)
        step, system = first, _EulerStep(stack)
        for _ in range(_STEPS):
            system.begin(y, step)
            tried = newton(system, y, loose, _CORRECTIONS)  # type: ignore[arg-type]
            if not tried.converged.all():
                step *= 0.1
                if step < 1e-9 * first:
                    return y, False
                continue
            change = np.abs(tried.z - y) / np.maximum(system.nominal, np.abs(y))
            y = tried.z
            if change.max() < _AT_REST and step > 1e2 * first:
                return y, True
            step *= 5.0 if tried.iterations <= 4 else 1.5
        return y, False


def _first_step(stack: Stack, y: Floats, options: Options) -> tuple[Floats, float]:
    """Algebraic unknowns that fit y, and a step in which the fastest unknown changes a little."""
    n, differential = stack.size, stack.problem.differential
    everywhere = np.arange(n)
    held = Subsystem(stack, everywhere, np.where(differential, n + everywhere, everywhere))
    held.x[:n] = y
    found = newton(held, np.where(differential, 0.0, y), options)
    if not found.converged.all():
        return y, 1e-3
    rate = np.max(np.abs(found.z[differential]) / np.maximum(held.nominal, np.abs(y))[differential], initial=0.0)
    return np.where(differential, y, found.z), float(np.clip(_FIRST_CHANGE / rate, 1e-9, 1e9)) if rate > 0 else 1.0


class _EulerStep:
    """The equations of one implicit Euler step, as `newton` sees a `Subsystem`."""

    def __init__(self, stack: Stack) -> None:
        problem = stack.problem
        self.stack, self.size = stack, stack.size
        self.indptr, self.indices = problem.pattern
        self.column_of_entry = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.indptr))
        self.nominal = np.where(problem.nominal > 0, problem.nominal, 1.0)
        self.lower, self.upper = problem.minimum, problem.maximum
        self._factor = SparseFactor(self.indptr, self.indices)
        self.before, self.step = np.zeros(self.size), 1.0

    def begin(self, before: Floats, step: float) -> None:
        self.before, self.step = before, step

    def _slope(self, z: Floats) -> Floats:
        return np.where(self.stack.problem.differential, (z - self.before) / self.step, 0.0)

    def residual(self, z: Floats) -> Floats:
        self.stack.counts.residuals += 1
        return np.array(self.stack.problem.residual(self.stack.time, z, self._slope(z)), dtype=float)

    def jacobian(self, z: Floats) -> Floats:
        self.stack.counts.jacobians += 1
        entries = self.stack.problem.jacobian(self.stack.time, z, self._slope(z), 1.0 / self.step)
        return np.array(entries[: len(self.indices)], dtype=float)

    def factorise(self, entries: Floats) -> bool:
        self.stack.counts.factorisations += 1
        return self._factor.factor(entries)

    def solve(self, right: Floats) -> Floats:
        return self._factor.solve(right)

    def project(self, z: Floats) -> Floats:
        return np.clip(z, self.lower, self.upper)
