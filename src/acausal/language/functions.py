"""The mathematics of equations: elementwise functions, reductions, choices.

Every function takes expressions, numbers and arrays. Given numbers only it answers with numbers, so that a function a modeller
wrote for equations can be tried and tested outside of any model.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import ShapeError, UsageError
from .conditions import as_condition
from .equation import Equation
from .expression import Continuation, Expression, Time, apply, as_expression, total
from .operators import OPERATORS
from .reductions import Reduction

time: Expression = Time()
"""The independent variable, in seconds."""


def is_symbolic(value: Any) -> bool:
    """Whether a value is an expression, stands for one (a declaration in a class body), or is a list that holds one."""
    if isinstance(value, (list, tuple)):
        return any(is_symbolic(v) for v in value)
    return isinstance(value, Expression) or hasattr(value, "__acausal_expression__")


def numbers(value: Any) -> np.ndarray:
    """A number or an array of numbers as float64; anything else is refused with its value and type."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise UsageError(f"Expected a number, an array of numbers or an expression, got {value!r} of type {type(value).__name__}.")
    return array.astype(float, copy=False)


def plain(value: Any) -> Any:
    """A number stays a Python number, an array an array."""
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else array


def _elementwise(name: str, *values: Any) -> Any:
    if any(is_symbolic(v) for v in values):
        return apply(name, *values)
    return plain(OPERATORS[name].value(*(numbers(v) for v in values)))


def sin(x: Any) -> Any:
    """Sine of an angle in radians.

    >>> sin(0.0)
    0.0
    """
    return _elementwise("sin", x)


def cos(x: Any) -> Any:
    """Cosine of an angle in radians.

    >>> cos(0.0)
    1.0
    """
    return _elementwise("cos", x)


def tan(x: Any) -> Any:
    """Tangent of an angle in radians.

    >>> round(tan(0.25 * 3.141592653589793), 12)
    1.0
    """
    return _elementwise("tan", x)


def asin(x: Any) -> Any:
    """Angle in radians, -π/2 … π/2, whose sine is x.

    >>> round(asin(1.0), 6)
    1.570796
    """
    return _elementwise("asin", x)


def acos(x: Any) -> Any:
    """Angle in radians, 0 … π, whose cosine is x.

    >>> acos(1.0)
    0.0
    """
    return _elementwise("acos", x)


def atan(x: Any) -> Any:
    """Angle in radians, -π/2 … π/2, whose tangent is x.

    >>> round(atan(1.0), 6)
    0.785398
    """
    return _elementwise("atan", x)


def atan2(y: Any, x: Any) -> Any:
    """Angle in radians, -π … π, of the point (x, y) seen from the origin.

    >>> round(atan2(1.0, -1.0), 6)
    2.356194
    """
    return _elementwise("atan2", y, x)


def sinh(x: Any) -> Any:
    """Hyperbolic sine.

    >>> sinh(0.0)
    0.0
    """
    return _elementwise("sinh", x)


def cosh(x: Any) -> Any:
    """Hyperbolic cosine.

    >>> cosh(0.0)
    1.0
    """
    return _elementwise("cosh", x)


def tanh(x: Any) -> Any:
    """Hyperbolic tangent.

    >>> tanh(0.0)
    0.0
    """
    return _elementwise("tanh", x)


def exp(x: Any) -> Any:
    """Exponential function.

    >>> exp(0.0)
    1.0
    """
    return _elementwise("exp", x)


def log(x: Any) -> Any:
    """Natural logarithm of a positive number.

    >>> log(1.0)
    0.0
    """
    return _elementwise("log", x)


def log10(x: Any) -> Any:
    """Decimal logarithm of a positive number.

    >>> log10(1000.0)
    3.0
    """
    return _elementwise("log10", x)


def sqrt(x: Any) -> Any:
    """Square root; where x comes near zero, `regularised_sqrt` keeps the slope finite.

    >>> sqrt([4.0, 9.0])
    array([2., 3.])
    """
    return _elementwise("sqrt", x)


def abs(x: Any) -> Any:
    """Absolute value.

    >>> abs(-2.0)
    2.0
    """
    return _elementwise("abs", x)


def sign(x: Any) -> Any:
    """-1, 0 or 1 as x is negative, zero or positive.

    >>> sign(-3.0)
    -1.0
    """
    return _elementwise("sign", x)


def floor(x: Any) -> Any:
    """Greatest integer not above x.

    >>> floor(-1.5)
    -2.0
    """
    return _elementwise("floor", x)


def ceil(x: Any) -> Any:
    """Least integer not below x.

    >>> ceil(-1.5)
    -1.0
    """
    return _elementwise("ceil", x)


def minimum(*values: Any) -> Any:
    """Least of several values, element by element; of one array, its least element (`ac.min`).

    >>> minimum(3.0, 1.0, 2.0), minimum([4.0, 5.0])
    (1.0, 4.0)
    """
    return _over_time("min", values) or _extreme("min", values)


def maximum(*values: Any) -> Any:
    """Greatest of several values, element by element; of one array, its greatest element (`ac.max`).

    >>> maximum(3.0, [1.0, 7.0])
    array([3., 7.])
    """
    return _over_time("max", values) or _extreme("max", values)


def _over_time(kind: str, values: tuple[Any, ...]) -> Any:
    """Of a path, what is kept of its trajectory (`ac.max("room.T")` for a table of results); None for anything else."""
    return Reduction(kind, values[0]) if len(values) == 1 and isinstance(values[0], str) else None


def _extreme(name: str, values: tuple[Any, ...]) -> Any:
    if not values:
        raise UsageError(f"`ac.{name}` needs at least one value.")
    if len(values) == 1 and isinstance(values[0], (list, tuple)) and is_symbolic(values[0]):
        values = tuple(values[0])
    if len(values) == 1:
        return _extreme_element(name, values[0])
    found = values[0]
    for value in values[1:]:
        found = _elementwise(name, found, value)
    return found


def _extreme_element(name: str, value: Any) -> Any:
    """Halve the array until one element is left: the expression is as deep as the logarithm of its length."""
    found = as_expression(value) if is_symbolic(value) else numbers(value)
    if found.size == 0:
        raise ShapeError(f"`ac.{name}` of an array without elements has no value.")
    if not isinstance(found, Expression):
        return plain(found.min() if name == "min" else found.max())
    elements = found[np.ones(found.shape, dtype=bool)] if found.shape else found
    while elements.size > 1:
        half = (elements.size + 1) // 2  # the halves of an odd number overlap in one element, which does no harm
        elements = apply(name, elements[:half], elements[elements.size - half :])
    return elements[0] if elements.shape else elements


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, `b` elsewhere; both are evaluated, so both must have a value.

    >>> where(2.0 > 1.0, 10.0, 20.0)
    10.0
    """
    if is_symbolic(condition) or isinstance(condition, Equation | str):
        condition = as_condition(condition)
    return _elementwise("where", condition, a, b)


def fallback(value: Any, other: Any) -> Any:
    """`value` where it has one (is a finite number), `other` where it has none: beyond a table, the root of something negative.

    The run goes on where it would have ended for want of a value. It is decided at every evaluation, without an event; the two
    should meet where one takes over from the other, or steps become short there.

    >>> fallback(sqrt(4.0), 0.0), fallback(float("nan"), -1.0)
    (2.0, -1.0)
    """
    if is_symbolic(value) or is_symbolic(other):
        first = as_expression(value)
        return apply("where", apply("finite", first), first, as_expression(other))
    given = numbers(value)
    return plain(np.where(np.isfinite(given), given, numbers(other)))


@checked
def sum(value: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """Sum over an array's elements, or along some of its axes; of a list of expressions, their sum.

    >>> sum([1.0, 2.0, 3.0])
    6.0
    """
    if isinstance(value, (list, tuple, Iterator)):
        value = list(value)
        if is_symbolic(value):
            return _sum_of_list(value, axis)
    return total(value, axis) if is_symbolic(value) else plain(_along(np.sum, numbers(value), axis))


def _along(reduce: Any, values: Any, axis: Any) -> Any:
    """A reduction of numbers along axes that they have."""
    try:
        return reduce(values, axis=axis)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"`axis` is {axis!r}, and the array has the shape {np.shape(values)}: {error}.") from None


def _sum_of_list(values: list[Any], axis: Any) -> Any:
    if axis is not None:
        raise UsageError("`ac.sum` takes an axis for an array, not for a list of expressions.")
    return builtins.sum(map(as_expression, values[1:]), start=as_expression(values[0]))


@checked
def mean(value: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """Arithmetic mean of an array's elements, or along some of its axes; of a list of expressions, their mean.

    >>> mean([1.0, 2.0, 6.0])
    3.0
    """
    if isinstance(value, str):
        return _over_time("mean", (value,))
    if isinstance(value, (list, tuple, Iterator)):
        value = list(value)
        if is_symbolic(value):
            return _sum_of_list(value, axis) / len(value)
    if not is_symbolic(value):
        return plain(_along(np.mean, numbers(value), axis))
    node = as_expression(value)
    added = total(node, axis)
    return added / (node.size / added.size)


def dot(a: Any, b: Any) -> Any:
    """Product of two vectors, of a matrix and a vector, or of two matrices.

    >>> dot([1.0, 2.0], [3.0, 4.0])
    11.0
    """
    if not (is_symbolic(a) or is_symbolic(b)):
        left, right = numbers(a), numbers(b)
        _check_product(left.shape, right.shape)
        return plain(np.dot(left, right))
    return _symbolic_product(as_expression(a), as_expression(b))


def _symbolic_product(left: Expression, right: Expression) -> Expression:
    _check_product(left.shape, right.shape)
    if right.ndim == 1:
        return total(left * right, axis=-1)
    if left.ndim == 1:
        return total(left[:, None] * right, axis=0)
    return total(left[:, :, None] * right[None, :, :], axis=1)


def _check_product(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    if len(left) not in (1, 2) or len(right) not in (1, 2) or left[-1] != right[0]:
        raise ShapeError(f"`ac.dot` needs vectors or matrices whose inner lengths agree, got shapes {left} and {right}.")


def homotopy(actual: Any, simplified: Any) -> Any:
    """`actual` in the model as written; a start is solved with `simplified` first and led over to `actual`, so that the simplified
    form says which of several solutions is meant. A start from an earlier result needs no leading.

    >>> homotopy(2.0, 1.0)
    2.0
    """
    if not (is_symbolic(actual) or is_symbolic(simplified)):
        return plain(np.broadcast_arrays(numbers(actual), numbers(simplified))[0])
    along = Continuation()
    return along * as_expression(actual) + (1.0 - along) * as_expression(simplified)
