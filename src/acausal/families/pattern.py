"""The sparsity pattern of dF/dy + c·dF/dy', and where in it each family's derivatives go.

The (row, column) pairs of all families, made unique once, are the pattern in compressed columns; each family keeps the positions of
its entries. Entries whose slot points at a known cell go to a dump cell behind the last one.
"""

from __future__ import annotations

import numpy as np

from ..records import dataclass
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


def jacobian_pattern(families: list[Family], equations: int, unknowns: int) -> Pattern:
    """Pattern and positions of all families."""
    keys, slopes, shapes = _entries(families, equations, unknowns)
    dump = unknowns * max(equations, 1)
    unique, inverse = sorted_unique(keys)
    count = len(unique) - (1 if len(unique) and unique[-1] == dump else 0)
    column = unique[:count] // max(equations, 1)
    indptr = np.zeros(unknowns + 1, dtype=np.int32)
    indptr[1:] = np.cumsum(np.bincount(column, minlength=unknowns))
    indices = (unique[:count] - column * equations).astype(np.int32)
    position = inverse.astype(np.int32)
    by_value, by_slope = np.zeros(count + 1, dtype=bool), np.zeros(count + 1, dtype=bool)
    by_slope[position[slopes]] = True
    by_value[position[~slopes]] = True
    ends = np.cumsum([a * b for a, b in shapes], dtype=np.int64)[:-1]
    positions = [p.reshape(s) for p, s in zip(np.split(position, ends), shapes, strict=True)] if shapes else []
    return Pattern(indptr, indices, positions, by_value[:count], by_slope[:count])


def _entries(families: list[Family], equations: int, unknowns: int) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """One key `column·equations + row` for each derivative of each row (the dump for knowns), and whether it is by y'."""
    keys, slopes, shapes = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=bool)], []
    dump = unknowns * max(equations, 1)
    for family in families:
        outputs, slots = family.template.entry_places
        shapes.append((len(slots), family.count))
        if not len(slots):
            continue
        index = family.slots[slots].astype(np.int64)
        if MIXED in family.signs:
            index = np.where(index < 0, ~index, index)
        slope = index >= unknowns
        column = np.where(slope, index - unknowns, index)
        keys.append(np.where(index < 2 * unknowns, column * equations + family.rows[outputs], dump).ravel())
        slopes.append(slope.ravel())
    return np.concatenate(keys), np.concatenate(slopes), shapes


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
