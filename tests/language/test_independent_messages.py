"""Whoever integrates over years is spoken to in years, wherever a time is said."""

from __future__ import annotations

import re

import pytest

import acausal as ac


class Forest(ac.Component):
    t = ac.Independent("year")
    r = ac.Parameter(0.5, unit="1/year")
    x = ac.Variable(start=1.0, fixed=True, unit="kg")

    def equations(self):
        yield ac.der(self.x) == -self.r * self.x


def test_points_and_linear_models_have_the_unit():
    model = ac.compile(Forest())
    assert repr(model.simulate(until=2.0).at(1.0)) == "<Forest at 1 year>"
    linear = model.linearise()
    assert repr(linear).startswith("<Linearisation at 0 year: 1 state, 0 inputs, 0 outputs>")
    assert "time constant 2 year" in str(linear.modes()[0])


def test_an_end_before_the_start_is_told_in_the_unit():
    with pytest.raises(ac.UsageError, match="at which the run ends, in year, not how long it takes"):
        ac.compile(Forest()).simulate(until=1.0, start=2.0)


def test_a_clock_that_ticks_too_often_is_told_in_the_unit():
    class Ticking(Forest):
        n = ac.Integer(0)

        def events(self):
            yield ac.when(ac.sample(0.0, 1e-12), ac.assign(self.n, ac.pre(self.n) + 1))

    with pytest.raises(ac.UsageError, match=r"A clock with the period 1e-12 year(.|\n)*Is the period in year\?") as found:
        ac.compile(Ticking()).simulate(until=1.0)
    assert not re.search(r"\d s\b", str(found.value))


def test_derivatives_have_the_unit_over_that_of_the_independent_variable():
    class Tower(ac.Component):
        z = ac.Independent("m")
        T = ac.Variable(start=300.0, fixed=True, unit="K")
        slope = ac.Variable(start=-0.5, fixed=True, unit="K/m")

        def equations(self):
            yield ac.der(self.T) == self.slope
            yield ac.der(self.slope) == 0.0

    model = ac.compile(Tower())
    run = model.simulate(until=3.0)
    assert run.unit("der(T)") == "K/m" and run.unit("der(slope)") == "K/m/m"
    assert model.explain("der(T)").unit == "K/m"
    assert run.in_unit("der(T)", "K/cm")[0] == pytest.approx(-0.005)


def test_modes_that_take_turns_without_end_are_told_in_the_unit():
    class Falling(ac.Component):
        z = ac.Independent("m")
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == -1.0

    plant = ac.Phases(a=Falling(), b=Falling(), initial="a")
    plant.switch("a", "b", when=lambda m: m.x < 0.5, carry={"x": "x"})
    plant.switch("b", "a", when=lambda m: m.x < 0.5, carry={"x": "x"})
    run = plant.compile().simulate(until=2.0, on_failure="keep")
    assert "until 0.5 m." in run.diagnostics[-1].what
