"""When the ordinary way does not find what follows an event: other solvers, and other configurations of the switches.

Ideal switches, diodes and friction may have to switch together: no single change leads to a consistent configuration. Then (1) the
two-valued cells that disagree with a configuration are turned until none does (`pivoting.py`), (2) the unknowns are sought with
relations as they are written, so that Newton's method may pass from branch to branch, and (3) configurations of the cells that take
part are tried, nearest first, until one agrees with itself, or none gets nearer to that. Of few switches, (3) comes first.

What `when` clauses and transitions have done at the event is no choice: a configuration counts only if it is the one in which they
do what they have done. Otherwise an assignment after which the equations cannot be solved would be taken back in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Diagnostic
from ...families.moments import acts_once, is_kept
from ...families.plant import LIVE
from ..initialise import InitialisationError, Initialiser, Options
from ..problem import Floats, Problem
from .pivoting import agreeing
from .ties import explained

if TYPE_CHECKING:
    from ...families.hybrid import Rule
    from .handler import Handler, Happening

_IDLE = 4096  # configurations in succession that agree with themselves no better than those before
_FEW = 64  # configurations that are tried before anything that takes long
_LIVE = Options()
_FROZEN = Options(frozen=True, iterations=10)  # Newton's method on the whole has failed before: block by block is the way


class Repair:
    """Second attempts at an event."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.start = False
        self.crossed = np.zeros(0, dtype=bool)  # of relations, those that crossed when the event began
        self.y = self.yp = self.bands = self.values = np.zeros(0)  # the last two: of relations
        self.before = np.zeros(0), np.zeros(0)  # y and discrete values when the event began …
        self.past = np.zeros(0)  # … and `pre(x)`
        self.kept = self._rows(is_kept)  # updates that stay what they are unless something happens …
        self.once = self._rows(acts_once)  # … and of these, those that act when something becomes true

    def solved(self, t: float, y: Floats, yp: Floats, problem: Problem) -> bool:
        """The initialisation's methods (blocks, line search, homotopy) with states held; y and y' in place."""
        kept = problem.known.copy(), problem.start
        problem.known[:] = self.handler.known
        problem.start = y.copy()
        try:
            found = Initialiser(problem, "hold", _LIVE if self.handler.known[LIVE] else _FROZEN).run(t)
        except InitialisationError as error:
            self.diagnostics = explained(error)
            return False
        finally:
            problem.known[:], problem.start = kept[0], kept[1]
        y[:], yp[:] = found.y, found.yp
        self.diagnostics = ()
        return True

    def found(
        self,
        happening: Happening,
        before: np.ndarray,
        y: Floats,
        yp: Floats,
        session: Any,
        problem: Problem,
        roots: np.ndarray | None = None,
        start: bool = False,
    ) -> bool:
        """A configuration after the event (or the `start`) that agrees with itself, sought from y and y' before it; its values are
        in `y`, `yp`. `roots` were found where the event began."""
        before, places = self._seen(happening, before, y, yp, roots, start)
        kept = self.handler.w.copy()
        few = 2 ** len(places) <= _FEW
        if few and self._search(happening, before, places, y.copy(), yp.copy(), session, problem, content=False):
            return True
        if not few and self._pivoted(happening, before, places, y, yp, session, problem):
            return True
        self.handler.w[:] = kept
        if self._live(happening, y.copy(), yp.copy(), session, problem):
            return True
        return self._search(happening, before, places, y, yp, session, problem, content=True)

    def pivoted(
        self,
        happening: Happening,
        before: np.ndarray,
        y: Floats,
        yp: Floats,
        session: Any,
        problem: Problem,
        roots: np.ndarray | None,
    ) -> bool:
        """The same, by turning what disagrees alone: it is soon known whether that leads anywhere."""
        before, places = self._seen(happening, before, y, yp, roots)
        return self._pivoted(happening, before, places, y, yp, session, problem)

    def _seen(
        self, happening: Happening, before: np.ndarray, y: Floats, yp: Floats, roots: np.ndarray | None, start: bool = False
    ) -> tuple[np.ndarray, list[int]]:
        """The values before the event with what it assigned, and the places of the switches among them."""
        self.start = start
        self._remember(happening, before, y, yp, roots)
        before = self._with_assignments(before, happening)
        y[list(happening.set_to)] = list(happening.set_to.values())
        return before, self._switches(before)

    def _live(self, happening: Happening, y: Floats, yp: Floats, session: Any, problem: Problem) -> bool:
        """Newton's method through the relations as they are written."""
        handler = self.handler
        if not handler.relations.count:
            return False
        handler.known[LIVE] = 1.0
        solved = self.solved(happening.t, y, yp, problem)
        handler.known[LIVE] = 0.0
        if not solved:
            return False
        handler.load(happening.t, y, yp)
        handler.w[handler.partners] = handler.w[handler.cells]
        for _ in range(20):
            if not len(handler.relations.follow(handler.w)):
                holds = self._assignments_agree() and self._holds_frozen(happening.t, y, yp, session, problem)
                return holds and self._acted(happening) and self._accepted(happening, y, yp)
        return False

    def _holds_frozen(self, t: float, y: Floats, yp: Floats, session: Any, problem: Problem) -> bool:
        """Whether the values found solve the equations with relations as they are now, too: at a switching point Newton's
        method may be content with values that belong to the other side."""
        handler = self.handler
        session.set_known(handler.known)
        ok, _ = session.consistent(t, y, yp, problem.differential, problem.nominal)
        handler.load(t, y, yp)
        return bool(ok) and not len(handler.relations.follow(handler.w))

    def _assignments_agree(self) -> bool:
        """Whether discrete values are what they are assigned."""
        handler = self.handler
        return bool((handler.rules.values("update", handler.w) == handler.w[handler.updates]).all())

    def _search(
        self,
        happening: Happening,
        before: np.ndarray,
        places: list[int],
        y: Floats,
        yp: Floats,
        session: Any,
        problem: Problem,
        content: bool,
    ) -> bool:
        """Configurations of two-valued cells, those first that differ least from the one before the event; `content` with one that
        neglects a crossing, where there is no better one."""
        self._begin(before)
        choices = chain.from_iterable(combinations(places, many) for many in range(len(places) + 1))
        last_resort, fewest, idle = None, float("inf"), 0
        for chosen in choices:
            configuration, y_try, yp_try = _turned(before, chosen), y.copy(), yp.copy()
            wrong = self._disagreeing(happening.t, configuration, y_try, yp_try, session, problem)
            if wrong is not None and not len(wrong) and self._acted(happening):
                if not self.handler.relations.neglects_crossing(self.handler.w, self.values):
                    return self._accepted(happening, y_try, yp_try)
                last_resort = configuration if last_resort is None and chosen else last_resort
            nearer = wrong is not None and len(wrong) < fewest
            fewest, idle = (len(wrong), 0) if wrong is not None and nearer else (fewest, idle + 1)
            if idle >= _IDLE:
                break
        if content and last_resort is not None and self._agrees(happening.t, last_resort, y, yp, session, problem):
            return self._accepted(happening, y, yp)
        self.handler.w[self.handler.cells] = before
        return False

    def _begin(self, before: np.ndarray) -> None:
        """Configurations are tried from here: with bands that all have, and relations as they were."""
        handler = self.handler
        handler.relations.brace(handler.w, np.ones(handler.relations.count, dtype=bool))
        self.bands = handler.w[handler.relations.bands]
        handler.w[handler.cells] = before
        self.values = handler.w[handler.relations.cells]

    def _pivoted(
        self, happening: Happening, before: np.ndarray, places: list[int], y: Floats, yp: Floats, session: Any, problem: Problem
    ) -> bool:
        """What disagrees is turned until nothing does."""
        self._begin(before)
        turnable = set(places)

        def disagreeing(chosen: frozenset[int]) -> set[int] | None:
            configuration = _turned(before, tuple(chosen))
            wrong = self._disagreeing(happening.t, configuration, y.copy(), yp.copy(), session, problem)
            return set(wrong.tolist()) if wrong is not None and turnable.issuperset(wrong.tolist()) else None

        found, y, yp = agreeing(disagreeing), y.copy(), yp.copy()
        if found is None or not self._agrees(happening.t, _turned(before, tuple(found)), y, yp, session, problem):
            return False
        neglects = self.handler.relations.neglects_crossing(self.handler.w, self.values)
        return not neglects and self._acted(happening) and self._accepted(happening, y, yp)

    def _switches(self, before: np.ndarray) -> list[int]:
        """Two-valued cells that equations read, or that are assigned."""
        handler = self.handler
        relations = np.isin(handler.cells, handler.relations.cells)
        assigned = np.isin(handler.cells, handler.updates) & np.isin(before, (0.0, 1.0)) & self._booleans()
        chosen = (relations & handler.read) | (assigned & ~np.isin(handler.cells, handler.updates[self.once]))
        return [int(k) for k in np.flatnonzero(chosen)]

    # --- what clauses have done -----------------------------------------------------------------------------------------------
    def _rows(self, wanted: Callable[[Rule], bool]) -> np.ndarray:
        """Mask over the updates."""
        part = self.handler.hybrid.parts["update"]
        chosen = np.zeros(part.count, dtype=bool)
        for block in part.blocks:
            chosen[block.start : block.start + block.count] = wanted(block.rule)
        return chosen

    def _remember(self, happening: Happening, before: np.ndarray, y: Floats, yp: Floats, roots: np.ndarray | None) -> None:
        """Where the event began."""
        handler = self.handler
        count = handler.relations.count
        self.crossed = np.zeros(count, dtype=bool) if roots is None else np.asarray(roots[:count] != 0)
        now = handler.w.copy()
        handler.w[handler.cells] = handler.w[handler.partners] = before
        handler.load(happening.t, y, yp)
        self.before, self.past = (y.copy(), before), handler.rules.values("snapshot", handler.w).copy()
        handler.w[:] = now

    def _with_assignments(self, before: np.ndarray, happening: Happening) -> np.ndarray:
        """Discrete values from which to search: those before the event, and what was assigned at it."""
        handler, found = self.handler, before.copy()
        chosen = np.isin(handler.cells, handler.updates[self.once])
        chosen |= np.isin(handler.cells, handler.updates[self.kept]) & ~self._booleans()
        found[chosen] = happening.after[chosen]
        return found

    def _acted(self, happening: Happening) -> bool:
        """Whether clauses do, with the relations as they are now, what they have done: assign these values, set these states."""
        handler, (y, before) = self.handler, self.before
        if self.start or not (self.kept.any() or len(handler.states)):  # what holds from the start has not become true
            return True
        w, rows = handler.w.copy(), self.kept & (self.once | ~handler.truths)
        assigned = w[handler.updates][rows]
        w[handler.partners] = before
        crossed = np.isin(handler.cells, handler.relations.cells[self.crossed])  # what a clause does may take it back
        w[handler.cells[crossed]] = 1.0 - before[crossed]
        w[handler.ticks.cells[[k for role, k in happening.causes if role == "clock_start"]]] = 1.0
        w[handler.snapshots] = self.past
        right = _close(handler.rules.values("update", w)[rows], assigned)
        w[: handler.n] = y
        right |= _close(handler.rules.values("update", w)[rows], assigned)  # what was read before something was set
        moved = handler.state_signs * handler.rules.values("reinit", w) != y[handler.states]
        return bool(right.all()) and set(handler.states[moved].tolist()) == set(happening.set_to)

    def _booleans(self) -> np.ndarray:
        plant = self.handler.problem.lowered.system.plant
        return np.array(
            [
                getattr(plant.quantity_at(int(c), "known")[1].declaration, "type", "") == "boolean"
                for c in self.handler.hybrid.cells
            ],
            dtype=bool,
        ).reshape(len(self.handler.cells))

    def _agrees(self, t: float, configuration: np.ndarray, y: Floats, yp: Floats, session: Any, problem: Problem) -> bool:
        """Whether the unknowns that a configuration leads to lead to that configuration."""
        wrong = self._disagreeing(t, configuration, y, yp, session, problem)
        return wrong is not None and not len(wrong)

    def _disagreeing(
        self, t: float, configuration: np.ndarray, y: Floats, yp: Floats, session: Any, problem: Problem
    ) -> np.ndarray | None:
        """Cells that get other values from the unknowns that a configuration leads to; None where it leads to none."""
        handler = self.handler
        w = handler.w
        w[handler.cells] = configuration
        handler.timed.follow(w, t)  # what time alone decides is no choice
        configuration = w[handler.cells]
        w[handler.partners] = configuration
        w[handler.relations.bands] = self.bands
        handler.relations.renew(w)
        session.set_known(handler.known)
        ok, _ = session.consistent(t, y, yp, problem.differential, problem.nominal)
        if not ok:
            return None
        handler.load(t, y, yp)
        handler.relations.follow(w)
        if not self._assignments_agree():
            handler.relations.follow_as_written(w)
        wrong = (w[handler.cells] != configuration) & handler.read
        assigned = handler.updates[handler.rules.values("update", w) != w[handler.updates]]
        return np.flatnonzero(wrong | np.isin(handler.cells, assigned))

    def _accepted(self, happening: Happening, y: Floats, yp: Floats) -> bool:
        handler, places = self.handler, list(happening.set_to)
        if not np.allclose(y[places], list(happening.set_to.values()), rtol=1e-6, atol=1e-9):
            return False  # what was set is tied to others, which would undo it
        handler.w[handler.partners] = handler.w[handler.cells]
        happening.after = handler.w[handler.cells]
        happening.failure, happening.restart = "", True
        self.y, self.yp, self.diagnostics = y, yp, ()
        return True


def _turned(before: np.ndarray, chosen: tuple[int, ...]) -> np.ndarray:
    """A configuration that differs in some two-valued cells."""
    found = before.copy()
    found[list(chosen)] = 1.0 - found[list(chosen)]
    return found


def _close(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The same but for rounding."""
    return np.abs(values - others) <= 1e-9 * np.maximum(1.0, np.abs(others))
