"""Whether an expression is certainly a whole number, or true or false, whatever the values of its variables."""

from __future__ import annotations

from typing import Any

from .expression import Constant, Expression, Literal, Mark, Operation, Reference, Sum, walk

_ORDER = ("boolean", "integer", "real")
_CLOSED = ("add", "sub", "mul", "neg", "abs", "min", "max")  # of whole numbers they give whole numbers


def type_of(expression: Expression) -> str:
    """ "boolean", "integer" or "real"; the last wherever it is not certain.

    >>> from acausal.language.functions import floor, time
    >>> type_of(floor(time) + 1), type_of(time > 2.0), type_of(2.0 * time)
    ('integer', 'boolean', 'real')
    """
    types: dict[Expression, str] = {}
    for node in walk(expression):
        types[node] = _type(node, [types[a] for a in node.args])
    return types[expression]


def _type(node: Expression, args: list[str]) -> str:
    if isinstance(node, Constant):
        return _of_numbers([node.value])
    if isinstance(node, Literal):
        return _of_numbers(node.values.ravel().tolist())
    if isinstance(node, Mark):
        return "boolean"
    if isinstance(node, Reference):
        return _of_declaration(node.declaration)
    if isinstance(node, Sum):
        return "real" if args[0] == "real" else "integer"
    if isinstance(node, Operation):
        return _of_operation(node, args)
    return "real"


def _of_operation(node: Operation, args: list[str]) -> str:
    name, worst = node.operator.name, max(args, key=_ORDER.index)
    if node.operator.logical or name in ("lt", "le", "gt", "ge", "eq", "and", "or", "not"):
        return "boolean"
    if name in ("floor", "ceil", "sign"):
        return "integer"
    if name == "where":
        return max(args[1:], key=_ORDER.index)
    complement = name == "sub" and isinstance(node.args[0], Constant) and node.args[0].value == 1.0
    if name in ("min", "max") or node.operator.translated or (worst == "boolean" and (name == "mul" or complement)):
        return worst
    return "real" if worst == "real" or name not in _CLOSED else "integer"


def _of_declaration(declaration: Any) -> str:
    kind = getattr(declaration, "type", "real")
    if kind == "states":
        return "integer"
    if declaration.role == "parameter" and isinstance(declaration.value, (bool, int)):
        return "integer"
    return str(kind)


def _of_numbers(values: list[float]) -> str:
    if all(v in (0.0, 1.0) for v in values):
        return "boolean"
    return "integer" if all(float(v).is_integer() for v in values) else "real"
