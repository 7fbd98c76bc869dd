"""How a run begins: the problem with the numbers of that run, and consistent values to start from.

Several runs of one model may begin at the same time, in threads, or one within another (an input function that runs the model
itself). So what a run changes is its own: a problem is copied with its numbers, and the memory of an initialisation belongs to one
run until that run has begun. Only reading parameters and start values is done by one after the other; no function of the user is
called meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Diagnostic, ModelError, UsageError
from ..families.lowering import lower
from ..families.starts import StartReader, Starts
from ..families.system import System
from ..program.program import Program
from ..readable import listed
from ..records import dataclass
from .build import build
from .histories import Histories, fresh_past, history_cells, remembered
from .initialise import InitialisationError, Initialised, Initialiser, Outcome, Report
from .initialise.earlier import Earlier, discrete_values, earlier_values, is_result, values_from, with_starts
from .inputs import Signal, values_at
from .parameters import Parameters, by_name
from .problem import Floats, Problem
from .storage import Choice, choose

if TYPE_CHECKING:
    from .states import StateSelection

_SETTLINGS = 20  # of discrete values in a steady state
_LONG_AGO = -1e18  # seconds
_MET = 1e-6  # of its size: a start value that differs by less is kept
_RESTARTS = 20  # of an inverse problem whose start values depend on the parameters sought


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """What a run is asked to begin with: parameters, inputs, values to search from or to meet."""

    t: float = 0.0
    mode: str = "start"
    set: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    start_from: Any = None
    given: Mapping[str, Any] = field(default_factory=dict)
    solve_for: Iterable[str] = ()
    quick: bool = False  # from a guess that is good, or else useless
    end: float | None = None  # of the run, infinite where nobody knows it; none for a single point
    histories: Histories | None = None  # the past of the run that it starts from, where that is known

    @property
    def inverse(self) -> bool:
        return bool(self.given) or bool(self.solve_for)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A problem with the numbers of one run, consistent values, and the signals of its inputs by known cell."""

    problem: Problem
    y: Floats
    yp: Floats
    report: Report
    signals: dict[int, Signal]
    told: tuple[Diagnostic, ...] = ()  # what the user should know about the inputs
    held: np.ndarray | None = None  # known cells that were given for this run: what they are bound to does not move them
    started: np.ndarray | None = None  # which unknowns of the system begin where `set` or `start_from` says
    mode: str = "start"  # in which it began: "hold" where an earlier result or values by name say all states


class _Bench:
    """A copy of a problem for one initialisation at a time, with the memory of those before."""

    def __init__(self, problem: Problem, free: list[_Bench] | None = None) -> None:
        self.problem, self.free = private(problem), free
        self.initialisers: dict[str, Initialiser] = {}
        self.starts: Starts | None = None
        self._last: tuple[tuple[Any, ...], bytes, Initialised] | None = None

    def __enter__(self) -> _Bench:
        return self

    def __exit__(self, *_: object) -> None:
        if self.free is not None:
            self.free.append(self)  # for the next one

    def initialiser(self, mode: str) -> Initialiser:
        if mode not in self.initialisers:
            self.initialisers[mode] = Initialiser(self.problem, mode)  # type: ignore[arg-type]
        return self.initialisers[mode]

    def run(self, mode: str, asked: Beginning) -> Initialised:
        """Consistent values. What gave some before, with the same numbers and the same residuals, gives them again."""
        t, quick, led = asked.t, asked.quick, asked.start_from is None
        key = mode, t, quick, led, self.starts, self.problem.known.tobytes()
        if self._last is not None and self._last[0] == key:
            _, residual, found = self._last
            if residual == self._residual(t, found):
                return Initialised(found.y.copy(), found.yp.copy(), found.report, found.outcome)
        found = self.initialiser(mode).run(t, quick=quick, led=led)
        own = Initialised(found.y.copy(), found.yp.copy(), found.report, found.outcome)
        self._last = key, self._residual(t, own), own
        return found

    def _residual(self, t: float, found: Initialised) -> bytes:
        """What tells whether equations still say the same: those that call functions, whose code and data others may change."""
        return self.problem.residual(t, found.y, found.yp).tobytes() if self.problem.calls else b""

    def load(self, known: Floats, starts: Starts) -> None:
        problem = self.problem
        problem.known[: len(known)] = known
        if self.starts is starts:
            return
        kept = problem.lowered.kept
        problem.start, problem.start_given, problem.fixed = starts.start[kept], starts.given[kept], starts.fixed[kept]
        problem.start_level, problem.start_voices = starts.level[kept], starts.voices[kept]
        problem.nominal, problem.minimum, problem.maximum = starts.nominal[kept], starts.minimum[kept], starts.maximum[kept]
        problem.bounded = np.flatnonzero(np.isfinite(problem.minimum) | np.isfinite(problem.maximum))
        self.starts = starts


def private(problem: Problem) -> Problem:
    """The same equations with numbers of their own."""
    own = object.__new__(Problem)
    own.__dict__.update(problem.__dict__)
    own.known = problem.known.copy()
    return own


class Preparation:
    """Begins runs of one model."""

    def __init__(self, program: Program, parameters: Parameters, starts: StartReader) -> None:
        system, pattern = program.system, program.pattern
        self.program, self.system, self.title = program, system, program.title
        self.parameters, self.starts, self._pattern = parameters, starts, pattern
        self._lock = threading.RLock()
        self._benches: dict[int, list[_Bench]] = {}
        self._implicit: Problem | None = None
        self._read: tuple[Floats, Starts, list[Diagnostic]] | None = None
        self._choices: dict[Any, Choice] = {}
        self._coincides: tuple[bytes, bool] | None = None  # the last values of parameters that were looked at
        self.selection: StateSelection | None = None
        self.history_cells = history_cells(system)
        known = parameters.known({})
        if system.derivatives is None:
            self.problem = self._explicit = build(lower(system, pattern, self._kept(known)), known, starts.starts(known))
            return
        from .states import StateSelection  # a model of index 1 needs none of it, and no module of it either

        preference = starts.state_preference()
        if system.hybrid is not None:  # what an event sets is best a state, else it would be computed from others
            targets = system.hybrid.parts["reinit"].targets
            preference[targets] = np.minimum(preference[targets], 1e-3)
        self.selection = StateSelection(system, pattern, preference, known, self._kept(known))
        self.problem = self.selected(0.0, known)

    def prepare(self, asked: Beginning, lap: Callable[[str], None] = lambda name: None) -> Prepared:
        """The problem with the numbers of one run, and consistent values to start from."""
        mode, t = asked.mode, asked.t
        if mode not in ("start", "steady"):
            raise UsageError(f'`initial` is "start" or "steady", got {mode!r}.')
        by_name(asked.given, "given")
        changes, starts = self.parameters.split(by_name(asked.set, "set"))
        with self._lock:
            alone, end = asked.end is None, t if asked.end is None else asked.end  # alone: no run begins there
            signals, told = self.parameters.signals(asked.inputs, changes, t, end, mode == "steady" and alone)
        earlier = earlier_values(self.system, asked.start_from)
        if self.system.hybrid is not None and is_result(asked.start_from):
            changes = {**discrete_values(self.system, asked.start_from), **changes}
        told += fresh_past(self.system, asked.start_from) if asked.histories is None else []
        mode = "hold" if mode == "start" and earlier is not None and earlier.complete(self.system) else mode
        earlier = with_starts(self.system, self.parameters.starts, earlier, starts)

        def known_with(more: Mapping[str, Any]) -> Floats:
            with self._lock:
                known = self.parameters.known({**changes, **more}, for_a_run=True)
            if asked.histories is not None:
                asked.histories.begin(known)
            return values_at(signals, t, known)

        known = known_with({})
        if not self.system.holds_for(known):
            raise _made_for_others(self.system, self.parameters)
        report = None
        if asked.inverse:
            calibrated, earlier, report = self._inverse(asked, mode, known_with, earlier, signals)
            told += report.gave_way()
            known, mode = known_with(calibrated), "steady" if mode == "steady" else "hold"
        with self._lock:
            shared = self._chosen(t, known, earlier)
        with self._bench(shared) as bench:
            self._load(bench, known, earlier)
            self.problem = bench.problem  # a start that fails is looked at there
            entries = self._entry_times() if mode == "steady" else []
            if entries:
                bench.problem.known[entries] = _LONG_AGO  # at rest, whatever had to wait has waited
            if bench.problem.rules is not None:
                from .events.timed import set_at_start

                set_at_start(bench.problem, t)
            lap("parameters")
            first = self._settled(bench, mode, asked, signals, entries)
            told += _moved(bench.problem, first)
            if report is not None:
                first = replace(first, report=report)
            problem = private(bench.problem)
        if self.selection is not None:
            problem, first = self._reselected(problem, first, t, known)
        self.problem = problem
        if starts and asked.mode == "start":
            told += self._guesses(starts, problem, first, t, known)
        lap("initialisation")
        held = [np.ravel(self.parameters.cells(path)) for path in changes] if self.parameters.values.bindings else []
        given = np.concatenate(held) if held else None
        started = None if earlier is None else earlier.found
        return Prepared(problem, first.y, first.yp, first.report, signals, tuple(told), given, started, mode)

    def _guesses(
        self, starts: Mapping[str, Any], problem: Problem, first: Initialised, t: float, known: Floats
    ) -> list[Diagnostic]:
        """A word about start values in `set` that could only be guesses, because the component fixes others that determine them."""
        from .states import spread

        system, read = self.system, self.starts.starts(known)
        whole = spread(problem, t, first.y, first.yp, problem.known)[0]
        told = []
        for path, value in starts.items():
            wanted, asked = values_from(system, {path: value}, what="set")
            off = np.flatnonzero(asked & (np.abs(whole - wanted) > _MET * np.maximum(np.abs(wanted), read.nominal)))
            owner = path.rpartition(".")[0]
            names = [system.name_of_unknown(int(k)) for k in self._fixed_beside(int(off[0]), read.fixed)] if len(off) else []
            beside = [f"`{name}`" for name in names if name.rpartition(".")[0] == owner]
            if beside:
                located = system.plant.locate(path)
                quantity = located.kind.quantities[located.name]
                numbers, unit = quantity.base + np.asarray(located.flat).ravel(), quantity.declaration.unit
                number = numbers[system.aliases.index[numbers] == off[0]][0]
                found, are = system.aliases.sign[number] * whole[off[0]], "is" if len(beside) == 1 else "are"
                told.append(
                    Diagnostic(
                        f"`{path}` does not start at {value}, but at {f'{found:.6g} {unit}'.strip()}: "
                        f"{', '.join(beside[:3])} {are} fixed there.",
                        remedy=f"simulate(given={{{path!r}: …}}) holds it, and one of the others gives way.",
                    )
                )
        return told

    def _fixed_beside(self, unknown: int, fixed: np.ndarray) -> np.ndarray:
        """Fixed unknowns that take part in determining another: equations lead there without passing what is integrated."""
        from ..structure.unions import components

        pattern, size = self._pattern, self.system.size
        ends = fixed | self.system.differential
        ends[unknown] = False
        count = len(pattern.indices)
        columns, here = np.repeat(np.arange(size), np.diff(pattern.indptr)), pattern.by_value[:count]
        inner = here & ~ends[columns]
        parts = components(size + self.system.equation_count, columns[inner], size + pattern.indices[inner])
        outer = here & fixed[columns] & (parts[size + pattern.indices] == parts[unknown])
        return np.unique(columns[outer])

    def _bench(self, shared: Problem) -> _Bench:
        """A bench that nobody else works at, until it is left."""
        with self._lock:
            free = self._benches.setdefault(id(shared), [])
            return free.pop() if free else _Bench(shared, free)

    # --- values ---------------------------------------------------------------------------------------------------------------
    def _settled(self, bench: _Bench, mode: str, asked: Beginning, signals: dict[int, Signal], entries: list[int]) -> Initialised:
        """Consistent values; at rest, discrete values and unknowns have to agree with each other."""
        t, problem, first = asked.t, bench.problem, self._first_values(bench, mode, asked, signals)
        if mode != "steady":
            return first
        for turn in range(_SETTLINGS):
            if not _unsettled(problem, turn == 0, t, first, signals, entries):
                problem.known[entries] = t
                return first
            first = self._initial_values(lambda: bench.run(mode, asked), problem, asked, signals)
        from .events.settled import switching

        raise ModelError(
            "There is no state of rest: what switches, switches on and off in turn.",
            details=tuple(f"switches:  {name}" for name in switching(problem, t, first.y, first.yp, signals)),
            remedy="Simulate instead: the plant goes to a limit cycle. `ac.smooth_step` for the switch gives a mean.",
        )

    def _entry_times(self) -> list[int]:
        """Known cells that hold when a state was entered."""
        found: list[int] = []
        for kind in self.system.plant.kinds:
            for q in kind.quantities.values():
                if q.role == "discrete" and getattr(q.declaration, "carried", False):
                    found += range(q.base, q.base + kind.count * q.size)
        return found

    def _first_values(self, bench: _Bench, mode: str, asked: Beginning, signals: dict[int, Signal]) -> Initialised:
        """Consistent values; if there are none with the discrete values as declared, with those after the event at the start."""
        problem = bench.problem

        def solve() -> Initialised:
            return bench.run(mode, asked)

        try:
            return self._initial_values(solve, problem, asked, signals)
        except InitialisationError as error:
            if problem.rules is None:
                raise
            from .events.settled import settle_discrete

            declared = problem.known.copy()
            try:
                if settle_discrete(problem, asked.t, problem.start, np.zeros(problem.size), signals):
                    with suppress(InitialisationError):
                        return bench.initialiser(mode).run(asked.t, quick=asked.quick, led=asked.start_from is None)
                if mode != "steady" and (found := _tied(problem, asked, mode, error)) is not None:
                    return found
            finally:
                problem.known[:] = declared  # the event at the start is yet to come
            raise

    def _initial_values(
        self, solve: Callable[[], Initialised], problem: Problem, asked: Beginning, signals: dict[int, Signal]
    ) -> Initialised:
        """Consistent values; an error shows equations without a value at the start, and keeps what was reached."""
        t = asked.t
        try:
            found = solve()
            doubtful = asked.mode == "start" and len(found.y) == problem.size and self.doubtful(problem.known)
            if (self.system.dependent or doubtful) and (open_unknowns := _singular(problem, t, found.y, found.yp)):
                raise ModelError(*open_unknowns)
            return found
        except InitialisationError as error:
            n = problem.size
            without_value = _without_value(problem, t, error)
            determined = error.outcome.name != "STRUCTURE" and not without_value
            singular = _singular(problem, t, problem.start, np.zeros(n)) if determined else ()
            error.diagnostics = (*without_value, *singular, *error.diagnostics)
            error.reached = Prepared(problem, error.y[:n], error.yp[:n], error.report, signals)
            raise

    def suits(self, known: Floats) -> bool:
        """Whether the system is right for these values of parameters: several equations may depend on each other with them."""
        system, coincidence = self.system, self.system.coincidence
        if coincidence is None or not system.holds_for(known):
            return system.holds_for(known)
        read = known[coincidence.read].tobytes()
        if self._coincides is None or self._coincides[0] != read:
            from ..families.coincidence import values_in

            self._coincides = read, coincidence.arises(values_in(system, known[: system.known_count]))
        return not self._coincides[1]

    def doubtful(self, known: Floats) -> bool:
        """Whether a start that is found may leave something open, or contradict what follows from the equations."""
        coincidence = self.system.coincidence
        return coincidence is not None and (coincidence.has_zero(known) or not self.suits(known))

    # --- problems -------------------------------------------------------------------------------------------------------------
    def _kept(self, known: Floats) -> np.ndarray:
        """Unknowns that stay unknowns even if they could be computed: fixed, bounded, remembered, or named in initial equations."""
        starts = self.starts.starts(known)
        keep = starts.fixed | np.isfinite(starts.minimum) | np.isfinite(starts.maximum)
        for family in self.system.initial_families:
            index = np.where(family.slots < 0, ~family.slots, family.slots)
            keep[index[index < self.system.size]] = True
        keep[remembered(self.system)] = True
        return keep

    def all_implicit(self, known: Floats) -> Problem:
        """The problem in which every unknown of the system is solved for."""
        if self._implicit is None:
            self._implicit = build(lower(self.system, self._pattern), known, self.starts.starts(known))
        return self._implicit

    def _chosen(self, t: float, known: Floats, earlier: Earlier | None = None) -> Problem:
        """The problem that suits these parameters: states selected, explicit variables only where no coefficient is zero."""
        if self.selection is not None:
            return self.selected(t, known, earlier)
        return self._explicit if self._explicit.lowered.usable(known) else self.all_implicit(known)

    def selected(self, t: float, known: Floats, earlier: Earlier | None = None, explicit: bool = True) -> Problem:
        """The problem with the states that look best at the start values."""
        assert self.selection is not None
        starts = self._read_starts(known, earlier)
        selection = self.selection.select(t, starts.start, np.zeros(self.system.size), known, starts.nominal)
        return self.selection.problem(selection, known, starts, explicit)

    def _reselected(self, problem: Problem, first: Initialised, t: float, known: Floats) -> tuple[Problem, Initialised]:
        """Consistent values may favour other states than the start values did. Discrete values stay those that go with them."""
        assert self.selection is not None
        from .states import gathered, spread

        y, yp = spread(problem, t, first.y, first.yp, problem.known)
        settled = problem.known[: len(known)]
        with self._lock:
            starts = self.starts.starts(known)
            selection = self.selection.select(t, y, yp, settled, starts.nominal)
            bench = _Bench(self.selection.problem(selection, settled, starts))
        self._load(bench, known)
        bench.problem.known[: len(settled)] = settled
        y, yp = gathered(bench.problem, y, yp)
        return bench.problem, replace(first, y=y, yp=yp)

    # --- numbers --------------------------------------------------------------------------------------------------------------
    def _read_starts(self, known: Floats, earlier: Earlier | None) -> Starts:
        """Start values with these parameters; the same object, as long as the parameters are the same."""
        if self._read is None or (self.starts.depends_on_parameters and not np.array_equal(self._read[0], known)):
            starts = self.starts.starts(known)
            self._read = known.copy(), starts, [*self.starts.contradictions(), *self.starts.outside_bounds(starts)]
        starts = self._read[1]
        return starts if earlier is None else earlier.applied(starts)

    def _load(self, bench: _Bench, known: Floats, earlier: Earlier | None = None) -> None:
        with self._lock:
            starts = self._read_starts(known, earlier)
            bench.load(known, starts)
            assert self._read is not None
            contradictions = self._read[2]
            wrong = contradictions if earlier is None else [*self.starts.contradictions(), *self.starts.outside_bounds(starts)]
        if wrong:
            raise ModelError(*wrong)

    def choice(self, store: Iterable[str] | None, derivatives: bool | None, points: int) -> Choice:
        """What a run of so many points keeps."""
        names = None if store is None else (store,) if isinstance(store, str) else tuple(store)
        key = names, derivatives, points if names is None and derivatives is None else 0
        if key not in self._choices:
            if len(self._choices) > 50:
                self._choices.clear()
            self._choices[key] = choose(self.system, names, derivatives, points)
        return self._choices[key]

    def _inverse(
        self,
        asked: Beginning,
        mode: str,
        known_with: Callable[[Mapping[str, Any]], Floats],
        earlier: Earlier | None,
        signals: dict[int, Signal],
    ) -> tuple[dict[str, float], Earlier, Report]:
        """Values of the parameters that are solved for, and of all unknowns. Starts may depend on parameters: then once more."""
        from .initialise.conserved import at_rest_with_given
        from .initialise.pose import pose

        known, t = known_with({}), asked.t
        with self._lock:
            shared = self.all_implicit(known) if self.selection is None else self.selected(t, known, earlier, explicit=False)
        bench = _Bench(shared)
        problem = bench.problem
        self._load(bench, known, earlier)
        inverse = pose(self.system, self.parameters, problem, asked.given, asked.solve_for, known_with)
        for _ in range(_RESTARTS):
            before = problem.start
            initialiser = Initialiser(inverse, mode)  # type: ignore[arg-type]
            solve = partial(initialiser.run, t, quick=asked.quick, led=asked.start_from is None)
            conserved = at_rest_with_given(inverse, t) if mode == "steady" and not asked.quick else None
            first = conserved or self._initial_values(solve, problem, asked, signals)
            found = inverse.found(first.y)
            self._load(bench, known_with(found), earlier)
            if np.allclose(problem.start, before, rtol=1e-9, atol=0.0):
                return found, Earlier(first.y[: problem.size], np.ones(problem.size, dtype=bool)), first.report
            inverse.restart(first.y)
        raise ModelError(
            "The start values depend on the parameters that are solved for, and do not settle.",
            remedy="Give the start values as numbers, or prescribe them in `given`.",
        )


def _tied(problem: Problem, asked: Beginning, mode: str, error: InitialisationError) -> Initialised | None:
    """The start of a run at which a switch ties states to each other, which nothing determines while they are held. Values that
    another run left ("hold") may move, as they would at an event of that run."""
    from .events.tying import tied_from_the_start

    if asked.end is None or problem.initial_size:
        return None
    span = asked.end - asked.t if np.isfinite(asked.end) else 1.0
    begun = tied_from_the_start(problem, asked.t, span)
    if begun is None:
        return None
    if mode == "start" and problem.fixed[begun.moved].any():
        error.diagnostics = (_apart(problem, begun.moved), *error.diagnostics)
        return None
    n = problem.size
    report = replace(error.report, outcome=Outcome.TIED, y=begun.y, yp=begun.yp, attempts=[], failed=[], not_reached=0)
    return Initialised(begun.y[:n], begun.yp[:n], report, Outcome.TIED)


def _apart(problem: Problem, states: np.ndarray) -> Diagnostic:
    """What is told of states that begin apart and are tied to each other."""
    return Diagnostic(
        "States that are tied to each other from the start begin apart, and not all of them may move.",
        details=tuple(
            f"starts at: {problem.name_of_unknown(int(k))} = {problem.start[k]:.6g}{' (fixed)' * bool(problem.fixed[k])}"
            for k in states[:6]
        ),
        remedy="Give them start values that agree.",
    )


def _made_for_others(system: System, parameters: Parameters) -> UsageError:
    """What is told of parameters that a translation was made for, when they have other values."""
    assert system.frozen is not None
    names = [f"`{name}`" for name, cell in parameters.names() if cell in system.frozen[0]]
    return UsageError(
        f"This translation holds for the values that {listed(names, 5)} had: with others, other equations depend on each other.",
        remedy="Run the model that it was made from: it is translated once more where that is needed.",
    )


def _moved(problem: Problem, first: Initialised) -> list[Diagnostic]:
    """A word about states that do not start where they were said to, because they are tied to each other."""
    if not first.report.tied:
        return []
    apart = np.abs(first.y - problem.start) > _MET * np.maximum(np.abs(first.y), problem.nominal)
    moved = np.flatnonzero(apart & problem.differential)
    details = (f"starts at: {problem.name_of_unknown(int(k))} = {first.y[k]:.6g}, not {problem.start[k]:.6g}" for k in moved[:6])
    what = "States are tied to each other, or to time, from the start: they were brought together, as balances demand."
    return [Diagnostic(what, details=tuple(details))] if len(moved) else []


def _unsettled(problem: Problem, start: bool, t: float, first: Initialised, signals: dict[int, Signal], entries: list[int]) -> bool:
    """Whether discrete values change at a state of rest: at a start, and when whatever had to wait has waited."""
    from .events.settled import settle_discrete

    here = (problem, t, first.y, first.yp, signals)
    changed = start and settle_discrete(*here)
    problem.known[entries] = _LONG_AGO
    return settle_discrete(*here, resumed=True) or changed


def _singular(problem: Problem, t: float, y: Floats, yp: Floats) -> tuple[Diagnostic, ...]:
    """Which unknowns the equations leave open at a point, and which equations say the same; nothing if regular."""
    from .singular import NEARLY, explain_point

    return explain_point(problem, t, y, yp, limit=NEARLY)


def _without_value(problem: Problem, t: float, error: InitialisationError) -> tuple[Diagnostic, ...]:
    """Why equations have no value: at the start, or where they have one there, with what was found by then."""
    n, report = problem.size, error.report
    rows, y, yp = [int(r) for r in report.non_finite], problem.start, np.zeros(problem.size)
    if not rows and len(report.residual):
        rows, y, yp = [int(r) for b in report.failed for r in b.rows if np.isnan(report.residual[r])], error.y[:n], error.yp[:n]
    workspace = problem.equations.workspace(t, y, yp, problem.known)
    told = (
        problem.explain_row(r, workspace) if r < n else problem.explain_initial_row(r - n, workspace) for r in rows[:5]
    )  # initial equations are numbered after the others
    return tuple({one.what: one for one in reversed([*told]) if one is not None}.values())[::-1]  # rows may share their cause
