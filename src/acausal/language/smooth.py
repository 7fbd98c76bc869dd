"""Smooth stand-ins for functions with a corner or an infinite slope, so that Newton's method and the integrator get through.

All are plain expressions of the functions in `functions.py`, have finite derivatives for every finite x, and take numbers too.
`delta` (or `width`) is the distance from the critical point at which the original and its stand-in become alike; the bounds
below say how alike. With t = x/delta they are found by elementary calculus and tested. Where no relation is needed there is
none, so that these helpers make no events.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UsageError
from .expression import as_expression
from .functions import is_symbolic, log, maximum, minimum, numbers, sqrt


def regularised_sqrt(x: Any, delta: Any) -> Any:
    """sign(x)·sqrt(|x|) with a finite slope at zero: ``x / (x² + delta²)^(1/4)``.

    Odd, increasing, infinitely differentiable; slope 1/sqrt(delta) at zero. It is never further from zero than the root; it
    falls short by at most 0.2544·sqrt(delta), and by a fraction of at most (delta/x)²/4.

    >>> regularised_sqrt(0.0, 1e-3), round(regularised_sqrt(4.0, 1e-3), 6), round(regularised_sqrt(-4.0, 1e-3), 6)
    (0.0, 2.0, -2.0)
    """
    _positive("regularised_sqrt", delta=delta)
    return _plain_arithmetic(x) / sqrt(_root_of_squares(x, delta))


def regularised_power(x: Any, exponent: Any, delta: Any) -> Any:
    """sign(x)·|x|^a with finite derivatives at zero: ``x · (x² + delta²)^((a - 1)/2)``.

    Odd, infinitely differentiable, slope delta^(a - 1) at zero; increasing for a > 0. The ratio to the exact power is
    (1 + (delta/x)²)^((a - 1)/2), so for 0 < a ≤ 3 the relative error is at most |a - 1|/2·(delta/x)². For 0 < a < 1 the
    absolute error is at most ((1 - a)/2)^(a/2)·delta^a.

    >>> round(regularised_power(3.0, 1.75, 1e-4), 6) == round(3.0**1.75, 6), regularised_power(0.0, 0.5, 0.01)
    (True, 0.0)
    """
    _positive("regularised_power", delta=delta)
    x, delta, exponent = map(_plain_arithmetic, (x, delta, exponent))
    return x * (x * x + delta * delta) ** ((exponent - 1.0) / 2.0)


def regularised_inverse(x: Any, delta: Any) -> Any:
    """1/x without the pole: ``x / (x² + delta²)``.

    Odd, infinitely differentiable, slope 1/delta² at zero, never above 1/(2·delta) in size. It falls short of 1/x by a
    fraction of at most (delta/x)².

    >>> regularised_inverse(0.0, 0.1), round(regularised_inverse(2.0, 1e-6), 9)
    (0.0, 0.5)
    """
    _positive("regularised_inverse", delta=delta)
    x, delta = _plain_arithmetic(x), _plain_arithmetic(delta)
    return x / (x * x + delta * delta)


def regularised_log(x: Any, delta: Any) -> Any:
    """log(x), continued below delta by its Taylor parabola: ``log(m) + d/delta - (d/delta)²/2``, m = max(x, delta), d = x - m.

    Exact for x ≥ delta; below, for every real x, increasing and C2 at delta. Between 0 and delta it lies above log(x), by
    at most ``(1 - x/delta)³·delta/(3 x)``. At zero it is log(delta) - 1.5.

    >>> regularised_log(1.0, 1e-3), regularised_log(0.0, 1.0)
    (0.0, -1.5)
    """
    _positive("regularised_log", delta=delta)
    inside = _without_event(maximum(x, delta))
    below = (_plain_arithmetic(x) - inside) / _plain_arithmetic(delta)
    return log(inside) + below - 0.5 * below * below


def smooth_abs(x: Any, delta: Any) -> Any:
    """|x| without its corner: ``x² / sqrt(x² + delta²)``.

    Even, infinitely differentiable, zero at zero, slope at most 1.09 in size. It falls short of |x| by at most 0.3003·delta
    (at |x| = 0.786·delta), and by at most delta²/(2|x|).

    >>> smooth_abs(0.0, 0.1), round(smooth_abs(-5.0, 1e-4), 6)
    (0.0, 5.0)
    """
    _positive("smooth_abs", delta=delta)
    x = _plain_arithmetic(x)
    return x * x / _root_of_squares(x, delta)


def smooth_max(a: Any, b: Any, delta: Any) -> Any:
    """max(a, b) without its corner: ``(a + b + sqrt((a - b)² + delta²)) / 2``.

    Infinitely differentiable, partial derivatives between 0 and 1. Above max(a, b) by at most delta/2 (where a = b), and by
    at most delta²/(4|a - b|).

    >>> smooth_max(1.0, 1.0, 0.2), round(smooth_max(3.0, 1.0, 1e-4), 6)
    (1.1, 3.0)
    """
    _positive("smooth_max", delta=delta)
    a, b = _plain_arithmetic(a), _plain_arithmetic(b)
    return 0.5 * (a + b + _root_of_squares(a - b, delta))


def smooth_min(a: Any, b: Any, delta: Any) -> Any:
    """min(a, b) without its corner: ``(a + b - sqrt((a - b)² + delta²)) / 2``.

    Infinitely differentiable, partial derivatives between 0 and 1. Below min(a, b) by at most delta/2 (where a = b), and by
    at most delta²/(4|a - b|).

    >>> smooth_min(1.0, 1.0, 0.2), round(smooth_min(3.0, 1.0, 1e-4), 6)
    (0.9, 1.0)
    """
    _positive("smooth_min", delta=delta)
    a, b = _plain_arithmetic(a), _plain_arithmetic(b)
    return 0.5 * (a + b - _root_of_squares(a - b, delta))


def smooth_step(x: Any, x0: Any = 0.0, width: Any = 1.0) -> Any:
    """From 0 to 1 as x passes x0: ``u³ (10 - 15 u + 6 u²)``, u = (x - x0)/width + 1/2 held between 0 and 1.

    C2, increasing, slope at most 1.875/width. Exactly 0 and 1 further than width/2 from x0, so there it is the step itself;
    nearer it differs from the step by at most 1/2. Odd about (x0, 1/2).

    >>> smooth_step(-1.0), smooth_step(0.0), smooth_step(1.0)
    (0.0, 0.5, 1.0)
    """
    _positive("smooth_step", width=width)
    u = _without_event(minimum(maximum((_plain_arithmetic(x) - _plain_arithmetic(x0)) / _plain_arithmetic(width) + 0.5, 0.0), 1.0))
    return u * u * u * (10.0 - u * (15.0 - 6.0 * u))


def smooth_switch(x: Any, below: Any, above: Any, x0: Any = 0.0, width: Any = 1.0) -> Any:
    """`below` where x < x0, `above` where x > x0, blended between: ``(1 - s)·below + s·above``, s = smooth_step(x, x0, width).

    C2 in x; exactly `below` or `above` further than width/2 from x0 and between them nearer. Both are evaluated always, so
    both must have a value everywhere.

    >>> smooth_switch(-2.0, 5.0, 7.0), smooth_switch(0.0, 5.0, 7.0), smooth_switch(2.0, 5.0, 7.0)
    (5.0, 6.0, 7.0)
    """
    s = smooth_step(x, x0, width)
    return (1.0 - s) * _plain_arithmetic(below) + s * _plain_arithmetic(above)


def _plain_arithmetic(value: Any) -> Any:
    """Declarations become expressions and lists arrays, so that `*` multiplies them; numbers stay."""
    if is_symbolic(value):
        return as_expression(value)
    return value if isinstance(value, (int, float)) else numbers(value)


def _root_of_squares(x: Any, delta: Any) -> Any:
    x, delta = _plain_arithmetic(x), _plain_arithmetic(delta)
    return sqrt(x * x + delta * delta)


def _positive(function: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if not is_symbolic(value) and not np.all(numbers(value) > 0):
            raise UsageError(f"`{function}` needs a positive `{name}`, got {value!r}.")


def _without_event(value: Any) -> Any:
    """The branches meet smoothly, so that no event is needed where they do."""
    if not is_symbolic(value):
        return value
    from .events import no_event

    return no_event(value)
