"""Tracing: every class runs once, lines and names travel with what it says."""

from __future__ import annotations

import numpy as np
import pytest
from plants import Mass, Resistor

import acausal as ac
from acausal.families.census import Census
from acausal.families.trace import trace


def traced(component, name):
    census = Census(component)
    return {k.name: trace(k, census) for k in census.plant.kinds}[name]


def test_equations_run_once_for_all_instances():
    runs = []
    note = runs.append  # a list could tell components apart, and they would be asked (`families/apart.py`)

    class Counted(Mass):
        def equations(self):
            note(self)
            yield from super().equations()

    class Many(ac.Component):
        def __init__(self):
            self.objects = [Counted() for _ in range(10)]
            self.array = ac.array(Counted, 1000)

    ac.compile(Many())
    assert len(runs) == 1


def test_lines_are_found_through_yield_from():
    found = traced(Resistor(), "Resistor")
    assert [e.text for e in found.equations] == [
        "self.v == self.p.v - self.n.v",
        "self.p.i + self.n.i == 0",
        "self.v == self.R * self.p.i",
    ]
    assert all(e.location.file.endswith("plants.py") for e in found.equations)
    assert len({e.location.line for e in found.equations}) == 3


def test_equations_may_be_given_names_and_lists():
    class Named(ac.Component):
        x, y = ac.Variable(), ac.Variable()

        def equations(self):
            return [("mass balance", self.x == 1), self.y == self.x]

    assert traced(Named(), "Named").equations[0].text == "mass balance"


def test_named_expressions_are_kept_with_unit_and_documentation():
    class Heated(ac.Component):
        C, G = ac.Parameter(1.0, unit="J/K"), ac.Parameter(2.0, unit="W/K")
        T = ac.Variable(start=1.0, fixed=True)

        def equations(self):
            self.loss = ac.named(self.G * self.T, unit="W", doc="to the air")
            self.plain = 3 * self.T
            yield self.C * ac.der(self.T) == -self.loss

    assert set(traced(Heated(), "Heated").kind.named) == {"loss", "plain"}
    result = ac.compile(Heated()).simulate(until=1.0)
    assert (result.unit("loss"), result.description("loss")) == ("W", "to the air")
    assert result["plain"][0] == pytest.approx(3.0)


def test_named_expressions_of_sub_components_can_be_used():
    class Pair(ac.Component):
        total = ac.Variable()

        def __init__(self):
            self.row = ac.array(Mass, 3, C=[1.0, 2.0, 3.0])
            self.one = Stored()
            self.rows = ac.array(Stored, 2, k=[5.0, 7.0])

        def equations(self):
            yield self.total == self.one.energy + ac.sum(self.rows.energy) + self.rows[1].energy

    class Stored(ac.Component):
        k = ac.Parameter(2.0)
        x = ac.Variable(shape=3, start=[1.0, 2.0, 3.0], fixed=True)

        def equations(self):
            yield ac.der(self.x) == 0 * self.x
            self.energy = self.k * ac.sum(self.k * self.x) + self.x[0]

    result = ac.compile(Pair()).simulate(until=1.0)
    energy = {k: k * k * 6.0 + 1.0 for k in (2.0, 5.0, 7.0)}
    assert result["total"][-1] == pytest.approx(energy[2.0] + energy[5.0] + 2 * energy[7.0])
    assert list(result["rows.energy"][-1]) == pytest.approx([energy[5.0], energy[7.0]])


def test_connections_must_be_pairs():
    class Single(ac.Component):
        def __init__(self):
            self.m = Mass()

        def connections(self):
            yield self.m.port

    with pytest.raises(ac.ModelError, match="single end"):
        ac.compile(Single())


def test_equations_may_only_name_what_is_to_be_looked_at() -> None:
    class Part(ac.Component):
        x = ac.Variable(start=1.0)

        def equations(self):
            yield ac.der(self.x) == -self.x

    class Whole(ac.Component):
        def __init__(self) -> None:
            self.a, self.b = Part(), Part()

        def equations(self):
            self.total = ac.named(self.a.x + self.b.x, doc="sum")

    assert ac.compile(Whole()).simulate(until=1.0)["total"][-1] == pytest.approx(2.0 / np.e, rel=1e-5)
