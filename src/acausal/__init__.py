"""acausal: component modelling and simulation of physical systems.

Components state equations, connections join them, `ac.compile` turns them into machine code, `model.simulate` runs it.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

from . import errors as _errors
from .errors import AcausalError, Diagnostic, Interrupted, ModelError, ModelWarning, RunFailed, RunWarning, UsageError

if TYPE_CHECKING:
    from . import library, media
    from .analysis.measured import experiment
    from .analysis.worst import worst_case
    from .climate import weather
    from .language.axis import Axis
    from .language.component import Component, array
    from .language.connector import Connector
    from .language.declarations import (
        Boolean,
        Constant,
        Discrete,
        Flow,
        Input,
        Integer,
        Output,
        Parameter,
        Potential,
        Stream,
        Variable,
        modify,
        named,
        start,
    )
    from .language.delays import delay
    from .language.derivative import der
    from .language.distributions import choice, lognormal, normal, triangular, uniform
    from .language.events import (
        after_step,
        assert_,
        assign,
        change,
        crossing,
        during,
        edge,
        initial,
        no_event,
        pre,
        reinit,
        sample,
        smooth,
        terminate,
        when,
    )
    from .language.external import external, function
    from .language.foreign import foreign
    from .language.functions import (
        abs,
        acos,
        asin,
        atan,
        atan2,
        ceil,
        cos,
        cosh,
        dot,
        exp,
        fallback,
        floor,
        homotopy,
        log,
        log10,
        mean,
        sign,
        sin,
        sinh,
        sqrt,
        sum,
        tan,
        tanh,
        time,
        where,
    )
    from .language.functions import maximum as max
    from .language.functions import minimum as min
    from .language.grids import TableND
    from .language.implicit import implicit
    from .language.independent import Independent
    from .language.medium import AnyMedium, FluidPort, Fractions, OfPhases
    from .language.outer import outer
    from .language.plain import plain
    from .language.record import Record
    from .language.reductions import final, first, integral, when_first
    from .language.replaceable import replaceable
    from .language.several import several
    from .language.smooth import (
        regularised_power,
        regularised_sqrt,
        smooth_abs,
        smooth_max,
        smooth_min,
        smooth_step,
        smooth_switch,
    )
    from .language.states import InputStates, OutputStates, States, match, transition
    from .language.tables import Table, Table2D
    from .language.units import define_unit
    from .loading import load
    from .model.model import Model, compile
    from .model.phases import Phases
    from .model.session import Session
    from .program.pack import pack, variants
    from .results.accounts import exergy, inventory, performance, pinches
    from .results.animation import animate_cycle
    from .results.balances import accounts
    from .results.compare import compare
    from .results.diagrams import ph_diagram, state_points, ts_diagram
    from .results.psychrometric import psychrometric_diagram
    from .results.report import report
    from .results.result import Result
    from .runtime.given import data
    from .runtime.inputs import hold
    from .runtime.outcome import Outcome
    from .studies.cases import draws, grid, one_at_a_time
    from .studies.indices import sobol_indices
    from .studies.signals import random_signal
    from .studies.study import study

_errors.shorten_tracebacks()

__version__ = "0.1.0"

# Nothing is imported before it is used: a program that only reads the command line, or serves pages, needs no numpy. What is where:
_WHERE = {
    "analysis.measured": "experiment",
    "analysis.worst": "worst_case",
    "climate": "weather",
    "language.axis": "Axis",
    "language.component": "Component array",
    "language.connector": "Connector",
    "language.declarations": "Boolean Constant Discrete Flow Input Integer Output Parameter Potential Stream Variable "
    "modify named start",
    "language.delays": "delay",
    "language.derivative": "der",
    "language.distributions": "choice lognormal normal triangular uniform",
    "language.events": "after_step assert_ assign change crossing during edge initial no_event pre reinit sample smooth "
    "terminate when",
    "language.external": "external function",
    "language.functions": "abs acos asin atan atan2 ceil cos cosh dot exp fallback floor homotopy "
    "log log10 mean sign sin sinh sqrt sum tan tanh time where maximum=max minimum=min",
    "language.foreign": "foreign",
    "language.grids": "TableND",
    "language.implicit": "implicit",
    "language.independent": "Independent",
    "language.medium": "AnyMedium FluidPort Fractions OfPhases",
    "language.outer": "outer",
    "language.plain": "plain",
    "language.record": "Record",
    "language.reductions": "final first integral when_first",
    "language.replaceable": "replaceable",
    "language.several": "several",
    "language.smooth": "regularised_power regularised_sqrt smooth_abs smooth_max smooth_min smooth_step smooth_switch",
    "language.states": "InputStates OutputStates States match transition",
    "language.tables": "Table Table2D",
    "language.units": "define_unit",
    "loading": "load",
    "model.model": "Model compile",
    "model.phases": "Phases",
    "model.session": "Session",
    "program.pack": "pack variants",
    "results.accounts": "exergy inventory performance pinches",
    "results.animation": "animate_cycle",
    "results.balances": "accounts",
    "results.compare": "compare",
    "results.diagrams": "ph_diagram state_points ts_diagram",
    "results.psychrometric": "psychrometric_diagram",
    "results.report": "report",
    "results.result": "Result",
    "runtime.given": "data",
    "runtime.inputs": "hold",
    "runtime.outcome": "Outcome",
    "studies.cases": "draws grid one_at_a_time",
    "studies.indices": "sobol_indices",
    "studies.signals": "random_signal",
    "studies.study": "study",
}
_LATE = {
    name.rpartition("=")[2]: (module, name.partition("=")[0]) for module, names in _WHERE.items() for name in names.split()
} | {"library": ("library", ""), "media": ("media", "")}


def __getattr__(name: str) -> Any:
    """Import what is used, once."""
    from importlib import import_module

    if name.startswith("__"):
        raise AttributeError(f"module 'acausal' has no attribute {name!r}")
    if name not in _LATE:
        raise _errors.AttributeNotFound(f"acausal has no `{name}`. {_errors.near_matches(name, __all__, alike=0.65)}".strip())
    module, attribute = _LATE[name]
    found = import_module(f".{module}", __name__)
    globals()[name] = found = getattr(found, attribute) if attribute else found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__all__ = [
    "AcausalError",
    "AnyMedium",
    "Axis",
    "Boolean",
    "Component",
    "Connector",
    "Constant",
    "Diagnostic",
    "Discrete",
    "Flow",
    "FluidPort",
    "Fractions",
    "Independent",
    "Input",
    "InputStates",
    "Integer",
    "Interrupted",
    "Model",
    "ModelError",
    "ModelWarning",
    "OfPhases",
    "Outcome",
    "Output",
    "OutputStates",
    "Parameter",
    "Phases",
    "Potential",
    "Record",
    "Result",
    "RunFailed",
    "RunWarning",
    "Session",
    "States",
    "Stream",
    "Table",
    "Table2D",
    "TableND",
    "UsageError",
    "Variable",
    "abs",
    "accounts",
    "acos",
    "after_step",
    "animate_cycle",
    "array",
    "asin",
    "assert_",
    "assign",
    "atan",
    "atan2",
    "ceil",
    "change",
    "choice",
    "compare",
    "compile",
    "cos",
    "cosh",
    "crossing",
    "data",
    "define_unit",
    "delay",
    "der",
    "dot",
    "draws",
    "during",
    "edge",
    "exergy",
    "exp",
    "experiment",
    "external",
    "fallback",
    "final",
    "first",
    "floor",
    "foreign",
    "function",
    "grid",
    "hold",
    "homotopy",
    "implicit",
    "initial",
    "integral",
    "inventory",
    "library",
    "load",
    "log",
    "log10",
    "lognormal",
    "match",
    "max",
    "mean",
    "media",
    "min",
    "modify",
    "named",
    "no_event",
    "normal",
    "one_at_a_time",
    "outer",
    "pack",
    "performance",
    "ph_diagram",
    "pi",
    "pinches",
    "plain",
    "pre",
    "psychrometric_diagram",
    "random_signal",
    "regularised_power",
    "regularised_sqrt",
    "reinit",
    "replaceable",
    "report",
    "sample",
    "several",
    "sign",
    "sin",
    "sinh",
    "smooth",
    "smooth_abs",
    "smooth_max",
    "smooth_min",
    "smooth_step",
    "smooth_switch",
    "sobol_indices",
    "sqrt",
    "start",
    "state_points",
    "study",
    "sum",
    "tan",
    "tanh",
    "terminate",
    "time",
    "transition",
    "triangular",
    "ts_diagram",
    "uniform",
    "variants",
    "weather",
    "when",
    "when_first",
    "where",
    "worst_case",
]
