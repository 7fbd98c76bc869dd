"""Equations that hold while a state lasts: as many rows in every state, variables that rest, and nothing compiled on a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

Statements = Iterator[Any]


class Brake(ac.Component):
    """Sliding with friction until it stands; stuck, no friction force is needed but a reaction is."""

    mode = ac.States("sliding", "stuck", initial="sliding")
    v = ac.Variable(start=2.0, fixed=True)
    F, reaction = ac.Variable(), ac.Variable()

    def equations(self) -> Statements:
        yield ac.during(self.mode.sliding, ac.der(self.v) == -self.F, self.F == 1.0)
        yield ac.during(self.mode.stuck, ac.der(self.v) == 0, self.F == self.reaction, self.reaction == 0.25)

    def transitions(self) -> Statements:
        yield self.mode.sliding.to("stuck", when=self.v <= 0)


def test_states_may_have_different_numbers_of_equations() -> None:
    model = ac.compile(Brake())
    result = model.simulate(until=3.0, rtol=1e-8)
    assert result.outcome is ac.Outcome.FINISHED
    np.testing.assert_allclose(result.events.times, [2.0], rtol=1e-8)
    np.testing.assert_allclose(result["v"], np.maximum(2.0 - result.time, 0.0), atol=1e-7)
    assert result["F"][0] == pytest.approx(1.0) and result["F"][-1] == pytest.approx(0.25)


def test_a_variable_that_no_equation_of_a_state_contains_rests() -> None:
    """Sliding, `reaction` keeps its start; after it was needed it keeps the value it had."""

    class Again(Brake):
        reaction = ac.Variable(start=7.0)

        def transitions(self) -> Statements:
            yield from super().transitions()
            yield self.mode.stuck.to("sliding", when=ac.time > 2.5, do=[ac.reinit(self.v, 1.0)])

    result = ac.compile(Again()).simulate(until=3.0)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    assert result["reaction"][0] == pytest.approx(7.0)
    assert result["reaction"][-1] == pytest.approx(0.25)


class StringPendulum(ac.Component):
    """On the circle while the string is taut, flying otherwise: two other states, and one variable less."""

    L, g, m = ac.Parameter(1.0), ac.Parameter(9.81), ac.Parameter(1.0)
    taut = ac.Boolean(start=True)
    x, y = ac.Variable(start=0.0), ac.Variable(start=-1.0)
    u, v = ac.Variable(start=6.5), ac.Variable(start=0.0)
    phi, w = ac.Variable(start=0.0, fixed=True), ac.Variable(start=6.5, fixed=True)
    F, r2 = ac.Variable(), ac.Variable()

    def equations(self) -> Statements:
        s, c = ac.sin(self.phi), ac.cos(self.phi)
        yield self.r2 == self.x**2 + self.y**2
        yield ac.during(
            self.taut,
            ac.der(self.phi) == self.w,
            self.L * ac.der(self.w) == -self.g * s,
            self.x == self.L * s,
            self.y == -self.L * c,
            self.u == self.L * self.w * c,
            self.v == self.L * self.w * s,
            self.F == self.m * (self.L * self.w**2 + self.g * c),
        )
        yield ac.during(
            ~self.taut, ac.der(self.x) == self.u, ac.der(self.y) == self.v, ac.der(self.u) == 0, ac.der(self.v) == -self.g
        )
        self.energy = self.m * (0.5 * (self.u**2 + self.v**2) + self.g * self.y)

    def events(self) -> Statements:
        along = (-self.y * self.u + self.x * self.v) / self.L**2
        yield ac.when(self.taut & (self.F < 0), ac.assign(self.taut, False)).elsewhen(
            ~self.taut & (self.r2 > self.L**2),
            ac.assign(self.taut, True),
            ac.reinit(self.phi, ac.atan2(self.x, -self.y)),
            ac.reinit(self.w, along),
        )


def test_a_string_pendulum_flies_and_swings() -> None:
    """It leaves where L w² = -g cos φ, from v² = v0² - 2 g L (1 - cos φ): cos φ = (2 - v0²/(g L)) / 3; then a parabola."""
    model = ac.compile(StringPendulum())
    result = model.simulate(until=1.3, rtol=1e-9)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    leaves, lands = (event.time for event in result.events if event.changes)
    g, v0 = 9.81, 6.5
    c = (2 - v0**2 / g) / 3
    s = np.sqrt(1 - c * c)
    speed = np.sqrt(-g * c)
    k = np.searchsorted(result.time, leaves)
    assert result["y"][k] == pytest.approx(-c, rel=1e-6)
    u, v = speed * c, speed * s
    tau = result.time - leaves
    flight = (tau > 0) & (result.time < lands)
    assert flight.sum() > 20
    np.testing.assert_allclose(result["x"][flight], (s + u * tau)[flight], atol=1e-6)
    np.testing.assert_allclose(result["y"][flight], (-c + v * tau - 0.5 * g * tau**2)[flight], atol=1e-6)
    before = result.time < lands
    np.testing.assert_allclose(result["energy"][before], 0.5 * v0**2 - g, rtol=1e-6)
    assert result["r2"].max() < 1 + 1e-6


def test_equations_for_arrays_of_components() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.brake = ac.array(Brake, 3, v=ac.start(np.array([0.5, 1.0, 1.5])))

    result = ac.compile(Plant()).simulate(until=2.0, rtol=1e-8)
    np.testing.assert_allclose(result.events.times, [0.5, 1.0, 1.5], rtol=1e-8)
    np.testing.assert_allclose(result["brake.F"][-1], 0.25)


class Valve(ac.Component):
    """The flow stands in a branch that counts in one state only."""

    T = ac.Variable(start=20.0, fixed=True)
    m = ac.Variable(start=1.0)
    valve = ac.States("On", "Off", initial="On")

    def equations(self):
        yield ac.der(self.T) == ac.match(self.valve, On=-self.m, Off=1.0)
        yield ac.during(self.valve.On, self.m**2 == 4.0)

    def transitions(self):
        yield self.valve.On.to("Off", when=self.T < 9.0)
        yield self.valve.Off.to("On", when=self.T > 10.0)


def test_a_branch_that_does_not_count_needs_nothing() -> None:
    result = ac.compile(Valve()).simulate(until=8.0, rtol=1e-9)
    assert result.outcome.ok
    np.testing.assert_allclose(result.events.times[:3], [5.5, 6.5, 7.0], atol=1e-7)
    assert result["T"][-1] == pytest.approx(10.0, abs=1e-6)


class Lever(ac.Component):
    """A force is stated in one state and a motion in the other: rows of different units, each right in itself."""

    x = ac.Variable(start=1.0, unit="m", fixed=True)
    F = ac.Variable(unit="N", start=1.0)
    k = ac.Parameter(3.0, unit="N/m")
    rate = ac.Parameter(-1.0, unit="m/s")
    mode = ac.States("moves", "pushes", initial="moves")

    def equations(self):
        yield ac.during(self.mode.moves, ac.der(self.x) == self.rate)
        yield ac.during(self.mode.pushes, self.F == 2.0 * self.k * self.L)

    L = ac.Parameter(1.0, unit="m")

    def transitions(self):
        yield self.mode.moves.to("pushes", when=self.x < 0.5)


def test_a_row_may_be_a_force_in_one_state_and_a_velocity_in_another() -> None:
    result = ac.compile(Lever()).simulate(until=1.0)
    assert result["x"][-1] == pytest.approx(0.5) and result["F"][-1] == pytest.approx(6.0)
    assert result["F"][0] == pytest.approx(1.0)


def test_units_within_a_state_are_still_checked() -> None:
    class Wrong(Lever):
        def equations(self):
            yield ac.during(self.mode.moves, ac.der(self.x) == self.rate)
            yield ac.during(self.mode.pushes, self.F == 2.0 * self.k)

    with pytest.raises(ac.ModelError, match="N/m"):
        ac.compile(Wrong())
