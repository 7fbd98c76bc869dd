"""Values of an earlier result by name, for another run: another plant size, renamed or added parts do not matter.

Whole quantities are looked up at once (`pipes.m` and not `pipes[17].m`), and elements that both plants have are taken over; every
variable of an unknown is tried, so that it is enough if one of them has kept its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any

import numpy as np

from ...arguments import unmasked
from ...errors import ModelError, UsageError
from ...families.numbers import MODIFIED
from ...families.plant import joined
from ...families.starts import Starts
from ...families.system import System
from ...families.tree import Node
from ...language.units import quantity as quantity_of
from ...records import dataclass
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
        found = np.broadcast_to(np.asarray(unmasked(number), dtype=float), numbers.shape).ravel()
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


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """Values to start from, per unknown of the system, and where there are any."""

    values: np.ndarray
    found: np.ndarray
    said: np.ndarray | None = field(default=None, kw_only=True)  # mask of those that the user wrote down as start values

    def complete(self, system: System) -> bool:
        """Whether all that might be a state has a value: then nothing else counts at the start."""
        needed = system.differential.copy()
        if system.derivatives is not None:
            needed[: len(system.derivatives.highest)] |= system.derivatives.highest > 0
        return bool(self.found[needed].all())

    def applied(self, starts: Starts) -> Starts:
        """The starts with these values in their place. Rounding may have carried them past a bound."""
        within = np.clip(self.values, starts.minimum, starts.maximum)
        if self.said is not None:
            within = np.where(self.said, self.values, within)  # these are refused, if anything, not moved
        start = np.where(self.found, within, starts.start)
        level = np.where(self.found, MODIFIED, starts.level)
        return replace(starts, start=start, given=starts.given | self.found, level=level)


def is_result(given: Any) -> bool:
    """Whether it is the result of a run, which has discrete values, too."""
    return hasattr(given, "history")


def earlier_values(system: System, start_from: Any) -> Earlier | None:
    """What `start_from` says: an earlier result, values by name, or nothing."""
    if start_from is None or isinstance(start_from, Earlier):
        return start_from
    if not (isinstance(start_from, Mapping) or np.ndim(getattr(start_from, "time", 0.0)) == 1):
        moment = hasattr(start_from, "time")  # `result.at("1 h")`: without states, and perhaps without all unknowns
        remedy = "A result is started from where it ends: simulate until that time, and start from that result."
        raise UsageError(
            f"`start_from` takes an earlier result or values by name, got {start_from!r}.", remedy=remedy if moment else ""
        )
    values, found = values_from(system, start_from)
    if not found.any():
        raise UsageError(
            "Nothing in `start_from` has a name that this model knows.", remedy="Start from a result of a similar model."
        )
    return Earlier(values, found)


def with_starts(system: System, kept: Mapping[str, Any], earlier: Earlier | None, given: Mapping[str, Any]) -> Earlier | None:
    """Start values by name: those of this run go before what an earlier result says, and that before those kept for all runs."""
    for said, first in ((kept, False), (given, True)):
        if not said:
            continue
        values, found = values_from(system, said, what="set")
        if earlier is None:
            earlier = Earlier(values, found, said=found)
            continue
        chosen = found if first else found & ~earlier.found
        before = np.zeros(len(found), dtype=bool) if earlier.said is None else earlier.said
        earlier = Earlier(np.where(chosen, values, earlier.values), found | earlier.found, said=chosen | before)
    return earlier


def whole_names(system: System, roles: tuple[str, ...]) -> Iterator[str]:
    """Names of whole quantities, of an array of components for all its elements together: `rooms.T`."""
    for kind in system.plant.kinds:
        for quantity in kind.quantities.values():
            hidden = quantity.declaration.auxiliary and not getattr(quantity.declaration, "carried", False)
            if quantity.role not in roles or hidden:
                continue
            for member in kind.members:
                steps = member._steps_from(system.plant.root) or []
                path = ".".join(n if p is None else f"{n}[{p}]" for n, p in steps)
                yield joined(path, quantity.name)


def discrete_values(system: System, old: Any) -> dict[str, Any]:
    """Values of discrete variables that both have, to be set; states by their names. What follows other states is left alone."""
    from ...program.evaluator import Evaluator

    found: dict[str, Any] = {}
    after = Evaluator.of_names(system)
    for name in whole_names(system, ("discrete",)):
        try:
            value, was, will = np.asarray(old[name][-1]), old.meaning(name), after.meaning(name)
        except ModelError:
            continue
        located = system.plant.locate(name)
        cells = located.kind.quantities[located.name].base + np.asarray(located.flat)
        follows = system.states is not None and bool(np.isin(cells, system.states.followers).any())
        if follows or value.shape != cells.shape or (was.type != will.type and will.type != "real"):
            continue
        if will.states != was.states:
            texts = np.vectorize(lambda v, was=was: was.text(float(v)), otypes=[str])(value)
            if not np.isin(texts, will.states).all():
                continue
            value = np.array(texts)
        found[name] = str(value) if value.dtype.kind == "U" and value.ndim == 0 else value
    return found
