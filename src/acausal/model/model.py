"""The model: what `ac.compile` gives. It holds machine code and tables; numbers can change without compiling anything again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import vault
from ..arguments import checked, checked_methods
from ..economy import uncollected
from ..errors import UsageError
from ..families.starts import StartReader
from ..families.system import System
from ..program.file import load, save
from ..program.program import Program, translate
from ..results.point import shown
from ..results.result import Result
from ..runtime.parameters import Parameters, by_name, later
from ..runtime.preparation import Beginning, Preparation, Prepared
from ..runtime.problem import Problem
from ..runtime.solver import Solver, find_solver
from ..runtime.storage import seconds
from ..short import Short
from .asked import check_arguments, run_asked
from .failure import OnFailure, check_on_failure, heard, told_of_given, told_of_open
from .session import Clock, OnSolution, Order, Session, simulated
from .variants import Variants

if TYPE_CHECKING:
    from ..analysis.continuation import Branch
    from ..analysis.fit import Fit
    from ..analysis.gradient import Gradients
    from ..analysis.harmonic import FrequencyResponse
    from ..analysis.linearise import Linearisation
    from ..analysis.optimise import Optimum
    from ..analysis.orbits import PeriodicBranch
    from ..analysis.partials import Partials
    from ..analysis.periodic import PeriodicState
    from ..diagnosis.explain import Explanation
    from ..diagnosis.model import ModelDiagnosis
    from ..families.statistics import Statistics as Counts
    from ..language.component import Component
    from ..runtime.recording import Recording
    from ..runtime.states import StateSelection
    from ..studies.table import Study
    from .steady import SteadyStates


_NOT_ASKED = ("self", "suited", "options")  # of the names in `simulate`, those that are none of its arguments
_CONTROLLED = ("sensitivities_rtol", "controlled", "runs_of")


@checked
def compile(component: Component, *, units: bool = True, failures: Iterable[str] = ()) -> Model:
    """Translate a component (with everything in it) to a model that can be simulated.

    model = ac.compile(Ladder(9000))
    result = model.simulate(until=10.0)

    `units=False` leaves out the check of units in equations; those of connected variables always have to agree.

    `failures` names variables that may get stuck in a run: `simulate(failures={"valve.opening": ("1 h", 0.2)})`.

    A component through which nothing passes because one of its connectors is open is told of in an `ac.ModelWarning`.
    """
    from ..language.failures import failing

    with failing(component, failures), uncollected():
        model = Model(translate(component, units=units))
    told_of_open(model.system, model.title)
    return model


def _with_numbers(
    program: Program, cells: np.ndarray, overridden: np.ndarray, starts: Mapping[str, Any], changes: Mapping[str, Any]
) -> Model:
    """The model of a program with the parameters that somebody set."""
    model = Model(program)
    model._parameters.values.cells[:] = cells
    model._parameters.overridden[:] = overridden
    model._parameters.starts = dict(starts)
    model._changes = dict(changes)
    return model


def load_model(path: str | os.PathLike[str]) -> Model:
    """A model that `Model.save` wrote."""
    return load(path, lambda found: _with_numbers(**found))


@checked_methods
class Model:
    """A compiled model: a program (`model.program`, which nobody changes) with numbers.

    Every day: `simulate`, `set`, `get`. Also: `steady_state`, `info`, `system` (the translated equations).
    """

    def __init__(self, program: Program | Component, *, units: bool = True) -> None:
        program = program if isinstance(program, Program) else translate(program, units=units)
        clock = Clock()
        self.program, self.title = program, program.title
        self.system: System = program.system
        self._changes = dict[str, Any]()
        self._parameters = Parameters(program.system, program.numbers)
        self._starts = StartReader(program.system, program.numbers)
        self._preparation = Preparation(program, self._parameters, self._starts)
        self._variants = Variants(self)
        vault.put_back()
        clock.lap("kernels")
        self.seconds = {**program.seconds, **clock.seconds}

    def __reduce__(self) -> Any:
        """A program and its numbers; machine code is found or made again where it is needed."""
        parameters = self._parameters
        return _with_numbers, (self.program, parameters.values.cells, parameters.overridden, parameters.starts, self._changes)

    @property
    def problem(self) -> Problem:
        """What the solver sees, as the last run began with it."""
        return self._preparation.problem

    @property
    def selection(self) -> StateSelection | None:
        """How states are selected, where index reduction leaves a choice."""
        return self._preparation.selection

    def __repr__(self) -> str:
        problem = self.problem
        return (
            f"<Model of {self.title}: unknowns {problem.size} (states {int(problem.differential.sum())}), "
            f"computed {len(problem.lowered.explicit.unknown)}, families of equations {len(problem.residual_kernels)}>"
        )

    def _repr_html_(self) -> str:
        from ..program.shown import model_html

        return model_html(self)

    def info(self) -> Counts:
        """What translation made of the model, in numbers: components, variables and where they went, blocks, kernels, seconds."""
        from ..families.statistics import statistics

        return statistics(self)

    def open_connectors(self, most: int = 8) -> list[str]:
        """Connectors of components at which nothing is connected, so that no flow passes there: perhaps a forgotten connection."""
        plant, found = self.system.plant, list[str]()
        for number in self.system.open_flows:
            kind, quantity, _ = plant.quantity_at(int(number))
            if kind is plant.root.kind or quantity.connector is None:
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

        return diagnose(self._variants.suiting(None))

    # --- around a point -------------------------------------------------------------------------------------------------------
    def partials(
        self,
        at: Result | float | str | None = None,
        *,
        time: float | str | None = None,
        inputs: Iterable[str] | str | None = None,
        parameters: Iterable[str] | str | None = None,
        outputs: Iterable[str] | str = (),
    ) -> Partials:
        """Exact partial derivatives of the equations F(t, y, y', u, p) = 0 and of outputs, sparse, with names.

            found = model.partials(at=model.steady_state(), outputs=["room.T"])
            found.F_y, found.F_yp, found.F_u, found.F_p     # ∂F/∂y, ∂F/∂y', by inputs, by parameters
            found.G_p["room.T", "wall.G"]                   # of the output by a parameter, the unknowns held

        Every day:
            at: a result (its last point, or the one at `time`), a time to simulate to, or None for the start.
            outputs: any variables or named expressions, also those that are computed from others.
        The rest:
            inputs, parameters: which ones; all of them otherwise. A parameter may stand among the inputs.
        """
        from ..analysis.partials import partials

        return partials(self, at, time=time, inputs=inputs, parameters=parameters, outputs=outputs)

    def linearise(
        self,
        at: Result | float | str | None = None,
        *,
        time: float | str | None = None,
        inputs: Iterable[str] | str | None = None,
        outputs: Iterable[str] | str = (),
    ) -> Linearisation:
        """The model around a point as a linear system with names: E dx/dt = A x + B u, z = C x + D u.

            linear = model.linearise(at=model.steady_state(), inputs=["heater.Q"], outputs=["room.T"])
            linear.poles(), linear.states, linear.to_scipy()

        `at` and `time` as for `partials`; `inputs` are external inputs (all of them otherwise, except those whose derivative
        the model needs) or parameters. Between events: what switches stays as it is at the point.
        """
        from ..analysis.linearise import linearise

        return linearise(self, at, time=time, inputs=inputs, outputs=outputs)

    def gradient(
        self, outputs: Any, parameters: Iterable[str] | str | None = None, *, until: float | str, **options: Any
    ) -> Gradients:
        """Derivatives of numbers that come of a run by many parameters (all of them unless some are named), computed backward.

        found = model.gradient(["room.T", ac.mean("heater.Q_flow")], until="1 day")
        found["room.T", "wall.G"], found.values, found.data

        `outputs` are paths (final values) and `ac.first`, `ac.mean`, `ac.integral`, `ac.max`, `ac.min`; `options` are those of
        `simulate`. The cost does not depend on the number of parameters.
        """
        from ..analysis.gradient import gradient

        return gradient(self, outputs, parameters, until=until, **options)

    def fit(self, data: Any, parameters: Iterable[str] | Mapping[str, Any], **options: Any) -> Fit:
        """Parameters with which the model comes as close as it can to measured data (least squares, exact gradients).

            fit = model.fit("measured.csv", {"wall.G": (10.0, 100.0), "room.C": None})
            print(fit), fit.parameters, fit.confidence(), fit.identifiability(), fit.plot("fit.png")

        Every day:
            data: columns by path with a column `time` (a mapping, a pandas frame, a CSV file; `room.T [degC]` in its unit), or a
                list of several, each perhaps an `ac.experiment(data, inputs=…, set=…)`. Columns that are inputs drive the model;
                gaps (not a number) do not count.
            parameters: paths of parameters, or of states for their start values; a mapping gives bounds, else declared ones hold.
        The rest:
            start: values to begin with (those of the model otherwise); starts: how many beginnings, spread over the bounds.
            weights: of columns; by default each counts by its spread. loss: "linear", "soft_l1", … as scipy's `least_squares`.
            apply: set the model's parameters to what was found. Other options are those of `simulate`.
        """
        from ..analysis.fit import fit

        return fit(self, data, parameters, **options)

    def optimise(self, objective: Any, over: Any, **options: Any) -> Optimum:
        """Parameters within bounds with which a number is smallest, of a run (`until=…`) or of a state of rest (`steady=True`).

        best = model.optimise("plant.P", {"T_set": (270.0, 280.0)}, subject_to={"room.T": (None, "5 degC")}, steady=True)
        best.parameters, best.value, best.result

        `objective` and the keys of `subject_to` are paths (final values) or reductions (`ac.mean("P")`, `ac.max("room.T")`); limits
        are pairs, None for no limit. `maximise=True` for the largest value; `start={…}` where to begin; `method`: "SLSQP"
        or "ipopt" (with cyipopt); other options are those of `simulate` or `steady_state`.
        """
        from ..analysis.optimise import optimise

        return optimise(self, objective, over, **options)

    def continuation(self, parameter: str, between: Iterable[float], **options: Any) -> Branch:
        """Steady states along a parameter by arc length, through folds, with limit, Hopf and branch points found and named.

        branch = model.continuation("reactor.T_feed", between=(280.0, 320.0))
        branch.values, branch["reactor.T"], branch.stable, branch.special, branch.plot("reactor.T", "branch.png")

        It begins with a state of rest at the first value (or else at the second; `start_from` says where to search). `set` and
        `inputs` are those of `steady_state`; `most` points; `largest_step` in units of the range and of nominal values.
        `branch.switched(point)` is the other branch that crosses at a branch point.
        """
        from ..analysis.continuation import continuation

        return continuation(self, parameter, between, **options)

    def find_steady_states(self, spread: Mapping[str, tuple[float, float]], count: int = 50, **options: Any) -> list[Result]:
        """Different steady states, searched from `count` points spread over ranges of variables; `options` are `steady_state`'s.

        states = model.find_steady_states({"reactor.T": (280.0, 450.0)})
        """
        from ..analysis.continuation import many_steady_states

        return many_steady_states(self, spread, count, **options)

    def periodic_state(self, period: float | str, **options: Any) -> PeriodicState:
        """The periodic state that the model settles to, by shooting: start values with which a period ends where it began.

        orbit = model.periodic_state("20 ms")
        orbit["C.v"], orbit.start, orbit.multipliers, orbit.stable, orbit.result

        `forced=False`: an oscillation of its own, whose period is found, too. `settle` periods are simulated first.
        """
        from ..analysis.periodic import periodic_state

        return periodic_state(self, period, **options)

    def periodic_states(self, frequency: str, between: Iterable[float], **options: Any) -> PeriodicBranch:
        """Periodic states along the frequency of the forcing, by shooting: `model.periodic_states("f", between=(0.2, 0.7))`."""
        from ..analysis.orbits import periodic_states

        return periodic_states(self, frequency, between, **options)

    def harmonic_balance(self, frequency: str, between: Iterable[float], **options: Any) -> FrequencyResponse:
        """Periodic answers along the frequency of the model's forcing, a parameter in Hz, also where the curve turns back.

        response = model.harmonic_balance("f", between=(0.2, 0.7), harmonics=9)
        response.frequencies, response.amplitude("phi"), response.folds, response.plot("phi", "response.png")
        """
        from ..analysis.harmonic import harmonic_balance

        return harmonic_balance(self, frequency, between, **options)

    # --- many runs ------------------------------------------------------------------------------------------------------------
    if TYPE_CHECKING:

        def study(self, cases: Any, outputs: Any, **options: Any) -> Study:
            """Run the model for many cases and keep what is asked of each: `ac.study`, which says what `options` there are.

            study = model.study(ac.grid({"wall.G": [1.0, 2.0, 4.0]}), ["room.T", ac.max("heater.Q_flow")], until="1 day")
            """
    else:
        study = Short()

    # --- parameters -----------------------------------------------------------------------------------------------------------
    def set(self, changes: Mapping[str, Any] | None = None, /, **named: Any) -> Model:
        """Give parameters other values, and variables other start values, for all runs to come: `model.set({"R[3].R": 2.0})`.

        Nothing is compiled.
        """
        for path, value in {**by_name(changes or {}, "set"), **named}.items():
            self._parameters.set(path, value)
            self._changes = later(self._changes, {path: value})
        return self

    def get(self, path: str) -> Any:
        """The value of a parameter."""
        return self._parameters.get(path)

    def parameters(self) -> dict[str, float]:
        """Every parameter with its value; of a large plant this is a long list."""
        known = self._parameters.known({})
        return {name: float(known[cell]) for name, cell in self._parameters.names()}

    # --- description and files -------------------------------------------------------------------------------------------------
    def catalogue(self) -> dict[str, Any]:
        """A description of the model as data that JSON can hold: the tree of components, connectors, connections, quantities with
        units, bounds and documentation, values of parameters, structural choices. `docs/catalogue.md` describes it.

        names = [q["name"] for q in model.catalogue()["kinds"][0]["quantities"]]
        """
        from ..program.catalogue import catalogue
        from ..program.shown import Catalogue

        return Catalogue(catalogue(self.program, self._parameters.known({})))

    def diagram(self, *, height: int = 460) -> Any:
        """The diagram of the model as a cell of a notebook: parts, ports and wires; a double click looks inside a part.

        It needs `pip install "acausal[notebook]"`, and no network. `acausal studio` draws the same in the browser.
        """
        from ..studio.notebook import model_diagram

        return model_diagram(self, height=height)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, with the parameters that were set, to a file that `ac.load` reads without the source: "plant.acm"."""
        parameters = self._parameters
        cells, overridden = parameters.values.cells, parameters.overridden
        numbers = {"cells": cells, "overridden": overridden, "starts": parameters.starts, "changes": self._changes}
        save(path, self.program, numbers)

    # --- states ---------------------------------------------------------------------------------------------------------------
    def states(self) -> dict[str, tuple[str, ...]]:
        """Every state variable with the states it has: `{"thermostat.cooling": ("on", "off"), …}`."""
        from ..runtime.system_states import state_variables

        return {name: d.states for name, _, d in state_variables(self.system.plant, self.system.states)}

    def system_states(self, most: int = 10_000) -> list[dict[str, str]]:
        """All states that the plant as a whole can be in, each as `{"pump.running": "on", "valve.open": "off", …}`.

        They are the combinations of all states that components own and can leave; input states follow. More than `most` are
        refused.
        """
        from ..runtime.system_states import system_states

        return system_states(self.system.plant, self.system.states, self._parameters.known({}), most)

    # --- running --------------------------------------------------------------------------------------------------------------
    def simulate(
        self,
        until: float | str,
        *,
        start: float | str = 0.0,
        points: int | None = None,
        at: Iterable[float | str] | str | None = None,
        every: float | str | None = None,
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
        solver: str | Solver | None = None,
        atol: float | Mapping[str, float] | None = None,
        derivatives: bool | None = None,
        on_failure: OnFailure = "warn",
        sensitivities: Iterable[str] | str | Recording | None = None,
        sensitivities_rtol: float | None = None,
        failures: Mapping[str, Any] | None = None,
        on_solution: OnSolution | None = None,
        **options: Any,
    ) -> Result:
        """Integrate from `start` to `until`.

        Every day:
            until: the end, in seconds or as a text with a unit ("3 day"); `start` and `at` likewise.
            points: how many equidistant output points (501 unless the plant is very large), `every`: the
                time from one to the next ("1 h"), or `at`: the output times themselves. They are interpolated and have no
                influence on the steps.
            rtol: the relative tolerance. It is all there is to know about accuracy.
            set: values of parameters for this run only, and start values of variables: `{"wall.G": 3.0, "room.T": "20 degC"}`.
            inputs: values of external inputs: a number, a function of time, `(times, values)`, a pandas series, a CSV file.
            store: paths of what to keep (all unknowns otherwise).
        The rest:
            initial: "start" (fixed and given start values) or "steady" (start at rest).
            start_from: an earlier result (its last point, and what `ac.delay` remembers; names unknown here do not matter), or
                values by name, to start from.
            given, solve_for: values of variables at the start, and the parameters that are found from them.
            progress: True for a progress bar, or a function of time called now and then; returning False stops the run.
            sliding: "filippov" lets the solution slide along a switching surface instead of chattering across it.
            solver: a solver by name ("ida", "sundae"), or a solver itself; `options` are the solver's own.
            atol: absolute tolerance, one for all; otherwise it is `rtol` times each variable's nominal value.
            derivatives: whether time derivatives are stored too (by default when there are few).
            on_failure: what is done about a run that stops before its end: "warn" (an `ac.RunWarning`), "raise" (an `ac.RunFailed`
                that has the result) or "keep" (nothing: `result.outcome` is looked at). With "warn", what a run only warned of
                (`ac.assert_(…, level="warning")`) is told as well, when it has ended. Ctrl-C raises `ac.Interrupted`, a
                KeyboardInterrupt that has the result.
            sensitivities: parameters (or states, for their start values) by which the run is differentiated:
                `result.sensitivity("room.T", "wall.G")`. They are as accurate as the steps of the run make them, or to
                `sensitivities_rtol`, if that is given: then the run is made again until they are.
            failures: what fails, by name, with its time and what it becomes: `{"pump.speed": ("1 h", 0.0)}`; a variable gets stuck
                where it is (None) or at a value, if the model was compiled to let it (`ac.compile(plant, failures=[…])`).
            on_solution: a function that sees the run at every output point, as it gets there: `s.time`, `s["room.T"]`; returning
                False stops the run.
        """
        check_on_failure(on_failure)
        suited = self if sliding is not None else self._variants.suiting(set, sensitivities is not None or bool(solve_for))
        if suited is not self:
            return suited.simulate(**{k: v for k, v in locals().items() if k not in _NOT_ASKED}, **options)
        if sensitivities_rtol is not None:
            from ..analysis.controlled import controlled, runs_of

            if sensitivities is None:
                raise UsageError("`sensitivities_rtol` is that of sensitivities: of which?", remedy='sensitivities=["wall.G"]')
            asked = {k: v for k, v in locals().items() if k not in (*_NOT_ASKED, *_CONTROLLED)}
            result = controlled(runs_of(self, {**asked, **options}), rtol, sensitivities_rtol)
            told_of_given(result.told, on_failure)
            return heard(result, on_failure)
        if sliding is not None:
            asked = {k: v for k, v in locals().items() if k not in (*_NOT_ASKED, "sliding", "on_failure")}
            return heard(self._variants.sliding(sliding, {**asked, **options}), on_failure)
        order, switches = run_asked(self, locals())
        recording = order.recording
        if progress:
            from ..runtime.progress import reported

            with reported(progress, order.beginning.t, order.end, self.title) as report:
                result, interrupted = simulated(self._preparation, replace(order, progress=report), self.seconds, switches)
        else:
            result, interrupted = simulated(self._preparation, order, self.seconds, switches)
        if recording is not None and recording is not sensitivities:
            from ..analysis.sensitivity import followed

            names: Any = sensitivities
            result.sensitivities = followed(self, result, recording, names)
        told_of_given(result.told, on_failure)
        return heard(result, on_failure, interrupted)

    def start(
        self,
        *,
        start: float | str = 0.0,
        until: float | str | None = None,
        rtol: float = 1e-6,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        store: Iterable[str] | None = None,
        initial: str = "start",
        start_from: Any = None,
        progress: Callable[[float], bool | None] | None = None,
        solver: str | Solver | None = None,
        atol: float | Mapping[str, float] | None = None,
        derivatives: bool | None = None,
        on_failure: OnFailure = "warn",
        **options: Any,
    ) -> Session:
        """A session: a run that goes on as far as it is asked to, with other inputs and parameters on the way.

        session = model.start(inputs={"valve.opening": 0.2})
        session.advance(60.0)
        session.advance("2 min", inputs={"valve.opening": 0.5})
        session["room.T"], session.result()

        Arguments are those of `simulate` (`progress` is a function: there is no bar); `until` is a time that the session will not
        pass, if one is known. Rows are stored at the start, at every time it is advanced to, and at events.
        """
        check_on_failure(on_failure)
        unit = self.system.plant.independent[1]
        begin, end = seconds(start, "start", unit), np.inf if until is None else seconds(until, "until", unit)
        if end <= begin:
            raise UsageError(f"A session runs forward: `until` ({until!r}) must be later than `start` ({start!r}).")
        chosen = find_solver(solver)
        if not hasattr(chosen, "open") and not hasattr(chosen, "stepper"):
            raise UsageError(
                f"The solver `{chosen.name}` makes whole runs only and cannot be used in a session.",
                remedy="Leave `solver` out, or choose one that gives an integrator (`open`); see docs/solvers.md.",
            )
        check_arguments(chosen, options, rtol, atol, Model.start)
        preparation = self._variants.suiting(set)._preparation
        choice = preparation.choice(store, derivatives, 1)
        asked = Beginning(begin, initial, set or {}, inputs or {}, start_from, end=float(end))
        order = Order(asked, float(end), np.array([float(begin)]), chosen, choice, rtol, atol, options, progress)
        return Session(preparation, order, self.seconds, on_failure=on_failure)

    def prepare(self, asked: Beginning) -> Prepared:
        """Consistent values for a start; one that fails shows how far it came (`error.result`)."""
        with shown(self.program):
            return self._preparation.prepare(asked)

    def steady_state(
        self,
        *,
        at: float | str = 0.0,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        start_from: Any = None,
        given: Mapping[str, Any] | None = None,
        solve_for: Iterable[str] = (),
        sensitivities: Iterable[str] | str | None = None,
        warn: bool = True,
    ) -> Result:
        """The state in which nothing changes, as a result with a single point.

        Every day:
            set, inputs: parameter values and inputs of this state, as for `simulate`.
        The rest:
            at: the time of this state. An input that is a table or a function stays what it is then: its rate is zero at rest.
            start_from: an earlier result, or values by name, to search from.
            given, solve_for: calibration. `given={"room.T": 294.0}, solve_for=["wall.G"]` finds the wall's G with which the room is
                at 294 K; `result["wall.G"]` is the value found.
            sensitivities: parameters by which the state is differentiated: `result.sensitivity("room.T", "wall.G")`.
            warn: whether conditions that the model asserts, and that do not hold, are told (an `ac.RunWarning`); they are among
                `result.diagnostics`.
        """
        from .steady import state_of_rest

        moment = seconds(at, "at", self.system.plant.independent[1])
        asked = Beginning(moment, "steady", set or {}, inputs or {}, start_from, given or {}, solve_for)
        return state_of_rest(self, asked, sensitivities, warn)

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
        Where the branch that is followed ends (a fold) and a state is found on another one, `jumps` and a warning say so.
        """
        from .steady import states_along

        moment = seconds(at, "at", self.system.plant.independent[1])
        return states_along(
            self, over, Beginning(moment, "steady", set or {}, inputs or {}, start_from, given or {}, list(solve_for))
        )
