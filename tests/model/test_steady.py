"""Steady states, and their continuation along parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.model.steady import along
from acausal.runtime.initialise import InitialisationError


class Fold(ac.Component):
    """x' = p - x²: at rest at ±√p, and nowhere for p < 0."""

    p = ac.Parameter(1.0)
    x = ac.Variable(start=0.7)
    y = ac.Variable()

    def equations(self):
        yield ac.der(self.x) == self.p - self.x**2
        yield self.y == self.x + 1


class Steep(ac.Component):
    """x' = p - x - 40 tanh(30 (x - 1))/(1 + x²): a path with a wall in it."""

    p = ac.Parameter(0.0)
    x = ac.Variable(start=-1.0)

    def equations(self):
        yield ac.der(self.x) == self.p - self.x - 40 * ac.tanh(30 * (self.x - 1)) - 40


def test_values_along_a_parameter_against_the_closed_form() -> None:
    p = np.linspace(1.0, 9.0, 17)
    states = ac.compile(Fold()).steady_states({"p": p})
    assert states.ok.all() and len(states) == 17
    np.testing.assert_allclose(states["x"], np.sqrt(p), rtol=1e-9)
    np.testing.assert_allclose(states["y"], np.sqrt(p) + 1.0, rtol=1e-9)
    assert list(states.table("x")) == ["p", "x"]
    np.testing.assert_allclose(states.results[3]["p"], p[3])


def test_failed_members_keep_their_reason_and_what_was_reached() -> None:
    p = np.array([4.0, 1.0, -1.0, 0.25, -2.0])
    states = ac.compile(Fold()).steady_states({"p": p})
    assert states.ok.tolist() == [True, True, False, True, False]
    np.testing.assert_allclose(states["x"], [2.0, 1.0, np.nan, 0.5, np.nan], rtol=1e-9)
    assert "self.p - self.x**2" in states.reasons[2]
    failed = states.results[2]
    assert failed is not None and np.isfinite(failed["x"][0]) and not failed.outcome.ok
    assert "3 of 5 found" in repr(states)


def test_none_found() -> None:
    states = ac.compile(Fold()).steady_states({"p": [-1.0, -2.0]})
    with pytest.raises(ModelError, match="None of the steady states was found"):
        states["x"]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-60.0, 160.0), min_size=2, max_size=5))
def test_a_wall_on_the_way_is_climbed(values: list[float]) -> None:
    states = ac.compile(Steep()).steady_states({"p": values})
    assert states.ok.all()
    x = states["x"]
    np.testing.assert_allclose(np.array(values) - x - 40 * np.tanh(30 * (x - 1)) - 40, 0.0, atol=1e-6)


def test_the_way_is_cut_where_a_step_is_too_long() -> None:
    """A solver that only manages 0.3 at a time is led along; every intermediate value is asked for once solved."""
    asked: list[float] = []

    def solve(values, guess, quick):
        p = values["p"]
        near = 0.0 if guess is None else guess.values[0]
        if abs(p**2 - near) > 0.3 * (1.0 if quick else 0.0) + 1e-12 and (quick or p > 0):
            error = InitialisationError.__new__(InitialisationError)
            ModelError.__init__(error, "too far")
            raise error
        asked.append(p)
        return None, np.array([p**2])

    states = along({"p": [0.0, 1.0]}, solve)
    assert states.ok.all() and asked[0] == 0.0 and max(asked) == 1.0 and len(asked) > 2


def test_parameters_change_together_and_bad_lists_are_refused() -> None:
    class Two(ac.Component):
        a, b = ac.Parameter(1.0), ac.Parameter(2.0)
        x = ac.Variable(start=1.0)

        def equations(self):
            yield ac.der(self.x) == self.a * self.b - self.x**3

    model = ac.compile(Two())
    a, b = np.linspace(1.0, 3.0, 5), np.linspace(8.0, 1.0, 5)
    np.testing.assert_allclose(model.steady_states({"a": a, "b": b})["x"], np.cbrt(a * b), rtol=1e-9)
    with pytest.raises(UsageError, match="as many values each; got a: 2, b: 1"):
        model.steady_states({"a": [1.0, 2.0], "b": [1.0]})
    with pytest.raises(UsageError, match="takes a list of numbers"):
        model.steady_states({"a": 1.0})
    for wrong in (["20 degC"], [1.0, [2.0]], [np.nan], [2j], np.array([2j])):
        with pytest.raises(UsageError, match=r"list of numbers|complex"):
            model.steady_states({"a": wrong})
    with pytest.raises(UsageError, match="names parameters"):
        model.steady_states({})


def test_the_other_branch_is_followed_from_a_start_on_it() -> None:
    states = ac.compile(Fold()).steady_states({"p": [1.0, 4.0]}, start_from={"x": -5.0})
    np.testing.assert_allclose(states["x"], [-1.0, -2.0], rtol=1e-9)


def test_a_failed_initialisation_returns_everything_computed() -> None:
    class Chain(ac.Component):
        a, b, c = ac.Variable(), ac.Variable(start=1.0), ac.Variable()

        def equations(self):
            yield self.a + ac.exp(self.a) == 2.0
            yield self.b**2 + self.a**2 == -1.0
            yield ac.der(self.c) == self.b - self.c
            self.twice = ac.named(2 * self.a)

    with pytest.raises(InitialisationError) as error:
        ac.compile(Chain()).simulate(until=1.0)
    result = error.value.result
    a = result["a"][0]
    assert a + np.exp(a) == pytest.approx(2.0)
    assert result["twice"][0] == pytest.approx(2 * a)
    assert result.time.tolist() == [0.0] and "could not be found" in str(result.outcome.value)


class Tied(ac.Component):
    """Two stores that a constraint ties to each other, a rate that depends on the sign of one, and a switch that follows it."""

    x, y, f = ac.Variable(start=-1.0), ac.Variable(start=-1.0), ac.Variable()
    u = ac.Input(6.0)
    switch = ac.OutputStates("low", "high", initial="low")

    def transitions(self):
        yield self.switch.low.to("high", when=self.x > 1.0)

    def equations(self):
        yield ac.der(self.x) == self.u - ac.where(self.x > 0, 3.0, 1.0) * self.x + self.f
        yield ac.der(self.y) == -self.f
        yield self.x == self.y + 0.1 * self.y**3
        self.side = ac.named(ac.where(self.x > 0, 1.0, -1.0))


def test_what_switches_is_as_it_was_settled_where_states_are_chosen() -> None:
    """Where the index is above 1 the result had the switches of the start: a pipe of water told the temperature of steam."""
    model = ac.compile(Tied())
    assert model.selection is not None
    rest = model.steady_state()
    assert rest["x"][0] == pytest.approx(2.0, rel=1e-9) and rest["side"][0] == 1.0 and rest["switch"][0] == 1.0
    along_u = model.steady_states({"u": [-2.0, 6.0, -3.0]})
    np.testing.assert_allclose(along_u["x"], [-2.0, 2.0, -3.0], rtol=1e-9)
    np.testing.assert_array_equal(along_u["side"], [-1.0, 1.0, -1.0])
