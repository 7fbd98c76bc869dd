"""Functions of time alone that are computed at several places: bounds of their values and slopes in a stretch of time.

What time and constants determine is known beforehand, also where it goes through variables that are computed one from another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from ...families.template import MINUS, MIXED, Family
from ...language.expression import Expression, Slot, walk
from ...records import dataclass
from ..problem import Floats, Mask, Problem
from .ranges import Range, can_bound, ranges


@dataclass(frozen=True, slots=True)
class Part:
    """Some columns of a family whose slots hold the same sort of thing: of time alone or not."""

    family: Family
    output: int
    columns: np.ndarray
    expression: Expression
    switches: bool  # the expression is all of a relation


class FunctionsOfTime(ABC):
    """Those that are chosen from the families of a problem."""

    def __init__(self, problem: Problem, varying: np.ndarray) -> None:
        """`varying`: cells of the workspace that inputs fill, about which nothing is known."""
        self.problem, self._parts = problem, list[Part]()
        self._time, self._first = problem.time_index, 2 * problem.size + len(problem.known) - problem.lowered.computed
        self.constants: np.ndarray = np.zeros(0, dtype=np.intp)  # cells of the workspace whose change makes what was found obsolete
        if self._reads_time():
            self._of_time, self._moves = self._classified(varying)
            self._bands = self._band_cells()
            self._parts = list(self._chosen())
            self._needed = self._closure()
            self._number()
            self.constants = self._read()

    @abstractmethod
    def _reads_time(self) -> bool:
        """Whether there is anything to choose from, and time in an equation that could lead to it at all."""

    @abstractmethod
    def _chosen(self) -> Iterator[Part]:
        """The functions."""

    # --- what reads time alone --------------------------------------------------------------------------------------------------
    def _classified(self, varying: np.ndarray) -> tuple[Mask, Mask]:
        """Cells of the workspace that depend on time and constants only; and those of them that do depend on time."""
        problem = self.problem
        of_time = np.ones(2 * problem.size + len(problem.known), dtype=bool)
        of_time[: 2 * problem.size] = False
        of_time[self._first :] = False
        of_time[varying] = False
        moves = np.zeros(len(of_time), dtype=bool)
        moves[self._time] = True
        for family in problem.lowered.assignments:
            index = index_of(family.slots)
            plain = all(is_plain(o) for o in family.template.outputs)
            for target in family.rows:
                of_time[self._first + target] = plain & of_time[index].all(axis=0)
                moves[self._first + target] = moves[index].any(axis=0)
        return of_time, moves & of_time

    def _band_cells(self) -> np.ndarray:
        hybrid = self.problem.lowered.system.hybrid
        assert hybrid is not None
        return np.asarray(2 * self.problem.size + hybrid.parts["relation"].bands)

    def _closure(self) -> list[tuple[Family, np.ndarray]]:
        """Assignments that these functions need, in order, with the columns that are needed."""
        wanted = np.zeros(len(self._of_time), dtype=bool)
        for part in self._parts:
            for leaf in slots_of(part.expression):
                wanted[index_of(part.family.slots[leaf.number, part.columns])] = True
        found = []
        for family in reversed(self.problem.lowered.assignments):
            columns = np.flatnonzero(
                wanted[self._first + family.rows].any(axis=0) & self._of_time[self._first + family.rows].all(axis=0)
            )
            if len(columns):
                found.append((family, columns))
                wanted[index_of(family.slots[:, columns])] = True
        self._wanted = wanted
        return found[::-1]

    def _read(self) -> np.ndarray:
        """Constants whose change makes everything known obsolete. Bands are next to nothing."""
        wanted = self._wanted.copy()
        wanted[self._first :] = False
        wanted[self._time] = False
        wanted[self._bands] = False
        return np.flatnonzero(wanted)

    # --- functions --------------------------------------------------------------------------------------------------------------
    def _number(self) -> None:
        """One number for each column of each part; who makes the cells that they read."""
        self._offsets = np.cumsum([0, *(len(part.columns) for part in self._parts)])
        self._maker = np.full((3, len(self._of_time) - self._first), -1)  # number in `_needed`, output, column
        for number, (family, columns) in enumerate(self._needed):
            for output, target in enumerate(family.rows[:, columns]):
                self._maker[:, target] = np.stack(np.broadcast_arrays(number, output, columns))

    def _over(self, function: np.ndarray, begin: Floats, end: Floats, w: Floats) -> Floats:
        """Bounds of some functions, each over a stretch of its own: least and largest value, least and largest slope."""
        bounds = np.empty((4, len(function)))
        which = np.searchsorted(self._offsets, function, side="right") - 1
        for k, part in enumerate(self._parts):
            own = np.flatnonzero(which == k)
            if len(own):
                columns = part.columns[function[own] - self._offsets[k]]
                bounds[:, own] = self._of(part.family, part.expression, columns, begin[own], end[own], w)
        return bounds

    def _of(self, family: Family, expression: Expression, columns: np.ndarray, begin: Floats, end: Floats, w: Floats) -> Floats:
        def leaf(node: Expression) -> Range:
            assert isinstance(node, Slot)
            places = family.slots[node.number, columns]
            found = self._of_cells(index_of(places), begin, end, w)
            minus = places < 0 if family.signs[node.number] == MIXED else np.full(len(places), family.signs[node.number] == MINUS)
            low, high, least, most = np.where(minus, -found[[1, 0, 3, 2]], found)
            return Range((low, high), (least, most))

        found = ranges(expression, leaf)
        return np.stack([np.broadcast_to(bound, len(columns)) for bound in (*found.value, *found.slope)])

    def _of_cells(self, index: np.ndarray, begin: Floats, end: Floats, w: Floats) -> Floats:
        """Bounds of what cells of the workspace hold."""
        constant = np.where(np.isin(index, self._bands), 0.0, w[index])
        bounds = np.stack([constant, constant, np.zeros(len(index)), np.zeros(len(index))])
        clock = index == self._time
        bounds[:, clock] = np.stack(np.broadcast_arrays(begin[clock], end[clock], 1.0, 1.0))
        computed = np.flatnonzero(self._moves[index] & ~clock)
        makers = self._maker[:, index[computed] - self._first]
        for number, output in np.unique(makers[:2], axis=1).T if len(computed) else ():
            own = computed[(makers[0] == number) & (makers[1] == output)]
            family, columns = self._needed[number][0], self._maker[2, index[own] - self._first]
            bounds[:, own] = self._of(family, family.template.outputs[output], columns, begin[own], end[own], w)
        return bounds


def index_of(slots: np.ndarray) -> np.ndarray:
    return np.where(slots < 0, ~slots, slots)


def slots_of(expression: Expression) -> list[Slot]:
    return [n for n in walk(expression) if isinstance(n, Slot)]


def is_plain(expression: Expression) -> bool:
    """Whether bounds are known of everything in it."""
    return all(can_bound(n) for n in walk(expression))
