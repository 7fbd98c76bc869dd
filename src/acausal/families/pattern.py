"""The sparsity pattern of dF/dy + c·dF/dy', and where in it each family's derivatives go.

The (row, column) pairs of all families, made unique once, are the pattern in compressed columns; each family keeps the positions of
its entries. Entries whose slot points at a known cell go to a dump cell behind the last one.
"""

from __future__ import annotations

import numpy as np

from ..records import dataclass
from ..structure.incidence import Incidence
from .template import MIXED, Family


@dataclass(slots=True, eq=False)
class Pattern:
    """Compressed columns; `by_value` and `by_slope` say which entries hold a derivative by y, and which by y'."""

    indptr: np.ndarray
    indices: np.ndarray
    positions: list[np.ndarray]  # for each family (entry, row)
    by_value: np.ndarray
    by_slope: np.ndarray

    @property
    def size(self) -> int:
        return len(self.indices)

    def by_rows(self, equations: int) -> tuple[Incidence, np.ndarray]:
        """Which unknowns stand in which rows, and where each entry went."""
        return Incidence(self.indptr.astype(np.int64), self.indices, equations).turned()


def jacobian_pattern(families: list[Family], equations: int, unknowns: int) -> Pattern:
    """Pattern and positions of all families."""
    columns, rows, slopes, shapes = _entries(families, unknowns)
    found, places = Incidence.with_positions(columns, rows, unknowns + 1, max(equations, 1))  # the last column is the dump
    count = int(found.indptr[unknowns])
    position = places.astype(np.int32)
    by_value, by_slope = np.zeros(count + 1, dtype=bool), np.zeros(count + 1, dtype=bool)
    by_slope[position[slopes]] = True
    by_value[position[~slopes]] = True
    ends = np.cumsum([a * b for a, b in shapes], dtype=np.int64)[:-1]
    positions = [p.reshape(s) for p, s in zip(np.split(position, ends), shapes, strict=True)] if shapes else []
    indptr, indices = found.indptr[: unknowns + 1].astype(np.int32), found.indices[:count]
    return Pattern(indptr, indices, positions, by_value[:count], by_slope[:count])


def _entries(families: list[Family], unknowns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """Column (one more for all that is known) and row of each derivative of each row, and whether it is by y'."""
    nothing = np.zeros(0, dtype=np.int32)
    columns, every, slopes, shapes = [nothing], [nothing], [np.zeros(0, dtype=bool)], []
    for family in families:
        outputs, slots = family.template.entry_places
        shapes.append((len(slots), family.count))
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
    return np.concatenate(columns), np.concatenate(every), np.concatenate(slopes), shapes


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
