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


class Pipe(ac.Connector):
    """WinDali's pins: two potentials, one flow."""

    p = ac.Potential(unit="Pa")
    T = ac.Potential(unit="K")
    m = ac.Flow(unit="kg/s")


class PipeSource(ac.Component):
    out = Pipe(positive="out")

    def equations(self):
        yield self.out.m == 0.5
        yield self.out.T == 350.0


class PipeCooler(ac.Component):
    a, b = Pipe(), Pipe(positive="out")

    def equations(self):
        yield self.a.m == self.b.m
        yield self.a.p == self.b.p


class WholeCooler(PipeCooler):
    def equations(self):
        yield from super().equations()
        yield self.b.T == self.a.T - 10.0


class PipeSink(ac.Component):
    a = Pipe()

    def equations(self):
        yield self.a.p == 1e5


class PipePlant(ac.Component):
    def __init__(self, cooler: type) -> None:
        self.s, self.c, self.e = PipeSource(), cooler(), PipeSink()

    def connections(self):
        yield self.s.out, self.c.a
        yield self.c.b, self.e.a


def test_of_pins_with_two_potentials_the_guilty_component_is_named() -> None:
    with pytest.raises(ac.ModelError) as error:
        ac.compile(PipePlant(PipeCooler))
    text = str(error.value)
    assert "PipeCooler states too few equations: 2, but what passes through it needs 3." in text
    assert "PipeSource states" not in text and "PipeSink states" not in text
    assert ac.compile(PipePlant(WholeCooler)).simulate(until=1.0)["e.a.T"][-1] == pytest.approx(340.0)
