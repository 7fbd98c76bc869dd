"""A result seen in part: some of its names, some of its times, or other times. Values are taken from the result when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, final, get_args

import numpy as np

from ..arguments import is_one_of
from ..errors import ModelError, NameNotFound, UsageError, an, near_matches
from ..readable import count
from ..runtime.storage import seconds
from .between import areas, estimated_slopes, extremes, interpolated, means
from .events import History, Meaning, Place
from .series import Array, Names, Trajectories, bare, columns, expand, pattern_of
from .trajectory import Trajectory
from .viewable import Viewable

How = Literal["value", "mean", "min", "max"]
Window = tuple[float | str | None, float | str | None] | None
MOST_ROWS = 50_000_000


class _View(Viewable):
    """Everything is that of the result behind it, unless a subclass says otherwise."""

    def __init__(self, base: Trajectories) -> None:
        self._base = base
        self.title, self.outcome = base.title, base.outcome
        self.statistics: Mapping[str, Any] = base.statistics
        self.metadata: Mapping[str, str | float] = base.metadata

    @property
    def time(self) -> Array:
        return self._base.time

    @property
    def data(self) -> Array:
        """Nothing is stored here: every value comes from the result behind it."""
        return np.zeros((len(self.time), 0))

    @property
    def partial(self) -> bool:
        return bool(getattr(self._base, "partial", False))

    def names(self, pattern: str = "*") -> list[str]:
        return self._base.names(pattern)

    def values_of(self, name: str) -> Array:
        return np.asarray(self._base[name])

    def unit(self, name: str) -> str:
        return self._base.unit(name)

    def description(self, name: str) -> str:
        return self._base.description(name)

    def meaning(self, name: str) -> Meaning:
        return self._base.meaning(name)

    def source(self, name: str) -> tuple[str, int, int]:
        kind, index, sign = self._base.source(name)
        return ("expression", -1, 1) if kind == "column" else (kind, index, sign)


@final
class Selection(_View):
    """Some variables of a result: `result[["room.T", "heater.Q"]]`. Plots, tables and files as for the whole.

    `numpy.asarray(selection)` is a table (times, variables); iterating gives the values of one variable after the other.
    """

    def __init__(self, base: Trajectories, names: Names) -> None:
        super().__init__(base)
        self._names = expand(base, names)
        for name in self._names:
            base.unit(name)  # a name that does not exist is told now

    def __repr__(self) -> str:
        listed = ", ".join(self._names[:6]) + (", …" if len(self._names) > 6 else "")
        return f"<{count(len(self._names), 'variable')} of {self.title}: {listed}>"

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Trajectory]:
        return (self[name] for name in self._names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        columns = [np.asarray(one).reshape(len(self.time), -1) for one in self]
        return np.hstack(columns).astype(dtype or float, copy=False)

    def names(self, pattern: str = "*") -> list[str]:
        wanted = pattern_of(pattern)
        return [column.label for column in columns(self._base, self._names) if wanted.fullmatch(column.label)]

    def values_of(self, name: str) -> Array:
        self.unit(name)
        return np.asarray(self._base[name])

    def unit(self, name: str) -> str:
        if name != "time" and name not in self._names and bare(name) not in self._names:
            raise NameNotFound(f"`{name}` is not among the chosen variables.", remedy=near_matches(name, self._names))
        return self._base.unit(name)

    @property
    def history(self) -> History | None:
        return self._base.history

    def place(self, name: str) -> Place | None:
        return self._base.place(name)


@final
class Part(_View):
    """The rows of a result between two times; at its ends they are interpolated."""

    def __init__(self, base: Trajectories, begin: float, end: float) -> None:
        super().__init__(base)
        time = base.time
        self._inside = time[(time > begin) & (time < end)]
        self._first, at_end = int(np.searchsorted(time, begin, "right")), int(np.searchsorted(time, end, "left"))
        self._last = max(at_end, int(np.searchsorted(time, end, "right")) - 1)  # of an event at the end also what was before it
        self._ends = np.array([begin, end])

    @property
    def time(self) -> Array:
        return self._time

    @cached_property
    def _time(self) -> Array:
        return np.concatenate([self._ends[:1], self._base.time[self._first : self._last], self._ends[1:]])

    def values_of(self, name: str) -> Array:
        if name == "time":
            return self.time
        first, last = sampled(self._base, name, self._ends)
        return np.concatenate([first[None], np.asarray(self._base[name])[self._first : self._last], last[None]])


@final
class Resampled(_View):
    """A result at other times: `result.resample("1 min")`, `result.at([0, 60, 120])`."""

    def __init__(self, base: Trajectories, times: Array, edges: Array | None = None, how: How = "value") -> None:
        super().__init__(base)
        self._times, self._edges, self._how = times, edges, how

    def __repr__(self) -> str:
        return f"<{self.title} at {len(self.time)} times>"

    @property
    def time(self) -> Array:
        return self._times

    def values_of(self, name: str) -> Array:
        if name == "time":
            return self.time
        if self._edges is None:
            return sampled(self._base, name, self._times)
        time, values = self._base.time, np.asarray(self._base[name])
        steps = self._base.meaning(name).steps
        if self._how == "mean":
            return means(time, values, self._edges, steps, None if steps else slopes_of(self._base, name))
        low, high = extremes(time, values, self._edges[:-1], self._edges[1:], steps)
        return low if self._how == "min" else high

    def meaning(self, name: str) -> Meaning:
        """A mean of states is a number, not a state."""
        return Meaning() if self._how == "mean" else self._base.meaning(name)


@final
class Moment:
    """A result at one time: `result.at("1 h")["room.T"]` is a number, of an array variable an array."""

    def __init__(self, base: Trajectories, time: float) -> None:
        self._view, self.time = Resampled(base, np.array([time])), time

    def __repr__(self) -> str:
        return f"<{self._view.title} at {self.time:g} {self._view.unit('time')}>"

    def __contains__(self, name: object) -> bool:
        return name in self._view

    def __getitem__(self, name: str) -> Any:
        return np.asarray(self._view[name])[0]

    def in_unit(self, name: str, unit: str) -> Any:
        """The same in another unit: `result.at("1 h").in_unit("room.T", "degC")`."""
        return np.asarray(self._view[name].to(unit))[0]

    def state(self, name: str) -> str:
        """The state of a discrete variable."""
        return self._view.meaning(name).text(float(self[name]))

    def to_dict(self, *names: str) -> dict[str, Any]:
        """Values by name, patterns allowed; of all variables if none is named."""
        return {name: self[name] for name in expand(self._view, names or None)}


def sampled(result: Trajectories, name: str, times: Array) -> Array:
    """The values of a variable at any times within the run: states of a truth value hold, others are interpolated."""
    slopes = None
    if not result.meaning(name).steps:
        slopes = _slopes(result, name)
    return interpolated(result.time, np.asarray(result[name]), times, result.meaning(name).steps, slopes)


def integral(result: Trajectories, name: str) -> Array:
    """The integral of a variable over the whole run: of steps, or of cubics through the rows, with the slopes of the rows around
    where the derivative is not known."""
    steps, values = result.meaning(name).steps, np.asarray(result[name], dtype=float)
    slopes = None if steps else slopes_of(result, name)
    if slopes is None and not steps:
        slopes = estimated_slopes(result.time, values)
    return np.asarray(areas(result.time, values, steps, slopes)[-1])


def slopes_of(result: Trajectories, name: str) -> Array | None:
    """The derivative of a variable where it is stored, or follows from derivatives that are."""
    try:
        found = np.asarray(result[f"der({name})"], dtype=float)
    except ModelError:
        return None
    return found if found.shape == np.shape(result[name]) else None


def _slopes(result: Trajectories, name: str) -> Array | None:
    """The stored derivative of a state: with it, interpolation between two rows is as accurate as the solver's."""
    try:
        if result.source(name)[0] != "column":
            return None
        return np.asarray(result[f"der({name})"])
    except NameNotFound:
        return None
    except UsageError:
        return None


def at(result: Trajectories, time: float | str | Iterable[float | str]) -> Moment | Resampled:
    """The result at one time, or at several; see `Viewable.at`."""
    if isinstance(time, str) or not isinstance(time, Iterable) or hasattr(time, "total_seconds"):
        moment = float(seconds(time, "time", result.unit("time") or "s"))
        _check_within(result, np.array([moment]))
        return Moment(result, moment)
    times = np.array([seconds(one, "time", result.unit("time") or "s") for one in time], dtype=float)
    _check_within(result, times)
    return Resampled(result, times)


def resample(result: Trajectories, every: float | str | Iterable[float | str], how: How = "value") -> Resampled:
    """The result at equidistant times; see `Viewable.resample`."""
    if not is_one_of(how, get_args(How)):
        raise UsageError(f"`how` is {how!r}; it must be one of {', '.join(map(repr, get_args(How)))}.")
    if not len(result.time):
        raise UsageError("The result has no point of time to resample.")
    times = _grid(result, every)
    if how == "value":
        _check_within(result, times)
        return Resampled(result, times)
    if len(times):
        _check_within(result, times)
    begin, end = float(result.time[0]), float(result.time[-1])
    reached = len(times) and times[-1] >= end - 1e-12 * max(abs(begin), abs(end))
    edges = times if reached else np.append(times, end)
    if len(edges) < 2:
        raise UsageError(f"{an(how, first=True)} needs at least two times.")
    if not (np.diff(edges) > 0).all():
        raise UsageError(f"{an(how, first=True)} is taken from each time to a later one: the times must grow, got {every!r:.60}.")
    return Resampled(result, edges[:-1], edges, how)


def _grid(result: Trajectories, every: float | str | Iterable[float | str]) -> Array:
    if isinstance(every, Iterable) and not isinstance(every, str):
        return np.array([seconds(one, "every", result.unit("time") or "s") for one in every], dtype=float)
    step = float(seconds(every, "every", result.unit("time") or "s"))
    begin, end = float(result.time[0]), float(result.time[-1])
    if not step > 0 or (end - begin) / step > MOST_ROWS:
        raise UsageError(f"`every` is a time such as `1 h` that fits into the run, got {every!r}.")
    return np.float64(begin) + step * np.arange(int(np.floor((end - begin) / step * (1 + 1e-12))) + 1)


def _check_within(result: Trajectories, times: Array) -> None:
    time = result.time
    if not len(time):
        raise UsageError("The result has no point of time.")
    slack = 1e-9 * max(abs(time[0]), abs(time[-1]))
    outside = times[~((times >= time[0] - slack) & (times <= time[-1] + slack))]
    if len(outside):
        u = result.unit("time") or "s"
        raise UsageError(f"The result says nothing about {outside[0]:g} {u}: it goes from {time[0]:g} {u} to {time[-1]:g} {u}.")


def windowed(result: Trajectories, window: Window) -> Trajectories:
    """The part of a result that `window=("1 h", "2 h")` means; None at either end is that of the run."""
    if window is None:
        return result
    try:
        first, last = window
    except (TypeError, ValueError):
        raise UsageError(f'`window` is two times, such as ("1 h", "2 h"), got {window!r}.') from None
    if not len(result.time):
        return result
    begin = float(result.time[0]) if first is None else float(seconds(first, "window", result.unit("time") or "s"))
    end = float(result.time[-1]) if last is None else float(seconds(last, "window", result.unit("time") or "s"))
    begin, end = max(begin, float(result.time[0])), min(end, float(result.time[-1]))
    if not begin < end:
        unit = result.unit("time") or "s"
        raise UsageError(
            f"`window` {window!r} shows nothing of the run, which goes from {result.time[0]:g} {unit} to "
            f"{result.time[-1]:g} {unit}."
        )
    return Part(result, begin, end)
