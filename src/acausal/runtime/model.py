"""The model: what `ac.compile` gives. It holds machine code and tables; numbers can change without compiling anything again."""

from __future__ import annotations

import copy
import inspect
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Diagnostic, ModelError, NameNotFound, UsageError, near_matches
from ..families.assemble import assemble
from ..families.balance import check_structure
from ..families.lowering import lower
from ..families.numbers import Attributes
from ..families.pattern import jacobian_pattern
from ..families.reduction import reduce
from ..families.starts import StartReader, Starts
from ..families.system import System
from ..language.component import Component, copy_of
from ..results.result import Result, Stored
from .build import build
from .events.handler import settle_discrete, switching
from .events.timed import set_at_start
from .initialise import InitialisationError, Initialised, Initialiser, Report
from .initialise.pose import pose
from .inputs import Signal, as_signal, values_at
from .outcome import Outcome
from .parameters import Parameters
from .problem import Problem
from .problem import Stored as Storage
from .progress import reported
from .run import run_to_end
from .solver import Request, Solver, check_options, default_solver, find_solver
from .states import StateSelection, gathered, spread
from .steady import Earlier, SteadyStates, Wishes, along, point
from .storage import choose, is_number, needed_unknowns, output_times, seconds

if TYPE_CHECKING:
    from ..diagnosis.explain import Explanation
    from ..diagnosis.model import ModelDiagnosis
    from ..families.statistics import Statistics as Counts

_SETTLINGS = 20  # of discrete values in a steady state
_LONG_AGO = -1e18  # seconds
_RESTARTS = 20  # of an inverse problem whose start values depend on the parameters sought


def compile(component: Component, *, units: bool = True) -> Model:
    """Translate a component (with everything in it) to a model that can be simulated.

    model = ac.compile(Ladder(9000))
    result = model.simulate(until=10.0)

    `units=False` leaves out the check of units in equations; those of connected variables always have to agree.
    """
    return Model(component, units=units)


class Model:
    """A compiled model.

    Every day: `simulate`, `set`, `get`. Also: `steady_state`, `info`, `system` (the translated equations).
    """

    def __init__(self, component: Component, *, units: bool = True, sliding: Collection[tuple[int, str]] = ()) -> None:
        if isinstance(component, type) and issubclass(component, Component):
            raise UsageError(
                f"`ac.compile` takes a component, not a class such as {component.__name__}.",
                remedy=f"Make one of it: ac.compile({component.__name__}()).",
            )
        clock = _Clock()
        self.title = type(component).__name__
        self._component, self._units, self._changes = component, units, dict[str, Any]()
        self._slides: Model | None = None
        self._sliding = frozenset(sliding)
        system = assemble(component, units=units, sliding=sliding)
        clock.lap("families")
        pattern = jacobian_pattern(system.families, system.equation_count, system.size)
        check_structure(system, pattern)
        self.system: System = reduce(system, pattern)
        if self.system is not system:
            pattern = jacobian_pattern(self.system.families, self.system.equation_count, self.system.size)
        clock.lap("structure")
        attributes = Attributes(self.system.plant)
        self._parameters = Parameters(self.system, attributes)
        self._starts = StartReader(self.system, attributes)
        if attributes.problems:
            raise ModelError(*attributes.problems)
        known = self._parameters.known({})
        self.selection: StateSelection | None = None
        self._implicit: Problem | None = None
        if self.system.derivatives is None:
            self._pattern = pattern
            self.problem = self._explicit = build(lower(self.system, pattern, self._kept(known)), known, self._starts.starts(known))
        else:
            preference = self._starts.state_preference()
            if self.system.hybrid is not None:  # what an event sets is best a state, else it would be computed from others
                targets = self.system.hybrid.parts["reinit"].targets
                preference[targets] = np.minimum(preference[targets], 1e-3)
            self.selection = StateSelection(self.system, pattern, preference, known, self._kept(known))
            self.problem = self._selected(0.0, known)
        clock.lap("kernels")
        self._initialisers: dict[tuple[int, str], Initialiser] = {}
        self._lock = threading.Lock()
        self.seconds = clock.seconds

    def __repr__(self) -> str:
        problem = self.problem
        return (
            f"<Model of {self.title}: unknowns {problem.size} (states {int(problem.differential.sum())}), "
            f"computed {len(problem.lowered.explicit.unknown)}, families of equations {len(problem.residual_kernels)}>"
        )

    def info(self) -> Counts:
        """What translation made of the model, in numbers: components, variables and where they went, blocks, kernels, seconds."""
        from ..families.statistics import statistics

        return statistics(self)

    def open_connectors(self, most: int = 8) -> list[str]:
        """Connectors of components at which nothing is connected, so that no flow passes there: perhaps a forgotten connection."""
        plant, found = self.system.plant, list[str]()
        for number in self.system.open_flows:
            kind, quantity, _ = plant.quantity_at(int(number))
            if kind is plant.root._kind or quantity.connector is None:
                continue
            name = plant.name_of(int(number)).rpartition(".")[0]
            if name not in found:
                found.append(name)
            if len(found) == most:
                break
        return found

    def explain(self, path: str) -> Explanation:
        """What a quantity is, what determines it, what it depends on: `print(model.explain("evaporator.h"))`."""
        from ..diagnosis.explain import explain

        return explain(self, path)

    def diagnose(self) -> ModelDiagnosis:
        """Statistics, warnings that name component and equation, suggested next steps: `print(model.diagnose())`."""
        from ..diagnosis.model import diagnose

        return diagnose(self)

    # --- parameters -----------------------------------------------------------------------------------------------------------
    def set(self, changes: Mapping[str, Any] | None = None, /, **named: Any) -> Model:
        """Give parameters other values, for all runs to come: `model.set({"R[3].R": 2.0})`. Nothing is compiled."""
        for path, value in {**(changes or {}), **named}.items():
            self._parameters.set(path, value)
            self._changes[path] = value
        return self

    def get(self, path: str) -> Any:
        """The value of a parameter."""
        return self._parameters.get(path)

    def parameters(self) -> dict[str, float]:
        """Every parameter with its value; of a large plant this is a long list."""
        known = self._parameters.known({})
        return {name: float(known[cell]) for name, cell in self._parameters.names()}

    # --- states ---------------------------------------------------------------------------------------------------------------
    def states(self) -> dict[str, tuple[str, ...]]:
        """Every state variable with the states it has: `{"thermostat.cooling": ("on", "off"), …}`."""
        from .system_states import state_variables

        return {name: d.states for name, _, d in state_variables(self.system.plant, self.system.states)}

    def system_states(self, most: int = 10_000) -> list[dict[str, str]]:
        """All states that the plant as a whole can be in, each as `{"pump.running": "on", "valve.open": "off", …}`.

        They are the combinations of all states that components own and can leave; input states follow. More than `most` are
        refused.
        """
        from .system_states import system_states

        return system_states(self.system.plant, self.system.states, self._parameters.known({}), most)

    # --- running --------------------------------------------------------------------------------------------------------------
    def simulate(
        self,
        until: float | str,
        *,
        start: float | str = 0.0,
        points: int | None = None,
        at: Iterable[float | str] | str | None = None,
        rtol: float = 1e-6,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        store: Iterable[str] | None = None,
        initial: str = "start",
        start_from: Any = None,
        given: Mapping[str, Any] | None = None,
        solve_for: Iterable[str] = (),
        progress: bool | Callable[[float], bool | None] = False,
        sliding: str | None = None,
        solver: str | None = None,
        atol: float | Mapping[str, float] | None = None,
        derivatives: bool | None = None,
        **options: Any,
    ) -> Result:
        """Integrate from `start` to `until`.

        Every day:
            until: the end, in seconds or as a text with a unit ("3 day"); `start` and `at` likewise.
            points: how many equidistant output points (501 unless the plant is very large), or `at`: the output times themselves.
                They are interpolated and have no influence on the steps.
            rtol: the relative tolerance. It is all there is to know about accuracy.
            set: parameter values for this run only.
            inputs: values of external inputs: a number, a function of time, `(times, values)`, a pandas series, a CSV file.
            store: paths of what to keep (all unknowns otherwise).
        The rest:
            initial: "start" (fixed and given start values) or "steady" (start at rest).
            start_from: an earlier result (its last point), or values by name, to start from; names unknown here do not matter.
            given, solve_for: values of variables at the start, and the parameters that are found from them.
            progress: True for a progress bar, or a function of time called now and then; returning False stops the run.
            sliding: "filippov" lets the solution slide along a switching surface instead of chattering across it.
            solver: a solver by name ("ida", "sundae"); `options` are the solver's own.
            atol: absolute tolerance, one for all; otherwise it is `rtol` times each variable's nominal value.
            derivatives: whether time derivatives are stored too (by default when there are few).
        """
        if sliding is not None:
            asked = {k: v for k, v in locals().items() if k not in ("self", "options", "sliding")}
            return self._simulate_sliding(sliding, {**asked, **options})
        clock = _Clock()
        begin, end = seconds(start, "start"), seconds(until, "until")
        times = output_times(begin, end, points, at, self.system.size)
        chosen = find_solver(solver or default_solver())
        _check_arguments(chosen, options, rtol, atol)
        choice = choose(self.system, store, derivatives, len(times))
        wishes = Wishes(start_from, given or {}, solve_for)
        problem, first, signals = self._prepare(begin, initial, set or {}, inputs or {}, clock, wishes)
        stepped = self._assigned_after_steps()
        columns = {int(cell): len(choice.gather) + k for k, cell in enumerate(stepped)}
        with reported(progress, begin, end, self.title) as report:
            request = Request(
                t0=begin,
                t_end=float(end),
                output_times=times,
                y0=first.y,
                yp0=first.yp,
                stored=Storage(np.concatenate([problem.lowered.index[choice.gather], 2 * problem.size + stepped]).astype(np.int32)),
                rtol=rtol,
                atol=self._absolute(problem, rtol, atol),
                inputs=signals,
                progress=report,
                options=options,
                resumed=isinstance(start_from, Result) and start_from.time_reached == begin,
            )
            run = run_to_end(chosen, problem, request, self.selection, self._starts)
        clock.lap("integration")
        known = problem.known if run.known is None else run.known
        stored = Stored(run.times, run.rows, choice.column, choice.slope_column, known, signals, run.t, columns, run.log)
        statistics = Statistics(run.statistics)
        statistics["seconds"] = {**self.seconds, **statistics.get("seconds", {}), **clock.seconds}
        statistics["initialisation"] = str(first.report)
        result = Result(self.system, stored, run.outcome, statistics, self.title, run.diagnostics, run.journal)
        result.chattering = run.chattering
        return result

    def _simulate_sliding(self, how: str, asked: dict[str, Any]) -> Result:
        """Run; where it chatters, translate once more such that the solution can slide along that surface, and run again."""
        if how != "filippov":
            raise UsageError(f'`sliding` is "filippov" or None, got {how!r}.')
        model = self if self._slides is None else self._slides
        while True:
            result = model.set(self._changes).simulate(**asked)
            surfaces = result.chattering
            if result.outcome is not Outcome.CHATTERING or surfaces <= model._sliding:
                return result
            component = copy_of(self._component)
            model = self._slides = Model(component, units=self._units, sliding=model._sliding | surfaces)

    def steady_state(
        self,
        *,
        at: float | str = 0.0,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        start_from: Any = None,
        given: Mapping[str, Any] | None = None,
        solve_for: Iterable[str] = (),
    ) -> Result:
        """The state in which nothing changes, as a result with a single point.

        Every day:
            set, inputs: parameter values and inputs of this state, as for `simulate`.
        The rest:
            start_from: an earlier result, or values by name, to search from.
            given, solve_for: calibration. `given={"room.T": 294.0}, solve_for=["wall.G"]` finds the wall's G with which the room is
                at 294 K; `result["wall.G"]` is the value found.
        """
        wishes, moment = Wishes(start_from, given or {}, solve_for), seconds(at, "at")
        problem, first, signals = self._prepare(moment, "steady", set or {}, inputs or {}, _Clock(), wishes)
        statistics = Statistics(initialisation=str(first.report))
        return point(self, problem, moment, first.y, first.yp, signals, Outcome.FINISHED, statistics)

    def steady_states(
        self,
        over: Mapping[str, Any],
        *,
        at: float | str = 0.0,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        start_from: Any = None,
        given: Mapping[str, Any] | None = None,
        solve_for: Iterable[str] = (),
    ) -> SteadyStates:
        """Steady states along parameter values, each found from its neighbours: `model.steady_states({"T": np.linspace(…)})`.

        Parameters named together in `over` change together. A value without a steady state keeps the reason; the others are there.
        """
        moment, solve_for = seconds(at, "at"), list(solve_for)

        def solve(values: Mapping[str, float], guess: Earlier | None, quick: bool) -> tuple[Result, np.ndarray]:
            wishes = Wishes(guess, given or {}, solve_for, quick)
            problem, first, signals = self._prepare(moment, "steady", {**(set or {}), **values}, inputs or {}, _Clock(), wishes)
            statistics = Statistics(initialisation=str(first.report))
            result = point(self, problem, moment, first.y, first.yp, signals, Outcome.FINISHED, statistics)
            return result, problem.equations.workspace(moment, first.y, first.yp, problem.known)[problem.lowered.place]

        return along(over, solve, Wishes(start_from).earlier(self.system))

    def _prepare(
        self,
        t0: float,
        mode: str,
        changes: Mapping[str, Any],
        inputs: Mapping[str, Any],
        clock: _Clock,
        wishes: Wishes,
    ) -> tuple[Problem, Initialised, dict[int, Signal]]:
        """The problem with the numbers of one run, and consistent values to start from."""
        if mode not in ("start", "steady"):
            raise UsageError(f'`initial` is "start" or "steady", got {mode!r}.')
        signals: dict[int, Signal] = {}
        for path, given in inputs.items():
            cells = self._parameters.input_cells(path).ravel()
            signals.update(dict.fromkeys(cells.tolist(), as_signal(given, path, unit=self._parameters.unit(path))))
        earlier = wishes.earlier(self.system)
        if self.system.hybrid is not None and isinstance(wishes.start_from, Result):
            from .carry import discrete_values

            changes = {**discrete_values(self.system, wishes.start_from), **changes}
        mode = "hold" if mode == "start" and earlier is not None and earlier.complete(self.system) else mode
        with self._lock:

            def known_with(more: Mapping[str, Any]) -> np.ndarray:
                return values_at(signals, t0, self._parameters.known({**changes, **more}))

            known = known_with({})
            report = None
            if wishes.inverse:
                calibrated, earlier, report = self._inverse(t0, mode, known_with, wishes, earlier, signals)
                known, mode = known_with(calibrated), "steady" if mode == "steady" else "hold"
            self.problem = self._chosen_problem(t0, known, earlier)
            self._load(self.problem, known, earlier)
            entries = self._entry_times() if mode == "steady" else []
            self.problem.known[entries] = _LONG_AGO  # at rest, whatever had to wait has waited
            if self.problem.rules is not None:
                set_at_start(self.problem, t0)
            clock.lap("parameters")
            first = self._first_values(mode, t0, signals, wishes.quick)
            for turn in range(_SETTLINGS):  # at rest, discrete values and unknowns have to agree with each other
                if mode != "steady" or not self._unsettled(turn == 0, t0, first, signals, entries):
                    break
                first = self._initial_values(self._initialiser(self.problem, mode), self.problem, t0, signals, wishes.quick)
            else:
                raise ModelError(
                    "There is no state of rest: what switches, switches on and off in turn.",
                    details=tuple(f"switches:  {name}" for name in switching(self.problem, t0, first.y, first.yp, signals)),
                    remedy="Simulate instead: the plant goes to a limit cycle. `ac.smooth_step` for the switch gives a mean.",
                )
            self.problem.known[entries] = t0
            first = replace(first, report=report or first.report)
            if self.selection is not None:
                first = self._reselected(first, t0, known)
            problem = copy.copy(self.problem)
            problem.known = self.problem.known.copy()  # another thread may load other numbers meanwhile
        clock.lap("initialisation")
        return problem, first, signals

    def _unsettled(self, start: bool, t0: float, first: Initialised, signals: dict[int, Signal], entries: list[int]) -> bool:
        """Whether discrete values change at a state of rest: at a start, and when whatever had to wait has waited."""
        here = (self.problem, t0, first.y, first.yp, signals)
        changed = start and settle_discrete(*here)
        self.problem.known[entries] = _LONG_AGO
        return settle_discrete(*here, resumed=True) or changed

    def _entry_times(self) -> list[int]:
        """Known cells that hold when a state was entered."""
        found: list[int] = []
        for kind in self.system.plant.kinds:
            for q in kind.quantities.values():
                if q.role == "discrete" and getattr(q.declaration, "carried", False):
                    found += range(q.base, q.base + kind.count * q.size)
        return found

    def _assigned_after_steps(self) -> np.ndarray:
        """Known cells that change at every step, so that their values are stored with each row."""
        return np.zeros(0, dtype=np.int64) if self.system.hybrid is None else self.system.hybrid.parts["step"].targets

    def _kept(self, known: np.ndarray) -> np.ndarray:
        """Unknowns that stay unknowns even if they could be computed: fixed, bounded, or named in initial equations."""
        starts = self._starts.starts(known)
        keep = starts.fixed | np.isfinite(starts.minimum) | np.isfinite(starts.maximum)
        for family in self.system.initial_families:
            index = np.where(family.slots < 0, ~family.slots, family.slots)
            keep[index[index < self.system.size]] = True
        return keep

    def _inverse(
        self,
        t0: float,
        mode: str,
        known_with: Callable[[Mapping[str, Any]], np.ndarray],
        wishes: Wishes,
        earlier: Earlier | None,
        signals: dict[int, Signal],
    ) -> tuple[dict[str, float], Earlier, Report]:
        """Values of the parameters that are solved for, and of all unknowns. Starts may depend on parameters: then once more."""
        known = known_with({})
        problem = self._all_implicit(known) if self.selection is None else self._selected(t0, known, earlier, explicit=False)
        self._load(problem, known, earlier)
        inverse = pose(self.system, self._parameters, problem, wishes.given, wishes.solve_for, known_with)
        for _ in range(_RESTARTS):
            before = problem.start
            first = self._initial_values(Initialiser(inverse, mode), problem, t0, signals, wishes.quick)  # type: ignore[arg-type]
            found = inverse.found(first.y)
            self._load(problem, known_with(found), earlier)
            if np.allclose(problem.start, before, rtol=1e-9, atol=0.0):
                return found, Earlier(first.y[: problem.size], np.ones(problem.size, dtype=bool)), first.report
            inverse.restart(first.y)
        raise ModelError(
            "The start values depend on the parameters that are solved for, and do not settle.",
            remedy="Give the start values as numbers, or prescribe them in `given`.",
        )

    def _all_implicit(self, known: np.ndarray) -> Problem:
        """The problem in which every unknown of the system is solved for."""
        if self._implicit is None:
            self._implicit = build(lower(self.system, self._pattern), known, self._starts.starts(known))
        return self._implicit

    def _read_starts(self, known: np.ndarray, earlier: Earlier | None) -> Starts:
        starts = self._starts.starts(known)
        return starts if earlier is None else earlier.applied(starts)

    def _chosen_problem(self, t0: float, known: np.ndarray, earlier: Earlier | None = None) -> Problem:
        """The problem that suits these parameters: states selected, explicit variables only where no coefficient is zero."""
        if self.selection is not None:
            return self._selected(t0, known, earlier)
        return self._explicit if self._explicit.lowered.usable(known) else self._all_implicit(known)

    def _selected(self, t0: float, known: np.ndarray, earlier: Earlier | None = None, explicit: bool = True) -> Problem:
        """The problem with the states that look best at the start values."""
        assert self.selection is not None
        starts = self._read_starts(known, earlier)
        selection = self.selection.select(t0, starts.start, np.zeros(self.system.size), known, starts.nominal)
        return self.selection.problem(selection, known, starts, explicit)

    def _reselected(self, first: Initialised, t0: float, known: np.ndarray) -> Initialised:
        """Consistent values may favour other states than the start values did."""
        assert self.selection is not None
        starts = self._starts.starts(known)
        y, yp = spread(self.problem, t0, first.y, first.yp, self.problem.known)
        selection = self.selection.select(t0, y, yp, known, starts.nominal)
        self.problem = self.selection.problem(selection, known, starts)
        self._load(self.problem, known)
        y, yp = gathered(self.problem, y, yp)
        return replace(first, y=y, yp=yp)

    def _load(self, problem: Problem, known: np.ndarray, earlier: Earlier | None = None) -> None:
        starts = self._read_starts(known, earlier)
        kept = problem.lowered.kept
        problem.known[: len(known)] = known
        problem.start, problem.start_given, problem.fixed = starts.start[kept], starts.given[kept], starts.fixed[kept]
        problem.nominal, problem.minimum, problem.maximum = starts.nominal[kept], starts.minimum[kept], starts.maximum[kept]
        wrong = [*self._starts.contradictions(), *self._starts.outside_bounds(starts)]
        if wrong:
            raise ModelError(*wrong)

    def _initialiser(self, problem: Problem, mode: str) -> Initialiser:
        key = (id(problem), mode)
        if key not in self._initialisers:
            self._initialisers[key] = Initialiser(problem, mode)  # type: ignore[arg-type]
        return self._initialisers[key]

    def _first_values(self, mode: str, t0: float, signals: dict[int, Signal], quick: bool) -> Initialised:
        """Consistent values; if there are none with the discrete values as declared, with those after the event at the start."""
        problem, initialiser = self.problem, self._initialiser(self.problem, mode)
        try:
            return self._initial_values(initialiser, problem, t0, signals, quick)
        except InitialisationError:
            declared = problem.known.copy()
            if problem.rules is None or not settle_discrete(problem, t0, problem.start, np.zeros(problem.size), signals):
                raise
            try:
                with suppress(InitialisationError):
                    return initialiser.run(t0, quick=quick)
            finally:
                problem.known[:] = declared  # the event at the start is yet to come
            raise

    def _initial_values(
        self, initialiser: Initialiser, problem: Problem, t0: float, signals: dict[int, Signal], quick: bool
    ) -> Initialised:
        """Consistent values; an error shows equations without a value at the start, and what was reached, as a result."""
        try:
            return initialiser.run(t0, quick=quick)
        except InitialisationError as error:
            n = problem.size
            rows = [int(r) for r in error.report.non_finite if r < n]
            workspace = problem.equations.workspace(t0, problem.start, np.zeros(n), problem.known)
            assert problem.explain_row is not None
            without_value = dict.fromkeys(problem.explain_row(r, workspace) for r in rows[:5])  # rows may share their cause
            singular = _singular_start(problem, t0) if error.outcome.name != "STRUCTURE" and not rows else ()
            error.diagnostics = (*without_value, *singular, *error.diagnostics)
            statistics = Statistics(initialisation=str(error.report))
            error.result = point(self, problem, t0, error.y[:n], error.yp[:n], signals, error.outcome, statistics)
            raise

    def _absolute(self, problem: Problem, rtol: float, atol: float | Mapping[str, float] | None) -> np.ndarray:
        chosen = rtol * problem.nominal
        if isinstance(atol, Mapping):
            for path, value in atol.items():
                place = problem.lowered.place[needed_unknowns(self.system, path)]
                chosen[place[place < problem.size]] = value
        elif atol is not None:
            chosen = np.full(problem.size, float(atol))
        return chosen


def _check_arguments(solver: Solver, options: Mapping[str, Any], rtol: Any, atol: Any) -> None:
    """What can be known to be wrong before anything is computed; a misspelt name may be meant for `simulate` or for the solver."""
    known = [option.name for option in solver.options]
    for name in options:
        if name not in known:
            own = [p for p in inspect.signature(Model.simulate).parameters if p not in ("self", "options")]
            raise NameNotFound(
                f"`simulate` has no argument `{name}`, and solver `{solver.name}` has no option `{name}`. "
                f"{near_matches(name, [*own, *known])}".rstrip(),
                remedy=f"Options of {solver.name}: {', '.join(known) or 'none'}.",
            )
    check_options(solver, options)
    if not is_number(rtol) or rtol <= 0:
        raise UsageError(f"`rtol` is a positive number such as 1e-6, got {rtol!r} of type {type(rtol).__name__}.")
    for value in atol.values() if isinstance(atol, Mapping) else [] if atol is None else [atol]:
        if not is_number(value) or value <= 0:
            raise UsageError(
                f"`atol` is a positive number, or one for each name given, got {value!r} of type {type(value).__name__}."
            )


def _singular_start(problem: Problem, t0: float) -> tuple[Diagnostic, ...]:
    """Which unknowns the equations leave open at the start values, and which equations say the same; nothing if regular."""
    from ..diagnosis.singular import NEARLY, explain_point

    return explain_point(problem, t0, problem.start, np.zeros(problem.size), limit=NEARLY)


class Statistics(dict[str, Any]):
    """What a run cost, by name: `result.statistics["steps"]` or `result.statistics.steps`."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]


class _Clock:
    """Seconds of each phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now
