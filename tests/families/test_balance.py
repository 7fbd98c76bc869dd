"""Counting: the blame goes to the class whose own count is off, and to nobody else."""

from __future__ import annotations

import pytest
from plants import Boundary, Conductor, HeatPort, Mass

import acausal as ac


class Short(ac.Component):
    port = HeatPort()
    C = ac.Parameter(1.0, unit="J/K")
    T, level = ac.Variable(), ac.Variable()

    def equations(self):
        yield self.T == self.port.T
        yield self.C * ac.der(self.T) == self.port.Q_flow


class Plant(ac.Component):
    def __init__(self, make):
        self.parts = ac.array(make, 3)
        self.links, self.sink = ac.array(Conductor, 3), Boundary()

    def connections(self):
        yield self.parts.port, self.links.a
        yield self.links.b, self.sink.port


def test_a_good_plant_has_no_complaints():
    assert ac.compile(Plant(Mass)).system.complaints == []


def test_the_class_and_the_unused_variable_are_named():
    with pytest.raises(ac.ModelError) as found:
        ac.compile(Plant(Short))
    text = str(found.value)
    assert "Short states too few equations: 2, but it has 3 unknowns of its own (port.Q_flow, T, level)" in text
    assert "in no equation: level" in text
    assert "parts[0].level" in text
    assert "Conductor states" not in text and "Boundary states" not in text


def test_an_inner_node_that_nothing_holds_is_named():
    class Hanging(ac.Component):
        def __init__(self):
            self.a, self.b = Conductor(), Conductor()

        def connections(self):
            yield self.a.b, self.b.a

    with pytest.raises(ac.ModelError, match=r"Nothing holds the level of `[ab]\.[ab]\.T`"):
        ac.compile(Hanging())


def test_numbers_of_equations_and_unknowns_are_told():
    with pytest.raises(ac.ModelError, match=r"equations for .* unknowns"):
        ac.compile(Plant(Short))
