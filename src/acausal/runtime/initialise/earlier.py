"""Values of an earlier result by name, for another run: another plant size, renamed or added parts do not matter.

Whole quantities are looked up at once (`pipes.m` and not `pipes[17].m`), and elements that both plants have are taken over; every
variable of an unknown is tried, so that it is enough if one of them has kept its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import ModelError, UsageError
from ...families.plant import joined
from ...families.system import System
from ...families.tree import Node
from ...language.units import quantity as quantity_of
from .types import Floats, Integers, Mask


def values_from(system: System, earlier: Any, at: float | None = None, what: str = "start_from") -> tuple[Floats, Mask]:
    """Per unknown of the system its value in `earlier` (a result, or a mapping of names to values), and where there is one.

    Of a result the last point is taken, or the one nearest to the time `at`, and names that are unknown here do not matter; those
    that somebody wrote down do.
    """
    values, found = np.zeros(system.size), np.zeros(system.size, bool)
    if isinstance(earlier, Mapping):
        for path, value in earlier.items():
            _take(system, *_named(system, path, value, what), values, found)
        return values, found
    look = _Look(earlier, at)
    for kind in system.plant.kinds:
        for quantity in kind.quantities.values():
            if quantity.declaration.is_known or (kind.index, quantity.name) in system.definitions:
                continue
            for member in kind.members:
                first = quantity.base + member.first * quantity.size
                _take(system, *look.up(member, quantity.name, quantity.shape, first), values, found)
    _take_derivatives(system, look, values, found)
    return values, found


def _take(system: System, numbers: Integers, value: Floats, values: Floats, found: Mask) -> None:
    aliases = system.aliases
    here = ~aliases.known[numbers] & np.isfinite(value)
    unknown, value = aliases.index[numbers[here]], aliases.sign[numbers[here]] * value[here]
    new = ~found[unknown]
    values[unknown[new]], found[unknown[new]] = value[new], True


def _take_derivatives(system: System, look: _Look, values: Floats, found: Mask) -> None:
    """Derivatives that index reduction made unknowns; their names are looked up one by one."""
    for unknown in range(len(system.aliases.representative), system.size):
        value = look.value(system.name_of_unknown(unknown))
        if value is not None and value.size == 1 and np.isfinite(value).all():
            values[unknown], found[unknown] = float(value.ravel()[0]), True


def _named(system: System, path: str, value: Any, what: str) -> tuple[Integers, Floats]:
    """Numbers of the variables that a path names in this system, and values for them."""
    located = system.plant.locate(path)
    quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
    if (
        quantity is None
        or quantity.declaration.is_known
        or located.order
        or (located.kind.index, located.name) in system.definitions
    ):
        raise UsageError(
            f"`{what}` gives `{path}`, which is not an unknown of the model and cannot be started from.",
            remedy="It is computed from others: give those a start value."
            if quantity is None or not quantity.declaration.is_known
            else "",
        )
    numbers = quantity.base + np.asarray(located.flat)
    try:
        number = quantity_of(value, quantity.declaration.unit) if isinstance(value, str) else value
        found = np.broadcast_to(np.asarray(number, dtype=float), numbers.shape).ravel()
    except UsageError as error:
        told, unit = f"`{what}` gives `{path}` the value {value!r}.", quantity.declaration.unit
        remedy = f"Give a number{' in ' + unit if unit else ''}, or a text with a unit that can be converted to it."
        raise UsageError(*(replace(d, what=f"{told} {d.what}", remedy=d.remedy or remedy) for d in error.diagnostics)) from None
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"`{what}` gives `{path}` the value {value!r}; it has the shape {numbers.shape}.") from None
    if not np.isfinite(found).all():
        raise UsageError(f"`{what}` gives `{path}` the value {value!r}, which is not finite.")
    return numbers.ravel(), found


class _Look:
    def __init__(self, earlier: Any, at: float | None) -> None:
        self.earlier = earlier
        self.point = len(earlier.time) - 1 if at is None else int(np.argmin(np.abs(earlier.time - at)))

    def value(self, path: str) -> Floats | None:
        try:
            return np.asarray(self.earlier[path][self.point], dtype=float)
        except (ModelError, IndexError):  # no such name, or not stored
            return None

    def up(self, member: Node, name: str, shape: tuple[int, ...], first: int) -> tuple[Integers, Floats]:
        """Numbers of the variables of one Python object (an element, or a whole array of them), and their values."""
        path, arrays = _path(member)
        whole = (*arrays, *shape)
        value = self.value(joined(path, name))
        if value is None or value.ndim != len(whole):
            return np.zeros(0, np.intp), np.zeros(0)
        both = tuple(slice(0, min(a, b)) for a, b in zip(whole, value.shape, strict=True))
        numbers = first + np.arange(int(np.prod(whole, dtype=int))).reshape(whole)
        return numbers[both].ravel(), value[both].ravel()


def _path(member: Node) -> tuple[str, tuple[int, ...]]:
    """The path without indices of arrays, and the shapes of all arrays on it."""
    parts: list[str] = []
    shapes: tuple[int, ...] = ()
    node: Node | None = member
    while node is not None and node.parent is not None:
        parts.append(node.name if node.position is None else f"{node.name}[{node.position}]")
        shapes = (*node.shape, *shapes)
        node = node.parent
    return ".".join(reversed(parts)), shapes
