"""All states that a plant as a whole can be in (WinDali 6.2): the product of what its components can be in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from ..errors import UsageError
from ..families.nets import StateTables
from ..families.plant import Plant
from ..language.states import StateDeclaration


def state_variables(plant: Plant, tables: StateTables | None) -> Iterator[tuple[str, int, StateDeclaration]]:
    """Every state variable: its name, its known cell, its declaration."""
    for cells, declaration in tables.cells() if tables is not None else ():
        for cell in cells:
            yield plant.name_of(int(cell), "known"), int(cell), declaration


def system_states(plant: Plant, tables: StateTables | None, known: np.ndarray, most: int) -> list[dict[str, str]]:
    """Each combination of what transitions and statements can change, with everything that follows from it."""
    if tables is None:
        return []
    changing = set(tables.changing.tolist())
    sizes = [len(d.states) for cells, d in tables.cells() for cell in cells.tolist() if cell in changing]
    count = prod(sizes)
    if count > most:
        raise UsageError(
            f"The plant can be in {_amount(count)} system states ({len(sizes)} state variables), more than the {most} asked for.",
            remedy="Look at a part of it: `ac.compile(component).system_states()`. `most=…` raises the limit.",
        )
    variables = list(state_variables(plant, tables))
    owned = [(cell, len(d.states)) for _, cell, d in variables if cell in changing]
    found, values = [], known.copy()
    for combination in product(*(range(n) for _, n in owned)):
        values[[cell for cell, _ in owned]] = combination
        tables.follow(values)
        found.append({name: declaration.states[int(values[cell])] for name, cell, declaration in variables})
    return found


def _amount(count: int) -> str:
    return str(count) if count < 10**15 else f"about 10^{len(str(count)) - 1}"
