"""Simplification at construction: numbers are folded, neutral elements dropped, small integer powers multiplied out.

Nothing here changes a value where the expression has one; `0 * x` becomes 0 although x might be infinite, as in every
computer algebra system.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import isfinite

import numpy as np

from .expression import Constant, Expression, Literal, Operation, _broadcast, apply
from .operators import OPERATORS, Operator


def by_rules(operator: Operator, args: tuple[Expression, ...]) -> Expression:
    """`operator` applied to `args`, in its simplest form: with all that there is to know about it."""
    if isinstance(args[-1], Constant) and all(isinstance(a, Constant) for a in args) and not operator.translated:
        folded = _fold(operator, args)
        if folded is not None:
            return folded
    rule = _RULES.get(operator.name)
    if rule is not None:
        found = rule(*args)
        if found is not None and found.shape == _broadcast(operator.name, args):
            return found
    return Operation(operator, args)


_ARITHMETIC: dict[str, Callable[..., float]] = {"add": float.__add__, "sub": float.__sub__, "mul": float.__mul__}  # never raises


def _fold(operator: Operator, args: tuple[Expression, ...]) -> Expression | None:
    plain = _ARITHMETIC.get(operator.name)
    if plain is not None:
        number = plain(*[a.value for a in args])  # type: ignore[attr-defined]
        return Constant(number) if isfinite(number) else None
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(operator.value(*(a.value for a in args)))  # type: ignore[attr-defined]
    return Constant(value) if np.isfinite(value) else None  # 1/0 stays, to be reported with its place


def _is(node: Expression, value: float) -> bool:
    return isinstance(node, Constant) and node.value == value


def _negated(node: Expression) -> Expression | None:
    return node.args[0] if isinstance(node, Operation) and node.operator.name == "neg" else None


def _add(a: Expression, b: Expression) -> Expression | None:
    if _is(a, 0):
        return b
    if _is(b, 0):
        return a
    if (minus := _negated(b)) is not None:
        return a - minus
    if (minus := _negated(a)) is not None:
        return b - minus
    if _is_choice(a) and _is_choice(b) and a.args[0] is b.args[0] and _may_be_zero(a):
        (condition, a1, a2), (_, b1, b2) = a.args, b.args
        return apply("where", condition, a1 + b1, a2 + b2)
    return None


def _sub(a: Expression, b: Expression) -> Expression | None:
    if _is(b, 0):
        return a
    if _is(a, 0):
        return -b
    if a is b and a.shape == ():
        return Constant(0.0)
    if (minus := _negated(b)) is not None:
        return a + minus
    return None


def _mul(a: Expression, b: Expression) -> Expression | None:
    for x, y in ((a, b), (b, a)):
        if _is(x, 0) and y.shape == ():
            return Constant(0.0)
        if _is(x, 1):
            return y
        if _is(x, -1):
            return -y
        if (minus := _negated(x)) is not None:
            return -(minus * y)
        if x.shape == y.shape == () and _may_be_zero(x):
            return _into_branches(x, y)
    return None


def _is_choice(node: Expression) -> bool:
    return isinstance(node, Operation) and node.operator.name == "where" and node.shape == ()


def _may_be_zero(node: Expression) -> bool:
    """A choice with a literal zero in it: `where(c, 1, 0) * y` must not ask for y where it is not chosen and may not exist."""
    return _is_choice(node) and any(_is(b, 0) or _may_be_zero(b) for b in node.args[1:])


def _into_branches(choice: Expression, factor: Expression) -> Expression:
    if not _is_choice(choice):
        return choice * factor
    condition, a, b = choice.args
    return apply("where", condition, _into_branches(a, factor), _into_branches(b, factor))


def _div(a: Expression, b: Expression) -> Expression | None:
    if _is(b, 1):
        return a
    if _is(b, -1):
        return -a
    if _is(a, 0) and b.shape == () and not _is(b, 0):
        return Constant(0.0)
    if isinstance(b, Constant) and b.value != 0 and np.log2(abs(b.value)) % 1 == 0 and np.isfinite(1.0 / b.value):
        return a * (1.0 / b.value)  # exact for powers of two
    if (minus := _negated(a)) is not None:
        return -(minus / b)
    return None


def _neg(a: Expression) -> Expression | None:
    if (minus := _negated(a)) is not None:
        return minus
    if isinstance(a, Operation) and a.operator.name == "sub":
        return a.args[1] - a.args[0]
    if isinstance(a, Literal):
        return Literal(-a.values)
    return None


def _pow(a: Expression, b: Expression) -> Expression | None:
    if not isinstance(b, Constant):
        return None
    if b.value == 0 and a.shape == ():
        return Constant(1.0)
    if b.value == 1:
        return a
    if b.value in (2, 3, 4):
        square = a * a
        return {2: square, 3: square * a, 4: square * square}[int(b.value)]
    if b.value == 0.5:
        return Operation(OPERATORS["sqrt"], (a,))
    if b.value in (-1, -2):
        return 1.0 / (a if b.value == -1 else a * a)
    return None


def _where(condition: Expression, a: Expression, b: Expression) -> Expression | None:
    if isinstance(condition, Constant):
        return a if condition.value else b
    return a if a is b else None


_RULES: dict[str, Callable[..., Expression | None]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "where": _where,
}
