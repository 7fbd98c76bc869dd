"""State selection: which derivatives of a reduced system are dummies, by pivoting on numbers (Mattsson and Söderlind 1993).

Let G be the matrix of the last derivatives of all differentiated rows by the highest derivatives of the unknowns. As many columns
as rows are chosen such that their square block is well conditioned: the highest derivatives of these unknowns are dummies. Among
them, for the rows differentiated at least twice, columns are chosen again for the next lower derivatives, and so on. What is not a
dummy has a state below it. G falls apart into independent blocks (one for each mechanism of a plant); those of one size are dealt
with together, as one array.

When a chosen block degrades, another choice is better: with A = [M | N], M the chosen columns, an entry of M⁻¹N larger than 1 is
the factor by which exchanging two columns enlarges the determinant. Columns are measured in nominal values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..language.expression import Slot, walk
from ..records import dataclass
from ..structure.unions import components
from .pattern import Pattern
from .reduction import Derivatives
from .system import System
from .template import MINUS, MIXED, PLUS, Family

_DENSE_LIMIT = 4_000_000  # entries of a block that is factorised densely
_ALWAYS = 1e-6  # preference of what is to be a state always …
_LAST = 1e-12  # … and its eagerness to become a dummy
_NO_STATE = 1e9  # eagerness to become a dummy of what cannot be a state …
_REGULAR = 1e-8  # … unless that would leave a singular block


@dataclass(slots=True, eq=False)
class Choice:
    """Columns chosen at one level: G's entries in the rows and columns of this level, as coordinates."""

    rows: np.ndarray  # original rows, one for each row of M
    chosen: np.ndarray  # original unknowns, one for each column of M
    others: np.ndarray  # original unknowns of the columns of N
    entry_row: np.ndarray  # of each entry, its place in `rows` …
    entry_column: np.ndarray  # … and in `chosen` followed by `others`
    position: np.ndarray  # among G's entries

    def only(self, keep: np.ndarray) -> Choice:
        """Some of the rows, which with their columns must be whole blocks."""
        row_of = np.cumsum(keep) - 1
        entry = keep[self.entry_row]
        columns = np.zeros(len(self.chosen) + len(self.others), dtype=bool)
        columns[self.entry_column[entry]] = True
        column_of = np.cumsum(columns) - 1
        m = len(self.chosen)
        return Choice(
            self.rows[keep], self.chosen[columns[:m]], self.others[columns[m:]], row_of[self.entry_row[entry]],
            column_of[self.entry_column[entry]], self.position[entry],
        )  # fmt: skip


@dataclass(slots=True, eq=False)
class Selection:
    """The pairs (unknown, derivative) selected as states, and the choices behind them."""

    states: np.ndarray
    choices: list[Choice]


class Selector:
    """Selects states of one reduced system, as often as asked. `pattern` is that of the system without state rows."""

    def __init__(self, system: System, pattern: Pattern, preference: np.ndarray) -> None:
        assert system.derivatives is not None
        self.system, self.preference = system, preference
        self.derivatives: Derivatives = system.derivatives
        self.entry_row, self.entry_column, self.taken = self._entries(pattern)
        self.families, self.pattern = self._matrix(pattern)
        self.entry_position = np.arange(len(self.taken))
        n = len(self.derivatives.highest)
        label = components(n + len(self.derivatives.differentiations), self.entry_column, n + self.entry_row)
        self.column_label, self.row_label = label[:n], label[n:]
        self.no_state = np.zeros(system.size, dtype=bool)  # unknowns that are computed from others, whatever the states are
        self.constant = self._constant_entries()

    def _entries(self, pattern: Pattern) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Original row, original unknown and position in the pattern of every entry of G."""
        d = self.derivatives
        row_of = np.full(self.system.equation_count, -1, dtype=np.int64)
        raised = np.flatnonzero(d.differentiations > 0)
        row_of[d.top_row[raised]] = raised
        column_of = np.full(self.system.size, -1, dtype=np.int64)
        taking_part = np.flatnonzero(d.highest > 0)
        column_of[d.number[d.highest[taking_part], taking_part]] = taking_part
        column = np.repeat(np.arange(self.system.size), np.diff(pattern.indptr))
        rows, columns = row_of[pattern.indices], column_of[column]
        keep = np.flatnonzero((rows >= 0) & (columns >= 0))
        return rows[keep], columns[keep], keep

    def _matrix(self, pattern: Pattern) -> tuple[list[Family], Pattern]:
        """The families that have entries in G, and G's own pattern."""
        place = np.full(pattern.size + 1, len(self.taken), dtype=np.int32)  # the dump, for what is not in G
        place[self.taken] = np.arange(len(self.taken))
        families, positions = [], []
        for family, own in zip(self.system.families, pattern.positions, strict=True):
            moved = place[np.minimum(own, pattern.size)]
            if (moved < len(self.taken)).any():
                families.append(family)
                positions.append(np.ascontiguousarray(moved))
        column = np.repeat(np.arange(self.system.size), np.diff(pattern.indptr))[self.taken]
        indptr = np.zeros(self.system.size + 1, dtype=np.int32)
        indptr[1:] = np.cumsum(np.bincount(column, minlength=self.system.size))
        by_value, by_slope = pattern.by_value[self.taken], pattern.by_slope[self.taken]
        return families, Pattern(indptr, pattern.indices[self.taken], positions, by_value, by_slope)

    def select(self, values: np.ndarray, scale: np.ndarray, limit: float = np.inf) -> Selection:
        """Choose by the values of G; `scale` is the nominal value of each original unknown.

        Preferences count as long as exchanging two columns would not enlarge the determinant of a block beyond `limit`.
        """
        dummy = np.zeros_like(self.derivatives.number, dtype=bool)
        choices: list[Choice] = []
        rows, columns, level = np.unique(self.entry_row), np.unique(self.entry_column), 0
        while len(rows):
            choice = self._choose(rows, columns, level, values, scale, limit)
            choices.append(choice)
            highest = self.derivatives.highest[choice.chosen]
            dummy[highest - level, choice.chosen] = True
            level += 1
            rows = rows[self.derivatives.differentiations[rows] > level]
            columns = np.sort(choice.chosen[highest > level])
        return Selection(self._states(dummy), choices)

    def _choose(
        self, rows: np.ndarray, columns: np.ndarray, level: int, values: np.ndarray, scale: np.ndarray, limit: float
    ) -> Choice:
        row_at, column_at = np.full(len(self.row_label), -1), np.full(len(self.column_label), -1)
        row_at[rows], column_at[columns] = np.arange(len(rows)), np.arange(len(columns))
        here = np.flatnonzero((row_at[self.entry_row] >= 0) & (column_at[self.entry_column] >= 0))
        r, c = row_at[self.entry_row[here]], column_at[self.entry_column[here]]
        below = self.derivatives.number[self.derivatives.highest[columns] - level - 1, columns]
        wishes = np.where(self.preference[columns] > _ALWAYS, self.preference[columns], _LAST)
        wishes, needs = (np.where(self.no_state[below], _NO_STATE, eager) for eager in (wishes, 1.0))
        chosen, poor = np.zeros(len(columns), dtype=bool), []
        for blocks in _alike(self.row_label[rows], self.column_label[columns]):
            matrix = blocks.matrices(r, c, values[here] * scale[columns[c]])
            picked = _pivots(matrix, wishes[blocks.columns])
            chosen[np.take_along_axis(blocks.columns, picked, axis=1)] = True
            poor.append((blocks, matrix, _growth(matrix, picked) > limit))
        choice = _choice(rows, columns, chosen, r, c, self.entry_position[here])
        if not any(worse.any() for _, _, worse in poor):
            return choice
        open_rows = np.isin(rows, self.changing(choice).rows)
        for blocks, matrix, worse in poor:  # a wish that leads here would hold states where they hardly determine the rest
            again = worse & open_rows[blocks.rows[:, 0]]
            if again.any():
                mine = blocks.columns[again]
                chosen[mine] = False
                chosen[np.take_along_axis(mine, _pivots(matrix[again], needs[mine]), axis=1)] = True
        return _choice(rows, columns, chosen, r, c, self.entry_position[here])

    def _states(self, dummy: np.ndarray) -> np.ndarray:
        """Below every derivative that is not a dummy there is a state."""
        number, pairs = self.derivatives.number, []
        for k in range(1, len(number)):
            keep = (number[k] >= 0) & ~dummy[k]
            pairs.append(np.stack([number[k - 1][keep], number[k][keep]], axis=1))
        return np.concatenate(pairs)

    def changing(self, choice: Choice) -> Choice:
        """What of a choice may degrade in a run: blocks with a choice, in which numbers vary.

        Where the chosen columns are constant and all others are to be states always, nothing can ever be better.
        """
        m = len(choice.rows)
        label = self.row_label[choice.rows]
        varying, inside = ~self.constant[choice.position], choice.entry_column < m
        open_to = np.zeros(len(choice.others), dtype=bool)
        open_to[self.preference[choice.others] > _ALWAYS] = True
        with_others, with_open, varies, inner = (np.zeros(int(label.max(initial=0)) + 1, dtype=bool) for _ in range(4))
        with_others[self.column_label[choice.others]] = True
        with_open[self.column_label[choice.others[open_to]]] = True
        varies[label[choice.entry_row[varying]]] = True
        inner[label[choice.entry_row[varying & inside]]] = True
        watched = with_others & varies & (with_open | inner)
        return choice.only(watched[label])

    def _constant_entries(self) -> np.ndarray:
        """Mask over G's entries: those that only parameters can change, so that no run needs to watch them."""
        varying = np.zeros(self.pattern.size + 1, dtype=bool)
        for family, positions in zip(self.families, self.pattern.positions, strict=True):
            for k, (_, _, partial) in enumerate(family.template.jacobian):
                if _varies(family, partial, self.system.size):
                    varying[positions[k]] = True
        return ~varying[:-1]


def _varies(family: Family, partial: object, size: int) -> bool:
    slots = [n.number for n in walk(partial) if isinstance(n, Slot)]  # type: ignore[arg-type]
    for number in slots:
        index = family.slots[number]
        if family.signs[number] == MIXED:
            index = np.where(index < 0, ~index, index)
        assert family.signs[number] in (PLUS, MINUS, MIXED)
        if (index < 2 * size + 1).any():  # an unknown, a derivative, or time
            return True
    return False


def _choice(
    rows: np.ndarray, columns: np.ndarray, chosen: np.ndarray, r: np.ndarray, c: np.ndarray, position: np.ndarray
) -> Choice:
    """From a mask over the columns, and entries at rows `r` and columns `c`."""
    place = np.empty(len(columns), dtype=np.int64)
    place[np.concatenate([np.flatnonzero(chosen), np.flatnonzero(~chosen)])] = np.arange(len(columns))
    return Choice(rows, columns[chosen], columns[~chosen], r, place[c], position)


@dataclass(slots=True, eq=False)
class _Blocks:
    """Blocks of one size: the rows and columns of each."""

    rows: np.ndarray  # (block, row)
    columns: np.ndarray  # (block, column)
    row_place: np.ndarray  # of every row of G, its block and its place in it; -1 where it is in none of these
    column_place: np.ndarray

    def matrices(self, r: np.ndarray, c: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Dense blocks of a sparse matrix given by its coordinates."""
        here = self.row_place[r, 0] >= 0
        block, row, column = self.row_place[r[here], 0], self.row_place[r[here], 1], self.column_place[c[here], 1]
        found = np.zeros((len(self.rows), self.rows.shape[1], self.columns.shape[1]))
        found[block, row, column] = values[here]
        return found


def _alike(row_label: np.ndarray, column_label: np.ndarray) -> list[_Blocks]:
    """Rows and columns with the same label belong together; those of equal size in one array."""
    labels, row_block, row_count = np.unique(row_label, return_inverse=True, return_counts=True)
    column_block = np.searchsorted(labels, column_label)
    inside = (column_block < len(labels)) & (labels[np.minimum(column_block, len(labels) - 1)] == column_label)
    column_count = np.bincount(column_block[inside], minlength=len(labels))
    found = []
    for size in sorted(set(zip(row_count.tolist(), column_count.tolist(), strict=True))):
        mine = np.flatnonzero((row_count == size[0]) & (column_count == size[1]))
        number = np.full(len(labels) + 1, -1)
        number[mine] = np.arange(len(mine))
        rows, row_place = _members(number[row_block], size[0], len(mine))
        columns, column_place = _members(np.where(inside, number[np.minimum(column_block, len(labels))], -1), size[1], len(mine))
        found.append(_Blocks(rows, columns, row_place, column_place))
    return found


def _members(block: np.ndarray, size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(block, place) → member, and member → (block, place); `size` members in each of `count` blocks."""
    members = np.flatnonzero(block >= 0)
    order = members[np.argsort(block[members], kind="stable")]
    place = np.full((len(block), 2), -1)
    place[order, 0] = np.repeat(np.arange(count), size)
    place[order, 1] = np.tile(np.arange(size), count)
    return order.reshape(count, size), place


def _pivots(matrices: np.ndarray, eager: np.ndarray) -> np.ndarray:
    """For each (row, column) matrix as many columns as rows, whose square block is as well conditioned as greedy pivoting makes it.

    A column counts for as much more as it is `eager`.
    """
    largest = np.abs(matrices).max(axis=2, keepdims=True, initial=0.0)
    work = matrices / np.maximum(largest, np.finfo(float).tiny)
    blocks, count, _ = work.shape
    if work[0].size > _DENSE_LIMIT:
        return np.stack([_pivots_by_qr(one * weight, count) for one, weight in zip(work, eager, strict=True)])
    chosen = np.zeros((blocks, count), dtype=np.int64)
    every = np.arange(blocks)
    taken = np.zeros(eager.shape, dtype=bool)
    for k in range(count):
        norms = np.sqrt((work * work).sum(axis=1))
        worth = np.where(norms > _REGULAR, norms * eager, norms * np.minimum(eager, 1.0))
        worth[taken] = -1.0
        best = np.argmax(worth >= worth.max(axis=1, keepdims=True) * (1 - 1e-9), axis=1)  # of equals the first
        chosen[:, k], taken[every, best] = best, True
        direction = work[every, :, best] / np.maximum(norms[every, best], np.finfo(float).tiny)[:, None]
        work = work - direction[:, :, None] * (direction[:, None, :] @ work)
    return chosen


def _growth(matrices: np.ndarray, picked: np.ndarray) -> np.ndarray:
    """For each matrix, by which factor exchanging two columns would enlarge the determinant of the chosen block at most."""
    order = np.argsort(~np.any(picked[:, :, None] == np.arange(matrices.shape[2]), axis=1), axis=1, kind="stable")
    ordered, m = np.take_along_axis(matrices, order[:, None, :], axis=2), matrices.shape[1]
    if ordered.shape[2] == m:
        return np.zeros(len(matrices))
    try:
        factors = np.linalg.solve(ordered[:, :, :m], ordered[:, :, m:])
    except np.linalg.LinAlgError:
        factors = np.linalg.pinv(ordered[:, :, :m]) @ ordered[:, :, m:]
    return np.asarray(np.abs(factors).max(axis=(1, 2)))


def _pivots_by_qr(work: np.ndarray, count: int) -> np.ndarray:
    from scipy.linalg import qr

    return np.asarray(qr(work, mode="r", pivoting=True)[1][:count])


def merged(choices: list[Choice]) -> Choice:
    """All levels as one matrix: they share no rows or columns."""
    rows, chosen, others = 0, 0, 0
    total = sum(len(c.chosen) for c in choices)
    parts = []
    for c in choices:
        m = len(c.chosen)
        column = np.where(c.entry_column < m, c.entry_column + chosen, c.entry_column - m + total + others)
        parts.append(replace(c, entry_row=c.entry_row + rows, entry_column=column))
        rows, chosen, others = rows + len(c.rows), chosen + m, others + len(c.others)
    joined = [np.concatenate([np.zeros(0, dtype=np.int64), *(getattr(p, name) for p in parts)]) for name in Choice.__slots__]
    return Choice(*joined)
