"""Impulses: a jump in what is differentiated.

Problem. A step in a prescribed voltage drives a charge through capacitors, a bend in a prescribed position an impulse through an
inertia. Index reduction differentiates the constraint on either side of the event, where it is smooth; the jump is in none of its
equations. The equations as they were written have it: a few steps of the implicit Euler method with a length h that goes to nought
lead from the values before the event to those after it, and h times what grows beyond all bounds meanwhile is the strength of an
impulse. Two lengths, extrapolated, leave an error of h². As many steps as the index is high make all derivatives forget the jump.

The jump is part of what a round of an event solves for, so that relations see where it leads; what is tried several times in a
round begins each time with the values before the round. States that do not jump keep their values to the last bit: what has just
passed a relation's switching point, or is about to, is not moved across it by rounding. A state that is set in the round (`reinit`)
stays what it was set to: where an impulse would move it, the others follow it, and there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...errors import Diagnostic
from ..inputs import Signal, Steps, Table
from ..parameters import differentiated_inputs
from ..problem import Equations, Floats, Problem

if TYPE_CHECKING:
    from .handler import Handler

_JUMP = 1e-6  # of a value: by less it moves because of rounding and tolerances
_MOST = 6  # quantities that are named
_MOST_TOLD = 20  # events
_STEPS, _ITERATIONS = 4, 20
_WHAT = "At time {t:.6g} quantities jump that the model differentiates: an impulse passes."
_REMEDY = (
    "Stored rows show both sides of the jump, and nothing of what passes in between. If that is not meant, let the source change "
    "in a finite time (a ramp, a filter), or put a spring or a resistance in between."
)
_LENGTH = 1e-4  # of a step of the run: within so short a time nothing else moves
_AT_ROUNDING = 1e4  # corrections this many times as large as they should be are those of rounding, if they shrink no more
_STILL = 1e-9  # of a value: a state that moves by less stays where it is

Consistent = Callable[[float, Floats, Floats], bool]


def _largest(signal: Signal | None) -> float:
    """The largest value among the points of an input: beside it, what is left of others at zero is rounding."""
    return float(np.abs(signal.values).max()) if isinstance(signal, Table | Steps) else 0.0


def _floor(problem: Problem, atol: Floats, rtol: float) -> Floats:
    """The size, at most 1, below which an unknown is of no account: what the tolerances of the run say it is."""
    own = np.minimum(1.0, np.broadcast_to(atol, problem.size) / rtol)
    place = problem.lowered.place
    solved = place < problem.size
    return np.where(solved, own[np.where(solved, place, 0)], own.max()) if len(own) else np.ones(len(place))


class Impulses:
    """What jumped at the events of a run although the model differentiates it."""

    def __init__(self, problem: Problem, reduced: Callable[[], Equations] | None, atol: Floats, rtol: float) -> None:
        """`reduced` makes the equations of the reduced system, without the rows that select states."""
        self.problem, self.system, self.reduced = problem, problem.lowered.system, reduced
        self.added = self.system.derivatives
        none = np.zeros((0, 2), dtype=np.int64)
        self.pairs = none if self.added is None else self.added.candidates()  # (unknown, its derivative)
        self.inputs = np.array(sorted(differentiated_inputs(self.system)), dtype=np.int64)
        self.found: list[Diagnostic] = []
        self._floor = _floor(problem, atol, rtol)
        self.base: Floats | None = None  # the workspace before a round; None where nothing can jump
        self.strength: Floats | None = None  # of what passed in an event so far
        self._latest: Floats | None = None  # … and in the present round
        self._moved = np.zeros(0, dtype=np.intp)  # states that it moved

    @property
    def possible(self) -> bool:
        return self.reduced is not None and len(self.pairs) > 0

    @property
    def by_switching(self) -> bool:
        """Whether what events decide stands in an equation that was differentiated, or they set what is differentiated; others
        drive no impulse."""
        if not self.possible or self.added is None or self.system.hybrid is None:
            return False
        if np.isin(self.system.hybrid.parts["reinit"].targets, self.pairs[:, 0]).any():
            return True
        hybrid, raised = self.system.hybrid, np.flatnonzero(self.added.differentiations > 0)
        decided = 2 * self.system.size + np.concatenate([hybrid.cells, hybrid.partners])
        for family in self.system.families:
            slots = family.slots[:, np.isin(family.rows, raised).any(axis=0)]
            if np.isin(np.where(slots < 0, ~slots, slots), decided).any():
                return True
        return False

    def unknowns(self, w: Floats) -> Floats:
        """All unknowns of the system, in a workspace of the problem."""
        return w[self.problem.lowered.place]

    # --- in the rounds of an event --------------------------------------------------------------------------------------------
    def open(self, base: Floats | None) -> None:
        """An event begins with this workspace; at a start there is none before it."""
        self.base, self.strength, self._latest, self._moved = base, None, None, self._moved[:0]

    def open_before(self, handler: Handler, t: float, y: Floats, yp: Floats, span: float) -> Floats:
        """Open at a corner at t in a run of some length, with all unknowns on this side of it: at t, those that time alone gives
        are beyond it already."""
        if not self.possible:
            return np.zeros(0)
        handler.load(t - 4 * np.finfo(float).eps * max(abs(t), span), y, yp)
        self.open(handler.w.copy())
        return self.unknowns(handler.w)

    def next_round(self, w: Floats) -> None:
        """What a round found is final, and the next one goes on from there."""
        if self.base is None:
            return
        if self._latest is not None:
            self.strength = self._latest if self.strength is None else self.strength + self._latest
        self.base, self._latest, self._moved = w.copy(), None, self._moved[:0]

    def take_back(self, y: Floats) -> None:
        """States as they were before the round, if an attempt to solve it has moved some."""
        if self.base is not None and len(self._moved):
            y[self._moved] = self.base[self._moved]
            self._latest, self._moved = None, self._moved[:0]

    def carry(self, handler: Handler, t: float, y: Floats, yp: Floats, step: float, consistent: Consistent) -> None:
        """Where what is differentiated has jumped since the round began, the states that the impulse moves too, in place."""
        if self.base is None:
            return
        own = handler.set_states[y[handler.set_states] != self.base[handler.set_states]]
        begun = self.base.copy()
        begun[own] = y[own]
        before, later = self.unknowns(begun), t + 4 * np.finfo(float).eps * abs(t)
        handler.load(later, y, yp)
        if not len(self.jumped(before, self.unknowns(handler.w))):
            return
        found = self.across(later, before, handler.known[: self.system.known_count].copy(), step)
        if found is None:
            return
        after, kept = found[0][handler.problem.lowered.kept], (y.copy(), yp.copy())
        size = np.maximum(np.abs(y), np.maximum(np.abs(after), self._floor[handler.problem.lowered.kept]))
        states = np.flatnonzero(handler.problem.differential & (np.abs(after - y) > _STILL * size))
        if np.isin(states, own).any():
            return
        y[states] = after[states]
        if consistent(later, y, yp):
            self._moved, self._latest = states, found[1]
        else:
            y[:], yp[:] = kept

    def closed(self, t: float, before: Floats, handler: Handler, of_states: bool) -> None:
        """The event is over: a word about what passed. `of_states`: some were set, and what jumps with them is no impulse."""
        self.next_round(handler.w)
        if not of_states or self.strength is not None:
            self.tell(t, before, self.unknowns(handler.w), self.strength)
        self.base = None

    # --- one jump -------------------------------------------------------------------------------------------------------------
    def jumped(self, before: Floats, after: Floats) -> np.ndarray:
        """Unknowns that are differentiated and are not what they were, the largest jump first."""
        places = np.unique(self.pairs[:, 0])
        size = np.abs(after - before)[places] / np.maximum(self._floor, np.maximum(np.abs(before), np.abs(after)))[places]
        return places[np.argsort(-size, kind="stable")][: int((size > _JUMP).sum())]

    def across(self, t: float, before: Floats, known: Floats, step: float) -> tuple[Floats, Floats] | None:
        """Unknowns after the event, and the strength of the impulse in each; None if that is not found."""
        if step <= 0:
            return None
        one, half = (self._euler(t, before, known, _LENGTH * step / part) for part in (1, 2))
        if one is None or half is None:
            return None
        grows = np.abs(half[2]) > 1.5 * np.abs(one[2])  # twice as high in half the time
        after = 2 * half[0] - one[0]
        still = np.abs(after - before) <= 2 * np.abs(one[0] - half[0])  # it moves with time: half as far in half the time
        return np.where(still, before, after), np.where(grows, 2 * half[1] - one[1], 0.0)

    def _euler(self, t: float, before: Floats, known: Floats, h: float) -> tuple[Floats, Floats, Floats] | None:
        """The unknowns after the last step, the sum of h times them, and the unknowns after the first."""
        last, total, first = before, np.zeros(len(before)), before
        for step in range(_STEPS):
            found = self._solved(t + (step + 1) * h, last, known, h)
            if found is None:
                return None
            last, total, first = found, total + h * found, found if step == 0 else first
        return last, total, first

    def _solved(self, t: float, last: Floats, known: Floats, h: float) -> Floats | None:
        from scipy import sparse  # late: it takes longer to import than all the rest, and impulses are rare
        from scipy.sparse.linalg import splu

        assert self.reduced is not None and self.added is not None
        equations = self.reduced()
        rows, z, n = self.added.original_rows, last.copy(), len(last)
        source, slope = self.pairs.T
        m = len(source)
        noise = np.full(n, 64 * np.finfo(float).eps * max(1.0, float(np.abs(last[source]).max())) / h**2)
        noise[source[source < rows]] = 0.0  # differences of these are divided by h, and again
        euler = sparse.csr_matrix((np.r_[np.full(m, h), -np.ones(m)], (np.r_[:m, :m], np.r_[slope, source])), shape=(m, n))
        best = np.inf
        for _ in range(_ITERATIONS):
            slopes = (z - last) / h  # of what the reduction left as it was
            residual = np.r_[equations.residual(t, z, slopes, known)[:rows], h * z[slope] - (z[source] - last[source])]
            values, (indptr, indices) = equations.jacobian(t, z, slopes, 1 / h, known), equations.pattern
            matrix = sparse.csc_matrix((values, indices, indptr), shape=(equations.count, n)).tocsr()[:rows]
            try:
                correction = splu(sparse.vstack([matrix, euler]).tocsc()).solve(residual)
            except (RuntimeError, ValueError):
                return None
            z = z - correction
            if not np.isfinite(z).all():
                return None
            size = float((np.abs(correction) / (1e-10 * np.maximum(np.abs(z), 1.0) + noise)).max(initial=0.0))
            if size <= 1 or (size <= _AT_ROUNDING and size > 0.5 * best):
                return z
            best = min(best, size)
        return None

    def tell_inputs(self, t: float, before: Floats, known: Floats, signals: Mapping[int, Signal]) -> None:
        """A word about inputs that jumped although the model needs their derivatives."""
        after = known[self.inputs]
        moved = np.abs(after - before)
        jumped = np.flatnonzero(moved > _JUMP * np.maximum(np.abs(before), np.abs(after)))
        own = np.array([_largest(signals.get(int(cell))) for cell in self.inputs[jumped]])
        jumped = jumped[moved[jumped] > _JUMP * own]
        if len(jumped) and len(self.found) < _MOST_TOLD:
            name = self.system.plant.name_of
            jumps = (f"jumps:     {name(int(self.inputs[k]), 'known')}: {before[k]:.6g} → {after[k]:.6g}" for k in jumped[:_MOST])
            self.found.append(Diagnostic(_WHAT.format(t=t), details=tuple(jumps), remedy=_REMEDY))

    def tell(self, t: float, before: Floats, after: Floats, strength: Floats | None) -> None:
        rows = self.jumped(before, after)
        if not len(rows) or len(self.found) >= _MOST_TOLD:
            return
        name, through = self.system.name_of_unknown, rows[:0]
        if strength is not None:
            derived = np.isin(np.arange(len(strength)), self.pairs)
            size = np.where(derived, 0.0, np.abs(strength))
            through = np.flatnonzero((size > _JUMP * size.max(initial=0.0)) & (size > 0))
            through = through[np.argsort(-np.abs(strength[through]), kind="stable")]
        passed = [] if strength is None else [(name(int(k)), float(strength[k])) for k in through[:_MOST]]
        jumps = [(name(int(k)), float(before[k]), float(after[k])) for k in rows[:_MOST]]
        self.found.append(impulse_told(t, jumps, passed))

    def tell_jump(self, told: Diagnostic | None) -> None:
        """A word about an impulse that was found in another way (see `tying`)."""
        if told is not None and len(self.found) < _MOST_TOLD:
            self.found.append(told)


def impulse_told(t: float, jumps: list[tuple[str, float, float]], passed: list[tuple[str, float]]) -> Diagnostic:
    """What is said of an impulse: what jumped from where to where, and what passed with which strength."""
    details = [f"jumps:     {name}: {before:.6g} → {after:.6g}" for name, before, after in jumps[:_MOST]]
    details += [f"impulse:   {name}: {strength:.6g} (its unit times a second)" for name, strength in passed[:_MOST]]
    return Diagnostic(_WHAT.format(t=t), details=tuple(details), remedy=_REMEDY)
