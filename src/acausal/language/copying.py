"""Copies of components, in which what was said of the original is said of the copy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .declarations import Modification
from .expression import Expression, Reference, transform

if TYPE_CHECKING:
    from .component import Component

COPYING = "a component is being copied"  # in the memory of `copy.deepcopy`


def copy_of(component: Component, memo: dict[Any, Any] | None = None) -> Component:
    """A copy with everything below it, in which expressions that `__init__` made speak of the copy."""
    copies: dict[Any, Any] = {} if memo is None else memo
    above = component._ac_parent
    if above is not None and id(above) not in copies:
        copies[id(above)] = None
    copies[COPYING] = True
    new = copy.deepcopy(component, copies)
    copies[COPYING] = False
    if new._ac_parent is None:
        object.__setattr__(new, "_ac_name", "")
        object.__setattr__(new, "_ac_position", None)
    speak_of_copies(copies)
    return new


def speak_of_copies(copies: dict[Any, Any]) -> None:
    """Let the expressions that copied components hold or were given speak of copies, where there are any."""

    def moved(node: Expression) -> Expression | None:
        if not isinstance(node, Reference):
            return None
        root, owner = copies.get(id(node.root), node.root), copies.get(id(node.owner), node.owner)
        return Reference(root, owner, node.name, node.shape, node.picked, node.order)

    from .component import Component

    for part in [p for p in copies.values() if isinstance(p, Component)]:
        for name, value in part.__dict__.items():
            part.__dict__[name] = _transformed(value, moved)
        for name, said in part._ac_modifications.items():
            if any(isinstance(v, Expression) for v in said.values()):
                kept = {a: transform(v, moved) if isinstance(v, Expression) else v for a, v in said.items()}
                part._ac_modifications[name] = Modification(kept)


def _transformed(value: Any, leaf: Callable[[Expression], Expression | None], seen: frozenset[int] = frozenset()) -> Any:
    """An expression, or lists and dictionaries of them nested in each other, with other leaves."""
    if isinstance(value, Expression):
        return transform(value, leaf)
    if type(value) not in (list, tuple, dict) or id(value) in seen:
        return value
    seen |= {id(value)}
    if type(value) is dict:
        value.update({k: _transformed(v, leaf, seen) for k, v in value.items()})
        return value
    parts = [_transformed(v, leaf, seen) for v in value]
    if type(value) is tuple:
        return tuple(parts)
    value[:] = parts
    return value
