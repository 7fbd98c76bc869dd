"""How long which state lasted, and what began it: for one discrete variable of a result."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from ..errors import UsageError
from ..records import dataclass
from . import series
from .events import Array, Cause, Meaning
from .series import Trajectories


@dataclass(frozen=True, slots=True)
class Interval:
    """A state from `start` to `end`, in seconds; `cause` is what began it, None for the state of the beginning."""

    state: str
    start: float
    end: float
    cause: Cause | None = None
    unit: str = "s"  # of the times

    @property
    def duration(self) -> float:
        return self.end - self.start

    def __str__(self) -> str:
        because = f", because {self.cause}" if self.cause else ""
        u = self.unit
        return f"{self.state} for {self.duration:.6g} {u}, from {self.start:.6g} {u} to {self.end:.6g} {u}{because}"


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Values that hold from `starts[k]` until `starts[k + 1]`, the last one until `end`; `events[k]` began it, -1 if none did."""

    meaning: Meaning
    values: Array
    starts: Array
    end: float
    events: np.ndarray

    @property
    def ends(self) -> Array:
        return np.append(self.starts[1:], self.end) if len(self.starts) else self.starts


def pieces(result: Trajectories, path: str) -> Pieces:
    """The values of one discrete variable as pieces of time. Its states may be many: no text is made here."""
    meaning, place, history = result.meaning(path), result.place(path), result.history
    if not meaning.steps and place is None:
        raise UsageError(
            f"`{path}` has no states: it is neither discrete nor a truth value.",
            remedy="`result.states` takes a state variable, a Boolean or an Integer; for others look at `result[…]`.",
        )
    values = result[path]
    if values.ndim > 1:
        raise _several(result, path, values.shape[1:])
    if not len(values):
        return Pieces(meaning, values, values, float("nan"), np.empty(0, dtype=np.int64))
    start, end = float(result.time[0]), max(series.last_time(result), getattr(result, "time_reached", -np.inf))
    if history is not None and place is not None and not place.lag:
        events, after = history.changes_of(place.cell)
        numbers = place.sign * np.concatenate([history.start[place.cell : place.cell + 1], after])
        starts = np.maximum(np.concatenate([[start], history.times[events]]), start)
    else:
        rows = np.flatnonzero(values[1:] != values[:-1])
        numbers, starts = values[np.append(0, rows + 1)], result.time[np.append(0, rows + 1)]
        events = np.full(len(rows), -1) if history is None else _events_at(history.rows, rows)
    begun = max(0, int(np.searchsorted(starts, start, side="right")) - 1)  # what ended at the start has not lasted
    return Pieces(meaning, numbers[begun:], starts[begun:], end, np.append(-1, events)[begun:])


def _events_at(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The last event behind each of the wanted rows, -1 where there is none."""
    found = np.searchsorted(rows, wanted, side="right") - 1
    return np.where((found >= 0) & (np.append(rows, -2)[found] == wanted), found, -1)


def _several(result: Trajectories, path: str, shape: tuple[int, ...]) -> UsageError:
    """An array of components has a state for each; which one is meant must be said."""
    parts = series.split_path(path)
    wanted = ".".join(f"{part}[{subscript}]" if subscript else f"{part}*" for part, subscript in parts)
    bare = ".".join(part for part, _ in parts)
    likely = [n for n in result.names(wanted) if ".".join(part for part, _ in series.split_path(n)) == bare]
    example = f", such as `{likely[0]}`" if likely else ""
    return UsageError(
        f"`{path}` stands for {int(np.prod(shape))} variables (shape {shape}), each with its own states.",
        remedy=f"Pick one of them{example}.",
    )


def states(result: Trajectories, path: str) -> list[Interval]:
    """Every state of a discrete variable in turn. One that was left at the same instant lasted 0 s."""
    found, history, unit = pieces(result, path), result.history, result.unit("time") or "s"
    text: dict[float, str] = {float(v): found.meaning.text(float(v)) for v in np.unique(found.values)}
    out = []
    for value, start, end, event in zip(found.values, found.starts, found.ends, found.events, strict=True):
        cause = history.cause_of(int(event), path) if history is not None and event >= 0 else None
        out.append(Interval(text[float(value)], float(start), float(end), cause, unit))
    return out


def state_at(result: Trajectories, path: str, time: float) -> str:
    """The state at a time; at an event that after it."""
    found = pieces(result, path)
    if not len(found.starts) or not found.starts[0] <= time <= found.end:
        unit = result.unit("time") or "s"
        span = f"from {found.starts[0]:g} {unit} to {found.end:g} {unit}" if len(found.starts) else "over no time at all"
        raise UsageError(f"The result says nothing about {time!r} {unit}: it goes {span}.")
    return found.meaning.text(float(found.values[bisect_right(found.starts.tolist(), time) - 1]))


def time_in(result: Trajectories, path: str) -> dict[str, float]:
    """Seconds spent in each state; those that were never entered have 0."""
    found = pieces(result, path)
    total = dict.fromkeys(found.meaning.values, 0.0)
    for value in np.unique(found.values):
        total[found.meaning.text(float(value))] = float((found.ends - found.starts)[found.values == value].sum())
    return total
