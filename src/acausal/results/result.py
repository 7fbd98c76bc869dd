"""The result of a run: any quantity of any component by its path, computed when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked_methods
from ..errors import Diagnostic, UsageError
from ..families.system import System
from ..program.cells import PlantCells
from ..program.program import Program
from ..program.rows import Meaning, Place, Stored
from ..records import dataclass
from .viewable import Viewable

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from ..diagnosis.run import RunDiagnosis
    from ..families.path import Located
    from ..program.evaluator import Evaluator
    from ..runtime.journal import Journal
    from .events import History


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """An input as it was at the times of a run."""

    times: np.ndarray
    values: np.ndarray

    def __call__(self, t: float) -> float:
        return float(np.interp(t, self.times, self.values))

    def at(self, times: np.ndarray) -> np.ndarray:
        """Exact at the times of the run; straight lines between them."""
        asked = np.asarray(times, dtype=float)
        return self.values if np.array_equal(asked, self.times) else np.asarray(np.interp(asked, self.times, self.values))


@checked_methods
class Result(Viewable):
    """Trajectories of a run.

    `result["room.T"]` gives an array over `result.time`; an array variable or a slice of components gives more axes.
    A run that failed midway gives what was computed until then; `result.outcome` says why it stopped. It holds the rows of the run,
    and the program that gives them names: `ac.Model(result.program)` is the model once more, without what was set.
    """

    def __init__(
        self,
        program: Program,
        stored: Stored,
        outcome: Any,
        statistics: Any,
        diagnostics: tuple[Diagnostic, ...] = (),
        journal: Callable[[], Journal] | None = None,
    ) -> None:
        self.program, self._stored, self._journal = program, stored, journal
        self.told: tuple[Diagnostic, ...] = ()  # of the diagnostics those about what was given, which is there before the run
        self.chattering: frozenset[tuple[int, str]] = frozenset()  # relations that a run stopped at because they chatter
        self.outcome, self.statistics, self.title, self.diagnostics = outcome, statistics, program.title, diagnostics
        self.sensitivities: Any = None  # how it moves with parameters, where that was asked for
        self.past: Any = None  # of what is delayed: a run that starts from this one goes on with it

    def __getstate__(self) -> dict[str, Any]:
        """Rows and what they mean; functions that were inputs as the values they had, since no other process may have them."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("_evaluator", "_history", "journal")}
        when = self._evaluator.moments
        recorded = {cell: Recorded(when, np.asarray(given.at(when))) for cell, given in self._stored.inputs.items()}
        journal = None if self.journal is None else self.journal.kept(self._system, recorded)
        return {**state, "_stored": replace(self._stored, inputs=recorded), "_journal": journal, "sensitivities": None}

    @property
    def _system(self) -> System:
        return self.program.system

    @property
    def time(self) -> np.ndarray:
        """The output times, in seconds; at an event, that time twice: before and after it."""
        return self._stored.time

    @cached_property
    def journal(self) -> Journal | None:
        """The steps of the run, where its solver kept a journal."""
        return None if self._journal is None else self._journal()

    @property
    def data(self) -> np.ndarray:
        """The stored columns as they are, (time, column); names are found by `result[…]`."""
        return self._stored.data

    @property
    def time_reached(self) -> float:
        """How far the run came: its end, or where it stopped."""
        from .series import last_time

        return last_time(self) if self._stored.reached is None else self._stored.reached

    @property
    def partial(self) -> bool:
        """Whether only some variables were stored."""
        return bool((self._stored.column < 0).any())

    @property
    def metadata(self) -> dict[str, str | float]:
        """Model, outcome and how far the run came."""
        return {"model": self.title, "outcome": self.outcome.name, "time_reached": self.time_reached}

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} … {self.time[-1]:g} {self.unit('time')}" if len(self.time) else "nothing"
        events = f", {len(self.events)} events" if len(self.events) else ""
        return f"<Result of {self.title}: {len(self.time)} points, {span}{events}, {self.outcome.name.lower()}>"

    def diagnose(self) -> RunDiagnosis:
        """What the steps were limited by, where attempts failed, what to do about it: `print(result.diagnose())`."""
        from ..diagnosis.run import diagnose

        return diagnose(self)

    def widget(self, *names: Any, height: int = 460) -> Any:
        """The plant with values on it, a time slider and plots, as a cell of a notebook: `result.widget("room.T", ["a.x", "b.x"])`.

        A list is a panel of its own; without names states are drawn. It needs `pip install "acausal[notebook]"`, and no network.
        """
        from ..studio.notebook import widget

        return widget(self, *names, height=height)

    def plot_steps(self, file: str | os.PathLike[str] | None = None) -> Figure:
        """Step size and order over time, failures marked."""
        from .steps_plot import plot_steps

        return plot_steps(self, file)

    # --- values -----------------------------------------------------------------------------------------------------------
    @cached_property
    def _evaluator(self) -> Evaluator:
        from ..program.evaluator import Evaluator

        return Evaluator(self._system, self._stored, self.history)

    @property  # a cached one is, to pyright, not what `plot` and the others want of a result
    def history(self) -> History | None:
        """The discrete values over time and what changed them; None for a run that looked for no events."""
        return self._history

    @cached_property
    def _history(self) -> History | None:
        from .events import History

        log = self._stored.log
        return None if log is None else History(log, self._stored.known, PlantCells(self._system.plant))

    def values_of(self, name: str) -> np.ndarray:
        """The values of a variable as a plain array; `result[name]` also knows its unit."""
        return self._evaluator[name]

    def sensitivity(self, name: str, parameter: str) -> np.ndarray:
        """The derivative of a quantity by a parameter over time, of a run with `sensitivities=[…]`.

        result = model.simulate(100.0, sensitivities=["wall.G"])
        result.sensitivity("room.T", "wall.G")
        """
        if self.sensitivities is None:
            raise UsageError(
                "The run has no sensitivities: they are asked for when it is made.",
                remedy=f'model.simulate(…, sensitivities=["{parameter}"])',
            )
        return np.asarray(self.sensitivities[name, parameter])

    def values(self, located: Located) -> np.ndarray:
        """The values of a quantity that was located in the plant."""
        return self._evaluator.values(located)

    def many(self, names: Sequence[str]) -> list[np.ndarray]:
        """The values of many names; what is one quantity of several components is computed once for all of them."""
        return self._evaluator.many(names)

    def place(self, name: str) -> Place | None:
        """Where a discrete variable, or one that is equal to one, is in the event log."""
        return self._evaluator.place(name)

    def meaning(self, name: str) -> Meaning:
        """What the numbers of a quantity stand for; a variable that is equal to a discrete one means the same."""
        return self._evaluator.meaning(name)

    # --- names ------------------------------------------------------------------------------------------------------------
    def names(self, pattern: str = "*") -> list[str]:
        """All scalar names that match a pattern (`"room*.T"`); of a large plant this is a long list."""
        from .series import pattern_of

        wanted = pattern_of(pattern)
        return [name for name in self._evaluator.names() if wanted.fullmatch(name)]

    def unit(self, name: str) -> str:
        """The declared unit of a variable."""
        return self._evaluator.unit(name)

    def description(self, name: str) -> str:
        """What the declaration of a variable says it is."""
        return self._evaluator.description(name)

    def source(self, name: str) -> tuple[str, int, int]:
        """Where a scalar comes from: a stored column and a sign, a constant cell, or something to be evaluated."""
        return self._evaluator.source(name)

    @property
    def stored_names(self) -> list[str]:
        """Names of the unknowns that were stored."""
        return [self._system.name_of_unknown(int(u)) for u in np.flatnonzero(self._stored.column >= 0)]
