"""What is tried on blocks that Newton's method cannot solve: the succession of methods, each with a bounded cost.

A method takes groups of equations that share no unknown (see `newton`) and a point, and gives a point and which groups it solved.
To add one, write such a function and name it in `SUCCESSION`. The order is by what it costs and by whom it trusts: the model's own
simplification first, because it alone knows what is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .bracket import bracket
from .equations import Subsystem
from .homotopy import follow_arc, follow_model, uses_model_continuation
from .newton import Groups, Iteration, Way, newton
from .options import Options
from .steps import descending, natural, unguarded
from .trust import Dogleg
from .types import Floats, Mask

Method = Callable[[Subsystem, Floats, Groups, Options], tuple[Floats, Mask]]

_STEPS = 100
_ARCS, _ARC_SIZE = 5, 1000  # blocks that are followed by arc length, one after the other, and their largest size
_SPREAD, _SPREAD_SIZE = 48, 12  # starts that are spread around, and the largest block in which so few cover anything


class Step(NamedTuple):
    """A method by the name the report gives it, and the groups it is for."""

    name: str
    method: Method
    fits: Callable[[Subsystem, Floats, Groups], Mask]
    continues: bool = False  # from an easier problem


def _with(way: Callable[[Iteration], Way], limit: int) -> Method:
    """Newton's method with another way to take steps."""

    def method(system: Subsystem, z: Floats, groups: Groups, options: Options) -> tuple[Floats, Mask]:
        result = newton(system, z, options, limit, groups, way)
        return result.z, result.converged

    return method


def bracketed(system: Subsystem, z: Floats, groups: Groups, options: Options) -> tuple[Floats, Mask]:
    return _with(descending, options.iterations)(system, bracket(system, z)[0], groups, options)


def other_starts(system: Subsystem, z: Floats, groups: Groups, options: Options) -> tuple[Floats, Mask]:
    """Everything at rest, nominal values, their negatives, the middle between bounds: with luck one is on the right side of the
    hill."""
    bounded = np.isfinite(system.lower) & np.isfinite(system.upper)
    middle = z + 0.1 * system.nominal
    middle[bounded] = 0.5 * (system.lower[bounded] + system.upper[bounded])
    solved, best = np.zeros(groups.count, bool), z
    for guess in (np.zeros(system.size), system.nominal, -system.nominal, middle):
        for way in (descending, unguarded):
            result = newton(system, guess, options, options.iterations, groups, way)
            best = np.where(groups.spread(result.converged & ~solved), result.z, best)
            solved |= result.converged
            if solved.all():
                return best, solved
    return best, solved


def spread_starts(system: Subsystem, z: Floats, groups: Groups, options: Options) -> tuple[Floats, Mask]:
    """Points all around the start, further out by and by, each unknown in its nominal value and within its bounds."""
    solved, best = np.zeros(groups.count, bool), z
    irrational = _irrational(groups)
    bounded = np.flatnonzero(np.isfinite(system.lower) & np.isfinite(system.upper))
    lower, upper = system.lower[bounded], system.upper[bounded]
    for k in range(1, _SPREAD + 1):
        turn = (k * irrational) % 1.0
        guess = z + (2.0 * turn - 1.0) * np.ceil(k / 12) * system.nominal
        guess[bounded] = lower + turn[bounded] * (upper - lower)
        result = newton(system, guess, options, options.iterations, groups, descending)
        best = np.where(groups.spread(result.converged & ~solved), result.z, best)
        solved |= result.converged
        if solved.all():
            break
    return best, solved


def _irrational(groups: Groups) -> Floats:
    """A number for each unknown, multiples of which fill the cube of its group evenly: powers of the root of x^(d+1) = x + 1, where
    d is the size of the group (the generalised golden ratio of Roberts, "The unreasonable effectiveness of quasirandom
    sequences", 2018)."""
    sizes, root = groups.sizes.astype(float), np.full(groups.count, 1.5)
    for _ in range(30):
        root = (1.0 + root) ** (1.0 / (sizes + 1.0))
    place = np.arange(groups.sizes.sum()) - np.repeat(groups.begin, groups.sizes)  # of an unknown in its group
    return np.asarray(np.repeat(root, groups.sizes) ** -(place + 1.0))


def arcs(system: Subsystem, z: Floats, groups: Groups, options: Options) -> tuple[Floats, Mask]:
    """The Newton homotopy by arc length, for a few groups."""
    solved, best = np.zeros(groups.count, bool), z.copy()
    for k in range(min(groups.count, _ARCS)):
        place = slice(groups.begin[k], groups.begin[k] + groups.sizes[k])
        one = Subsystem(system.stack, system.rows[place], system.columns[place], system.x)
        inside = newton(one, z[place], options, 0).z
        best[place], solved[k] = follow_arc(one, inside, options)
    return best, solved


def _every(system: Subsystem, z: Floats, groups: Groups) -> Mask:
    return np.ones(groups.count, bool)


def _single(system: Subsystem, z: Floats, groups: Groups) -> Mask:
    return np.asarray(groups.sizes == 1)


def _small(system: Subsystem, z: Floats, groups: Groups) -> Mask:
    return np.asarray(groups.sizes <= _ARC_SIZE)


def _few(system: Subsystem, z: Floats, groups: Groups) -> Mask:
    return np.asarray(groups.sizes <= _SPREAD_SIZE)


def _simplifiable(system: Subsystem, z: Floats, groups: Groups) -> Mask:
    return np.full(groups.count, uses_model_continuation(system, z))


SUCCESSION = (
    Step("the model's own homotopy", follow_model, _simplifiable, continues=True),
    Step("bracketing", bracketed, _single),
    Step("full Newton steps", _with(unguarded, _STEPS), _every),
    Step("the natural monotonicity test", _with(natural, _STEPS), _every),
    Step("a trust region", _with(Dogleg, _STEPS), _every),
    Step("other starts", other_starts, _every),
    Step("homotopy by arc length", arcs, _small, continues=True),
    Step("starts all around", spread_starts, _few),
)
