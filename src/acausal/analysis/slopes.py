"""Derivatives of families by every cell of a workspace. Where they stand is found once; at each point only values are computed.

Of small systems they are plain arrays: nothing there is sparse enough to be worth a sparse matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from ..families.explicit import unfolded
from ..families.template import Family
from ..kernels import compile_kernels
from ..runtime.build import addresses
from ..runtime.problem import JacobianKernel, Problem, RowDerivatives
from .partials import by_known

SMALL = 40_000  # entries of a matrix that is not worth being sparse


class Slopes:
    """One row for each row of the families, one column for each cell; of `count` workspaces one behind the other, in blocks."""

    def __init__(self, families: Sequence[Family], shape: tuple[int, int], count: int = 1) -> None:
        self.shape = shape[0] * count, shape[1] * count
        some = [f for each in families for f in (each, by_known(each)) if f.template.jacobian]
        self.kernels: list[RowDerivatives] = []
        rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        blocks = np.arange(count, dtype=np.int64)
        for family, kernel in zip(some, compile_kernels([(f.template, f.signs) for f in some]), strict=True):
            by = [slot for _, slot, _ in family.template.jacobian]
            slots = _repeated(family.slots, blocks * shape[1])
            code = JacobianKernel(kernel.jacobian_address, slots, slots[:0], addresses(family), by)
            self.kernels.append(RowDerivatives(code))
            for output, slot, _ in family.template.jacobian:
                rows.append(_repeated(family.rows[[output]], blocks * shape[0])[0])
                columns.append(_repeated(unfolded(family, slot)[None], blocks * shape[1])[0])
        self.rows, self.columns = np.concatenate(rows).astype(np.int64), np.concatenate(columns).astype(np.int64)
        self.small = self.shape[0] * self.shape[1] <= SMALL
        self.flat = self.rows * self.shape[1] + self.columns

    def at(self, w: np.ndarray) -> Any:
        """The matrix at a workspace."""
        values = np.concatenate([np.zeros(0), *(kernel(w).ravel() for kernel in self.kernels)])
        if self.small:
            return np.bincount(self.flat, values, self.shape[0] * self.shape[1]).reshape(self.shape)
        return csr_array(coo_array((values, (self.rows, self.columns)), shape=self.shape))


def _repeated(table: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """A table of places (~i: with a minus sign) once for each shift, one behind the other."""
    moved = np.where(table[:, None, :] < 0, table[:, None, :] - shifts[:, None], table[:, None, :] + shifts[:, None])
    return np.ascontiguousarray(moved.reshape(len(table), -1).astype(np.int32))


def slopes_of(problem: Problem, role: str, width: int) -> Slopes:
    """Of a problem's residuals, of its computed cells, or of rules (see `families/hybrid.py`); found once for each problem."""
    kept: dict[str, Slopes] = vars(problem).setdefault("slopes", {})
    if role not in kept:
        lowered = problem.lowered
        if role == "residuals":
            kept[role] = Slopes(lowered.families, (problem.size, width))
        elif role == "computed":
            kept[role] = Slopes(lowered.assignments, (lowered.computed, width))
        else:
            part = lowered.system.hybrid.parts[role]  # type: ignore[union-attr]
            kept[role] = Slopes(lowered.moved(part.families), (part.count, width))
    return kept[role]
