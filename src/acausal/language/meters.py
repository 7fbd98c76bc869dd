"""Meters: `ac.integral(x)` in equations is the integral of x since the start.

Each distinct one becomes a state of the component (`families/roots.py`). What no equation reads takes no part in a search for rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UsageError
from .expression import Call, Constant, Expression, as_expression
from .external import ExternalFunction


class Integral(ExternalFunction):
    """`ac.integral` as equations are stated: of what is integrated, and of what the integral begins at."""

    name, arity = "integral", 2

    @property
    def address(self) -> int:
        raise AssertionError("an integral is replaced by a state before code is made")

    def value(self, *arrays: Any) -> np.ndarray:
        raise UsageError("An integral over time has no value without a run.")

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        raise UsageError(
            f"The derivative of `{Call(self, args)}` is asked for.",
            remedy=f"It is `{args[0]}`; or give the integral a name of its own.",
        )


_INTEGRAL = Integral()


def meter(x: Any, start: Any = 0.0) -> Expression:
    """The integral of an expression since the start of the run."""
    first = as_expression(start)
    if not isinstance(first, Constant):
        raise UsageError(f"A meter begins at a number, got `{first}`.", remedy="Add it where the integral is used.")
    return Call(_INTEGRAL, (as_expression(x), first))


def is_meter(node: Expression) -> bool:
    """Whether a node is an integral that was not yet replaced."""
    return isinstance(node, Call) and node.function is _INTEGRAL
