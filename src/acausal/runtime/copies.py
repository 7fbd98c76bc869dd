"""Several copies of one problem as one problem: each with numbers of its own, all with the same steps.

A copy is more rows of the same families. Cell i of the workspace is cell i·R + r in copy r of R: the rows of a family then follow
each other in memory, and its kernel works on all copies with vector instructions. The Jacobian falls apart into one block a copy,
which the sparse factorisation finds by itself. Steps are such that every copy meets its tolerance (norms are maximum norms).
"""

from __future__ import annotations

import numpy as np

from ..errors import Diagnostic
from ..families.plant import TIME
from ..families.template import Family
from .build import kernels
from .problem import Computed, Problem, Words


def copied(problem: Problem, count: int) -> Problem:
    """`count` copies of a problem without events, whose states stay the same. It is made once for each number of copies."""
    made: dict[int, Problem] = vars(problem.equations).setdefault("copies", {})
    if count not in made:
        made[count] = _Copying(problem, count).problem()
    return made[count]


def spread_out(problem: Problem, cells: np.ndarray, count: int) -> np.ndarray:
    """Where cells of a problem's workspace (~i: with a minus sign) are in that of its copies: (copy, cell)."""
    return np.asarray(_Copying(problem, count).cells(np.asarray(cells)).T)


class CopiedWords(Words):
    """Copies of an unknown or an equation are called what that is called."""

    def __init__(self, one: Words, count: int) -> None:
        self.one, self.count = one, count

    def unknown(self, number: int) -> str:
        return self.one.unknown(number // self.count)

    def equation(self, row: int) -> Diagnostic | None:
        return self.one.equation(row // self.count)


class _Copying:
    def __init__(self, problem: Problem, count: int) -> None:
        self.one, self.count, self.n = problem, count, problem.size
        self.copies = np.arange(count, dtype=np.int64)

    def cells(self, cells: np.ndarray) -> np.ndarray:
        """(cell, copy). Time is shared: that of the first copy is everybody's."""
        signed = cells.astype(np.int64)
        place = np.where(signed < 0, ~signed, signed)
        found = place[..., None] * self.count + np.where(place == 2 * self.n + TIME, 0, 1)[..., None] * self.copies
        return np.where((signed < 0)[..., None], ~found, found)

    def _numbers(self, numbers: np.ndarray) -> np.ndarray:
        return numbers.astype(np.int64)[..., None] * self.count + self.copies

    def _positions(self, positions: np.ndarray) -> np.ndarray:
        """Of entries in the value array [ pattern | cells of the chain rule | dump ]."""
        indptr, indices = self.one.pattern
        nnz, computed = len(indices), self.one.equations.computed
        start, length = np.repeat(indptr[:-1], np.diff(indptr)), np.repeat(np.diff(indptr), np.diff(indptr))
        p = positions.astype(np.int64)
        within = np.minimum(p, nnz - 1)
        first = start[within] * self.count + (within - start[within])
        found = np.where((p < nnz)[..., None], first[..., None] + length[within][..., None] * self.copies, self._numbers(p))
        return np.where((p == nnz + computed.cells)[..., None], (nnz + computed.cells) * self.count, found)

    def _family(self, family: Family) -> Family:
        return Family(family.template, _table(self.cells(family.slots)), family.signs, _table(self._numbers(family.rows)))

    def _pattern(self) -> tuple[np.ndarray, np.ndarray]:
        indptr, indices = self.one.pattern
        lengths = np.repeat(np.diff(indptr), self.count)
        found = np.zeros(len(indices) * self.count, dtype=np.int32)
        found[self._positions(np.arange(len(indices))).ravel()] = self._numbers(indices).ravel()
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), found

    def problem(self) -> Problem:
        one, lowered, count = self.one, self.one.lowered, self.count
        both = [*lowered.families, *lowered.assignments]
        positions = [_table(self._positions(p)) for p in lowered.pattern.positions]
        residuals, jacobians, code = kernels([self._family(f) for f in both], positions)
        equations, own = len(lowered.families), one.equations.computed
        products = _table(self._positions(own.products))
        found = Problem(
            size=self.n * count,
            known=np.repeat(one.known, count),
            time_index=2 * self.n * count + TIME * count,
            pattern=self._pattern(),
            residual_kernels=residuals[:equations],
            jacobian_kernels=jacobians,
            computed=Computed(own.count * count, tuple(residuals[equations:]), products, own.cells * count),
            words=CopiedWords(one.words, count),
            fresh_jacobians=one.fresh_jacobians,
            differential=np.repeat(one.differential, count),
            start=np.repeat(one.start, count),
            nominal=np.repeat(one.nominal, count),
            minimum=np.repeat(one.minimum, count),
            maximum=np.repeat(one.maximum, count),
            fixed=np.repeat(one.fixed, count),
        )
        found.code = code  # keeps the machine code in memory
        found.derived = np.repeat(one.error_test()[2], count)
        return found


def _table(found: np.ndarray) -> np.ndarray:
    """(line, row, copy) as a table of lines, copies of a row side by side."""
    return np.ascontiguousarray(found.reshape(found.shape[0], found.shape[1] * found.shape[2]).astype(np.int32))
