"""Forward sensitivities: how a run moves with parameters, along its own steps and across its events.

The run is recorded (`runtime/recording.py`); the native core solves the linear equations of the sensitivities at its steps
(`native/tangent.h`), all parameters at once. Between events nothing here depends on the number of steps.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NameNotFound, UsageError, near_matches
from ..families.plant import TIME
from ..program.evaluator import Evaluator
from ..program.rows import Stored
from ..results.result import Recorded, Result
from ..runtime.problem import Problem, core
from ..runtime.recording import Passage, Recording
from .directions import Directions, directions_of, named
from .initial import initial
from .jumps import across
from .local import Local
from .point import assigned, workspaces
from .tape import TapeBuilder

if TYPE_CHECKING:
    from ..model.model import Model

_MOST = 4e8  # numbers that are kept without being asked twice
_STEP = 1e-5  # of a difference along a direction, as a part of the size of what moves


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Rows of a result between two passages: the problem that was solved, and how known cells move there."""

    first: int
    end: int
    problem: Problem
    known: np.ndarray


@dataclass(eq=False)
class Sensitivities:
    """How a result moves with parameters. `sensitivities["room.T", "wall.G"]` is a trajectory over `result.time`."""

    model: Model
    result: Result
    parameters: tuple[str, ...]
    data: np.ndarray  # (row, unknown, parameter)
    stretches: list[Stretch]
    events: dict[float, np.ndarray] = field(default_factory=dict)  # how the time of each event moves with the parameters
    error: float | None = None  # how accurate they are, where that was asked for
    _kept: dict[int, np.ndarray] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<Sensitivities to {', '.join(self.parameters[:4])}{', …' if len(self.parameters) > 4 else ''}>"

    def __getitem__(self, key: tuple[str, str]) -> np.ndarray:
        path, parameter = key
        return self._of(path, [self.number(parameter)])[..., 0]

    def stretched(self, first: int, end: int, problem: Problem, known: np.ndarray) -> None:
        """Add rows; those that differ in nothing from the rows before go with them."""
        last = self.stretches[-1] if self.stretches else None
        if last is not None and last.problem is problem and last.known is known and last.end == first:
            self.stretches[-1] = Stretch(last.first, end, problem, known)
        else:
            self.stretches.append(Stretch(first, end, problem, known))

    def number(self, parameter: str) -> int:
        if parameter not in self.parameters:
            raise NameNotFound(
                f"The run has no sensitivities to `{parameter}`. {near_matches(parameter, self.parameters)}".rstrip(),
                remedy=f"It has them to: {', '.join(self.parameters[:12])}. Others are asked for when it is run.",
            )
        return self.parameters.index(parameter)

    def of(self, path: str) -> np.ndarray:
        """Sensitivities of a quantity to all parameters: (row, …, parameter)."""
        return self._of(path, list(range(len(self.parameters))))

    def ranking(self, path: str, row: int = -1) -> dict[str, float]:
        """What matters: by how much a quantity changes when each parameter changes by 1 % of its value, the most first."""
        moved = self.of(path)[row]
        found = {n: 0.01 * self._value(n) * float(s) for n, s in zip(self.parameters, moved, strict=True)}
        return dict(sorted(found.items(), key=lambda pair: -abs(pair[1])))

    def band(self, path: str, tolerances: Mapping[str, Any] | str, *, worst: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and highest trajectory of a quantity when parameters lie within tolerances, to first order.

        tolerances: how far each may be off, a number in its unit or "1 %" of its value; one text for all. worst: all of them in the
            worst direction at once; otherwise independent of each other (root of the sum of squares).
        """
        given = dict.fromkeys(self.parameters, tolerances) if isinstance(tolerances, str) else dict(tolerances)
        wide = np.array([self._tolerance(name, given.pop(name)) if name in given else 0.0 for name in self.parameters])
        if given:
            self.number(next(iter(given)))  # to be told that the run says nothing about it
        moved = np.abs(self.of(path) * wide)
        half = moved.sum(axis=-1) if worst else np.sqrt((moved**2).sum(axis=-1))
        middle = np.asarray(self.result.values_of(path), dtype=float)
        return middle - half, middle + half

    def _tolerance(self, name: str, given: Any) -> float:
        number = re.fullmatch(r"\s*([0-9.eE+-]+)\s*%\s*", given) if isinstance(given, str) else None
        try:
            found = abs(self._value(name)) * float(number[1]) / 100 if number else float(given)
        except (TypeError, ValueError):
            found = -1.0
        if not found >= 0:
            raise UsageError(f"The tolerance of `{name}` is a number in its unit or a text such as `1 %`, got {given!r}.")
        return found

    def _value(self, name: str) -> float:
        return float(np.asarray(self.result.values_of(name))[0])

    def _of(self, path: str, which: list[int]) -> np.ndarray:
        shape = np.shape(self.result.values_of(path))[1:]
        out = np.full((len(self.result.time), *shape, len(which)), np.nan)
        for stretch in self.stretches:
            rows = slice(stretch.first, stretch.end)
            plain = plain_places(self.model, path, stretch.problem)
            if plain is not None:
                places, signs = plain
                out[rows] = (self.data[rows][:, places][..., which] * signs[:, None]).reshape(-1, *shape, len(which))
            elif stretch.end > stretch.first:
                out[rows] = self._computed(path, which, stretch)
        return out

    def _computed(self, path: str, which: list[int], stretch: Stretch) -> np.ndarray:
        """Of what is computed from the unknowns: the difference along the direction in which they move. Nothing is solved here, so
        that its error is that of rounding."""
        here = self._workspaces(stretch)
        read = self._reads_slopes(path, stretch, here)
        slopes = self._slopes(stretch, here, which) if read else None
        found = [
            self._along(path, k, stretch, here, None if slopes is None else slopes[:, :, place]) for place, k in enumerate(which)
        ]
        return np.stack(found, axis=-1)

    def _along(self, path: str, k: int, stretch: Stretch, here: np.ndarray, slopes: np.ndarray | None) -> np.ndarray:
        n = stretch.problem.size
        direction = np.zeros_like(here)
        direction[:, :n] = self.data[stretch.first : stretch.end, :, k]
        direction[:, 2 * n : 2 * n + len(stretch.known)] = stretch.known[:, k]
        if slopes is not None:
            direction[:, n : 2 * n] = slopes
        size = np.maximum(np.abs(here), 1e-3 * np.abs(here).max(axis=0, initial=0.0))
        size[:, : 2 * n] = np.maximum(size[:, : 2 * n], 1e-6 * np.tile(stretch.problem.nominal, 2))  # what is zero has rounding
        moving = (direction != 0) & (size > 0)
        step = _STEP * float((size[moving] / np.abs(direction[moving])).min(initial=np.inf))
        step = step if np.isfinite(step) else _STEP  # only what is zero moves, and nobody says how large it is
        there, back = (self._values(path, stretch, here + sign * step * direction) for sign in (1, -1))
        return np.asarray((there - back) / (2 * step))

    def _workspaces(self, stretch: Stretch) -> np.ndarray:
        if stretch.first not in self._kept:
            rows = slice(stretch.first, stretch.end)
            self._kept[stretch.first] = workspaces(self.model, self.result, rows, stretch.problem)
        return self._kept[stretch.first]

    def _values(self, path: str, stretch: Stretch, there: np.ndarray) -> np.ndarray:
        """A quantity at changed workspaces."""
        system, n = self.model.system, self.model.system.size
        rows = stretch.problem.lowered.expand(assigned(stretch.problem, there))
        times = rows[:, 2 * n + TIME]
        inputs = {cell: Recorded(times, rows[:, 2 * n + cell]) for cell in self.result._stored.inputs}
        stored = Stored(times, rows, np.arange(n), n + np.arange(n), rows[0, 2 * n :], inputs)
        return np.asarray(Evaluator(system, stored, None)[path])

    def _reads_slopes(self, path: str, stretch: Stretch, here: np.ndarray) -> bool:
        n, other = stretch.problem.size, here.copy()
        other[:, n : 2 * n] += 1.0
        return not np.array_equal(self._values(path, stretch, here), self._values(path, stretch, other), equal_nan=True)

    def _slopes(self, stretch: Stretch, here: np.ndarray, which: list[int]) -> np.ndarray:
        n, known = stretch.problem.size, stretch.known[:, which]
        rows = range(stretch.first, stretch.end)
        moved = [Local(stretch.problem, w).consistent(self.data[r][:, which], known) for r, w in zip(rows, here, strict=True)]
        return np.array([d[n : 2 * n] for d in moved])


def plain_places(model: Model, path: str, problem: Problem) -> tuple[np.ndarray, np.ndarray] | None:
    """Where a quantity is among the unknowns of a problem, with signs, if it is nothing else than some of them."""
    system = model.system
    located = system.plant.locate(path)
    quantity = located.kind.quantities.get(located.name) if located.flat is not None else None
    if quantity is None or located.order or quantity.declaration.is_known or located.flat is None:
        return None
    numbers = (quantity.base + np.asarray(located.flat)).ravel()
    if (located.kind.index, located.name) in system.definitions or system.aliases.known[numbers].any():
        return None
    places = problem.lowered.place[system.aliases.index[numbers]]
    return (places, system.aliases.sign[numbers].astype(float)) if (places < problem.size).all() else None


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Steps of a recording with one problem and one set of known values, after some passages."""

    first: int
    last: int
    begins: bool  # the integration began anew at the first point
    problem: Problem
    known: np.ndarray
    passages: tuple[Passage, ...]
    rows: int | None  # of the result, until its end; all that are left otherwise


def prepared_to_record(solver: Any, given: Any, solve_for: Any, store: Any, asked: Any) -> Recording:
    """A recording for a run that is to be differentiated; a complaint about what does not go with it."""
    if getattr(solver, "name", "") != "ida" or core is None:
        raise UsageError(
            f"Sensitivities follow the steps of the solver `ida`; the solver is `{getattr(solver, 'name', solver)}`.",
            remedy="Leave `solver` out.",
        )
    if given or list(solve_for):
        raise UsageError(
            "A run with `given` and `solve_for` has no sensitivities yet.", remedy="Solve for the parameters first, and set them."
        )
    if store is not None:
        raise UsageError("Sensitivities need all unknowns of the run.", remedy="Leave `store` out, or ask for fewer `points`.")
    return asked if isinstance(asked, Recording) else Recording()


def spelt(model: Model, names: Iterable[str] | str | Recording) -> list[str] | Recording:
    """Names that exist: a slip is told before the run, not after it."""
    if isinstance(names, Recording):
        return names
    given = named(names)
    for name in given:
        model.system.plant.locate(name)
    return given


def followed(model: Model, result: Result, recording: Recording, names: Iterable[str] | str) -> Sensitivities:
    """The sensitivities of a recorded run."""
    return Following(model, result, recording).forward(names)


def at_rest(model: Model, result: Result, prepared: Any, names: Iterable[str] | str, inverse: bool) -> Sensitivities:
    """The sensitivities of a steady state."""
    if inverse:
        raise UsageError(
            "A state with `given` and `solve_for` has no sensitivities yet.", remedy="Set the parameters that were found."
        )
    recording = Recording(first=prepared)
    return Following(model, result, recording).forward(names)


class Following:
    """Goes over a recorded run once more."""

    def __init__(self, model: Model, result: Result, recording: Recording) -> None:
        self.model, self.result, self.recording, self.prepared = model, result, recording, recording.first
        self.recorder = recording.recorder
        self.tapes: dict[tuple[int, bytes], tuple[Any, list[Any]]] = {}

    def start(self, directions: Directions) -> np.ndarray:
        first = self.prepared
        problem = first.problem
        t0 = float(self.result.time[0]) if len(self.result.time) else 0.0
        w = problem.equations.workspace(t0, first.y, first.yp, problem.known)
        return initial(problem, w, directions, first.mode)

    def forward(self, names: Iterable[str] | str) -> Sensitivities:
        directions = directions_of(self.model, names, self.prepared.problem, began=self.prepared)
        rows, n, m = len(self.result.time), self.prepared.problem.size, len(directions.names)
        if rows * n * m > _MOST:
            raise UsageError(
                f"{m} sensitivities of {n} unknowns at {rows} points are {rows * n * m:.1e} numbers.",
                remedy="Ask for fewer output points (`points=…`), or for gradients of some outputs: `model.gradient(…)`.",
            )
        found = Sensitivities(self.model, self.result, directions.names, np.full((rows, n, m), np.nan), [])
        s, known = self.start(directions), directions.known
        if self.recorder is None or not self.recorder.points:  # nothing moves
            found.data[:] = s
            found.stretches.append(Stretch(0, rows, self.prepared.problem, known))
        else:
            self._along(found, s, known)
        return found

    def _along(self, found: Sensitivities, s: np.ndarray, known: np.ndarray) -> None:
        """From passage to passage, with rows of the result on the way."""
        tangent, cells, row = core.Tangent(self.recorder, s.shape[1]), self.active(known), 0
        times, columns = np.ascontiguousarray(self.result.time), np.arange(len(s), dtype=np.int32)
        for piece in self.pieces():
            for passage in piece.passages:
                moved, known, later = across(passage, s, known, self.prepared.signals)
                s = moved if piece.begins else s
                if later.any():  # of several at one time, the first one brings the others about
                    found.events.setdefault(float(passage.before[2 * passage.problem.size + TIME]), later)
            tangent.use(piece.problem.native, self.tape(piece.problem, cells), piece.known)
            tangent.set_seeds(np.ascontiguousarray(known[cells]))
            if piece.begins:
                tangent.start(piece.first, np.ascontiguousarray(s))
            until = len(times) if piece.rows is None else piece.rows
            written = tangent.advance(piece.last, times[row:until], columns, found.data[row:until])
            found.stretched(row, row + written, piece.problem, known)
            row, s = row + written, tangent.present()
        for passage in (p for p in self.recording.passages if p.points == self.recorder.points):  # the run ended with it
            s, known, _ = across(passage, s, known, self.prepared.signals)
            found.data[row:] = s
            found.stretches.append(Stretch(row, len(times), passage.problem, known))
            row = len(times)

    def pieces(self) -> Iterator[Piece]:
        """The recording between passages, restarts and exchanges of states, in order."""
        recording, last = self.recording, self.recorder.points - 1
        starts, all_known = self.recorder.starts, self.recorder.known
        passed: dict[int, list[Passage]] = {}
        for passage in recording.passages:
            passed.setdefault(passage.points, []).append(passage)
        marks = {*starts.tolist(), *passed, *(p for p, _ in recording.problems), 0}
        borders = [*sorted(mark for mark in marks if mark <= last), last + 1]
        problems = iter([*recording.problems, (last + 2, recording.problems[-1][1])])
        (_, problem), (change, other) = next(problems), next(problems)
        for first, following in itertools.pairwise(borders):
            here = int(np.searchsorted(starts, first, side="right")) - 1
            while change <= first:
                problem, (change, other) = other, next(problems)
            rows = passed[following][0].rows if following in passed else None
            known = np.ascontiguousarray(all_known[here])
            yield Piece(first, following - 1, bool(starts[here] == first), problem, known, tuple(passed.get(first, ())), rows)

    def active(self, known: np.ndarray) -> np.ndarray:
        """Known cells that may move: with parameters, or because an event assigns them."""
        moving = np.asarray(known.any(axis=1))
        hybrid = self.model.system.hybrid
        if hybrid is not None and self.recording.passages:
            for role in ("update", "snapshot"):
                moving[hybrid.parts[role].targets] = True
            where = np.isin(hybrid.cells, np.flatnonzero(moving))
            moving[hybrid.partners[where]] = True
        return np.flatnonzero(moving)

    def tape(self, problem: Problem, cells: np.ndarray) -> Any:
        key = id(problem.lowered), cells.tobytes()
        if key not in self.tapes:
            self.tapes[key] = TapeBuilder(problem, cells).native()
        return self.tapes[key][0]
