"""A hybrid run: from event to event. The solver integrates smooth equations; what happens at events is decided in `handler.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Diagnostic
from ..outcome import Outcome
from ..problem import Floats, Problem
from ..solver import Request, RunResult, with_last_row
from ..states import Exchange
from ..status import Status
from .chatter import Rhythm
from .handler import Handler, Happening
from .log import Record
from .native import RESTART, Native, is_ordinary
from .repair import Repair
from .still import Still
from .timed import Corners
from .words import explain

if TYPE_CHECKING:
    from ..journal import Journal


_MOST_RELEASED = 100  # selected states that are tried, one after the other


class Hybrid:
    """One run of a model with events, on a solver session (`native/ida.h`, or a stand-in with the same methods)."""

    def __init__(self, problem: Problem, request: Request, session: Any, known: Floats) -> None:
        self.problem, self.request, self.session = problem, request, session
        self.handler = Handler(problem, known, request.inputs, request.t_end - request.t0, request.rtol)
        self.corners = Corners(problem, self.handler.w, request.inputs, request.t0, request.t_end)
        self.record = Record(problem.lowered.system, request.stored.width)
        self.rhythm = Rhythm(request.t0, request.t_end)
        self.repair = Repair(self.handler)
        self.native: Native | None = None  # handles ordinary events, where the session can
        self.left = request.output_times
        self.pace = 0.0  # the step that restarts go by
        self.first_known = known
        self.diagnostics: list[Diagnostic] = []
        self.warned: set[int] = set()
        self.counts = {"events": 0, "restarts": 0, "state_events": 0, "time_events": 0, "event_rounds": 0, "event_sweeps": 0}
        self.counts["state_exchanges"] = 0

    # --- the run --------------------------------------------------------------------------------------------------------------
    def begin(self) -> Outcome | None:
        """The event at the start; an outcome if the run is over before it began."""
        r = self.request
        y, yp = r.y0.copy(), r.yp0.copy()
        self.session.set_known(self.handler.known)
        happening = self.handler.begin(r.t0, y, yp, self.solve, r.resumed)
        if happening.failure in ("cycle", "unsolvable") and self.repair.found(
            happening, happening.before, r.y0.copy(), r.yp0.copy(), self.session, self.problem
        ):
            y, yp = self.repair.y, self.repair.yp
        self._restart(happening, y, yp)
        self.first_known = self.handler.known.copy()
        if len(self.left) and self.left[0] <= r.t0:
            self._store_now(r.t0)
            self.left = self.left[1:]
        if is_ordinary(self.problem, self.session):
            self.native = Native(self.handler, self.session, r.stored.width, r.t_end - r.t0)
        return self._verdict(happening)

    def run(self, interval: float) -> Outcome:
        """To the end, or to where it stops."""
        over = self.begin()
        while over is None:
            over = self._stretch(interval)
        if len(self.handler.stepped) and self.record.last_time == self.session.t:
            self.session.row(self.record.pieces[-1][1][-1])  # with what was assigned after the last step
        return over

    def _stretch(self, interval: float) -> Outcome | None:
        """Integrate to the next thing of interest and deal with it; an outcome if that was the end."""
        session, r = self.session, self.request
        timed = min(self.handler.next_time(session.t), self.corners.next_jump(session.t))
        corner = self.corners.next(session.t)
        stop = min(timed, corner, r.t_end)
        status = self._advance(stop, interval)
        if status == Status.ROOT:
            return self._event(session.roots(), "state_events")
        if status == Status.ASSIGNED:
            return self._event(None, "steps")
        if status == Status.PAUSED:
            return self._too_fast()
        if status == Status.STATES_DEGRADED and r.exchange is not None:
            self._exchange(r.exchange)
            return None
        if status != Status.FINISHED:
            return Status(status).outcome
        if session.t >= timed:
            over = self._event(None, "time_events")
            return over if over is not None or session.t < r.t_end else Outcome.FINISHED
        if session.t >= r.t_end:
            return Outcome.FINISHED
        if session.t >= corner:  # what the steps before it predict does not hold beyond it, and may look right by chance
            session.start(session.t, session.y, session.yp, self._first_step())
            self.counts["restarts"] += 1
        return None

    def _exchange(self, exchange: Exchange) -> None:
        """Other states are selected; nothing of the solution changes, and the integration goes on."""
        session = self.session
        self.problem, watch = exchange(session.t, session.y, session.yp)
        self.handler.move_to(self.problem)
        session.exchange(self.problem.native, *self.problem.error_test())
        session.set_watch(watch.equations.native, watch.source, watch.blocks(), watch.limit)
        if self.native is not None:
            self.native.renew()
        self.counts["state_exchanges"] += 1

    def _advance(self, stop: float, interval: float) -> int:
        due = self.left[: int(np.searchsorted(self.left, stop, side="right"))]
        if self.native is not None:
            rows = self.native.tape.rows(len(due))
            status, written = self.session.advance(stop, due, rows, self.request.progress, interval, self.record.last_time)
            self.native.take(self.record, self.counts)
        else:
            rows = np.empty((len(due), self.request.stored.width))
            status, written = self.session.advance(stop, due, rows, self.request.progress, interval)
            self.record.piece(due[:written], rows[:written])
        self.left = self.left[written:]
        return int(status)

    def _event(self, roots: np.ndarray | None, sort: str) -> Outcome | None:
        session, handler = self.session, self.handler
        t, y, yp = session.t, session.y, session.yp
        assigned = None
        if len(handler.stepped):
            here = np.empty(len(handler.w))
            session.workspace(here)
            assigned = here[handler.stepped]
            if sort == "steps" and self._drifted(assigned):
                handler.w[handler.stepped] = assigned
                return None
        if self.native is not None:
            self.native.take_bands()
        before, row = handler.w[handler.cells], self._row()
        happening = handler.event(t, y, yp, self.solve, roots, assigned)
        if happening.failure in ("cycle", "unsolvable") and self.repair.found(
            happening, before, session.y, session.yp, session, self.problem
        ):
            y, yp = self.repair.y, self.repair.yp
        self.counts["events"] += 1
        self.counts["time_events" if sort == "time_events" else "state_events"] += 1
        noteworthy = happening.restart or bool((happening.before != happening.after)[handler.visible].any())
        if noteworthy or happening.failure or happening.stop:
            if self.record.last_time < t:
                self.record.row(t, row)
            self.record.event(happening, handler.hybrid.cells)
        if happening.failure:
            return self._verdict(happening)
        self._restart(happening, y, yp)
        if noteworthy or happening.stop:
            self._store_now(t)
        over = self._verdict(happening)
        return over if over is not None else self._chattering(happening)

    def _restart(self, happening: Happening, y: Floats, yp: Floats) -> None:
        """Go on with what the event left. Where no equation changed the integration goes on as if nothing had happened."""
        self.session.set_known(self.handler.known)
        if happening.restart or not self.session_started:
            self.session.start(happening.t, y, yp, self._first_step())
            self.counts["restarts"] += 1
        self.counts["event_rounds"] += happening.rounds
        self.counts["event_sweeps"] += happening.sweeps

    def _drifted(self, assigned: Floats) -> bool:
        """Whether what was assigned after a step changed by little, as a mean or a maximum does: no jump to begin anew for."""
        before = self.handler.w[self.handler.stepped]
        return bool((np.abs(assigned - before) <= 0.05 * np.maximum(np.abs(before), 1.0)).all())

    def _first_step(self) -> float:
        """Of a restart: a part of the last step; an event soon after another must not make the next start slower still."""
        self.pace = max(self.session.last_step, 0.3 * self.pace)
        return RESTART * self.pace

    @property
    def session_started(self) -> bool:
        return self.counts["restarts"] > 0

    def solve(self, t: float, y: Floats, yp: Floats) -> bool:
        """Consistent values after a change; states are held."""
        session, problem = self.session, self.problem
        session.set_known(self.handler.known)
        lost = self.handler.set_states[~problem.differential[self.handler.set_states]]
        if len(lost) and not self._held(t, y, yp, lost):
            return False
        ok, _ = session.consistent(t, y, yp, problem.differential, problem.nominal)
        return bool(ok) or self.repair.solved(t, y, yp, problem)

    def _held(self, t: float, y: Floats, yp: Floats, lost: np.ndarray) -> bool:
        """Values that an event gave to unknowns which are not among the selected states: they become states for a moment, each in
        place of one of its kind (a velocity for a velocity), the one whose release changes the others least."""
        exchange, rank = self.request.exchange, self._ranks()
        if exchange is None:
            return False
        problem, solved = self.problem, True
        for unknown in lost:
            best: tuple[float, Problem, Floats] | None = None
            alike = problem.differential & (rank == rank[unknown])
            free = np.setdiff1d(np.flatnonzero(alike), self.handler.set_states)[:_MOST_RELEASED]
            if not len(free):
                continue  # those it is tied to were set too, and decide
            for state in free:
                other, y_try, yp_try = exchange.replaced(problem, int(state), int(unknown), t), y.copy(), yp.copy()
                self.session.exchange(other.native, *other.error_test())
                ok, _ = self.session.consistent(t, y_try, yp_try, other.differential, other.nominal)
                moved = float((np.abs(y_try - y) / other.nominal).sum())
                if ok and np.isfinite(moved) and (best is None or moved < best[0]):
                    best = moved, other, y_try
            if best is None:
                solved = False
                break
            problem, y[:] = best[1], best[2]
        self.session.exchange(self.problem.native, *self.problem.error_test())
        return solved

    def _ranks(self) -> np.ndarray:
        """How often each unknown can still be differentiated before its highest derivative is reached: 2 for positions, 1 for
        velocities."""
        lowered = self.problem.lowered
        added = lowered.system.derivatives
        if added is None:
            return np.zeros(self.problem.size, dtype=np.int64)
        return np.concatenate([added.highest, added.highest[added.of_unknown] - added.order])[lowered.kept]

    def _row(self) -> Floats:
        row = np.empty(self.request.stored.width)
        self.session.row(row)
        return row

    def _store_now(self, t: float) -> None:
        self.record.row(t, self._row())

    # --- endings --------------------------------------------------------------------------------------------------------------
    def _verdict(self, happening: Happening) -> Outcome | None:
        for row in happening.warnings:
            if row not in self.warned:  # told once, until it holds again
                self.diagnostics.append(explain(self.handler, "warning", happening, row))
        self.warned = set(happening.warnings)
        if happening.failure:
            self.diagnostics += [explain(self.handler, happening.failure, happening, -1), *self.repair.diagnostics]
            return {
                "cycle": Outcome.EVENT_CYCLES,
                "sweep": Outcome.EVENT_CYCLES,
                "unsolvable": Outcome.EVENT_UNSOLVABLE,
                "assertion": Outcome.ASSERTION,
                "undefined": Outcome.NOT_FINITE,
                "undefined state": Outcome.NOT_FINITE,
                "conflict": Outcome.EVENT_CONFLICT,
            }[happening.failure]
        if happening.stop:
            self.diagnostics.append(explain(self.handler, "stop", happening, happening.rows[0]))
            return Outcome.TERMINATED
        return None

    def _chattering(self, happening: Happening) -> Outcome | None:
        if not happening.restart:
            return None
        return self._too_fast() or self._explained(self.rhythm.event(happening.t, happening.causes, self._steps()))

    def _too_fast(self) -> Outcome | None:
        """Whether events that were handled natively follow each other too fast."""
        return self._explained(self.native.watched(self.rhythm, self._steps())) if self.native is not None else None

    def _steps(self) -> int:
        return int(self.session.statistics()["steps"])

    def _explained(self, outcome: Outcome | None) -> Outcome | None:
        if outcome is not None:
            self.diagnostics.append(self.rhythm.explained(self.handler))
        return outcome


def run_hybrid(
    problem: Problem,
    request: Request,
    session: Any,
    known: Floats,
    interval: float,
    explain: Callable[[Outcome], tuple[Diagnostic, ...]] = lambda outcome: (),
    journal: Callable[[], Journal | None] = lambda: None,
) -> RunResult:
    """A run with events, on any session. `explain` tells why it stopped where the session, not an event, stopped it."""
    hybrid = Hybrid(problem, request, session, known)
    outcome = hybrid.run(interval)
    times, rows, log = hybrid.record.finished()
    result = RunResult(
        outcome,
        session.t,
        times,
        rows,
        session.y,
        session.yp,
        {**session.statistics(), **hybrid.counts},
        session.message,
        (*hybrid.diagnostics, *explain(outcome)),
        log,
        hybrid.first_known,
        hybrid.rhythm.surfaces(hybrid.handler),
        journal(),
        session.interrupted,
    )
    return with_last_row(result, problem, replace(request, known=hybrid.handler.known))


def run_still(problem: Problem, request: Request) -> RunResult:
    """A run with events of a model in which nothing is unknown."""
    request = request.checked(problem)
    max_step = float(request.options.get("max_step", 0.0))
    session = Still(problem, request.stored, request.inputs, request.t_end - request.t0, max_step)
    return run_hybrid(problem, request, session, problem.known, 0.1)
