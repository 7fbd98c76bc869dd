"""What exports, plots and files may ask of a result, and how the names a user gives become columns.

Everything in this package works on the protocol `Trajectories`, not on a class: a run that has just ended and one that was loaded
from a file are looked at in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, NameNotFound, UsageError
from .events import Events, History, Meaning, Place

if TYPE_CHECKING:
    import os

    import pandas
    from matplotlib.figure import Figure

    from .states import Interval

Array = NDArray[np.float64]
Names = str | Iterable[str] | None
"""A name, a pattern with `*` or `?`, several of them, or None for every scalar name."""

_TOGETHER = 2000  # names whose values are computed at once

COLUMN, CONSTANT, EXPRESSION = "column", "constant", "expression"
KINDS = (COLUMN, CONSTANT, EXPRESSION)


class Outcome(Protocol):
    """How a run ended: a short name, and the sentence the user reads."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...


class Trajectories(Protocol):
    """A result as this package sees it. `names()` may be a million long: it is only called when everything is asked for."""

    @property
    def time(self) -> Array: ...
    @property
    def data(self) -> Array: ...
    @property
    def title(self) -> str: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def statistics(self) -> Mapping[str, Any]: ...
    @property
    def metadata(self) -> Mapping[str, str | float]: ...

    def names(self, pattern: str = "*") -> list[str]: ...
    def __getitem__(self, name: str) -> Array: ...
    def in_unit(self, name: str, unit: str) -> Array: ...
    def unit(self, name: str) -> str: ...
    def description(self, name: str) -> str: ...
    def source(self, name: str) -> tuple[str, int, int]: ...

    @property
    def history(self) -> History | None: ...
    def meaning(self, name: str) -> Meaning: ...
    def place(self, name: str) -> Place | None: ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the values of many names come from: `kind` numbers `KINDS`, `index` and `sign` are those of `source(name)`."""

    kind: NDArray[np.int8]
    index: NDArray[np.int64]
    sign: NDArray[np.int8]

    @classmethod
    def of(cls, found: Sequence[tuple[str, int, int]]) -> Sources:
        """Arrays from answers of `source`."""
        return cls(
            np.array([KINDS.index(kind) for kind, _, _ in found], dtype=np.int8),
            np.array([index for _, index, _ in found], dtype=np.int64),
            np.array([sign for _, _, sign in found], dtype=np.int8),
        )


@runtime_checkable
class ManySources(Protocol):
    """A result that can say where many names come from at once; it saves a million calls of `source` on a large plant."""

    def sources(self, names: Sequence[str]) -> Sources: ...


@runtime_checkable
class ManyValues(Protocol):
    """A result that computes many names at once: one quantity of many components costs little more than that of one."""

    def many(self, names: Sequence[str]) -> list[Array]: ...


@dataclass(frozen=True, slots=True)
class Column:
    """One scalar column of an export: its label, and the name (with the element, when the name is an array) it comes from."""

    label: str
    name: str
    element: tuple[int, ...] = ()


def sources(result: Trajectories, wanted: Sequence[Column]) -> Sources:
    """Where the values of each column come from, as arrays."""
    if isinstance(result, ManySources) and not any(column.element for column in wanted):
        return result.sources([column.name for column in wanted])
    return Sources.of([_source(result, column) for column in wanted])


def _source(result: Trajectories, column: Column) -> tuple[str, int, int]:
    """An element without a name of its own (`C.v[3]`, which is `C[3].v`) counts as an expression: it is exported by value."""
    try:
        return result.source(column.label)
    except ModelError:
        if not column.element:
            raise
        return (EXPRESSION, -1, 1)


def last_time(result: Trajectories) -> float:
    """The time of the last stored point; not a number when there is none."""
    return float(result.time[-1]) if len(result.time) else float("nan")


def is_pattern(name: str) -> bool:
    """Whether a name stands for many. Brackets are indices here, never character classes."""
    return "*" in name or "?" in name


def pattern_of(glob: str) -> re.Pattern[str]:
    """A glob over names as a regular expression; `*` also crosses dots, brackets mean themselves."""
    return re.compile("".join({"*": ".*", "?": "."}.get(c) or re.escape(c) for c in glob), re.DOTALL)


def expand(result: Trajectories, names: Names) -> list[str]:
    """The names meant by what a user gave: patterns become the names they match, each name once, in the order given."""
    if names is None:
        return _at_hand(result, [name for name in result.names() if name != "time"])
    given = [names] if isinstance(names, str) else list(names)
    meant: dict[str, None] = {}
    for name in given:
        if not isinstance(name, str):
            raise UsageError(f"A variable's name was expected, not {name!r} of type {type(name).__name__}.")
        matches = _at_hand(result, result.names(name)) if is_pattern(name) else [name]
        if not matches:
            raise NameNotFound(f"No variable matches the pattern `{name}`.", remedy="`result.names()` lists every name.")
        meant.update(dict.fromkeys(matches))
    meant.pop("time", None)
    return list(meant)


def _at_hand(result: Trajectories, names: list[str]) -> list[str]:
    """Of a run that stored only some variables (`result.partial`), the names that have values: "all" then means those."""
    if not getattr(result, "partial", False):
        return names
    return [name for name in names if _has_values(result, name)]


def _has_values(result: Trajectories, name: str) -> bool:
    try:
        if result.source(name)[0] == EXPRESSION:
            result[name]
    except ModelError:
        return False
    return True


def columns(result: Trajectories, names: Names) -> list[Column]:
    """The scalar columns of what a user gave; an array `wall.T` becomes `wall.T[0]`, `wall.T[1]`, …

    With `names` None, or with patterns, every name is known to be a scalar and nothing is computed.
    """
    given = None if names is None else [names] if isinstance(names, str) else list(names)
    if given is None:
        return [Column(name, name) for name in expand(result, None)]
    scalars = {name for pattern in given if isinstance(pattern, str) and is_pattern(pattern) for name in result.names(pattern)}
    return [column for name in expand(result, given) for column in _elements(result, name, name in scalars)]


def _elements(result: Trajectories, name: str, scalar: bool) -> Iterator[Column]:
    if scalar:
        yield Column(name, name)
        return
    for part in _without_slices(result, name):
        shape = result[part].shape[1:]
        for element in np.ndindex(shape):  # once, with (), for a scalar
            yield Column(f"{part}[{', '.join(map(str, element))}]" if shape else part, part, element)


def _without_slices(result: Trajectories, name: str) -> Iterator[str]:
    """`C[1:3].v` → `C[1].v`, `C[2].v`, so that elements get the names they have in the model. Slices of matrices stay."""
    parts = split_path(name)
    which = next((k for k, (_, subscript) in enumerate(parts) if ":" in subscript and "," not in subscript), None)
    if which is None:
        yield name
        return
    count = result[join_path([*parts[:which], (parts[which][0], ""), *parts[which + 1 :]])].shape[1]
    chosen = range(count)[slice(*(int(text) if text.strip() else None for text in parts[which][1].split(":")))]
    for index in chosen:
        yield from _without_slices(result, join_path([*parts[:which], (parts[which][0], str(index)), *parts[which + 1 :]]))


def values(result: Trajectories, wanted: Sequence[Column], units: Mapping[str, str] | None = None) -> Iterator[Array]:
    """The values of each column in turn. An array is computed once for all its elements that follow one another."""
    units = by_name(units)
    if isinstance(result, ManyValues) and not units and not any(column.element for column in wanted):
        for first in range(0, len(wanted), _TOGETHER):
            yield from result.many([column.name for column in wanted[first : first + _TOGETHER]])
        return
    held, held_values = "", np.empty(0)
    for column in wanted:
        if column.name != held:
            unit = units.get(column.name)
            held, held_values = column.name, result[column.name] if unit is None else result.in_unit(column.name, unit)
        element: tuple[Any, ...] = (slice(None), *column.element)
        yield held_values[element]


def by_name(units: Mapping[str, str] | None) -> Mapping[str, str]:
    """Units that a user wants, by name, or why they are not."""
    if units is not None and not isinstance(units, Mapping):
        raise UsageError(
            f'`units` takes units by name, such as {{"room.T": "degC"}}, got {units!r} of type {type(units).__name__}.'
        )
    return units or {}


def matrix(result: Trajectories, wanted: Sequence[Column], units: Mapping[str, str] | None = None) -> Array:
    """All columns as one array (time, column), each column contiguous: the one copy an export makes."""
    table = np.empty((len(result.time), len(wanted)), order="F")
    for k, column in enumerate(values(result, wanted, units)):
        table[:, k] = column
    return table


def unit_of(result: Trajectories, column: Column, units: Mapping[str, str] | None = None) -> str:
    """The unit a column is exported in."""
    return (units or {}).get(column.name) or result.unit(column.name)


_SUBSCRIPT = re.compile(r"\[([^\]]*)\]")


def split_path(path: str) -> list[tuple[str, str]]:
    """`tubes[2].wall.T[1,3]` → [("tubes", "2"), ("wall", ""), ("T", "1,3")]."""
    parts = []
    for part in _outside_brackets(path):
        subscript = ",".join(_SUBSCRIPT.findall(part))
        parts.append((_SUBSCRIPT.sub("", part), subscript))
    return parts


def join_path(parts: Iterable[tuple[str, str]]) -> str:
    """The opposite of `split_path`."""
    return ".".join(f"{part}[{subscript}]" if subscript else part for part, subscript in parts)


def _outside_brackets(path: str) -> list[str]:
    return re.split(r"\.(?![^\[]*\])", path)


class Viewable:
    """What a user can do with any result, wherever it came from. To be inherited together with the `Trajectories` members."""

    @property
    def history(self) -> History | None:
        """The event log, to look things up in; None where there is none."""
        return None

    def meaning(self, name: str) -> Meaning:
        """What the numbers of a variable stand for: real numbers, unless somebody knows better."""
        return Meaning()

    def place(self, name: str) -> Place | None:
        """Where a variable is in the event log."""
        return None

    @property
    def events(self) -> Events:
        """What happened at events, in order of time: `print(result.events)`, `result.events[0].causes`."""
        return Events(self.history)

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

    def plot(self: Trajectories, *names: str, **options: Any) -> Figure:
        """Draw variables over time; see `acausal.results.plot.plot` for the options."""
        from .plot import plot

        return plot(self, *names, **options)

    def to_pandas(self: Trajectories, names: Names = None, *, units: Mapping[str, str] | None = None) -> pandas.DataFrame:
        """A table with the time as index; units are in `table.attrs["units"]`."""
        from .tabular import to_pandas

        return to_pandas(self, names, units=units)

    def export(
        self: Trajectories,
        path: str | os.PathLike[str],
        names: Names = None,
        *,
        form: str | None = None,
        units: Mapping[str, str] | None = None,
    ) -> None:
        """Write for other programs: `.csv`, `.parquet`, `.h5` or Dymola's `.mat`, chosen by the ending or by `form`."""
        from .tabular import export

        export(self, path, names, form=form, units=units)

    def save(
        self: Trajectories, path: str | os.PathLike[str], names: Names = None, *, expressions: Iterable[str] | None = None
    ) -> None:
        """Keep the whole result in one file that `load` reads back without the model; see `acausal.results.store.save`."""
        from .store import save

        save(self, path, names, expressions=expressions)
