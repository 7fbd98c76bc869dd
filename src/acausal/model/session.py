"""A session: a run that goes as far as it is asked to, again and again, and can be looked at, changed and taken back in between.

`simulate` is a session that is asked once. The solver keeps its history from one call to the next: where it is asked to stop has no
influence on its steps. Other parameters or inputs are an event: consistent values are sought, and the integration begins anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked_methods
from ..errors import Diagnostic, UsageError
from ..program.rows import Stored
from ..records import dataclass
from ..results.point import shown
from ..results.result import Result
from ..runtime.bounds import violated
from ..runtime.initialise.earlier import is_result
from ..runtime.inputs import Constant, Pieces, Signal, changes_by_itself, values_at
from ..runtime.outcome import Outcome
from ..runtime.parameters import by_name, later
from ..runtime.preparation import Beginning, Preparation, Prepared
from ..runtime.problem import Floats
from ..runtime.problem import Stored as Storage
from ..runtime.run import Driver, driver
from ..runtime.solver import Request, RunResult, Solver, Statistics
from ..runtime.storage import Choice, needed_unknowns, seconds
from .failure import OnFailure, heard, told_of_warnings

if TYPE_CHECKING:
    from ..results.events import Events
    from ..runtime.events.marks import Mark
    from ..runtime.histories import State
    from ..runtime.recording import Recording
    from .injection import Switch

_NO_CELLS = np.zeros(0, dtype=np.int64)
OnSolution = Callable[["Session"], object]


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """What a run is asked for."""

    beginning: Beginning
    end: float  # infinite, if nobody knows
    times: Floats  # of output; of a session that of its start only
    solver: Solver
    choice: Choice
    rtol: float = 1e-6
    atol: float | Mapping[str, float] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    progress: Callable[[float], object] | None = None
    recording: Recording | None = None  # keeps every step, for those who go over them again
    on_solution: OnSolution | None = None  # sees the run at every output time; False ends it


class Clock:
    """Seconds of each phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """Where a session was: `session.restore(saved)` takes it back there. It can be pickled, if its inputs can."""

    mark: Mark
    changes: dict[str, Any]
    inputs: dict[int, Signal]
    pieces: dict[int, Pieces]
    known: Floats
    outcome: Outcome | None
    histories: State = field(default_factory=list)

    @property
    def time(self) -> float:
        return self.mark.t


@checked_methods
class Session:
    """A run that goes on as far as it is asked to: `s = model.start()`, `s.advance(60.0)`, `s["room.T"]`.

    Every day: `advance`, `s[name]`, `time`, `result`. Also: `events`, `outcome`, `save`, `restore`.
    """

    def __init__(
        self,
        preparation: Preparation,
        order: Order,
        costs: Mapping[str, float],
        interruptible: bool = True,
        on_failure: OnFailure = "warn",
    ) -> None:
        from ..runtime.histories import Histories, refuse_delays

        self._preparation, self._order, self._costs, self._on_failure = preparation, order, costs, on_failure
        self._clock = Clock()
        self._changes: dict[str, Any] = preparation.parameters.split(by_name(order.beginning.set, "set"))[0]
        self._histories = Histories(preparation.system, preparation.history_cells, order.rtol, forgets=not interruptible)
        asked = order.beginning
        if self._histories.recall(asked.start_from, asked.t):
            asked = replace(asked, histories=self._histories)
        with shown(preparation.program):
            self._prepared = preparation.prepare(asked, self._clock.lap)
        self._signals, self._pieces = self._prepared.signals, dict[int, Pieces]()
        self._assigned = _assigned_after_steps(preparation)
        self._histories.enter(self._prepared.problem.known)
        request = self._request(self._prepared)
        if order.recording is not None:
            refuse_delays(preparation.system, "A derivative along a run")
            order.recording.first = self._prepared
        starts, selection = preparation.starts, preparation.selection
        self._run: Driver = driver(order.solver, self._prepared.problem, request, selection, starts, interruptible)
        self.outcome: Outcome | None = self._run.begin()

    def _request(self, first: Prepared) -> Request:
        order, problem = self._order, first.problem
        self._gather, self._atol = problem.lowered.index[order.choice.gather], absolute(self._preparation, first, order)
        cells = np.concatenate([self._gather, 2 * problem.size + self._assigned]) if len(self._assigned) else self._gather
        before = order.beginning.start_from
        return Request(
            t0=order.beginning.t,
            t_end=order.end,
            output_times=order.times,
            y0=first.y,
            yp0=first.yp,
            stored=Storage(cells.astype(np.int32)),
            rtol=order.rtol,
            atol=self._atol,
            inputs=first.signals,
            progress=order.progress,
            options=order.options,
            tied=first.report.tied,
            resumed=is_result(before) and before.time_reached == order.beginning.t,
            known=problem.known.copy(),
            recording=order.recording,
            sound=True,
        )

    # --- going on -------------------------------------------------------------------------------------------------------------
    def advance(
        self,
        to: float | str,
        *,
        inputs: Mapping[str, Any] | None = None,
        set: Mapping[str, Any] | None = None,
    ) -> Session:
        """Go on to a time. `inputs` and `set` hold from the present time on; names that are left out keep what they have.

        >>> import acausal as ac
        >>> class Tank(ac.Component):
        ...     inflow, level = ac.Input(0.0), ac.Variable(start=1.0, fixed=True)
        ...     def equations(self):
        ...         yield ac.der(self.level) == self.inflow - self.level
        >>> session = ac.compile(Tank()).start()
        >>> for k in range(1, 4):
        ...     session = session.advance(k, inputs={"inflow": 2.0 - session["level"]})
        >>> session.time, round(session["level"], 4)
        (3.0, 1.0)
        """
        end = float(seconds(to, "to", self._preparation.system.plant.independent[1]))
        self._check(end)
        if inputs or set:
            self._interrupt(inputs or {}, set or {})
        before = len(self._warnings())
        if self.outcome is None:
            self._check_data(end)
            self.go(end, np.array([end]))
        if self.outcome is not None and not self.outcome.ok:
            heard(self.result(), self._on_failure, self._run.session.interrupted)
        elif self._on_failure == "warn" and len(self._warnings()) > before:
            told_of_warnings(self.result(), self._warnings()[before:])
        return self

    def _warnings(self) -> list[Diagnostic]:
        """What its events warned of until now."""
        from ..runtime.events.driver import Hybrid  # a run without events never needs it

        return [d for d in self._run.said.diagnostics if d.warning] if isinstance(self._run, Hybrid) else []

    def go(self, to: float, times: Floats) -> None:
        """Go on to a time, with rows at some times."""
        if self._order.on_solution is None:
            self.outcome = self._run.advance(to, times)
            return
        for t in times:
            self.outcome = self._run.advance(float(t), np.array([t]))
            if self.outcome is not None and not self.outcome.ok:
                return
            if self._order.on_solution(self) is False:
                self.outcome = Outcome.CANCELLED
                return
        if self.outcome is None:
            self.outcome = self._run.advance(to, np.zeros(0))

    def switched(self, switch: Switch, times: Floats) -> None:
        """Go on to a switch, and throw it."""
        from ..language.failures import STUCK

        if switch.time > self.time:
            self.go(switch.time, times)
        if self.outcome is None:
            held = {path + STUCK: self[path] for path in switch.held}
            self._interrupt(switch.inputs, {**switch.set, **held})

    def _check(self, to: float) -> None:
        if self.outcome is not None:
            raise UsageError(
                f"The session has ended at time {self.time:.6g}. {self.outcome.value}",
                remedy="`session.result()` has everything until there; `session.restore(…)` takes it back to where it was saved.",
            )
        if to < self.time:
            raise UsageError(
                f"A session goes forward: it is at time {self.time:.6g} and cannot advance to {to:.6g}.",
                remedy="Save it before, and restore it: mark = session.save(); session.restore(mark).",
            )
        if to > self._order.end:
            raise UsageError(
                f"The session was started until {self._order.end:.6g} and cannot advance to {to:.6g}.",
                remedy="Leave `until` out of `model.start(…)`, or give a later one.",
            )

    def _check_data(self, to: float) -> None:
        """Data that end on the way to a time, and are told not to be left."""
        from ..runtime.given import refuse_beyond

        plant = self._preparation.system.plant
        for cell, signal in self._signals.items():
            refuse_beyond(signal, to, plant.name_of(cell, "known"), plant.independent[1])

    def _interrupt(self, inputs: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
        """Other numbers from here on; nothing happens if they are those it has."""
        from ..runtime.events.driver import Hybrid  # a run without events never needs it
        from ..runtime.events.marks import Numbers

        p, t, run = self._preparation.parameters, self.time, self._run
        assert isinstance(run, Hybrid)  # it may be interrupted
        changes, starts = p.split(by_name(changes, "set"))
        if starts:
            raise UsageError(
                f"{', '.join(f'`{name}`' for name in starts)} cannot be set in a running session: it is no parameter.",
                remedy="Start another session with it: model.start(set={…}, start_from=session.result()).",
            )
        given, told = p.signals(inputs, later(self._changes, changes), t, self._order.end)
        signals = {**self._signals, **given}
        moved = [c for c, s in signals.items() if c not in self._signals or s != self._signals[c]]
        now = run.handler.known
        moved = [c for c in moved if c in self._signals or signals[c](t) != now[c] or changes_by_itself(signals[c])]
        cells, values = self._parameter_changes(changes)
        if not moved and not len(cells):
            return
        for cell in moved:
            before = self._signals.get(cell) or Constant(float(now[cell]))
            self._pieces.setdefault(cell, Pieces(before)).add(t, signals[cell])
        self._signals = signals
        self._changes = later(self._changes, changes)
        run.said.diagnostics += told
        tables = any(changes_by_itself(signals[c]) for c in moved)
        numbers = Numbers(cells, values, signals, np.array([*cells, *moved], dtype=np.int64), tables or bool(len(cells)))
        self.outcome = run.interrupt(numbers)

    def _parameter_changes(self, changes: Mapping[str, Any]) -> tuple[np.ndarray, Floats]:
        """Known cells that are changed, with what is bound to them; discrete values keep what they are unless they are named."""
        nothing = np.zeros(0, dtype=np.int64)
        if not changes:
            return nothing, np.zeros(0)
        p, now = self._preparation.parameters, self._run.handler.known  # type: ignore[union-attr]
        before, after = p.known(self._changes), p.known(later(self._changes, changes))
        named = [p.cells(path).ravel() for path in changes]
        differs = before != after
        if self._preparation.system.hybrid is not None:
            differs[self._preparation.system.hybrid.cells] = differs[self._preparation.system.hybrid.partners] = False
        self._refuse_other_structure(after, changes)
        cells = np.union1d(np.flatnonzero(differs), np.concatenate([nothing, *named])).astype(np.int64)
        cells = cells[after[cells] != now[cells]]
        if not self._run.problem.lowered.usable(after):
            raise UsageError(
                f"{', '.join(f'`{name}`' for name in changes)} cannot be set to that in a running session: a coefficient by which "
                "the translated equations divide becomes zero.",
                remedy="Start another session from here: model.start(set={…}, start_from=session.result()).",
            )
        return cells, after[cells]

    def _refuse_other_structure(self, after: Floats, changes: Mapping[str, Any]) -> None:
        """Refuse values with which other equations depend on each other: they would need another system."""
        if self._preparation.suits(after):
            return
        raise UsageError(
            f"{', '.join(f'`{name}`' for name in changes)} cannot be set to that in a running session: values of parameters decide "
            "which equations depend on each other here, and with those it would be others.",
            remedy="Start another session from here: model.start(set={…}, start_from=session.result()).",
        )

    # --- looking --------------------------------------------------------------------------------------------------------------
    @property
    def time(self) -> float:
        """How far it has come."""
        return float(self._run.session.t)

    def __getitem__(self, name: str) -> Any:
        """The present value of any quantity."""
        if not isinstance(name, str):
            raise UsageError(f"A session is asked for a quantity by its name, got {name!r} ({type(name).__name__}).")
        if name == "time":
            return self.time
        found = np.asarray(self._present()[name][-1])
        return float(found) if found.ndim == 0 else found

    def _present(self) -> Result:
        t, order = self.time, self._order
        row, known = self._run.present()
        columns = {int(cell): len(order.choice.gather) + k for k, cell in enumerate(self._assigned)}
        here = self._histories.leave(values_at(self._signals, t, known))
        stored = Stored(np.array([t]), row[None, :], order.choice.column, order.choice.slope_column, here, {}, t, columns)
        return Result(self._preparation.program, stored, Outcome.FINISHED, None)

    @property
    def events(self) -> Events:
        """What happened so far, as `result.events`."""
        return self.result().events

    def result(self) -> Result:
        """Everything so far, as a run gives it."""
        return self.wrapped(self.finished())

    def finished(self) -> RunResult:
        """Everything so far: rows and numbers."""
        return self._run.result(Outcome.FINISHED if self.outcome is None else self.outcome)

    def ended(self) -> RunResult:
        """The same of a run that nobody will go on with."""
        self._run.end()
        return self.finished()

    def wrapped(self, run: RunResult) -> Result:
        """What a run left, as the result that a user gets."""
        choice, problem = self._order.choice, self._prepared.problem
        columns = {cell: len(choice.gather) + k for k, cell in enumerate(self._assigned.tolist())}
        known = self._histories.leave(problem.known if run.known is None else run.known)
        signals = {**self._signals, **self._pieces}
        stored = Stored(run.times, run.rows, choice.column, choice.slope_column, known, signals, run.t, columns, run.log)
        statistics = Statistics(run.statistics)
        self._clock.lap("integration")
        statistics["seconds"] = {**self._costs, **statistics.get("seconds", {}), **self._clock.seconds}
        statistics.late = {"initialisation": self._prepared.report.__str__}
        preparation = self._preparation
        left = violated(problem, preparation.starts, self._gather, run.times, run.rows, self._atol, self._order.rtol)
        told = (*self._prepared.told, *run.diagnostics, *left)
        result = Result(preparation.program, stored, run.outcome, statistics, told, run.journal)
        result.chattering, result.told = run.chattering, self._prepared.told
        result.past = self._histories.past(self._run.present()[1], run.t) if len(self._histories.cells) else None
        return result

    def __repr__(self) -> str:
        state = "" if self.outcome is None else f", {self.outcome.name.lower()}"
        return f"<Session of {self._preparation.title} at {self.time:g} {self._preparation.system.plant.independent[1]}{state}>"

    def __reduce__(self) -> Any:
        raise UsageError(
            "A session holds a solver that runs, and can be neither copied nor pickled.",
            remedy="`mark = s.save()` can: a session of the model goes on there with `s.restore(mark)`, in another process too.",
        )

    # --- taking back ----------------------------------------------------------------------------------------------------------
    def save(self) -> Saved:
        """Where the session is, to come back to: `mark = s.save(); s.advance(…); s.restore(mark)`."""
        from ..runtime.events.driver import Hybrid

        assert isinstance(self._run, Hybrid)
        pieces = {cell: p.copy() for cell, p in self._pieces.items()}
        known, past = self._prepared.problem.known.copy(), self._histories.save()
        return Saved(self._run.save(), dict(self._changes), dict(self._signals), pieces, known, self.outcome, past)

    def restore(self, saved: Saved) -> Session:
        """Go back to where it was saved: states, discrete values, clocks, parameters and inputs are those of then.

        The integration begins anew there, in the same way each time. A session of the same model in another process goes on from
        there, with a result that begins there.
        """
        if not isinstance(saved, Saved) or len(saved.known) != len(self._prepared.problem.known):
            raise UsageError(
                f"`restore` takes what `save` of a session of {self._preparation.title} gave, got {saved!r:.80}.",
            )
        if not self._preparation.suits(saved.known[: self._preparation.system.known_count]):
            raise UsageError(
                "This session cannot go on there: values of parameters decide which equations depend on each other here, and they "
                "were others.",
                remedy="Start one with the values that it had: model.start(set={…}).",
            )
        from ..runtime.events.driver import Hybrid

        assert isinstance(self._run, Hybrid)
        self._changes, self._signals = dict(saved.changes), dict(saved.inputs)
        self._pieces = {cell: p.copy() for cell, p in saved.pieces.items()}
        self._histories.restore(saved.histories)
        mark = replace(saved.mark, w=saved.mark.w.copy())
        self._histories.enter(mark.w[2 * self._prepared.problem.size :])
        self._run.restore(mark, self._signals)
        self.outcome = saved.outcome
        return self


def _assigned_after_steps(preparation: Preparation) -> np.ndarray:
    """Known cells that change at every step, so that their values are stored with each row."""
    hybrid = preparation.system.hybrid
    return _NO_CELLS if hybrid is None else hybrid.parts["step"].targets


def absolute(preparation: Preparation, first: Prepared, order: Order) -> Floats:
    """Absolute tolerances, unknown by unknown."""
    problem, atol = first.problem, order.atol
    chosen: Floats = order.rtol * problem.nominal
    if atol is None:
        return chosen
    if isinstance(atol, Mapping):
        for path, value in atol.items():
            place = problem.lowered.place[needed_unknowns(preparation.system, path)]
            chosen[place[place < problem.size]] = value
        return chosen
    return np.full(problem.size, float(atol))


def simulated(
    preparation: Preparation, order: Order, costs: Mapping[str, float], switches: Sequence[Switch] = ()
) -> tuple[Result, bool]:
    """A session that is asked once; and whether Ctrl-C ended it. `switches` change its numbers on the way."""
    session = Session(preparation, order, costs, interruptible=bool(switches))
    interrupted, times = False, order.times
    try:
        for switch in switches:
            if session.outcome is None:
                session.switched(switch, times[times <= switch.time])
                times = times[times > switch.time]
        if session.outcome is None:
            session.go(order.end, times)
    except KeyboardInterrupt:  # while Python dealt with an event
        session.outcome, interrupted = Outcome.CANCELLED, True
    run = session.ended()
    return session.wrapped(run), run.interrupted or interrupted
