"""A hybrid run: from event to event. The solver integrates smooth equations; what happens at events is decided in `handler.py`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from ...errors import RunWarning, level_of_caller
from ..inputs import Constant, Signal
from ..outcome import Outcome
from ..problem import Floats, Mask, Problem
from ..solver import Request, RunResult, with_last_row
from ..states import Exchange
from ..status import Status
from .bending import Bending
from .chatter import Rhythm
from .drift import drifted
from .foreseen import Foreseen
from .handler import Handler, Happening
from .held import held
from .hidden import FAILED, HiddenJumps
from .impulses import Impulses
from .lasting import failing_since
from .log import Record
from .marks import Mark, Numbers
from .native import Native, is_ordinary
from .pace import RESTART, Pace
from .repair import Repair
from .said import Said
from .sampled import Sampled
from .timed import Corners, Ticks, is_now
from .turned import Turned
from .tying import Tying
from .undefined import Undefined

if TYPE_CHECKING:
    from ..run import Opened

_NONE = np.zeros(0, dtype=np.int64)
_SET = 1e-6  # by so much a value may differ from what it was set to: of tied quantities only one is kept to rounding


class Hybrid:
    """One run of a model with events, on the session of an opened solver (`native/ida.h`, or one with the same methods)."""

    def __init__(self, problem: Problem, request: Request, solver: Opened) -> None:
        self.problem, self.request, self.solver, self.session = problem, request, solver, solver.session
        known = request.known
        assert known is not None  # a checked request has its own
        self._take(request.inputs, request.t0)
        self.handler = Handler(problem, known, request.inputs, request.span, request.rtol)
        self.corners = Corners(problem, self.handler.w, request.inputs, request.t0, request.t_end)
        self.foreseen, self.bending = self._foreseen()
        self.record = Record(problem.lowered.system, request.stored.width)
        self.rhythm = Rhythm(request.t0, request.t0 + request.span)
        self.repair = Repair(self.handler)
        self.impulses = Impulses(problem, request.reduced, np.asarray(request.atol), request.rtol)
        self.tying, self.turned = Tying(), Turned(getattr(solver, "step", 0.0))
        self._tied: Mask | None = None  # what keeps states tied, as far as the session knows
        self.handler.next_round, self.handler.complete = self._next_round, self._completed
        if self.impulses.possible:
            self.handler.may_carry(problem.lowered.place[np.unique(self.impulses.pairs)])
        self.hidden, self.undefined = HiddenJumps(self.handler, request.span), Undefined(self.handler)
        self.passed = np.zeros(0, dtype=np.int32)
        self.native: Native | None = None  # handles ordinary events, where the session can
        self.left = request.output_times
        self.target = request.t_end
        self.pace = Pace(self.session, request.span)
        self.first_known = known
        self.said = Said(self.handler)
        self.counts = {"events": 0, "restarts": 0, "state_events": 0, "time_events": 0, "event_rounds": 0, "event_sweeps": 0}
        self.counts["state_exchanges"] = 0
        self._first_is_stored = False
        self.bends = False  # whether the session passes corners of inputs by itself
        self.token = uuid4().hex
        if request.recording is not None:
            self.handler.tape = request.recording.rounds

    # --- the run --------------------------------------------------------------------------------------------------------------
    def begin(self) -> Outcome | None:
        """The event at the start; an outcome if the run is over before it began."""
        r = self.request
        y, yp = r.y0.copy(), r.yp0.copy()
        before = self._workspace(r.t0, y, yp)
        self.session.set_known(self.handler.known)
        happening = self._first_happening(y, yp)
        if r.tied and not happening.restart:  # nothing was solved with relations as they are
            self._consistent(r.t0, y, yp)
        self.impulses.tell_jump(self.tying.told(self.problem, r.t0, y))
        self._restart(happening, y, yp)
        self.said.diagnostics += self.undefined.at_start()
        self._recorded(r.t0, before, y, yp, happening)
        self.first_known = self.handler.known.copy()
        if len(r.output_times) and r.output_times[0] <= r.t0:
            self._store_now(r.t0)
            self._first_is_stored = True
        self._tell_bends()
        if r.recording is None and is_ordinary(self.problem, self.session) and not self.impulses.by_switching:
            self.native = Native(self.handler, self.session, r.stored.width, r.span, r.t_end)
        return self.said.verdict(happening, self.repair.diagnostics)

    def _first_happening(self, y: Floats, yp: Floats) -> Happening:
        """What the event at the start does, with unknowns after it in place; states jump where it ties them to each other."""
        r, handler, kept = self.request, self.handler, self.handler.present()
        self.tying.open(y)
        happening = handler.begin(r.t0, y, yp, self.solve, r.resumed)
        if happening.failure not in ("cycle", "unsolvable"):
            return happening
        if self.repair.found(happening, happening.before, r.y0.copy(), r.yp0.copy(), self.session, self.problem, start=True):
            y[:], yp[:] = self.repair.y, self.repair.yp
        elif self.tying.refused:
            y[:], yp[:] = r.y0, r.yp0
            return self._brought_together(happening, kept, y, lambda: handler.begin(r.t0, y, yp, self.solve, r.resumed))
        return happening

    def advance(self, to: float, times: Floats) -> Outcome | None:
        """To a time, with rows at the times given; an outcome if the run ended on the way, or came to its end."""
        stored = self._first_is_stored and len(times) and times[0] <= self.request.t0
        self.left, self.target = times[1:] if stored else times, to
        self._first_is_stored = False
        over = self._read_anew()
        while over is None:
            over = self._stretch()
            if self.session.t >= to:
                break
        self.sampled.keep(self.session.t)
        if len(self.handler.stepped) and self.record.last_time == self.session.t:
            self.session.row(self.record.pieces[-1][1][-1])  # with what was assigned after the last step
        return over

    def _read_anew(self) -> Outcome | None:
        """An input that a function reads from somewhere else may have been changed while the run was left."""
        moved = self.sampled.moved(self.session.t)
        return self.interrupt(Numbers(_NONE, np.zeros(0), self.sampled.given, moved, False)) if len(moved) else None

    def _stretch(self) -> Outcome | None:
        """Integrate to the next thing of interest and deal with it; an outcome if that was the end."""
        session, r = self.session, self.request
        turn = self._turn()
        timed = min(self.corners.next_jump(session.t), max(session.t, self.sampled.next_jump))
        if self.native is None or not self.native.scheduled:
            timed = min(timed, self.handler.next_time(session.t))
        corner = min(np.inf if self.bends else self.corners.next(session.t), self.bending.next_corner(session.t, self.handler.w))
        stop = min(timed, corner, turn, r.t_end)
        status = self._advance(stop)
        if status == Status.ROOT:
            return self._event(session.roots(), "state_events")
        due = is_now(timed, session.t) or self.sampled.is_now(session.t)  # going on from a rounding before it would pass it
        if status == Status.ASSIGNED and not due:
            return self._event(None, "steps")
        if status == Status.PAUSED:
            return self._too_fast()
        if status == Status.TIMED:
            over = self._event(None, "time_events")
            return over if over is not None or session.t < r.t_end else Outcome.FINISHED
        if status == Status.STATES_DEGRADED and r.exchange is not None:
            self._exchange(r.exchange)
            return None
        if status in FAILED and self._jumped():
            return self._event(self.passed, "state_events")
        if status in FAILED and self.sampled.missed(session.t):
            session.start(session.t, session.y, session.yp, self._first_step())
            return None
        if status not in (Status.FINISHED, Status.ASSIGNED):
            return Status(status).outcome
        if due:
            over = self._event(None, "time_events")
            return over if over is not None or session.t < r.t_end else Outcome.FINISHED
        if session.t >= r.t_end:
            return Outcome.FINISHED
        return self._corner() if session.t >= corner else None

    def _turn(self) -> float:
        """Where a table turns next, or a function of time that a relation reads: a step ends there, and overlooks nothing."""
        t, told, lost = self.session.t, len(self.sampled.diagnostics), len(self.foreseen.lost)
        w = self.handler.w
        turn = min(self.foreseen.next(t, w), self.bending.next_turn(t, w), self.sampled.next(t, self.target))
        self.said.diagnostics += [self.foreseen.told(row, t) for row in self.foreseen.lost[lost:]]
        for found in self.sampled.diagnostics[told:]:
            self.said.diagnostics.append(found)
            warnings.warn(str(found), RunWarning, stacklevel=level_of_caller())
        return turn

    def _foreseen(self) -> tuple[Foreseen, Bending]:
        varying = [cell for cell, signal in self.request.inputs.items() if not isinstance(signal, Constant)]
        cells = 2 * self.problem.size + np.array(varying, dtype=np.int64)
        found = Foreseen(self.problem, cells, self.request.t_end), Bending(self.problem, cells)
        self.handler.planned = np.union1d(*(functions.constants for functions in found))
        return found

    def _take(self, inputs: Mapping[int, Signal], t: float) -> None:
        """Inputs from a time on; functions among them are asked on this side of their jumps."""
        r = self.request
        self.sampled = Sampled(self.problem, inputs, t, r.t_end, r.span, r.output_times)
        r.inputs = self.sampled.inputs
        self.solver.set_inputs(r.inputs)

    def _tell_bends(self) -> None:
        """A session that can passes corners of inputs on its way. Where a table of time bends that the model differentiates, more
        than slopes may jump (`_across`)."""
        self.bends = hasattr(self.session, "set_bends") and not (self.impulses.possible and self.corners.of_tables)
        if self.bends:
            self.session.set_bends(self.corners.times, self.problem.differential, self.problem.nominal, RESTART)

    def _corner(self) -> Outcome | None:
        """A bend that no event tells of: what the steps before it predict does not hold beyond it, and may look right by chance.
        Derivatives, and unknowns that index reduction made of them, are those of the side to come."""
        session = self.session
        t, y, yp, before = session.t, session.y, session.yp, self._here()
        unknowns = self.impulses.open_before(self.handler, t, y, yp, self.request.span)
        if not self.solve(t + 4 * np.finfo(float).eps * abs(t), y, yp):
            y, yp = session.y, session.yp
        if self.impulses.possible:
            self.handler.load(t, y, yp)
            self.impulses.closed(t, unknowns, self.handler, False)
        self._recorded(t, before, y, yp)
        session.start(t, y, yp, self._first_step())
        self.counts["restarts"] += 1
        return None

    def _workspace(self, t: float, y: Floats, yp: Floats) -> Floats:
        """All values at a point, for a recording."""
        known = self.handler.known
        return known if self.request.recording is None else self.problem.equations.workspace(t, y, yp, known)

    def _here(self) -> Floats:
        """All values where the session is, for a recording."""
        here = np.empty(len(self.handler.w) if self.request.recording is not None else 0)
        if len(here):
            self.session.workspace(here)
        return here

    def _recorded(self, t: float, before: Floats, y: Floats, yp: Floats, *event: Any) -> None:
        """Tell a recording what happened."""
        if self.request.recording is not None:
            after = self._workspace(t, y, yp)
            self.request.recording.passed(self.record.count, self.problem, before, after, *event)

    def _unknowns(self) -> Floats:
        """All unknowns of a reduced system where the session is; what jumps from now on jumps from there."""
        if not self.impulses.possible:
            return np.zeros(0)
        here = np.empty(len(self.handler.w))
        self.session.workspace(here)
        self.impulses.open(here)
        return self.impulses.unknowns(here)

    def _given(self) -> Floats:
        """Inputs whose derivatives the model needs, where the session is."""
        cells = self.impulses.inputs
        if not len(cells):
            return np.zeros(0)
        here = np.empty(len(self.handler.w))
        self.session.workspace(here)
        return here[2 * self.problem.size + cells]

    def _jumped(self) -> bool:
        """Whether a step failed because of a jump within a function, and the session is beyond it now."""
        session = self.session
        found = self.hidden.ahead(session.t, session.y, session.yp)
        if found is None:
            return False
        t, y, self.passed = found
        session.start(t, y, session.yp, self._first_step())
        return True

    def _exchange(self, exchange: Exchange) -> None:
        """Other states are selected; nothing of the solution changes, and the integration goes on."""
        session = self.session
        self.problem, watch = exchange(self.problem, session.t, session.y, session.yp)
        self.handler.move_to(self.problem)
        self.solver.exchange(self.problem, watch)
        self._tied, (self.foreseen, self.bending) = None, self._foreseen()
        if self.native is not None:
            self.native.renew()
        self._tell_bends()
        self.counts["state_exchanges"] += 1

    def _advance(self, stop: float) -> int:
        """Towards `stop`, which no step passes, as far as the run is asked to go."""
        r, aim = self.request, min(stop, self.target)
        if len(self.handler.stepped):
            stop = aim  # what is assigned after a step counts from its end on
        due = self.left[: int(np.searchsorted(self.left, aim, side="right"))]
        rows = np.empty((len(due), r.stored.width)) if self.native is None else self.native.tape.rows(len(due))
        status, written = self.session.advance(aim, due, rows, r.progress, r.interval, self.record.last_time, stop)
        if self.native is not None:
            self.native.take(self.record, self.counts)
        else:
            self.record.piece(due[:written], rows[:written])
        self.left = self.left[written:]
        self.said.diagnostics += self.undefined.seen(self.session)
        return int(status)

    # --- from outside ---------------------------------------------------------------------------------------------------------
    def interrupt(self, numbers: Numbers) -> Outcome | None:
        """Other parameters or inputs from here on: an event at the present time."""
        handler, side = self.handler, (self._row(), self._given())
        self._take(numbers.inputs, self.session.t)
        handler.take(self.request.inputs)
        ticked = handler.ticks.at(self.session.t)  # the way to here ended with them
        handler.known[numbers.cells] = numbers.values
        self.foreseen, self.bending = self._foreseen()
        if numbers.schedule:
            handler.ticks = Ticks(self.problem, handler.w)
            self.corners = Corners(self.problem, handler.w, numbers.inputs, self.session.t, self.request.t_end)
            self._tell_bends()
        over = self._event(None, "interruptions", numbers, side, ticked)
        if (numbers.schedule or len(self.handler.planned)) and self.native is not None and over is None:
            self.native.renew()
        return over

    def present(self) -> tuple[Floats, Floats]:
        """What would be stored now, and all known values."""
        return self._row(), self.handler.known

    def save(self) -> Mark:
        """Where the run is, to come back to."""
        session, handler, record = self.session, self.handler, self.record
        if self.native is not None:
            self.native.take_bands()
        return Mark(
            t=session.t,
            y=session.y,
            yp=session.yp,
            steps=(self.pace.last_step, self.pace.step),
            w=handler.w.copy(),
            relations=handler.relations.state(),
            timed=(handler.timed.times.copy(), handler.timed.slope.copy()),
            rhythm=copy.deepcopy(self.rhythm),
            counts=dict(self.counts),
            told=self.said.present(),
            record=(self.token, record.count, len(record.times)),
            tied=self.tying.keeps,
        )

    def restore(self, mark: Mark, inputs: Mapping[int, Signal]) -> None:
        """Back to where it was; the integration begins anew there."""
        handler, session, r = self.handler, self.session, self.request
        if r.exchange is not None:
            self.problem, watch = r.exchange(self.problem, mark.t, mark.y, mark.yp)
            handler.move_to(self.problem)
            self.solver.exchange(self.problem, watch)
            self._tied = None
        self.tying.keeps = mark.tied
        self._describe_ties()
        handler.w[:] = mark.w
        handler.relations.set_state(mark.relations)
        handler.timed.times, handler.timed.slope = (part.copy() for part in mark.timed)
        self._take(inputs, mark.t)
        handler.take(r.inputs)
        self.foreseen, self.bending = self._foreseen()
        handler.ticks = Ticks(self.problem, handler.w)
        self.corners = Corners(self.problem, handler.w, inputs, r.t0, r.t_end)
        self.rhythm, self.counts = copy.deepcopy(mark.rhythm), dict(mark.counts)
        self.pace.step_before, self.pace.step = mark.steps
        self.said.back_to(mark.told)
        handler.load(mark.t, mark.y, mark.yp)
        handler.relations.reach(handler.w)
        session.set_known(handler.known)
        session.start(mark.t, mark.y, mark.yp, self.pace.step_before)
        if self.native is not None:
            self.native.unseen.clear()
            self.native.renew()
        self._tell_bends()
        token, rows, events = mark.record
        if token == self.token and rows <= self.record.count:
            self.record.cut(rows, events)
            return
        self.record, self.first_known = Record(self.problem.lowered.system, r.stored.width), handler.known.copy()
        self._store_now(mark.t)

    def _event(
        self,
        roots: np.ndarray | None,
        sort: str,
        numbers: Numbers | None = None,
        side: tuple[Floats, Floats] | None = None,
        ticked: np.ndarray | None = None,
    ) -> Outcome | None:
        """What happens where the session is; `side` is the row before it, with differentiated inputs, where these are gone, and
        `ticked` are clocks whose ticks at this time were dealt with."""
        session, handler = self.session, self.handler
        t, y, yp = session.t, session.y, session.yp
        assigned = None
        if len(handler.stepped):
            here = np.empty(len(handler.w))
            session.workspace(here)
            assigned = here[handler.stepped]
            if sort == "steps" and drifted(handler, t, y, yp, assigned):
                return None
        if self.native is not None:
            self.native.take_bands()
        before, unknowns = handler.w[handler.cells], self._unknowns()
        row, given = (self._row(), self._given()) if side is None else side
        here_before = self._here()
        changed = np.union1d(self.sampled.passed(t), numbers.changed if numbers is not None else _NONE)
        happening = self._happening(t, y, yp, before, roots, assigned, changed, ticked)
        self.counts["events"] += 1
        self.counts["time_events" if sort == "time_events" else "state_events"] += 1
        noteworthy = happening.restart or bool((happening.before != happening.after)[handler.visible].any())
        if noteworthy or happening.failure or happening.stop:
            if self.record.last_time < t:
                self.record.row(t, row)
            self.record.event(happening, handler.hybrid.cells)
            if numbers is not None:
                self.record.also_changed(numbers.cells, numbers.values)
        if happening.failure:
            return self.said.verdict(happening, self.repair.diagnostics)
        if happening.restart and self.impulses.possible:
            self.impulses.closed(t, unknowns, handler, happening.states_set)
        self.impulses.tell_jump(self.tying.told(self.problem, t, y))
        if happening.restart and not happening.states_set:
            self.impulses.tell_inputs(t, given, handler.known, handler.inputs)
        self._recorded(t, here_before, y, yp, happening, roots)
        self._restart(happening, y, yp)
        if noteworthy or happening.stop:
            self._store_now(t)
        over = self.said.verdict(happening, self.repair.diagnostics)
        return over if over is not None else self._chattering(happening)

    def _happening(self, t: float, y: Floats, yp: Floats, before: Floats, roots: np.ndarray | None, *given: Any) -> Happening:
        """What the event does, with unknowns after it in place: states held if that can be, and as ties move them if not."""
        handler, session, kept = self.handler, self.session, self.handler.present()
        self.tying.open(y)
        self.repair.diagnostics = ()  # of an earlier event
        happening = handler.event(t, y, yp, self.solve, roots, *given, patient=False)
        if happening.wandering:
            if self.repair.pivoted(happening, before, session.y, session.yp, session, self.problem, roots):
                return self._repaired(happening, t, y, yp)
            y[:], yp[:] = session.y, session.yp
            handler.back_to(kept)
            self.tying.open(y)
            happening = handler.event(t, y, yp, self.solve, roots, *given)
        if happening.failure not in ("cycle", "unsolvable"):
            return happening
        if self.repair.found(happening, before, session.y, session.yp, session, self.problem, roots):
            return self._repaired(happening, t, y, yp)
        if self.tying.refused:
            y[:], yp[:] = session.y, session.yp
            return self._brought_together(happening, kept, y, lambda: handler.event(t, y, yp, self.solve, roots, *given))
        return happening

    def _brought_together(self, failed: Happening, kept: tuple[Any, ...], y: Floats, event: Callable[[], Happening]) -> Happening:
        """An event once more, with states that jump onto what ties them; the one that failed, if that leads nowhere either."""
        after = self.handler.present()
        self.handler.back_to(kept)
        self.tying.open(y, jumps=True)
        tied = event()
        if tied.failure not in ("cycle", "unsolvable"):
            return tied
        self.handler.back_to(after)
        return failed

    def _repaired(self, happening: Happening, t: float, y: Floats, yp: Floats) -> Happening:
        """An event for which another configuration was found, with unknowns after it in place."""
        y[:], yp[:], self.tying.keeps = self.repair.y, self.repair.yp, None
        self.impulses.carry(self.handler, t, y, yp, self.pace.if_restarted(), self._consistent)
        self.handler.load(t, y, yp)
        return happening

    def _restart(self, happening: Happening, y: Floats, yp: Floats) -> None:
        """Go on with what the event left. Where no equation changed the integration goes on as if nothing had happened."""
        self.session.set_known(self.handler.known)
        self.turned.look(self.handler, happening, self.session, y, yp)
        if happening.restart or not self.session_started:
            if self.session_started:
                self._describe_ties()
            self.session.start(happening.t, y, yp, min(self._first_step(), 0.25 * self.turned.flight))
            self.counts["restarts"] += 1
        self.counts["event_rounds"] += happening.rounds
        self.counts["event_sweeps"] += happening.sweeps

    def _describe_ties(self) -> None:
        """The session tests what keeps states tied as is due to it; what a start prepares would be lost afterwards."""
        if self.tying.keeps is not self._tied:
            self._tied = self.tying.keeps
            self.solver.lend(self.tying.described(self.problem))

    def _first_step(self) -> float:
        return self.pace.first_step(self.tying.keeps is not None)

    @property
    def _passed(self) -> int:
        """Corners that the session passed by itself."""
        return int(self.session.statistics()["bends"]) if self.bends else 0

    @property
    def session_started(self) -> bool:
        return self.counts["restarts"] > 0

    def solve(self, t: float, y: Floats, yp: Floats) -> bool:
        """Consistent values after a change; states are held, but for those that an impulse moves."""
        self.impulses.take_back(y)
        self.tying.take_back(y, self.handler.set_states)
        if not self._consistent(t, y, yp):
            return False
        self.impulses.carry(self.handler, t, y, yp, self.pace.if_restarted(), self._consistent)
        return True

    def _completed(self, t: float, y: Floats, yp: Floats) -> bool:
        return bool(self.session.consistent(t, y, yp, self.problem.differential, self.problem.nominal)[0])

    def _next_round(self, w: Floats) -> None:
        self.impulses.next_round(w)
        self.tying.next_round(w[: self.problem.size])

    def _consistent(self, t: float, y: Floats, yp: Floats) -> bool:
        problem = self.problem
        self.session.set_known(self.handler.known)
        was_set = self.handler.set_states
        lost, wanted = was_set[~problem.differential[was_set]], y[was_set]
        if len(lost) and not held(self.solver, self.request.lender, problem, t, y, yp, lost, was_set):
            return False
        self._tied = None if len(lost) else self._tied  # the session works with the problem as it was again
        self.tying.keeps = None
        ok = self._completed(t, y, yp) or self.repair.solved(t, y, yp, problem)
        steps = self.pace.if_restarted(), 1e-3 * self.request.span
        if not ok and self.tying.solved(problem, t, y, yp, self.handler.known, *steps):
            ok, self.repair.diagnostics = True, ()
        apart = np.abs(y[was_set] - wanted) > _SET * np.maximum(np.abs(wanted), problem.nominal[was_set])
        self.handler.contradicted = was_set[apart] if ok else was_set[:0]
        return ok

    def _row(self) -> Floats:
        self.session.row(row := np.empty(self.request.stored.width))
        return row

    def _store_now(self, t: float) -> None:
        self.record.row(t, self._row())

    # --- endings --------------------------------------------------------------------------------------------------------------
    def end(self) -> None:
        """There is no more to come: warnings that wait are told of what has failed from the start of the run on."""
        now = self.handler.w[self.handler.cells]
        self.said.warn(Happening(self.session.t, now, now, warnings=failing_since(self.handler, self.request.t0)))

    def _chattering(self, happening: Happening) -> Outcome | None:
        over, resting = self._too_fast(), self.turned.resting
        if over is not None or not happening.restart:
            return over
        if resting:
            return self._explained(self.rhythm.rest(happening.t, resting))
        return self._explained(self.rhythm.event(happening.t, happening.causes, self._steps()))

    def _too_fast(self) -> Outcome | None:
        """Whether events come so close that there is no end to them, or those that were handled natively too fast."""
        over = self.rhythm.without_end(self.counts["events"], self.session.t, self._steps(), self.record)
        if over is None and self.native is not None:
            over = self.native.watched(self.rhythm, self._steps())
        return self._explained(over)

    def _steps(self) -> int:
        return int(self.session.statistics()["steps"])

    def _explained(self, outcome: Outcome | None) -> Outcome | None:
        if outcome is not None:
            self.said.diagnostics.append(self.rhythm.explained(self.handler))
        return outcome

    def result(self, outcome: Outcome) -> RunResult:
        """What came of it so far."""
        session = self.session
        times, rows, log = self.record.finished()
        reasons = () if outcome.ok else self.solver.explain(outcome, self.handler.known)
        found = RunResult(
            outcome,
            session.t,
            times,
            rows,
            session.y,
            session.yp,
            {**session.statistics(), **self.counts, "restarts": self.counts["restarts"] + self._passed},
            session.message,
            (*self.said.diagnostics, *reasons, *self.impulses.found),  # why it ended comes before what passed on the way
            log,
            self.first_known,
            self.rhythm.surfaces(self.handler),
            self.solver.journal(self.handler.known),
            session.interrupted,
        )
        return with_last_row(found, self.problem, replace(self.request, known=self.handler.known))
