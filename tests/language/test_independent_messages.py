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
