"""What is true or false: the conditions of `where`, `when`, transitions and assertions."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from .declarations import Variable
from .equation import Equation
from .expression import Expression, Operation, Reference, Time, as_expression

_JOINED = ("and", "or", "not")
_EITHER = ("where", "min", "max")  # of truth values these give one


def as_condition(given: Any) -> Expression:
    """An expression that is true or false; anything else would be a condition by accident."""
    if isinstance(given, Equation):
        raise UsageError(
            f"`{given}` states an equation, it is not a condition.",
            location=given.location,
            remedy="Compare with `<`, `>=` … (two whole numbers are equal if neither is less: `~(n < 3) & ~(n > 3)`); a Boolean is "
            "a condition as it stands, and `ac.change(n)` tells that `n` changed.",
        )
    if isinstance(given, str):
        raise UsageError(
            f"A condition is an expression, got the text {given!r}.",
            remedy="Write it without quotes, with `self.`: `self.x > 1`; a state is `self.mode.on`.",
        )
    whole = as_expression(given)
    parts = [whole]
    while parts:
        node = parts.pop()
        if isinstance(node, Operation) and node.operator.name in _JOINED:
            parts += node.args
        elif _is_number(node) or (isinstance(node, Reference) and type(node.declaration) is Variable):
            raise UsageError(
                f"`{node}` is a number, not a condition: it is neither true nor false.",
                remedy=f"Compare it: `{node} > 0`. An `ac.Boolean` is a condition as it stands.",
            )
    return whole


def _is_number(node: Expression) -> bool:
    if not isinstance(node, Operation):
        return isinstance(node, Time)
    operator = node.operator
    return not (operator.logical or operator.translated or operator.name in _EITHER)
