"""Delays: `ac.delay(x, T)` is what x was a time T ago.

In equations each distinct delay becomes an unknown of the component, with a cell for the history of the run and a mark that says
which break of the history was passed last (`families/roots.py`). The functions that equations then call are native
(`native/delays.cpp`): they read the history that belongs to the cell, and add to it after each step.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from .expression import Call, Constant, Expression, Time, as_expression
from .external import OVER, ExternalFunction

_ARITY = {"value": 5, "weight": 5, "next": 2, "ahead": 3, "go_past": 5, "record": 3, "record_within": 4, "record_while_set": 4}
_MOST = 3  # derivatives that the native functions have


class DelayFunction(ExternalFunction):
    """A function of a history: (its cell, time, delay, x, mark) for "value" and "weight"; see `native/delays.cpp`."""

    _made: dict[tuple[str, int], DelayFunction] = {}  # noqa: RUF012 (a cache: interned like expressions)
    what: str
    order: int
    units: tuple[str, ...] = ()
    like: int | None = None  # the argument whose unit the value has

    def __new__(cls, what: str, order: int = 0) -> DelayFunction:
        found = cls._made.get((what, order))
        if found is None:
            found = cls._made[what, order] = object.__new__(cls)
            found.what, found.order, found.arity = what, order, _ARITY[what]
            found.name = "delay" if what == "value" else f"delay_{what}"
            found.units = {"next": ("", "", OVER), "ahead": ("", "", OVER, OVER)}.get(what, ())
            found.like = 3 if what == "value" and order == 0 else None
        return found

    @property
    def address(self) -> int:
        return _address(self.what, self.order)

    def value(self, *arrays: Any) -> np.ndarray:
        call = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * self.arity)(self.address)
        return np.asarray(np.vectorize(lambda *args: call(*args), otypes=[float])(*arrays))

    def complaint(self, values: Sequence[float], margin: float = 0.0) -> str:
        if self.what != "value":
            return ""
        return (
            f"what was {values[2]:g} ago is not known: a run keeps of its past what its own delays need, and a run that starts "
            "from its result with a longer delay has no more"
        )

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        """Of the value p(t - T) by time and delay; by x, where the point under way takes part, its share."""
        if self.what == "ahead":
            return Constant(float(k == 2))
        if self.what not in ("value", "weight") or k in (0, 4) or self.order == _MOST:
            return Constant(0.0)
        if k == 3:
            return Call(DelayFunction("weight", self.order), args) if self.what == "value" else Constant(0.0)
        steeper: Expression = Call(DelayFunction(self.what, self.order + 1), args)
        if k == 2:
            return -steeper
        if self.what == "weight":
            return steeper
        now = (args[0], args[1], Constant(0.0), args[3], args[4])  # the point under way moves along its own slope
        return steeper - Call(DelayFunction("weight", self.order), args) * Call(DelayFunction("value", 1), now)

    def __reduce__(self) -> Any:
        return DelayFunction, (self.what, self.order)


class Delay(ExternalFunction):
    """`ac.delay` as equations are stated: of x, T and, if it was said, what x was before the start."""

    def __init__(self, arity: int, unit: str = "") -> None:
        self.name, self.arity = "delay", arity
        self.unit = unit  # of a delay that was a text: what the model is integrated over is known only where it is traced

    @property
    def address(self) -> int:
        raise AssertionError("a delay is replaced by an unknown before code is made")

    def value(self, *arrays: Any) -> np.ndarray:
        return np.asarray(arrays[0], dtype=float)

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        raise UsageError(
            f"The derivative of `{Call(self, args)}` is asked for.",
            remedy="Give the delayed value a name of its own: declare a variable `late`, state `self.late == ac.delay(…)`, and use "
            "`ac.der(self.late)`.",
        )


@functools.cache
def _function(arity: int, unit: str) -> Delay:
    """One object for each, since functions are told apart by identity."""
    return Delay(arity, unit)


def _of_text(text: str) -> tuple[float, str]:
    """A delay that was said with a unit: seconds where it is a time, otherwise the number and its unit."""
    from .units import dimension, quantity, split_quantity

    number, written = split_quantity(text)
    if not written:
        return number, ""
    unit = "s" if dimension(written) == dimension("s") else written
    return quantity(text, unit), unit


@checked
def delay(x: Any, T: Any, before: Any | Callable[[Expression], Any] = None) -> Expression:
    """What `x` was a time `T` ago: `yield self.outlet == ac.delay(self.inlet, 30.0)`.

    `x` is any expression; `T` a number of seconds (a text, "2 min"), a parameter, or an expression that varies and is never
    negative. Before the start x was what it was at the start, unless `before` says otherwise: a number, an expression, or a
    function of time. At rest (`model.steady()`), and while a start is sought, the delayed value is the value itself.

    Steps may be longer than the delay. Where x jumps or bends, the delayed value does so a delay later: that is an event.

    >>> import acausal as ac
    >>> class Echo(ac.Component):
    ...     x = ac.Variable(start=1.0, fixed=True)
    ...     def equations(self):
    ...         yield ac.der(self.x) == -ac.delay(self.x, 1.0)
    >>> round(ac.compile(Echo()).simulate(2.0)["x"][-1], 4)
    -0.5
    """
    length, unit = _of_text(T) if isinstance(T, str) else (T, "")
    value, late = as_expression(x), as_expression(length)
    if isinstance(late, Constant) and not (np.isfinite(late.value) and late.value >= 0):
        raise UsageError(
            f"A delay is a time of at least zero, got {late.value:g}.",
            remedy="What x will be in the future, no equation can know.",
        )
    if before is None:
        return Call(_function(2, unit), (value, late))
    past = before(Time() - late) if callable(before) else before
    return Call(_function(3, unit), (value, late, as_expression(past)))


def is_delay(node: Expression) -> bool:
    """Whether a node is a delay that was not yet replaced."""
    return isinstance(node, Call) and isinstance(node.function, Delay)


@functools.cache
def _address(what: str, order: int) -> int:
    try:
        core = importlib.import_module("acausal._core")
    except ImportError:
        raise UsageError("`ac.delay` needs the native core, which this installation lacks.") from None
    return int(core.delay_address(what, order))
