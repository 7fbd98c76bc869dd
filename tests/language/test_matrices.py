"""Matrices in equations, elements chosen during the run, units of users."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.language.units import convert

M = np.array([[-1.0, 0.5], [0.25, -2.0]])


class Linear(ac.Component):
    A = ac.Parameter(M, shape=(2, 2))
    x = ac.Variable(shape=2, start=[1.0, 2.0])
    z = ac.Variable(shape=2, start=[1.0, 2.0])
    s = ac.Variable()
    B = ac.Variable(shape=(2, 2))

    def equations(self):
        yield ac.der(self.x) == self.A @ self.x
        yield ac.der(self.z) == M @ self.z
        yield "a square", self.s == self.x @ self.x
        yield self.B == self.A.T @ M


def test_products_and_transposes_are_those_of_numpy():
    result = ac.compile(Linear(), units=False).simulate(until=1.0, rtol=1e-10)
    eigen, vectors = np.linalg.eig(M)
    exact = (vectors @ np.diag(np.exp(eigen)) @ np.linalg.inv(vectors)) @ [1.0, 2.0]
    np.testing.assert_allclose(result["x"][-1], exact, rtol=1e-8)
    np.testing.assert_allclose(result["z"][-1], exact, rtol=1e-8)
    assert result["s"][-1] == pytest.approx(exact @ exact, rel=1e-8)
    np.testing.assert_allclose(result["B"][-1], M.T @ M, rtol=1e-12)


def test_lengths_that_do_not_fit():
    class Wrong(ac.Component):
        A = ac.Parameter(np.ones((2, 3)), shape=(2, 3))
        x = ac.Variable(shape=2)

        def equations(self):
            yield self.x == self.A @ self.x

    with pytest.raises(ModelError, match=r"inner lengths agree, got shapes \(2, 3\) and \(2,\)"):
        ac.compile(Wrong())


class Steps(ac.Component):
    table = ac.Parameter([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]], shape=(3, 2))
    n = ac.Integer(start=0)
    y = ac.Variable()
    row = ac.Variable(shape=2)

    def equations(self):
        yield self.y == self.table[self.n, 1]
        yield self.row == self.table[self.n]

    def events(self):
        yield ac.when(ac.sample(1.0, 1.0), ac.assign(self.n, ac.pre(self.n) + 1))


def test_an_element_that_is_chosen_during_the_run():
    result = ac.compile(Steps(), units=False).simulate(until=2.5, at=[0.5, 1.5, 2.5])
    assert [result.at(t)["y"] for t in (0.5, 1.5, 2.4)] == [10.0, 20.0, 40.0]
    np.testing.assert_allclose(result.at(1.5)["row"], [2.0, 20.0])


def test_an_index_that_is_no_whole_number():
    class Wrong(ac.Component):
        table = ac.Parameter([1.0, 2.0], shape=2)
        x = ac.Variable()

        def equations(self):
            yield self.x == self.table[self.x]

    with pytest.raises(ModelError, match=r"`table\[x\]`: an index that changes during the run is an `ac.Integer`"):
        ac.compile(Wrong())


def test_units_of_users():
    ac.define_unit("crown")
    ac.define_unit("ore", "0.01 crown")
    assert ac.define_unit("crown") == "crown"
    assert convert(250.0, "ore", "crown") == pytest.approx(2.5)
    assert convert(3.0, "crown/kg", "ore/g") == pytest.approx(0.3)
    with pytest.raises(UsageError, match="one is crown, the other m"):
        convert(1.0, "crown", "m")
    with pytest.raises(UsageError, match="was already defined"):
        ac.define_unit("ore", "0.02 crown")
    with pytest.raises(UsageError, match="`kW` is a unit already"):
        ac.define_unit("kW")
    with pytest.raises(UsageError, match="one word"):
        ac.define_unit("a b")


def test_units_of_users_are_checked_in_equations():
    ac.define_unit("crown")

    class Cost(ac.Component):
        price = ac.Parameter(0.3, unit="crown/J")
        power = ac.Variable(unit="W")
        cost = ac.Variable(unit="crown", start=0.0)

        def equations(self):
            yield self.power == 2.0
            yield ac.der(self.cost) == self.price * self.power

    class Wrong(Cost):
        def equations(self):
            yield self.power == 2.0
            yield ac.der(self.cost) == self.power

    assert ac.compile(Cost()).simulate(until=10.0)["cost"][-1] == pytest.approx(6.0)
    with pytest.raises(ModelError, match="crown"):
        ac.compile(Wrong())


def test_a_matrix_of_expressions_has_a_transpose_of_its_shape():
    class Shapes(ac.Component):
        A = ac.Variable(shape=(2, 3))

    component = Shapes()
    assert component.A.T.shape == (3, 2) and component.A.T[2, 1] is component.A[1, 2]


def test_numbers_say_their_shape():
    class Turning(ac.Component):
        A = ac.Parameter(np.array([[0.0, 1.0], [-1.0, 0.0]]))
        table = ac.Parameter([1.0, 5.0, 7.0])
        x = ac.Variable(start=[1.0, 0.0], fixed=True)
        n, y = ac.Integer(0), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == self.A @ self.x
            yield self.n == ac.floor(ac.time)
            yield self.y == self.table[self.n]

    result = ac.compile(Turning()).simulate(until=2.5, rtol=1e-9)
    np.testing.assert_allclose(result["x"][-1], [np.cos(2.5), -np.sin(2.5)], rtol=1e-6)
    assert result["y"][-1] == 7.0
    assert "A: float = [[0.0, 1.0], [-1.0, 0.0]]" in str(inspect.signature(Turning))


def test_an_array_of_numpy_cannot_be_chosen_from():
    class Wrong(ac.Component):
        table = np.array([1.0, 2.0])
        n, y = ac.Integer(0), ac.Variable()

        def equations(self):
            yield self.y == self.table[self.n]

    with pytest.raises(ModelError, match=r"chooses from an array of numpy by a variable(.|\n)*ac.Parameter"):
        ac.compile(Wrong())
