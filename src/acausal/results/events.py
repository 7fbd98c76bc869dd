"""What happened at the events of a run: when, caused by what, and which discrete values changed. Arrays; names on demand.

The runtime fills an `EventLog`. A `History` looks things up in it: the trajectory of a cell, the changes at an event. `Events` is
what a user sees, `result.events`; nothing in it is made before it is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol, final, overload

import numpy as np
from numpy.typing import NDArray

from ..program.rows import Cause, EventLog, Meaning, Place, Value
from ..records import dataclass

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

__all__ = ["Array", "Cause", "Change", "EventLog", "Events", "History", "Meaning", "Place", "Value"]

SHOWN = 24  # events in a table, unless a part was asked for


class Cells(Protocol):
    """What the cells of a log are; "" is the name of a cell that the translation made for itself."""

    def name(self, cell: int) -> str: ...
    def meaning(self, cell: int) -> Meaning: ...


@dataclass(frozen=True, slots=True)
class Change:
    """A discrete variable that got another value; `before` and `after` are state names, truth values or numbers."""

    name: str
    before: Value
    after: Value

    def __str__(self) -> str:
        before, after = (f"{v:.6g}" if isinstance(v, float) else str(v) for v in (self.before, self.after))
        return f"{self.name}: {before} → {after}"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: when, what brought it about, which discrete variables changed."""

    time: float
    causes: tuple[Cause, ...]
    changes: tuple[Change, ...]
    unit: str = "s"  # of the time

    def __str__(self) -> str:
        lines = [f"event at {self.time:.9g} {self.unit}"]
        told = dict.fromkeys(str(cause) for cause in self.causes)  # a condition may have changed in several rounds
        lines += [f"  {'because' if not k else '    and'}  {cause}" for k, cause in enumerate(told)]
        return "\n".join([*lines, *(f"           {change}" for change in self.changes)])


@final
class History:
    """A log in the order of its cells, so that the values of a cell are found by bisection. Its size is that of the log."""

    def __init__(self, log: EventLog, start: Array, cells: Cells) -> None:
        """`start[cell]` is the value before the first event."""
        self.log, self.start, self.known_as = log, start, cells
        self.times, self.rows = np.asarray(log.times, dtype=np.float64), np.asarray(log.rows, dtype=np.int64)
        self._sort()
        self._described: dict[int, Cause] = {}

    def _sort(self) -> None:
        """Changes by cell, then by event; of several at one event the last one counts, and one that changes nothing is none."""
        order = np.argsort(np.asarray(self.log.cells, dtype=np.int64), kind="stable")
        cell, event, value = (np.asarray(a)[order] for a in (self.log.cells, self.log.changed, self.log.values))
        last = np.ones(len(order), dtype=bool)
        last[:-1] = (cell[1:] != cell[:-1]) | (event[1:] != event[:-1])
        cell, event, value = cell[last].astype(np.int64), event[last].astype(np.int64), value[last].astype(np.float64)
        before = np.concatenate([self.start[cell[:1]], value[:-1]])
        first = np.flatnonzero(cell[1:] != cell[:-1]) + 1
        before[first] = self.start[cell[first]]
        real = value != before
        self._cell, self._event, self._value, self._before = cell[real], event[real], value[real], before[real]

    # --- by cell ----------------------------------------------------------------------------------------------------------
    def changes(self, cells: Numbers | int) -> NDArray[np.bool_]:
        """Which of these cells change at all."""
        found = np.searchsorted(self._cell, cells)
        return np.append(self._cell, -1)[found] == cells

    def changes_of(self, cell: int) -> tuple[Numbers, Array]:
        """The events at which a cell changed, and what it became."""
        part = slice(*np.searchsorted(self._cell, (cell, cell + 1)))
        return self._event[part], self._value[part]

    def trajectories(self, cells: Numbers, count: int, lag: int = 0) -> Array:
        """Values at each of `count` stored rows, (count, *cells.shape); with a lag of 1 those of the row before."""
        flat = np.ravel(cells)
        first, end = np.searchsorted(self._cell, flat), np.searchsorted(self._cell, flat, side="right")
        numbers = end - first
        before = np.cumsum(numbers) - numbers  # how many changes come before those of each cell
        place = np.repeat(first - before, numbers) + np.arange(numbers.sum())
        which = np.repeat(np.arange(len(flat)), numbers)
        begins = np.clip(self.rows[self._event[place]] + 1 + lag, 0, count)
        # One long sequence of pieces, cell after cell: its value before any event, then one piece for every change.
        starts = np.insert(which * count + begins, before, np.arange(len(flat)) * count)
        values = np.insert(self._value[place], before, self.start[flat])
        lengths = np.diff(starts, append=len(flat) * count)
        return np.repeat(values, lengths).reshape(len(flat), count).T.reshape(count, *np.shape(cells))

    # --- by event ---------------------------------------------------------------------------------------------------------
    @cached_property
    def _by_event(self) -> tuple[Numbers, Numbers]:
        order = np.argsort(self._event, kind="stable")
        return order, np.searchsorted(self._event[order], np.arange(len(self.times) + 1))

    @cached_property
    def _causes(self) -> tuple[Numbers, Numbers]:
        pairs = np.asarray(self.log.causes, dtype=np.int64).reshape(-1, 2)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        return pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(len(self.times) + 1))

    def describe(self, source: int) -> Cause:
        if source not in self._described:
            self._described[source] = self.log.describe(source)
        return self._described[source]

    def sources_at(self, event: int) -> list[int]:
        sources, ends = self._causes
        return [int(s) for s in sources[ends[event] : ends[event + 1]]]

    def cause_of(self, event: int, name: str) -> Cause | None:
        """What made `name` change: of several causes the one that its own component gave, if there is one."""
        causes = [self.describe(source) for source in self.sources_at(event)]
        owner = name.rpartition(".")[0]
        own = [cause for cause in causes if cause.component.partition(" (")[0] == owner]
        return next(iter(own or causes), None)

    def changes_at(self, event: int) -> Iterator[Change]:
        """The changes that have a name, in the order of their cells."""
        order, ends = self._by_event
        for k in order[ends[event] : ends[event + 1]]:
            cell = int(self._cell[k])
            name = self.known_as.name(cell)
            if name:
                meaning = self.known_as.meaning(cell)
                yield Change(name, meaning.of(float(self._before[k])), meaning.of(float(self._value[k])))

    def named_cells(self) -> list[int]:
        """The cells that change and have a name."""
        return [cell for cell in np.unique(self._cell).tolist() if self.known_as.name(cell)]

    def changes_in(self, cells: Numbers) -> tuple[Numbers, Numbers, Array]:
        """Events, cells and values of the changes of some cells, by event: what a file keeps."""
        order = self._by_event[0]
        order = order[np.isin(self._cell[order], cells)]
        return self._event[order], self._cell[order], self._value[order]


# ---------------------------------------------------------------- what the user sees


@final
class Events(Sequence[Event]):
    """The events of a run, in order of time; each is made when it is looked at. Printed, they are a table."""

    def __init__(self, history: History | None, chosen: Numbers | None = None, unit: str = "s") -> None:
        self._history, self.unit = history, unit
        count = 0 if history is None else len(history.times)
        self._chosen = np.arange(count) if chosen is None else chosen

    @property
    def times(self) -> Array:
        return np.empty(0) if self._history is None else self._history.times[self._chosen]

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, key: int) -> Event: ...
    @overload
    def __getitem__(self, key: slice) -> Events: ...
    def __getitem__(self, key: int | slice) -> Event | Events:
        if isinstance(key, slice):
            return Events(self._history, self._chosen[key], self.unit)
        if not -len(self) <= key < len(self):
            raise IndexError(f"There are {_counted(len(self), 'event')}, counted from 0; number {key} is none of them.")
        assert self._history is not None
        event, history = int(self._chosen[key]), self._history
        causes = tuple(history.describe(source) for source in history.sources_at(event))
        return Event(float(history.times[event]), causes, tuple(history.changes_at(event)), self.unit)

    def between(self, start: float | str, end: float | str) -> Events:
        """Those from `start` until `end`: in seconds, or texts such as "2 h"."""
        from ..runtime.storage import seconds

        first, last = seconds(start, "start", self.unit), seconds(end, "end", self.unit)
        return Events(self._history, self._chosen[(self.times >= first) & (self.times <= last)], self.unit)

    def __repr__(self) -> str:
        return _table(self)

    def _repr_html_(self) -> str:
        from .shown import events_html

        return events_html(self)


HEADINGS = ("time", "component", "what happened", "what changed", "where")


def _table(events: Events) -> str:
    """One line an event; of very many the first and the last ones, with the number of those between."""
    if not len(events):
        return "no events"
    count = len(events)
    shown = range(count) if count <= SHOWN else [*range(SHOWN // 2), *range(count - SHOWN // 2, count)]
    times = _time_texts(events.times[list(shown)], events.unit)
    lines = [HEADINGS, *(event_cells(time, events[k]) for time, k in zip(times, shown, strict=True))]
    texts = _aligned(lines)
    if count > SHOWN:
        texts.insert(1 + SHOWN // 2, f"  … {count - 2 * (SHOWN // 2)} more …")
    first, last = events.times[0], events.times[-1]
    span = f"at {first:g} {events.unit}" if first == last else f"{first:g} … {last:g} {events.unit}"
    return "\n".join([f"{_counted(count, 'event')}, {span}", *texts])


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _time_texts(times: Array, unit: str) -> list[str]:
    """As many digits as tell neighbours apart, but no more than ten."""
    for digits in (6, 8, 10):
        texts = [f"{t:.{digits}g} {unit}" for t in times]
        if len(set(texts)) == len(set(times.tolist())):
            break
    return texts


def event_cells(time: str, event: Event) -> tuple[str, ...]:
    """What a row of a table says of an event."""
    cause = event.causes[0] if event.causes else Cause("", "")
    near = [change for change in event.changes if change.name.startswith(f"{cause.component.partition(' (')[0]}.")]
    changes = [str(change) for change in near or event.changes]
    return (
        time,
        cause.component,
        _first(cause.text, len(event.causes)),
        _first("".join(changes[:1]), len(event.changes)),
        cause.place,
    )


def _first(text: str, count: int) -> str:
    return text if count <= 1 else f"{text}  (+{count - 1})"


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as needed; where the terminal is too narrow, the widest give way."""
    from shutil import get_terminal_size

    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADINGS))]
    room = max(80, get_terminal_size((140, 24)).columns) - 2 * len(widths)
    while sum(widths) > room:
        widest = max(range(1, 4), key=lambda k: widths[k])
        if widths[widest] <= 12:
            break
        widths[widest] -= 1
    texts = []
    for line in lines:
        cut = [_cut(text, width) for text, width in zip(line, widths, strict=True)]
        texts.append(
            "  " + "  ".join([cut[0].rjust(widths[0]), *(c.ljust(w) for c, w in zip(cut[1:], widths[1:], strict=True))]).rstrip()
        )
    return texts


def _cut(text: str, width: int) -> str:
    """Too long a text loses its middle, so that both a path's end and an expression's begin remain."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"
