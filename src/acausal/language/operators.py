"""Operators: what each one is, declared in one place.

An `Operator` carries its value (on numpy arrays), its partial derivatives (as expressions), and the domain in which it has a
value. Machine code for it is in `kernels/emit.py`; a test walks this table and asserts that every pass handles every entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UsageError
from ..records import dataclass
from .expression import Constant, Expression, apply

Partials = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """`partials(node, *args)` gives d(node)/d(arg) for each argument; `domain` says in words where it has no value."""

    name: str
    arity: int
    value: Callable[..., Any]
    partials: Partials
    commutative: bool = False
    logical: bool = False
    outside: Callable[..., Any] | None = None  # true where the arguments are outside the domain
    complaint: str = ""  # what to say there
    translated: bool = False  # has a meaning for the translation only, which takes it out before there are templates


def _op(name: str, *args: Any) -> Expression:
    return apply(name, *args)


def _truth(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: np.asarray(function(*args), dtype=float)


def _none(node: Expression, *args: Expression) -> tuple[Any, ...]:
    return (0.0,) * len(args)


_ALL = (
    Operator("add", 2, np.add, lambda n, a, b: (1.0, 1.0), commutative=True),
    Operator("sub", 2, np.subtract, lambda n, a, b: (1.0, -1.0)),
    Operator("mul", 2, np.multiply, lambda n, a, b: (b, a), commutative=True),
    Operator("div", 2, np.divide, lambda n, a, b: (1.0 / b, -n / b), outside=lambda a, b: b == 0, complaint="division by zero"),
    Operator("neg", 1, np.negative, lambda n, a: (-1.0,)),
    Operator(
        "pow",
        2,
        np.power,
        lambda n, a, b: (_power_by_base(a, b), _power_by_exponent(n, a, b)),
        outside=lambda a, b: ((a < 0) & (b != np.round(b))) | ((a == 0) & (b < 0)),
        complaint="a negative number raised to a fractional power, or zero to a negative one",
    ),
    Operator("exp", 1, np.exp, lambda n, a: (n,), outside=lambda a: a > 709.78, complaint="overflow of the exponential"),
    Operator(
        "log", 1, np.log, lambda n, a: (1.0 / a,), outside=lambda a: a <= 0, complaint="logarithm of a number that is not positive"
    ),
    Operator(
        "log10",
        1,
        np.log10,
        lambda n, a: (1.0 / (float(np.log(10.0)) * a),),
        outside=lambda a: a <= 0,
        complaint="logarithm of a number that is not positive",
    ),
    Operator("sqrt", 1, np.sqrt, lambda n, a: (0.5 / n,), outside=lambda a: a < 0, complaint="square root of a negative number"),
    Operator("sin", 1, np.sin, lambda n, a: (_op("cos", a),)),
    Operator("cos", 1, np.cos, lambda n, a: (-_op("sin", a),)),
    Operator("tan", 1, np.tan, lambda n, a: (1.0 + n * n,)),
    Operator(
        "asin",
        1,
        np.arcsin,
        lambda n, a: (1.0 / _op("sqrt", 1.0 - a * a),),
        outside=lambda a: np.abs(a) > 1,
        complaint="arcsine of a number outside -1 … 1",
    ),
    Operator(
        "acos",
        1,
        np.arccos,
        lambda n, a: (-1.0 / _op("sqrt", 1.0 - a * a),),
        outside=lambda a: np.abs(a) > 1,
        complaint="arccosine of a number outside -1 … 1",
    ),
    Operator("atan", 1, np.arctan, lambda n, a: (1.0 / (1.0 + a * a),)),
    Operator("atan2", 2, np.arctan2, lambda n, a, b: (b / (a * a + b * b), -a / (a * a + b * b))),
    Operator("sinh", 1, np.sinh, lambda n, a: (_op("cosh", a),)),
    Operator("cosh", 1, np.cosh, lambda n, a: (_op("sinh", a),)),
    Operator("tanh", 1, np.tanh, lambda n, a: (1.0 - n * n,)),
    Operator("abs", 1, np.abs, lambda n, a: (_op("sign", a),)),
    Operator("sign", 1, np.sign, _none),
    Operator("floor", 1, np.floor, _none),
    Operator("ceil", 1, np.ceil, _none),
    Operator(
        "min", 2, np.minimum, lambda n, a, b: (_op("where", a <= b, 1.0, 0.0), _op("where", a <= b, 0.0, 1.0)), commutative=True
    ),
    Operator(
        "max", 2, np.maximum, lambda n, a, b: (_op("where", a >= b, 1.0, 0.0), _op("where", a >= b, 0.0, 1.0)), commutative=True
    ),
    Operator("lt", 2, _truth(np.less), _none, logical=True),
    Operator("le", 2, _truth(np.less_equal), _none, logical=True),
    Operator("gt", 2, _truth(np.greater), _none, logical=True),
    Operator("ge", 2, _truth(np.greater_equal), _none, logical=True),
    Operator("eq", 2, _truth(np.equal), _none, commutative=True, logical=True),
    Operator("and", 2, _truth(np.logical_and), _none, commutative=True, logical=True),
    Operator("or", 2, _truth(np.logical_or), _none, commutative=True, logical=True),
    Operator("not", 1, _truth(np.logical_not), _none, logical=True),
    Operator("finite", 1, _truth(np.isfinite), _none, logical=True),
    Operator(
        "where",
        3,
        lambda c, a, b: np.where(np.asarray(c) != 0, a, b),
        lambda n, c, a, b: (0.0, _op("where", c, 1.0, 0.0), _op("where", c, 0.0, 1.0)),
    ),
)

OPERATORS: dict[str, Operator] = {operator.name: operator for operator in _ALL}

PRE = Operator("pre", 1, lambda a: a, lambda n, a: (1.0,), translated=True)
NO_EVENT: Operator = Operator("no_event", 1, lambda a: a, lambda n, a: (1.0,), translated=True)
SAMPLE = Operator("sample", 2, lambda a, b: a * 0 + b * 0, _none, logical=True, translated=True)

RELATIONS = ("lt", "le", "gt", "ge")

_UFUNCS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "negative": "neg", "power": "pow",
    "float_power": "pow", "exp": "exp", "log": "log", "log10": "log10", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "absolute": "abs", "fabs": "abs", "sign": "sign", "floor": "floor", "ceil": "ceil", "minimum": "min", "maximum": "max",
    "fmin": "min", "fmax": "max", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "logical_and": "and",
    "logical_or": "or", "logical_not": "not",
}  # fmt: skip


def of_ufunc(name: str) -> Operator:
    """The operator that a numpy function stands for, so that `np.exp(self.T)` works as `ac.exp(self.T)` does."""
    if name not in _UFUNCS:
        raise UsageError(f"`numpy.{name}` has no counterpart in equations. Use acausal's functions, or `ac.function` for your own.")
    return OPERATORS[_UFUNCS[name]]


def _power_by_exponent(power: Expression, base: Expression, exponent: Expression) -> Expression | float:
    """a^b log a, which is 0 for a = 0 and b > 0, where the logarithm has no value."""
    if isinstance(exponent, Constant):
        return 0.0
    return _op("where", base > 0, power * _op("log", base), 0.0)


def _power_by_base(base: Expression, exponent: Expression) -> Expression:
    if isinstance(exponent, Constant):
        return exponent * base ** (exponent.value - 1.0)
    return exponent * base ** (exponent - 1.0)
