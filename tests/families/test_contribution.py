"""What is kept about a kind is what would be found, to the bit, whatever little thing was changed in its class since."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.families import contribution, facts
from acausal.families.lowering import lower
from acausal.program.encoder import encode
from acausal.program.program import Program, translate
from benchmarks.translation import components

SOURCE = """
import acausal as ac
from acausal.library.thermal import HeatPort
from acausal.library.electrical import Pin

class Part(ac.Component):
    {port} = {connector}()
    {gain} = ac.Parameter({value}, unit={unit!r}{more})
    T0 = ac.Parameter(290.0, unit="K")
    k = ac.Parameter(1.0)
    T = ac.Variable(unit="K", start={start})
    x = ac.Variable({x})
    q = ac.Variable({q})
    {order[0]} = ac.Variable()
    {order[1]} = ac.Variable()

    def __init__(self, n={n}):
        self.z = ac.Variable(shape=n, start=0.0)
        self.share = {plain}

    def equations(self):
{equations}

class Plant(ac.Component):
    def __init__(self):
        self.parts = [Part() for _ in range(2)]
        {also}

    def connections(self):
        yield self.parts[0].{port}, self.parts[1].{port}
        {connected}
"""
EQUATIONS = (
    "yield 100.0 * ac.der(self.T) == self.{port}.{flow} * self.k - self.q",
    "yield self.q == self.{gain} * (self.T - self.T0) * {literal}",
    "yield ac.der(self.x) == (0.5 - self.x * ac.exp(-{literal} * self.x)) / ac.sqrt(self.T0 / 290.0 + self.x**2)",
    "yield self.{port}.{potential} == self.T * self.k * {scale} + self.{port}.{flow} / 7.0 * self.k",
    "yield self.{order[0]} == (self.T - self.T0) * self.share",
    "yield self.{order[1]} + 2.0 * self.{order[0]} == {sign}self.T",
    "yield ac.der(self.z) == {literal} * self.x - self.z * {relation}",
)
PORTS = {"HeatPort": ("T", "Q_flow"), "Pin": ("v", "i")}


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, Any]:
    """A class in all its small things."""
    connector = draw(st.sampled_from(sorted(PORTS)))
    potential, flow = PORTS[connector]
    names = draw(st.permutations(["a", "b"]))
    return {
        "connector": connector,
        "potential": potential,
        "flow": flow,
        "port": draw(st.sampled_from(["port", "side"])),
        "gain": draw(st.sampled_from(["G", "gain"])),
        "value": draw(st.sampled_from([1.0, 2.0])),
        "unit": draw(st.sampled_from(["", "W/K", "kW/K"])),
        "more": draw(st.sampled_from(["", ", min=0.0", ", max=9.0", ", doc='gain'"])),
        "start": draw(st.sampled_from([None, 300.0, 301.0])),
        "x": draw(st.sampled_from(["start=0.5", "start=0.25", "", "unit='1'", "fixed=True"])),
        "q": draw(st.sampled_from(["", "unit='W'", "start=1.0", "nominal=100.0", "state='prefer'"])),
        "order": names,
        "n": draw(st.sampled_from([2, 3])),
        "plain": draw(st.sampled_from([0.5, 0.25])),
        "literal": draw(st.sampled_from(["2.0", "2.0000000000000004", "-0.0", "0.1"])),
        "scale": draw(st.sampled_from(["1.0", "2.0"])),
        "sign": draw(st.sampled_from(["", "-"])),
        "relation": draw(st.sampled_from(["1.0", "ac.where(self.x > 0.1, 1.0, 2.0)", "abs(self.x)", "ac.sum(self.z)"])),
        "sequence": draw(st.permutations(range(len(EQUATIONS)))),
        "also": draw(st.sampled_from(["pass", "self.other = Part(n=4)"])),
        "lines": draw(st.integers(0, 3)),
    }


def component(recipe: dict[str, Any]) -> ac.Component:
    """The plant of a recipe, as if it stood in a file."""
    lines = [f"        {EQUATIONS[k].format(**recipe)}" for k in recipe["sequence"]]
    connected = "yield self.parts[1].{port}, self.other.{port}".format(**recipe) if "other" in recipe["also"] else "pass"
    text = SOURCE.format(**recipe, equations="\n".join(lines), connected=connected)
    space: dict[str, Any] = {"__name__": "plant"}
    exec(compile("\n" * recipe["lines"] + text, "plant.py", "exec"), space)
    made: ac.Component = space["Plant"]()
    return made


@contextmanager
def cache(folder: Path | None) -> Iterator[None]:
    """Another folder, or none, and nothing left in memory."""
    before = os.environ["ACAUSAL_CACHE"]
    os.environ["ACAUSAL_CACHE"] = str(folder) if folder is not None else "/dev/null/nowhere"
    try:
        yield
    finally:
        facts.put_back()
        contribution.put_back()
        os.environ["ACAUSAL_CACHE"] = before


def told(recipe: dict[str, Any], folder: Path | None) -> Any:
    """Everything a translation leaves, or what it complains about."""
    with cache(folder):
        try:
            program = replace(translate(component(recipe)), seconds={}, source=None)
        except ac.ModelError as error:
            return str(error)
        return flat(program), lowered(program)


def flat(program: Program) -> tuple[str, list[tuple[str, bytes]]]:
    encoded = encode(program)
    return repr((encoded.records, encoded.root)), [(str(a.dtype), a.tobytes()) for a in encoded.arrays]


def lowered(program: Program) -> Any:
    """What solvers would get."""
    if program.system.size != program.system.equation_count:
        return None
    found = lower(program.system, program.pattern, np.zeros(program.system.size, dtype=bool))
    families = [(repr(f.template.outputs), f.signs, f.slots.tobytes(), f.rows.tobytes(), f.template.facts, f.template.name)
                for f in (*found.families, *found.assignments)]  # fmt: skip
    pattern = [a.tobytes() for a in (found.pattern.indptr, found.pattern.indices, *found.pattern.positions, found.products)]
    return families, pattern, [(repr(e), columns.tobytes()) for e, _, columns in found.coefficients]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all examples: whatever was kept by one of them, the others may meet."""
    return tmp_path_factory.mktemp("kinds")


@settings(max_examples=16, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_kept_is_what_would_be_found(folder: Path, data: st.DataObject) -> None:
    recipe = data.draw(recipes())
    other = {**recipe}
    name = data.draw(st.sampled_from(sorted(recipe)))
    other[name] = data.draw(recipes())[name]
    if name in ("connector", "potential", "flow"):
        other["potential"], other["flow"] = PORTS[other["connector"]]
    told(recipe, folder)  # now it is kept
    assert told(recipe, folder) == told(recipe, None)
    assert told(other, folder) == told(other, None)


@pytest.mark.slow
def test_components_of_the_library(tmp_path: Path) -> None:
    """Alone, as they are; some say what they miss, and say the same."""
    for make in components():
        said = [_said(make, folder) for folder in (tmp_path, tmp_path, None)]
        assert said[0] == said[1] == said[2], make.__name__


def _said(make: type, folder: Path | None) -> Any:
    with cache(folder):
        try:
            program = replace(translate(make()), seconds={}, source=None)
        except ac.ModelError as error:
            return str(error)
        return flat(program), lowered(program)


def test_the_second_time_is_a_look_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from acausal.families import definitions, rows, unit_check

    first = _translated(component(_recipe()), tmp_path)
    for module, used in ((definitions, "_eliminated"), (rows, "fused"), (unit_check, "Inference")):
        monkeypatch.setattr(module, used, _not_again(used))
    assert flat(_translated(component(_recipe()), tmp_path)) == flat(first)
    _translated(component({**_recipe(), "lines": 3, "value": 2.0, "more": ", doc='gain'"}), tmp_path)  # these are data


def _translated(plant: ac.Component, folder: Path) -> Program:
    with cache(folder):
        return replace(translate(plant), seconds={}, source=None)


def _not_again(what: str) -> Any:
    def never(*args: Any, **options: Any) -> Any:
        raise AssertionError(f"{what} runs once")

    return never


def test_another_version_meets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for version in ("1", "2"):
        monkeypatch.setattr(contribution, "rules", lambda version=version: version)
        names.append(contribution._name(b"the same"))
    assert names[0] != names[1]


def test_a_forged_file_is_as_good_as_none(tmp_path: Path) -> None:
    expected = flat(_translated(component(_recipe()), tmp_path))
    files = sorted(tmp_path.rglob("*-kind*"))
    assert files
    for file in files:
        content = file.read_bytes()
        file.write_bytes(content.replace(b"[", b"{", 1) if b"[" in content else b"{}")
    assert flat(_translated(component(_recipe()), tmp_path)) == expected


def test_a_complaint_comes_each_time_and_is_at_its_line(tmp_path: Path) -> None:
    """What is wrong is not kept, and a class that moved in its file is where it is now."""
    wrong = {**_recipe(), "unit": "kW/K", "q": "unit='W'"}
    first = [told({**wrong, "lines": k}, tmp_path) for k in (0, 2)]
    assert all("different scale" in text for text in first)
    assert first == [told({**wrong, "lines": k}, None) for k in (0, 2)]
    lines = [int(text.partition("plant.py:")[2].split()[0].rstrip(")")) for text in first]
    assert lines[1] == lines[0] + 2


def _recipe() -> dict[str, Any]:
    return {
        "connector": "HeatPort", "potential": "T", "flow": "Q_flow", "port": "port", "gain": "G", "value": 1.0, "unit": "W/K",
        "more": "", "start": 300.0, "x": "start=0.5", "q": "", "order": ["a", "b"], "n": 2, "plain": 0.5, "literal": "2.0",
        "scale": "1.0", "sign": "", "relation": "1.0", "sequence": range(len(EQUATIONS)), "also": "pass", "lines": 0,
    }  # fmt: skip
