"""Bends: where a template has other slopes on the other side, without an event.

`no_event(max(y, 0))` is one expression with two slopes. Factors of a Jacobian from one side say nothing of the other, and where the
side that they are from is a thousand times as steep, what an iteration with them leaves looks as if it had converged. So the solver
must know on which side it is: the arguments of such relations, as families over the same rows as the equations that they stand in.
Tables and media know where they bend themselves (`sides` of `language/external.py`).

`ac.smooth_step` is made of such an expression, too, and levels off before it ends: that is no bend. What several families ask for
is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..language.expression import Call, Constant, Expression, Operation, Slot, leaves, transform, walk
from ..language.operators import OPERATORS, RELATIONS
from .differentiate import gradient
from .plant import LIVE
from .template import Family, Template

BENT = ("min", "max", "abs", *RELATIONS)
_ROUNDING = 1e-12
_BENT = frozenset(OPERATORS[name] for name in BENT)


def bends(families: list[Family], size: int) -> tuple[list[Family], int]:
    """Functions that change their signs at the bends of some families with `size` unknowns, and how many they are."""
    found, count, seen = list[Family](), 0, _Seen()
    for family in families:
        arguments = _arguments(family.template.outputs, _live_slots(family, 2 * size + LIVE))
        arguments = tuple(a for a in arguments if not seen.covers(a, family))
        if arguments:
            arguments, used = _in_own_slots(*arguments)
            rows = count + np.arange(len(arguments) * family.count, dtype=np.int32).reshape(len(arguments), family.count)
            found.append(Family(Template.of(arguments), family.slots[used], tuple(family.signs[k] for k in used), rows))
            count += rows.size
    return found, count


class _Seen:
    """Arguments and the places where they are computed already."""

    def __init__(self) -> None:
        self.places: dict[tuple[Expression, tuple[int, ...]], np.ndarray] = {}

    def covers(self, argument: Expression, family: Family) -> bool:
        """Whether all places of a family were there before; they are from now on."""
        (own,), used = _in_own_slots(argument)
        key, places = (own, tuple(family.signs[k] for k in used)), _as_one(family.slots[used])
        before = self.places.get(key)
        if before is not None and (np.array_equal(places, before) or _all_among(places, before)):
            return True
        self.places[key] = places if before is None else np.concatenate([before, places])
        return False


def _as_one(slots: np.ndarray) -> np.ndarray:
    """Each place (a column) as one thing that is compared whole; one or two indices are a number, which is sorted far faster."""
    one: Any = {1: np.int32, 2: np.int64}.get(len(slots), np.dtype((np.void, slots.itemsize * len(slots))))
    return np.ascontiguousarray(slots.T).view(one).ravel()


def _all_among(places: np.ndarray, before: np.ndarray) -> bool:
    """Whether all places are among some others. Of single indices, which lie close together, a table tells; others are sorted."""
    if places.dtype == np.int32 and len(places):
        low, high = int(before.min()), int(before.max())
        if high - low < 64 * (len(places) + len(before)):
            return low <= int(places.min()) and int(places.max()) <= high and bool(np.isin(places, before, kind="table").all())
    return bool(np.isin(places, before).all())


def _in_own_slots(*arguments: Expression) -> tuple[tuple[Expression, ...], list[int]]:
    """Arguments over as many slots as they need, numbered as they are met, and which those were."""
    used = list(dict.fromkeys(node.number for node in walk(*arguments) if isinstance(node, Slot)))
    place = {old: new for new, old in enumerate(used)}
    return tuple(transform(a, _renumbered(place)) for a in arguments), used


def _live_slots(family: Family, cell: int) -> frozenset[int]:
    """Slots that hold the mark "live": what it stands before is frozen during a run."""
    return frozenset(np.flatnonzero((family.slots == cell).all(axis=1)).tolist()) if family.count else frozenset()


def _arguments(outputs: tuple[Expression, ...], live: frozenset[int]) -> tuple[Expression, ...]:
    """What changes its sign where an output bends, each once."""
    plain = _BENT.isdisjoint([node.operator for node in walk(*outputs) if isinstance(node, Operation)])
    if plain and not any(isinstance(node, Call) for node in leaves(*outputs)):
        return ()
    found, seen, stack, order = dict[Expression, None](), set[Expression](), list(outputs), list(walk(*outputs))
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
            if not isinstance(difference, Constant) and not _levels_off(node, order, outputs):
                found[difference] = None
    return tuple(found)


def _levels_off(node: Expression, order: list[Expression], outputs: tuple[Expression, ...]) -> bool:
    """Whether a number ends what varies, and nothing changes with it any more when it comes there."""
    ends = [a for a in node.args if isinstance(a, Constant)]
    if not ends or node.operator.name not in ("min", "max"):
        return False
    alone, read = {node}, {node}.intersection(outputs)  # functions of the node alone, and those that something else reads
    for user in order:
        own = [a for a in user.args if a in alone]
        if own and isinstance(user, Operation) and all(a in alone or isinstance(a, Constant) for a in user.args):
            alone.add(user)
            read |= {user}.intersection(outputs)
        else:
            read.update(own)
    return all(_is_flat(function, node, ends[0]) for function in read)


def _is_flat(function: Expression, node: Expression, end: Constant) -> bool:
    slot = Slot(0, "known")
    slope = gradient(transform(function, lambda n: slot if n is node else None), [slot]).get(slot, Constant(0.0))
    there = transform(slope, lambda n: end if n is slot else None)
    return isinstance(there, Constant) and abs(there.value) <= _ROUNDING


def _moves(args: tuple[Expression, ...]) -> bool:
    """Whether an iteration changes the arguments of a function."""
    return any(isinstance(node, Slot) and node.kind != "known" for node in walk(*args))


def _renumbered(place: dict[int, int]) -> Callable[[Expression], Expression | None]:
    """Slots in the places that they have among those used; nobody needs derivatives of what is only looked at."""
    return lambda node: Slot(place[node.number], "known") if isinstance(node, Slot) else None
