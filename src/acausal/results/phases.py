"""The result of a run in phases: several models one after another, looked at as one result.

A name that not every mode has is not a number while it is not there. The phases themselves are a discrete variable, `phase`, so
that everything that is made for states works on them: bands in pictures, `result.states("phase")`, `result.time_in("phase")`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..errors import Diagnostic, NameNotFound, ShapeError, UsageError, near_matches
from ..records import dataclass
from .events import Array, Cause, EventLog, History, Meaning, Place, Value
from .series import EXPRESSION, last_time, pattern_of
from .states import Interval
from .viewable import Viewable

if TYPE_CHECKING:
    import os

    from .result import Result
    from .series import Names, Outcome

_PHASE = 0  # the cell of a joined log that is the phase
_OWN_NAMES = ("phase", "phase_of_plant", "phase_of_the_whole_plant")  # the first that no mode uses itself


@final
class Phase(Interval):
    """A mode from `start` to `end`, in seconds; `cause` is what began it, None for the first one."""

    __slots__ = ()

    @property
    def mode(self) -> str:
        return self.state


@dataclass(frozen=True, slots=True)
class MeaningWithGaps(Meaning):
    """What the numbers of a discrete variable stand for that some modes do not have: "none" while it is not there."""

    def of(self, number: float) -> Value:
        return "none" if np.isnan(number) else Meaning.of(self, number)


@final
class PhasesResult(Viewable):
    """Trajectories over all phases of a run.

    `result["x"]` goes over `result.time` and is not a number while the mode does not have it. `result.phases` says which mode
    lasted how long and what began it, `result.parts` are the single results. At an exchange both sides are stored, at one time.
    """

    def __init__(
        self,
        modes: Sequence[str],
        parts: Sequence[Result],
        phases: Sequence[Phase],
        outcome: Outcome,
        statistics: Mapping[str, Any],
        diagnostics: tuple[Diagnostic, ...] = (),
        texts: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """`texts`: for each mode, how relations of its switches were written, by the text that the log has, or by their line."""
        self.modes, self.parts, self.phases = tuple(modes), tuple(parts), list(phases)
        self.outcome, self.statistics, self.diagnostics = outcome, statistics, diagnostics
        self.title = f"{' / '.join(self.modes)}"
        self._texts = texts or {}
        self._one_of = {phase.mode: part for phase, part in zip(self.phases, self.parts, strict=True)}  # any: names are the same

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} … {self.time[-1]:g} {self.unit('time')}" if len(self.time) else "nothing"
        return f"<PhasesResult: {len(self.phases)} phases, {len(self.time)} points, {span}, {self.outcome.name.lower()}>"

    @property
    def time(self) -> Array:
        return self._time

    @cached_property
    def _time(self) -> Array:
        return np.concatenate([part.time for part in self.parts]) if self.parts else np.zeros(0)

    @property
    def data(self) -> Array:
        """Nothing is stored in common: every value comes from a part."""
        return np.zeros((len(self.time), 0))

    @property
    def time_reached(self) -> float:
        return self.parts[-1].time_reached if self.parts else last_time(self)

    @property
    def metadata(self) -> dict[str, str | float]:
        return {"model": self.title, "outcome": self.outcome.name, "time_reached": self.time_reached, "phases": len(self.phases)}

    @cached_property
    def phase_name(self) -> str:
        """The name under which the phases are a variable: `phase`, unless a mode has a quantity of that name."""
        return next(n for n in _OWN_NAMES if not any(part.names(n) for part in self._one_of.values()))

    # --- values -----------------------------------------------------------------------------------------------------------
    def values_of(self, name: str) -> Array:
        if name == "time":
            return self.time
        if name == self.phase_name:
            numbers = [self.modes.index(phase.mode) for phase in self.phases]
            return np.repeat(np.asarray(numbers, dtype=float), [len(part.time) for part in self.parts])
        return self._joined(name, lambda part: part[name])

    def in_unit(self, name: str, unit: str) -> Array:
        """The same in another unit: `result.in_unit("room.T", "degC")`."""
        if name in ("time", self.phase_name):
            from ..language.units import convert

            return np.asarray(convert(self[name], self.unit(name), unit))
        return self._joined(name, lambda part: part.in_unit(name, unit))

    def _joined(self, name: str, values: Callable[[Result], Array]) -> Array:
        pieces, problem = list[Array | None](), None
        for part in self.parts:
            try:
                pieces.append(values(part))
            except NameNotFound as error:
                problem = problem or error
                pieces.append(None)
        shapes = {piece.shape[1:] for piece in pieces if piece is not None}
        if problem is not None and not shapes:
            raise self._nowhere(name, problem)
        if len(shapes) > 1:
            raise self._several_shapes(name, pieces)
        shape = next(iter(shapes), ())
        return np.concatenate(
            [
                np.full((len(part.time), *shape), np.nan) if piece is None else piece
                for part, piece in zip(self.parts, pieces, strict=True)
            ]
        )

    def _nowhere(self, name: str, problem: NameNotFound) -> NameNotFound:
        if self._where(name) is not None:
            return problem  # it exists, but has no values: its mode says why
        near = near_matches(name, self.names())
        return NameNotFound(
            f"No mode of this run has `{name}`. {near}".rstrip(),
            remedy=f"Modes entered: {', '.join(self._one_of)}; `result.names()`.",
        )

    def _several_shapes(self, name: str, pieces: Sequence[Array | None]) -> ShapeError:
        found = {phase.mode: piece.shape[1:] for phase, piece in zip(self.phases, pieces, strict=True) if piece is not None}
        listed = ", ".join(f"{shape} in {mode}" for mode, shape in found.items())
        return ShapeError(
            f"`{name}` has different shapes in the modes ({listed}), so its values do not form one array.",
            remedy=f"Take an element, or look at a single phase: `result.parts[0]['{name}']`.",
        )

    def _where(self, name: str) -> Result | None:
        """A part whose mode has the name."""
        for part in self._one_of.values():
            try:
                part.unit(name)
            except NameNotFound:
                continue
            return part
        return None

    def _known(self, name: str) -> Result:
        found = self._where(name)
        if found is None:
            raise self._nowhere(name, NameNotFound(name))
        return found

    # --- names ------------------------------------------------------------------------------------------------------------
    def names(self, pattern: str = "*") -> list[str]:
        """All scalar names of all modes that match a pattern, and that of the phases."""
        found = dict.fromkeys([self.phase_name] if pattern_of(pattern).fullmatch(self.phase_name) else [])
        for part in self._one_of.values():
            found |= dict.fromkeys(part.names(pattern))
        return list(found)

    def unit(self, name: str) -> str:
        """The unit of a quantity, as the first mode that has it declares it."""
        if name == "time":
            return next((part.unit(name) for part in self._one_of.values()), "s")
        return "" if name == self.phase_name else self._known(name).unit(name)

    def description(self, name: str) -> str:
        if name in ("time", self.phase_name):
            return name
        return self._known(name).description(name)

    def source(self, name: str) -> tuple[str, int, int]:
        """Every name is exported by its values."""
        if name != self.phase_name:
            self._known(name)
        return EXPRESSION, -1, 1

    def meaning(self, name: str) -> Meaning:
        """What the numbers of a quantity stand for; those of `phase` are the modes."""
        if name == self.phase_name:
            return Meaning("states", self.modes)
        if name == "time":
            return Meaning()
        found = self._known(name).meaning(name)
        everywhere = all(_has(part, name) for part in self._one_of.values())
        return found if everywhere or not found.steps else MeaningWithGaps(found.type, found.states)

    # --- events -----------------------------------------------------------------------------------------------------------
    @property
    def history(self) -> History | None:
        """The events of all phases, and the exchanges between them."""
        return self._history

    @cached_property
    def _history(self) -> History | None:
        if not self.parts:
            return None
        cells = _PartCells(self.parts, self.phase_name, self.modes)
        return _joined_history(self.phases, self.parts, cells, self._texts)

    def place(self, name: str) -> Place | None:
        """The phases are a cell of the log; other names have different cells in different phases, and are looked at row by row."""
        return Place(_PHASE) if name == self.phase_name else None

    def states(self, path: str) -> list[Interval]:
        """How long which state of a discrete variable lasted: `result.states("phase")`. While no mode has it, it is "none"."""
        from .states import Interval, pieces

        found, history = pieces(self, path), self.history
        out = list[Interval]()
        for value, start, end, event in zip(found.values, found.starts, found.ends, found.events, strict=True):
            state = found.meaning.text(float(value))
            if out and state == out[-1].state == "none":
                out[-1] = replace(out[-1], end=float(end))
                continue
            cause = history.cause_of(int(event), path) if history is not None and event >= 0 else None
            out.append(Interval(state, float(start), float(end), cause))
        return out

    def time_in(self, path: str) -> dict[str, float]:
        """Seconds that a discrete variable spent in each of its states; `result.time_in("phase")` for the modes."""
        total = dict.fromkeys(self.meaning(path).values, 0.0)
        for one in self.states(path):
            total[one.state] = total.get(one.state, 0.0) + one.duration
        return total

    # --- pictures and files -----------------------------------------------------------------------------------------------
    @property
    def shown_states(self) -> tuple[str, ...]:
        """Pictures have the phases as bands; `states=()` for none."""
        return (self.phase_name,)

    def save(self, path: str | os.PathLike[str], names: Names = None, *, expressions: Iterable[str] | None = None) -> None:
        """A run in phases has no file of its own: its parts are results of different models."""
        raise UsageError(
            "A run in phases is not kept in one file: its parts belong to different models.",
            remedy='Keep the values: `result.export("run.h5")` or `.csv`; or the parts: `result.parts[0].save("first.result")`.',
        )


def _has(part: Result, name: str) -> bool:
    try:
        part.unit(name)
    except NameNotFound:
        return False
    return True


# ---------------------------------------------------------------- events of several logs as one


@final
class _PartCells:
    """Cells of a joined log: first the phase, then those of all parts, one part after another."""

    def __init__(self, parts: Sequence[Result], phase_name: str, modes: tuple[str, ...]) -> None:
        self.phase_name, self.modes = phase_name, modes
        self.histories = [part.history for part in parts]
        self.starts = [np.zeros(0) if h is None else h.start for h in self.histories]
        self.firsts = np.cumsum([_PHASE + 1, *(len(s) for s in self.starts)])[:-1]

    def _of(self, cell: int) -> tuple[Any, int]:
        k = int(np.searchsorted(self.firsts, cell, side="right")) - 1
        history = self.histories[k]
        return (None if history is None else history.known_as), cell - int(self.firsts[k])

    def name(self, cell: int) -> str:
        if cell == _PHASE:
            return self.phase_name
        cells, number = self._of(cell)
        return "" if cells is None else str(cells.name(number))

    def meaning(self, cell: int) -> Meaning:
        if cell == _PHASE:
            return Meaning("states", self.modes)
        cells, number = self._of(cell)
        found: Meaning = Meaning() if cells is None else cells.meaning(number)
        return found


class _Joining:
    """A log in the making."""

    def __init__(self) -> None:
        self.times, self.rows, self.causes = list[float](), list[int](), list[tuple[int, int]]()
        self.changes: list[tuple[int, int, float]] = []  # event, cell, value
        self.told: list[Callable[[], Cause]] = []

    def add(self, time: float, row: int, because: Iterable[Callable[[], Cause]], changes: Iterable[tuple[int, float]]) -> None:
        event = len(self.times)
        for one in because:
            self.causes.append((event, len(self.told)))
            self.told.append(one)
        self.times.append(time)
        self.rows.append(row)
        self.changes += [(event, cell, value) for cell, value in changes]

    def log(self) -> EventLog:
        changed, cells, values = np.array(self.changes, dtype=float).reshape(-1, 3).T
        causes = np.array(self.causes, dtype=np.int64).reshape(-1, 2)
        rows, told = np.array(self.rows, dtype=np.int64), self.told
        return EventLog(np.array(self.times), rows, causes, changed.astype(int), cells.astype(int), values, lambda k: told[k]())


def _joined_history(
    phases: Sequence[Phase], parts: Sequence[Result], cells: _PartCells, texts: Mapping[str, Mapping[str, str]]
) -> History:
    """One log: the events of every part, and between two parts the exchange."""
    joining, before = _Joining(), 0
    for k, (phase, part, history) in enumerate(zip(phases, parts, cells.histories, strict=True)):
        if phase.cause is not None:
            joining.add(phase.start, before - 1, [lambda c=phase.cause: c], [(_PHASE, cells.modes.index(phase.mode))])  # type: ignore[misc]
        by_event = {} if history is None else _by_event(history.log)
        for event in range(0 if history is None else len(history.times)):
            assert history is not None
            time = float(history.times[event])
            exchanged = k + 1 < len(parts) and time >= phases[k + 1].start
            if exchanged and not any(True for _ in history.changes_at(event)):
                continue  # the event that ended this phase is told as the exchange
            because = [_told(history, source, texts.get(phase.mode, {})) for source in history.sources_at(event)]
            changes = [(int(cells.firsts[k]) + cell, value) for cell, value in by_event.get(event, ())]
            joining.add(time, before + int(history.rows[event]), because, changes)
        before += len(part.time)
    return History(joining.log(), np.concatenate([[float(cells.modes.index(phases[0].mode))], *cells.starts]), cells)


def _by_event(log: EventLog) -> dict[int, list[tuple[int, float]]]:
    found: dict[int, list[tuple[int, float]]] = {}
    for event, cell, value in zip(np.asarray(log.changed).tolist(), np.asarray(log.cells).tolist(), log.values, strict=True):
        found.setdefault(event, []).append((cell, float(value)))
    return found


def _told(history: History, source: int, wording: Mapping[str, str]) -> Callable[[], Cause]:
    def tell() -> Cause:
        cause = history.describe(source)
        return replace(cause, text=wording.get(cause.text) or wording.get(str(cause.location)) or cause.text)

    return tell
