"""State selection: which derivatives of a reduced system are dummies, by pivoting on numbers (Mattsson and Söderlind 1993).

Let G be the matrix of the last derivatives of all differentiated rows by the highest derivatives of the unknowns. As many columns
as rows are chosen such that their square block is well conditioned: the highest derivatives of these unknowns are dummies. Among
them, for the rows differentiated at least twice, columns are chosen again for the next lower derivatives, and so on. What is not a
dummy has a state below it. G falls apart into independent blocks (one for each mechanism of a plant), each small.

When a chosen block degrades, another choice is better: with A = [M | N], M the chosen columns, an entry of M⁻¹N larger than 1 is
the factor by which exchanging two columns enlarges the determinant. `Watch` holds what the solver needs to notice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..language.expression import Slot, walk
from ..structure.unions import components
from .pattern import Pattern
from .reduction import Derivatives
from .system import System
from .template import MINUS, MIXED, PLUS, Family

_DENSE_LIMIT = 4_000_000  # entries of a block that is factorised densely


@dataclass(slots=True, eq=False)
class Block:
    """An independent part of G: original rows and original unknowns."""

    rows: np.ndarray
    unknowns: np.ndarray


@dataclass(slots=True, eq=False)
class _Alike:
    """Blocks of one shape: (block, row), (block, unknown), and positions of entries (block, row, unknown); -1: there is none."""

    rows: np.ndarray
    unknowns: np.ndarray
    entries: np.ndarray

    def part(self, k: int) -> _Alike:
        return _Alike(self.rows[k : k + 1], self.unknowns[k : k + 1], self.entries[k : k + 1])


@dataclass(slots=True, eq=False)
class Choice:
    """Columns chosen for a block at one level: `entries` of G as (row, column) positions, chosen columns first."""

    entries: np.ndarray  # (rows, columns) positions in the pattern's values, -1 where there is none
    count: int  # chosen columns


@dataclass(slots=True, eq=False)
class Selection:
    """The pairs (unknown, derivative) selected as states, and the choices behind them."""

    states: np.ndarray
    choices: list[Choice]


class Selector:
    """Selects states of one reduced system, as often as asked. `pattern` is that of the system without state rows."""

    def __init__(self, system: System, pattern: Pattern, preference: np.ndarray) -> None:
        assert system.derivatives is not None
        self.system, self.pattern, self.preference = system, pattern, preference
        self.derivatives: Derivatives = system.derivatives
        self.entry_row, self.entry_column, self.entry_position = self._entries()
        self.blocks = self._blocks()

    def _entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Original row, original unknown and position of every entry of G."""
        d = self.derivatives
        row_of = np.full(self.system.equation_count, -1, dtype=np.int64)
        raised = np.flatnonzero(d.differentiations > 0)
        row_of[d.top_row[raised]] = raised
        column_of = np.full(self.system.size, -1, dtype=np.int64)
        taking_part = np.flatnonzero(d.highest > 0)
        column_of[d.number[d.highest[taking_part], taking_part]] = taking_part
        column = np.repeat(np.arange(self.system.size), np.diff(self.pattern.indptr))
        rows, columns = row_of[self.pattern.indices], column_of[column]
        keep = np.flatnonzero((rows >= 0) & (columns >= 0))
        return rows[keep], columns[keep], keep

    def _blocks(self) -> list[Block]:
        n = len(self.derivatives.highest)
        label = components(n + len(self.derivatives.differentiations), self.entry_column, n + self.entry_row)
        rows = np.unique(self.entry_row)
        by_label: dict[int, tuple[list[int], list[int]]] = {}
        for row in rows:
            by_label.setdefault(int(label[n + row]), ([], []))[0].append(int(row))
        for column in np.unique(self.entry_column):
            by_label[int(label[column])][1].append(int(column))
        return [Block(np.array(r), np.array(c)) for r, c in by_label.values()]

    def select(self, values: np.ndarray, scale: np.ndarray, wishes: bool = True) -> Selection:
        """Choose by the values of the Jacobian (in the pattern's order); `scale` is the nominal value of each original unknown.

        `wishes`: whether preferences count.
        """
        weight = scale[: len(self.preference)] * (self.preference if wishes else 1.0)
        dummy = np.zeros_like(self.derivatives.number, dtype=bool)
        choices: list[Choice] = []
        padded = np.append(values, 0.0)  # where there is no entry
        for alike in self._alike:
            choices += self._select_alike(alike, padded, weight, dummy)
        return Selection(self._states(dummy), choices)

    def _select_alike(self, alike: _Alike, values: np.ndarray, weight: np.ndarray, dummy: np.ndarray) -> list[Choice]:
        """Choose for all blocks of one shape at once; a plant of a thousand pendulums has a thousand of them."""
        d, entries, columns, level = self.derivatives, alike.entries, alike.unknowns, 0
        rows, found = alike.rows, list[Choice]()
        block = np.arange(len(entries))[:, None]
        while rows.shape[1]:
            count = rows.shape[1]
            chosen = _pivots(values[entries] * weight[columns][:, None, :], count)
            rest = np.ones(columns.shape, dtype=bool)
            rest[block, chosen] = False
            order = np.concatenate([chosen, np.nonzero(rest)[1].reshape(len(entries), -1)], axis=1)
            found += [Choice(e, count) for e in np.take_along_axis(entries, order[:, None, :], axis=2)]
            columns = np.take_along_axis(columns, chosen, axis=1)
            dummy[d.highest[columns] - level, columns] = True
            level += 1
            again = d.differentiations[rows[0]] > level
            entries = np.take_along_axis(entries, chosen[:, None, :], axis=2)[:, again]
            rows = rows[:, again]
            keep = d.highest[columns] > level
            if len(entries) > 1 and not (keep == keep[0]).all():
                break
            entries, columns = entries[:, :, keep[0]], columns[:, keep[0]]
        else:
            return found
        parts = [alike.part(k) for k in range(len(alike.entries))]  # blocks that go different ways from here
        return [choice for one in parts for choice in self._select_alike(one, values, weight, dummy)]

    @cached_property
    def _alike(self) -> list[_Alike]:
        """Blocks of one shape together, with the positions of their entries."""
        d = self.derivatives
        columns = len(d.highest)
        keys = self.entry_row * columns + self.entry_column
        order = np.argsort(keys)
        groups: dict[tuple[Any, ...], list[Block]] = {}
        for block in self.blocks:
            groups.setdefault((tuple(d.differentiations[block.rows]), len(block.unknowns)), []).append(block)
        found = []
        for blocks in groups.values():
            rows, unknowns = np.stack([b.rows for b in blocks]), np.stack([b.unknowns for b in blocks])
            wanted = rows[:, :, None] * columns + unknowns[:, None, :]
            place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
            there = keys[order[place]] == wanted
            found.append(_Alike(rows, unknowns, np.where(there, self.entry_position[order[place]], -1)))
        return found

    def _states(self, dummy: np.ndarray) -> np.ndarray:
        """Below every derivative that is not a dummy there is a state."""
        number, pairs = self.derivatives.number, []
        for k in range(1, len(number)):
            keep = (number[k] >= 0) & ~dummy[k]
            pairs.append(np.stack([number[k - 1][keep], number[k][keep]], axis=1))
        return np.concatenate(pairs)

    def constant_entries(self) -> np.ndarray:
        """Mask over the pattern: entries that only parameters can change, so that no run needs to watch them."""
        varying = np.zeros(self.pattern.size + 1, dtype=bool)
        for family, positions in zip(self.system.families, self.pattern.positions, strict=True):
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


def _pivots(matrices: np.ndarray, count: int) -> np.ndarray:
    """For each matrix `count` columns whose square block is as well conditioned as greedy pivoting makes it."""
    work = matrices / np.maximum(np.abs(matrices).max(axis=2, keepdims=True), np.finfo(float).tiny)
    if work[0].size > _DENSE_LIMIT:
        return np.stack([_pivots_by_qr(one, count) for one in work])
    chosen = np.zeros((len(work), count), dtype=np.int64)
    block = np.arange(len(work))
    for k in range(count):
        norms = np.sqrt((work * work).sum(axis=1))
        norms[block[:, None], chosen[:, :k]] = -1.0
        best = np.argmax(norms >= norms.max(axis=1, keepdims=True) * (1 - 1e-9), axis=1)  # of equals the first
        chosen[:, k] = best
        direction = work[block, :, best] / np.maximum(norms[block, best], np.finfo(float).tiny)[:, None]
        work = work - direction[:, :, None] * np.einsum("br,brc->bc", direction, work)[:, None, :]
    return chosen


def _pivots_by_qr(work: np.ndarray, count: int) -> np.ndarray:
    from scipy.linalg import qr

    return np.asarray(qr(work, mode="r", pivoting=True)[1][:count])
