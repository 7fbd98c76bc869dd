"""The translated system: families over a workspace, and everything needed to name, start and look at what it computes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Diagnostic
from ..records import dataclass
from .plant import Kind, Plant, element_name, joined
from .template import Family

if TYPE_CHECKING:
    from .aliases import Aliases
    from .coincidence import Coincidence
    from .definitions import Definition
    from .hoist import DerivedCells
    from .hybrid import Hybrid
    from .nets import StateTables
    from .reduction import Derivatives
    from .traced import Traced, TracedEquation


@dataclass(slots=True, eq=False)
class RowBlock:
    """Consecutive residual rows that one equation of one kind makes; `picked` are the (instance, element) rows that were kept."""

    start: int
    count: int
    kind: Kind | None
    equation: TracedEquation | None
    picked: np.ndarray | None = None
    nodes: np.ndarray | None = None  # for connection sums: one flow of each node, to name it; for streams, what enters
    mixes: bool = False  # whether it says what enters where streams meet


@dataclass(slots=True, eq=False)
class System:
    """`0 = F(t, y, y', known)` as families, with the meaning of every number."""

    plant: Plant
    traced: list[Traced]
    aliases: Aliases
    definitions: dict[tuple[int, str], Definition]
    families: list[Family]
    initial_families: list[Family]
    blocks: list[RowBlock]
    initial_blocks: list[RowBlock]
    size: int  # unknowns
    equation_count: int
    initial_count: int
    known_count: int
    differential: np.ndarray
    derivatives: Derivatives | None = None  # what index reduction added; None when the index was 1 from the start
    selected: np.ndarray | None = None  # (unknown, its derivative) pairs that were selected as states
    combined: dict[int, np.ndarray] = field(default_factory=dict)  # rows that were replaced by a combination, and of which rows
    dependent: bool = False  # combinations of equations prove that they do not determine their unknowns, whatever the numbers are
    coincidence: Coincidence | None = None  # rows that may do so with some values of parameters; None when none can
    frozen: tuple[np.ndarray, np.ndarray] | None = None  # parameters (cells, values) for whose values alone this system holds
    open_flows: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # flows with nothing connected
    hybrid: Hybrid | None = None  # events; None when nothing in the model makes one
    states: StateTables | None = None  # state variables and their nets; None when there are none
    derived: list[DerivedCells] = field(default_factory=list)  # known cells that follow parameters
    complaints: list[Diagnostic] = field(default_factory=list)  # classes whose own equations do not match their own unknowns

    @property
    def freedoms(self) -> int:
        """How many initial values can be chosen."""
        return int(self.differential.sum()) + (0 if self.derivatives is None else self.derivatives.state_count)

    def holds_for(self, known: np.ndarray) -> bool:
        """Whether the values of parameters are those that the system was made for."""
        return self.frozen is None or bool(np.array_equal(known[self.frozen[0]], self.frozen[1]))

    # --- names ----------------------------------------------------------------------------------------------------------
    def name_of_unknown(self, unknown: int) -> str:
        original = len(self.aliases.representative)
        if unknown < original:
            return self.plant.name_of(int(self.aliases.label[unknown]))
        assert self.derivatives is not None
        name = self.name_of_unknown(int(self.derivatives.of_unknown[unknown - original]))
        order = int(self.derivatives.order[unknown - original])
        return "der(" * order + name + ")" * order

    def block_of(self, row: int, initial: bool = False) -> RowBlock:
        """The equation that a residual row is one of."""
        blocks = self.initial_blocks if initial else self.blocks
        return blocks[bisect_right([b.start for b in blocks], row) - 1]

    def describe_equation(self, row: int, initial: bool = False) -> Diagnostic:
        """Component path, equation text and place of a residual row."""
        if self.derivatives is not None and not initial and row >= self.derivatives.original_rows:
            return self._describe_derivative(row)
        found = self._describe_row(row, initial)
        others = 0 if initial or row not in self.combined else len(self.combined[row]) - 1
        return replace(found, equation=f"{found.equation}   (combined with {others} more)") if others else found

    def _describe_row(self, row: int, initial: bool) -> Diagnostic:
        block = self.block_of(row, initial)
        local = row - block.start
        if block.equation is None or block.kind is None:
            assert block.nodes is not None
            flow = self.plant.name_of(int(block.nodes[local]))
            if block.mixes:
                return Diagnostic("", component=flow, equation=f"{flow} is the mixture of what leaves the others connected there")
            return Diagnostic("", component=flow, equation=f"the flows connected to {flow} sum to zero")
        if block.picked is not None:
            local = int(block.picked[local])
        size = int(np.prod(block.equation.shape))
        instance, element = divmod(local, size)
        path = self.plant.path_of(block.kind, instance)
        text = block.equation.text
        if size > 1:
            text += f"   (element {element_name('', element, block.equation.shape)})"
        component = joined(path, "").rstrip(".") or "the model"
        return Diagnostic("", component=f"{component} ({block.kind.name})", equation=text, location=block.equation.location)

    def describe_rule(self, role: str, row: int) -> Diagnostic:
        """Component path, text and place of one row of a rule about events."""
        assert self.hybrid is not None
        block = self.hybrid.parts[role].block(row)
        size = int(np.prod(block.rule.shape))
        instance, element = divmod(row - block.start, size)
        path = self.plant.path_of(block.kind, instance)
        text = block.rule.text + (f"   (element {element_name('', element, block.rule.shape)})" if size > 1 else "")
        return Diagnostic("", component=f"{path or 'the model'} ({block.kind.name})", equation=text, location=block.rule.location)

    def _describe_derivative(self, row: int) -> Diagnostic:
        """A row that index reduction added: the derivative of an equation, or a state's own."""
        assert self.derivatives is not None
        local = row - self.derivatives.original_rows
        if local < len(self.derivatives.row_of):
            of = self.describe_equation(int(self.derivatives.row_of[local]))
            times = {1: "", 2: " second"}.get(int(self.derivatives.row_order[local]), f" {self.derivatives.row_order[local]}th")
            return replace(of, equation=f"{of.equation}   (its{times} time derivative)")
        assert self.selected is not None
        name = self.name_of_unknown(int(self.selected[local - len(self.derivatives.row_of)][0]))
        return Diagnostic("", component=name, equation=f"{name} is a state")


def eliminated_mask(plant: Plant, definitions: dict[tuple[int, str], Definition]) -> np.ndarray:
    """Of the variables that their definition replaces."""
    mask = np.zeros(plant.variable_count, dtype=bool)
    for index, name in definitions:
        kind = plant.kinds[index]
        quantity = kind.quantities[name]
        mask[quantity.base : quantity.base + kind.count * quantity.size] = True
    return mask
