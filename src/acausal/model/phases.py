"""Whole models exchanged for one another at events: modes with different numbers of equations and of states.

Every mode is a model of its own, translated and compiled once. A switch adds a statement to the mode it leaves, `when(condition,
terminate)`, so that its time is located as that of any event. Then three things are done: the old model's run ends, its last values
are mapped, consistent values of the new model are found with its states held, and it goes on from there. Equations of modes that
are not active cost nothing.

When a condition counts. A relation g > 0 in it is taken as g > δ with δ = 2e-12 of the size of its terms, which is more than
rounding and less than any tolerance. So one that is zero to rounding when a mode is entered (a string that has just become slack
has exactly its length) is not true yet; it becomes true if g rises, and not if g falls. One that is true beyond δ on entry takes
its switch at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from os.path import dirname
from typing import Any

import numpy as np

from ..arguments import checked_methods
from ..errors import Diagnostic, Interrupted, Location, ModelError, NameNotFound, UsageError, near_matches
from ..families.system import System
from ..language.component import Component
from ..language.equation import Equation
from ..language.events import Terminate, When, initial, no_event
from ..language.expression import Constant, Expression, Mark, Operation, Reference, as_expression, transform, walk
from ..language.functions import abs as size_of
from ..language.operators import RELATIONS
from ..program.evaluator import Evaluator
from ..program.rows import Cause
from ..records import dataclass
from ..results.phases import Phase, PhasesResult
from ..results.result import Result
from ..runtime.initialise import InitialisationError
from ..runtime.outcome import Outcome
from ..runtime.progress import reported
from ..runtime.solver import Statistics
from ..runtime.storage import output_times, seconds
from .carry import Condition, Source, Switch, entry, exists, needed, states, wrong_names
from .failure import OnFailure, check_on_failure, heard
from .model import Model, compile

MARGIN = 2e-12  # of the size of the terms in a relation
MOST_AT_ONCE = 20  # exchanges at one instant
MOST_IN_A_ROW = 200  # exchanges within a millionth of the run
_NOT_COUNTED = ("first_", "last_", "current_", "factor_")  # numbers that mean nothing when they are added up
_CLOSE = 1e-12  # of the run: what is nearer than this is one instant


@dataclass(slots=True, eq=False)
class _Mode:
    """A mode with what is made of it: its model, and the switches that leave it in words."""

    name: str
    component: Component
    switches: list[Switch] = field(default_factory=list)
    conditions: dict[int, str] = field(default_factory=dict)  # by number of the switch, as it was written
    texts: dict[str, str] = field(default_factory=dict)  # of relations as the log has them, and of lines: as they were written
    model: Model | None = None

    @property
    def compiled(self) -> Model:
        assert self.model is not None
        return self.model

    @property
    def system(self) -> System:
        return self.compiled.system


@checked_methods
class Phases:
    """A plant whose model is exchanged for another one while it runs.

    plant = ac.Phases(coarse=Simple(), fine=Detailed(), initial="coarse")
    plant.switch("coarse", "fine", when=lambda m: m.wind_rate > 1.0, carry={"rotor.w": "w"})
    plant.switch("fine", "coarse", when=lambda m: m.wind_rate < 0.1, carry={"w": "rotor.w"})
    result = plant.simulate(until=100.0)

    Each mode is a component, compiled once. Every day: `switch`, `simulate`. Also: `compile`, `model` (of one mode).
    Entering a mode starts its run: `ac.initial()` is true there, and initial equations count for whatever is not carried.
    """

    def __init__(
        self, modes: Mapping[str, Component] | None = None, /, *, initial: str | None = None, units: bool = True, **named: Component
    ) -> None:
        """Modes by name. `initial` is the one a run begins in; `units=False` leaves out the check of units, as in `ac.compile`.

        A mapping may be given instead of names: `ac.Phases({"part load": Simple(), …}, initial="part load")`.
        """
        if modes is not None and not isinstance(modes, Mapping):
            raise UsageError(f"The modes are components by name, got {modes!r}.", remedy="ac.Phases(closed=Closed(), open=Open())")
        given = {**(modes or {}), **named}
        self._modes = {name: _Mode(name, component) for name, component in given.items()}
        self._units, self._switches = units, list[Switch]()
        _check_components(given)
        if initial is None:
            raise UsageError(
                "`ac.Phases` is not told in which mode a run begins.", remedy=f'initial="{next(iter(given))}", for instance.'
            )
        self.initial = self._mode(initial, "initial").name

    def __repr__(self) -> str:
        return f"<Phases {', '.join(self._modes)}: {len(self._switches)} switches, begins in {self.initial}>"

    @property
    def modes(self) -> tuple[str, ...]:
        """The names of the modes."""
        return tuple(self._modes)

    def switch(
        self,
        source: str,
        target: str,
        *,
        when: Condition,
        carry: Mapping[str, Source] | None = None,
        carry_all: bool = True,
        keep: bool = False,
    ) -> Phases:
        """From mode `source` to mode `target` when a condition becomes true; at once if it is true when `source` is entered.

        Every day:
            when: a function of the mode's component that gives a condition: `lambda m: (m.F < 0) & (m.r > 0.5)`.
            carry: values of the new mode: a name of the old mode, a number, or a function of the old mode's last values:
                `{"rotor.w": "w", "i": 0.0, "phi": lambda old: np.arctan2(old["x"], -old["y"])}`. States take them as they are;
                for algebraic variables they are guesses. Discrete variables and parameters can be given too.
        The rest:
            carry_all: whether quantities that have the same name in both modes keep their values (parameters never do).
            keep: whether everything else is as it was when `target` was left the last time; it starts as declared otherwise.
        """
        if any(mode.model is not None for mode in self._modes.values()):
            raise UsageError(
                "The modes are compiled already, so no switch can be added.", remedy="State all switches before the first run."
            )
        where = Location.of_caller(dirname(dirname(__file__)))
        given: Any = when
        if not callable(given):
            got = f"the condition `{given}`" if isinstance(given, Expression) else f"{given!r} of type {type(given).__name__}"
            raise UsageError(
                f"`when` is a function of the mode's component, got {got}.",
                location=where,
                remedy="`when=lambda m: m.wind_rate > 1.0`",
            )
        old, new = self._mode(source, "switch"), self._mode(target, "switch")
        if old is new:
            raise UsageError(
                f"A switch leads from one mode to another, not from `{source}` to itself.",
                location=where,
                remedy="A jump within a mode is `ac.reinit` in its `events`.",
            )
        made = Switch(len(self._switches) + 1, source, target, when, dict(carry or {}), carry_all, keep, where)
        self._switches.append(made)
        old.switches.append(made)
        return self

    def _mode(self, name: str, where: str) -> _Mode:
        if name not in self._modes:
            near = near_matches(name, self._modes) if isinstance(name, str) else ""
            raise NameNotFound(
                f"`{where}`: there is no mode `{name}`. {near}".rstrip(), remedy=f"Modes are {', '.join(self._modes)}."
            )
        return self._modes[name]

    # --- models ---------------------------------------------------------------------------------------------------------------
    def compile(self) -> Phases:
        """Translate all modes, if that has not been done; the first run does it too. Names in `carry` are checked here."""
        for mode in self._modes.values():
            if mode.model is None:
                with _with_switches(mode):
                    mode.model = compile(mode.component, units=self._units)
        problems = [p for s in self._switches for p in wrong_names(s, self._modes[s.source].system, self._modes[s.target].system)]
        if problems:
            for mode in self._modes.values():
                mode.model = None
            raise ModelError(*problems)
        return self

    def model(self, name: str) -> Model:
        """The compiled model of one mode, to set its parameters: `plant.model("fine").set(J=2.0)`."""
        self._mode(name, "model")
        return self.compile()._modes[name].compiled

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
        progress: bool | Callable[[float], bool | None] = False,
        atol: float | Mapping[str, float] | None = None,
        on_failure: OnFailure = "warn",
        **options: Any,
    ) -> PhasesResult:
        """Integrate from `start` to `until`, through as many phases as there are.

        Arguments are those of `Model.simulate`. Names in `set`, `inputs`, `store` and `atol` count in every mode that has them;
        `initial` and `start_from` are for the first phase. With `store` what is carried is kept too.
        """
        check_on_failure(on_failure)
        if not self._modes[self.initial].switches:
            raise UsageError(
                f"No switch leaves the mode `{self.initial}`, in which a run begins; it would last for ever.",
                remedy=f'plant.switch("{self.initial}", …, when=lambda m: …)',
            )
        self.compile()
        unit = self._over()
        begin, end = seconds(start, "start", unit), seconds(until, "until", unit)
        grid = output_times(begin, end, points, at, max(mode.system.size for mode in self._modes.values()), every, unit)
        named = {"set": dict(set or {}), "inputs": dict(inputs or {}), "atol": atol if isinstance(atol, Mapping) else {}}
        kept = None if store is None else [store] if isinstance(store, str) else list(store)
        self._check_names({**named, "store": kept or []})
        everywhere = {} if atol is None or isinstance(atol, Mapping) else {"atol": atol}
        common = {"rtol": rtol, "on_failure": "keep", **options, **everywhere}
        with reported(progress, begin, end, " / ".join(self._modes)) as report:
            run = _Run(self._modes, grid, end, named, kept, {**common, "progress": report or False})
            result = run.go(self._modes[self.initial], begin, {"initial": initial, "start_from": start_from})
        return heard(result, on_failure, run.interrupted)

    def _over(self) -> str:
        """The unit of what all modes are integrated over."""
        units = {name: mode.system.plant.independent[1] for name, mode in self._modes.items()}
        unit = units[self.initial]
        other = next((name for name, one in units.items() if one != unit), None)
        if other is not None:
            raise UsageError(
                f"The mode `{self.initial}` is integrated over a quantity in {unit}, `{other}` over one in {units[other]}.",
                remedy="Declare the same `ac.Independent` in all modes.",
            )
        return unit

    def _check_names(self, given: Mapping[str, Iterable[str]]) -> None:
        """Names that no mode has."""
        for argument, names in given.items():
            for name in names:
                if not any(exists(mode.system, name) for mode in self._modes.values()):
                    known = [n for mode in self._modes.values() for n in Evaluator.of_names(mode.system).names()]
                    raise NameNotFound(f"`{argument}`: no mode has `{name}`. {near_matches(name, known)}".rstrip())


def _check_components(given: Mapping[str, Any]) -> None:
    if not given:
        raise UsageError("`ac.Phases` has no modes.", remedy='ac.Phases(coarse=Simple(), fine=Detailed(), initial="coarse")')
    seen: dict[int, str] = {}
    for name, component in given.items():
        if not isinstance(component, Component):
            made = f"{component.__name__}()" if inspect.isclass(component) else "a component"
            raise UsageError(
                f"Mode `{name}` is a component, got {component!r} of type {type(component).__name__}.", remedy=f"{name}={made}"
            )
        if id(component) in seen:
            raise UsageError(
                f"Modes `{seen[id(component)]}` and `{name}` are one and the same {type(component).__name__}.",
                remedy="Make a second one: each mode is a model of its own.",
            )
        seen[id(component)] = name


# --- conditions ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _with_switches(mode: _Mode) -> Iterator[None]:
    """While the mode is translated its component's `events` also has the switches."""
    component, events = mode.component, mode.component.events

    def with_switches() -> Iterator[Any]:
        yield from events()
        for switch in mode.switches:
            condition = _condition(switch, component)
            mode.conditions[switch.number] = mode.texts[str(switch.location)] = _text(condition, component)
            beyond = transform(condition, lambda node: _with_margin(node, mode))
            stop = (Terminate(switch.message, switch.location),)
            yield When(((beyond, stop),), switch.location)
            yield When(((initial() & beyond, stop),), switch.location)

    component.__dict__["events"] = with_switches
    try:
        yield
    finally:
        component.__dict__.pop("events", None)


def _condition(switch: Switch, component: Component) -> Expression:
    found = switch.when(component)
    wanted = "Give back a comparison or a Boolean of the component: `when=lambda m: m.wind_rate > 1.0`."
    if isinstance(found, Equation):
        raise ModelError(switch.about(f"`when` gives the equation `{found}`, not a condition.", remedy=wanted))
    if isinstance(found, (bool, np.bool_)) or not (isinstance(found, Expression) or hasattr(found, "__acausal_expression__")):
        what = f"`when` gives {found!r} of type {type(found).__name__}, not a condition over quantities of the mode."
        raise ModelError(switch.about(what, remedy=wanted))
    node = as_expression(found)
    if not _is_condition(node):
        raise ModelError(switch.about(f"`when` gives `{node}`, a number and not a condition.", remedy=wanted))
    return node


def _is_condition(node: Expression) -> bool:
    if isinstance(node, Operation):
        return node.operator.logical or (node.operator.name in ("pre", "no_event") and _is_condition(node.args[0]))
    if isinstance(node, Reference):
        return getattr(node.declaration, "type", "real") == "boolean"
    return isinstance(node, Mark)


def _text(expression: Expression, component: Component) -> str:
    """An expression with all names as they are seen from the mode's component: `white.x < 0`."""

    def seen(node: Expression) -> Expression | None:
        if not isinstance(node, Reference) or node.root is component or node.root._steps_from(component) is None:
            return None
        return Reference(component, node.owner, node.name, node.shape, node.picked, node.order)

    return str(transform(expression, seen))


def _with_margin(node: Expression, mode: _Mode) -> Expression | None:
    """A relation of unknowns, true only beyond rounding; relations of time, discrete values, parameters and the mode's own inputs,
    which are given from outside, stay exact."""
    if not isinstance(node, Operation) or node.operator.name not in RELATIONS:
        return None
    if all(_is_exact(n, mode) for n in walk(node) if isinstance(n, Reference)):
        return node
    a, b = node.args
    margin = no_event(MARGIN * (_terms(a) + _terms(b)))
    beyond = Operation(node.operator, (a, b + margin if node.operator.name in ("gt", "ge") else b - margin))
    mode.texts[str(beyond)] = _text(node, mode.component)
    return beyond


def _is_exact(node: Reference, mode: _Mode) -> bool:
    return node.declaration.is_known or (node.declaration.role == "input" and node.owner is mode.component)


def _terms(expression: Expression) -> Expression:
    """The sum of the sizes of what an expression is made of, so that rounding in it is small beside it."""
    done: dict[Expression, Expression] = {}
    for node in walk(expression):
        name = node.operator.name if isinstance(node, Operation) else ""
        if isinstance(node, Reference):
            done[node] = size_of(node) + (0.0 if node.declaration.is_known else _nominal(node))
        elif name in ("add", "sub"):
            done[node] = done[node.args[0]] + done[node.args[1]]
        elif name == "mul":
            done[node] = done[node.args[0]] * done[node.args[1]]
        elif name == "neg":
            done[node] = done[node.args[0]]
        else:
            done[node] = size_of(node) if not isinstance(node, Constant) else Constant(float(np.abs(node.value)))
    return done[expression]


def _nominal(node: Reference) -> float:
    changed = node.owner._ac_modifications.get(node.name) or {}
    found = changed.get("nominal", node.declaration.nominal)
    return float(found) if isinstance(found, (int, float)) else 1.0


# --- a run --------------------------------------------------------------------------------------------------------------------


class _Run:
    """One run: phases until the end, or to where it stops."""

    def __init__(
        self, modes: Mapping[str, _Mode], grid: np.ndarray, end: float, named: Mapping[str, Any], store: list[str] | None,
        common: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.modes, self.grid, self.end, self.named, self.store, self.common = modes, grid, end, named, store, common
        self.span = end
        self.parts, self.phases, self.taken = list[Result](), list[Phase](), list[tuple[float, Switch]]()
        self.left: dict[str, Result] = {}  # by mode, its latest part
        self.diagnostics: list[Diagnostic] = []
        self.interrupted = False

    def go(self, mode: _Mode, begin: float, first: Mapping[str, Any]) -> PhasesResult:
        self.span = self.end - begin
        arguments, cause = {**first, "set": {}}, None
        while True:
            part = self._part(mode, begin, arguments)
            if isinstance(part, Outcome):
                return self.result(part)
            switch = self._ended_by(mode, part)
            self._add(mode, part, begin, cause)
            begin = part.time_reached
            if switch is None:
                return self.result(part.outcome)
            if self.end - begin <= _CLOSE * max(self.span, abs(self.end)):
                return self.result(Outcome.FINISHED)
            cause = Cause(f"{mode.name} ({type(mode.component).__name__})", mode.conditions[switch.number], switch.location)
            self.taken.append((begin, switch))
            stuck = self._stuck()
            if stuck is not None:
                return self.result(stuck)
            mode = self.modes[switch.target]
            arguments = self._arguments(switch, part, mode)

    def _part(self, mode: _Mode, begin: float, arguments: Mapping[str, Any]) -> Result | Outcome:
        system = mode.system
        times = np.append(begin, self.grid[self.grid > begin])
        here = {name: {k: v for k, v in self.named[name].items() if exists(system, k)} for name in ("set", "inputs", "atol")}
        given = {**self.common, **arguments, "inputs": here["inputs"], "set": {**here["set"], **arguments["set"]}}
        if here["atol"]:
            given["atol"] = here["atol"]
        if self.store is not None:
            given["store"] = self._stored(mode)
        try:
            return mode.compiled.simulate(self.end, start=begin, at=times, **given)
        except Interrupted as stop:
            self.interrupted = True
            stopped: Result = stop.result
            return stopped
        except InitialisationError as error:
            if not self.parts:
                raise
            return self._not_entered(mode, begin, error)
        except Exception as error:
            raise self._with_result(error) from None

    def _not_entered(self, mode: _Mode, begin: float, error: InitialisationError) -> Outcome:
        switch = self.taken[-1][1]
        what = (
            f"Mode `{mode.name}` could not be entered from `{switch.source}` at time {begin:.6g}: no consistent values were found."
        )
        remedy = "Look at what `carry` gives its states, and at the start values of the rest."
        self.diagnostics += [switch.about(what, component=mode.name, remedy=remedy), *error.diagnostics]
        return Outcome.EVENT_UNSOLVABLE

    def _arguments(self, switch: Switch, part: Result, mode: _Mode) -> dict[str, Any]:
        try:
            begins = entry(switch, part, mode.system, self.left.get(mode.name))
        except Exception as error:
            raise self._with_result(error) from None
        return {"start_from": begins.start_from, "set": begins.set}

    def _with_result(self, error: Exception) -> Exception:
        """An error in the middle of a run does not take with it what was computed before."""
        if self.parts:
            error.result = self.result(Outcome.FAILED)  # type: ignore[attr-defined]
            error.add_note(f"Everything until {self._moment(self.parts[-1].time_reached)} is kept in `error.result`.")
        return error

    def _moment(self, value: float) -> str:
        return next(iter(self.modes.values())).system.plant.moment(value)

    def _stored(self, mode: _Mode) -> list[str]:
        """What the user asked for, and what an exchange needs."""
        wanted = [name for name in self.store or () if exists(mode.system, name)]
        carried = [name for s in mode.switches for name in needed(s, mode.system, self.modes[s.target].system)]
        return list(dict.fromkeys([*wanted, *states(mode.system), *carried]))

    def _ended_by(self, mode: _Mode, part: Result) -> Switch | None:
        """The switch that ended a part; None if it was something else."""
        if part.outcome is not Outcome.TERMINATED:
            return None
        said = (d.what for d in reversed(part.diagnostics) if not d.warning)  # bounds and the end of the run may be told after it
        return next((s for what in said for s in mode.switches if what.endswith(s.message)), None)

    def _add(self, mode: _Mode, part: Result, begin: float, cause: Cause | None) -> None:
        self.parts.append(part)
        self.phases.append(Phase(mode.name, begin, part.time_reached, cause))
        self.left[mode.name] = part
        told = {(d.component, d.equation, d.location) for d in self.diagnostics if d.warning}
        new = _before_its_end(part.diagnostics, self._ended_by(mode, part))
        self.diagnostics += [d for d in new if not d.warning or (d.component, d.equation, d.location) not in told]

    def _stuck(self) -> Outcome | None:
        """Whether modes are exchanged for one another without end."""
        now, times = self.taken[-1][0], [t for t, _ in self.taken]
        for most, close, outcome in (
            (MOST_AT_ONCE, _CLOSE * max(self.span, abs(now)), Outcome.EVENT_CYCLES),
            (MOST_IN_A_ROW, 1e-6 * self.span, Outcome.CHATTERING),
        ):
            took = now - times[-most - 1] if len(times) > most else np.inf
            if took <= close:
                self.diagnostics.append(self._explained(most, took, now))
                return outcome
        return None

    def _explained(self, count: int, took: float, now: float) -> Diagnostic:
        involved = dict.fromkeys(switch for _, switch in self.taken[-count:])
        modes = ", ".join(dict.fromkeys(f"`{s.source}`" for s in involved))
        when = "at one instant" if took <= _CLOSE * max(self.span, abs(now)) else f"within {self._moment(took)}"
        lines = [
            f"switch:    {s.source} → {s.target} when {self.modes[s.source].conditions[s.number]}  ({s.location})" for s in involved
        ]
        return self.taken[-1][1].about(
            f"The modes {modes} are exchanged for one another again and again: more than {count} times {when}, "
            f"until {self._moment(now)}. The condition under which a mode is left is true as soon as it is entered.",
            details=tuple(lines),
            remedy="Let the conditions exclude each other, with some distance between them (hysteresis), and look at the values "
            "that `carry` hands over.",
        )

    def result(self, outcome: Outcome) -> PhasesResult:
        used = [self.modes[phase.mode] for phase in self.phases]
        statistics = _summed(used, self.parts)
        texts = {name: mode.texts for name, mode in self.modes.items()}
        return PhasesResult(tuple(self.modes), self.parts, self.phases, outcome, statistics, tuple(self.diagnostics), texts)


def _before_its_end(told: Sequence[Diagnostic], switch: Switch | None) -> list[Diagnostic]:
    """What a part told, without the switch that ended it, and without warnings after that: they are of the end of a run, which it
    was not."""
    if switch is None:
        return list(told)
    end = max(k for k, d in enumerate(told) if not d.warning and d.what.endswith(switch.message))
    return [d for k, d in enumerate(told) if k < end or (k > end and not d.warning)]


def _summed(used: list[_Mode], parts: list[Result]) -> Statistics:
    """What all phases cost together; the translation of each mode is counted once."""
    total = Statistics(phases=len(parts), exchanges=max(0, len(parts) - 1), seconds={})
    translated: set[str] = set()
    for mode, part in zip(used, parts, strict=True):
        for name, value in part.statistics.items():
            if isinstance(value, int) and not isinstance(value, bool) and not name.startswith(_NOT_COUNTED):
                total[name] = total.get(name, 0) + value
        for name, value in part.statistics["seconds"].items():
            if name not in mode.compiled.seconds or mode.name not in translated:
                total["seconds"][name] = total["seconds"].get(name, 0.0) + value
        translated.add(mode.name)
    return total
