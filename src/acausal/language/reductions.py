"""Reductions: one number out of a trajectory, said before there is one: `ac.max("room.T")`, `ac.when_first("room.T", above=295.0)`.

A reduction is a value (kind, path, numbers), so that it can be written to a file, sent to another process and named in a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from ..records import dataclass

if TYPE_CHECKING:
    from .expression import Expression


class Trajectory(Protocol):
    """What a reduction asks of a result."""

    @property
    def time(self) -> np.ndarray: ...
    def __getitem__(self, name: str) -> np.ndarray: ...
    def unit(self, name: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Reduction:
    """What is kept of one quantity over a run: its final value, mean, largest value, …"""

    kind: str
    path: str
    level: float | str | None = None

    @property
    def label(self) -> str:
        """What a column of a table is called.

        >>> Reduction("max", "room.T").label, Reduction("first above", "room.T", 295.0).label
        ('max room.T', 'time of room.T > 295')
        """
        if self.level is not None:
            return f"time of {self.path} {'>' if self.kind == 'first above' else '<'} {_shown(self.level)}"
        return self.path if self.kind == "final" else f"{self.kind} {self.path}"

    @property
    def is_between_rows(self) -> bool:
        """Whether it is a place on the curve rather than a sum over it: rows must not be too far apart there."""
        return self.level is not None or self.kind in ("max", "min")

    def unit(self, result: Trajectory) -> str:
        return self.unit_from(result.unit)

    def unit_from(self, unit: Callable[[str], str]) -> str:
        """Its unit, from those of its quantity and of time."""
        over = unit("time") or "s"
        if self.level is not None:
            return over
        own = unit(self.path)
        return {"integral": f"({own})*{over}" if own else over}.get(self.kind, own)

    def of(self, result: Trajectory) -> float:
        """The number; not a number where there is none (a threshold that is never reached, a run without a point)."""
        values = np.asarray(result[self.path], dtype=float)
        if values.ndim != 1:
            raise UsageError(
                f"`{self.path}` is an array of shape {values.shape[1:]}; a column of a table takes one number.",
                remedy=f"Name an element: `{self.path}[0]`, or give a function of the result.",
            )
        if not len(values):
            return float("nan")
        turning = getattr(result, "extreme_of", None)
        if self.kind in ("max", "min") and turning is not None:
            return float(turning(self.path, self.kind == "max"))
        passing = getattr(result, "crossing_of", None)
        if self.level is not None and passing is not None:
            return float(passing(self.path, self.number(result), self.kind == "first above"))
        area = getattr(result, "integral_of", None)
        if self.kind not in ("mean", "integral") or area is None:
            return float(_KINDS[self.kind](result.time, values, self.number(result)))
        span = float(result.time[-1] - result.time[0])
        if self.kind == "mean" and not span > 0:
            return float(values[-1])
        return float(area(self.path)) / (span if self.kind == "mean" else 1.0)

    def number(self, result: Trajectory) -> float:
        """The level in the unit of the quantity; not a number if there is none."""
        if not isinstance(self.level, str):
            return float("nan") if self.level is None else float(self.level)
        from .units import quantity

        return quantity(self.level, result.unit(self.path))


@checked
def final(path: str) -> Reduction:
    """The last value.

    >>> final("room.T").label
    'room.T'
    """
    return Reduction("final", _path(path))


@checked
def first(path: str) -> Reduction:
    """The value at the start."""
    return Reduction("first", _path(path))


@overload
def integral(path: str) -> Reduction: ...


@overload
def integral(path: Any, start: Any = 0.0) -> Expression: ...


def integral(path: Any, start: Any = 0.0) -> Any:
    """The integral over time: of a heat flow in W, the heat in J.

    Of a path it is a number that is kept of a run (in studies, gradients, optima). Of an expression in equations it is a meter: a
    state that begins at `start`, and takes no part in a search for rest: `yield self.energy == ac.integral(self.Q_flow)`.

    >>> integral("heater.Q_flow").kind
    'integral'
    """
    if isinstance(path, str):
        return Reduction("integral", _path(path))
    from .meters import meter

    return meter(path, start)


@checked
def when_first(path: str, *, above: float | str | None = None, below: float | str | None = None) -> Reduction:
    """The time at which a quantity first rises above (or falls below) a level; not a number if it never does.

    >>> when_first("room.T", above="22 degC").label
    'time of room.T > 22 degC'
    """
    if (above is None) == (below is None):
        raise UsageError("`ac.when_first` takes one level: `above` or `below`.", remedy='ac.when_first("room.T", above="22 degC")')
    return Reduction("first above", _path(path), above) if above is not None else Reduction("first below", _path(path), below)


def _path(given: Any) -> str:
    if not isinstance(given, str):
        raise UsageError(f"A path such as `room.T` was expected, got {given!r} of type {type(given).__name__}.")
    return given


def _shown(level: Any) -> str:
    return level if isinstance(level, str) else f"{level:g}"


def _mean(time: np.ndarray, values: np.ndarray, _: float) -> float:
    span = time[-1] - time[0]
    return float(np.trapezoid(values, time) / span) if span > 0 else float(values[-1])


def _first_above(time: np.ndarray, values: np.ndarray, level: float) -> float:
    beyond = np.flatnonzero(values > level)
    if not len(beyond):
        return float("nan")
    k = int(beyond[0])
    if k == 0 or values[k] == values[k - 1]:
        return float(time[k])
    return float(time[k - 1] + (time[k] - time[k - 1]) * (level - values[k - 1]) / (values[k] - values[k - 1]))


_KINDS: dict[str, Callable[[np.ndarray, np.ndarray, float], float]] = {
    "first": lambda t, v, _: v[0],
    "final": lambda t, v, _: v[-1],
    "max": lambda t, v, _: v.max(),
    "min": lambda t, v, _: v.min(),
    "mean": _mean,
    "integral": lambda t, v, _: np.trapezoid(v, t),
    "first above": _first_above,
    "first below": lambda t, v, level: _first_above(t, -v, -level),
}
