"""The structure of an initial system: which columns are computed, and in which order. Integers only.

This is the one module of the package that calls the structural algorithms.

Order. The blocks of the block triangular form are solved one after the other, but not all of them wait for each other. The *level*
of a block is the length of the longest chain of blocks it waits for: the blocks of one level do not see each other.
"""

from __future__ import annotations

import numpy as np

from ...records import dataclass
from ...structure import Incidence, Matching, block_form, conflict, decompose, match
from .types import Integers, Mask


def rows_by_columns(indptr: Integers, rows: Integers, height: int) -> Incidence:
    """An incidence from compressed columns."""
    columns = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
    return Incidence.from_pairs(rows, columns, height, len(indptr) - 1)


def choose(incidence: Incidence, rank: Integers, required: Mask, in_turn: bool = False) -> Matching:
    """Match rows with columns of low rank first; columns of negative rank are known and take no part.

    If not all rows can be matched, `required` ones are preferred: the model's equations before initial equations. `in_turn`: of
    the others, those that are stated first.
    """
    allowed = incidence.keep(rank[incidence.indices] >= 0)
    ranks = np.maximum(rank, 0)
    found = match(allowed, last=ranks)
    everything = bool((found.unknown_of_equation >= 0).all())
    if everything or (not in_turn and (found.unknown_of_equation[required] >= 0).all()):
        return found
    first = match(allowed.keep(required[allowed.owners]), last=ranks)
    if not in_turn:
        return match(allowed, last=ranks, start=first)
    return _in_turn(allowed, ranks, first, required, np.flatnonzero(~required))


def _in_turn(allowed: Incidence, ranks: Integers, found: Matching, taken: Mask, rows: Integers) -> Matching:
    """A matching with as many of `rows` as there is room for, the first ones first. What is matched stays so."""
    before = int((found.unknown_of_equation >= 0).sum())
    counts = taken.copy()
    counts[rows] = True
    more = match(allowed.keep(counts[allowed.owners]), last=ranks, start=found)
    added = int((more.unknown_of_equation >= 0).sum()) - before
    if added in (0, len(rows)):
        return more if added else found
    half = len(rows) // 2
    found = _in_turn(allowed, ranks, found, taken, rows[:half])
    return _in_turn(allowed, ranks, found, taken | (found.unknown_of_equation >= 0), rows[half:])


def reached_columns(incidence: Incidence, rank: Integers, matching: Matching, rows: Mask) -> Mask:
    """The columns that these rows could compute instead, one matched row giving its column to the next."""
    allowed = incidence.keep(rank[incidence.indices] >= 0)
    seen, front = np.zeros(len(rank), dtype=bool), np.flatnonzero(rows)
    while len(front):
        columns = np.unique(_neighbours(allowed.indptr, allowed.indices, front))
        columns = columns[~seen[columns]]
        seen[columns] = True
        users = matching.equation_of_unknown[columns]
        front = users[users >= 0]
    return seen


def conflicting_rows(incidence: Incidence, rank: Integers, matching: Matching, row: int) -> Integers:
    """The smallest set of rows, with `row`, that has too few columns to compute."""
    return np.asarray(conflict(incidence.keep(rank[incidence.indices] >= 0), matching, row).equations)


def rivals(incidence: Incidence, rank: Integers, matching: Matching, rows: Mask) -> Mask:
    """The rows that compete with any of these for a column, one matched row giving way to the next."""
    users = incidence.keep(rank[incidence.indices] >= 0).transpose()
    seen, front = rows.copy(), np.flatnonzero(rows)
    while len(front):
        columns = matching.unknown_of_equation[front]
        front = np.unique(_neighbours(users.indptr, users.indices, columns[columns >= 0]))
        front = front[~seen[front]]
        seen[front] = True
    return seen


def undetermined(incidence: Incidence) -> tuple[Mask, Mask]:
    """Masks of the rows that are too many and of the columns that are too many, for a system that cannot be matched."""
    parts = decompose(incidence)
    return parts.over.equations, parts.under.unknowns


@dataclass(frozen=True, slots=True)
class BlockOrder:
    """Rows and columns in the order of solution. Block b is [offsets[b], offsets[b+1]) of both; level l is the blocks
    [levels[l], levels[l+1]). `used_by` (compressed) says which blocks need block b."""

    rows: Integers
    columns: Integers
    offsets: Integers
    levels: Integers
    used_by: tuple[Integers, Integers]

    @property
    def count(self) -> int:
        return len(self.offsets) - 1

    def after(self, blocks: Integers) -> Mask:
        """The blocks that wait for any of these."""
        seen = np.zeros(self.count, bool)
        front = blocks
        while len(front):
            front = np.unique(_neighbours(*self.used_by, front))
            front = front[~seen[front]]
            seen[front] = True
        return seen


def block_order(incidence: Incidence) -> BlockOrder | None:
    """Blocks sorted by level, or None if the system is structurally singular. O(entries), and a few numpy calls for each level."""
    matching = match(incidence)
    if matching.size < incidence.n_equations:
        return None
    form = block_form(incidence, matching)
    block_of = form.block_of_equation(incidence.n_equations)
    user, source = block_of[incidence.owners], block_of[matching.equation_of_unknown[incidence.indices]]
    edges = np.unique(np.stack([source, user])[:, source != user], axis=1)
    level = _levels(form.count, edges[0], edges[1])
    order = np.argsort(level, kind="stable")
    number = np.empty(form.count, np.intp)
    number[order] = np.arange(form.count)
    place = np.argsort(number[np.repeat(np.arange(form.count), form.sizes)], kind="stable")
    return BlockOrder(
        rows=form.equations[place],
        columns=form.unknowns[place],
        offsets=np.concatenate([[0], np.cumsum(form.sizes[order])]),
        levels=np.concatenate([[0], np.cumsum(np.bincount(level))]),
        used_by=_compressed(form.count, number[edges[0]], number[edges[1]]),
    )


def _levels(count: int, source: Integers, user: Integers) -> Integers:
    indptr, users = _compressed(count, source, user)
    waiting = np.bincount(user, minlength=count)
    level = np.zeros(count, np.intp)
    front, number = np.flatnonzero(waiting == 0), 0
    while len(front):
        level[front] = number
        freed, times = np.unique(_neighbours(indptr, users, front), return_counts=True)
        waiting[freed] -= times
        front, number = freed[waiting[freed] == 0], number + 1
    return level


def _compressed(count: int, source: Integers, user: Integers) -> tuple[Integers, Integers]:
    order = np.argsort(source, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(source, minlength=count))]), user[order]


def _neighbours(indptr: Integers, indices: Integers, nodes: Integers) -> Integers:
    counts = indptr[nodes + 1] - indptr[nodes]
    entry = np.arange(counts.sum()) + np.repeat(indptr[nodes] - (np.cumsum(counts) - counts), counts)
    return np.asarray(indices[entry])
