"""How a model is solved: which row determines which unknown, which are solved together, and what stands in a row.

Numbers are those of the system, before explicit variables were taken out of what solvers see: each of those is a block of one
row by construction, so the other blocks are the same as those of the problem that is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..families.explicit import unfolded
from ..families.pattern import Pattern, jacobian_pattern
from ..families.plant import FIRST_PARAMETER, TIME
from ..families.system import System, eliminated_mask
from ..language.expression import Slot, walk
from ..structure.blocks import BlockForm, block_form
from ..structure.incidence import Incidence


@dataclass(frozen=True, slots=True)
class Contents:
    """What a row contains: unknowns, unknowns whose derivative it contains, known cells."""

    values: tuple[int, ...]
    slopes: tuple[int, ...]
    known: tuple[int, ...]


class Solution:
    """The order of solution of a compiled model, with its states as they are selected now."""

    def __init__(self, model: Any) -> None:
        self.problem = model.problem
        self.system: System = model.problem.lowered.system

    @cached_property
    def pattern(self) -> Pattern:
        system = self.system
        return jacobian_pattern(system.families, system.equation_count, system.size)

    @cached_property
    def column(self) -> np.ndarray:
        """Of every entry of the pattern."""
        return np.repeat(np.arange(self.system.size), np.diff(self.pattern.indptr))

    @cached_property
    def form(self) -> BlockForm:
        """Blocks that give the derivatives of the states and the other unknowns, with the states known."""
        active = np.where(self.system.differential[self.column], self.pattern.by_slope, self.pattern.by_value)
        rows, columns = self.pattern.indices[active], self.column[active]
        return block_form(Incidence.from_pairs(rows, columns, self.system.equation_count, self.system.size))

    @cached_property
    def row_of(self) -> np.ndarray:
        """For each unknown, the row that determines it (or its derivative)."""
        found = np.full(self.system.size, -1, dtype=np.int64)
        found[self.form.unknowns] = self.form.equations
        return found

    def determining_row(self, unknown: int) -> int:
        """The row that determines an unknown; of a selected state, the one that determines its derivative."""
        row, added = int(self.row_of[unknown]), self.system.derivatives
        if added is not None and row >= added.original_rows + len(added.row_of):
            return int(self.row_of[self.derivative_of(unknown)])
        return row

    @cached_property
    def unknown_of(self) -> np.ndarray:
        found = np.full(self.system.equation_count, -1, dtype=np.int64)
        found[self.form.equations] = self.form.unknowns
        return found

    @cached_property
    def block_of(self) -> np.ndarray:
        """Of every row."""
        return self.form.block_of_equation(self.system.equation_count)

    @cached_property
    def explicit(self) -> np.ndarray:
        """Mask of the unknowns that are assigned instead of solved for."""
        found = np.zeros(self.system.size, dtype=bool)
        found[self.problem.lowered.explicit.unknown] = True
        return found

    # --- what stands where ------------------------------------------------------------------------------------------------
    def rows_with(self, unknown: int, slope: bool) -> np.ndarray:
        """Rows that contain an unknown, or its derivative."""
        place = slice(self.pattern.indptr[unknown], self.pattern.indptr[unknown + 1])
        return self.pattern.indices[place][(self.pattern.by_slope if slope else self.pattern.by_value)[place]]

    def derivative_of(self, unknown: int) -> int:
        """The unknown that is the derivative of another, -1 if none is."""
        added = self.system.derivatives
        return -1 if added is None else int(added.as_unknown(self.system.size)[unknown])

    def rows_with_cell(self, cell: int) -> np.ndarray:
        """Rows that contain a known cell: a parameter, an input, time; or what is derived from it."""
        reading = [d.reading(self.system.plant, cell) for d in self.system.derived]
        wanted, found = 2 * self.system.size + np.concatenate([[cell], *reading]), [np.zeros(0, dtype=np.int64)]
        for family in self.system.families:
            for slot in range(len(family.slots)):
                here = np.isin(unfolded(family, slot), wanted)
                if here.any():
                    found.append(family.rows[:, here].ravel())
        return np.unique(np.concatenate(found))

    def contents(self, row: int) -> Contents:
        """Everything that stands in a row."""
        cells: set[int] = set()
        for family in self.system.families:
            for output, column in np.argwhere(family.rows == row):
                used = {n.number for n in walk(family.template.outputs[int(output)]) if isinstance(n, Slot)}
                cells.update(int(unfolded(family, k)[column]) for k in used)
        n = self.system.size
        cells.update(2 * n + c for cell in list(cells) for c in self._parameters_behind(cell - 2 * n))
        return Contents(
            tuple(sorted(c for c in cells if c < n)),
            tuple(sorted(c - n for c in cells if n <= c < 2 * n)),
            tuple(sorted(c - 2 * n for c in cells if c >= 2 * n)),
        )

    def _parameters_behind(self, cell: int) -> list[int]:
        """What a derived cell is computed from."""
        if cell < self.system.plant.known_count:
            return []
        for derived in self.system.derived:
            instance = derived.instance_with(cell)
            if instance >= 0:
                return derived.parameters(self.system.plant, instance)
        return []

    def known_name(self, cell: int) -> str:
        """The name of a known cell; empty for a number that stands in an equation."""
        plant = self.system.plant
        if cell == TIME:
            return "time"
        return plant.name_of(cell, "known") if FIRST_PARAMETER <= cell < plant.known_count else ""

    def name(self, unknown: int, slope: bool = False) -> str:
        name = self.system.name_of_unknown(unknown)
        return f"der({name})" if slope else name

    def members(self, unknown: int) -> np.ndarray:
        """Numbers of the declared variables that an unknown stands for."""
        order, index = self._by_unknown
        return order[np.searchsorted(index, unknown) : np.searchsorted(index, unknown, side="right")]

    @cached_property
    def _by_unknown(self) -> tuple[np.ndarray, np.ndarray]:
        aliases = self.system.aliases
        living = np.flatnonzero(~aliases.known & ~eliminated_mask(self.system.plant, self.system.definitions))
        order = living[np.argsort(aliases.index[living], kind="stable")]
        return order, aliases.index[order]

    def determined_name(self, unknown: int) -> str:
        """What a block solves for: the derivative of a state, otherwise the unknown itself."""
        return self.name(unknown, bool(self.system.differential[unknown]))

    # --- nonlinearity -----------------------------------------------------------------------------------------------------
    @cached_property
    def nonlinear_blocks(self) -> np.ndarray:
        """Mask of the blocks in which some row is not linear in the unknowns that the block solves for."""
        found = np.zeros(self.form.count, dtype=bool)
        found[self.block_of[self.row_of[self.nonlinear_unknowns]]] = True
        return found

    @cached_property
    def nonlinear_unknowns(self) -> np.ndarray:
        """Mask of the unknowns in which the block that solves for them is not linear: those whose start value matters."""
        found, n = np.zeros(self.system.size, dtype=bool), self.system.size
        active = self._active_block()
        for family in self.system.families:
            for output, slot, partial in family.template.jacobian:
                here, outer = self.block_of[family.rows[output]], unfolded(family, slot)
                for other in {k.number for k in walk(partial) if isinstance(k, Slot)}:
                    inner = unfolded(family, other)
                    both = (active[outer] == here) & (active[inner] == here)
                    found[outer[both] % n] = found[inner[both] % n] = True
        return found

    def _active_block(self) -> np.ndarray:
        """For each cell of the workspace the block that solves for it; -2 where none does."""
        n = self.system.size
        found = np.full(2 * n + self.system.known_count, -2, dtype=np.int64)
        block, states = self.block_of[self.row_of], self.system.differential
        found[np.flatnonzero(~states)] = block[~states]
        found[n + np.flatnonzero(states)] = block[states]
        return found
