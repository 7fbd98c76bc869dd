"""The model: what `ac.compile` gives. It holds machine code and tables; numbers can change without compiling anything again."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import ModelError, UsageError
from ..families.assemble import assemble
from ..families.balance import check_structure
from ..families.numbers import Attributes
from ..families.pattern import Pattern, jacobian_pattern
from ..families.plant import CONTINUATION
from ..families.starts import StartReader
from ..families.system import System
from ..families.template import Family
from ..kernels import compile_kernels
from ..language.component import Component
from ..results.result import Result, Stored
from .faults import explain_row
from .initialise import InitialisationError, Initialised, Initialiser
from .inputs import Signal, as_signal, values_at
from .outcome import Outcome
from .parameters import Parameters
from .problem import Kernel, Problem
from .problem import Stored as Storage
from .progress import reported
from .solver import Request, default_solver, find_solver
from .storage import choose, output_times


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
        self.system: System = assemble(component)
        clock.lap("families")
        self.pattern = jacobian_pattern(self.system.families, self.system.equation_count, self.system.size)
        self.initial_pattern = jacobian_pattern(self.system.initial_families, self.system.initial_count, self.system.size)
        check_structure(self.system, self.pattern)
        clock.lap("structure")
        attributes = Attributes(self.system.plant)
        self._parameters = Parameters(self.system, attributes)
        self._starts = StartReader(self.system, attributes)
        if attributes.problems:
            raise ModelError(*attributes.problems)
        self.problem = self._make_problem()
        clock.lap("kernels")
        self._initialisers: dict[str, Initialiser] = {}
        self._lock = threading.Lock()
        self.seconds = clock.seconds

    # --- building -----------------------------------------------------------------------------------------------------------
    def _make_problem(self) -> Problem:
        system = self.system
        residuals, jacobians = self._kernels(system.families, self.pattern)
        first_residuals, first_jacobians = self._kernels(system.initial_families, self.initial_pattern)
        known = self._parameters.known({})
        starts = self._starts.starts(known)
        problem = Problem(
            size=system.size,
            known=known,
            time_index=2 * system.size,
            pattern=(self.pattern.indptr, self.pattern.indices),
            residual_kernels=residuals,
            jacobian_kernels=jacobians,
            differential=system.differential,
            start=starts.start,
            nominal=starts.nominal,
            minimum=starts.minimum,
            maximum=starts.maximum,
            fixed=starts.fixed,
            start_given=starts.given,
            name_of_unknown=system.name_of_unknown,
            describe_equation=system.describe_equation,
            explain_row=lambda row, workspace: explain_row(system, row, workspace),
            continuation_index=CONTINUATION,
            initial_size=system.initial_count,
            initial_pattern=(self.initial_pattern.indptr, self.initial_pattern.indices),
            initial_residual_kernels=first_residuals,
            initial_jacobian_kernels=first_jacobians,
            describe_initial_equation=lambda k: system.describe_equation(k, initial=True),
        )
        problem.pattern_parts = (self.pattern.by_value, self.pattern.by_slope)
        problem.initial_pattern_parts = (self.initial_pattern.by_value, self.initial_pattern.by_slope)
        return problem

    def _kernels(self, families: list[Family], pattern: Pattern) -> tuple[list[Kernel], list[Kernel]]:
        compiled = compile_kernels([(f.template, f.signs) for f in families])
        self._code = [*getattr(self, "_code", []), *compiled]  # keeps the machine code in memory
        residuals, jacobians = [], []
        for family, kernel, positions in zip(families, compiled, pattern.positions, strict=True):
            functions = [a for f in family.template.functions for a in (f.address, f.data_address)]
            residuals.append(Kernel(kernel.residual_address, family.slots, family.rows, functions))
            if kernel.jacobian_address:
                jacobians.append(Kernel(kernel.jacobian_address, family.slots, positions, functions))
        return residuals, jacobians

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
                stored=Storage(choice.gather),
                rtol=rtol,
                atol=self._absolute(problem, rtol, atol),
                inputs=given,
                progress=report,
                options=options,
            )
            run = chosen.run(problem, request)
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
        workspace = np.concatenate([first.y, first.yp])
        stored = Stored(np.array([at]), workspace[choice.gather][None, :], choice.column, choice.slope_column, problem.known, given)
        return Result(self.system, stored, Outcome.FINISHED, Statistics(initialisation=str(first.report)), self.title)

    def _prepare(
        self, t0: float, mode: str, changes: Mapping[str, Any], inputs: Mapping[str, Any], clock: _Clock
    ) -> tuple[Problem, Initialised, dict[int, Signal]]:
        """The problem with the numbers of one run, and consistent values to start from."""
        given = {int(c): as_signal(v, path) for path, v in inputs.items() for c in self._parameters.input_cells(path).ravel()}
        with self._lock:
            self._load(values_at(given, t0, self._parameters.known(changes)))
            clock.lap("parameters")
            first = self._initial_values(t0, mode)
            problem = copy.copy(self.problem)
            problem.known = self.problem.known.copy()  # another thread may load other numbers meanwhile
        clock.lap("initialisation")
        return problem, first, given

    def _load(self, known: np.ndarray) -> None:
        problem, starts = self.problem, self._starts.starts(known)
        problem.known[:] = known
        problem.start, problem.start_given, problem.fixed = starts.start, starts.given, starts.fixed
        problem.nominal, problem.minimum, problem.maximum = starts.nominal, starts.minimum, starts.maximum
        wrong = self._starts.outside_bounds(starts)
        if wrong:
            raise ModelError(*wrong)

    def _initial_values(self, t0: float, mode: str) -> Initialised:
        if mode not in ("start", "steady"):
            raise UsageError(f'`initial` is "start" or "steady", got {mode!r}.')
        if mode not in self._initialisers:
            self._initialisers[mode] = Initialiser(self.problem, mode)  # type: ignore[arg-type]
        try:
            return self._initialisers[mode].run(t0)
        except InitialisationError as error:
            rows = [int(r) for r in error.report.non_finite if r < self.system.size]
            workspace = self.problem.equations.workspace(t0, self.problem.start, np.zeros(self.system.size), self.problem.known)
            error.diagnostics = (*(explain_row(self.system, r, workspace) for r in rows[:5]), *error.diagnostics)
            raise

    def _absolute(self, problem: Problem, rtol: float, atol: float | Mapping[str, float] | None) -> np.ndarray:
        chosen = rtol * problem.nominal
        if isinstance(atol, Mapping):
            for path, value in atol.items():
                located = self.system.plant.locate(path)
                numbers = located.kind.quantities[located.name].base + np.asarray(located.flat).ravel()
                chosen[self.system.aliases.index[numbers]] = value
        elif atol is not None:
            chosen = np.full(self.system.size, float(atol))
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
