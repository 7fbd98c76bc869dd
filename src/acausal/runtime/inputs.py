"""External inputs of a run are signals: a number, a function of time, a table of measured data.

`as_signal` turns what a user gives into one of three things. Each can be evaluated with numpy (for results); the native solver
evaluates numbers and tables itself and asks Python for functions only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import UsageError, near_matches

Floats = NDArray[np.float64]
Interpolation = Literal["linear", "monotone", "smooth"]


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
        left = (1 + 2 * s) * self.values[k] + s * h * self.slopes[k]
        right = (1 + 2 * r) * self.values[k + 1] - r * h * self.slopes[k + 1]
        return np.asarray(r * r * left + s * s * right)


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Values that hold from their time until the next one, as a sampled controller or a meter gives them. Made by `ac.hold`."""

    times: Floats
    values: Floats

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


Signal = Constant | Table | Steps | Function


def has_corners(signal: Signal) -> bool:
    """Whether a signal jumps or bends at times that are known."""
    return isinstance(signal, Steps) or (isinstance(signal, Table) and signal.slopes is None)


def hold(times: Any, values: Any) -> Steps:
    """An input that keeps each value until the next time: `simulate(inputs={"door": ac.hold([0, 600, 660], [0, 1, 0])})`.

    The times are hit exactly; before the first of them the first value holds.
    """
    t, v = _numbers(times, "times", "hold"), _numbers(values, "values", "hold")
    if len(t) != len(v):
        raise UsageError(f"`ac.hold` got {len(t)} times and {len(v)} values.")
    if (np.diff(t) <= 0).any():
        k = int(np.flatnonzero(np.diff(t) <= 0)[0])
        raise UsageError(f"The times of `ac.hold` must increase: at index {k + 1}, {t[k + 1]:g} follows {t[k]:g}.")
    return Steps(t, v)


def as_signal(given: Any, name: str = "input", interpolation: Interpolation = "linear", unit: str = "") -> Signal:
    """A number, a function of time, (times, values), a pandas Series, a CSV file (path, or (path, column)) as an input.

    A text that names no file may be a number with a unit ("3 kV"), which is converted to `unit`.
    `interpolation` is for tables: "linear"; "monotone" (C1 cubics that never overshoot the data); "smooth" (C1 cubics with the
    slope of the parabola through three neighbouring points).
    """
    if interpolation not in get_args(Interpolation):
        raise UsageError(
            f"`interpolation` is {interpolation!r}; it must be one of {', '.join(map(repr, get_args(Interpolation)))}."
        )
    if isinstance(given, Constant | Table | Steps | Function):
        return given
    if isinstance(given, bool | int | float | np.number) or (isinstance(given, np.ndarray) and given.ndim == 0):
        return _constant(float(given), name)
    if isinstance(given, str) and not _is_file(given):
        return _constant(_quantity(given, unit, name), name)
    if isinstance(given, str | PathLike):
        return _table(*_read_csv(given, None, name), name, interpolation)
    if _is_series(given):
        return _table(_seconds(given.index), given.to_numpy(), name, interpolation)
    if callable(given):
        return Function(given)
    if isinstance(given, tuple | list) and len(given) == 2:
        if isinstance(given[0], str | PathLike) and isinstance(given[1], str):
            return _table(*_read_csv(given[0], given[1], name), name, interpolation)
        return _table(given[0], given[1], name, interpolation)
    raise UsageError(
        f"Input `{name}` got {_shown(given)}.",
        remedy="give a number, a function of time, (times, values), a pandas Series indexed by time, or a CSV file (path, column)",
    )


def _shown(given: Any) -> str:
    columns = getattr(given, "columns", None)
    if columns is not None:
        return f"a DataFrame with the columns {', '.join(map(str, columns))}: choose one of them"
    return f"{type(given).__name__} {given!r:.60}"


def _is_series(given: Any) -> bool:
    return hasattr(given, "index") and hasattr(given, "to_numpy") and not hasattr(given, "columns")


def _seconds(index: Any) -> Any:
    """The times of a pandas index; of dates, the seconds since the first."""
    if hasattr(index, "total_seconds"):
        return index.total_seconds()
    if hasattr(index, "tz_localize"):  # dates
        return (index - index[0]).total_seconds()
    return index


def _is_file(text: str) -> bool:
    from os.path import exists

    return text.lower().endswith(".csv") or exists(text)


def _quantity(text: str, unit: str, name: str) -> float:
    from ..language.units import quantity

    try:
        return quantity(text, unit)
    except UsageError as error:
        raise UsageError(
            f"Input `{name}` cannot be {text!r}: there is no such file, and as a quantity it is wrong. {error.diagnostics[0].what}",
            remedy=error.diagnostics[0].remedy,
        ) from None


def _constant(value: float, name: str) -> Constant:
    if not np.isfinite(value):
        raise UsageError(f"Input `{name}` is {value}; it must be a finite number.")
    return Constant(value)


def _numbers(given: Any, what: str, name: str) -> Floats:
    try:
        values = np.ascontiguousarray(given, dtype=np.float64)
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


def _table(times: Any, values: Any, name: str, interpolation: Interpolation) -> Signal:
    t, v = _numbers(times, "times", name), _numbers(values, "values", name)
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
    if interpolation == "linear":
        return Table(t, v)
    return Table(t, v, _monotone_slopes(t, v) if interpolation == "monotone" else _parabola_slopes(t, v))


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


def _read_csv(path: str | PathLike[str], column: str | None, name: str) -> tuple[Floats, Floats]:
    """Times (first column) and values of a comma-separated file with a header."""
    import csv

    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(line for line in file if not line.lstrip().startswith("#")) if row]
    except OSError as error:
        raise UsageError(f"The file of input `{name}` cannot be read: {error}.") from error
    header = [h.strip() for h in rows[0]] if rows else []
    k = _column(header, column, str(path), name)
    try:
        return np.array([float(r[0]) for r in rows[1:]]), np.array([float(r[k]) for r in rows[1:]])
    except (ValueError, IndexError) as error:
        raise UsageError(f"The file `{path}` of input `{name}` has a row that is not numbers under its header: {error}.") from error


def _column(header: list[str], column: str | None, path: str, name: str) -> int:
    if len(header) < 2:
        raise UsageError(f"The file `{path}` of input `{name}` needs a header and two columns: time and values.")
    if column is None:
        if len(header) == 2:
            return 1
        raise UsageError(
            f"The file `{path}` of input `{name}` has the columns {', '.join(header[1:])}.",
            remedy=f"choose one: ({path!r}, {header[1]!r})",
        )
    if column in header:
        return header.index(column)
    raise UsageError(
        f"The file `{path}` of input `{name}` has no column `{column}`; it has {', '.join(header)}.",
        remedy=near_matches(column, header),
    )


def values_at(inputs: Mapping[int, Signal], t: float, known: Floats) -> Floats:
    """A copy of `known` with the inputs' cells as they are at time t."""
    values = known.copy()
    for cell, given in inputs.items():
        values[cell] = given(t)
    return values
