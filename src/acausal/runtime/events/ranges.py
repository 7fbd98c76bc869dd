"""Interval arithmetic with slopes: what an expression of time may be, and how fast it may change, anywhere in a stretch of time.

A `Range` holds, for many stretches at once, bounds of a value and of its derivative by time. The bounds are safe but for rounding,
and the narrower a stretch the closer they are: where the bounds of a slope have one sign, the value is monotone there for certain.
What is not known how to bound has bounds without limit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...language.expression import Constant, Expression, Operation, walk
from ...records import dataclass

Floats = np.ndarray
Interval = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class Range:
    """`value` and `slope`: (lower, upper) bounds, arrays that broadcast."""

    value: Interval
    slope: Interval

    @staticmethod
    def constant(value: Floats) -> Range:
        none = np.zeros_like(value)
        return Range((value, value), (none, none))


def can_bound(node: Expression) -> bool:
    """Whether there is a rule for this node."""
    return not node.args or (isinstance(node, Operation) and node.operator.name in _RULES)


def ranges(expression: Expression, leaf: Callable[[Expression], Range]) -> Range:
    """Bounds of an expression from those of its leaves."""
    found: dict[Expression, Range] = {}
    with np.errstate(all="ignore"):
        for node in walk(expression):
            if isinstance(node, Constant):
                found[node] = Range.constant(np.asarray(float(node.value)))
            elif isinstance(node, Operation):
                rule = _RULES.get(node.operator.name)
                found[node] = _sound(rule(*(found[a] for a in node.args))) if rule else _ANYTHING
            else:
                found[node] = _ANYTHING if node.args else leaf(node)
    return found[expression]


_LARGE = 1e6  # exponents: whole numbers are known to be whole below
_EVERYWHERE = (np.asarray(-np.inf), np.asarray(np.inf))
_ANYTHING = Range(_EVERYWHERE, _EVERYWHERE)


def _sound(range_: Range) -> Range:
    """Where a bound has no value there is no bound."""
    return Range(*((np.where(np.isnan(a), -np.inf, a), np.where(np.isnan(b), np.inf, b)) for a, b in (range_.value, range_.slope)))


# --- intervals ----------------------------------------------------------------------------------------------------------------


def _add(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _negative(a: Interval) -> Interval:
    return -a[1], -a[0]


def _product(a: Interval, b: Interval) -> Interval:
    corners = [np.where((x == 0) | (y == 0), 0.0, x * y) for x in a for y in b]
    return np.minimum.reduce(np.broadcast_arrays(*corners)), np.maximum.reduce(np.broadcast_arrays(*corners))


def _reciprocal(a: Interval) -> Interval:
    safe = (a[0] > 0) | (a[1] < 0)
    return np.where(safe, 1 / a[1], -np.inf), np.where(safe, 1 / a[0], np.inf)


def _square(a: Interval) -> Interval:
    return _whole_power(a, 2)


def _whole_power(a: Interval, n: int) -> Interval:
    """Of any base: rising, or like a square."""
    if n == 0:
        return np.ones_like(a[0]), np.ones_like(a[1])
    low, high = a[0] ** n, a[1] ** n
    if n % 2:
        return low, high
    return np.where((a[0] <= 0) & (a[1] >= 0), 0.0, np.minimum(low, high)), np.maximum(low, high)


def _even(function: Callable[[Floats], Floats], a: Interval) -> Interval:
    """Of a function that is least at zero."""
    low, high = function(a[0]), function(a[1])
    least = np.where((a[0] <= 0) & (a[1] >= 0), function(np.zeros(1)), np.minimum(low, high))
    return least, np.maximum(low, high)


def _hull(a: Interval, b: Interval) -> Interval:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def _cosine(a: Interval) -> Interval:
    """The largest value is 1 where a multiple of 2π lies between the bounds, the smallest -1 where one lies between them and π."""
    turn = 2 * np.pi
    low, high = np.cos(a[0]), np.cos(a[1])
    top = np.floor(a[1] / turn) >= np.ceil(a[0] / turn)
    bottom = np.floor((a[1] - np.pi) / turn) >= np.ceil((a[0] - np.pi) / turn)
    return np.where(bottom, -1.0, np.minimum(low, high)), np.where(top, 1.0, np.maximum(low, high))


def _sine(a: Interval) -> Interval:
    return _cosine((a[0] - np.pi / 2, a[1] - np.pi / 2))


# --- rules of operators -------------------------------------------------------------------------------------------------------


def _sum(a: Range, b: Range) -> Range:
    return Range(_add(a.value, b.value), _add(a.slope, b.slope))


def _difference(a: Range, b: Range) -> Range:
    return Range(_add(a.value, _negative(b.value)), _add(a.slope, _negative(b.slope)))


def _times(a: Range, b: Range) -> Range:
    return Range(_product(a.value, b.value), _add(_product(a.slope, b.value), _product(a.value, b.slope)))


def _over(a: Range, b: Range) -> Range:
    inverse = _reciprocal(b.value)
    fall = _negative(_product(_square(inverse), b.slope))
    return _times(a, Range(inverse, fall))


def _power(a: Range, b: Range) -> Range:
    """Of a constant exponent: whole ones, and any of a base that is not negative."""
    exponent = b.value[0]
    if not np.array_equal(*b.value):
        return _ANYTHING
    if np.ndim(exponent) and np.ptp(exponent):
        return _powers(a, np.asarray(exponent))
    n = float(np.ravel(exponent)[0])
    if 0 < n < _LARGE and n == int(n):
        rise = _product((np.asarray(n),) * 2, _whole_power(a.value, int(n) - 1))
        return Range(_whole_power(a.value, int(n)), _product(rise, a.slope))
    if -_LARGE < n < 0 and n == int(n):
        return _over(Range.constant(np.asarray(1.0)), _power(a, Range.constant(np.asarray(-n))))
    positive = a.value[0] > 0
    value = np.sort(np.stack(np.broadcast_arrays(a.value[0] ** n, a.value[1] ** n)), axis=0)
    by_base = np.sort(n * np.stack(np.broadcast_arrays(a.value[0] ** (n - 1), a.value[1] ** (n - 1))), axis=0)
    slope = _product((by_base[0], by_base[1]), a.slope)
    bounds = [np.where(positive, x, far) for x, far in zip((*value, *slope), (-np.inf, np.inf) * 2, strict=True)]
    return Range((bounds[0], bounds[1]), (bounds[2], bounds[3]))


def _powers(a: Range, exponents: Floats) -> Range:
    """Each row with an exponent of its own."""
    whole = np.broadcast_arrays(exponents, *a.value, *a.slope)
    bounds = np.empty((4, *whole[0].shape))
    for n in np.unique(exponents):
        own = whole[0] == n
        value, slope = (whole[1][own], whole[2][own]), (whole[3][own], whole[4][own])
        found = _power(Range(value, slope), Range.constant(np.asarray(n)))
        bounds[:, own] = np.stack(np.broadcast_arrays(*found.value, *found.slope, value[0])[:4])
    return Range((bounds[0], bounds[1]), (bounds[2], bounds[3]))


def _rising(function: Callable[[Floats], Floats], derivative: Callable[[Interval], Interval]) -> Callable[[Range], Range]:
    def rule(a: Range) -> Range:
        return Range((function(a.value[0]), function(a.value[1])), _product(derivative(a.value), a.slope))

    return rule


def _bell(a: Interval, of: Callable[[Interval], Interval]) -> Interval:
    """1 / of(a²)."""
    return _reciprocal(of(_square(a)))


def _either(condition: Range, a: Range, b: Range) -> Range:
    true, false = _true(condition), _false(condition)
    chosen = []
    for x, y in ((a.value, b.value), (a.slope, b.slope)):
        both = _hull(x, y)
        chosen.append(tuple(np.where(true, x[k], np.where(false, y[k], both[k])) for k in (0, 1)))
    undecided = ~true & ~false  # may jump there
    slope = np.where(undecided, -np.inf, chosen[1][0]), np.where(undecided, np.inf, chosen[1][1])
    return Range((chosen[0][0], chosen[0][1]), slope)


def _truth(true: Floats, false: Floats) -> Range:
    """Of what is certainly true in some stretches and certainly false in others; in the rest it may change."""
    endless = np.where(true | false, 0.0, np.inf)
    return Range((np.where(true, 1.0, 0.0), np.where(false, 0.0, 1.0)), (-endless, endless))


def _less(a: Range, b: Range) -> Range:
    return _truth(a.value[1] < b.value[0], a.value[0] >= b.value[1])


def _not_more(a: Range, b: Range) -> Range:
    return _truth(a.value[1] <= b.value[0], a.value[0] > b.value[1])


def _equal(a: Range, b: Range) -> Range:
    one = (a.value[0] == a.value[1]) & (b.value[0] == b.value[1])
    return _truth(one & (a.value[0] == b.value[0]), (a.value[1] < b.value[0]) | (a.value[0] > b.value[1]))


def _larger(a: Range, b: Range) -> Range:
    either = _either(_not_more(b, a), a, b)
    both = _hull(a.slope, b.slope)  # it does not jump where they meet
    value = np.maximum(a.value[0], b.value[0]), np.maximum(a.value[1], b.value[1])
    return Range(value, (np.maximum(either.slope[0], both[0]), np.minimum(either.slope[1], both[1])))


def _opposite(a: Range) -> Range:
    return Range(_negative(a.value), _negative(a.slope))


def _stair(function: Callable[[Floats], Floats]) -> Callable[[Range], Range]:
    """Level but where it jumps."""

    def rule(a: Range) -> Range:
        low, high = function(a.value[0]), function(a.value[1])
        endless = np.where(low == high, 0.0, np.inf)
        return Range((low, high), (-endless, endless))

    return rule


def _true(a: Range) -> Floats:
    return np.asarray((a.value[0] > 0) | (a.value[1] < 0))


def _false(a: Range) -> Floats:
    return np.asarray((a.value[0] == 0) & (a.value[1] == 0))


_RULES: dict[str, Callable[..., Range]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _times,
    "div": _over,
    "pow": _power,
    "neg": _opposite,
    "sin": lambda a: Range(_sine(a.value), _product(_cosine(a.value), a.slope)),
    "cos": lambda a: Range(_cosine(a.value), _product(_negative(_sine(a.value)), a.slope)),
    "exp": _rising(np.exp, lambda a: (np.exp(a[0]), np.exp(a[1]))),
    "log": _rising(np.log, _reciprocal),
    "sqrt": _rising(np.sqrt, lambda a: _reciprocal((2 * np.sqrt(a[0]), 2 * np.sqrt(a[1])))),
    "atan": _rising(np.arctan, lambda a: _bell(a, lambda q: (1 + q[0], 1 + q[1]))),
    "tanh": _rising(np.tanh, lambda a: (lambda t: (1 - t[1], 1 - t[0]))(_square((np.tanh(a[0]), np.tanh(a[1]))))),
    "sinh": _rising(np.sinh, lambda a: _root_of_one_more(_square((np.sinh(a[0]), np.sinh(a[1]))))),
    "cosh": lambda a: Range(_even(np.cosh, a.value), _product((np.sinh(a.value[0]), np.sinh(a.value[1])), a.slope)),
    "abs": lambda a: Range(_even(np.abs, a.value), _product((np.sign(a.value[0]), np.sign(a.value[1])), a.slope)),
    "floor": _stair(np.floor),
    "ceil": _stair(np.ceil),
    "sign": _stair(np.sign),
    "max": _larger,
    "min": lambda a, b: _opposite(_larger(_opposite(a), _opposite(b))),
    "where": _either,
    "lt": _less,
    "le": _not_more,
    "gt": lambda a, b: _less(b, a),
    "ge": lambda a, b: _not_more(b, a),
    "eq": _equal,
    "and": lambda a, b: _truth(_true(a) & _true(b), _false(a) | _false(b)),
    "or": lambda a, b: _truth(_true(a) | _true(b), _false(a) & _false(b)),
    "not": lambda a: _truth(_false(a), _true(a)),
}


def _root_of_one_more(a: Interval) -> Interval:
    return np.sqrt(1 + a[0]), np.sqrt(1 + a[1])
