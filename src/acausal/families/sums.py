"""Sums over arrays, without templates that grow with the array.

A residual may be *accumulated*: each summand is a row of its own family that adds to the equation's residual. So a sum that
stands additively in an equation (alone, or with a factor) becomes such terms; a short one is written out; any other gets an
auxiliary unknown that equals it, and is then additive in that unknown's equation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..language.expression import Constant, Expression, Operation, Shape, Sum, leaves, take, transform, walk

_SHORT = 4  # at most so many summands are written out in the template

NewUnknown = Callable[[Sum], Expression]


def split_sums(residual: Expression, shape: Shape, new_unknown: NewUnknown) -> tuple[Expression, list[Expression]]:
    """The residual without sums, and the terms whose trailing axes are to be summed."""
    if not any(isinstance(n, Sum) for n in leaves(residual)):
        return residual, []
    residual = transform(residual, written_out)
    plain: list[tuple[int, Expression]] = []
    terms: list[Expression] = []
    for sign, part in _addends(residual, 1):
        pushed = _pushed_inside(part, shape)
        if pushed is None:
            plain.append((sign, transform(part, lambda n: new_unknown(n) if isinstance(n, Sum) else None)))
        else:
            terms.append(pushed if sign > 0 else -pushed)
    total: Expression = Constant(0.0)
    for sign, part in plain:
        total = total + part if sign > 0 else total - part
    return total, [transform(t, lambda n: new_unknown(n) if isinstance(n, Sum) else None) for t in terms]


def written_out(node: Expression) -> Expression | None:
    if not isinstance(node, Sum):
        return None
    length = node.args[0].size // max(node.size, 1)
    if length > _SHORT:
        return None
    (argument,) = node.args
    argument = transform(argument, written_out)
    rows = _rows(argument, node.axes).reshape((*node.shape, length))
    total: Expression = Constant(0.0)
    for k in range(length):
        total = total + take(argument, rows[..., k])
    return total


def _rows(argument: Expression, axes: tuple[int, ...]) -> np.ndarray:
    """Flat numbers of the argument's elements with the summed axes last."""
    kept = [k for k in range(len(argument.shape)) if k not in axes]
    return np.arange(argument.size).reshape(argument.shape).transpose([*kept, *axes])


def summed_last(node: Sum) -> Expression:
    """What a sum adds up, with the summed axes behind the others."""
    return take(node.args[0], _rows(node.args[0], node.axes))


def _addends(node: Expression, sign: int) -> list[tuple[int, Expression]]:
    found: list[tuple[int, Expression]] = []
    stack = [(sign, node)]
    while stack:
        sign, node = stack.pop()
        name = node.operator.name if isinstance(node, Operation) else ""
        if name in ("add", "sub"):
            stack += [(sign if name == "add" else -sign, node.args[1]), (sign, node.args[0])]
        elif name == "neg":
            stack.append((-sign, node.args[0]))
        else:
            found.append((sign, node))
    return found


def _pushed_inside(node: Expression, shape: Shape) -> Expression | None:
    """`c * sum(f)` or `sum(f) / c` as the array whose trailing axes are summed; None if the node is not of that form."""
    if isinstance(node, Sum):
        # one sum in many rows would repeat all its summands in each of them: better an unknown of its own
        return summed_last(node) if node.shape == shape else None
    if isinstance(node, Operation) and node.operator.name in ("mul", "div"):
        a, b = node.args
        for factor, other, first in ((a, b, True), (b, a, False)):
            if not _has_sum(factor) or _has_sum(other) or (node.operator.name == "div" and not first):
                continue
            pushed = _pushed_inside(factor, shape)
            if pushed is None:
                return None
            spread = _with_trailing(other, shape, len(pushed.shape) - len(shape))
            return pushed * spread if node.operator.name == "mul" else pushed / spread
    return None


def _has_sum(node: Expression) -> bool:
    return any(isinstance(n, Sum) for n in walk(node))


def _with_trailing(node: Expression, shape: Shape, trailing: int) -> Expression:
    """A factor of the equation's shape, with axes of length one for the summed ones."""
    if node.shape == ():
        return node
    numbers = np.broadcast_to(np.arange(node.size).reshape(node.shape), shape)
    return take(node, np.ascontiguousarray(numbers.reshape(shape + (1,) * trailing)))
