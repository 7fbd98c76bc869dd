"""What happens at an event: discrete iteration until nothing changes, and values of the unknowns that go with it.

An event goes in rounds. A round begins with the values before it (`pre`). Relations, assignments and the unknowns that go with
them come to agree with each other; states are re-initialised, and where equations read what changed, algebraic unknowns and
derivatives are computed anew. The event is over when a round changes nothing. A configuration that comes back is a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from ...errors import Diagnostic
from ...families.plant import INITIAL, LIVE
from ...language.declarations import Declaration
from ...language.expression import Reference, walk
from ...records import dataclass
from ..histories import history_cells
from ..inputs import Signal, Steps
from ..problem import Floats, Kernel, Mask, Problem
from ..recording import Round
from .progress import Progress, Swings, Wandering
from .relations import SOON, Relations
from .sliding import Sliding
from .timed import Ticks, Timed

_WHOLE = 1e-9  # by so much a whole number may be wrong because of rounding
_CLOSE = 4 * np.finfo(float).eps  # times that differ by no more are one instant

Solve = Callable[[float, Floats, Floats], bool]  # consistent y and y' in place, states held


@dataclass(slots=True, eq=False)
class Happening:
    """What an event did."""

    t: float
    before: Floats  # discrete values
    after: Floats
    causes: list[tuple[str, int]] = field(default_factory=list)  # (role, row) of what brought it about
    restart: bool = False  # the equations or the states changed
    jumped: bool = False  # a state was re-initialised, or a crossing of kind "jump" was passed
    rounds: int = 0
    sweeps: int = 0
    states_set: bool = False  # `reinit` gave a state a value
    set_to: dict[int, float] = field(default_factory=dict)  # the values that `reinit` gave, by unknown
    value: float = 0.0  # of a failure: that could not be assigned
    endless: bool = False  # of a cycle: nothing comes back, but no end can be seen
    wandering: bool = False  # of a cycle: given up early, as there are better ways to find what switches together
    stop: str = ""  # message of a `terminate`
    failure: str = ""  # "cycle", "sweep", "unsolvable", "assertion", "undefined"
    rows: tuple[int, ...] = ()  # what a failure is about: rows of updates, relations or assertions
    warnings: list[int] = field(default_factory=list)  # assertions of level "warning" that do not hold
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def changed(self) -> bool:
        return not np.array_equal(self.before, self.after)


class Handler:
    """Discrete values of a run, and how they change. `w` is a workspace of its own, `known` the known part of it."""

    def __init__(self, problem: Problem, known: Floats, inputs: Mapping[int, Signal], span: float = 1.0, rtol: float = 0.0) -> None:
        hybrid = problem.lowered.system.hybrid
        assert hybrid is not None and problem.rules is not None
        n = self.n = problem.size
        self.problem, self.rules, self.hybrid = problem, problem.rules, hybrid
        self.w = np.concatenate([np.zeros(2 * n), known])
        self.known = self.w[2 * n :]
        self.known[LIVE] = self.known[INITIAL] = 0.0
        self.cells, self.partners = 2 * n + hybrid.cells, 2 * n + hybrid.partners
        self.relations, self.timed = Relations(problem, rtol), Timed(problem)
        self.soon = SOON * span
        self.ticks = Ticks(problem, self.w, span)
        self.updates = 2 * n + hybrid.parts["update"].targets
        self.snapshots = 2 * n + hybrid.parts["snapshot"].targets
        reinit = hybrid.parts["reinit"]
        self.states, self.state_signs = problem.lowered.place[reinit.targets], reinit.signs
        self.set_states = self.states[:0]  # those that this round re-initialised
        self.contradicted = self.states[:0]  # those among them that did not get their values, as others are tied to them
        self.nets = problem.lowered.system.states
        self.stepped = 2 * n + problem.rules.step_cells
        self.remembers = bool(len(history_cells(problem.lowered.system)))
        self.take(inputs)
        self.sliding = Sliding(self, span)
        self.tape: list[Round] | None = None  # keeps every round, for those who go over them again
        self.next_round: Callable[[Floats], None] = lambda w: None  # is told when another round of an event begins
        self.complete: Solve = lambda t, y, yp: False  # finds what goes with states at another time, and changes nothing else
        self.carried: np.ndarray = np.zeros(0, dtype=np.intp)  # places of states that an impulse may move (see `impulses`)
        self.planned: np.ndarray = np.zeros(0, dtype=np.intp)  # cells on which the ends of steps to come depend (see `foreseen`)
        self.solved_with = self.w[self.cells]  # discrete values …
        self.failed_with = self.w[:0]  # … with which the equations were last solved, could not be solved
        self._wandering: Wandering | None = None  # of an event that may be given up early
        self._solution: tuple[Floats, Floats, Floats] | None = None  # the first of a round: discrete values, y and y'
        self.declared = np.isin(hybrid.cells, self._declared())
        self.visible = self.declared | np.isin(hybrid.cells, self._looked_at())
        switches = np.isin(self.cells, np.concatenate([self.relations.cells, self.timed.cells]))
        self.finite = switches | np.isin(hybrid.cells, self._declared(lambda d: getattr(d, "type", "") in ("boolean", "states")))
        self.truths = np.isin(hybrid.parts["update"].targets, self._declared(lambda d: getattr(d, "type", "") == "boolean"))
        integers = self._declared(lambda d: getattr(d, "type", "") == "integer")
        self.typed = self.truths | np.isin(hybrid.parts["update"].targets, integers)
        self._look_around()

    def _look_around(self) -> None:
        """Who reads what, of the cells: equations (`read`), relations and times (`followed`); whether something that is decided at
        events depends on unknowns that are solved for (`mixed`), and whether anything asks for the start (`starts_count`). Of the
        relations those that count when they become true (`triggers`)."""
        problem, size = self.problem, len(self.w)
        assigned = problem.computed.kernels if problem.computed else ()
        first = size - problem.lowered.computed
        used, seen, sought = (np.zeros(size, dtype=bool) for _ in range(3))
        for kernel in (*problem.residual_kernels, *assigned):
            used[_places(kernel)] = True
        for kernel in (*self.rules.kernels["relation"], *self.rules.kernels["timed"]):
            seen[_places(kernel)] = True
        for kernel in reversed(assigned):  # through what is computed, the last first
            seen[_places(kernel)[:, seen[first + kernel.targets[0]]]] = True
        sought[: self.n] = ~problem.differential
        sought[self.n : 2 * self.n] = True
        sought[self.carried] = True
        for kernel in assigned:
            sought[first + kernel.targets[0]] |= sought[_places(kernel)].any(axis=0)
        self.read = used[self.cells] | used[self.partners]
        self.relations.direct = used[self.relations.cells]
        edges = np.zeros(size, dtype=bool)
        for role in ("update", "reinit", "stop"):
            for kernel in self.rules.kernels[role]:
                edges[_places(kernel)] = True
        partner = dict(zip(self.cells.tolist(), self.partners.tolist(), strict=True))
        self.triggers = np.array([edges[partner[int(c)]] for c in self.relations.cells], dtype=bool)
        self.relations.direct |= self.triggers  # what becomes true acts once, and not again where it comes back by interpolation
        self.followed = seen[self.cells] | seen[self.partners]
        decided = (*self.rules.kernels["relation"], *self.rules.kernels["update"])
        self.mixed = any(bool(sought[_places(kernel)].any()) for kernel in decided)
        rules = [kernel for kernels in self.rules.kernels.values() for kernel in kernels]
        self.starts_count = any(bool((_places(kernel) == 2 * self.n + INITIAL).any()) for kernel in rules)

    def take(self, inputs: Mapping[int, Signal]) -> None:
        """Inputs from now on."""
        self.inputs = inputs
        self.sampled = np.array([cell for cell, s in inputs.items() if isinstance(s, Steps)], dtype=np.intp)  # those that jump

    def may_carry(self, places: np.ndarray) -> None:
        """States that jump where equations are solved, at these places: what is decided by them waits for the solution."""
        self.carried = places
        self._look_around()

    def _declared(self, wanted: Callable[[Declaration], bool] = lambda _: True) -> np.ndarray:
        """Known cells of discrete variables that the user declared."""
        found = [np.zeros(0, dtype=np.int64)]
        for kind in self.problem.lowered.system.plant.kinds:
            for q in kind.quantities.values():
                if q.role == "discrete" and not q.declaration.auxiliary and wanted(q.declaration):
                    found.append(q.base + np.arange(kind.count * q.size))
        return np.concatenate(found)

    def _looked_at(self) -> np.ndarray:
        """Known cells that a result needs: for eliminated variables and named expressions, and for a run that goes on from it."""
        system = self.problem.lowered.system
        found = [np.zeros(0, dtype=np.int64)]
        for traced in system.traced:
            kind = traced.kind
            carried = [q for q in kind.quantities.values() if q.role == "discrete" and getattr(q.declaration, "carried", False)]
            found += [np.arange(q.base, q.base + kind.count * q.size) for q in carried]
            defined = [d.expression for (index, _), d in system.definitions.items() if index == kind.index]
            for node in walk(*defined, *traced.kind.named.values()):
                if isinstance(node, Reference) and node.declaration.role == "discrete":
                    now = Reference(node.root, node.owner, node.name, node.shape, node.picked)
                    found.append(system.plant.numbers(kind, now).ravel())
        return np.concatenate(found)

    def move_to(self, problem: Problem) -> None:
        """Other equations for the same unknowns (other states were selected)."""
        assert problem.rules is not None
        self.problem, self.rules = problem, problem.rules
        self.relations.move_to(problem)
        self.timed.problem, self.timed.rules = problem, problem.rules
        self._look_around()

    def present(self) -> tuple[Any, ...]:
        """All that an event changes here, to come back to it."""
        timed = (self.timed.times.copy(), self.timed.slope.copy())
        return self.w.copy(), self.relations.state(), timed, len(self.tape or ())

    def back_to(self, present: tuple[Any, ...]) -> None:
        """Where it was."""
        self.w[:] = present[0]
        self.relations.set_state(present[1])
        self.timed.times, self.timed.slope = present[2]
        if self.tape is not None:
            del self.tape[present[3] :]

    # --- workspace ------------------------------------------------------------------------------------------------------------
    def load(self, t: float, y: Floats, yp: Floats) -> None:
        """Bring the workspace to a point; inputs and computed cells follow."""
        n = self.n
        self.w[:n], self.w[n : 2 * n] = y, yp
        self.w[self.problem.time_index] = t
        for cell, signal in self.inputs.items():
            self.known[cell] = signal(t + _CLOSE * abs(t)) if isinstance(signal, Steps) else signal(t)
        self.assign()

    def assign(self) -> None:
        equations = self.problem.equations
        if equations.native is not None:
            equations.native.assign(self.w)
        else:
            equations.computed.assign(self.w)

    # --- events ---------------------------------------------------------------------------------------------------------------
    def begin(self, t: float, y: Floats, yp: Floats, solve: Solve, resumed: bool = False) -> Happening:
        """The event at the start: relations as they are, assignments that hold at the start, `when(initial())`, ticks at t.

        A run that is `resumed` goes on where another ended, which has dealt with the start and with ticks at t already.
        """
        self.load(t, y, yp)
        self.known[INITIAL] = 0.0 if resumed else 1.0
        sought_with = self.w[self.cells]
        self.relations.begin(self.w)
        self._settle_conditions(t)
        self.relations.begun(self.w, self._later(t, y, yp))
        ticking = self.ticks.at(t)[: 0 if resumed else None]
        differs = self._start_differs(t, y, yp, sought_with)
        happening = self._iterate(t, y, yp, solve, None, ticking, first=True, verify=differs)
        self.known[INITIAL] = 0.0
        return happening

    def _settle_conditions(self, t: float) -> None:
        """Relations, and what the translation assigns for itself, have their values before the first round: true from the start
        is not an edge."""
        w = self.w
        own = ~np.isin(self.updates - 2 * self.n, self.hybrid.cells[self.declared])
        seen: set[int] = set()
        while (key := hash(w[self.cells].tobytes())) not in seen:  # as often as relations stand within relations
            seen.add(key)
            self.timed.follow(w, t)  # a time since the start begins now
            self.relations.written(w)
            w[self.partners] = w[self.cells]
            if own.any():
                w[self.updates[own]] = self.rules.values("update", w)[own]
                w[self.partners] = w[self.cells]
            self.assign()
        self.timed.follow(w, t)

    def _start_differs(self, t: float, y: Floats, yp: Floats, sought_with: Floats) -> bool:
        """Whether the equations see other discrete values, or relations otherwise than they are written, than when the start was
        sought."""
        if not self.read.any():
            return False
        others = self.read & ~np.isin(self.cells, self.relations.cells)
        if (self.w[self.cells] != sought_with)[others].any():
            return True
        frozen = self.problem.residual(t, y, yp, known=self.known)
        self.known[LIVE] = 1.0
        live = self.problem.residual(t, y, yp, known=self.known)
        self.known[LIVE] = 0.0
        return not np.array_equal(frozen, live, equal_nan=True)

    def event(
        self,
        t: float,
        y: Floats,
        yp: Floats,
        solve: Solve,
        roots: np.ndarray | None,
        assigned: Floats | None = None,
        given: np.ndarray | None = None,
        ticked: np.ndarray | None = None,
        *,
        patient: bool = True,
    ) -> Happening:
        """The event at time t. `roots` are the solver's findings: +1 or -1 where a root function crossed; `assigned` are values
        assigned after the step, `given` known cells changed from outside, `ticked` clocks whose ticks at t are dealt with. Not
        `patient`: given up where relations wander."""
        sampled = self.known[self.sampled]
        self._wandering = None if patient else Wandering(self.w[self.relations.cells])
        self.load(t, y, yp)
        ticking = self.ticks.at(t)
        ticking = ticking if ticked is None else np.setdiff1d(ticking, ticked)
        jumped = self.sampled[self.known[self.sampled] != sampled]
        jumped = jumped if given is None else np.union1d(jumped, given)
        return self._iterate(t, y, yp, solve, roots, ticking, first=False, assigned=assigned, given=jumped)

    def _iterate(
        self, t: float, y: Floats, yp: Floats, solve: Solve, roots: np.ndarray | None, ticking: np.ndarray, first: bool,
        assigned: Floats | None = None, given: np.ndarray | None = None, verify: bool = False,
    ) -> Happening:  # fmt: skip
        w, count = self.w, self.relations.count
        found = Happening(t, w[self.cells], w[self.cells])
        if roots is not None:
            self._note_crossings(found, roots[count:])
        progress, self.solved_with, self.failed_with = Progress(), w[self.cells], w[:0]
        if given is not None and len(given) and len(self.carried):  # what is decided by states that jump waits for the jump
            unknowns = y.copy(), yp.copy()
            if not self._solved(found, y, yp, solve):
                y[:], yp[:] = unknowns
                self.load(t, y, yp)
        while True:
            found.rounds += 1
            w[self.partners] = w[self.cells]
            if found.rounds > 1:
                self.known[INITIAL] = 0.0  # as a tick, the start lasts for one round
                self.next_round(w)
            self.relations.resting = self.sliding.still()
            if len(self.snapshots):
                w[self.snapshots] = self.rules.values("snapshot", w)
            start, begun = w[self.cells], w.copy() if self.tape is not None else w
            if found.rounds == 1 and assigned is not None:
                found.causes += [("step", int(k)) for k in np.flatnonzero(w[self.stepped] != assigned)]
                w[self.stepped] = assigned
            w[self.ticks.cells] = 0.0
            if found.rounds == 1 and len(ticking):
                w[self.ticks.cells[ticking]] = 1.0
                found.causes += [("clock_start", int(k)) for k in ticking]
            begins = found.rounds == 1 and not first
            self._settle(found, y, yp, solve, None if roots is None or not begins else roots[:count] != 0, begins)
            settled = w.copy() if self.tape is not None else w
            moved = not found.failure and (self._reinitialise(found, y) or (found.rounds == 1 and (verify or found.jumped)))
            if found.failure:
                return self._finished(found)
            if found.rounds == 1 and given is not None and len(given):
                moved = True
                found.causes += [("input", int(cell)) for cell in given]
            if self.tape is not None:
                self.tape.append(Round(begun, settled, self.set_states))
            self._stops(found)
            changed = w[self.cells] != start
            if not moved and not changed.any() and not (first and found.rounds == 1 and self.starts_count):
                if first or not self._rests(found, y, yp):
                    break
                continue
            found.jumped |= moved
            if not moved and np.array_equal(self.failed_with, w[self.cells]):
                found.failure = "unsolvable"  # that has been tried
            elif (moved or self._unsolved()) and not self._solved(found, y, yp, solve):
                found.failure = "unsolvable"
            elif moved and len(self.contradicted):
                found.failure, found.rows = "conflict", self._contradicting()
            if found.failure:
                return self._finished(found)
            if self.tape:
                self.tape[-1].solved = w.copy()
            if not progress.made(w[self.cells], w[self.cells[self.finite]], y[self.states], changed):
                return self._cycling(found, progress)
        self.sliding.after(found, t, y, yp, solve)
        return self._finished(found)

    def _later(self, t: float, y: Floats, yp: Floats, solved: bool = False) -> Floats:
        """Crossing functions of relations a little later, along the slopes; the workspace stays where it is. `solved`: with what
        is solved for as it is then, if it can be."""
        here, later, slopes = self.w.copy(), y + self.soon * np.where(self.problem.differential, yp, 0.0), yp.copy()
        if solved and not self.complete(t + self.soon, later, slopes):
            return np.full(self.relations.count, np.inf)
        with np.errstate(all="ignore"):
            self.load(t + self.soon, later, slopes)
            found = self.rules.values("relation", self.w)
        self.w[:] = here
        return found

    def _rests(self, found: Happening, y: Floats, yp: Floats) -> bool:
        """Whether relations are to have other values because they stay on their switching points; if not, their bands are final."""
        relations = self.relations
        if not relations.count:
            return False
        later = self._later(found.t, y, yp)
        resting = relations.at_rest(self.w, later)
        if (resting & ~relations.exact).any():  # slopes tell how states move, and nothing of what is solved for
            resting &= relations.at_rest(self.w, self._later(found.t, y, yp, solved=True))
        if relations.rest(resting):
            return True
        relations.sharpen(self.w, later)
        return False

    def _unsolved(self) -> bool:
        """Whether equations see other discrete values than those that they were last solved with."""
        return bool(((self.w[self.cells] != self.solved_with) & self.read).any())

    def _solved(self, found: Happening, y: Floats, yp: Floats, solve: Solve) -> bool:
        """Unknowns that go with the discrete values; the workspace is where they are."""
        found.restart = True
        self._guess(y)
        if not solve(found.t, y, yp):
            return False
        self.load(found.t, y, yp)
        self.solved_with = self.w[self.cells]
        return True

    def _solved_before(self, found: Happening, y: Floats, yp: Floats) -> bool:
        """A round that begins anew comes to the same discrete values at first, and to the same unknowns."""
        if self._solution is None or not np.array_equal(self._solution[0], self.w[self.cells]):
            return False
        y[:], yp[:] = self._solution[1:]
        self.load(found.t, y, yp)
        self.solved_with = self.w[self.cells]
        return True

    def _cycling(self, found: Happening, progress: Progress) -> Happening:
        """An event without end: what changes in turn is told; what follows from others (`pre`, ticks) is left out if it can be."""
        moving = progress.moving()
        moving[np.isin(self.cells, self.ticks.cells) | np.isin(self.cells, self.snapshots)] = False
        found.failure, found.rows, found.endless = "cycle", tuple(np.flatnonzero(moving)[:8].tolist()), not progress.repeated
        return self._finished(found)

    def _note_crossings(self, found: Happening, roots: np.ndarray) -> None:
        part = self.hybrid.parts["crossing"]
        for row in np.flatnonzero(roots):
            direction, kind = part.block(int(row)).rule.detail.split()
            if direction == "both" or (direction == "rising") == (roots[row] > 0):
                found.restart, found.jumped = True, found.jumped or kind == "jump"
                found.causes.append(("crossing", int(row)))

    # --- one round ------------------------------------------------------------------------------------------------------------
    def _settle(self, found: Happening, y: Floats, yp: Floats, solve: Solve, crossed: Mask | None, begins: bool) -> None:
        """Relations, assignments and unknowns that agree with each other, given the values before the round.

        Each is a function of the others and of those values, so that it does not matter in which order they come to agree. Where
        they do not, because what a relation brings about turns it back, it has the value of the first look for this round, or that
        with which the equations were solved first, where it is their solution that turns it back.
        """
        w, relations, timed = self.w, self.relations, self.timed
        relations.open(w, crossed, begins)
        timed.open(w)
        begun, unknowns = w[self.cells], (y.copy(), yp.copy()) if self.mixed else None
        solved_with, sweeps, self._solution = self.solved_with, found.sweeps, None
        while (turning := self._agree(found, y, yp, solve, crossed, begins)) is not None:
            cells, of_solutions = turning
            rows, times = np.isin(relations.cells, self.cells[cells]), np.isin(timed.cells, self.cells[cells])
            if not (relations.hold(rows, of_solutions) | timed.hold(times)):
                found.failure, found.rows = "cycle", tuple(np.flatnonzero(cells)[:8].tolist())
                return
            w[self.cells], self.solved_with, found.sweeps = begun, solved_with, sweeps
            if unknowns is not None:
                y[:], yp[:] = unknowns
            self.load(found.t, y, yp)
        found.causes += [("relation", int(r)) for r in relations.close(w)]
        found.causes += [("timed", int(r)) for r in timed.close(w)]

    def _agree(
        self, found: Happening, y: Floats, yp: Floats, solve: Solve, crossed: Mask | None, begins: bool
    ) -> tuple[np.ndarray, bool] | None:
        """Look again until nothing changes. Returns the cells that change in turn, if some do, and whether they do so from one
        solution of the equations to the next."""
        w, progress, jumped, swings = self.w, Progress(), not begins, Swings(self.w[self.relations.cells])
        while True:
            before = w[self.cells]
            self.relations.decide(w, crossed, jumped)
            self.timed.follow(w, found.t)
            if not self._sweep(found):
                return None
            jumped = True
            changed = w[self.cells] != before
            if (changed & self.read).any():
                self.assign()
            if not (changed & self.followed).any():
                if not self.mixed or not self._unsolved():
                    return None
                swinging = self.triggers & swings.count(w[self.relations.cells])
                if swinging.any():
                    return np.isin(self.cells, self.relations.cells[swinging]), True
                if self._wandering is not None and self._wandering.seen(w[self.relations.cells]):
                    found.failure, found.wandering = "cycle", True
                    return None
                self.relations.settled()
                unknowns = y.copy(), yp.copy()
                if not self._solved_before(found, y, yp) and not self._solved(
                    found, y, yp, solve
                ):  # states that are to jump have not jumped yet
                    y[:], yp[:] = unknowns
                    self.load(found.t, y, yp)
                    self.failed_with = w[self.cells]
                    return None
                if self._solution is None:
                    self._solution = w[self.cells], y.copy(), yp.copy()
            if changed.any() and not progress.made(w[self.cells], w[self.cells], y[:0], changed):
                return progress.moving(), False

    def _sweep(self, found: Happening) -> bool:
        """Assignments, all at once, again and again until none changes: in whatever order they depend on each other."""
        w = self.w
        unsettled = np.zeros(len(self.updates), dtype=bool)
        for k in range(2 * len(self.updates) + 2):  # twice as often as a chain of all of them needs
            found.sweeps += 1
            if self.nets is not None:
                self.nets.follow(w, 2 * self.n)
            if not len(self.updates):
                return True
            values = self.rules.values("update", w)
            changed = values != w[self.updates]
            if not changed.any():
                return True
            if not np.isfinite(values).all():
                found.failure, found.rows = "undefined", tuple(np.flatnonzero(~np.isfinite(values))[:8].tolist())
                return False
            if self.typed.any() and not self._of_their_type(found, values):
                return False
            w[self.updates] = values
            if k > len(self.updates):
                unsettled |= changed  # in a loop they change in turn
        found.failure, found.rows = "sweep", tuple(np.flatnonzero(unsettled)[:8].tolist())
        return False

    def _of_their_type(self, found: Happening, values: Floats) -> bool:
        """Whether whole numbers are assigned whole numbers, but for rounding, and truth values 0 or 1."""
        whole = np.rint(values)
        near = self.typed & (np.abs(values - whole) <= _WHOLE * np.maximum(1.0, np.abs(whole)))
        values[near] = whole[near]
        wrong = (self.typed & ~near) | (self.truths & (values != 0) & (values != 1))
        if wrong.any():
            found.failure, found.rows = "type", tuple(np.flatnonzero(wrong)[:8].tolist())
            found.value = float(values[wrong][0])
        return not wrong.any()

    def _reinitialise(self, found: Happening, y: Floats) -> bool:
        self.set_states = self.contradicted = self.states[:0]
        if not len(self.states):
            return False
        values = self.state_signs * self.rules.values("reinit", self.w)
        changed = values != y[self.states]
        if not np.isfinite(values[changed]).all():
            rows = np.flatnonzero(changed & ~np.isfinite(values))[:8].tolist()
            found.failure, found.rows = "undefined state", tuple(rows)
            return True
        set_to = self.states[changed]
        self.set_states = np.unique(set_to)
        y[set_to] = values[changed]
        found.set_to.update(zip(set_to.tolist(), values[changed].tolist(), strict=True))
        if len(self.set_states) < len(set_to) and (y[set_to] != values[changed]).any():
            place = set_to[y[set_to] != values[changed]][0]
            rows = np.flatnonzero(changed & (self.states == place))[:8].tolist()
            found.failure, found.rows = "conflict", tuple(rows)
        found.states_set |= bool(changed.any())
        return bool(changed.any())

    def _contradicting(self) -> tuple[int, ...]:
        """Rows that set what is tied to each other, those first that were not followed."""
        lost, others = (np.flatnonzero(np.isin(self.states, s)) for s in (self.contradicted, self.set_states))
        return tuple([*lost.tolist(), *np.setdiff1d(others, lost).tolist()][:8])

    def _guess(self, y: Floats) -> None:
        """Where the search for algebraic unknowns of a new state begins (`on_state_change`); what is computed needs none."""
        part = self.hybrid.parts["guess"]
        if part.count:
            values = part.signs * self.rules.values("guess", self.w)
            place = np.where(part.targets >= 0, self.problem.lowered.place[part.targets], self.n)
            sought = place < self.n
            sought[sought] = ~self.problem.differential[place[sought]]
            y[place[sought]] = values[sought]

    def _stops(self, found: Happening) -> None:
        part = self.hybrid.parts["stop"]
        if part.count:
            rows = np.flatnonzero(self.rules.values("stop", self.w))
            if len(rows) and not found.stop:
                found.stop, found.rows = part.block(int(rows[0])).rule.detail, (int(rows[0]),)

    def _finished(self, found: Happening) -> Happening:
        self.w[self.ticks.cells] = 0.0
        self.w[self.partners] = self.w[self.cells]
        found.after = self.w[self.cells]
        part = self.hybrid.parts["assertion"]
        if part.count and not found.failure:
            for row in np.flatnonzero(self.rules.values("assertion", self.w) == 0):
                if part.block(int(row)).rule.detail.startswith("error"):
                    found.failure, found.rows = "assertion", (*found.rows, int(row))
                else:
                    found.warnings.append(int(row))
        return found

    def next_time(self, t: float) -> float:
        """The next time at which something is known to happen."""
        if self.remembers:
            self.timed.look(self.w)
        return min(self.timed.next(t), self.ticks.next(t)[0])


def _places(kernel: Kernel) -> np.ndarray:
    """What a kernel reads, without signs."""
    return np.where(kernel.slots < 0, ~kernel.slots, kernel.slots)
