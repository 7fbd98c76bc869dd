"""Hoisting: what parameters alone determine is data; the idiom `dx = self.L / N` costs nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac

N = 40


class _Pipe(ac.Component):
    """Advection and diffusion in a row of cells, with a flux that is worth computing once."""

    L = ac.Parameter(2.0)
    k = ac.Parameter(0.1)
    T = ac.Variable(shape=N, start=np.linspace(0.0, 1.0, N), fixed=True)
    q = ac.Variable(shape=N - 1)

    def _equations(self, dx: Any) -> Any:
        yield self.q == -self.k * ac.tanh((self.T[1:] - self.T[:-1]) / dx)
        yield dx * ac.der(self.T[1:-1]) == self.q[:-1] - self.q[1:]
        yield ac.der(self.T[0]) == -self.q[0] / dx
        yield ac.der(self.T[-1]) == self.q[-1] / dx


class Inside(_Pipe):
    def equations(self):
        yield from self._equations(self.L / N)


class AsParameter(_Pipe):
    dx = ac.Parameter(_Pipe.L / N)

    def equations(self):
        yield from self._equations(self.dx)


def test_a_division_of_parameters_inside_equations_is_as_good_as_a_parameter() -> None:
    models = [ac.compile(C(), units=False) for C in (Inside, AsParameter)]
    inside, given = [m.info() for m in models]
    assert (inside.unknowns, inside.computed) == (given.unknowns, given.computed) == (N, N - 1)
    runs = [m.simulate(until=1.0, rtol=1e-8) for m in models]
    assert runs[0].statistics.steps == runs[1].statistics.steps
    np.testing.assert_allclose(runs[0]["T"], runs[1]["T"], rtol=1e-12, atol=1e-12)


def test_a_derived_value_follows_its_parameters() -> None:
    model = ac.compile(Inside(), units=False)
    runs = [model.simulate(until=1.0, set={"L": length}) for length in (2.0, 4.0, 2.0)]
    assert not np.allclose(runs[0]["T"], runs[1]["T"])
    np.testing.assert_array_equal(runs[0]["T"], runs[2]["T"])
    np.testing.assert_allclose(runs[0]["T"].sum(axis=1), runs[0]["T"][0].sum(), rtol=1e-9)
    assert set(model.parameters()) == {"L", "k"}


class Decay(ac.Component):
    a, b = ac.Parameter(4.0), ac.Parameter(2.0)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -ac.sqrt(self.a) / self.b * self.x


class Plant(ac.Component):
    def __init__(self) -> None:
        self.d = ac.array(Decay, 3, a=[1.0, 4.0, 9.0])


def test_each_instance_has_its_own_value() -> None:
    result = ac.compile(Plant(), units=False).simulate(until=1.0, rtol=1e-9)
    np.testing.assert_allclose(result["d.x"][-1], np.exp([-0.5, -1.0, -1.5]), rtol=1e-7)


def test_the_equation_and_the_operation_are_named_where_parameters_give_no_value() -> None:
    with pytest.raises(ac.ModelError) as caught:
        ac.compile(Plant(), units=False).simulate(until=1.0, set={"d[1].b": 0.0})
    told = str(caught.value)
    assert "division by zero" in told and "arguments 2, 0" in told and "d[1]" in told and "sqrt" in told


def test_what_is_not_chosen_need_not_have_a_value() -> None:
    class Closed(ac.Component):
        R = ac.Parameter(0.0)
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == ac.where(self.x > 2.0, 1 / self.R, -self.x)

    result = ac.compile(Closed(), units=False).simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["x"][-1], np.exp(-1.0), rtol=1e-6)


def test_a_parameter_behind_a_derived_value_can_be_solved_for_and_explained() -> None:
    model = ac.compile(Decay(), units=False)
    result = model.simulate(until=0.1, given={"der(x)": -3.0}, solve_for=["b"])
    np.testing.assert_allclose(result["b"], 2.0 / 3.0, rtol=1e-6)
    told = model.explain("x")
    assert set(told.parameters) == {"a", "b"}
    assert "x" in str(model.explain("a"))
