"""When tables bend whose arguments time alone determines, through whatever variables it goes.

A table of `ac.time` says so where it is written (`families/hybrid.py`). What a clock, a gain or a ramp in another component hands
on is seen here, among the equations as they are solved: where such an argument goes at a constant rate, it is computed when it
meets a point of its table. A step ends there, so that no pulse of the table is stepped over.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from ...families.hybrid import bent_at
from ...families.template import Family
from ...language.expression import Call, Expression, walk
from ...language.tables import Table
from ..problem import Floats, Problem
from .of_time import FunctionsOfTime, Part, index_of, is_plain, slots_of

_CLOSE = 4 * np.finfo(float).eps  # times that differ by less are one


def may_bend(problem: Problem) -> bool:
    """Whether there are tables, and time in an equation that could lead to them."""
    families = _families(problem)
    return any((f.slots == problem.time_index).any() for f in families) and any(_tables(f) for f in families)


class Bending(FunctionsOfTime):
    """The arguments of tables that are functions of time."""

    def __init__(self, problem: Problem, varying: np.ndarray, t_end: float) -> None:
        self.t_end, self._knots, self._found_with = t_end, list[Floats](), b"nothing"
        self._times = np.zeros(0)
        super().__init__(problem, varying)

    def next(self, t: float, w: Floats) -> float:
        """The first of these times after t, with known values as they are in `w`."""
        if not self._parts:
            return np.inf
        constants = w[self.constants].tobytes()
        if constants != self._found_with:
            self._found_with, self._times = constants, self._found(t, w)
        k = int(np.searchsorted(self._times, t + _CLOSE * abs(t), side="right"))
        return float(self._times[k]) if k < len(self._times) and self._times[k] < self.t_end else np.inf

    def _found(self, t: float, w: Floats) -> Floats:
        every = np.arange(self._offsets[-1])
        begin, end = np.full(len(every), min(t, 0.0)), np.full(len(every), self.t_end)
        _, _, low, high = self._over(every, begin, end, w)
        offset = self._over(every, np.zeros(len(every)), np.zeros(len(every)), w)[0]
        steady, found = (low == high) & (low != 0) & np.isfinite(offset), [np.zeros(0)]
        for knots, first, last in zip(self._knots, self._offsets[:-1], self._offsets[1:], strict=True):
            own = first + np.flatnonzero(steady[first:last])
            lines = np.unique(np.stack([offset[own], low[own]]), axis=1)
            found.append(((knots[:, None] - lines[0]) / lines[1]).ravel())
        return np.unique(np.concatenate(found))

    def _reads_time(self) -> bool:
        return may_bend(self.problem)

    def _chosen(self) -> Iterator[Part]:
        for family in _families(self.problem):
            index = index_of(family.slots)
            for output, call in _tables(family):
                used, argument = [slot.number for slot in slots_of(call.args[0])], call.args[0]
                columns = np.flatnonzero(self._of_time[index[used]].all(axis=0) & self._moves[index[used]].any(axis=0))
                if len(columns) and is_plain(argument):
                    assert isinstance(call.function, Table)
                    self._knots.append(bent_at(call.function))
                    yield Part(family, output, columns, argument, False)


def _families(problem: Problem) -> list[Family]:
    lowered = problem.lowered
    hybrid = lowered.system.hybrid
    relations = [] if hybrid is None else lowered.moved(hybrid.parts["relation"].families)
    return [*lowered.families, *lowered.assignments, *relations]


def _tables(family: Family) -> tuple[tuple[int, Call], ...]:
    return _called(family.template.outputs)


@lru_cache(maxsize=4096)
def _called(outputs: tuple[Expression, ...]) -> tuple[tuple[int, Call], ...]:
    """Tables that a template asks, each with the output that it stands in."""
    found = ((k, node) for k, whole in enumerate(outputs) for node in walk(whole))
    return tuple((k, node) for k, node in found if isinstance(node, Call) and isinstance(node.function, Table))
