"""What the discrete cells of a plant are: found by bisection over the blocks of its discrete quantities."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..families.plant import Kind, Plant, Quantity, element_name, joined
from ..language.declarations import Declaration
from ..language.expression import Expression, Operation
from ..records import dataclass
from .rows import Meaning, Place


def meaning_of(declared: Declaration | Expression) -> Meaning:
    """What a declaration or a named expression has as values."""
    if isinstance(declared, Operation):
        return Meaning("boolean") if declared.operator.logical else Meaning()
    found: Any = declared
    return Meaning(getattr(found, "type", "real"), tuple(getattr(found, "states", ()) or ()))


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """The cells of one discrete quantity: `count` present values from `first`, then as many values before an event."""

    first: int
    count: int
    kind: Kind
    quantity: Quantity


@final
class PlantCells:
    """Names and meanings of known cells."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        blocks = [
            _Block(quantity.base, kind.count * quantity.size, kind, quantity)
            for kind in plant.kinds
            for quantity in kind.quantities.values()
            if quantity.role == "discrete" and quantity.size * kind.count
        ]
        self._blocks = sorted(blocks, key=lambda block: block.first)
        self._firsts = np.array([block.first for block in self._blocks], dtype=np.int64)

    def __reduce__(self) -> Any:
        return PlantCells, (self._plant,)

    def _block(self, cell: int) -> _Block | None:
        number = int(np.searchsorted(self._firsts, cell, side="right")) - 1
        block = self._blocks[number] if number >= 0 else None
        return block if block is not None and cell < block.first + 2 * block.count else None

    def place(self, cell: int, sign: int = 1) -> Place | None:
        """Where the values of a known cell are in a log; None when it is not a discrete one."""
        block = self._block(cell)
        if block is None:
            return None
        before = cell >= block.first + block.count
        return Place(cell - block.count, sign, 1) if before else Place(cell, sign)

    def name(self, cell: int) -> str:
        block = self._block(cell)
        if block is None or block.quantity.declaration.auxiliary or cell >= block.first + block.count:
            return ""
        instance, element = divmod(cell - block.first, block.quantity.size)
        return joined(self._plant.path_of(block.kind, instance), element_name(block.quantity.name, element, block.quantity.shape))

    def meaning(self, cell: int) -> Meaning:
        block = self._block(cell)
        return Meaning() if block is None else meaning_of(block.quantity.declaration)
