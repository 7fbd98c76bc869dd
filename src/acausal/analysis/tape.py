"""How residuals move with some known cells, as a native tape: kernels for the rows that are reached, then products in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..families.explicit import unfolded
from ..families.template import Family
from ..kernels import compile_kernels
from ..runtime.build import addresses
from ..runtime.problem import Problem, core
from .partials import by_known


class TapeBuilder:
    """Follows known cells through explicit variables to the residuals; integers only."""

    def __init__(self, problem: Problem, cells: np.ndarray) -> None:
        self.problem, self.cells = problem, cells
        size = 2 * problem.size + len(problem.known)
        self.number = np.full(size, -1, dtype=np.int64)  # of each active cell of the workspace
        self.number[2 * problem.size + cells] = np.arange(len(cells))
        self.count, self.values = len(cells), 0
        self.pieces: list[tuple[Any, Family, np.ndarray, np.ndarray]] = []
        self.steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def native(self) -> tuple[Any, list[Any]]:
        """The tape, and the code that it needs to stay in memory."""
        lowered, none = self.problem.lowered, np.zeros(0, dtype=np.int64)
        first = 2 * lowered.size + lowered.system.known_count
        for family in lowered.assignments:
            self._take(family, first)
        rows = np.unique(np.concatenate([none, *(self._reached(f) for f in lowered.families)]))
        place = np.full(lowered.size, -1, dtype=np.int64)
        place[rows] = self.count + np.arange(len(rows))
        self.count += len(rows)
        for family in lowered.families:
            self._take(family, -1, place)
        target, position, source = (
            np.ascontiguousarray(np.concatenate([none, *(s[k] for s in self.steps)]), dtype=np.int32) for k in range(3)
        )
        tape = core.Tape(
            self.problem.native, target, position, source, rows.astype(np.int32), len(self.cells), self.count, self.values
        )
        for kernel, family, slots, positions in self.pieces:
            tape.add(kernel.jacobian_address, slots, positions, addresses(family))
        return tape, [kernel for kernel, *_ in self.pieces]

    def _reached(self, family: Family) -> np.ndarray:
        found = [np.zeros(0, dtype=np.int64)]
        for form in (family, by_known(family)):
            for output, slot, _ in form.template.jacobian:
                active = self.number[unfolded(form, slot)] >= 0
                found.append(form.rows[output][active].astype(np.int64))
        return np.concatenate(found)

    def _take(self, family: Family, first: int, place: np.ndarray | None = None) -> None:
        """Kernels for the rows of a family that read an active cell. Computed cells that they reach become active."""
        for form in (family, by_known(family)):
            entries = form.template.jacobian
            if not entries:
                continue
            sources = np.array([self.number[unfolded(form, slot)] for _, slot, _ in entries])
            chosen = np.flatnonzero((sources >= 0).any(axis=0))
            if not len(chosen):
                continue
            positions = self.values + np.arange(len(entries) * len(chosen)).reshape(len(entries), len(chosen))
            self.values += positions.size
            for e, (output, _, _) in enumerate(entries):
                active = sources[e, chosen] >= 0
                rows = form.rows[output][chosen[active]]
                target = self._computed(first + rows) if place is None else place[rows]
                self.steps.append((target, positions[e, active], sources[e, chosen[active]]))
            kernel = compile_kernels([(form.template, form.signs)])[0]
            slots = np.ascontiguousarray(form.slots[:, chosen], dtype=np.int32)
            self.pieces.append((kernel, form, slots, np.ascontiguousarray(positions, dtype=np.int32)))

    def _computed(self, cells: np.ndarray) -> np.ndarray:
        new = np.unique(cells[self.number[cells] < 0])
        self.number[new] = self.count + np.arange(len(new))
        self.count += len(new)
        return np.asarray(self.number[cells])
