"""What a worker opens: a Python file with a model, a module, a saved model (`.acm`) or an application (`.acapp`)."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import AcausalError, ModelError
from ..language.component import Component
from ..model.model import Model as Compiled
from ..model.model import compile as translate
from ..results.circuits import circuits_of
from . import application, describe
from .diagram import diagram
from .protocol import Choice, Diagram, Model, Part

_NICE = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 21600.0, 43200.0, 86400.0)
_MANY_STATES = 300  # beyond which nobody asks for time constants
_DECADES = 5.0  # time constants in a first run


@dataclass(slots=True)
class Opened:
    """A model with what the page is told about it."""

    model: Compiled | None
    catalogue: dict[str, Any]
    page: Model
    files: list[str] = field(default_factory=list)
    wrong: ModelError | None = None  # why it cannot be run


def opened(target: str, choices: Mapping[str, Any], version: int, sketch: bool = False) -> Opened:
    """Load, translate and describe what the user named; with `sketch`, what cannot be translated is described all the same."""
    begin = time.perf_counter()
    loaded = set(sys.modules)
    found = _loaded(target, choices, sketch)
    model, wishes, catalogue = found.model, found.wishes, found.catalogue
    parts = describe.parts_of(catalogue)
    kind = catalogue["kinds"][catalogue["tree"]["kind"]]
    until = wishes.get("until")
    page = Model(
        title=catalogue["title"],
        doc=kind["documentation"],
        source=target,
        version=version,
        unknowns=catalogue["unknowns"],
        state_count=0 if model is None else int(model.problem.differential.sum()),
        until=_in_unit(until, catalogue["independent"][1]) if until is not None else 10.0 if model is None else 0.0,
        parts=parts,
        choices=found.choices,
        units=describe.units_of(parts),
        plots=[list(p) for p in wishes["plots"]] if "plots" in wishes else likely_plots(parts),
        seconds=time.perf_counter() - begin,
        warnings=[] if model is None else [f"Nothing is connected to `{name}`." for name in model.open_connectors()],
        runs=model is not None,
        circuits=circuits_of(catalogue),
        written=found.written,
        time=catalogue["independent"],
        diagram=_top(catalogue),
        free=found.free,
    )
    return Opened(model, catalogue, page, _files(target, loaded), found.wrong)


@dataclass(slots=True)
class _Loaded:
    """What is known of a model before it is described."""

    model: Compiled | None
    catalogue: dict[str, Any]
    choices: list[Choice] = field(default_factory=list)
    wishes: dict[str, Any] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    free: list[str] | None = None
    wrong: ModelError | None = None


def _loaded(target: str, choices: Mapping[str, Any], sketch: bool) -> _Loaded:
    if target.endswith(".acapp"):
        about, model = application.about(Path(target)), application.model(Path(target))
        return _Loaded(model, model.catalogue(), wishes=about["wishes"], free=about["free"])
    if target.endswith(".acm"):
        from ..loading import load

        found = load(target)
        assert isinstance(found, Compiled)
        return _Loaded(found, found.catalogue())
    from ..cli.load import load_with_choices, module_of, wishes_of

    component, values = load_with_choices(target, choices)
    known = [Choice(name, value) for name, value in values.items()]
    wishes, written = wishes_of(target, component), _written(module_of(target)) if ".py" in target else []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = translate(component)
    except ModelError as error:
        if not sketch:
            raise
        from ..program.catalogue import sketch as sketched

        return _Loaded(None, sketched(component), known, wishes, written, wrong=error)
    return _Loaded(model, model.catalogue(), known, wishes, written)


def _top(catalogue: dict[str, Any]) -> Diagram | None:
    """The diagram of the whole plant; one that would lie is told to who asks for it, and does not keep the model from running."""
    try:
        return diagram(catalogue)
    except AssertionError:
        return None


def _written(module: ModuleType | None) -> list[str]:
    """Component classes that the model's own file writes down."""
    found = vars(module).items() if module is not None else ()
    return [
        n for n, v in found if isinstance(v, type) and issubclass(v, Component) and v.__module__ == getattr(module, "__name__", "")
    ]


def _in_unit(given: Any, unit: str) -> float:
    from ..runtime.storage import seconds

    return float(seconds(given, "until", unit))


def _files(target: str, before: set[str]) -> list[str]:
    """The model's file and its neighbours that it imports: when one of them changes, the model is loaded again."""
    own = Path(target.partition(".py:")[0] + (".py" if ".py:" in target else ""))
    if not own.is_file():
        module = sys.modules.get(target.partition(":")[0])
        own = Path(getattr(module, "__file__", None) or "")
    if not own.is_file():
        return []
    folder = own.resolve().parent
    modules = [m for name, m in list(sys.modules.items()) if name not in before]
    files = {Path(f).resolve() for m in modules if (f := getattr(m, "__file__", None))}
    return [str(own.resolve()), *sorted(str(f) for f in files if f.is_relative_to(folder) and f != own.resolve())]


# --- what a first run looks like ---------------------------------------------------------------------------------------------


def likely_end(model: Compiled) -> float:
    """Some time constants of the slowest part, rounded to what one would say; ten of the unit where nothing can be known."""
    if not 0 < model.problem.differential.sum() <= _MANY_STATES:
        return 10.0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            poles = np.asarray(model.linearise(inputs=[]).poles())
    except (AcausalError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return 10.0
    rates = np.abs(poles[np.isfinite(poles)])
    rates = rates[rates > 1e-9 * rates.max(initial=0.0)]
    if not len(rates):
        return 10.0
    wanted, unit = _DECADES / float(rates.min()), model.system.plant.independent[1]
    if unit == "s":
        wanted = min(wanted, 30 * 86400.0)
    if wanted < 1.0 or unit != "s":
        return float(10.0 ** np.ceil(np.log10(wanted)))
    return next((t for t in _NICE if t >= wanted), float(np.ceil(wanted / 86400.0) * 86400.0))


def likely_plots(parts: list[Part]) -> list[list[str]]:
    """Two panels to begin with: of the states of the plant's own parts, those units that most of them have."""
    by_unit: dict[str, list[str]] = {}
    for part in parts:
        if "*" in part.path or part.path.count(".") > 0:
            continue
        for q in part.quantities:
            if q.state and not q.shape and "." not in q.name:
                by_unit.setdefault(q.unit, []).append(q.path)
    if not by_unit:
        by_unit = _first_elements(parts)
    ranked = sorted(by_unit.items(), key=lambda item: -len(item[1]))
    return [names[:4] for _, names in ranked[:2]] or [[]]


def _first_elements(parts: list[Part]) -> dict[str, list[str]]:
    """Of a plant of arrays, or one without states: the first elements of the states, or else whatever varies."""
    states, others = dict[str, list[str]](), dict[str, list[str]]()
    for q in (q for part in parts for q in part.quantities if "." not in q.name):
        if q.state:
            states.setdefault(q.unit, []).append(q.path.replace("*", "0"))
        elif q.role in ("variable", "output"):
            others.setdefault(q.unit, []).append(q.path.replace("*", "0"))
    return states or others
