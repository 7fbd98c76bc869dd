"""Counts of translated models, against counts made by hand and against each other."""

from __future__ import annotations

import pytest
from plants import Pendulum

import acausal as ac
from acausal.families.statistics import Statistics, statistics


class Port(ac.Connector):
    T = ac.Potential(unit="K")
    Q = ac.Flow(unit="W")


class Mass(ac.Component):
    port = Port()
    C = ac.Parameter(100.0)
    T = ac.Variable(start=300.0, fixed=True)

    def equations(self):
        yield self.port.T == self.T
        yield self.C * ac.der(self.T) == self.port.Q


class Link(ac.Component):
    a, b = Port(), Port()
    G = ac.Constant(10.0)

    def equations(self):
        yield self.a.Q + self.b.Q == 0
        yield self.a.Q == self.G * (self.a.T - self.b.T)


class Row(ac.Component):
    def __init__(self, n):
        self.mass, self.link = ac.array(Mass, n), ac.array(Link, n - 1)

    def connections(self):
        yield self.mass[:-1].port, self.link.a
        yield self.link.b, self.mass[1:].port


class Loop(ac.Component):
    """Three unknowns that must be solved together, and one that follows."""

    u = ac.Input(1.0)
    x, y, z, w = ac.Variable(), ac.Variable(), ac.Variable(), ac.Variable()
    s = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield self.x == ac.sin(self.y) + self.u
        yield self.y == ac.sin(self.z)
        yield self.z == 0.5 * ac.cos(self.x)
        yield self.w == ac.exp(self.x)
        yield ac.der(self.s) == self.w

    def initial_equations(self):
        return ()


def of(component: ac.Component) -> Statistics:
    return statistics(ac.compile(component))


def test_a_row_of_masses_counted_by_hand() -> None:
    """Of each mass T, port.T, port.Q; of each link a.T, a.Q, b.T, b.Q. Left: the temperatures are solved for; one heat flow of each
    link and the flow of each inner mass, which is a sum, are computed from them."""
    n = 10
    found = of(Row(n))
    assert (found.components, found.classes) == (2 * n - 1, 2)
    assert (found.variables, found.parameters, found.constants, found.inputs) == (3 * n + 4 * (n - 1), n, n - 1, 0)
    assert found.states == n
    assert found.unknowns == found.equations == n
    assert found.computed == (n - 1) + (n - 2)
    assert (found.largest_block, found.blocks, found.nonzeros) == (1, n, 3 * n - 2)
    assert found.families == 1  # all masses, whether they end the row or not


@pytest.mark.parametrize("component", [Row(2), Row(50), Loop(), Pendulum()], ids=["row2", "row50", "loop", "pendulum"])
def test_every_variable_is_somewhere(component: ac.Component) -> None:
    found = of(component)
    places = found.aliases + found.known + found.eliminated + found.computed + found.unknowns
    assert found.variables + found.inputs + found.derivatives == places
    assert found.unknowns == found.states + found.algebraic == found.equations
    assert sum(found.simultaneous_blocks) <= found.unknowns


def test_kernels_do_not_grow_with_the_plant() -> None:
    small, large = of(Row(10)), of(Row(1000))
    assert (small.families, small.assignments, small.kernels) == (large.families, large.assignments, large.kernels)
    assert large.nonzeros > 50 * small.nonzeros


def test_what_is_solved_together() -> None:
    found = of(Loop())
    assert found.simultaneous_blocks == (3,)
    assert found.largest_block == 3
    assert (found.states, found.inputs, found.computed) == (1, 1, 1)


def test_index_reduction_is_counted() -> None:
    """The pendulum's length is differentiated twice, and with it the two lines that define the velocities once.

    Below x', x'', y', y'', u' and v' there could be a state; two of them have one.
    """
    found = of(Pendulum())
    assert found.states == 2
    assert found.differentiated == 4
    assert (found.derivatives, found.dummies) == (6, 4)
    assert found.unknowns + found.computed == 5 + found.derivatives


def test_an_empty_model() -> None:
    class Nothing(ac.Component):
        pass

    found = of(Nothing())
    assert (found.components, found.unknowns, found.blocks, found.largest_block) == (0, 0, 0, 0)


def test_for_programs() -> None:
    told = ac.compile(Row(3)).info().as_dict()
    assert told["title"] == "Row"
    assert set(told["seconds"]) == {"families", "structure", "kernels"}
