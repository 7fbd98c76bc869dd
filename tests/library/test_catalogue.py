"""Every component of the library says what it is, in words and with its units."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import acausal as ac
from acausal.language.declarations import Declaration
from acausal.library import (
    control,
    demo,
    electrical,
    electromechanics,
    electronics,
    motion,
    sampled,
    signal,
    switching,
    system_dynamics,
    thermal,
)
from acausal.library.air import boundaries as air_boundaries
from acausal.library.air import coils
from acausal.library.fluid import (
    boundaries,
    crossflow,
    exchangers,
    machines,
    mean_density,
    passages,
    pipes,
    sensors,
    tanks,
    turbomachines,
    two_phase,
    valves,
    volumes,
)
from acausal.library.mechanics import drives, friction, gears, rotational, stops, translational
from acausal.library.refrigeration import cabinets, compressors, distributed, expansion, internal, moving_boundary, receivers, rooms

MODULES = (
    electrical, switching, thermal, translational, rotational, friction, stops, electromechanics, signal, sampled, demo,
    system_dynamics, electronics, motion, gears,
    volumes, passages, boundaries, sensors, pipes, tanks, valves, machines, exchangers, control, distributed, moving_boundary,
    compressors, expansion, receivers, rooms, turbomachines, two_phase, internal, cabinets,
    coils, air_boundaries, mean_density, drives, crossflow,
)  # fmt: skip


def classes(module: ModuleType) -> list[type]:
    found = (value for name, value in vars(module).items() if not name.startswith("_") and inspect.isclass(value))
    return [c for c in found if c.__module__ == module.__name__ and issubclass(c, (ac.Component, ac.Connector))]


CLASSES = [c for module in MODULES for c in classes(module)]


@pytest.mark.parametrize("component", CLASSES, ids=lambda c: f"{c.__module__.rpartition('.')[2]}.{c.__name__}")
def test_it_is_documented(component: type) -> None:
    assert inspect.getdoc(component), "a class says what it is"
    own = vars(component)
    for name, declaration in own.items():
        if isinstance(declaration, Declaration):
            assert declaration.doc, f"{component.__name__}.{name} says what it is"


THERMO_FLUID = ("air", "control", "fluid", "refrigeration", "thermal")
EQUATION = re.compile(r"``[^`]*[=<>][^`]*``")  # equations and conditions are written so
BESIDE = {"events", "initial_equations"}  # what a class may add without having another law


def thermo_fluid() -> list[type]:
    return [c for c in CLASSES if issubclass(c, ac.Component) and c.__module__.split(".")[2] in THERMO_FLUID]


def lawful(component: type) -> bool:
    """Whether a class states its equations: its own where it has a law of its own, else those of what it is derived from."""
    own = {name for name, value in vars(component).items() if inspect.isfunction(value) and not name.startswith("__")} - BESIDE
    said = [component] if own else [c for c in component.__mro__ if c is not ac.Component and issubclass(c, ac.Component)]
    return any(EQUATION.search(c.__doc__ or "") for c in said)


@pytest.mark.parametrize("component", thermo_fluid(), ids=lambda c: f"{c.__module__.rpartition('.')[2]}.{c.__name__}")
def test_it_states_its_equations(component: type) -> None:
    assert lawful(component), "a class with a law of its own states it in its docstring, ``y = …``"


def test_equations_that_are_missing_are_found() -> None:
    class Silent(passages.Throttle):
        """A valve with an area of its own, which it does not tell."""

        def effective_area(self) -> float:
            return 1e-6

    class Renamed(passages.Orifice):
        """An orifice by another name."""

    assert not lawful(Silent) and lawful(Renamed)


def examples() -> str:
    """The code of all pages and examples."""
    root = Path(__file__).parents[2]
    pages = "".join(file.read_text(encoding="utf-8") for file in (root / "docs").rglob("*.md"))
    files = [file.read_text(encoding="utf-8") for file in (root / "examples").rglob("*.py")]
    return "".join([*re.findall(r"```python\n(.*?)```", pages, re.DOTALL), *files])


def test_every_component_stands_in_an_example() -> None:
    text, usable = examples(), [c for c in thermo_fluid() if not (c.__doc__ or "").startswith("Base")]
    assert len(usable) > 70 and [c.__name__ for c in usable if not re.search(rf"\b{c.__name__}\b", text)] == []


def test_every_component_stands_in_a_test() -> None:
    text = "".join(file.read_text() for file in Path(__file__).parent.rglob("test_*.py"))
    bases = {base for c in CLASSES for base in c.__mro__[1:]}
    final = [c for c in CLASSES if c not in bases and issubclass(c, ac.Component) and c.__module__ != demo.__name__]
    assert [c.__name__ for c in final if f".{c.__name__}(" not in text] == []


def test_the_list_is_not_empty() -> None:
    assert len(CLASSES) > 90
