"""When tables bend whose arguments time alone determines, through whatever variables it goes.

A table of `ac.time` says so where it is written (`families/hybrid.py`). What a clock, a gain or a ramp in another component hands
on is seen here, among the equations as they are solved: where such an argument goes at a constant rate, it is computed when it
meets a point of its table. A step ends there, so that no pulse of the table is stepped over; of a smooth table it is enough that
steps end where it sets out after a rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...families.hybrid import bent_at
from ...language.tables import Table
from ..inputs import turned_at
from ..problem import Floats, Problem
from .asked import families_of, may_bend, tables_of
from .of_time import FunctionsOfTime, Part, index_of, is_plain, slots_of
from .timed import first_after


class Bending(FunctionsOfTime):
    """The arguments of tables that are functions of time."""

    def __init__(self, problem: Problem, varying: np.ndarray) -> None:
        self._tables, self._found_with = list[Table](), b"nothing"
        self._corners = self._turns = np.zeros(0)
        super().__init__(problem, varying)

    def next_corner(self, t: float, w: Floats) -> float:
        """The first corner after t, with known values as they are in `w`."""
        self._follow(t, w)
        return first_after(t, self._corners)

    def next_turn(self, t: float, w: Floats) -> float:
        """The first time after t at which a smooth table sets out, or soon after."""
        self._follow(t, w)
        return first_after(t, self._turns)

    def _follow(self, t: float, w: Floats) -> None:
        constants = w[self.constants].tobytes()
        if not self._parts or constants == self._found_with:
            return
        self._found_with, every = constants, np.arange(self._offsets[-1])
        begin, end, zero = (np.full(len(every), x) for x in (min(t, 0.0), np.inf, 0.0))
        _, _, low, high = self._over(every, begin, end, w)
        offset = self._over(every, zero, zero, w)[0]
        steady, corners, turns = (low == high) & (low != 0) & np.isfinite(offset), [np.zeros(0)], [np.zeros(0)]
        for table, first, last in zip(self._tables, self._offsets[:-1], self._offsets[1:], strict=True):
            own = first + np.flatnonzero(steady[first:last])
            lines = np.unique(np.stack([offset[own], low[own]]), axis=1)
            corners.append(((bent_at(table)[:, None] - lines[0]) / lines[1]).ravel())
            if table.method != "linear":
                turns.append(((turned_at(table.x, table.y)[:, None] - lines[0]) / lines[1]).ravel())
        self._corners, self._turns = (np.unique(np.concatenate(found)) for found in (corners, turns))

    def _reads_time(self) -> bool:
        return may_bend(self.problem)

    def _chosen(self) -> Iterator[Part]:
        for family in families_of(self.problem):
            index = index_of(family.slots)
            for output, call in tables_of(family):
                used, argument = [slot.number for slot in slots_of(call.args[0])], call.args[0]
                columns = np.flatnonzero(self._of_time[index[used]].all(axis=0) & self._moves[index[used]].any(axis=0))
                if len(columns) and is_plain(argument):
                    assert isinstance(call.function, Table)
                    self._tables.append(call.function)
                    yield Part(family, output, columns, argument, False)
