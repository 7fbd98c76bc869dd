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
        position = self._positions()
        for block in self.blocks:
            rows, columns, level = block.rows, block.unknowns, 0
            while len(rows):
                entries = _submatrix(position, rows, columns)
                matrix = np.where(entries >= 0, values[entries], 0.0)
                chosen = _pivots(matrix * weight[columns], len(rows))
                order = np.concatenate([chosen, np.setdiff1d(np.arange(len(columns)), chosen)])
                choices.append(Choice(entries[:, order], len(rows)))
                columns = columns[chosen]
                dummy[self.derivatives.highest[columns] - level, columns] = True
                level += 1
                rows = rows[self.derivatives.differentiations[rows] > level]
                columns = columns[self.derivatives.highest[columns] > level]
        return Selection(self._states(dummy), choices)

    def _positions(self) -> dict[tuple[int, int], int]:
        return dict(
            zip(zip(self.entry_row.tolist(), self.entry_column.tolist(), strict=True), self.entry_position.tolist(), strict=True)
        )

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


def _submatrix(position: dict[tuple[int, int], int], rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.array([[position.get((int(r), int(c)), -1) for c in columns] for r in rows], dtype=np.int64).reshape(
        len(rows), len(columns)
    )


def _pivots(matrix: np.ndarray, count: int) -> np.ndarray:
    """`count` columns whose square block is as well conditioned as greedy pivoting makes it."""
    work = matrix / np.maximum(np.abs(matrix).max(axis=1, keepdims=True), np.finfo(float).tiny)
    if work.size > _DENSE_LIMIT:
        return _pivots_by_qr(work, count)
    chosen: list[int] = []
    for _ in range(count):
        norms = np.sqrt((work * work).sum(axis=0))
        norms[chosen] = -1.0
        best = int(np.argmax(norms >= norms.max() * (1 - 1e-9)))  # of equals the first
        chosen.append(best)
        direction = work[:, best] / max(norms[best], np.finfo(float).tiny)
        work = work - np.outer(direction, direction @ work)
    return np.array(chosen)


def _pivots_by_qr(work: np.ndarray, count: int) -> np.ndarray:
    from scipy.linalg import qr

    return np.asarray(qr(work, mode="r", pivoting=True)[1][:count])
