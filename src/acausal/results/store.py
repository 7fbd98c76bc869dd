"""A whole result in one file, written completely or not at all, and read back without the model.

The file is a container (`container.py`), which verifies what it hands out; `numpy.load(path)["time"]` works for anyone. It holds:

    about.json              format number, version, title, outcome, statistics, metadata, the distinct units and descriptions
    time, data              the output times; the stored columns (time, column), mapped into memory when loaded, not read
    expressions, constants  values of named expressions (time, expression); values of parameters and constants
    names, name_ends        every name, one after another in UTF-8, and where each ends; `order` sorts them for look-up by bisection
    kind, index, sign       where a name's values are: 0 a data column, 1 a constant, 2 an expression (index -1: not stored),
                            3 a discrete cell, whose values are among the events
    unit, description       numbers into the distinct units and descriptions
    event_*, cell_*         the event log and what its cells are, if there is one; see `EventTables`
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..container import Reader, Writer, damaged, opened, refuse_newer, written
from ..errors import NameNotFound, UsageError, near_matches
from ..records import dataclass
from . import series
from .event_tables import MEMBERS, EventTables, read_history, read_meanings, within
from .events import History, Meaning, Place
from .series import Array, Column, Names, Trajectories
from .viewable import Viewable

FORMAT = "acausal result"
FORMAT_NUMBER = 2  # what this program can read; 1 is written where no events are kept
EXPRESSION_LIMIT = 10_000
_COLUMN, _CONSTANT, _EXPRESSION, _DISCRETE = 0, 1, 2, 3


# ---------------------------------------------------------------- saving


def save(
    result: Trajectories,
    path: str | os.PathLike[str],
    names: Names = None,
    *,
    expressions: Iterable[str] | None = None,
    expression_limit: int = EXPRESSION_LIMIT,
) -> None:
    """Keep a result in one file that `load` reads back without the model.

    names: which variables, patterns allowed; None for all. Aliases and parameters cost a few bytes each.
    expressions: named expressions have no stored column and are computed now. None: all of them, unless there are more than
        `expression_limit`, then none; otherwise those given here (in addition to those given in `names`).
    """
    wanted = series.columns(result, names)
    extra = [] if expressions is None else list(expressions)
    kept = {c.label for c in wanted}
    wanted += [c for c in series.columns(result, extra) if c.label not in kept] if extra else []
    table = series.sources(result, wanted)
    events = EventTables(result)
    table = _from_the_log(result, wanted, table, events)
    computed = np.flatnonzero(table.kind == _EXPRESSION)
    if names is None and (expressions is not None or len(computed) > expression_limit):
        asked = set(series.expand(result, extra)) if extra else set()
        computed = np.array([k for k in computed if wanted[k].name in asked], dtype=np.int64)
    contents = _Contents(result, wanted, table, computed, events, whole=names is None)
    with written(path) as new:
        contents.write(new)


def _from_the_log(result: Trajectories, wanted: Sequence[Column], table: series.Sources, events: EventTables) -> series.Sources:
    """Discrete variables are kept as their changes, not as a value for every time: there may be very many of both."""
    kind, index, sign = table.kind.copy(), table.index.copy(), table.sign.copy()
    for k in np.flatnonzero(kind == _EXPRESSION).tolist() if result.history is not None else ():
        place = None if wanted[k].element else result.place(wanted[k].name)
        if place is not None and not place.lag:
            kind[k], index[k], sign[k] = _DISCRETE, events.number(place.cell), place.sign
    return series.Sources(kind, index, sign)


class _Contents:
    """The tables of one file, made from a result just before it is written."""

    def __init__(
        self,
        result: Trajectories,
        wanted: Sequence[Column],
        table: series.Sources,
        computed: NDArray[np.int64],
        events: EventTables,
        whole: bool,
    ) -> None:
        self.result, self.wanted, self.events = result, wanted, events
        self.kind, self.sign = table.kind, table.sign
        self.index = np.full(len(wanted), -1, dtype=np.int64)
        self.expressions = series.matrix(result, [wanted[k] for k in computed])
        self.index[computed] = np.arange(len(computed))
        self.index[table.kind == _DISCRETE] = table.index[table.kind == _DISCRETE]
        self._place_columns(table, whole)
        self._place_constants(table)

    def _place_columns(self, table: series.Sources, whole: bool) -> None:
        own = table.kind == _COLUMN
        if whole:
            self.columns = np.arange(self.result.data.shape[1])
            self.index[own] = table.index[own]
        else:
            self.columns, self.index[own] = np.unique(table.index[own], return_inverse=True)

    def _place_constants(self, table: series.Sources) -> None:
        own = np.flatnonzero(table.kind == _CONSTANT)
        _, first, self.index[own] = np.unique(table.index[own], return_index=True, return_inverse=True)
        samples = [self.wanted[k] for k in own[first]]
        signs = table.sign[own[first]]
        every = series.values(self.result, samples)
        self.constants = np.array([sign * value[0] for sign, value in zip(signs, every, strict=True)], dtype=np.float64)

    def write(self, new: Writer) -> None:
        result = self.result
        encoded = [column.label.encode() for column in self.wanted]
        units, unit = _distinct(result.unit(column.name) for column in self.wanted)
        descriptions, description = _distinct(result.description(column.name) for column in self.wanted)
        events = self.events.arrays(result.meaning(column.name) for column in self.wanted)
        about = _about(result, units, descriptions) | self.events.about()
        new.text("about.json", json.dumps(about, default=_plain, indent=1))
        small: dict[str, NDArray[Any]] = {
            "time": result.time,
            "constants": self.constants,
            "names": np.frombuffer(b"".join(encoded), dtype=np.uint8),
            "name_ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
            "order": np.array(sorted(range(len(encoded)), key=encoded.__getitem__), dtype=np.int64),
            "kind": self.kind,
            "index": self.index,
            "sign": self.sign,
            "unit": unit,
            "description": description,
            "expressions": self.expressions,
            **events,
        }
        for name, array in small.items():
            new.array(name, array)
        every = len(self.columns) == result.data.shape[1]
        new.array("data", result.data, slice(None) if every else self.columns)


def _distinct(texts: Iterable[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Texts that repeat a lot, as the distinct ones and a number for each."""
    numbers: dict[str, int] = {}
    which = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int32)
    return list(numbers), which


def _about(result: Trajectories, units: list[str], descriptions: list[str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format number": FORMAT_NUMBER if result.history is not None else 1,
        "version": _program_version(),
        "title": result.title,
        "over": [result.unit("time"), result.description("time")],
        "outcome": [result.outcome.name, result.outcome.value],
        "statistics": asdict(result.statistics) if is_dataclass(result.statistics) else dict(result.statistics),
        "metadata": dict(result.metadata),
        "units": units,
        "descriptions": descriptions,
    }


def _program_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("acausal")
    except PackageNotFoundError:
        return "unknown"


def _plain(value: object) -> Any:
    """What JSON does not know: numpy's numbers and arrays; anything else as the user would see it printed."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)


# ---------------------------------------------------------------- loading


def load(path: str | os.PathLike[str]) -> LoadedResult:
    """A result kept by `save`. Values stay in the file until they are asked for."""
    return LoadedResult(Path(path))


@dataclass(frozen=True, eq=False, slots=True)
class SavedOutcome:
    """How the saved run ended. Equal to the outcome of a run, or of another file, with the same name."""

    name: str
    value: str

    def __eq__(self, other: object) -> bool:
        return getattr(other, "name", None) == self.name

    def __hash__(self) -> int:
        return hash(self.name)


@final
class LoadedResult(Viewable):
    """A result read from a file; variables by name and unit, exports and plots as for a fresh one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened(path, FORMAT) as archive:
            refuse_newer(archive, FORMAT_NUMBER)
            about = archive.about
            self._tables = {name: archive.array(name) for name in _TABLES}
            self._data, self._expressions = archive.mapped("data"), archive.mapped("expressions")
            self._history = self._read_history(archive)
            self.time: Array = np.asarray(self._tables["time"], dtype=np.float64)
            self.title, self.version = str(about["title"]), str(about["version"])
            self._over = tuple(map(str, about.get("over", ("s", "time"))))
            self.outcome = SavedOutcome(*map(str, about["outcome"]))
            self.statistics: dict[str, Any] = dict(about["statistics"])
            self.metadata: dict[str, str | float] = dict(about["metadata"])
            self._units, self._descriptions = list(about["units"]), list(about["descriptions"])
            self._text = self._tables["names"].tobytes()
            self._arrays: dict[str, tuple[NDArray[np.int64], list[int]]] = {}
            self._check()

    def _read_history(self, archive: Reader) -> History | None:
        if "event_times.npy" not in archive:
            return None
        tables = {name: archive.array(name) for name in MEMBERS}
        self._meaning, self._meanings = tables["meaning"], read_meanings(archive.about)
        return read_history(tables, archive.about)

    def _check(self) -> None:
        """Tables that do not fit together mean a damaged file; better said now than by a wrong curve later."""
        t, n, k = self._tables, len(self._tables["name_ends"]), len(self.time)
        sizes = {len(t[name]) for name in ("order", "kind", "index", "sign", "unit", "description")} | {n}
        sizes |= set() if self._history is None else {len(self._meaning)}
        flat = all(t[name].ndim == 1 and (name in _REAL or t[name].dtype.kind in "iu") for name in _TABLES)
        if not flat or len(sizes) > 1 or {len(self._data), len(self._expressions)} != {k} or not self._entries_fit(n):
            raise damaged(self.path, "its tables do not fit together")

    def _entries_fit(self, n: int) -> bool:
        """Whether every number that points somewhere points at something."""
        t, ends = self._tables, self._tables["name_ends"]
        cells = 0 if self._history is None else len(self._history.start)
        widths = np.array([self._data.shape[1], len(t["constants"]), self._expressions.shape[1], cells])
        texts = within(t["unit"], len(self._units)) and within(t["description"], len(self._descriptions))
        names = np.all(np.diff(ends, prepend=0) >= 0) and (ends[-1] if n else 0) == len(self._text)
        if not (texts and names and within(t["kind"], len(widths)) and np.array_equal(np.sort(t["order"]), np.arange(n))):
            return False
        self._text.decode()
        return bool(np.all((t["index"] >= -1) & (t["index"] < widths[t["kind"]]) & (np.abs(t["sign"]) == 1)))

    def __repr__(self) -> str:
        return f"<result {self.title!r}: {len(self._tables['name_ends'])} names, {len(self.time)} times, from {self.path}>"

    @property
    def time_reached(self) -> float:
        """How far the run came: its end, or where it stopped."""
        return float(self.metadata.get("time_reached", series.last_time(self)))

    @property
    def data(self) -> Array:
        return self._data

    @property
    def partial(self) -> bool:
        """Whether some names have no values: expressions that were too many to be stored."""
        return bool((self._tables["index"] < 0).any())

    def names(self, pattern: str = "*") -> list[str]:
        """Every name, or those that match a pattern (`*` and `?`), in the order of the model."""
        every = (self._name(k) for k in range(len(self._tables["name_ends"])))
        if pattern == "*":
            return list(every)
        matches = series.pattern_of(pattern).fullmatch
        return [name for name in every if matches(name)]

    def values_of(self, name: str) -> Array:
        """Values over time, (time,) for a scalar; `wall.T`, `wall.T[2:5]` and `C[-1].v` work too, as (time, *shape)."""
        if name == "time":
            return self.time
        numbers = self._numbers(name)
        values = np.empty((len(self.time), numbers.size))
        for k, number in enumerate(numbers.ravel()):
            values[:, k] = self._values(int(number))
        return values.reshape(len(self.time), *numbers.shape)

    def unit(self, name: str) -> str:
        return self._over[0] if name == "time" else str(self._units[self._tables["unit"][self._any(name)]])

    def description(self, name: str) -> str:
        return self._over[1] if name == "time" else str(self._descriptions[self._tables["description"][self._any(name)]])

    def source(self, name: str) -> tuple[str, int, int]:
        """Where the values of a scalar come from; see `Trajectories`."""
        number = self._any(name)
        kind, index, sign = (int(self._tables[table][number]) for table in ("kind", "index", "sign"))
        return (series.EXPRESSION, -1, 1) if kind in (_EXPRESSION, _DISCRETE) else (series.KINDS[kind], index, sign)

    @property
    def history(self) -> History | None:
        return self._history

    def meaning(self, name: str) -> Meaning:
        """What the numbers of a variable stand for."""
        return Meaning() if name == "time" or self._history is None else self._meanings[self._meaning[self._any(name)]]

    def place(self, name: str) -> Place | None:
        """Where a variable is in the event log."""
        numbers = self._numbers(name)
        if numbers.size != 1 or self._tables["kind"][numbers.flat[0]] != _DISCRETE:
            return None
        return Place(int(self._tables["index"][numbers.flat[0]]), int(self._tables["sign"][numbers.flat[0]]))

    def _values(self, number: int) -> Array:
        kind, index, sign = (int(self._tables[table][number]) for table in ("kind", "index", "sign"))
        if kind == _CONSTANT:
            return np.full(len(self.time), sign * self._tables["constants"][index])
        if kind == _DISCRETE and self._history is not None:
            return sign * self._history.trajectories(np.asarray(index), len(self.time))
        if index < 0:
            name = self._name(number)
            raise NameNotFound(
                f"`{name}` is a named expression whose values are not in `{self.path}`.",
                details=(f"more than {EXPRESSION_LIMIT} expressions are only stored when they are asked for",),
                remedy=f'save it again with `expressions=["{name}"]`.',
            )
        return sign * np.asarray((self._data if kind == _COLUMN else self._expressions)[:, index])

    # names: by bisection over the sorted names; arrays by looking for their elements, since only scalars are listed

    def _name(self, number: int) -> str:
        return self._bytes(number).decode()

    def _bytes(self, number: int) -> bytes:
        ends = self._tables["name_ends"]
        return self._text[ends[number - 1] if number else 0 : ends[number]]

    def _rank(self, text: bytes) -> int:
        order = self._tables["order"]
        return bisect_left(range(len(order)), text, key=lambda rank: self._bytes(int(order[rank])))

    def _any(self, name: str) -> int:
        return int(self._numbers(name).flat[0])

    def _numbers(self, name: str) -> NDArray[np.int64]:
        """The number of a scalar name, shape (), or those of an array or of a part of one."""
        order, rank = self._tables["order"], self._rank(name.encode())
        if rank < len(order) and self._bytes(int(order[rank])) == name.encode():
            return np.asarray(order[rank])
        parts = series.split_path(name)
        bare = ".".join(part for part, _ in parts)
        if bare not in self._arrays:
            self._arrays[bare] = self._find_elements([part for part, _ in parts])
        numbers, dimensions = self._arrays[bare]
        if not numbers.size or (numbers < 0).any():
            raise self._not_found(name, rank)
        return _indexed(numbers, dimensions, [subscript for _, subscript in parts], name)

    def _find_elements(self, parts: list[str]) -> tuple[NDArray[np.int64], list[int]]:
        """Numbers of all elements `a[i].b[j]` of `a.b`, -1 where one is missing, and how many indices each part takes."""
        pattern = re.compile(r"\.".join(rf"{re.escape(part)}((?:\[[^\]]*\])?)" for part in parts))
        order, found, dimensions = self._tables["order"], dict[tuple[int, ...], int](), [0] * len(parts)
        for rank in range(self._rank(parts[0].encode()), len(order)):
            name = self._name(order[rank])
            if not name.startswith(parts[0]):
                break
            if match := pattern.fullmatch(name):
                indices = [[int(i) for i in re.findall(r"\d+", group)] for group in match.groups()]
                dimensions = [len(group) for group in indices]
                found[tuple(i for group in indices for i in group)] = int(order[rank])
        if not found or len({len(index) for index in found}) > 1:
            return np.empty(0, dtype=np.int64), dimensions
        keys = np.array(list(found), dtype=np.int64).reshape(len(found), -1)
        numbers = np.full(tuple(keys.max(axis=0) + 1), -1, dtype=np.int64)
        numbers[tuple(keys.T)] = list(found.values())
        return numbers, dimensions

    def _not_found(self, name: str, rank: int) -> NameNotFound:
        """Only names nearby in the alphabet and the first ones are compared: a million would take minutes."""
        order = self._tables["order"]
        near = [self._name(k) for k in order[max(0, rank - 200) : rank + 200]] + [
            self._name(k) for k in range(min(len(order), 2000))
        ]
        return NameNotFound(f"`{name}` is not in `{self.path}`.", remedy=near_matches(name, dict.fromkeys(near)))


def _indexed(numbers: NDArray[np.int64], dimensions: list[int], subscripts: list[str], name: str) -> NDArray[np.int64]:
    """Apply the indices a user wrote, part by part of the path; a part without any means all of it."""
    where: list[int | slice] = []
    for count, subscript in zip(dimensions, subscripts, strict=True):
        given = [_subscript(text, name) for text in subscript.split(",")] if subscript else []
        if len(given) > count:
            raise NameNotFound(f"`{name}` has more indices than the variable has dimensions.")
        where += [*given, *[slice(None)] * (count - len(given))]
    try:
        return np.asarray(numbers[tuple(where)])
    except IndexError as cause:
        raise NameNotFound(f"`{name}`: an index is out of range; the array's shape is {numbers.shape}.") from cause


def _subscript(text: str, name: str) -> int | slice:
    try:
        numbers = [int(part) if part.strip() else None for part in text.split(":")]
        if len(numbers) == 1 and numbers[0] is not None:
            return numbers[0]
        return slice(*numbers)
    except (ValueError, TypeError) as cause:
        raise UsageError(f"`{name}`: the index `{text}` is neither a number nor a slice.") from cause


_TABLES = ("time", "constants", "names", "name_ends", "order", "kind", "index", "sign", "unit", "description")
_REAL = ("time", "constants")
