"""The pendulum in Cartesian coordinates that turns over the top: states are exchanged on the way, and nothing drifts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.statistics import statistics
from benchmarks.structure.pendulum import AnglePendulum, Pendulum, Pendulums, drift, period

from .conftest import state_count

RTOL = 1e-8
REVOLUTIONS = 1000


def turned(component: ac.Component, revolutions: int) -> Any:
    result = ac.compile(component).simulate(until=revolutions * period(), rtol=RTOL, points=20 * revolutions + 1)
    assert result.outcome is ac.Outcome.FINISHED, result.outcome.value
    return result


@pytest.fixture(scope="module")
def cartesian() -> Any:
    return turned(Pendulum(), REVOLUTIONS)


def angle_of(result: Any) -> np.ndarray:
    return np.unwrap(np.arctan2(result["x"], -np.asarray(result["y"])))


def test_it_turns_a_thousand_times_and_exchanges_states(cartesian: Any) -> None:
    assert abs(angle_of(cartesian)[-1] / (2 * np.pi) - REVOLUTIONS) < 0.1
    assert cartesian.statistics.state_exchanges >= 2 * REVOLUTIONS


def test_the_rod_keeps_its_length(cartesian: Any) -> None:
    x, y = np.asarray(cartesian["x"]), np.asarray(cartesian["y"])
    assert np.abs(x**2 + y**2 - 1).max() < 1e-8


def test_the_velocity_stays_along_the_circle(cartesian: Any) -> None:
    x, y, vx, vy = (np.asarray(cartesian[n]) for n in ("x", "y", "vx", "vy"))
    assert np.abs(x * vx + y * vy).max() < 1e-6


def test_energy_drifts_no_more_than_twice_as_in_the_angle(cartesian: Any) -> None:
    assert drift(cartesian["energy"]) <= 2 * drift(turned(AnglePendulum(), REVOLUTIONS)["energy"])


def test_ten_revolutions_agree_with_the_angle() -> None:
    exact = ac.compile(AnglePendulum()).simulate(until=10 * period(), rtol=1e-11, points=201)
    np.testing.assert_allclose(angle_of(turned(Pendulum(), 10)), exact["phi"], atol=2e-3)


def test_the_pull_of_the_rod_is_the_centripetal_force_and_weight(cartesian: Any) -> None:
    """pull·L² = v² - g·y."""
    y, vx, vy = (np.asarray(cartesian[n]) for n in ("y", "vx", "vy"))
    np.testing.assert_allclose(cartesian["pull"], vx**2 + vy**2 - 9.81 * y, rtol=0, atol=1e-4)


def test_code_does_not_grow_with_the_number_of_pendulums() -> None:
    few, many = ac.compile(Pendulums(3)), ac.compile(Pendulums(200))
    assert statistics(few).kernels == statistics(many).kernels
    assert state_count(many) == 400


def test_pendulums_of_an_array_swing_as_each_alone() -> None:
    model = ac.compile(Pendulums(5))
    result = model.simulate(until=6.0, rtol=1e-9)
    for k, length in enumerate(np.linspace(1.0, 2.0, 5)):
        alone = AnglePendulum(L=length, phi=ac.start(np.arctan2(0.6, 0.8), fixed=True), w=ac.start(0.0, fixed=True))
        phi = np.asarray(ac.compile(alone).simulate(until=6.0, rtol=1e-9)["phi"])
        np.testing.assert_allclose(result[f"pendulum[{k}].x"], length * np.sin(phi), atol=1e-5)
        np.testing.assert_allclose(result[f"pendulum[{k}].y"], -length * np.cos(phi), atol=1e-5)
