"""Relations during a run: frozen values, each with a narrow band around its switching point.

A relation g > 0 that holds is given up when g falls below -δ, one that does not hold is taken up when g rises above +δ. So every
crossing function that the solver watches is strictly on one side of zero after an event, and a restart sees no crossing that has
just been dealt with. δ follows the run: of a relation that has just switched it is a few units in the twelfth digit of the terms
of g as they are there, so that rounding does not switch it back; as soon as g is well away from zero, δ is what the nominal
values alone suggest, however large the unknowns are meanwhile. A relation that switches too early by rounding does no harm.

Derivatives are interpolated at a crossing, with less accuracy than the solution, and differ after the restart, where they are
solved for: a relation of those that crossed, and is back on its old side by no more than that, has crossed all the same, and gets
a band as wide as it needs.

What a jump puts into the band has the value that is written: `u <= 0` holds when u jumps to 0.

A relation may read others: within itself, through computed cells, through unknowns. `decide` may therefore be called again and
again in one round of an event. It always judges by the values that relations had when the round was opened, so that the way in
which the others came to their values leaves no trace.
"""

from __future__ import annotations

import numpy as np

from ...families.hybrid import RuleBlock
from ...families.template import MINUS, MIXED, Family
from ...kernels.interpret import evaluate
from ...language.expression import Expression, Slot
from ..problem import Floats, Mask, Problem

BAND = 1e-12  # of the size of the terms in a relation
_ROUNDING = 64 * np.finfo(float).eps  # of that size: so much a value may be wrong
AWAY = 10.0  # bands from zero: there a band that was made wide is needed no longer
OF_DERIVATIVES = 1000.0  # times the run's tolerance: by so much they may differ from what is interpolated


class Relations:
    """All relations on unknowns: where their values and bands are in the workspace, and how they follow it."""

    def __init__(self, problem: Problem, rtol: float = 0.0) -> None:
        hybrid = problem.lowered.system.hybrid
        assert hybrid is not None and problem.rules is not None
        part = hybrid.parts["relation"]
        first = 2 * problem.size
        self.problem, self.rules, self.part, self.rtol = problem, problem.rules, part, rtol
        self.count = part.count
        self.cells, self.bands = first + part.targets, first + part.bands
        self.sense, self.strict = senses(part.blocks, self.count)
        self.narrow, self.soft = np.zeros(self.count), np.zeros(self.count)
        self.resting: np.ndarray = np.zeros(0, dtype=np.intp)  # rows that do not switch, because the solution slides along them
        self._wide = np.zeros(self.count)  # what interpolated derivatives need, for a while
        self._fired = np.zeros(self.count, dtype=bool)  # the solver saw them crossing at this event
        self._size = np.zeros(self.count)  # how far away they are from their switching points
        self._held, self._looked = np.zeros(self.count, dtype=bool), False
        self._size_before, self._old = self._size, np.zeros(self.count)

    # --- at a start -----------------------------------------------------------------------------------------------------------
    def begin(self, w: Floats) -> None:
        """No bands yet: values at a start are exactly as written."""
        w[self.bands] = 0.0
        self._wide[:] = 0.0
        self.narrow = self._narrowest(w)
        self.soft = self._softness() * self._scale(w, np.maximum(np.abs(w[: self.problem.size]), self.problem.nominal))

    def written(self, w: Floats) -> bool:
        """Values as written, without regard to what they were; whether one changed."""
        g = self.sense * self.rules.values("relation", w)
        value = np.where(self.strict, g > 0, g >= 0)
        changed = not np.array_equal(value, w[self.cells])
        w[self.cells] = value
        return changed

    def begun(self, w: Floats) -> None:
        """The values are those of the start: bands around them, wide only where rounding could decide."""
        self._size = np.abs(self.rules.values("relation", w))
        terms = self.rules.values("size", w)
        width = np.where(self._size <= _ROUNDING * terms, np.maximum(self.narrow, BAND * terms), self.narrow)
        w[self.bands] = -self.side(w) * width

    # --- in a round of an event -----------------------------------------------------------------------------------------------
    def open(self, w: Floats, crossed: Mask | None = None, first: bool = False) -> None:
        """A round begins. `crossed` marks those that the solver saw crossing; `first`: of an event, time has passed before it."""
        self._old, self._size_before = w[self.cells], self._size
        self._held[:], self._looked = False, False
        if first:
            self._fired = np.zeros(self.count, dtype=bool) if crossed is None else crossed
            self._wide[:] = 0.0

    def hold(self, rows: Mask) -> bool:
        """These keep in this round what they get at first, whatever they bring about; whether one is new among them. The round
        begins anew."""
        new = bool((rows & ~self._held).any())
        self._held |= rows
        self._looked = False
        return new

    def decide(self, w: Floats, crossed: Mask | None = None, jumped: bool = False) -> bool:
        """Values that go with the workspace; whether one changed since the last call.

        `crossed`: in the first round of an event. `jumped`: the workspace is not where the solution led it, time has not passed.
        """
        g, side = self.rules.values("relation", w), self._side(self._old)
        raw = g + w[self.bands]
        size = self._size = np.abs(raw)
        wrong = side * g < 0
        if not jumped:
            self._size_before = size
        elif crossed is None:
            back = wrong & self._fired & (size <= self.soft)  # by less than what was interpolated may be wrong
            self._wide[back] = 2 * size[back]
            wrong &= ~back
        if jumped:
            width = np.abs(w[self.bands])
            wrong |= (size <= width) & (self._size_before > width) & ((self._old > 0) == self.strict)
        if crossed is not None:
            switched = crossed & ((side * g <= 0) | (jumped & (side * raw <= self.soft)))
            back = switched & (side * raw > 0)
            self._wide[back] = 2 * size[back]
            wrong |= switched
        wrong[self.resting] = False
        value = np.where(wrong, 1.0 - self._old, self._old)
        if self._looked:
            value[self._held] = w[self.cells[self._held]]
        self._looked = True
        changed = not np.array_equal(value, w[self.cells])
        w[self.cells] = value
        return changed

    def close(self, w: Floats) -> np.ndarray:
        """The round's values are final: bands around those that changed. Returns their rows."""
        rows = np.flatnonzero(w[self.cells] != self._old)
        if len(rows) or self._wide.any():
            self.widen(w, rows)
        return rows

    def follow(self, w: Floats) -> np.ndarray:
        """A round of relations alone. Returns the rows that changed."""
        self.open(w)
        self.decide(w)
        return self.close(w)

    def state(self) -> tuple[np.ndarray, ...]:
        """What is remembered from one event to the next, apart from the workspace."""
        return tuple(a.copy() for a in (self.narrow, self.soft, self._wide, self._fired, self._size, self.resting))

    def set_state(self, state: tuple[np.ndarray, ...]) -> None:
        self.narrow, self.soft, self._wide, self._fired, self._size, self.resting = (a.copy() for a in state)

    def follow_as_written(self, w: Floats) -> None:
        """What is within its band, and did not cross at this event, has the value that is written."""
        size = np.abs(self.rules.values("relation", w) + w[self.bands])
        within = (size <= np.abs(w[self.bands])) & ~self._fired & ((w[self.cells] > 0) == self.strict)
        within[self.resting] = False
        w[self.cells[within]] = np.where(self.strict[within], 0.0, 1.0)
        self.renew(w)

    def neglects_crossing(self, w: Floats, before: Floats) -> bool:
        """Whether one that crossed at this event is within its band and has the value it had before: it would cross again."""
        within = np.abs(self.rules.values("relation", w) + w[self.bands]) <= np.abs(w[self.bands])
        within[self.resting] = False
        return bool((self._fired & within & (w[self.cells] == before)).any())

    # --- bands ----------------------------------------------------------------------------------------------------------------
    def widen(self, w: Floats, rows: np.ndarray) -> None:
        """Bands of relations that have just switched, and of those that interpolated derivatives make uncertain."""
        width = np.abs(w[self.bands])
        if len(rows):
            width[rows] = np.maximum(self.narrow, BAND * self.rules.values("size", w))[rows]
        w[self.bands] = -self.side(w) * np.maximum(width, self._wide)

    def relax(self, w: Floats) -> None:
        """Relations that are well away from their switching points have narrow bands."""
        width = np.abs(w[self.bands])
        away = np.flatnonzero(width > self.narrow)
        if len(away):
            g = self.rules.values("relation", w)[away]
            away = away[np.abs(g + w[self.bands[away]]) > AWAY * width[away]]
            w[self.bands[away]] = np.copysign(self.narrow[away], w[self.bands[away]])

    def renew(self, w: Floats) -> None:
        """Bands on the far side of the present values."""
        w[self.bands] = -self.side(w) * np.abs(w[self.bands])

    def side(self, w: Floats) -> Floats:
        """+1 where g is taken to be positive."""
        return self._side(w[self.cells])

    def _side(self, value: Floats) -> Floats:
        return np.where(value > 0, self.sense, -self.sense)

    # --- sizes ----------------------------------------------------------------------------------------------------------------
    def _softness(self) -> Floats:
        """How wrong a relation may be at a crossing because of what is interpolated in it, as a part of the size of its terms."""
        problem, n = self.problem, self.problem.size
        soft = np.zeros(2 * n + len(problem.known))
        soft[n : 2 * n] = OF_DERIVATIVES
        computed = problem.lowered.computed
        for kernel in problem.computed.kernels if problem.computed else ():  # in the order in which they are assigned
            index = np.where(kernel.slots < 0, ~kernel.slots, kernel.slots)
            for target in kernel.targets:
                np.maximum.at(soft, len(soft) - computed + target, soft[index].max(axis=0, initial=0.0))
        width = np.zeros(self.count)
        for family in self.problem.lowered.moved(self.part.families):
            index = np.where(family.slots < 0, ~family.slots, family.slots)
            np.maximum.at(width, family.rows[0], self.rtol * soft[index].max(axis=0, initial=0.0))
        return width

    def _narrowest(self, w: Floats) -> Floats:
        """Of unknowns at their nominal values, and of what g is compared with, `5e-8` in `p < 5e-8`, the smaller; nothing that
        changes during a run has a say."""
        n, computed = self.problem.size, self.problem.lowered.computed
        hybrid = self.problem.lowered.system.hybrid
        assert hybrid is not None
        nominal, bare = w.copy(), w.copy()
        nominal[: 2 * n] = np.tile(self.problem.nominal, 2)
        bare[: 2 * n] = 0.0
        own = len(w) - computed
        nominal[own:], bare[own:] = np.where(w[own:] == 0, 1.0, np.clip(w[own:], -1.0, 1.0)), 0.0
        for cells in (hybrid.cells, hybrid.partners):
            nominal[2 * n + cells] = np.clip(w[2 * n + cells], -1.0, 1.0)
            bare[2 * n + cells] = nominal[2 * n + cells]
        scale = self._scale(nominal, self.problem.nominal)
        with np.errstate(all="ignore"):
            compared = np.abs(self.rules.values("relation", bare))
        smaller = np.isfinite(compared) & (compared > 0) & (compared < scale)
        return np.asarray(BAND * np.where(smaller, compared, scale))

    def _scale(self, w: Floats, unknowns: Floats) -> Floats:
        """What g is made of, with unknowns of that size: the sum of its terms' sizes, by its derivatives."""
        scale = np.zeros(self.count)
        size = np.abs(w)
        n = self.problem.size
        size[:n] = unknowns
        size[n : 2 * n] = np.maximum(size[n : 2 * n], self.problem.nominal)
        for family in self.problem.lowered.moved(self.part.families):
            for output, slot, partial in family.template.jacobian:
                index = family.slots[slot]
                index = np.where(index < 0, ~index, index)
                slope = np.abs(evaluate([partial], lambda leaf, f=family: leaf_values(f, w, leaf))[0])  # type: ignore[misc]
                np.add.at(scale, family.rows[output], np.nan_to_num(slope * size[index], posinf=0.0))
        return np.where(scale > 0, scale, 1.0)


def senses(blocks: list[RuleBlock], count: int) -> tuple[Floats, np.ndarray]:
    """+1 for `>` and `>=`, -1 for `<` and `<=`, row by row; and which are strict."""
    sense, strict = np.ones(count), np.zeros(count, dtype=bool)
    for block in blocks:
        rows = slice(block.start, block.start + block.count)
        sense[rows] = 1.0 if block.rule.detail in ("gt", "ge") else -1.0
        strict[rows] = block.rule.detail in ("gt", "lt")
    return sense, strict


def leaf_values(family: Family, w: Floats, leaf: Expression) -> Floats:
    """What sits in a slot, row by row."""
    assert isinstance(leaf, Slot)
    index = family.slots[leaf.number]
    if family.signs[leaf.number] == MIXED:
        return np.where(index >= 0, w[index], -w[~index])
    return -w[index] if family.signs[leaf.number] == MINUS else w[index]
