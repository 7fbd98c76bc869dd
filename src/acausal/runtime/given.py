"""What a user gives for an input, as signals: numbers, functions, points in time, files, pandas' tables.

*A thing that could be read in two ways is refused.* For a single input, `(times, values)` is a tuple of two sequences, and a list
of pairs is a list of points; two numbers are neither. For an array, numbers in its own shape are one for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ..arguments import checked, durations, unmasked
from ..errors import Diagnostic, UsageError
from ..families.numbers import range_text
from ..language.columns import FILES, SECONDS, Over
from ..language.differences import refuse_level
from ..language.expression import Shape
from ..language.suffixes import clock_at_end, in_unit_of_suffix, names_of
from ..language.units import convert, dimension, quantity
from ..records import dataclass
from .inputs import Constant, Ends, Floats, Function, Interpolation, Signal, Steps, Table, table
from .storage import seconds

if TYPE_CHECKING:
    from ..language import columns

MOST_POINTS = 20_000_000  # of data that repeat over a run
_OPEN_POINTS = 200_000  # of data that repeat in a session whose end nobody knows
_WAYS = (
    "give a number, a function of time, (times, values), a list of (time, value) pairs, a pandas Series indexed by time, a file, "
    "or (file, column); for an array also numbers in its shape"
)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Measured data with everything said about them. Made by `ac.data`."""

    given: Any
    interpolation: Interpolation
    ends: Ends | None
    period: float | str | None
    unit: str
    time_unit: str = ""  # of times that are numbers; nothing: that of what the model is integrated over


@checked
def data(
    given: Any,
    values: Any = None,
    *,
    ends: Ends | None = None,
    period: float | str | None = None,
    interpolation: Interpolation = "linear",
    unit: str = "",
    time_unit: str = "",
) -> Data:
    """Measured data as an input: `simulate(inputs={"T_out": ac.data("weather.csv", "T [degC]", ends="repeat")})`.

    given, values: times and values; or a file (CSV, Parquet, Excel) or a pandas DataFrame and the name of a column.
    ends: what happens before the first and after the last time. "hold" keeps the first and last value; "repeat" begins anew after
        `period` (unless given, the time from the first to the last point, and one more step if these two differ); with "stop" a run
        that goes beyond the data is refused. If nothing is said, values are held and the run warns of it.
    interpolation: "linear"; "monotone" (C1 cubics that never overshoot the data); "smooth" (C1 cubics with the slope of the
        parabola through three neighbouring points); "hold" (each value until the next one).
    unit: of the values, where a header does not say it.
    time_unit: of the times, likewise; without it they are in seconds, or in the unit of `ac.Independent`.

    >>> import acausal as ac
    >>> ac.data([0.0, 3600.0], [0.0, 20.0], ends="hold", unit="degC").ends
    'hold'
    """
    for what, choice, known in (("interpolation", interpolation, get_args(Interpolation)), ("ends", ends, (*get_args(Ends), None))):
        if choice not in known:
            raise UsageError(f"`{what}` is {choice!r}; it must be one of {', '.join(map(repr, known))}.")
    if period is not None and ends != "repeat":
        raise UsageError('`period` is for data that repeat: `ac.data(…, ends="repeat", period="1 day")`.')
    if period is not None and not isinstance(period, str) and not period > 0:
        raise UsageError(f"`period` is a time such as `1 day`, got {period!r}.")
    return Data(given if values is None else (given, values), interpolation, ends, period, unit, time_unit)


def as_signal(
    given: Any, name: str = "input", interpolation: Interpolation = "linear", unit: str = "", over: Over = SECONDS
) -> Signal | Repeating:
    """One signal: a number, a function of time, points in time, a pandas Series, a file, or (file, column).

    A text that names no file may be a number with a unit ("3 kV"), which is converted to `unit`. `over`: what the model is
    integrated over, in whose unit times are wanted.
    """
    if isinstance(given, Steps) and given.time_unit not in ("", over[1]):
        return replace(given, times=_on(given.times, given.time_unit, over, name), time_unit=over[1])
    if isinstance(given, Constant | Table | Steps | Function | Repeating):
        return given
    if not isinstance(given, Data):
        given = data(given, interpolation=interpolation)
    return _of_data(given, name, unit, over)


def _of_data(said: Data, name: str, unit: str, over: Over) -> Signal | Repeating:
    given, own = said.given, said.unit
    if isinstance(given, bool | int | float | np.number) or (isinstance(given, np.ndarray) and given.ndim == 0):
        return _constant(_in_unit(given, own, unit, name), name)
    if isinstance(given, str) and not _is_file(given):
        return _constant(_quantity(given, unit, name), name)
    if callable(given) and not _is_series(given):
        return Function(_Element(_of_time(given, name), name, (), 0))
    times, values = _points(given, name, unit, own, (over, said.time_unit))
    found = table(times, values, name, said.interpolation, said.ends)
    if said.ends != "repeat" or not isinstance(found, Table | Steps):
        return found
    return Repeating(found.times, found.values, said.interpolation, _period(found.times, found.values, said, name, over[1]))


def _period(times: Floats, values: Floats, data: Data, name: str, unit: str) -> float:
    span = float(times[-1] - times[0])
    if data.period is None:
        return span if values[0] == values[-1] else span + float(times[-1] - times[-2])
    said = float(seconds(data.period, "period", unit))
    if isinstance(data.period, float | int) and data.time_unit:
        said = float(_on(said, data.time_unit, (name, unit), name))
    if said <= 0:
        raise UsageError(f"`period` is a time such as `1 day`, got {data.period!r}.")
    if said < span:
        raise UsageError(f"The data of input `{name}` are {span:g} {unit} long and cannot repeat after {said:g} {unit}.")
    return said


@dataclass(frozen=True, slots=True, eq=False)
class Repeating:
    """Points in time that begin anew after a period; for a run they are laid end to end."""

    times: Floats
    values: Floats
    interpolation: Interpolation
    period: float

    def over(self, begin: float, end: float, name: str, unit: str = "s") -> Signal:
        """The points from a period before `begin` to a period after `end`; without an end, as far as there is room for them."""
        first = int(np.floor((begin - self.times[0]) / self.period)) - 1
        last = first + 3 + _OPEN_POINTS // len(self.times)
        if np.isfinite(end):
            last = int(np.ceil((end - self.times[0]) / self.period)) + 1
        if (last - first) * len(self.times) > MOST_POINTS:
            raise UsageError(
                f"The data of input `{name}` repeat every {self.period:g} {unit}, {last - first} times in a run: too many points.",
                remedy="Give a function of time, or a source in the model.",
            )
        turns = np.arange(first, last)[:, None] * self.period
        closed = bool(self.times[-1] - self.times[0] >= self.period)  # the last point is the first of the next turn
        own = slice(None, -1) if closed else slice(None)
        times, values = (turns + self.times[own]).ravel(), np.tile(self.values[own], last - first)
        return table(times, values, name, self.interpolation, "hold" if np.isfinite(end) else "stop")


def _points(given: Any, name: str, unit: str, own: str, clock: tuple[Over, str]) -> tuple[Any, Any]:
    """Times and values that somebody gave in one of many ways. `clock`: what times are wanted in, and what numbers are in."""
    if _is_table(given):
        return _of_columns(given, None, name, (unit, own), clock)
    if _is_series(given):
        return _of_series(given, unit, own, name, clock)
    if (
        isinstance(given, tuple | list)
        and len(given) == 2
        and (isinstance(given[0], str | PathLike) or hasattr(given[0], "columns"))
    ):
        return _of_columns(given[0], given[1], name, (unit, own), clock)
    if isinstance(given, tuple | list):
        points = _of_sequences(given)
        if points is not None:
            passed = durations(points[0])
            times = _on(points[0], clock[1], clock[0], name) if passed is None else _on(passed, "s", clock[0], name)
            return times, _in_unit(points[1], own, unit, name)
    raise UsageError(f"Input `{name}` got {_shown(given)}.", remedy=_remedy(given))


def _is_table(given: Any) -> bool:
    """Whether it is the name of a file, or a pandas DataFrame."""
    return isinstance(given, str | PathLike) or hasattr(given, "columns")


def _of_sequences(given: Sequence[Any]) -> tuple[Any, Any] | None:
    """(times, values), or a list of (time, value) pairs; None for neither, and for what could be both."""
    if not given or not all(_is_sequence(part) for part in given):
        return None
    pairs = all(len(part) == 2 for part in given)
    if len(given) == 2 and pairs:
        tuples = [isinstance(part, tuple) for part in given]
        if isinstance(given, tuple) and not any(tuples):
            return given[0], given[1]
        return tuple(zip(*given, strict=True)) if isinstance(given, list) and all(tuples) else None  # type: ignore[return-value]
    if len(given) == 2:
        return given[0], given[1]
    return tuple(zip(*given, strict=True)) if pairs else None  # type: ignore[return-value]


def _is_sequence(part: Any) -> bool:
    return isinstance(part, list | tuple) or (hasattr(part, "__len__") and hasattr(part, "__array__") and np.ndim(part) > 0)


def _of_columns(
    given: Any, which: str | int | None, name: str, units: tuple[str, str], clock: tuple[Over, str]
) -> tuple[Floats, Floats]:
    """The times and one column of a file or of a pandas DataFrame. `units`: that of the input, and what was said of the values."""
    from ..language import columns

    try:
        found = columns.read(given) if isinstance(given, str | PathLike) else columns.of_frame(given, over=clock[0])
        if not isinstance(given, str | PathLike) and not found.has_time(clock[0]):
            listed = ", ".join(found.titles)
            raise UsageError(
                f"A DataFrame with the columns {listed} has no column of times.",
                remedy="Choose one of them, `frame[…]`, whose index is the time; or call the column of times `time`.",
            )
        wanted = [c for c in found.columns if c.name in names_of(name)] if which is None else [found.find(which, units[0])]
        apart = found.apart(wanted)  # what is wanted may be called `date`; if another column is the time, it is not
        found = apart if apart.has_time(clock[0]) else found
        if which is None:
            which = _only_column(found, clock[0])
        values = found.values_of(which, clock[0], units[0])
        return found.times(*clock), values.in_unit(units[0], found.path, units[1], name)
    except UsageError as error:
        raise UsageError(*(replace(d, what=f"Input `{name}`: {d.what}") for d in error.diagnostics)) from None


def _only_column(found: columns.Columns, over: Over) -> str:
    titles = [column.title for column in found.data(over)]
    if len(titles) == 1:
        return titles[0]
    if not titles:
        raise UsageError(
            f"`{found.path}` has a single column, `{found.time(over).title}`.", remedy="It needs two: time and values."
        )
    raise UsageError(f"`{found.path}` has the columns {', '.join(titles)}.", remedy=f"choose one: ({found.path!r}, {titles[0]!r})")


def _of_series(series: Any, unit: str, own: str, input_name: str, clock: tuple[Over, str]) -> tuple[Any, Any]:
    """A pandas Series: its index is the time (of dates, since the first); names may say units: `T [degC]`."""
    from ..language import columns

    index, over = series.index, clock[0]
    name, header = columns.titled(str(series.name), "a Series") if series.name is not None else ("", "")
    values = _in_unit(series.to_numpy(), own or header, unit, name or "series")
    if name and not (own or header):
        values = in_unit_of_suffix(values, name, unit, "a Series", input_name)
    if hasattr(index, "total_seconds"):
        return _on(index.total_seconds(), "s", over, input_name), values
    if hasattr(index, "tz_localize"):
        return _on((index - index[0]).total_seconds(), "s", over, input_name), values
    title, said = columns.titled(str(index.name), "a Series") if index.name is not None else ("", "")
    return _on(index, said or clock_at_end(title, columns.TIMES) or clock[1], over, input_name), values


def _on(times: Any, said: str, over: Over, name: str) -> Any:
    """Times in the unit of what the model is integrated over, `said` being their own; nothing: they are in it already."""
    if not said or said == over[1]:
        return times
    if dimension(said) != dimension(over[1]):
        raise UsageError(
            f"The times of input `{name}` are in {said}, but the model is integrated over a quantity in {over[1]}.",
            remedy=f"Give points along it: numbers in {over[1]}, and the values there.",
        )
    return convert(np.asarray(unmasked(times), dtype=float), said, over[1])


def _in_unit(given: Any, own: str, unit: str, name: str) -> Any:
    if not own:
        return given
    try:
        return convert(np.asarray(unmasked(given), dtype=float), own, unit)
    except UsageError as error:
        raise UsageError(*(replace(d, what=f"Input `{name}`: {d.what}") for d in error.diagnostics)) from None


def _is_row(given: Any) -> bool:
    """Values side by side: not (times, values), a list of points or (file, column)."""
    if len(given) == 2:
        return all(isinstance(part, bool | int | float | np.number) for part in given)
    return not any(map(_is_sequence, given))


def _shown(given: Any) -> str:
    return f"{type(given).__name__} {given!r:.60}"


def _remedy(given: Any) -> str:
    if isinstance(given, tuple | list) and len(given) == 2:
        if _is_row(given):
            table = f"([0, 10], {list(given)})"
            return f"Two numbers are neither one value nor a table: give one number, or times and values as in {table}."
        if all(_is_sequence(part) and len(part) == 2 for part in given):
            return "It may be (times, values) or two points (time, value): say it, `ac.data(times, values)`."
    return _WAYS


def _is_series(given: Any) -> bool:
    return hasattr(given, "index") and hasattr(given, "to_numpy") and not hasattr(given, "columns")


def _is_file(text: str) -> bool:
    from os.path import exists

    return text.lower().endswith(FILES) or exists(text)


def _quantity(text: str, unit: str, name: str) -> float:
    refuse_level(name, text, unit)
    try:
        return quantity(text, unit)
    except UsageError as error:
        raise UsageError(
            f"Input `{name}` cannot be {text!r}: there is no such file, and as a quantity it is wrong. {error.diagnostics[0].what}",
            remedy=_column_of(text) or error.diagnostics[0].remedy,
        ) from None


def _column_of(text: str) -> str:
    """What to write for `file.csv:column`, as the command line has it."""
    file, colon, column = text.rpartition(":")
    return f'A column of a file is `ac.data("{file}", "{column}")`.' if colon and _is_file(file) else ""


def _constant(value: Any, name: str) -> Constant:
    number = float(value)
    if not np.isfinite(number):
        raise UsageError(f"Input `{name}` is {value}; it must be a finite number.")
    return Constant(number)


# --- arrays of inputs ---------------------------------------------------------------------------------------------------------


def signals(given: Any, name: str, shape: Shape, unit: str, over: Over = SECONDS) -> list[Signal | Repeating]:
    """A signal for each element of an input, or of an array of inputs, in order."""
    count = int(np.prod(shape))
    if not shape or isinstance(given, Constant | Table | Steps | Function | Repeating):
        return [as_signal(given, name, unit=unit, over=over)] * count
    if isinstance(given, Data):
        parts = _element_tables(given.given, shape)
        if parts is not None:
            return [as_signal(replace(given, given=part), name, unit=unit, over=over) for part in parts]
        return [as_signal(given, name, unit=unit, over=over)] * count
    if _has_shape(given, shape):
        if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]):
            raise UsageError(
                f"Input `{name}` has the shape {shape}, and {_shown(given)} may be its elements or (times, values).",
                remedy="say it: `numpy.array(…)` for numbers, one for each element; `ac.data(times, values)` for points in time",
            )
        return [as_signal(float(x), f"{name}[{k}]") for k, x in enumerate(np.asarray(unmasked(given), dtype=float).ravel())]
    parts = _element_tables(given, shape)
    if parts is not None:
        return [as_signal(part, f"{name}[{k}]", unit=unit, over=over) for k, part in enumerate(parts)]
    if isinstance(given, list) and len(given) == count and len(shape) == 1 and not all(_is_plain_pair(part) for part in given):
        return [as_signal(part, f"{name}[{k}]", unit=unit, over=over) for k, part in enumerate(given)]
    if callable(given) and not _is_series(given) and not hasattr(given, "columns"):
        function = _of_time(given, name)
        return [Function(_Element(function, name, shape, k)) for k in range(count)]
    if isinstance(given, list | tuple | np.ndarray) and _is_row(given):
        raise UsageError(f"Input `{name}` has the shape {shape} and got {len(given)} values: {_shown(given)}.", remedy=_WAYS)
    return [as_signal(given, name, unit=unit, over=over)] * count


def _of_time(function: Callable[..., Any], name: str) -> Callable[[float], Any]:
    """A function that can be called with a time alone."""
    from inspect import signature  # most runs have no functions

    try:
        signature(function).bind(0.0)
    except TypeError:
        shown = getattr(function, "__name__", type(function).__name__)
        raise UsageError(
            f"The function of input `{name}` cannot be called with a time alone: {shown}{signature(function)}.",
            remedy=f'Give a function of the time in seconds: inputs={{"{name}": lambda t: …}}.',
        ) from None
    except ValueError:  # one in C says nothing about its arguments
        pass
    return function


@dataclass(frozen=True, slots=True)
class _Element:
    """One element of what a function of time gives for an array of inputs; a number is for all of them."""

    function: Callable[[float], Any]
    name: str
    shape: Shape
    number: int

    def __call__(self, t: float) -> float:
        given = self.function(t)
        if isinstance(given, float):
            number = float(given)
        else:
            found = self._array(given, t)
            number = float(found.flat[self.number] if found.shape else found)
        if number - number != 0.0:  # quicker than `isfinite`
            raise UsageError(f"The function of input `{self.name}` gives {number:g} at {t:g}; it must give a finite number.")
        return number

    def _array(self, given: Any, t: float) -> Floats:
        try:
            found = np.asarray(unmasked(given))
            fits = found.shape in ((), self.shape) and found.dtype.kind in "biuf"
        except ValueError:
            fits = False
        if fits:
            return found.astype(float)
        if self.shape:
            what = f"Input `{self.name}` has the shape {self.shape}, and its function"
            remedy = "Let it give a number, or one for each element; or give a list of functions, one for each."
        else:
            what, remedy = f"The function of input `{self.name}`", "Let it give a number for each time."
            if isinstance(given, np.ndarray | list | tuple) and np.size(given) == 1:
                remedy = "Let it give the number itself: `float(x)`, or `x[0]`."
        shown = _shown(given.tolist() if isinstance(given, np.ndarray) else given)
        raise UsageError(f"{what} gives {shown} at {t:g}.", remedy=remedy)


def _has_shape(given: Any, shape: Shape) -> bool:
    """Whether this is an array of numbers of just this shape."""
    if not isinstance(given, list | tuple | np.ndarray):
        return False
    try:
        found = np.asarray(given)
    except ValueError:
        return False
    return found.dtype.kind in "biuf" and found.shape == shape


def _is_plain_pair(part: Any) -> bool:
    return _is_sequence(part) and len(part) == 2 and all(isinstance(x, bool | int | float | np.number) for x in part)


def _element_tables(given: Any, shape: Shape) -> list[tuple[Any, Any]] | None:
    """(times, values) with values of the shape (times, *shape): a column for each element."""
    if not (isinstance(given, tuple) and len(given) == 2 and _is_sequence(given[0]) and _is_sequence(given[1])):
        return None
    values = np.asarray(unmasked(given[1]))
    if values.shape != (len(given[0]), *shape):
        return None
    return [(given[0], column) for column in values.reshape(len(given[0]), -1).T]


# --- over a run -----------------------------------------------------------------------------------------------------------------


def over_run(signal: Signal | Repeating, begin: float, end: float, name: str, unit: str = "s") -> tuple[Signal, str]:
    """The signal for the times of a run, and what the user should know about its ends; nothing if all is well or was said.

    A session may have no end: then it is asked how far it goes when it goes on (`refuse_beyond`).
    """
    if isinstance(signal, Repeating):
        return signal.over(begin, end, name, unit), ""
    if not isinstance(signal, Table | Steps) or signal.ends == "hold":
        return signal, ""
    first, last = float(signal.times[0]), float(signal.times[-1])
    is_open = bool(np.isinf(end))
    slack = 1e-9 * max(abs(first), abs(last), 0.0 if is_open else abs(end - begin))
    early, late = begin < first - slack, not is_open and end > last + slack
    if not (early or late):
        return signal, ""
    data, run = f"from {first:g} {unit} to {last:g} {unit}", f"from {begin:g} {unit} {'on' if is_open else f'to {end:g} {unit}'}"
    if signal.ends == "stop":
        raise UsageError(
            f"The data of input `{name}` go {data}, the run {run}.",
            remedy='End the run there, or say how they go on: `ac.data(…, ends="hold")` or `ends="repeat"`.',
        )
    held = " and ".join(f"the {which} value is held {when}" for which, when, is_so in (
        ("first", f"before {first:g} {unit}", early), ("last", f"after {last:g} {unit}", late)) if is_so)  # fmt: skip
    return signal, f"The data of input `{name}` go {data}, the run {run}: {held}."


def refuse_beyond(signal: Signal, to: float, name: str, unit: str = "s") -> None:
    """Data that must not be left, in a session that goes on to a time."""
    if isinstance(signal, Table | Steps) and signal.ends == "stop" and to > signal.times[-1] + 1e-9 * abs(signal.times[-1]):
        raise UsageError(
            f"The data of input `{name}` end at {signal.times[-1]:g} {unit}, the session would go on to {to:g} {unit}.",
            remedy="Start the session with its end, `model.start(until=…)`: data that repeat are laid out until there. Others end "
            'as they are told to: `ac.data(…, ends="hold")`.',
        )


def ends_told(name_and_said: Mapping[str, str]) -> list[Diagnostic]:
    """Warnings about data that are shorter than the run."""
    remedy = 'Say what is meant: `ac.data(…, ends="hold")`, `"repeat"` or `"stop"`.'
    return [Diagnostic(what, remedy=remedy) for what in name_and_said.values() if what]


def within_bounds(signal: Signal, low: float, high: float, name: str, unit: str = "s", own: str = "") -> Signal:
    """The signal, if its values are within the bounds of the input; a function is asked whenever it is evaluated."""
    if low == -np.inf and high == np.inf:
        return signal
    if isinstance(signal, Function):
        return Function(_bounded(signal.function, low, high, name, unit, own))
    values = np.atleast_1d(np.asarray(signal.value if isinstance(signal, Constant) else signal.values))
    wrong = np.flatnonzero((values < low) | (values > high))
    if len(wrong):
        when = "" if isinstance(signal, Constant) else f" at {signal.times[wrong[0]]:g} {unit}"
        raise _outside(name, float(values[wrong[0]]), when, low, high, own)
    return signal


def _bounded(
    function: Callable[[float], float], low: float, high: float, name: str, unit: str, own: str
) -> Callable[[float], float]:
    def checked(t: float) -> float:
        value = float(function(t))
        if value < low or value > high:
            raise _outside(name, value, f" at {t:g} {unit}", low, high, own)
        return value

    return checked


def _outside(name: str, value: float, when: str, low: float, high: float, own: str) -> UsageError:
    unit = f" {own}" if own else ""
    allowed = f"{range_text(low, high)}{unit}"
    return UsageError(
        f"Input `{name}` is {value:g}{unit}{when}, out of its range: it must be {allowed}.",
        remedy=f"Give values {allowed}, with another unit as a text (`20 degC`), or widen the range where it is declared.",
    )
