"""Inverse problems: parameters found from given values, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plants import Boundary, Conductor, HeatPort, Mass

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.runtime.initialise import InitialisationError, Outcome

from .test_high_index import Pendulum


class Heater(ac.Component):
    port = HeatPort()
    P = ac.Parameter(500.0, unit="W")

    def equations(self):
        yield self.port.Q_flow == -self.P


class Room(ac.Component):
    """A heated room behind a wall; the window's conductance follows the wall's."""

    def __init__(self) -> None:
        self.room, self.outside, self.heater = Mass(C=1e5, T=ac.start(290.0, fixed=True)), Boundary(T=273.15), Heater()
        self.wall = Conductor(G=5.0)
        self.window = Conductor(G=self.wall.G / 4)

    def connections(self):
        yield self.room.port, self.wall.a, self.window.a, self.heater.port
        yield self.wall.b, self.window.b, self.outside.port


@pytest.fixture(scope="module")
def room() -> ac.Model:
    return ac.compile(Room())


@settings(max_examples=30, deadline=None)
@given(st.floats(275.0, 400.0), st.floats(1.0, 1e4))
def test_calibration_at_one_operating_point(temperature: float, power: float) -> None:
    model = ac.compile(Room())
    result = model.steady_state(set={"heater.P": power}, given={"room.T": temperature}, solve_for=["wall.G"])
    assert result["wall.G"][0] == pytest.approx(power / (1.25 * (temperature - 273.15)), rel=1e-8)
    assert result["window.G"][0] == pytest.approx(result["wall.G"][0] / 4)  # bound to it
    assert result["room.T"][0] == pytest.approx(temperature)
    assert model.get("wall.G") == 5.0  # the model is as it was


def test_two_of_them_and_values_with_units(room: ac.Model) -> None:
    result = room.steady_state(given={"room.T": "21 degC", "wall.loss": 300.0}, solve_for=["wall.G", "heater.P"])
    assert result["wall.G"][0] == pytest.approx(300.0 / 21.0)
    assert result["heater.P"][0] == pytest.approx(1.25 * 300.0)


def test_a_boundary_value_can_be_sought(room: ac.Model) -> None:
    result = room.steady_state(given={"room.T": 294.0}, solve_for="outside.T")
    assert result["outside.T"][0] == pytest.approx(294.0 - 500.0 / 6.25)


def test_at_the_start_of_a_run(room: ac.Model) -> None:
    """The heater that lets the room warm up by 1 mK/s at 290 K; the run goes on with it."""
    result = room.simulate(until=1e4, points=3, rtol=1e-9, given={"der(room.T)": 1e-3}, solve_for=["heater.P"])
    power = 100.0 + 6.25 * (290.0 - 273.15)
    assert result["heater.P"][0] == pytest.approx(power)
    rest = 273.15 + power / 6.25
    np.testing.assert_allclose(result["room.T"], rest + (290.0 - rest) * np.exp(-6.25e-5 * result.time), rtol=1e-7)


def test_a_value_given_at_the_start_frees_a_start_that_is_not_fixed() -> None:
    class Loose(Room):
        def __init__(self) -> None:
            super().__init__()
            self.room = Mass(C=1e5, T=ac.start(290.0, fixed=False))

    result = ac.compile(Loose()).simulate(until=1.0, points=2, given={"wall.loss": 100.0})
    assert result["room.T"][0] == pytest.approx(273.15 + 20.0)


def test_starts_that_depend_on_the_parameter_follow() -> None:
    """x starts at p and x' = p - 3 there, if x' = x - 3: x'(0) = 1 needs p = 4."""

    class Grown(ac.Component):
        p = ac.Parameter(1.0)

        def __init__(self) -> None:
            self.mass = Growing(x=ac.start(self.p, fixed=True))

    class Growing(ac.Component):
        x, k = ac.Variable(), ac.Parameter(2.0)

        def equations(self):
            yield ac.der(self.x) == self.k * ac.atan(self.x) - 0.3 * self.x

    model = ac.compile(Grown())
    k = 2.0 * np.arctan(1.0) - 0.3
    result = model.simulate(until=0.1, points=2, given={"der(mass.x)": 0.5 * k}, solve_for=["mass.k"])
    assert result["mass.k"][0] == pytest.approx((0.5 * k + 0.3) / np.arctan(1.0))


def test_the_length_of_a_pendulum_from_its_place() -> None:
    """Index 3: x and y fixed leave no room, unless the length is sought."""
    starts = {n: ac.start(v, fixed=True) for n, v in (("x", 0.9), ("u", 0.3))}
    result = ac.compile(Pendulum(**starts)).simulate(until=0.01, points=2, given={"y": -1.2}, solve_for=["length"])
    assert result["length"][0] == pytest.approx(1.5)
    assert result["v"][0] == pytest.approx(0.9 * 0.3 / 1.2)


def test_too_few_values_are_told(room: ac.Model) -> None:
    with pytest.raises(UsageError, match=r"found: 2 \(`wall.G`, `heater.P`\). Values given: only 1 \(`room.T`\)"):
        room.steady_state(given={"room.T": 294.0}, solve_for=["wall.G", "heater.P"])


def test_too_many_values_that_agree_are_welcome_and_others_are_named(room: ac.Model) -> None:
    agreeing = {"room.T": 293.15, "wall.loss": 400.0}
    assert room.steady_state(given=agreeing, solve_for=["wall.G"])["wall.G"][0] == pytest.approx(20.0)
    with pytest.raises(InitialisationError) as error:
        room.steady_state(given={"room.T": 293.15, "wall.loss": 300.0}, solve_for=["wall.G"])
    assert error.value.outcome is Outcome.INCONSISTENT
    assert "wall.loss == 300   (given)" in str(error.value) and "room.T == 293.15   (given)" in str(error.value)


def test_a_parameter_without_influence_is_named(room: ac.Model) -> None:
    """The heat capacity does not matter at rest."""
    with pytest.raises(InitialisationError) as error:
        room.steady_state(given={"room.T": 294.0}, solve_for=["room.C"])
    assert "room.C" in str(error.value)


def test_a_value_that_only_a_parameter_out_of_range_could_give(room: ac.Model) -> None:
    with pytest.raises(InitialisationError) as error:
        room.steady_state(given={"room.T": 250.0}, solve_for=["wall.G"])
    assert "at its minimum" in str(error.value)
    assert error.value.result["room.T"][0] == pytest.approx(250.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"given": {"wall.G": 3.0}, "solve_for": ["wall.G"]}, "`wall.G` is a parameter; `given` is for variables"),
        ({"given": {"room.T": [1.0, 2.0]}, "solve_for": ["wall.G"]}, "takes a number"),
        ({"given": {"room.T": float("nan")}, "solve_for": ["wall.G"]}, "not finite"),
        ({"given": {"room.T": 294.0}, "solve_for": ["room.T"]}, "is not a parameter"),
        ({"given": {"der(wall.a.T)": 294.0, "der(heater.port.Q_flow)": 1.0}, "solve_for": ["wall.G"]}, "heater.port.Q_flow"),
    ],
)
def test_calls_that_cannot_mean_anything(room: ac.Model, arguments, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        room.steady_state(**arguments)


def test_what_is_given_excuses_no_contradiction_elsewhere():
    """Initial equations give way to what is given in their place; others that contradict each other do so still."""

    class Two(ac.Component):
        x, y = ac.Variable(), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield ac.der(self.y) == -self.y

        def initial_equations(self):
            yield self.x == 1.0
            yield self.x == 3.0
            yield self.y == 5.0

    model = ac.compile(Two())
    with pytest.raises(ac.ModelError, match=r"(?s)more initial conditions than needed.*self\.x == "):
        model.simulate(until=1.0, given={"y": 7.0})
    result = model.simulate(until=1.0, points=2, given={"x": 7.0})
    assert (result["x"][0], result["y"][0]) == (7.0, 5.0)
