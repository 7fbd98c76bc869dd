"""`der`: the time derivative of a variable, or of any expression by the chain rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UsageError
from .expression import Call, Constant, Expression, Operation, Reference, Sum, Time, Unbound, apply, as_expression, take, walk
from .operators import OPERATORS

FINITE = OPERATORS["finite"]


def der(value: Any) -> Expression:
    """The derivative with respect to time: `self.C * ac.der(self.T) == self.port.Q_flow`.

    Of an expression it is formed by the chain rule: `ac.der(self.m * self.u)` is `m·u' + u·m'`.
    """
    node = as_expression(value)
    done: dict[Expression, Expression] = {}

    for n in walk(node):
        done[n] = _derivative(n, done.__getitem__)
    return done[node]


def _derivative(node: Expression, visit: Any) -> Expression:
    if isinstance(node, Reference):
        return _of_reference(node)
    if isinstance(node, Time):
        return Constant(1.0)
    if isinstance(node, Sum):
        return _of_sum(node, visit(node.args[0]))
    if isinstance(node, Unbound):
        raise UsageError("`ac.der` belongs in `equations`, not in the class body.")
    if isinstance(node, Operation) and node.operator.name == "where" and getattr(node.args[0], "operator", None) is FINITE:
        return apply("where", node.args[0], visit(node.args[1]), visit(node.args[2]))  # `ac.fallback`
    if isinstance(node, Operation):
        partials = [as_expression(p) for p in node.operator.partials(node, *node.args)]
    elif isinstance(node, Call):
        partials = [node.function.partial(k, node.args) for k in range(len(node.args))]
    else:
        return Constant(0.0)
    total: Expression = Constant(0.0)
    for partial, arg in zip(partials, node.args, strict=True):
        change = visit(arg)
        if not (isinstance(change, Constant) and change.value == 0):
            total = total + partial * change
    return total


def _of_sum(node: Sum, change: Expression) -> Expression:
    """A summand's change may have fewer axes than the summand itself: it is the same along the others."""
    shape = node.args[0].shape
    if change.shape == ():
        return change * (node.args[0].size / max(node.size, 1))
    if change.shape != shape:
        change = take(change, np.broadcast_to(np.arange(change.size).reshape(change.shape), shape))
    return Sum(change, node.axes)


def _of_reference(node: Reference) -> Expression:
    if node.order > 0:
        raise UsageError(
            f"A second derivative of `{node.name}` is asked for.",
            remedy=f"Declare the first derivative as a variable `w`, state `ac.der(self.{node.name}) == self.w`, "
            "use `ac.der(self.w)`.",
        )
    if node.declaration.is_known or node.order < 0:
        return Constant(0.0)
    return Reference(node.root, node.owner, node.name, node.shape, node.picked, 1)
