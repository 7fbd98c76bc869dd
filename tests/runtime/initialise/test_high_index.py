"""Initial values of index-reduced models: any sensible subset of starts will do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.runtime.initialise import InitialisationError, Outcome

G, L = 9.81, 1.3


class Pendulum(ac.Component):
    length, g = ac.Parameter(L), ac.Parameter(G)
    x, y, u, v, tension = ac.Variable(), ac.Variable(), ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.tension * self.x
        yield ac.der(self.v) == -self.tension * self.y - self.g
        yield self.x**2 + self.y**2 == self.length**2


def at_angle(angle: float, rate: float) -> dict[str, float]:
    """All that is true of a pendulum at an angle from the vertical that turns with a rate."""
    x, y = L * np.sin(angle), -L * np.cos(angle)
    tension = rate**2 + G * np.cos(angle) / L
    return {"x": x, "y": y, "u": -y * rate, "v": x * rate, "tension": tension}


def first_point(**starts: ac.start) -> dict[str, float]:
    result = ac.compile(Pendulum(**starts)).simulate(until=1e-3, points=2)
    return {name: float(result[name][0]) for name in ("x", "y", "u", "v", "tension")}


QUICK = [Phase.explicit, Phase.generate]  # every example compiles a model

SUBSETS = [("x", "u"), ("y", "v"), ("x", "v"), ("y", "u")]


@settings(max_examples=12, deadline=None, phases=QUICK)
@given(st.sampled_from(SUBSETS), st.floats(-3.0, 3.0), st.floats(-5.0, 5.0), st.booleans())
def test_a_position_and_a_velocity_are_enough(subset, angle: float, rate: float, fixed: bool) -> None:
    assume(0.1 < abs(angle) < 3.04 and abs(abs(angle) - np.pi / 2) > 0.1)
    truth = at_angle(angle, rate)
    starts = {name: ac.start(truth[name], fixed=fixed) for name in subset}
    starts |= {name: ac.start(0.5 * truth[name]) for name in ("x", "y") if name not in subset}  # the branch, as a rough guess
    if not fixed:
        starts = {n: s for n, s in starts.items() if n in subset}
    found = first_point(**starts)
    for name in subset:
        assert found[name] == pytest.approx(truth[name])
    assert found["x"] ** 2 + found["y"] ** 2 == pytest.approx(L**2)
    assert found["x"] * found["u"] + found["y"] * found["v"] == pytest.approx(0.0, abs=1e-8)
    assert found["tension"] == pytest.approx((found["u"] ** 2 + found["v"] ** 2 - G * found["y"]) / L**2)
    if fixed:
        assert found == pytest.approx(truth, abs=1e-8)


@settings(max_examples=8, deadline=None, phases=QUICK)
@given(st.floats(-3.1, 3.1), st.floats(-5.0, 5.0), st.booleans())
def test_all_starts_given_and_consistent_are_all_kept(angle: float, rate: float, fixed: bool) -> None:
    truth = at_angle(angle, rate)
    names = ("x", "y", "u", "v")
    assert first_point(**{n: ac.start(truth[n], fixed=fixed) for n in names}) == pytest.approx(truth, abs=1e-7)


def test_horizontal_where_one_coordinate_does_not_determine_the_other() -> None:
    """At x = L the height is a double root of the constraint: the height is kept and not the width."""
    found = first_point(x=ac.start(L), y=ac.start(0.0), u=ac.start(0.0), v=ac.start(0.5))
    assert found == pytest.approx({"x": L, "y": 0.0, "u": 0.0, "v": 0.5, "tension": 0.25 / L**2}, abs=1e-9)


def test_a_force_may_be_fixed_instead_of_a_velocity() -> None:
    truth = at_angle(0.7, 2.0)
    starts = {"x": ac.start(truth["x"], fixed=True), "y": ac.start(-L), "tension": ac.start(truth["tension"], fixed=True)}
    found = first_point(**starts, u=ac.start(1.0))
    assert found == pytest.approx(truth, abs=1e-8)


def test_nothing_given_hangs_or_stands_still() -> None:
    found = first_point()
    assert abs(found["y"]) == pytest.approx(L) and found["u"] == found["v"] == 0.0


def test_positions_that_contradict_each_other_are_named_with_numbers() -> None:
    with pytest.raises(InitialisationError) as error:
        first_point(x=ac.start(0.6, fixed=True), y=ac.start(-0.5, fixed=True))
    text = str(error.value)
    assert error.value.outcome is Outcome.INCONSISTENT
    assert "self.x**2 + self.y**2 == self.length**2" in text and "test_high_index.py" in text
    assert "x = 0.6, y = -0.5" in text and f"Violated by {L**2 - 0.61:.3g}" in text


def test_velocities_that_contradict_each_other_name_the_differentiated_constraint() -> None:
    truth = at_angle(0.5, 1.0)
    starts = {n: ac.start(truth[n], fixed=True) for n in ("x", "y", "u")}
    with pytest.raises(InitialisationError) as error:
        first_point(**starts, v=ac.start(truth["v"] + 1.0, fixed=True))
    text = str(error.value)
    assert error.value.outcome is Outcome.INCONSISTENT
    assert "its time derivative" in text and "x = 0.623253" in text and "u = 1.14086" in text


def test_a_position_out_of_reach_keeps_what_was_computed() -> None:
    with pytest.raises(InitialisationError) as error:
        first_point(x=ac.start(2.0, fixed=True))
    result = error.value.result
    assert result["x"][0] == 2.0 and not result.outcome.ok
    assert "where x = 2 (fixed)" in str(error.value)


class Wheel(ac.Component):
    inertia = ac.Parameter(1.0)
    angle, speed, torque = ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self):
        yield ac.der(self.angle) == self.speed
        yield self.inertia * ac.der(self.speed) == self.torque


class Gear(ac.Component):
    """Two wheels that turn together, 3 : 1; the second is driven by a spring."""

    def __init__(self, **starts: ac.start) -> None:
        self.a = Wheel(inertia=2.0, **{n[1:]: s for n, s in starts.items() if n[0] == "a"})
        self.b = Wheel(inertia=1.0, **{n[1:]: s for n, s in starts.items() if n[0] == "b"})

    def equations(self):
        yield self.a.angle == 3 * self.b.angle
        yield 3 * self.a.torque + self.b.torque == -5.0 * self.b.angle


@pytest.mark.parametrize("part", ["a", "b"])
def test_the_start_of_either_wheel_counts(part: str) -> None:
    ratio = {"a": 3.0, "b": 1.0}[part]
    starts = {f"{part}angle": ac.start(0.3 * ratio), f"{part}speed": ac.start(-0.2 * ratio, fixed=True)}
    result = ac.compile(Gear(**starts)).simulate(until=1.0, points=11, rtol=1e-9)
    rate = np.sqrt(5.0 / 19.0)
    expected = 0.3 * np.cos(rate * result.time) - 0.2 / rate * np.sin(rate * result.time)
    np.testing.assert_allclose(result["b.angle"], expected, atol=1e-6)
    np.testing.assert_allclose(result["a.angle"], 3 * expected, atol=1e-6)


def test_fixed_starts_of_both_wheels_must_agree() -> None:
    agreeing = Gear(aangle=ac.start(0.9, fixed=True), bangle=ac.start(0.3, fixed=True))
    assert ac.compile(agreeing).simulate(until=0.1, points=2)["b.angle"][0] == pytest.approx(0.3)
    with pytest.raises(InitialisationError) as error:
        ac.compile(Gear(aangle=ac.start(0.9, fixed=True), bangle=ac.start(0.4, fixed=True))).simulate(until=0.1)
    assert "Violated by 0.3" in str(error.value)
    assert "a.angle = 0.9, b.angle = 0.4" in str(error.value) and "self.a.angle == 3 * self.b.angle" in str(error.value)
