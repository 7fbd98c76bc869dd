"""Large nonlinear networks from equal guesses: a thousand nodes with loops and check valves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.runtime.initialise import Options, initialise

from .networks import DRAWN, SMALL, Network, double, numbers


def assert_solved(problem, nodes: int) -> np.ndarray:
    y = initialise(problem, 0.0).y
    residual = problem.residual(0.0, y, np.zeros_like(y))
    np.testing.assert_allclose(residual[1:nodes], 0.0, atol=1e-9)  # mass at every node
    np.testing.assert_allclose(residual[nodes:], 0.0, atol=1e-3)  # pressure along every pipe, Pa
    return y


@pytest.mark.parametrize("flow", [0.0, 1.0, -20.0])
def test_pipes_alone(flow: float) -> None:
    assert_solved(double(12, 3, flow, tightness=1.0), 144)


@pytest.mark.parametrize("tightness", [1e3, 1e6])
@pytest.mark.parametrize("flow", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("seed", [0, 2, 9])
def test_a_thousand_nodes_with_check_valves(seed: int, flow: float, tightness: float) -> None:
    assert_solved(double(32, seed, flow, tightness), 1024)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.integers(0, 10_000), st.floats(-5.0, 5.0), st.floats(0.0, 8.0))
def test_the_solution_of_a_network_is_one_and_does_not_depend_on_the_guess(side: int, seed: int, flow: float, power: float) -> None:
    """Every pipe's pressure drop grows with its flow, so there is one solution; pressures and flows are known from rest."""
    problem = double(side, seed, flow, 10.0**power)
    y = assert_solved(problem, side**2)
    at_rest = assert_solved(double(side, seed, 0.0, 10.0**power), side**2)
    np.testing.assert_allclose(y[side**2 :], at_rest[side**2 :], atol=1e-6)


@pytest.mark.parametrize(("seed", "flow", "tightness"), [(2, 1.0, 1e6), (7, 0.0, 1e6), (1, -1.0, 1e6), (4, 1.0, 1e3)])
def test_components_with_a_pump_and_arrays(seed: int, flow: float, tightness: float) -> None:
    result = ac.compile(Network(32, seed, flow, tightness)).steady_state()
    pairs, resistance, valve = numbers(32, seed)
    m = np.empty(len(resistance))
    m[~valve], m[valve] = result["pipes.m"][0], result["valves.m"][0]
    into = np.bincount(pairs[1], m, 1024) - np.bincount(pairs[0], m, 1024)
    into[0] += result["pump.m"][0]
    into[-1] -= DRAWN
    np.testing.assert_allclose(into, 0.0, atol=1e-9)
    p = result["nodes.port.p"][0]
    closed = valve & (m < -0.1 * SMALL)
    drop = np.where(closed, tightness, 1.0) * resistance * m * np.sqrt(m**2 + SMALL**2)
    sure = ~valve | closed | (m > 0)
    np.testing.assert_allclose((p[pairs[0]] - p[pairs[1]])[sure], drop[sure], atol=1e-2)
    assert result["pump.m"][0] == pytest.approx(DRAWN)


def test_a_loose_tolerance_is_enough_for_a_loose_answer() -> None:
    """A loose tolerance is kept too."""
    problem = double(8, 0, 1.0)
    loose = initialise(problem, 0.0, options=Options(tolerance=1e-4)).y
    tight = initialise(problem, 0.0).y
    np.testing.assert_allclose(loose[64:], tight[64:], atol=1e-2)
