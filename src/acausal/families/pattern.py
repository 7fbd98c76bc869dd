"""The sparsity pattern of dF/dy + c·dF/dy', and where in it each family's derivatives go.

The (row, column) pairs of all families, made unique once, are the pattern in compressed columns; each family keeps the positions of
its entries. Entries whose slot points at a known cell go to a dump cell behind the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from ..records import dataclass
from ..structure import native
from ..structure.blocks import BlockForm, block_form
from ..structure.incidence import Incidence
from ..structure.matching import match
from .template import MIXED, Family


@dataclass(slots=True, eq=False)
class Pattern:
    """Compressed columns; `by_value` and `by_slope` say which entries hold a derivative by y, and which by y'."""

    indptr: np.ndarray
    indices: np.ndarray
    positions: list[np.ndarray]  # for each family (entry, row)
    by_value: np.ndarray
    by_slope: np.ndarray
    _solution: tuple[np.ndarray, BlockForm | None] | None = None  # a memory, with the states that it is for

    @property
    def size(self) -> int:
        return len(self.indices)

    def by_rows(self, equations: int) -> tuple[Incidence, np.ndarray]:
        """Which unknowns stand in which rows, and where each entry went."""
        return Incidence(self.indptr.astype(np.int64), self.indices, equations).turned()

    def active(self, equations: int, differential: np.ndarray) -> Incidence:
        """What is solved for in which row, states given: slopes of these, values of the others."""
        found = native.find("graph_active")
        if found is None:
            chosen = np.where(np.repeat(differential, np.diff(self.indptr)), self.by_slope, self.by_value)
            incidence, places = self.by_rows(equations)
            taken = np.empty(len(places), dtype=bool)
            taken[places] = chosen
            return incidence.keep(taken)
        parts = (part.view(np.uint8) for part in (self.by_value, self.by_slope, differential))
        indptr, indices = found(self.indptr, self.indices, *parts, equations)
        return Incidence(indptr, indices, len(differential))

    def solution(self, equations: int, differential: np.ndarray) -> BlockForm | None:
        """In which order, states given, rows can be solved for all slopes of states and all other unknowns; None if they cannot.

        Whether there is an index to reduce, what cancels and what can be computed without being solved for are questions to this.
        """
        if self._solution is None or self._solution[0] is not differential:
            self._solution = differential, self._solved(equations, differential)
        return self._solution[1]

    def _solved(self, equations: int, differential: np.ndarray) -> BlockForm | None:
        if equations != len(differential):
            return None
        incidence = self.active(equations, differential)
        matching = match(incidence)
        return block_form(incidence, matching) if (matching.unknown_of_equation >= 0).all() else None


def jacobian_pattern(families: list[Family], equations: int, unknowns: int) -> Pattern:
    """Pattern and positions of all families."""
    shapes = [(len(family.template.entry_places[0]), family.count) for family in families]
    found = native.find("graph_pattern")
    pattern, position = (
        _pattern(families, equations, unknowns) if found is None else _natively(found, families, equations, unknowns)
    )
    pattern.positions = by_family(position, shapes)
    return pattern


def by_family(position: np.ndarray, shapes: list[tuple[int, int]]) -> list[np.ndarray]:
    """The places of all derivatives as one table (entry, row) for each family."""
    ends = list(accumulate(a * b for a, b in shapes))
    return [position[end - a * b : end].reshape(a, b) for (a, b), end in zip(shapes, ends, strict=True)]


def tables_of(families: list[Family]) -> list[tuple[np.ndarray, ...]]:
    """What native code reads of families."""
    return [(f.slots, f.rows, *f.template.entry_places) for f in families]


def _natively(found: Callable[..., Any], families: list[Family], equations: int, unknowns: int) -> tuple[Pattern, np.ndarray]:
    indptr, indices, position, by_value, by_slope = found(tables_of(families), max(equations, 1), unknowns)
    return Pattern(indptr, indices, [], by_value.view(bool), by_slope.view(bool)), position


def _pattern(families: list[Family], equations: int, unknowns: int) -> tuple[Pattern, np.ndarray]:
    columns, rows, slopes = _entries(families, unknowns)
    found, places = Incidence.with_positions(columns, rows, unknowns + 1, max(equations, 1))  # the last column is the dump
    count = int(found.indptr[unknowns])
    position = places.astype(np.int32)
    by_value, by_slope = np.zeros(count + 1, dtype=bool), np.zeros(count + 1, dtype=bool)
    by_slope[position[slopes]] = True
    by_value[position[~slopes]] = True
    indptr, indices = found.indptr[: unknowns + 1].astype(np.int32), found.indices[:count]
    return Pattern(indptr, indices, [], by_value[:count], by_slope[:count]), position


def _entries(families: list[Family], unknowns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Column (one more for all that is known) and row of each derivative of each row, and whether it is by y'."""
    nothing = np.zeros(0, dtype=np.int32)
    columns, every, slopes = [nothing], [nothing], [np.zeros(0, dtype=bool)]
    for family in families:
        outputs, slots = family.template.entry_places
        if not len(slots):
            continue
        index, rows = family.slots[slots], family.rows[outputs]
        if MIXED in family.signs:
            index = np.where(index < 0, ~index, index)
        slope, known = index >= unknowns, index >= 2 * unknowns
        column = np.where(slope, index - unknowns, index)
        if known.any():
            column, rows = np.where(known, unknowns, column), np.where(known, 0, rows)
        columns.append(column.astype(np.int32).ravel())
        every.append(rows.astype(np.int32).ravel())
        slopes.append(slope.ravel())
    return np.concatenate(columns), np.concatenate(every), np.concatenate(slopes)


def distinct(keys: np.ndarray) -> np.ndarray:
    """`np.unique` by sorting, which is faster than hashing for millions of keys that are nearly sorted already."""
    ordered = np.sort(keys, kind="stable")
    first = np.ones(len(keys), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def sorted_unique(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`np.unique` with the inverse, for keys that come in long sorted runs."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    inverse = np.empty(len(keys), dtype=np.int64)
    inverse[order] = np.cumsum(first) - 1
    return ordered[first], inverse
