"""What a run leaves for those who go over it again: every step of the solver, and what happened between them.

Sensitivities follow the recorded steps (`native/tangent.h`); at events they need the workspace on both sides, and every round's.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import dataclass
from .inputs import Function, Table
from .problem import Floats, Problem, core

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .events.handler import Happening
    from .inputs import Signal


@dataclass(slots=True, eq=False)
class Round:
    """One round of an event, as workspaces: where it began, where relations and assignments agreed, and after consistent values."""

    begun: Floats
    settled: Floats
    set_states: np.ndarray  # unknowns that were re-initialised
    solved: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """Where the integration began anew, or discrete values changed: an event, or a corner of an input."""

    points: int  # of the recording, so far
    rows: int  # of the result, so far
    problem: Problem
    before: Floats  # workspaces
    after: Floats
    happening: Happening | None = None
    roots: np.ndarray | None = None
    rounds: tuple[Round, ...] = ()


@dataclass(slots=True, eq=False)
class Recording:
    """Grows while a run goes on."""

    recorder: Any = None
    problems: list[tuple[int, Problem]] = field(default_factory=list)  # from which point on which one was solved
    passages: list[Passage] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)  # of the event under way
    first: Any = None  # how the run began: `Prepared`, with the mode it was prepared in

    def open(self, problem: Problem, session: Any, inputs: Mapping[int, Signal]) -> None:
        """Record the steps of a native session that has not started."""
        varying = [cell for cell, signal in inputs.items() if isinstance(signal, (Function, Table))]
        self.recorder = core.Recorder(problem.size, len(problem.known), varying)
        self.problems = [(0, problem)]
        session.set_recorder(self.recorder)

    def exchanged(self, problem: Problem) -> None:
        """Other states were selected."""
        self.problems.append((self.recorder.points, problem))

    def passed(
        self,
        rows: int,
        problem: Problem,
        before: Floats,
        after: Floats,
        happening: Happening | None = None,
        roots: np.ndarray | None = None,
    ) -> None:
        """An event is over, or a corner passed."""
        rounds = tuple(self.rounds)
        self.passages.append(Passage(self.recorder.points, rows, problem, before, after, happening, roots, rounds))
        self.rounds.clear()
