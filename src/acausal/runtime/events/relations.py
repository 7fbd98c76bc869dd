"""Relations during a run: frozen values, each with a narrow band around its switching point.

A relation g > 0 that holds is given up when g falls below -δ, one that does not hold is taken up when g rises above +δ. δ is a few
units in the twelfth digit of what g is made of. So every crossing function that the solver watches is strictly on one side of
zero after an event, and a restart sees no crossing that has just been dealt with; the value that a run works with is never on
the wrong side by more than δ. Of a relation that contains algebraic unknowns or derivatives δ is a part of the run's tolerance: at
a crossing those are interpolated, and after the restart, where they are solved for, they differ by as much.

What a jump puts into the band has the value that is written: `u <= 0` holds when u jumps to 0.
"""

from __future__ import annotations

import numpy as np

from ...families.template import MINUS, MIXED, Family
from ...kernels.interpret import evaluate
from ...language.expression import Expression, Slot
from ..problem import Floats, Problem

BAND = 1e-12  # of the size of the terms in a relation
OF_ALGEBRAIC, OF_DERIVATIVES = 0.1, 10.0  # of the run's tolerance, where a relation contains those


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
        self.width = np.zeros(self.count)
        self._inside = np.ones(self.count, dtype=bool)
        self.resting: np.ndarray = np.zeros(0, dtype=np.intp)  # rows that do not switch, because the solution slides along them

    def begin(self, w: Floats) -> None:
        """Values at a start, exactly as written, and bands for the run."""
        w[self.bands] = 0.0
        self.width = self._softness() * self._scale(w)
        g = self.sense * self.rules.values("relation", w)
        w[self.cells] = np.where(self.strict, g > 0, g >= 0)
        self._inside = np.abs(g) <= self.width
        self.renew(w)

    def follow(self, w: Floats, crossed: np.ndarray | None = None, jumped: bool = False) -> np.ndarray:
        """Bring values up to date; `crossed` marks those that the solver saw crossing. Returns the rows that changed.

        `jumped`: the workspace is not where it was at the last call, although no time has passed.
        """
        g = self.rules.values("relation", w)
        side = self.side(w)
        wrong = side * g < 0
        inside = np.abs(g + w[self.bands]) <= self.width
        if jumped:
            onto = inside & ~self._inside
            wrong |= onto & ((w[self.cells] > 0) == self.strict)
        self._inside = inside
        if crossed is not None:
            wrong |= crossed & (side * g <= 0)
        wrong[self.resting] = False
        rows = np.flatnonzero(wrong)
        if len(rows):
            w[self.cells[rows]] = 1.0 - w[self.cells[rows]]
            self.renew(w)
        return rows

    def side(self, w: Floats) -> Floats:
        """+1 where g is taken to be positive."""
        return np.where(w[self.cells] > 0, self.sense, -self.sense)

    def renew(self, w: Floats) -> None:
        """Bands on the far side of the present values."""
        w[self.bands] = -self.side(w) * self.width

    def _softness(self) -> Floats:
        """Half the width of each band, as a part of the size of what is in the relation."""
        problem, n = self.problem, self.problem.size
        soft = np.zeros(2 * n + len(problem.known))
        soft[:n] = np.where(problem.differential, 0.0, OF_ALGEBRAIC)
        soft[n : 2 * n] = OF_DERIVATIVES
        computed = problem.lowered.computed
        for kernel in problem.computed.kernels if problem.computed else ():  # in the order in which they are assigned
            index = np.where(kernel.slots < 0, ~kernel.slots, kernel.slots)
            np.maximum.at(soft, len(soft) - computed + kernel.targets[0], soft[index].max(axis=0, initial=0.0))
        width = np.full(self.count, BAND)
        for family in self.problem.lowered.moved(self.part.families):
            index = np.where(family.slots < 0, ~family.slots, family.slots)
            np.maximum.at(width, family.rows[0], self.rtol * soft[index].max(axis=0, initial=0.0))
        return width

    def _scale(self, w: Floats) -> Floats:
        """What g is made of: the sum of its terms' sizes, by its derivatives."""
        scale = np.zeros(self.count)
        size = np.abs(w)
        n = self.problem.size
        size[:n] = np.maximum(size[:n], self.problem.nominal)
        size[n : 2 * n] = np.maximum(size[n : 2 * n], self.problem.nominal)
        for family in self.problem.lowered.moved(self.part.families):
            for output, slot, partial in family.template.jacobian:
                index = family.slots[slot]
                index = np.where(index < 0, ~index, index)
                slope = np.abs(evaluate([partial], lambda leaf, f=family: leaf_values(f, w, leaf))[0])  # type: ignore[misc]
                np.add.at(scale, family.rows[output], np.nan_to_num(slope * size[index], posinf=0.0))
        return np.where(scale > 0, scale, 1.0)


def senses(blocks: list, count: int) -> tuple[Floats, np.ndarray]:  # type: ignore[type-arg]
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
