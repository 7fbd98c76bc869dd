"""What a user can do with any result, wherever it came from: look values up, plot, tabulate, keep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..errors import NameNotFound, UsageError
from .late import Late

if TYPE_CHECKING:
    import os

    from . import plot as pictures
    from . import tabular
    from .events import Events, History, Meaning, Place
    from .series import Array, Names, Trajectories
    from .states import Interval
    from .trajectory import Trajectory
    from .views import How, Moment, Resampled, Selection


class Viewable(ABC):
    """To be inherited together with the members of `Trajectories`; `values_of` gives the values of a name."""

    if TYPE_CHECKING:

        @property
        def time(self) -> Array: ...

        def unit(self, name: str) -> str: ...

        def names(self, pattern: str = "*") -> list[str]: ...

    @abstractmethod
    def values_of(self, name: str) -> Array:
        """The values of a variable as a plain array."""

    @overload
    def __getitem__(self, name: str) -> Trajectory: ...

    @overload
    def __getitem__(self, name: list[str] | tuple[str, ...]) -> Selection: ...

    def __getitem__(self: Any, name: Any) -> Any:
        """`result["room.T"]`: an array over `result.time` that knows its unit; `result[["a", "b"]]`: these two of the result."""
        from .trajectory import Trajectory

        if isinstance(name, str):
            return Trajectory.of(self.values_of(name), name, self.unit(name))
        if not isinstance(name, Iterable):
            raise UsageError(
                f'A name is a text such as "room.T", got {name!r} of type {type(name).__name__}.',
                remedy='`result["room.T"]`, or `result[["a", "b"]]`; values at a time: `result.at("1 h")["room.T"]`.',
            )
        from .views import Selection

        return Selection(self, name)

    def __contains__(self, name: object) -> bool:
        """`"room.T" in result`."""
        try:
            return isinstance(name, str) and (name == "time" or self.unit(name) is not None)
        except NameNotFound:
            return False

    __iter__: Any = None  # names are asked for by `names()`

    def in_unit(self, name: str, unit: str) -> Array:
        """The same in another unit: `result.in_unit("room.T", "degC")`, as `result["room.T"].to("degC")`."""
        return np.asarray(self[name].to(unit))

    @overload
    def at(self, time: float | str) -> Moment: ...

    @overload
    def at(self, time: list[float] | list[str] | tuple[float | str, ...] | np.ndarray) -> Resampled: ...

    def at(self: Any, time: Any) -> Any:
        """Values at a time between the stored ones: `result.at("1 h")["room.T"]` is a number. At an event, those after it.

        With several times it is a result with these times. States that were stored with their derivatives are interpolated by
        cubics, other variables along straight lines, discrete ones are held.
        """
        from .views import at

        return at(self, time)

    def resample(self: Any, every: float | str | Iterable[float | str], how: How = "value") -> Resampled:
        """The result at equidistant times, or at given ones: `result.resample("1 h", how="mean")`.

        how: "value" at each time; or "mean", "min", "max" from each time to the next (to the end, for the last).
        """
        from .views import resample

        return resample(self, every, how)

    def integral_of(self: Any, name: str) -> Any:
        """The integral of a variable over the run, as `ac.integral` and `ac.mean` take it: of cubics through the rows, with the
        derivatives that are stored; so that it hardly depends on how many output points there are."""
        from .views import integral

        return integral(self, name)

    def extreme_of(self: Any, name: str, highest: bool = True) -> float:
        """The largest (or smallest) value of a variable, as `ac.max` and `ac.min` take it: at the peak, between the rows, too.

        Where rows are so far apart that peaks may lie between them unseen, it warns.
        """
        from .extremes import extreme

        return extreme(self, name, highest)

    def crossing_of(self: Any, name: str, level: float, above: bool = True) -> float:
        """The time at which a variable first rises above a level (or falls below it), as `ac.when_first` takes it: on the curve
        through the rows, at an event that makes it jump the time of that; not a number if it never does."""
        from .crossings import crossing_of

        return crossing_of(self, name, level, above)

    @property
    def history(self) -> History | None:
        """The event log, to look things up in; None where there is none."""
        return None

    def meaning(self, name: str) -> Meaning:
        """What the numbers of a variable stand for: real numbers, unless somebody knows better."""
        from .events import Meaning

        return Meaning()

    def place(self, name: str) -> Place | None:
        """Where a variable is in the event log."""
        return None

    @property
    def events(self) -> Events:
        """What happened at events, in order of time: `print(result.events)`, `result.events[0].causes`."""
        from .events import Events

        return Events(self.history, unit=self.unit("time") or "s")

    @property
    def event_times(self) -> Array:
        """The times of all events, in seconds."""
        return self.events.times

    def states(self: Trajectories, path: str) -> list[Interval]:
        """How long which state of a discrete variable lasted, and what began it: `result.states("thermostat.cooling")`."""
        from .states import states

        return states(self, path)

    def state_at(self: Trajectories, path: str, time: float) -> str:
        """The state of a discrete variable at a time, in seconds; at an event that after it."""
        from .states import state_at

        return state_at(self, path, time)

    def time_in(self: Trajectories, path: str) -> dict[str, float]:
        """Seconds that a discrete variable spent in each of its states."""
        from .states import time_in

        return time_in(self, path)

    def _repr_html_(self: Any) -> str:
        from .shown import result_html

        return result_html(self)

    @property
    def shown_states(self) -> tuple[str, ...]:
        """Discrete variables that every picture shows as bands unless others are named."""
        return ()

    if TYPE_CHECKING:
        plot = pictures.plot
        to_pandas = tabular.to_pandas
        to_xarray = tabular.to_xarray
        export = tabular.export
    else:
        plot = Late("plot", "plot")
        to_pandas = Late("tabular", "to_pandas")
        to_xarray = Late("tabular", "to_xarray")
        export = Late("tabular", "export")

    def save(
        self: Trajectories, path: str | os.PathLike[str], names: Names = None, *, expressions: Iterable[str] | None = None
    ) -> None:
        """Keep the whole result in one file that `load` reads back without the model; see `acausal.results.store.save`."""
        from .store import save

        save(self, path, names, expressions=expressions)
