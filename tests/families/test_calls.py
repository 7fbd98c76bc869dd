"""Functions in what is kept about a class: a translation that looks up equals one that cannot, whatever changes in a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_contribution import cache, flat, lowered

import acausal as ac
from acausal.families.lowering import lower
from acausal.families.template import Template
from acausal.kernels.cache import canonical_text, key_of
from acausal.language.several import NativeSeveral
from acausal.program.program import Program, translate

SOURCE = """
import acausal as ac
from acausal.library.thermal import HeatPort

curve = ac.Table({x}, {y}, method={method!r}, extrapolation={extrapolation!r}, name={name!r})
other = ac.Table({x}, {y}, method="akima", name={name!r})
plane = ac.Table2D([0.0, 1.0], [0.0, 2.0], [[0.0, 1.0], [2.0, {corner}]], method={method!r})
gamma = ac.external(("libm.so.6", {symbol!r}), 1)
medium = ac.media.fluid({fluid!r})

class Part(ac.Component):
    port = HeatPort()
    mode = ac.States("on", "off", initial="on")
    T = ac.Variable(start=300.0, unit="K")
    x = ac.Variable(start=0.5)
    p = ac.Variable(start=6e5, unit={p_unit!r})
    rho, s, k = ac.Variable(), ac.Variable(), ac.Variable()

    def __init__(self, curve, n={n}):
        self.curve = curve
        self.z = ac.Variable(shape=n, start=0.1)

    def equations(self):
{equations}

class Plant(ac.Component):
    def __init__(self):
        self.parts = [Part(curve), Part({second})]

    def connections(self):
        yield self.parts[0].port, self.parts[1].port
"""
EQUATIONS = (
    "yield 100.0 * ac.der(self.T) == self.port.Q_flow - {table}(self.x) * (self.T - 290.0)",
    "yield self.port.T == self.T",
    "yield ac.der(self.x) == plane(self.x, ac.sum(self.z{axis})) - {table}(self.x) * gamma(1.5 + self.x)",
    "yield ac.der(self.p) == 1e3 * ac.no_event(ac.where(self.x > 0.5, 1.0, {literal})) - self.k",
    "yield self.rho == medium.state(p=self.p, h={h}, phase={phase!r}).rho",
    "yield self.s == medium.state(p=self.p, h={h}, phase={phase!r}).{what} * 1e-3 - 0.3 * self.rho",
    "yield self.k == self.rho * self.s * 1e-6 + ac.where(self.mode.on, {literal}, 0.5)",
    "yield ac.der(self.z) == {table}(self.z) - self.curve(self.z) + ac.sum(self.z) - {literal} * self.x",
)


CHOICES: dict[str, list[Any]] = {  # a class that calls functions, in all its small things
    "x": ["[0.0, 1.0, 2.0]", "[0.0, 1.0, 2.0000000000000004]"],
    "y": ["[0.0, 1.0, 4.0]", "[0.0, 1.0, 1.5]"],
    "method": ["monotone", "akima", "linear"],
    "extrapolation": ["clamp", "linear", "refuse"],
    "name": ["curve", "table"],
    "corner": [3.0, 5.0],
    "symbol": ["tgamma", "lgamma"],
    "fluid": ["R134a", "R744"],
    "p_unit": ["Pa", ""],
    "second": ["other", "curve", "ac.Table([0.0, 3.0], [0.0, 1.0])"],
    "table": ["curve", "other", "self.curve", "curve.derivative()", "curve.derivative(2)"],
    "n": [2, 6],
    "axis": ["", "[1:]"],
    "literal": ["0.1", "2.0"],
    "h": ["4.4e5 + 100.0 * self.x", "4.4e5"],
    "phase": ["vapour", "any"],
    "what": ["s", "cp", "T"],
}
RECIPE = {name: choices[0] for name, choices in CHOICES.items()}


def component(recipe: dict[str, Any]) -> ac.Component:
    text = SOURCE.format(**recipe, equations="\n".join(f"        {e.format(**recipe)}" for e in EQUATIONS))
    space: dict[str, Any] = {"__name__": "plant"}
    exec(compile(text, "plant.py", "exec"), space)
    made: ac.Component = space["Plant"]()
    return made


NAMED: dict[str, str] = {}  # what the code under each name is made of, over all examples


def told(recipe: dict[str, Any], folder: Path | None) -> Any:
    """Everything a translation leaves, or what it complains about."""
    with cache(folder):
        try:
            program = replace(translate(component(recipe)), seconds={}, source=None)
        except ac.ModelError as error:
            return str(error)
        for template in templates(program):
            assert template.functions == Template(template.outputs)._evaluations()
            for signs in ((0,) * len(template.slots),):
                text = canonical_text(template, signs)
                assert NAMED.setdefault(key_of(template, signs, "any"), text) == text
        return flat(program), lowered(program)


def templates(program: Program) -> list[Template]:
    found = lower(program.system, program.pattern, np.zeros(program.system.size, dtype=bool))
    return [family.template for family in (*program.system.families, *found.families, *found.assignments)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all examples: whatever was kept by one of them, the others may meet."""
    return tmp_path_factory.mktemp("calls")


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_kept_is_what_would_be_found(folder: Path, name: str) -> None:
    """Also by a class that differs in one small thing from one that was kept."""
    pytest.importorskip("CoolProp")
    assert not isinstance(told(RECIPE, folder), str)  # now it is kept
    for choice in CHOICES[name]:
        assert told({**RECIPE, name: choice}, folder) == told({**RECIPE, name: choice}, None)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries({name: st.sampled_from(choices) for name, choices in CHOICES.items()}))
def test_of_any_such_class(folder: Path, recipe: dict[str, Any]) -> None:
    pytest.importorskip("CoolProp")
    assert not isinstance(told(recipe, folder), str)
    assert told(recipe, folder) == told(recipe, None)


def test_one_code_serves_functions_of_one_form(folder: Path) -> None:
    """Addresses come at run time: another fluid, another curve with the same kinds of derivatives are no reason to compile."""
    pytest.importorskip("CoolProp")
    made = []
    for change in ({}, {"fluid": "R744"}, {"y": "[0.0, 1.0, 1.5]"}, {"corner": 5.0}, {"method": "linear"}):
        with cache(folder):
            program = translate(component({**RECIPE, "second": "curve", **change}))
            made.append({key_of(t, (0,) * len(t.slots), "any") for t in templates(program)})
    assert made[0] == made[1] == made[2] == made[3] != made[4]


def test_the_second_time_is_a_look_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is fused, differentiated or checked again, and a run gives the same bits."""
    from acausal.families import definitions, rows, template, unit_check

    pytest.importorskip("CoolProp")
    with cache(tmp_path):
        first = ac.compile(component(RECIPE)).simulate(until=10.0, points=11)
    for module, used in (
        (definitions, "_eliminated"), (rows, "fused"), (unit_check, "Inference"), (template, "gradient"),
    ):  # fmt: skip
        monkeypatch.setattr(module, used, lambda *args, used=used, **options: pytest.fail(f"{used} runs once"))
    with cache(tmp_path):
        again = ac.compile(component(RECIPE)).simulate(until=10.0, points=11)
    for name in ("parts[0].T", "parts[1].x", "parts[0].rho", "parts[1].s"):
        np.testing.assert_array_equal(first[name], again[name])


class Own(ac.Table):
    """A table of somebody who thinks otherwise about derivatives."""


@pytest.mark.parametrize(
    "make",
    [
        lambda: ac.function(opaque=True)(lambda x: x * x),
        lambda: ac.several(lambda x: (x, x * x), results=("a", "b")).part(0),
        lambda: Own([0.0, 1.0], [0.0, 1.0]),
        lambda: ac.external(("libm.so.6", "tgamma"), 1, derivative=lambda x: x),
        lambda: ac.foreign(("libm.so.6", "sin"), y={"n": 1.0}),
    ],
)
def test_what_nobody_can_describe_is_not_described(make: Callable[[], Any]) -> None:
    """Code of the user's, which may be another one tomorrow under the same name."""
    made = make()
    assert not hasattr(made, "root") or made.root.form() == made.root.description() == ""


def test_all_that_was_said_of_a_function_is_in_its_description() -> None:
    said: dict[str, Any] = {"arguments": ("a", "b"), "results": ("c",), "order": 0, "typical": 1e-2, "units": None, "limits": None}
    changes = ({}, {"arguments": ("a", "d")}, {"results": ("c", "d")}, {"order": 1}, {"order": 2}, {"typical": 1.0},
               {"units": ("", "", "K")}, {"limits": {"a": (0.0, 1.0)}}, {"name": "other"}, {"by_reference": True})  # fmt: skip
    made = [ac.several(("libm.so.6", "sin"), **said | change) for change in changes]
    assert all(isinstance(one, NativeSeveral) for one in made)
    assert len({one.description() for one in made}) == len(changes)
    parts = [made[4].part(0), made[4].part(0, (1,)), made[4].part(0, (0, 1))]
    assert all(part.root is made[4] and made[4].relative(part.member) is part for part in parts)


@pytest.mark.slow
def test_a_whole_plant_of_refrigeration(tmp_path: Path) -> None:
    """Its equations are those of the library: looked up, they are what they were when they were found."""
    pytest.importorskip("CoolProp")
    from acausal.library.refrigeration import ColdStore

    said = []
    for folder in (tmp_path, tmp_path, None):
        with cache(folder):
            program = replace(translate(ColdStore()), seconds={}, source=None)
            assert all(t.functions == Template(t.outputs)._evaluations() for t in templates(program))
            said.append((flat(program), lowered(program)))
    assert said[0] == said[1] == said[2]
