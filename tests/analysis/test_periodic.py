"""Periodic states and frequency answers against published turning points, closed forms and simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError


class Spring(ac.Component):
    """J φ'' + d φ' + c φ - φ² = sin 2πft: several answers between 0.397 and 0.426 Hz (Modelica conference 2008, SimulationX)."""

    f, c, d, soft = ac.Parameter(0.3), ac.Parameter(8.0), ac.Parameter(0.1), ac.Parameter(1.0)
    phi, w = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    twice = ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.phi) == self.w
        yield ac.der(self.w) + self.d * self.w + self.c * self.phi - self.soft * self.phi**2 == ac.sin(2 * ac.pi * self.f * ac.time)
        yield self.twice == 2 * self.phi


@pytest.fixture(scope="module")
def spring() -> ac.Model:
    return ac.compile(Spring())


def test_the_curve_turns_back_where_it_was_published(spring: ac.Model, tmp_path: Any) -> None:
    response = spring.harmonic_balance("f", between=(0.36, 0.5), harmonics=6)
    assert len(response.folds) == 2
    np.testing.assert_allclose(sorted(response.folds), [0.397, 0.426], rtol=5e-3)
    speeds = np.sort(response.at(0.405).peak("w"))
    assert len(speeds) == 3
    assert speeds[0] == pytest.approx(1.698, rel=0.02) and speeds[-1] == pytest.approx(9.851, rel=0.02)
    response.plot("phi", tmp_path / "response.png")
    assert (tmp_path / "response.png").exists() and "folds at" in repr(response)


def test_a_linear_spring_answers_as_its_transfer_function(spring: ac.Model) -> None:
    response = spring.harmonic_balance("f", between=(0.3, 0.35), harmonics=2, set={"soft": 0.0})
    s = 2j * np.pi * response.frequencies
    exact = np.abs(1 / (s**2 + 0.1 * s + 8.0))
    largest = [np.abs(np.fft.rfft(response.orbit(k, "phi")[1])[1]) * 2 / 12 for k in range(len(response))]
    np.testing.assert_allclose(largest, exact, rtol=1e-6)
    assert response.amplitude("twice")[0] == pytest.approx(2 * response.amplitude("phi")[0])
    assert not response.folds


def test_shooting_finds_what_a_long_run_settles_to(spring: ac.Model) -> None:
    orbit = spring.periodic_state(1 / 0.3, set={"f": 0.3}, settle=1, rtol=1e-10)
    assert orbit.stable and orbit.forced and "stable" in repr(orbit)
    run = spring.simulate(100 / 0.3, points=11, set={"f": 0.3}, rtol=1e-8)
    assert orbit["phi"][0] == pytest.approx(run["phi"][-1], abs=1e-5)
    assert orbit["phi"][-1] == pytest.approx(orbit["phi"][0], abs=1e-6)
    np.testing.assert_allclose(np.prod(orbit.multipliers).real, np.exp(-0.1 / 0.3), rtol=1e-6)  # Liouville


def test_amplitudes_of_orbits_are_those_between_rows(spring: ac.Model) -> None:
    branch = spring.periodic_states("f", between=(0.3, 0.31), set={"soft": 0.0}, settle=1)
    s = 2j * np.pi * branch.frequencies
    np.testing.assert_allclose(branch.amplitude("phi"), np.abs(1 / (s**2 + 0.1 * s + 8.0)), rtol=1e-5)


def test_shooting_turns_where_harmonic_balance_does(spring: ac.Model) -> None:
    branch = spring.periodic_states("f", between=(0.38, 0.44))
    assert len(branch.folds) == 2 and "folds at" in repr(branch)
    np.testing.assert_allclose(np.sort(branch.folds), [0.397, 0.426], rtol=5e-3)  # SimulationX
    response = spring.harmonic_balance("f", between=(0.36, 0.5), harmonics=9)
    np.testing.assert_allclose(np.sort(branch.folds), np.sort(response.folds), rtol=1e-4)
    between = np.flatnonzero(~branch.stable)  # the middle one of three answers
    assert 0 < between[0] and between[-1] < len(branch) - 1 and len(between) == np.ptp(between) + 1
    middle = int(between[len(between) // 2])
    amplitudes = [response.at(branch.frequencies[middle]).amplitude("phi")]
    np.testing.assert_allclose(branch.amplitude("phi")[middle], np.sort(amplitudes[0])[1], rtol=1e-2)


class Oscillator(ac.Component):
    """Van der Pol's, of which the period is 6.6632868593… (Andersen, Geer 1982)."""

    x, y = ac.Variable(start=2.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.y
        yield ac.der(self.y) == (1 - self.x**2) * self.y - self.x


def test_an_oscillation_of_its_own_has_a_period_that_is_found() -> None:
    orbit = ac.compile(Oscillator()).periodic_state(6.4, forced=False)
    assert orbit.period == pytest.approx(6.66328686, rel=1e-6)
    assert orbit.stable
    assert np.abs(orbit.multipliers).max() == pytest.approx(1.0, abs=1e-4)


class Drift(ac.Component):
    f, x = ac.Parameter(1.0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == 1.0 + ac.sin(2 * ac.pi * self.f * ac.time)


class Turned(ac.Component):
    """Parameters that are no frequency, and one that is."""

    omega, rate = ac.Parameter(2.0, unit="rad/s"), ac.Parameter(3.0, unit="1/min")
    P, f = ac.Parameter(1.0, unit="W"), ac.Parameter(0.1, unit="Hz")
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield 1.0 * ac.der(self.x) + self.x == ac.sin(2 * ac.pi * self.f * ac.time)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m: m.periodic_state(-1.0), "A period is positive"),
        (lambda m: ac.compile(Drift()).periodic_state(1.0), "No periodic state was found"),
        (lambda m: m.harmonic_balance("f", between=(-0.1, 0.5)), "Frequencies are positive"),
        (lambda m: m.periodic_states("f", between=(-0.1, 0.5)), "Frequencies are positive"),
        (lambda m: m.harmonic_balance("f", between=(0.1, 0.5), harmonics=0), "at least 1"),
        (lambda m: m.harmonic_balance("f", between=(0.3, 0.31), harmonics=1).at(0.5), "does not pass 0.5 Hz"),
        (lambda m: m.harmonic_balance("phi", between=(0.1, 0.5)), "not a parameter"),
        (lambda m: m.harmonic_balance("f", between=(0.1, float("nan"))), "finite numbers"),
        (lambda m: m.harmonic_balance("f", between="0.1"), "is a pair of numbers"),
        (
            lambda m: ac.compile(Turned(), units=False).harmonic_balance("omega", between=(0.1, 0.5)),
            r"in rad/s; .* one over its period, in Hz",
        ),
        (
            lambda m: ac.compile(Turned(), units=False).periodic_states("rate", between=(0.1, 0.5)),
            "in 1/min; .* one over its period, in Hz",
        ),
        (
            lambda m: ac.compile(Turned(), units=False).harmonic_balance("P", between=(0.1, 0.5)),
            "in W; .* one over its period, in Hz",
        ),
    ],
)
def test_bad_input(spring: ac.Model, ask: Any, said: str) -> None:
    with pytest.raises((UsageError, ModelError), match=said):
        ask(spring)


def test_ends_of_a_curve_may_have_a_unit() -> None:
    """x' + x = sin 2πft has the amplitude 1/√(1 + (2πf)²)."""
    model = ac.compile(Turned(), units=False)
    response = model.harmonic_balance("f", between=("100 mHz", 0.3), harmonics=1)
    f = np.asarray(response.frequencies)
    assert f[0] == pytest.approx(0.1) and f[-1] == pytest.approx(0.3)
    np.testing.assert_allclose(response.amplitude("x"), 1 / np.hypot(1, 2 * np.pi * f), rtol=1e-5)
