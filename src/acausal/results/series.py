"""What exports, plots and files may ask of a result, and how the names a user gives become columns.

Everything in this package works on the protocol `Trajectories`, not on a class: a run that has just ended and one that was loaded
from a file are looked at in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, NameNotFound, UsageError, near_matches
from ..records import dataclass
from .events import History, Meaning, Place

Array = NDArray[np.float64]
Names = str | Iterable[str] | None
"""A name, a pattern with `*` or `?`, several of them, or None for every scalar name."""

Unit = str | Mapping[str, str] | None
"""The units somebody wants to see: one for whatever can be given in it (`"degC"`), or by name, by pattern or by declared unit:
`{"room.T": "degC", "*.p": "bar", "K": "degC"}`. The same for plots, tables and files."""

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
    def shown_states(self) -> tuple[str, ...]: ...
    def __contains__(self, name: object, /) -> bool: ...
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


def listed(names: Iterable[str] | str) -> list[str]:
    """One name or several as a list, and nothing but names."""
    found = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    for name in found:
        if not isinstance(name, str):
            raise UsageError(f"A variable's name was expected, not {name!r} of type {type(name).__name__}.")
    return found


def expand(result: Trajectories, names: Names) -> list[str]:
    """The names meant by what a user gave: patterns become the names they match, each name once, in the order given."""
    if names is None:
        return _at_hand(result, [name for name in result.names() if name != "time"])
    meant: dict[str, None] = {}
    for name in listed(names):
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
    if names is None:
        return [Column(name, name) for name in expand(result, None)]
    given = listed(names)
    scalars = {name for pattern in given if is_pattern(pattern) for name in result.names(pattern)}
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
    units = units or {}
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


def given_names(names: Sequence[Any]) -> Names:
    """What stood in a call as `("a", "b")` or as `(["a", "b"],)`; None if nothing did."""
    flat: list[str] = []
    for one in names:
        flat += [] if one is None else listed(one)
    return flat or None


def either_unit(unit: Any, units: Any) -> Unit:
    """`unit=` and `units=` are the same argument."""
    if unit is not None and units is not None:
        raise UsageError("`unit` and `units` are the same; give one of them.")
    found = units if unit is None else unit
    if not isinstance(found, str | Mapping | None):
        example = '"degC" or {"room.T": "degC"}'
        raise UsageError(f"`unit` is a unit, or units by name, such as {example}; got {found!r} of type {type(found).__name__}.")
    return found


def units_for(result: Trajectories, names: Iterable[str], unit: Unit) -> dict[str, str]:
    """Of each name the unit that is wanted; those that keep the declared one are left out."""
    from ..language.units import compatible

    if not unit:
        return {}
    own = {name: result.unit(name) for name in names}
    if isinstance(unit, str):
        fits = {declared: compatible(declared, unit) for declared in set(own.values())}
        if not any(fits.values()):
            listed = ", ".join(sorted({declared or "1" for declared in fits}))
            raise UsageError(f"None of the variables can be given in `{unit}`; their units are {listed}.")
        return {name: unit for name, declared in own.items() if fits[declared]}
    return _units_by_name(own, unit)


def _units_by_name(own: Mapping[str, str], unit: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in sorted(unit, key=lambda k: (k in own, not is_pattern(k))):  # a name counts more than a pattern or a unit
        pattern = pattern_of(key)
        meant = [name for name, declared in own.items() if name == key or declared == key or pattern.fullmatch(name)]
        meant = meant or [name for name in own if bare(name) == bare(key)]
        if not meant:
            near = near_matches(key, list(own)) or "Keys are names, patterns or declared units of what is shown."
            raise UsageError(f"`unit` names `{key}`, which is none of the variables asked for.", remedy=near)
        found |= dict.fromkeys(meant, unit[key])
    return found


def bare(name: str) -> str:
    """`tubes[2].wall.T[1]` → `tubes.wall.T`: the name of the whole array."""
    return ".".join(part for part, _ in split_path(name))


def matrix(result: Trajectories, wanted: Sequence[Column], units: Mapping[str, str] | None = None) -> Array:
    """All columns as one array (time, column), each column contiguous: the one copy an export makes."""
    table = np.empty((len(result.time), len(wanted)), order="F")
    for k, column in enumerate(values(result, wanted, units)):
        table[:, k] = column
    return table


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
