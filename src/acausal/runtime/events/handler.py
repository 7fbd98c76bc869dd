"""What happens at an event: discrete iteration until nothing changes, and values of the unknowns that go with it.

An event goes in rounds. A round begins with the values before it (`pre`); relations follow the unknowns, assignments are swept
until they agree with each other, states are re-initialised, and where equations read what changed, algebraic unknowns and
derivatives are computed anew. The event is over when a round changes nothing. A configuration that comes back is a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...errors import Diagnostic
from ...families.plant import INITIAL, LIVE
from ...language.expression import Reference, walk
from ..inputs import Signal, Steps
from ..problem import Floats, Problem
from .relations import Relations
from .sliding import Sliding
from .timed import Ticks, Timed

MOST_ROUNDS = 200
_CLOSE = 4 * np.finfo(float).eps  # times that differ by no more are one instant
MOST_SWEEPS = 1000

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
        self.problem, self.rules, self.hybrid, self.inputs = problem, problem.rules, hybrid, inputs
        self.w = np.concatenate([np.zeros(2 * n), known])
        self.known = self.w[2 * n :]
        self.known[LIVE] = self.known[INITIAL] = 0.0
        self.cells, self.partners = 2 * n + hybrid.cells, 2 * n + hybrid.partners
        self.relations, self.timed = Relations(problem, rtol), Timed(problem)
        self.ticks = Ticks(problem, self.w)
        self.updates = 2 * n + hybrid.parts["update"].targets
        self.snapshots = 2 * n + hybrid.parts["snapshot"].targets
        reinit = hybrid.parts["reinit"]
        self.states, self.state_signs = problem.lowered.place[reinit.targets], reinit.signs
        self.set_states = self.states[:0]  # those that this round re-initialised
        self.nets = problem.lowered.system.states
        self.stepped = 2 * n + problem.rules.step_cells
        self.sampled = np.array([cell for cell, s in inputs.items() if isinstance(s, Steps)], dtype=np.intp)  # inputs that jump
        self.sliding = Sliding(self, span)
        self.read = self._read_by_equations()
        self.declared = np.isin(hybrid.cells, self._declared())
        self.visible = self.declared | np.isin(hybrid.cells, self._looked_at())

    def _read_by_equations(self) -> np.ndarray:
        """Mask over `cells`: those that some equation reads."""
        kernels = [*self.problem.residual_kernels, *(self.problem.computed.kernels if self.problem.computed else ())]
        used = np.zeros(len(self.w), dtype=bool)
        for kernel in kernels:
            used[np.where(kernel.slots < 0, ~kernel.slots, kernel.slots)] = True
        return used[self.cells] | used[self.partners]

    def _declared(self) -> np.ndarray:
        """Known cells of discrete variables that the user declared."""
        found = [np.zeros(0, dtype=np.int64)]
        for kind in self.problem.lowered.system.plant.kinds:
            for q in kind.quantities.values():
                if q.role == "discrete" and not q.declaration.auxiliary:
                    found.append(q.base + np.arange(kind.count * q.size))
        return np.concatenate(found)

    def _looked_at(self) -> np.ndarray:
        """Known cells that a result needs for what it computes on demand: eliminated variables and named expressions."""
        system = self.problem.lowered.system
        found = [np.zeros(0, dtype=np.int64)]
        for traced in system.traced:
            kind = traced.kind
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
        self.relations.problem = self.timed.problem = problem
        self.relations.rules = self.timed.rules = problem.rules

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
        self.relations.begin(self.w)
        for _ in range(MOST_ROUNDS):  # relations may stand within relations
            if not len(self.timed.follow(self.w, t)) + len(self.relations.follow(self.w)):
                break
        self.w[self.partners] = self.w[self.cells]
        self._settle_conditions(t)
        due = self.ticks.next(t, inclusive=True)
        ticking = due[1] if due[0] <= t and not resumed else due[1][:0]
        # The start was sought with relations as they are written; at a switching point the branch they choose may not solve it.
        verify = bool((self.read & np.isin(self.cells, self.relations.cells[self.relations.near(self.w)])).any())
        happening = self._iterate(t, y, yp, solve, None, ticking, first=True, verify=verify)
        self.known[INITIAL] = 0.0
        return happening

    def _settle_conditions(self, t: float) -> None:
        """What the translation assigns for itself has its value before the first round: true from the start is not an edge."""
        w = self.w
        own = ~np.isin(self.updates - 2 * self.n, self.hybrid.cells[self.declared])
        for _ in range(MOST_ROUNDS):
            values = self.rules.values("update", w)[own]
            settled = np.array_equal(values, w[self.updates[own]])
            w[self.updates[own]] = values
            w[self.partners] = w[self.cells]
            moved = len(self.timed.follow(w, t)) + len(self.relations.follow(w))  # a time since the start begins now
            w[self.partners] = w[self.cells]
            if settled and not moved:
                return

    def event(
        self, t: float, y: Floats, yp: Floats, solve: Solve, roots: np.ndarray | None, assigned: Floats | None = None
    ) -> Happening:
        """The event at time t. `roots` are the solver's findings: +1 or -1 where a root function crossed; `assigned` are values
        that were assigned after the step."""
        given = self.known[self.sampled]
        self.load(t, y, yp)
        due = self.ticks.next(t, inclusive=True)
        ticking = due[1] if due[0] <= t else due[1][:0]
        jumped = self.sampled[self.known[self.sampled] != given]
        return self._iterate(t, y, yp, solve, roots, ticking, first=False, assigned=assigned, given=jumped)

    def _iterate(
        self, t: float, y: Floats, yp: Floats, solve: Solve, roots: np.ndarray | None, ticking: np.ndarray, first: bool,
        assigned: Floats | None = None, given: np.ndarray | None = None, verify: bool = False,
    ) -> Happening:  # fmt: skip
        w = self.w
        found = Happening(t, w[self.cells], w[self.cells])
        count = self.relations.count
        crossed = None if roots is None else roots[:count] != 0
        if roots is not None:
            self._note_crossings(found, roots[count:])
        seen: dict[bytes, int] = {}  # configurations, with the round that made them
        unrest: list[np.ndarray] = []  # what changed, round by round
        for found.rounds in range(1, MOST_ROUNDS + 1):
            w[self.partners] = w[self.cells]
            if found.rounds > 1:
                self.known[INITIAL] = 0.0  # as a tick, the start lasts for one round
            self.relations.resting = self.sliding.still()
            if found.rounds == 1 and len(self.snapshots):
                w[self.snapshots] = self.rules.values("snapshot", w)
            start = w[self.cells]
            if found.rounds == 1 and assigned is not None:
                found.causes += [("step", int(k)) for k in np.flatnonzero(w[self.stepped] != assigned)]
                w[self.stepped] = assigned
            if not (first and found.rounds == 1):
                self._follow(found, t, crossed if found.rounds == 1 else None)
            w[self.ticks.cells] = 0.0
            if found.rounds == 1 and len(ticking):
                w[self.ticks.cells[ticking]] = 1.0
                found.causes += [("clock_start", int(k)) for k in ticking]
            if not self._sweep(found):
                return self._finished(found)
            moved = self._reinitialise(found, y) or (found.rounds == 1 and (verify or found.jumped))
            if found.failure:
                return self._finished(found)
            if found.rounds == 1 and given is not None and len(given):
                moved = True
                found.causes += [("input", int(cell)) for cell in given]
            self._stops(found)
            changed = w[self.cells] != start
            if not moved and not changed.any():
                break
            found.jumped |= moved
            if moved or (changed & self.read).any():
                found.restart = True
                self._guess(y)
                if not solve(t, y, yp):
                    found.failure = "unsolvable"
                    return self._finished(found)
                self.load(t, y, yp)
            elif found.rounds > 1 or not len(ticking):
                self.assign()
            key = w[self.cells].tobytes() + y[self.states].tobytes()
            unrest.append(changed)
            if key in seen:
                return self._cycling(found, unrest[seen[key] :])
            seen[key] = found.rounds
        else:
            return self._cycling(found, unrest[-MOST_ROUNDS // 2 :])
        self.sliding.after(found, t, y, yp, solve)
        return self._finished(found)

    def _cycling(self, found: Happening, unrest: list[np.ndarray]) -> Happening:
        """An event without end: what changes in turn is told; what follows from others (`pre`, ticks) is left out if it can be."""
        moving = np.logical_or.reduce(unrest)
        moving[np.isin(self.cells, self.ticks.cells) | np.isin(self.cells, self.snapshots)] = False
        found.failure, found.rows = "cycle", tuple(np.flatnonzero(moving)[:8].tolist())
        return self._finished(found)

    def _note_crossings(self, found: Happening, roots: np.ndarray) -> None:
        part = self.hybrid.parts["crossing"]
        for row in np.flatnonzero(roots):
            direction, kind = part.block(int(row)).rule.detail.split()
            if direction == "both" or (direction == "rising") == (roots[row] > 0):
                found.restart, found.jumped = True, found.jumped or kind == "jump"
                found.causes.append(("crossing", int(row)))

    def _follow(self, found: Happening, t: float, crossed: np.ndarray | None) -> None:
        jumped = found.rounds > 1
        found.causes += [("relation", int(r)) for r in self.relations.follow(self.w, crossed, jumped)]
        found.causes += [("timed", int(r)) for r in self.timed.follow(self.w, t)]

    def _sweep(self, found: Happening) -> bool:
        """Assignments, all at once, again and again until none changes: in whatever order they depend on each other."""
        w = self.w
        unsettled = np.zeros(len(self.updates), dtype=bool)
        for k in range(MOST_SWEEPS):
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
            w[self.updates] = values
            if k >= MOST_SWEEPS // 2:
                unsettled |= changed  # in a loop they change in turn
        found.failure, found.rows = "sweep", tuple(np.flatnonzero(unsettled)[:8].tolist())
        return False

    def _reinitialise(self, found: Happening, y: Floats) -> bool:
        self.set_states = self.states[:0]
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
        if len(self.set_states) < len(set_to) and (y[set_to] != values[changed]).any():
            place = set_to[y[set_to] != values[changed]][0]
            rows = np.flatnonzero(changed & (self.states == place))[:8].tolist()
            found.failure, found.rows = "conflict", tuple(rows)
        return bool(changed.any())

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
        return min(self.timed.next(t), self.ticks.next(t)[0])


def settle_discrete(problem: Problem, t: float, y: Floats, yp: Floats, inputs: Mapping[int, Signal], resumed: bool = False) -> bool:
    """Bring discrete values to what they are at a point, as at a start (or later, `resumed`); whether equations see another one."""
    if problem.rules is None or not (problem.rules.counts["update"] or len(problem.lowered.system.hybrid.cells)):  # type: ignore[union-attr]
        return False
    handler = Handler(problem, problem.known, inputs)
    handler.begin(t, y.copy(), yp.copy(), lambda *_: True, resumed)
    cells = handler.hybrid.cells
    changed = handler.known[cells] != problem.known[cells]
    relations = np.isin(handler.cells, handler.relations.cells)  # those are evaluated, not frozen, while a start is sought
    problem.known[cells] = handler.known[cells]
    problem.known[handler.hybrid.partners] = handler.known[cells]
    return bool((changed & handler.read & ~relations).any())


def switching(problem: Problem, t: float, y: Floats, yp: Floats, inputs: Mapping[int, Signal]) -> list[str]:
    """Names of discrete values that do not agree with the unknowns at a point."""
    from .words import cell_text

    handler = Handler(problem, problem.known, inputs)
    before = handler.w[handler.cells]
    handler.begin(t, y.copy(), yp.copy(), lambda *_: True)
    changed = (before != handler.w[handler.cells]) & handler.visible
    return [cell_text(handler, int(k)) for k in np.flatnonzero(changed)[:6]]
