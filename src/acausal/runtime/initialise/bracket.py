"""One equation in one unknown, the last resort: find two points with a change of sign between them, and close in.

Many such equations are treated at once, as groups of size one: every trial evaluates all of them. A change of sign across a pole is
not a root; the caller's Newton iteration, started from what is found here, is the judge.
"""

from __future__ import annotations

import numpy as np

from .equations import Subsystem
from .types import Floats, Mask

_DISTANCES = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e6)
_CLOSINGS = 200
_HALVINGS = 12


def bracket(system: Subsystem, start: Floats) -> tuple[Floats, Mask]:
    """A point near a change of sign for each unknown, the bracket nearest to the start, and where there is one."""
    with np.errstate(all="ignore"):
        points = _samples(system, start)
        values = np.stack([system.residual(z) for z in points])
        points, values = _to_the_edges(system, start, points, values)
        low, high, f_low, f_high, found = _nearest_change(points, values, start)
        return np.where(found, _close_in(system, low, high, f_low, f_high, found, start), start), found


def _samples(system: Subsystem, start: Floats) -> Floats:
    """Ascending points for each unknown: around the start, at the scale of its nominal value, and the bounds themselves."""
    distances = np.concatenate([-np.array(_DISTANCES[::-1]), [0.0], _DISTANCES])[:, None]
    around = start + distances * np.maximum(system.nominal, np.abs(start))
    about_zero = distances * system.nominal
    bounds = [np.where(np.isfinite(b), b, start) for b in (system.lower, system.upper)]
    points = np.concatenate([around, about_zero, bounds])
    return np.sort(np.clip(points, system.lower, system.upper), axis=0)


def _to_the_edges(system: Subsystem, start: Floats, points: Floats, values: Floats) -> tuple[Floats, Floats]:
    """More points where the equation ceases to have a value: the change of sign may lie between the last sample and that edge."""
    each, defined = np.arange(len(start)), np.isfinite(values)
    new_points, new_values = [points], [values]
    for inner, outer in ((slice(None, -1), slice(1, None)), (slice(1, None), slice(None, -1))):
        edge = defined[inner] & ~defined[outer]
        nearest = np.argmin(np.where(edge, np.abs(points[inner] - start), np.inf), axis=0)
        there = edge[nearest, each]
        near, far = np.where(there, points[inner][nearest, each], start), np.where(there, points[outer][nearest, each], start)
        for _ in range(_HALVINGS if there.any() else 0):
            middle = 0.5 * (near + far)
            value = system.residual(middle)
            near, far = np.where(np.isfinite(value), middle, near), np.where(np.isfinite(value), far, middle)
            new_points.append(middle[None])
            new_values.append(value[None])
    points, values = np.concatenate(new_points), np.concatenate(new_values)
    order = np.argsort(points, axis=0, kind="stable")
    return np.take_along_axis(points, order, axis=0), np.take_along_axis(values, order, axis=0)


def _nearest_change(points: Floats, values: Floats, start: Floats) -> tuple[Floats, Floats, Floats, Floats, Mask]:
    change = np.sign(values[:-1]) * np.sign(values[1:]) <= 0  # a value that is no number compares as false
    distance = np.minimum(np.abs(points[:-1] - start), np.abs(points[1:] - start))
    best = np.argmin(np.where(change, distance, np.inf), axis=0)
    each = np.arange(len(start))
    return points[best, each], points[best + 1, each], values[best, each], values[best + 1, each], change[best, each]


def _close_in(system: Subsystem, low: Floats, high: Floats, f_low: Floats, f_high: Floats, found: Mask, rest: Floats) -> Floats:
    """False position that falls back to bisection every third time, which bounds the number of steps."""
    for step in range(_CLOSINGS):
        secant = high - f_high * (high - low) / (f_high - f_low)
        middle = 0.5 * (low + high)
        inside = np.isfinite(secant) & (secant > np.minimum(low, high)) & (secant < np.maximum(low, high))
        z = np.where(inside & (step % 3 != 2), secant, middle)
        f = system.residual(np.where(found, z, rest))
        left = np.sign(f) * np.sign(f_low) > 0
        low, f_low = np.where(left, z, low), np.where(left, f, f_low)
        high, f_high = np.where(left, high, z), np.where(left, f_high, f)
        if (~found | (np.abs(high - low) <= 1e-12 * np.maximum(system.nominal, np.abs(z))) | (f == 0)).all():
            break
    return np.where(np.abs(f_low) < np.abs(f_high), low, high)
