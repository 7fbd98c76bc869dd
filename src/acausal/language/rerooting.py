"""Expressions of one component said of another: `self.room.heat`, where `heat` is an expression that the room made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .expression import Expression, Reference, Shape, Sum, as_expression, rebuild, take, walk

if TYPE_CHECKING:
    from .component import Component, View


def rerooted(expression: Expression, root: Component, seen_from: Component | View) -> Expression:
    """An expression over quantities below `root`, over the same quantities below another component or elements of an array.

    Seen from an array every quantity gets the array's axes in front of its own.
    """
    from .component import View

    outer = seen_from._shape if isinstance(seen_from, View) else ()
    done: dict[Expression, Expression] = {}
    for node in walk(expression):
        if isinstance(node, Reference):
            done[node] = _rerooted_leaf(node, root, seen_from, outer)
        elif isinstance(node, Sum):
            inner = done[node.args[0]]
            shift = len(inner.shape) - len(node.args[0].shape)
            done[node] = Sum(inner, tuple(shift + k for k in node.axes))
        else:
            done[node] = rebuild(node, tuple(_aligned(done[a], a.shape, node.ndim, outer) for a in node.args))
    return done[expression]


def of_elements(value: Any, view: View) -> Any:
    """What elements of an array hold in a list or a dictionary, as an attribute of its own would be seen."""
    if isinstance(value, Expression):
        return rerooted(value, view._element, view)
    if type(value) not in (list, tuple, dict):
        return value
    names = value if type(value) is dict else range(len(value))
    seen = {name: of_elements(value[name], view) for name in names}
    if all(part is value[name] for name, part in seen.items()):
        return value  # it holds no expressions
    return seen if type(value) is dict else type(value)(seen.values())


def _rerooted_leaf(node: Reference, root: Component, seen_from: Component | View, outer: Shape) -> Expression:
    steps = node.owner._steps_from(root)
    if steps is None:
        return node  # of a component around, which gave it to all of them: nobody's own
    target: Any = seen_from
    for attribute, position in steps:
        target = getattr(target, attribute)
        target = target if position is None else target[position]
    for part in node.name.split("."):
        target = getattr(target, part)
    target = as_expression(target)
    if node.order:
        target = Reference(target.root, target.owner, target.name, target.shape, target.picked, node.order)
    if node.picked is None:
        return target
    count = int(np.prod(outer))
    block = target.size // max(count, 1)
    return take(target, np.arange(count).reshape(outer + (1,) * node.picked.ndim) * block + node.picked)


def _aligned(node: Expression, own: Shape, wanted: int, outer: Shape) -> Expression:
    """Axes of length one between those of the array and a quantity's own, so that the own ones broadcast as they did."""
    if node.shape != outer + own or len(own) == wanted:
        return node
    return take(node, np.arange(node.size).reshape(outer + (1,) * (wanted - len(own)) + own))
