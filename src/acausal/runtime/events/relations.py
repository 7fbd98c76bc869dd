"""Relations during a run: frozen values, each with a narrow band around its switching point.

A relation g > 0 that holds is given up when g falls below -δ, one that does not hold is taken up when g rises above +δ. δ is a few
units in the twelfth digit of what g is made of. So every crossing function that the solver watches is strictly on one side of
zero after an event, and a restart sees no crossing that has just been dealt with; the value that a run works with is never on
the wrong side by more than δ. Derivatives are interpolated at a crossing, with less accuracy than the solution, and differ after
the restart, where they are solved for: a relation of those that crossed, and is back on its old side by no more than that, has
crossed all the same, and gets a band as wide as it needs.

What a jump puts into the band has the value that is written: `u <= 0` holds when u jumps to 0.
"""

from __future__ import annotations

import numpy as np

from ...families.hybrid import RuleBlock
from ...families.template import MINUS, MIXED, Family
from ...kernels.interpret import evaluate
from ...language.expression import Expression, Slot
from ..problem import Floats, Problem

BAND = 1e-12  # of the size of the terms in a relation
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
        self.width, self.soft = np.zeros(self.count), np.zeros(self.count)
        self._wide = np.zeros(self.count)  # of bands that had to be made wider for a while
        self._fired = np.zeros(self.count, dtype=bool)
        self._inside = np.ones(self.count, dtype=bool)
        self.resting: np.ndarray = np.zeros(0, dtype=np.intp)  # rows that do not switch, because the solution slides along them

    def begin(self, w: Floats) -> None:
        """Values at a start, exactly as written, and bands for the run."""
        w[self.bands] = 0.0
        scale = self._scale(w, np.maximum(np.abs(w[: self.problem.size]), self.problem.nominal))
        self.width, self.soft = self._widths(w, scale), self._softness() * scale
        self._wide[:] = 0.0
        g = self.sense * self.rules.values("relation", w)
        w[self.cells] = np.where(self.strict, g > 0, g >= 0)
        self._inside = np.abs(g) <= self.width
        self.renew(w)

    def follow(self, w: Floats, crossed: np.ndarray | None = None, jumped: bool = False) -> np.ndarray:
        """Bring values up to date; `crossed` marks those that the solver saw crossing. Returns the rows that changed.

        `jumped`: the workspace is not where it was at the last call, although no time has passed.
        """
        g = self.rules.values("relation", w)
        side, size = self.side(w), np.abs(g + w[self.bands])
        wrong, inside = side * g < 0, size <= self.width
        if jumped:
            back = wrong & self._fired & (size <= self.soft)  # by less than what was interpolated may be wrong
            self._wide[back] = 2 * size[back]
            wrong = (wrong & ~back) | (inside & ~self._inside & ((w[self.cells] > 0) == self.strict))
            if back.any():
                self.renew(w)
        else:
            self._fired = np.zeros(self.count, dtype=bool) if crossed is None else crossed
            self._wide[side * (g + w[self.bands]) > 0] = 0.0
        self._inside = inside
        if crossed is not None:
            wrong |= crossed & (side * g <= 0)
        wrong[self.resting] = False
        rows = np.flatnonzero(wrong)
        if len(rows):
            w[self.cells[rows]] = 1.0 - w[self.cells[rows]]
            self.renew(w)
        return rows

    def near(self, w: Floats) -> np.ndarray:
        """Rows that are at their switching point, or hardly away from it."""
        return np.flatnonzero(np.abs(self.rules.values("relation", w) + w[self.bands]) <= 1000 * self.width)

    def side(self, w: Floats) -> Floats:
        """+1 where g is taken to be positive."""
        return np.where(w[self.cells] > 0, self.sense, -self.sense)

    def renew(self, w: Floats) -> None:
        """Bands on the far side of the present values."""
        w[self.bands] = -self.side(w) * np.maximum(self.width, self._wide)

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

    def _widths(self, w: Floats, scale: Floats) -> Floats:
        """The size of terms at the crossing is that of what g is compared with, `5e-8` in `p < 5e-8`, wherever the run starts; if
        that is zero, it is the size of the unknowns."""
        bare = w.copy()
        bare[: 2 * self.problem.size] = 0.0
        bare[len(bare) - self.problem.lowered.computed :] = 0.0
        with np.errstate(all="ignore"):
            compared = np.abs(self.rules.values("relation", bare))
        rounding = 4 * np.finfo(float).eps * self._scale(w, self.problem.nominal)
        own = np.isfinite(compared) & (compared > 0) & (compared < scale)
        return np.where(own, np.maximum(BAND * compared, rounding), BAND * scale)

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
