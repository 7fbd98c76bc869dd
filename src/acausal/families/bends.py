"""Bends: where a template has other slopes on the other side, without an event.

`no_event(max(y, 0))` is one expression with two slopes. Factors of a Jacobian from one side say nothing of the other, and where the
side that they are from is a thousand times as steep, what an iteration with them leaves looks as if it had converged. So the solver
must know on which side it is: the arguments of such relations, as families over the same rows as the equations that they stand in.
Tables and media know where they bend themselves (`sides` of `language/external.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..language.expression import Call, Constant, Expression, Operation, Slot, leaves, transform, walk
from ..language.operators import OPERATORS, RELATIONS
from .plant import LIVE
from .template import Family, Template

BENT = ("min", "max", "abs", *RELATIONS)
_BENT = frozenset(OPERATORS[name] for name in BENT)


def bends(families: list[Family], size: int) -> tuple[list[Family], int]:
    """Functions that change their signs at the bends of some families with `size` unknowns, and how many they are."""
    found, count = list[Family](), 0
    for family in families:
        arguments = _arguments(family.template.outputs, _live_slots(family, 2 * size + LIVE))
        if arguments:
            used = sorted({node.number for node in walk(*arguments) if isinstance(node, Slot)})
            arguments = tuple(transform(a, _renumbered({old: new for new, old in enumerate(used)})) for a in arguments)
            rows = count + np.arange(len(arguments) * family.count, dtype=np.int32).reshape(len(arguments), family.count)
            found.append(Family(Template.of(arguments), family.slots[used], tuple(family.signs[k] for k in used), rows))
            count += rows.size
    return found, count


def _live_slots(family: Family, cell: int) -> frozenset[int]:
    """Slots that hold the mark "live": what it stands before is frozen during a run."""
    return frozenset(np.flatnonzero((family.slots == cell).all(axis=1)).tolist()) if family.count else frozenset()


def _arguments(outputs: tuple[Expression, ...], live: frozenset[int]) -> tuple[Expression, ...]:
    """What changes its sign where an output bends, each once."""
    plain = _BENT.isdisjoint([node.operator for node in walk(*outputs) if isinstance(node, Operation)])
    if plain and not any(isinstance(node, Call) for node in leaves(*outputs)):
        return ()
    found, seen, stack = dict[Expression, None](), set[Expression](), list(outputs)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Call) and _moves(node.args):
            found.update(dict.fromkeys(node.function.sides(node.args)))
        if not isinstance(node, Operation):
            stack += node.args
            continue
        name = node.operator.name
        frozen = name == "where" and isinstance(node.args[0], Slot) and node.args[0].number in live
        stack += node.args[2:] if frozen else node.args
        if name in BENT:
            difference = node.args[0] if name == "abs" else node.args[0] - node.args[1]
            if not isinstance(difference, Constant):
                found[difference] = None
    return tuple(found)


def _moves(args: tuple[Expression, ...]) -> bool:
    """Whether an iteration changes the arguments of a function."""
    return any(isinstance(node, Slot) and node.kind != "known" for node in walk(*args))


def _renumbered(place: dict[int, int]) -> Callable[[Expression], Expression | None]:
    """Slots in the places that they have among those used; nobody needs derivatives of what is only looked at."""
    return lambda node: Slot(place[node.number], "known") if isinstance(node, Slot) else None
