"""Which starts are taken, where structure alone chose badly.

Structure says that two node sums determine two currents; whether they do is a matter of numbers: `i1 + i2 + i3 = 0` and
`i2 + i3 = I` determine i1 and leave i2 and i3 open, however they are matched. So where blocks of the chosen conditions are singular
beside the point reached, their rows choose columns again: greedily by rank (see `conditions`), each only if it is independent of
those chosen before. Starts that occur in these rows can be exchanged for others that might be states. If a region's rows are too
few for that, the blocks that it waits for are taken in, until it works or everything has been looked at.

An unknown that was to be computed and is now taken stays at its start, where others may lose their coefficients: with x' taken at
zero, x·x' + y·y' = 0 says nothing about x. So what was chosen is looked at once more with these values.

Beside the point and not at it, since a matrix that is singular at one point only (x² + y² = 1 at y = 0) is Newton's business.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .conditions import Conditions, ranks
from .equations import Stack
from .ordering import BlockOrder, block_order, rows_by_columns
from .types import Floats, Integers, Mask

_DEPENDENT = 1e-9  # what is left of a scaled column beside those chosen before
_WITHOUT_LIMIT = 1e9, 1e6  # times the nominal value, or the start; the second where the first leads nowhere
_LARGEST = 3000  # rows of a region that is looked at densely


def by_numbers(stack: Stack, chosen: Conditions, order: BlockOrder, x: Floats, start: Floats) -> Conditions | None:
    """Conditions whose matrix is regular beside x, or None if there are none (or if those chosen are regular)."""
    seen: Floats | None = None
    for limit in _WITHOUT_LIMIT:
        point = _believed(stack, x, start, limit)
        if seen is not None and np.array_equal(point, seen):
            continue
        other = _by_numbers_at(stack, chosen, order, point, start)
        if other is not None:
            return other
        seen = point
    return None


def _by_numbers_at(stack: Stack, chosen: Conditions, order: BlockOrder, x: Floats, start: Floats) -> Conditions | None:
    matrix = _scaled(stack, _beside(stack, chosen, x))
    if not np.isfinite(matrix.data).all():
        return None
    region = _Region(stack, chosen, order, matrix)
    while 0 < region.size <= _LARGEST:
        columns = region.chosen()
        if columns is not None:
            other = _exchanged(chosen, region.own_columns(), columns, stack.size)
            if _regular(stack, other, x, start):
                return other
        if not region.grow():
            break
    return None


def _believed(stack: Stack, x: Floats, start: Floats, limit: float) -> Floats:
    """The point reached, but for what a singular matrix drove away without limit: beside that, everything else would look small.

    How far it drives is a matter of rounding, and rows of which all terms but some went far look dependent on each other.
    """
    nominal = np.tile(np.where(stack.problem.nominal > 0, stack.problem.nominal, 1.0), 2)
    return np.where(np.abs(x) > limit * np.maximum(nominal, np.abs(start)), start, x)


def _regular(stack: Stack, chosen: Conditions, x: Floats, start: Floats) -> bool:
    """Whether the rows determine the columns where everything that is taken has its start."""
    point = x.copy()
    point[chosen.taken] = start[chosen.taken]
    matrix = _scaled(stack, _beside(stack, chosen, point))
    part = matrix[chosen.rows][:, chosen.columns].tocsc()
    part.eliminate_zeros()
    order = block_order(rows_by_columns(part.indptr, part.indices, len(chosen.rows)))
    return order is not None and _Region(stack, chosen, order, matrix).size == 0


def _beside(stack: Stack, chosen: Conditions, x: Floats) -> Floats:
    nominal = np.tile(np.where(stack.problem.nominal > 0, stack.problem.nominal, 1.0), 2)[chosen.columns]
    moved = x.copy()
    moved[chosen.columns] += np.random.default_rng(20260317).uniform(0.1, 0.3, len(chosen.columns)) * nominal
    return moved


def _exchanged(chosen: Conditions, before: Integers, now: Integers, n: int) -> Conditions:
    columns = np.union1d(np.setdiff1d(chosen.columns, before), now)
    taken = np.union1d(np.setdiff1d(chosen.taken, now), np.setdiff1d(before, now))
    return replace(chosen, columns=columns, taken=taken[taken < n])


class _Region:
    """Rows whose columns are chosen anew: at first those of the blocks that are singular."""

    def __init__(self, stack: Stack, chosen: Conditions, order: BlockOrder, matrix: Any) -> None:
        self.stack, self.chosen_before, self.order = stack, chosen, order
        self.rank = ranks(stack.problem, chosen.mode)
        self.matrix = matrix
        self.block = np.repeat(np.arange(order.count), np.diff(order.offsets))
        self.row_of, self.column_of = chosen.rows[order.rows], chosen.columns[order.columns]
        self.blocks = self._singular()

    def _singular(self) -> Mask:
        """The blocks whose own matrix is singular."""
        order, sizes = self.order, np.diff(self.order.offsets)
        first = order.offsets[:-1]
        alone = np.asarray(self.matrix[self.row_of[first], self.column_of[first]]).reshape(-1)
        singular = (sizes == 1) & (np.abs(alone) <= _DEPENDENT)
        for block in np.flatnonzero(sizes > 1):
            singular[block] = self._is_singular(int(block))
        return singular

    def _is_singular(self, block: int) -> bool:
        place = slice(self.order.offsets[block], self.order.offsets[block + 1])
        rows, columns = self.row_of[place], self.column_of[place]
        if len(rows) > _LARGEST:
            return False
        part = self.matrix[rows][:, columns].toarray()
        return len(_independent(part, np.zeros(len(columns), dtype=np.int64))) < len(rows)

    @property
    def rows(self) -> Integers:
        return self.row_of[self.blocks[self.block]]

    @property
    def size(self) -> int:
        return len(self.rows)

    def own_columns(self) -> Integers:
        return self.column_of[self.blocks[self.block]]

    def _in_rows(self) -> Integers:
        return np.unique(self.matrix[self.rows].indices)

    def chosen(self) -> Integers | None:
        """As many independent columns as rows, those of low rank first; None if they are not to be had."""
        own, rows = self.own_columns(), self.rows
        held = np.intersect1d(self.chosen_before.taken, self._in_rows())
        columns = np.concatenate([own, held[self.rank[held] >= 0]])
        found = _independent(self.matrix[rows][:, columns].toarray(), self.rank[columns])
        released = np.setdiff1d(own, columns[found])
        if len(found) < len(rows) or (self.rank[released] < 1).any():
            return None
        return columns[found]

    def grow(self) -> bool:
        """Take in the blocks that compute what occurs in the region."""
        seen = np.isin(self.column_of, self._in_rows())
        before = int(self.blocks.sum())
        self.blocks[np.unique(self.block[seen])] = True
        return int(self.blocks.sum()) > before


def _scaled(stack: Stack, x: Floats) -> Any:
    """All rows by all columns, in units of the scales; no entry of a row is larger than one."""
    from scipy.sparse import csc_array

    incidence, problem = stack.incidence, stack.problem
    values = stack.derivatives(x)[incidence.source]
    nominal = np.tile(np.where(problem.nominal > 0, problem.nominal, 1.0), 2)
    column = np.repeat(np.arange(2 * stack.size), np.diff(incidence.indptr))
    size = values * np.maximum(nominal, np.abs(x))[column]
    largest = np.full(stack.rows, np.finfo(float).tiny)
    np.maximum.at(largest, incidence.rows, np.abs(size))
    return csc_array((size / largest[incidence.rows], incidence.rows, incidence.indptr), shape=(stack.rows, 2 * stack.size)).tocsr()


def _independent(matrix: Floats, rank: Integers) -> Integers:
    """Columns that are independent of each other, those of low rank first, within a rank the largest first."""
    sizes = np.sqrt((matrix * matrix).sum(axis=0))
    work = matrix / np.where(sizes > 0, sizes, 1.0)
    chosen: list[int] = []
    for group in np.unique(rank):
        open_ = np.flatnonzero(rank == group)
        while len(open_) and len(chosen) < len(matrix):
            norms = np.sqrt((work[:, open_] ** 2).sum(axis=0))
            best = int(np.argmax(norms))
            if norms[best] <= _DEPENDENT:
                break
            direction = work[:, open_[best]] / norms[best]
            chosen.append(int(open_[best]))
            open_ = np.delete(open_, best)
            work = work - np.outer(direction, direction @ work)
    return np.array(chosen, dtype=np.intp)
