"""External inputs of a run are signals: a number, a function of time, a table of measured data.

Each can be evaluated with numpy (for results); the native solver evaluates numbers and tables itself and asks Python for functions
only. `given.py` turns what a user gives into signals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..arguments import durations, unmasked
from ..errors import UsageError
from ..records import dataclass

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
else:  # importing `numpy.typing` takes longer than many a model
    Floats = np.ndarray
Interpolation = Literal["linear", "monotone", "smooth", "hold"]
Ends = Literal["hold", "repeat", "stop"]


_BEFORE = 3  # points whose changes of slope are compared with one that comes …
_SUDDEN = 10.0  # … which is sudden if it is this many times as large
_NOTHING = 1e-6  # of the largest slope: changes by less are rounding


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value at every time."""

    value: float

    def __call__(self, t: float) -> float:
        return self.value

    def at(self, times: ArrayLike) -> Floats:
        return np.full(np.shape(times), self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Points in time; straight lines between them, or cubics with the given slopes. The first and last values hold outside."""

    times: Floats
    values: Floats
    slopes: Floats | None = None
    ends: Ends | None = None  # what somebody said about times before the first and after the last
    rate: bool = False  # the first derivative of the cubics instead of their values; see `derivative`

    def __call__(self, t: float) -> float:
        return float(self.at(t))

    def at(self, times: ArrayLike) -> Floats:
        t = np.clip(np.asarray(times, dtype=float), self.times[0], self.times[-1])
        if self.slopes is None or len(self.times) == 1:
            return np.asarray(np.interp(t, self.times, self.values))
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        h = self.times[k + 1] - self.times[k]
        s = (t - self.times[k]) / h
        r = 1 - s
        if self.rate:
            chord = (self.values[k + 1] - self.values[k]) / h
            return np.asarray(6 * s * r * chord + r * (1 - 3 * s) * self.slopes[k] + s * (1 - 3 * r) * self.slopes[k + 1])
        left = (1 + 2 * s) * self.values[k] + s * h * self.slopes[k]
        right = (1 + 2 * r) * self.values[k + 1] - r * h * self.slopes[k + 1]
        return np.asarray(r * r * left + s * s * right)


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Values that hold from their time until the next one, as a sampled controller or a meter gives them. Made by `ac.hold`."""

    times: Floats
    values: Floats
    ends: Ends | None = "hold"  # the last value holds: that is what it is for
    time_unit: str = ""  # of the times; nothing: that of what the model is integrated over

    def __call__(self, t: float) -> float:
        return float(self.at(t))

    def at(self, times: ArrayLike) -> Floats:
        return np.asarray(self.values[np.maximum(np.searchsorted(self.times, np.asarray(times, dtype=float), side="right") - 1, 0)])


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function of time."""

    function: Callable[[float], float]

    def __call__(self, t: float) -> float:
        return float(self.function(t))

    def at(self, times: ArrayLike) -> Floats:
        t = np.asarray(times, dtype=float)
        return np.array([self(float(x)) for x in t.ravel()]).reshape(t.shape)


class Pieces:
    """One signal after the other, each from a time on: what an input was in a session that was given another one on the way."""

    def __init__(self, first: Signal) -> None:
        self.starts: list[float] = [-np.inf]
        self.signals: list[Signal] = [first]

    def add(self, t: float, signal: Signal) -> None:
        self.starts.append(t)
        self.signals.append(signal)

    def copy(self) -> Pieces:
        other = Pieces(self.signals[0])
        other.starts, other.signals = list(self.starts), list(self.signals)
        return other

    def __call__(self, t: float) -> float:
        return float(self.at(t))

    def at(self, times: ArrayLike) -> Floats:
        t = np.asarray(times, dtype=float)
        which, out = np.searchsorted(self.starts, t, side="right") - 1, np.empty(t.shape)
        for k in np.unique(which):
            here = which == k
            out[here] = self.signals[k].at(t[here])
        return out


Signal = Constant | Table | Steps | Function


def derivative(signal: Signal, begin: float, end: float) -> Signal | str:
    """How a signal changes between two times, apart from its jumps; in words, why that is not known.

    >>> derivative(Table(np.array([0.0, 1.0, 3.0]), np.array([0.0, 5.0, 6.0])), 0.0, 3.0).at([0.5, 2.0])
    array([5. , 0.5])
    """
    if isinstance(signal, Constant | Steps):
        return Constant(0.0)
    if isinstance(signal, Function):
        return "a Python function says nothing about its derivative"
    if signal.slopes is None:
        times, rates = signal.times[:-1], np.diff(signal.values) / np.diff(signal.times)
        if begin < times[0]:
            times, rates = np.append(begin, times), np.append(0.0, rates)
        if end > signal.times[-1]:
            times, rates = np.append(times, signal.times[-1]), np.append(rates, 0.0)
        return Steps(times, rates)
    if signal.rate:
        return "the second derivative of smoothed data jumps at every point"
    if (signal.slopes[0] and begin < signal.times[0]) or (signal.slopes[-1] and end > signal.times[-1]):
        return f"the data, smoothed, bend where they begin or end ({signal.times[0]:g} to {signal.times[-1]:g})"
    return Table(signal.times, signal.values, signal.slopes, signal.ends, rate=True)


def changes_by_itself(signal: Signal) -> bool:
    """Whether a signal is more than one value."""
    return not isinstance(signal, Constant)


def jump_between(signal: Callable[[float], float], low: float, high: float) -> tuple[float, float] | None:
    """The last time before a function jumps and the first one after it; None if most of what it does between two times is no jump.

    >>> before, after = jump_between(lambda t: 0.2 if t < 50.0 else t / 1000, 49.0, 51.5)
    >>> before < after == 50.0
    True
    >>> jump_between(lambda t: t * t, 49.0, 51.5) is None
    True
    """
    of_low, of_high = signal(low), signal(high)
    whole, closest = abs(of_high - of_low), 1e-16 * (high - low)
    while whole > 0 and abs(of_high - of_low) >= 0.5 * whole:
        middle = 0.5 * (low + high)
        if middle in (low, high) or high - low <= closest:
            return low, high
        here = signal(middle)
        if abs(here - of_low) > abs(of_high - here):
            high, of_high = middle, here
        else:
            low, of_low = middle, here
    return None


class Side:
    """Where a run is among the jumps of its inputs: functions are asked from the last one on, and before the next one only."""

    __slots__ = ("after", "before")

    def __init__(self, after: float) -> None:
        self.after, self.before = after, np.inf


@dataclass(frozen=True, slots=True)
class Sided:
    """A function of time on one side of its jumps: an integration that ends right at a jump has not seen what is beyond it."""

    function: Callable[[float], float]
    side: Side

    def __call__(self, t: float) -> float:
        side = self.side
        return self.function(side.before if t > side.before else side.after if t < side.after else t)


def on_both_sides(inputs: Mapping[int, Signal]) -> dict[int, Signal]:
    """Inputs as they are at any time, for whoever looks at a run when it has gone beyond their jumps."""
    found = dict(inputs)
    for cell, signal in inputs.items():
        if isinstance(signal, Function) and isinstance(signal.function, Sided):
            found[cell] = Function(signal.function.function)
    return found


def has_corners(signal: Signal) -> bool:
    """Whether a signal jumps, bends or sets out at times that are known, or can be found."""
    return isinstance(signal, Steps | Function) or (
        isinstance(signal, Table) and (signal.slopes is None or len(turning(signal)) > 0)
    )


def turning(signal: Signal) -> Floats:
    """Where smooth values through points set out after a rest: steps that end there overlook no pulse."""
    smooth = isinstance(signal, Table) and signal.slopes is not None and not signal.rate
    return turned_at(signal.times, signal.values) if smooth else np.zeros(0)  # type: ignore[union-attr]


def turned_at(x: Floats, y: Floats) -> Floats:
    """Points at which slopes change far more than at those before, and the points that follow these.

    Where points follow a line, or a curve, a solver's steps grow until they would miss what comes next; where values always move
    to and fro, they do not.
    """
    slopes = np.diff(y) / np.diff(x)
    change = np.abs(np.diff(slopes))
    padded = np.concatenate([np.zeros(_BEFORE), change])
    before = np.maximum.reduce([padded[k : k + len(change)] for k in range(_BEFORE)])
    sudden = 1 + np.flatnonzero((change > _SUDDEN * before) & (change > _NOTHING * np.abs(slopes).max(initial=0.0)))
    return np.asarray(x[np.unique(np.concatenate([sudden, sudden + 1]))])


def hold(times: Any, values: Any) -> Steps:
    """An input that keeps each value until the next time: `simulate(inputs={"door": ac.hold([0, 600, 660], [0, 1, 0])})`.

    The times are hit exactly; before the first of them the first value holds.
    """
    passed = durations(times)
    t, v = numbers(times if passed is None else passed, "times", "hold"), numbers(values, "values", "hold")
    if len(t) != len(v):
        raise UsageError(f"`ac.hold` got {len(t)} times and {len(v)} values.")
    if (np.diff(t) <= 0).any():
        k = int(np.flatnonzero(np.diff(t) <= 0)[0])
        raise UsageError(f"The times of `ac.hold` must increase: at index {k + 1}, {t[k + 1]:g} follows {t[k]:g}.")
    return Steps(t, v, time_unit="" if passed is None else "s")


def numbers(given: Any, what: str, name: str) -> Floats:
    """A one-dimensional array of finite numbers."""
    try:
        values = np.ascontiguousarray(unmasked(given), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"The {what} of input `{name}` are not numbers: {error}.") from error
    if values.ndim != 1 or not len(values):
        raise UsageError(
            f"The {what} of input `{name}` must be a one-dimensional array with at least one element, not of shape {values.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise UsageError(
            f"The {what} of input `{name}` are not finite at {len(bad)} of {len(values)} points, first at index {bad[0]}.",
            remedy="remove these points or fill the gaps",
        )
    return values


def table(times: Any, values: Any, name: str, interpolation: Interpolation = "linear", ends: Ends | None = None) -> Signal:
    """Points in time as a signal; what is wrong with them is told."""
    passed = durations(times)
    t, v = numbers(times if passed is None else passed, "times", name), numbers(values, "values", name)
    if len(t) != len(v):
        raise UsageError(f"Input `{name}` has {len(t)} times and {len(v)} values.")
    back = np.flatnonzero(np.diff(t) <= 0)
    if len(back):
        k = int(back[0])
        raise UsageError(
            f"The times of input `{name}` must increase: at index {k + 1}, {t[k + 1]:g} follows {t[k]:g}.",
            remedy="sort the points; values that jump, and hold until the next one, are given by `ac.hold(times, values)`",
        )
    if len(t) == 1:
        return Constant(float(v[0]))
    if interpolation == "hold":
        return Steps(t, v, ends)
    if interpolation == "linear":
        return Table(t, v, ends=ends)
    return Table(t, v, _monotone_slopes(t, v) if interpolation == "monotone" else _parabola_slopes(t, v), ends)


def _parabola_slopes(t: Floats, v: Floats) -> Floats:
    """At each point the slope of the parabola through it and its neighbours; exact for quadratics."""
    if len(t) == 2:
        return np.full(2, (v[1] - v[0]) / (t[1] - t[0]))
    return np.ascontiguousarray(np.gradient(v, t, edge_order=2))


def _monotone_slopes(t: Floats, v: Floats) -> Floats:
    """Slopes of Fritsch and Butland (SIAM J. Sci. Stat. Comput. 5 (1984) 300): a weighted harmonic mean, zero at an extremum."""
    h, d = np.diff(t), np.diff(v) / np.diff(t)
    slopes = np.zeros(len(t))
    slopes[0], slopes[-1] = d[0], d[-1]
    same = d[:-1] * d[1:] > 0
    left, right = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # where an extremum or a flat piece takes over
        mean = (left + right) / (left / d[:-1] + right / d[1:])
    slopes[1:-1] = np.where(same, mean, 0.0)
    return slopes


def values_at(inputs: Mapping[int, Signal], t: float, known: Floats) -> Floats:
    """A copy of `known` with the inputs' cells as they are at time t."""
    values = known.copy()
    for cell, given in inputs.items():
        values[cell] = given(t)
    return values
