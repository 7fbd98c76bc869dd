"""Equations that have no value, at the start or on the way: the message names them, and what was computed is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messages import holds, message

import acausal as ac

HERE = Path(__file__).name


# --- equations without a value ---------------------------------------------------------------------------------------------
class Ratio(ac.Component):
    k = ac.Parameter(1.0)
    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == -1.0
        yield self.y == self.x / self.k + ac.sin(self.y)


class Level(ac.Component):
    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == -1.0 - 1e-9 * self.y
        yield self.y == ac.log(self.x)


class Shown(ac.Component):
    """Nothing depends on y: it is only looked at."""

    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == -1.0
        yield self.y == ac.log(self.x)


class Several(ac.Component):
    def __init__(self, make, n, **changes):
        self.part = ac.array(make, n, **changes)


def test_division_by_zero_at_the_start():
    model = ac.compile(Several(Ratio, 3, k=[1.0, 0.0, 2.0]))
    text = message(lambda: model.simulate(until=1.0))
    holds(text, "division by zero", "part[1] (Ratio)", "self.y == self.x / self.k + ac.sin(self.y)", HERE, "part[1].x = 1", "try:")
    assert "part[0]" not in text.split("[2]")[0]


def test_logarithm_of_a_negative_number_at_the_start():
    text = message(lambda: ac.compile(Several(Level, 2, x=ac.start([1.0, -1.0]))).simulate(until=1.0))
    holds(text, "logarithm of a number that is not positive", "part[1] (Level)", "self.y == ac.log(self.x)", HERE, "try:")


def test_logarithm_of_a_negative_number_during_integration_is_placed():
    result = ac.compile(Several(Level, 2, x=ac.start([5.0, 1.0]))).simulate(until=3.0)
    holds("\n".join(map(str, result.diagnostics)), "logarithm", "part[1] (Level)", "self.y == ac.log(self.x)", HERE)


def test_logarithm_of_a_negative_number_during_integration_keeps_what_was_computed():
    result = ac.compile(Several(Level, 2, x=ac.start([5.0, 1.0]))).simulate(until=3.0)
    assert not result.outcome.ok
    assert result.time[-1] == result.time_reached == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(result["part[1].x"], 1 - result.time, atol=1e-6)
    assert result.diagnostics and "no finite value" in str(result.outcome)


@pytest.mark.parametrize("start", [-1.0, 1.0])
def test_a_variable_that_nothing_depends_on_is_looked_at_too(start):
    model = ac.compile(Several(Shown, 1, x=ac.start(start)))
    if start < 0:
        holds(message(lambda: model.simulate(until=1.0)), "logarithm", "part[0] (Shown)", HERE)
    else:
        result = model.simulate(until=3.0)
        assert not result.outcome.ok
        holds("\n".join(map(str, result.diagnostics)), "part[0] (Shown)", "ac.log(self.x)", HERE)


def test_nan_from_a_user_function_during_integration():
    @ac.function(opaque=True)
    def strange(x):
        return float("nan") if x < 0.5 else x

    class Calls(ac.Component):
        x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == -1.0 + 1e-9 * self.y
            yield self.y == strange(self.x) * 2

    result = ac.compile(Several(Calls, 1)).simulate(until=1.0)
    assert not result.outcome.ok and 0.4 < result.time[-1] <= 0.51
    holds("\n".join(map(str, result.diagnostics)), "part[0] (Calls)", HERE, "at time 0.", "try:")


def test_a_solution_that_goes_to_infinity_is_kept_until_there():
    def blow_up(dy, y):
        yield dy.x - y.x**2

    result = ac.compile(ac.plain(blow_up, y={"x": 1.0})).simulate(until=2.0)
    assert not result.outcome.ok and "try" not in result.outcome.name
    assert 0.9 < result.time[-1] <= 1.0001
    early = result.time < 0.9
    np.testing.assert_allclose(result["x"][early], 1 / (1 - result.time[early]), rtol=1e-3)


@pytest.mark.parametrize(
    "name, given, part",
    [
        ("k", ac.start(3.0), "is a parameter, which has no `start`"),
        ("k", ac.modify(fixed=True), "is a parameter, which has no `fixed`"),
        ("k", ac.modify(state="always"), "is a parameter, which has no `state`"),
        ("u", ac.start(3.0), "is an input, which has no `start`"),
        ("x", ac.modify(value=3.0), "is an unknown, which has no `value`"),
        ("n", ac.modify(state="always"), "is a discrete variable, which has no `state`"),
    ],
)
def test_attributes_that_a_quantity_does_not_have_are_refused(name: str, given: Any, part: str) -> None:
    class Decay(ac.Component):
        x, k, u, n = ac.Variable(start=1.0), ac.Parameter(1.0), ac.Input(0.0), ac.Integer(0)

        def equations(self) -> Any:
            yield ac.der(self.x) == self.u - self.k * self.x

    with pytest.raises(ac.UsageError, match=part):
        Decay(**{name: given})
    array = ac.array(Decay, 3)
    with pytest.raises(ac.UsageError, match=part):
        setattr(array[1], name, given)
