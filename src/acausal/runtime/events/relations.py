"""Relations during a run: frozen values, each with a narrow band around its switching point.

A relation g > 0 that holds is given up when g falls below -δ, one that does not hold is taken up when g rises above +δ. So every
crossing function that the solver watches is strictly on one side of zero after an event, and a restart sees no crossing that has
just been dealt with. δ follows the run: of a relation that has just switched it is a few units in the twelfth digit of the terms
of g as they are there, so that rounding does not switch it back, and no less than what nominal values suggest where unknowns that
are solved for take part; of others the way that g is about to go in the whole run counts if that is less. As soon as g is
well away from zero, δ is next to nothing: there it would only make the event late. A relation that switches too early by rounding
does no harm.

One that another relation puts behind its switching point, within its band, has not switched yet: the band is not made narrower than
that, or its crossing would be behind it.

A relation that the solver saw crossing has crossed, also where it is back on its old side by rounding: inputs are computed by the
solver's own code there, and by Python at an event.

Derivatives and algebraic unknowns are interpolated at a crossing, with less accuracy than the states, and differ after the restart,
where they are solved for: a relation of those that crossed, and is back on its old side by no more than that, has crossed all the
same, and gets a band as wide as it needs. Not so one that decides on a discrete value (a diode begins to conduct) by what is solved
for: with another decision that is something else. A stair of `floor` has two edges, and the one that was passed upwards is the next
one's lower edge: it has been passed all the same.

What a jump puts into the band has the value that is written: `u <= 0` holds when u jumps to 0. So has what an event leaves on its
switching point, to the last digits, and what does not move from there: `min(x, 0.5) >= 0.5` holds when x has passed 0.5. What comes
to its switching point exactly, as an input that rises to 1 and stays there, has crossed if another value is written for that point:
`u >= 1` holds then. Whoever searches for roots sees it so (`Gaps.left_zero`, `native/gaps.cpp`).

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
IDLE = 1e-18  # of a band that nominal values suggest: away from the switching point
ROUNDING = 64 * np.finfo(float).eps  # of that size: so much a value may be wrong
SOON = 1e-6  # of a run: after that time it is seen what moves
AWAY = 10.0  # bands from zero: there a band that was made wide is needed no longer
OF_DERIVATIVES = 1000.0  # times the run's tolerance: by so much they may differ from what is interpolated …
OF_ALGEBRAIC = 10.0  # … and unknowns that have no part in the error test


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
        self.edges = _edges(part.blocks, self.count)
        self.narrow, self.soft = np.zeros(self.count), np.zeros(self.count)
        self.resting: np.ndarray = np.zeros(0, dtype=np.intp)  # rows that do not switch, because the solution slides along them
        self.exact = self._of_states()
        self.direct = np.ones(self.count, dtype=bool)  # equations read them, and do not jump: others decide on what will be solved
        self._settled = np.zeros(self.count, dtype=bool)  # they stay on their switching points after this event
        self._wide = np.zeros(self.count)  # what interpolated derivatives need, for a while
        self._fired = np.zeros(self.count, dtype=bool)  # the solver saw them crossing at this event …
        self._inherited = self._fired  # … or the edge that is now theirs
        self._size = np.zeros(self.count)  # how far away they are from their switching points
        self._held, self._looked = np.zeros(self.count, dtype=bool), False  # those that keep the value of the first look …
        self._kept, self._solved = np.zeros(self.count, dtype=bool), False  # … and of the first solution in a round
        self._made_of = np.ones(self.count)  # sizes of terms at the start
        self._size_before, self._old = self._size, np.zeros(self.count)

    # --- at a start -----------------------------------------------------------------------------------------------------------
    def begin(self, w: Floats) -> None:
        """No bands yet: values at a start are exactly as written."""
        w[self.bands] = 0.0
        self._wide[:] = 0.0
        self.narrow = self._narrowest(w)
        self._made_of = self._scale(w, np.maximum(np.abs(w[: self.problem.size]), self.problem.nominal))
        self.soft = self._softness() * self._made_of

    def move_to(self, problem: Problem) -> None:
        """Other states are selected: what was integrated may be solved for now, and the other way round."""
        assert problem.rules is not None
        self.problem, self.rules = problem, problem.rules
        self.exact = self._of_states()
        self.soft = self._softness() * self._made_of

    def written(self, w: Floats) -> bool:
        """Values as written, without regard to what they were; whether one changed."""
        g = self.sense * self.rules.values("relation", w)
        value = np.where(self.strict, g > 0, g >= 0)
        changed = not np.array_equal(value, w[self.cells])
        w[self.cells] = value
        return changed

    def begun(self, w: Floats, later: Floats) -> None:
        """The values are those of the start: bands around them, wide only where rounding could decide. `later` is g soon after."""
        g, terms = self.rules.values("relation", w), self.rules.values("size", w)
        self._size = np.abs(g)
        width = np.where(self._size <= ROUNDING * terms, self._width(terms, np.abs(later - g) / SOON), IDLE * self.narrow)
        w[self.bands] = -self.side(w) * width

    def _width(self, terms: Floats, way: Floats) -> Floats:
        """Of a band at a switching point, with terms of that size, and `way` the distance that g would go in a run."""
        moving = self.exact & np.isfinite(way) & (way > 0)
        return np.maximum(BAND * terms, np.where(moving, np.minimum(self.narrow, BAND * way), self.narrow))

    # --- in a round of an event -----------------------------------------------------------------------------------------------
    def open(self, w: Floats, crossed: Mask | None = None, first: bool = False) -> None:
        """A round begins. `crossed` marks those that the solver saw crossing; `first`: of an event, time has passed before it."""
        self._old, self._size_before = w[self.cells], self._size
        self._held[:], self._looked = False, False
        self._kept[:], self._solved = False, False
        if first:
            self._settled[:] = False
            self._fired = np.zeros(self.count, dtype=bool) if crossed is None else crossed
            self._inherited = self._fired[self.edges] & ~self._fired
            self._wide[:] = 0.0
            self.brace(w, ~self._fired)

    def brace(self, w: Floats, rows: Mask) -> None:
        """Bands of relations on what is solved for: as wide as nominal values suggest while a solution is sought."""
        rows = rows & ~self.exact
        width = np.abs(w[self.bands[rows]])
        w[self.bands[rows]] = -self.side(w)[rows] * np.maximum(width, self.narrow[rows])

    def hold(self, rows: Mask, of_solution: bool = False) -> bool:
        """These keep in this round what they get at first, whatever they bring about; whether one is new among them. The round
        begins anew. `of_solution`: what they get before the equations are solved, when other relations have been followed."""
        held = self._kept if of_solution else self._held
        new = bool((rows & ~held).any())
        held |= rows
        self._looked = self._solved = False
        return new

    def settled(self) -> None:
        """The equations are about to be solved."""
        self._solved = True

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
            back = wrong & (self._fired | self._inherited) & (size <= self.soft)  # by less than what was interpolated may be wrong
            self._wide[back] = 2 * size[back]
            wrong &= ~back
        if jumped:
            wrong = self._put_onto(w, size, wrong)
        if crossed is not None:
            near = size <= ROUNDING * self.rules.values(
                "size", w
            )  # the solver may have seen it beyond by the last digit, or resting
            switched = crossed & ((side * g <= 0) | near | (jumped & (side * raw <= self.soft)))
            back = switched & (side * raw > 0)
            self._wide[back] = 2 * size[back]
            wrong |= switched
        wrong[self.resting] = False
        value = np.where(wrong, 1.0 - self._old, self._old)
        if self._settled.any():
            at_zero = self._settled & (size <= ROUNDING * self.rules.values("size", w))
            value[at_zero] = ~self.strict[at_zero]
        held = (self._held & self._looked) | (self._kept & self._solved)
        value[held] = w[self.cells[held]]
        self._looked = True
        changed = not np.array_equal(value, w[self.cells])
        w[self.cells] = value
        return changed

    def _put_onto(self, w: Floats, size: Floats, wrong: Mask) -> Mask:
        """Those that switch, when a jump has put some onto their switching points, at a distance of `size`. The two edges of a
        stair see it within the same width: if one were on its point and the other beyond it, they would switch each other for
        ever."""
        width = np.maximum(np.abs(w[self.bands]), self.narrow)
        width = np.maximum(width, width[self.edges])
        onto = (size <= width) & (self._size_before > width) & ~self._inherited
        written = (self._old > 0) != self.strict
        stays = onto & written & wrong & (self.edges != np.arange(self.count))
        self._wide[stays] = np.maximum(self._wide, 2 * size)[stays]  # so that its crossing is still ahead
        return (wrong & ~stays) | (onto & ~written)

    def at_rest(self, w: Floats, later: Floats) -> Mask:
        """Those that an event leaves on their switching points, with another value than is written, and that have not moved a
        little later, when g is `later`."""
        size, raw = ROUNDING * self.rules.values("size", w), np.abs(later + w[self.bands])
        found = (self._size <= size) & (raw <= size) & ((w[self.cells] > 0) == self.strict) & ~self._settled
        found[self.resting] = False
        return found

    def rest(self, rows: Mask) -> bool:
        """The event is over but for these, to which the next round gives the value that is written. Whether there are such."""
        self._settled |= rows
        return bool(rows.any())

    def sharpen(self, w: Floats, later: Floats) -> None:
        """Bands of those within them when an event is over, because they switched or because others did: `later` is g a little
        later."""
        before = np.abs(w[self.bands])
        rows = np.flatnonzero(self.exact & (before == self.narrow) & (self._size <= before))
        if not len(rows):
            return
        g, side = self.rules.values("relation", w), self.side(w)
        width = self._width(self.rules.values("size", w), np.abs(later - g) / SOON)
        behind = side * (g + w[self.bands]) < 0  # it has not switched, and beyond its band nobody would see it cross
        width = np.where(behind, np.minimum(before, np.maximum(width, 2 * self._size)), width)
        w[self.bands[rows]] = -(side * np.maximum(width, self._wide))[rows]

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
        return tuple(a.copy() for a in (self.narrow, self._made_of, self._wide, self._fired, self._size, self.resting))

    def set_state(self, state: tuple[np.ndarray, ...]) -> None:
        self.narrow, self._made_of, self._wide, self._fired, self._size, self.resting = (a.copy() for a in state)
        self.soft = self._softness() * self._made_of

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
        away = np.flatnonzero(width > IDLE * self.narrow)
        if len(away):
            g = self.rules.values("relation", w)[away]
            away = away[np.abs(g + w[self.bands[away]]) > AWAY * width[away]]
            w[self.bands[away]] = np.copysign(IDLE * self.narrow[away], w[self.bands[away]])

    def reach(self, w: Floats) -> None:
        """Bands that reach as far as those relations are beyond their switching points which have not switched: a run was left off
        right at an event, by rounding behind it, and one that begins anew there must see it ahead."""
        g = self.rules.values("relation", w)
        behind = self.side(w) * g <= 0
        behind[self.resting] = False
        width = np.maximum(2 * np.abs(g + w[self.bands]), BAND * self.rules.values("size", w))
        w[self.bands[behind]] = -(self.side(w) * width)[behind]

    def renew(self, w: Floats) -> None:
        """Bands on the far side of the present values."""
        w[self.bands] = -self.side(w) * np.abs(w[self.bands])

    def side(self, w: Floats) -> Floats:
        """+1 where g is taken to be positive."""
        return self._side(w[self.cells])

    def _side(self, value: Floats) -> Floats:
        return np.where(value > 0, self.sense, -self.sense)

    # --- sizes ----------------------------------------------------------------------------------------------------------------
    def _of_states(self) -> Mask:
        """Those that read nothing that is solved for."""
        problem = self.problem
        return ~self._depends(np.append(~problem.differential, np.ones(problem.size, dtype=bool)))

    def _softness(self) -> Floats:
        """How wrong a relation may be at a crossing because of what is interpolated in it, as a part of the size of its terms."""
        n = self.problem.size
        continuous = self.direct | (self.edges != np.arange(self.count))
        of_solved = np.where(self.exact | ~continuous, 0.0, self.rtol * OF_ALGEBRAIC)
        return np.where(self._depends(np.arange(2 * n) >= n), self.rtol * OF_DERIVATIVES, of_solved)

    def _depends(self, unknowns: Mask) -> Mask:
        """Which relations read some of y and y', through computed cells, too."""
        problem = self.problem
        seen = np.zeros(2 * problem.size + len(problem.known), dtype=bool)
        seen[: 2 * problem.size] = unknowns
        computed = problem.lowered.computed
        for kernel in problem.computed.kernels if problem.computed else ():  # in the order in which they are assigned
            index = np.where(kernel.slots < 0, ~kernel.slots, kernel.slots)
            for target in kernel.targets:
                np.logical_or.at(seen, len(seen) - computed + target, seen[index].any(axis=0))
        found = np.zeros(self.count, dtype=bool)
        for family in problem.lowered.moved(self.part.families):
            index = np.where(family.slots < 0, ~family.slots, family.slots)
            np.logical_or.at(found, family.rows[0], seen[index].any(axis=0))
        return found

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


def _edges(blocks: list[RuleBlock], count: int) -> np.ndarray:
    """Of each relation the row of the other edge of the stair that it ends, or its own: where one edge is passed upwards, the next
    stair begins with the same edge downwards."""
    other, first = np.arange(count), dict[tuple[int, str], RuleBlock]()
    for block in blocks:
        if block.rule.stair is None:
            continue
        pair = first.setdefault((block.kind.index, block.rule.stair.name), block)
        if pair is not block:
            rows, others = (np.arange(b.start, b.start + b.count) for b in (block, pair))
            other[rows], other[others] = others, rows
    return other


def leaf_values(family: Family, w: Floats, leaf: Expression) -> Floats:
    """What sits in a slot, row by row."""
    assert isinstance(leaf, Slot)
    index = family.slots[leaf.number]
    if family.signs[leaf.number] == MIXED:
        return np.where(index >= 0, w[index], -w[~index])
    return -w[index] if family.signs[leaf.number] == MINUS else w[index]
