"""What `simulate` is asked for, read and checked before anything is computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import NameNotFound, UsageError, near_matches
from ..runtime.initialise.earlier import earlier_values
from ..runtime.parameters import by_name
from ..runtime.preparation import Beginning
from ..runtime.solver import Solver, check_options, find_solver
from ..runtime.storage import is_number, output_times, seconds
from .failure import check_on_failure
from .session import Order

if TYPE_CHECKING:
    from .injection import Switch
    from .model import Model


def run_asked(model: Model, asked: Mapping[str, Any]) -> tuple[Order, list[Switch]]:
    """The order of a run, from the arguments of `simulate` by name, and what fails on the way."""
    unit, options = model.system.plant.independent[1], asked["options"]
    begin, end = seconds(asked["start"], "start", unit), seconds(asked["until"], "until", unit)
    times = output_times(begin, end, asked["points"], asked["at"], model.system.size, asked["every"], unit)
    solver = find_solver(asked["solver"])
    check_arguments(solver, options, asked["rtol"], asked["atol"], type(model).simulate)
    recording, derivatives, names = None, asked["derivatives"], asked["sensitivities"]
    if names is not None:
        from ..analysis.sensitivity import prepared_to_record, spelt

        names = spelt(model, names)
        recording = prepared_to_record(solver, asked["given"], asked["solve_for"], asked["store"], names)
        derivatives = True
    changes, inputs = asked["set"] or {}, asked["inputs"] or {}
    switches: list[Switch] = []
    if asked["failures"]:
        from .injection import switches_of

        if names is not None:
            raise UsageError("A run with `failures` has no sensitivities.", remedy="Run without one of them.")
        switches = switches_of(model, asked["failures"], float(begin), float(end), changes, inputs)
    choice = model._preparation.choice(asked["store"], derivatives, len(times))
    given, solve_for = asked["given"] or {}, asked["solve_for"]
    beginning = Beginning(begin, asked["initial"], changes, inputs, asked["start_from"], given, solve_for, end=end)
    rtol, atol, seen = asked["rtol"], asked["atol"], asked["on_solution"]
    if seen is not None:
        _check_can_see(seen)
    return Order(beginning, float(end), times, solver, choice, rtol, atol, options, None, recording, seen), switches


def _check_can_see(seen: Any) -> None:
    """Whether a function can be called with the run as its argument."""
    try:
        inspect.signature(seen).bind(None)
    except (TypeError, ValueError):
        if callable(seen) and not isinstance(seen, type):
            raise UsageError(
                "`on_solution` cannot be called with the run alone.", remedy="on_solution=lambda s: print(s.time)"
            ) from None
        raise UsageError(
            f"`on_solution` is a function of the run, got {seen!r} ({type(seen).__name__}).",
            remedy="on_solution=lambda s: print(s.time)",
        ) from None


def run_order(model: Model, options: Mapping[str, Any]) -> Order:
    """The order of `model.simulate(**options)`."""
    parameters = inspect.signature(type(model).simulate).parameters
    own = {name: p.default for name, p in parameters.items() if name not in ("self", "options")}
    asked = {**own, **{k: v for k, v in options.items() if k in own}}
    return run_asked(model, {**asked, "options": {k: v for k, v in options.items() if k not in own}})[0]


def check_run(model: Model, until: Any, options: Mapping[str, Any]) -> None:
    """Refuse what `model.simulate(until, **options)` would refuse whatever the parameters are."""
    own = {
        name: p.default for name, p in inspect.signature(type(model).simulate).parameters.items() if name not in ("self", "options")
    }
    asked = {**own, **{k: v for k, v in options.items() if k in own}, "until": until}
    check_on_failure(asked["on_failure"])
    asked["options"] = {k: v for k, v in options.items() if k not in own}
    order, _ = run_asked(model, asked)
    _check_beginning(model, order.beginning)
    if isinstance(order.atol, Mapping):
        for name in order.atol:
            model.system.plant.locate(name)


def check_rest(model: Model, options: Mapping[str, Any]) -> None:
    """Refuse what `model.steady_state(**options)` would refuse whatever the parameters are."""
    own = [name for name in inspect.signature(type(model).steady_state).parameters if name != "self"]
    for name in options:
        if name not in own:
            raise NameNotFound(
                f"`steady_state` has no argument `{name}`. {near_matches(name, own)}".rstrip(),
                remedy=f"A state of rest is asked for with: {', '.join(own)}.",
            )
    moment = seconds(options.get("at", 0.0), "at", model.system.plant.independent[1])
    changes, inputs, given = (options.get(k) or {} for k in ("set", "inputs", "given"))
    _check_beginning(model, Beginning(moment, "steady", changes, inputs, options.get("start_from"), given))


def _check_beginning(model: Model, asked: Beginning) -> None:
    if asked.mode not in ("start", "steady"):
        raise UsageError(f'`initial` is "start" or "steady", got {asked.mode!r}.')
    parameters = model._preparation.parameters
    changes, _ = parameters.split(by_name(asked.set, "set"))
    parameters.signals(asked.inputs, changes, asked.t, asked.t if asked.end is None else asked.end)
    earlier_values(model.system, asked.start_from)
    for path in by_name(asked.given, "given"):
        model.system.plant.locate(path)


def check_arguments(solver: Solver, options: Mapping[str, Any], rtol: Any, atol: Any, method: Callable[..., Any]) -> None:
    """What can be known to be wrong before anything is computed; a misspelt name may be meant for `simulate` or for the solver."""
    if options:
        _check_names(solver, options, method)
        check_options(solver, options)
    if not is_number(rtol) or rtol <= 0:
        raise UsageError(f"`rtol` is a positive number such as 1e-6, got {rtol!r} of type {type(rtol).__name__}.")
    for value in () if atol is None else atol.values() if isinstance(atol, Mapping) else (atol,):
        if not is_number(value) or value <= 0:
            raise UsageError(
                f"`atol` is a positive number, or one for each name given, got {value!r} of type {type(value).__name__}."
            )


def _check_names(solver: Solver, options: Mapping[str, Any], method: Callable[..., Any]) -> None:
    known = [option.name for option in solver.options]
    for name in options:
        if name not in known:
            own = [p for p in inspect.signature(method).parameters if p not in ("self", "options")]
            raise NameNotFound(
                f"`{method.__name__}` has no argument `{name}`, and solver `{solver.name}` has no option `{name}`. "
                f"{near_matches(name, [*own, *known])}".rstrip(),
                remedy=f"Options of {solver.name}: {', '.join(known) or 'none'}.",
            )
