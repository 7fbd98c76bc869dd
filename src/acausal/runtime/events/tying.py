"""Events that tie states to each other, or to time: the index of the equations is another one from there on.

Problem. `where(closed, a - b, i) == 0` determines the current i while the contact is open. Where it closes on two capacitors, a
and b are states, and i is what keeps them together: nothing determines it while they are held. So it is with a capacitance that
vanishes, `q == max(u - U, 0)`: below U it is the charge that is given, and u is what keeps it there. Equations are reduced once,
for all branches together, and no derivative of the tie is among them.

The equations as they are have the solution. A few steps of the implicit Euler method with a length h that goes to nought lead from
the values before the event to those after it, on all constraints, the hidden ones included, as long as dF/dy + (1/h) dF/dy' is
regular (Brenan, Campbell and Petzold 1996, 3.1: with a constant step, k steps reach the solution of a linear system of index
k + 1). What balances conserve they conserve. h times what grows beyond all bounds meanwhile is the strength of an impulse; two
lengths, extrapolated, leave an error of h². The integration then goes on by the same equations, which backward differentiation
solves as well (op. cit., 3.2): what keeps states tied is of the order of their derivatives, and is tested as these are.

One step takes coefficients as they are at its end. Where they change with what jumps (a capacitance that depends on the voltage)
it would conserve nothing, and what the event changed in the equations comes in many parts (`_gradually`).

Where states jump there may be another configuration of the switches in which none does: that one is sought first (see `repair`).
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...errors import Diagnostic
from ..problem import Floats, Mask, Problem
from .impulses import impulse_told

_LENGTH = 1e-4  # of a step of the run: within so short a time nothing else moves
_STEPS, _ITERATIONS = 4, 20
_PARTS = (4, 8, 16, 32)  # of what an event changes, where what multiplies slopes changes on the way
_AT_ROUNDING = 1e4  # corrections this many times as large as they should be are those of rounding, if they shrink no more
_JUMP = 1e-6  # of a value: by less it moves because of rounding and tolerances
_EQUAL = 1e-6  # of the terms of an equation: by so much it may be wrong
_ALIKE = 1e-3  # of a value: by so much the ends of two paths of different length may differ


class _Path(NamedTuple):
    """Where some steps of one length lead."""

    y: Floats
    slopes: Floats  # of states
    through: Floats  # the sum of h times the unknowns
    first: Floats  # unknowns after the first step


class Tying:
    """Values after an event with which states are not free any more."""

    def __init__(self) -> None:
        self.jumps = False  # whether states may jump
        self.refused = False  # whether a solution was not taken because they would
        self.keeps: Mask | None = None  # unknowns that keep states tied, where some do
        self._before = self._begun = np.zeros(0)  # unknowns before the event, before the round
        self._moved = np.zeros(0, dtype=np.intp)  # states that jumped in the present round …
        self._latest: Floats | None = None  # … with that strength
        self._strength: Floats | None = None  # of what passed in the rounds before it

    def open(self, y: Floats, jumps: bool = False) -> None:
        """An event begins with these unknowns."""
        self.jumps, self.refused = jumps, False
        self._before, self._strength, self._latest = y.copy(), None, None
        self.next_round(y)

    def next_round(self, y: Floats) -> None:
        """What a round found is final, and the next one goes on from there."""
        if self._latest is not None:
            self._strength = self._latest if self._strength is None else self._strength + self._latest
        self._begun, self._latest, self._moved = y.copy(), None, self._moved[:0]

    def take_back(self, y: Floats, kept: np.ndarray) -> None:
        """States as they were before the round, if an attempt to solve it has moved some; not those that it set (`kept`)."""
        moved = np.setdiff1d(self._moved, kept)
        y[moved] = self._begun[moved]
        self._latest, self._moved = None, self._moved[:0]

    def solved(self, problem: Problem, t: float, y: Floats, yp: Floats, known: Floats, *steps: float) -> bool:
        """Consistent values for equations that do not determine all unknowns while states are held; y and y' in place. Over a small
        part of a short step rounding may hide them: then over one of the next."""
        refused, self.refused = self.refused, False
        found = any(self._solved_over(problem, t, y, yp, known, step) for step in steps if not self.refused)
        self.refused |= refused
        return found

    def _solved_over(self, problem: Problem, t: float, y: Floats, yp: Floats, known: Floats, step: float) -> bool:
        if step <= 0 or not len(y):
            return False
        later = t + 4 * np.finfo(float).eps * abs(t)
        one, half = (_path(problem, later, y, known, _LENGTH * step / part) for part in (1, 2))
        if self.jumps and one is not None and half is not None and _bends(problem, later, y, one, half, known):
            one, half = _gradually(problem, later, y, yp, known, _LENGTH * step)
        if one is None or half is None:
            return False
        after, size = 2 * half.y - one.y, np.maximum(np.abs(y), problem.nominal)
        if not (np.abs(half.y - one.y) <= _ALIKE * np.maximum(size, np.abs(after))).all():
            return False
        slopes = np.where(problem.differential, 2 * half.slopes - one.slopes, 0.0)
        if not _holds(problem, later, after, slopes, known):
            return False
        drifts = np.abs(after - y) <= 2 * np.abs(one.y - half.y)  # it moves with time: half as far in half the time
        after = np.where(drifts & problem.differential, y, after)
        jumped = problem.differential & (np.abs(after - y) > _JUMP * np.maximum(size, np.abs(after)))
        if jumped.any() and not self.jumps:
            self.refused = True
            return False
        if jumped.any():
            grows = ~problem.differential & (np.abs(half.first) > 1.5 * np.abs(one.first))  # twice as high in half the time
            self._moved, self._latest = np.flatnonzero(jumped), np.where(grows, 2 * half.through - one.through, 0.0)
        y[:], yp[:] = after, slopes
        self.keeps = _of_derivatives(problem, later, y, yp, known, _LENGTH * step)
        return True

    def described(self, problem: Problem) -> Problem:
        """The problem, in which those unknowns that keep states tied are tested as derivatives are."""
        if self.keeps is None:
            return problem
        found = copy(problem)
        found.derived, found._error_tests = self.keeps, {}
        return found

    def told(self, problem: Problem, t: float, y: Floats) -> Diagnostic | None:
        """A word about what jumped at an event that is over."""
        self.next_round(y)
        if self._strength is None:
            return None
        size = np.abs(y - self._before) / np.maximum(problem.nominal, np.maximum(np.abs(y), np.abs(self._before)))
        size = np.where(problem.differential, size, 0.0)
        jumped = np.argsort(-size, kind="stable")[: int((size > _JUMP).sum())]
        through = np.argsort(-np.abs(self._strength), kind="stable")[: int((self._strength != 0).sum())]
        name = problem.name_of_unknown
        return impulse_told(
            t,
            [(name(int(k)), float(self._before[k]), float(y[k])) for k in jumped],
            [(name(int(k)), float(self._strength[k])) for k in through],
        )


class Begun(NamedTuple):
    """A start at which states are tied to each other."""

    y: Floats
    yp: Floats
    moved: np.ndarray  # states that do not keep their start values


def tied_from_the_start(problem: Problem, t: float, span: float) -> Begun | None:
    """Values at a start at which some switch ties states; none where that is not what is wrong with it."""
    y, yp, tying = problem.start.copy(), np.zeros(problem.size), Tying()
    tying.open(y, jumps=True)
    if not tying.solved(problem, t, y, yp, problem.known, 1e-3 * span):
        return None
    return Begun(y, yp, tying._moved)


def _bends(problem: Problem, t: float, y: Floats, one: _Path, path: _Path, known: Floats) -> bool:
    """Whether what multiplies derivatives, or what passes, is another number after a jump: `(1 + u) * der(u) == i`. What one step
    conserves is then not what is conserved on the way."""
    way = np.abs(2 * path.y - one.y - y)
    jumps = (way > _JUMP * np.maximum(np.abs(y), problem.nominal)) & (way > 2 * np.abs(one.y - path.y))
    if not (jumps & problem.differential).any():
        return False
    here = np.where(problem.differential, y, path.y)
    (before, slopes_before), (after, slopes_after) = (problem.partials(t, at, path.slopes, known=known) for at in (here, path.y))
    columns = np.repeat(np.arange(len(y)), np.diff(problem.pattern[0]))
    differs = (slopes_after != slopes_before) | ((after != before) & ~problem.differential[columns])
    return bool(differs.any())


def _gradually(problem: Problem, t: float, y: Floats, yp: Floats, known: Floats, h: float) -> tuple[_Path | None, _Path | None]:
    """Paths of length h and h/2 on which what the event changed in the equations comes in many parts, extrapolated to no end of
    them: as if contacts closed through resistances that are ever smaller, all in proportion."""
    left = problem.residual(t, y, np.where(problem.differential, yp, 0.0), known=known)
    if not np.isfinite(left).all():
        return None, None
    found = []
    for length in (h, h / 2):
        paths = [_path(problem, t, y, known, length, parts, left) for parts in _PARTS]
        while len(paths) > 1 and None not in paths:
            order = len(_PARTS) - len(paths) + 1
            paths = [_nearer(a, b, 2**order) for a, b in pairwise(paths)]  # type: ignore[arg-type]
        found.append(paths[0] if None not in paths else None)
    return found[0], found[1]


def _nearer(coarse: _Path, fine: _Path, ratio: int) -> _Path:
    """What two paths lead to, of which the second is wrong by so much less."""
    y, slopes, through = (b + (b - a) / (ratio - 1) for a, b in zip(coarse[:3], fine[:3], strict=True))
    return _Path(y, slopes, through, fine.first)


def _path(
    problem: Problem, t: float, y: Floats, known: Floats, h: float, parts: int = 1, left: Floats | float = 0.0
) -> _Path | None:
    """Some steps of the implicit Euler method; None where one of them has no solution. What is `left` over by the values before
    goes in `parts`."""
    last, slopes, through, first = y, np.zeros(len(y)), np.zeros(len(y)), y
    for k in range(_STEPS + parts - 1):
        found = _step(problem, t + (k + 1) * h, last, known, h, max(0.0, 1 - (k + 1) / parts) * left)
        if found is None:
            return None
        slopes = np.where(problem.differential, (found - last) / h, 0.0)
        last, through, first = found, through + h * found, found if k == 0 else first
    return _Path(last, slopes, through, first)


def _step(problem: Problem, t: float, last: Floats, known: Floats, h: float, left: Floats | float = 0.0) -> Floats | None:
    z, best = last.copy(), np.inf
    largest = max(1.0, float(np.abs(last[problem.differential]).max(initial=0.0)))
    noise = np.where(problem.differential, 0.0, 64 * np.finfo(float).eps * largest / h**2)  # of what is a difference divided by h
    for _ in range(_ITERATIONS):
        slopes = np.where(problem.differential, (z - last) / h, 0.0)
        residual = problem.residual(t, z, slopes, known=known) - left
        correction = _solved(problem, t, z, slopes, known, h, residual)
        if correction is None:
            return None
        z = z - correction
        size = float((np.abs(correction) / (1e-10 * np.maximum(np.abs(z), problem.nominal) + noise)).max(initial=0.0))
        if size <= 1 or (size <= _AT_ROUNDING and size > 0.5 * best):
            return z
        best = min(best, size)
    return None


def _solved(problem: Problem, t: float, y: Floats, yp: Floats, known: Floats, h: float, right: Floats) -> Floats | None:
    """x of (dF/dy + (1/h) dF/dy') x = right; None where that matrix is singular."""
    from scipy.sparse import csc_matrix  # late: it takes longer to import than all the rest, and ties are rare
    from scipy.sparse.linalg import splu

    indptr, indices = problem.pattern
    values = problem.jacobian(t, y, yp, 1 / h, known=known)
    if not (np.isfinite(values).all() and np.isfinite(right).all()):
        return None
    try:
        found = splu(csc_matrix((values, indices, indptr), shape=(len(y), len(y)))).solve(right)
    except RuntimeError:
        return None
    return found if np.isfinite(found).all() else None


def _holds(problem: Problem, t: float, y: Floats, yp: Floats, known: Floats) -> bool:
    """Whether the equations are solved, and not only as well as differences over so short a time can tell."""
    residual, rows = problem.residual(t, y, yp, known=known), problem.pattern[1]
    columns = np.repeat(np.arange(len(y)), np.diff(problem.pattern[0]))
    by_value, by_slope = (np.abs(part) for part in problem.partials(t, y, yp, known=known))
    size = by_value * np.maximum(np.abs(y), problem.nominal)[columns] + by_slope * np.maximum(np.abs(yp), problem.nominal)[columns]
    return bool((np.abs(residual) <= _EQUAL * np.bincount(rows, size, len(y))).all())


def _of_derivatives(problem: Problem, t: float, y: Floats, yp: Floats, known: Floats, h: float) -> Mask:
    """Algebraic unknowns that follow derivatives of states: what states are wrong by makes them wrong by twice as much in half
    the time."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], len(y))  # so that what is wrong does not cancel
    wrong, right = np.where(problem.differential, signs * problem.nominal, 0.0), problem.residual(t, y, yp, known=known)
    answers = []
    for length in (h, h / 2):
        moved = problem.residual(t, y, yp + wrong / length, known=known) - right
        found = _solved(problem, t, y, yp, known, length, moved)
        answers.append(np.zeros(len(y)) if found is None else np.abs(found))
    return ~problem.differential & (answers[1] > 1.5 * answers[0])
