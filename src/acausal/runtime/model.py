"""The model: what `ac.compile` gives. It holds machine code and tables; numbers can change without compiling anything again."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ModelError, UsageError
from ..families.assemble import assemble
from ..families.balance import check_structure
from ..families.numbers import Attributes
from ..families.lowering import lower
from ..families.pattern import jacobian_pattern
from ..families.reduction import reduce
from ..families.starts import StartReader
from ..families.system import System
from ..language.component import Component
from ..results.result import Result, Stored
from .build import build
from .initialise import InitialisationError, Initialised, Initialiser
from .inputs import Signal, as_signal, values_at
from .outcome import Outcome
from .parameters import Parameters
from .problem import Problem
from .problem import Stored as Storage
from .progress import reported
from .run import run_to_end
from .solver import Request, default_solver, find_solver
from .states import StateSelection, slopes_of
from .storage import choose, needed_unknowns, output_times


def compile(component: Component) -> Model:
    """Translate a component (with everything in it) to a model that can be simulated.

    model = ac.compile(Ladder(9000))
    result = model.simulate(until=10.0)
    """
    return Model(component)


class Model:
    """A compiled model.

    Every day: `simulate`, `set`, `get`. Also: `steady_state`, `info`, `system` (the translated equations).
    """

    def __init__(self, component: Component) -> None:
        if isinstance(component, type) and issubclass(component, Component):
            raise UsageError(f"`ac.compile` takes a component, not a class: ac.compile({component.__name__}()).")
        clock = _Clock()
        self.title = type(component).__name__
        system = assemble(component)
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
        if self.system.derivatives is None:
            self._pattern, self._implicit = pattern, None
            self.problem = self._explicit = build(lower(self.system, pattern, self._kept(known)), known, self._starts.starts(known))
        else:
            self.selection = StateSelection(self.system, pattern, self._starts.state_preference(), known)
            self.problem = self._selected(0.0, known)
        clock.lap("kernels")
        self._initialisers: dict[tuple[int, str], Initialiser] = {}
        self._lock = threading.Lock()
        self.seconds = clock.seconds

    # --- parameters -----------------------------------------------------------------------------------------------------------
    def set(self, changes: Mapping[str, Any] | None = None, /, **named: Any) -> Model:
        """Give parameters other values, for all runs to come: `model.set({"R[3].R": 2.0})`. Nothing is compiled."""
        for path, value in {**(changes or {}), **named}.items():
            self._parameters.set(path, value)
        return self

    def get(self, path: str) -> Any:
        """The value of a parameter."""
        return self._parameters.get(path)

    def parameters(self) -> dict[str, float]:
        """Every parameter with its value; of a large plant this is a long list."""
        known = self._parameters.known({})
        return {name: float(known[cell]) for name, cell in self._parameters.names()}

    # --- running --------------------------------------------------------------------------------------------------------------
    def simulate(
        self,
        until: float,
        *,
        start: float = 0.0,
        points: int | None = None,
        at: Iterable[float] | None = None,
        rtol: float = 1e-6,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        store: Iterable[str] | None = None,
        initial: str = "start",
        progress: bool | Callable[[float], bool | None] = False,
        solver: str | None = None,
        atol: float | Mapping[str, float] | None = None,
        derivatives: bool | None = None,
        **options: Any,
    ) -> Result:
        """Integrate from `start` to `until`.

        Every day:
            until: the end, in seconds.
            points: how many equidistant output points (501 unless the plant is very large), or `at`: the output times themselves.
                They are interpolated and have no influence on the steps.
            rtol: the relative tolerance. It is all there is to know about accuracy.
            set: parameter values for this run only.
            inputs: values of external inputs: a number, a function of time, `(times, values)`, a pandas series, a CSV file.
            store: paths of what to keep (all unknowns otherwise).
        The rest:
            initial: "start" (fixed and given start values) or "steady" (start at rest).
            progress: True for a progress bar, or a function of time called now and then; returning False stops the run.
            solver: a solver by name ("ida", "sundae"); `options` are the solver's own.
            atol: absolute tolerance, one for all; otherwise it is `rtol` times each variable's nominal value.
            derivatives: whether time derivatives are stored too (by default when there are few).
        """
        clock = _Clock()
        times = output_times(start, until, points, at, self.system.size)
        chosen = find_solver(solver or default_solver())
        choice = choose(self.system, store, derivatives, len(times))
        problem, first, given = self._prepare(start, initial, set or {}, inputs or {}, clock)
        with reported(progress, start, until, self.title) as report:
            request = Request(
                t0=start,
                t_end=float(until),
                output_times=times,
                y0=first.y,
                yp0=first.yp,
                stored=Storage(problem.lowered.index[choice.gather].astype(np.int32)),
                rtol=rtol,
                atol=self._absolute(problem, rtol, atol),
                inputs=given,
                progress=report,
                options=options,
            )
            run = run_to_end(chosen, problem, request, self.selection, self._starts)
        clock.lap("integration")
        stored = Stored(run.times, run.rows, choice.column, choice.slope_column, problem.known, given)
        statistics = Statistics(run.statistics)
        statistics["seconds"] = {**self.seconds, **statistics.get("seconds", {}), **clock.seconds}
        statistics["initialisation"] = str(first.report)
        return Result(self.system, stored, run.outcome, statistics, self.title, run.diagnostics)

    def steady_state(
        self, *, at: float = 0.0, set: Mapping[str, Any] | None = None, inputs: Mapping[str, Any] | None = None
    ) -> Result:
        """The state in which nothing changes, as a result with a single point."""
        problem, first, given = self._prepare(at, "steady", set or {}, inputs or {}, _Clock())
        choice = choose(self.system, None, True, 1)
        workspace = problem.equations.workspace(at, first.y, first.yp, problem.known)
        row = workspace[problem.lowered.index[choice.gather]]
        stored = Stored(np.array([at]), row[None, :], choice.column, choice.slope_column, problem.known, given)
        return Result(self.system, stored, Outcome.FINISHED, Statistics(initialisation=str(first.report)), self.title)

    def _prepare(
        self, t0: float, mode: str, changes: Mapping[str, Any], inputs: Mapping[str, Any], clock: _Clock
    ) -> tuple[Problem, Initialised, dict[int, Signal]]:
        """The problem with the numbers of one run, and consistent values to start from."""
        given = {int(c): as_signal(v, path) for path, v in inputs.items() for c in self._parameters.input_cells(path).ravel()}
        with self._lock:
            known = values_at(given, t0, self._parameters.known(changes))
            self.problem = self._chosen_problem(t0, known)
            self._load(self.problem, known)
            clock.lap("parameters")
            first = self._initial_values(self.problem, t0, mode)
            if self.selection is not None:
                first = self._reselected(first, t0, known)
            problem = copy.copy(self.problem)
            problem.known = self.problem.known.copy()  # another thread may load other numbers meanwhile
        clock.lap("initialisation")
        return problem, first, given

    def _kept(self, known: np.ndarray) -> np.ndarray:
        """Unknowns that stay unknowns even if they could be computed: fixed, bounded, or named in initial equations."""
        starts = self._starts.starts(known)
        keep = starts.fixed | np.isfinite(starts.minimum) | np.isfinite(starts.maximum)
        for family in self.system.initial_families:
            index = np.where(family.slots < 0, ~family.slots, family.slots)
            keep[index[index < self.system.size]] = True
        return keep

    def _chosen_problem(self, t0: float, known: np.ndarray) -> Problem:
        """The problem that suits these parameters: states selected, explicit variables only where no coefficient is zero."""
        if self.selection is not None:
            return self._selected(t0, known)
        if self._explicit.lowered.usable(known):
            return self._explicit
        if self._implicit is None:
            self._implicit = build(lower(self.system, self._pattern), known, self._starts.starts(known))
        return self._implicit

    def _selected(self, t0: float, known: np.ndarray) -> Problem:
        """The problem with the states that look best at the start values."""
        assert self.selection is not None
        starts = self._starts.starts(known)
        selection = self.selection.select(t0, starts.start, np.zeros(self.system.size), known, starts.nominal)
        return self.selection.problem(selection, known, starts)

    def _reselected(self, first: Initialised, t0: float, known: np.ndarray) -> Initialised:
        """Consistent values may favour other states than the start values did."""
        assert self.selection is not None
        selection = self.selection.select(t0, first.y, first.yp, known, self.problem.nominal)
        self.problem = self.selection.problem(selection, known, self._starts.starts(known))
        self._load(self.problem, known)
        return replace(first, yp=slopes_of(self.problem, first.y, first.yp))

    def _load(self, problem: Problem, known: np.ndarray) -> None:
        starts = self._starts.starts(known)
        kept = problem.lowered.kept
        problem.known[: len(known)] = known
        problem.start, problem.start_given, problem.fixed = starts.start[kept], starts.given[kept], starts.fixed[kept]
        problem.nominal, problem.minimum, problem.maximum = starts.nominal[kept], starts.minimum[kept], starts.maximum[kept]
        wrong = [*self._starts.contradictions(), *self._starts.outside_bounds(starts)]
        if wrong:
            raise ModelError(*wrong)

    def _initial_values(self, problem: Problem, t0: float, mode: str) -> Initialised:
        if mode not in ("start", "steady"):
            raise UsageError(f'`initial` is "start" or "steady", got {mode!r}.')
        key = (id(problem), mode)
        if key not in self._initialisers:
            self._initialisers[key] = Initialiser(problem, mode)  # type: ignore[arg-type]
        try:
            return self._initialisers[key].run(t0)
        except InitialisationError as error:
            rows = [int(r) for r in error.report.non_finite if r < problem.size]
            workspace = problem.equations.workspace(t0, problem.start, np.zeros(problem.size), problem.known)
            assert problem.explain_row is not None
            error.diagnostics = (*(problem.explain_row(r, workspace) for r in rows[:5]), *error.diagnostics)
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
