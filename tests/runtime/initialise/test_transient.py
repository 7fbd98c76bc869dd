"""Steady states by coming to rest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.runtime.initialise import Options, Outcome, initialise
from acausal.runtime.initialise.equations import Stack
from acausal.runtime.initialise.transient import settle

from .doubles import DenseProblem


def settled(problem: DenseProblem) -> np.ndarray:
    stack = Stack(problem)
    stack.incidence.prepare()
    y, arrived = settle(stack, problem.start.copy(), Options())
    assert arrived
    return y


@pytest.mark.parametrize(("start", "end"), [(0.1, 1.0), (-0.1, -1.0), (5.0, 1.0)])
def test_it_goes_where_the_model_goes(start: float, end: float) -> None:
    """x' = x - x³ leaves 0 and comes to rest at ±1; Newton's method from 0.1 would find 0."""
    problem = DenseProblem(
        lambda t, y, yp, h: [yp[0] - y[0] + y[0] ** 3, y[1] - 2.0 * y[0]], 2, differential=[0], start=[start, 0.0]
    )
    np.testing.assert_allclose(settled(problem), [end, 2.0 * end], rtol=1e-2)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.1, 10.0), min_size=3, max_size=3), st.lists(st.floats(0.0, 5.0), min_size=3, max_size=3))
def test_what_is_conserved_is_kept(areas: list[float], levels: list[float]) -> None:
    """Three tanks of different areas in a ring: the volume is what it was, and the levels are equal."""
    area, start = np.array(areas), np.array(levels)

    def f(t, y, yp, h):
        level, flow = y[:3], y[3:]
        return [*(area * yp[:3] + flow - np.roll(flow, 1)), *(flow - (level - np.roll(level, -1)))]

    problem = DenseProblem(f, 6, differential=[0, 1, 2], start=[*start, 0.0, 0.0, 0.0])
    found = initialise(problem, 0.0, mode="steady")
    expected = (area * start).sum() / area.sum()
    np.testing.assert_allclose(found.y, [expected] * 3 + [0.0] * 3, atol=1e-3)
    assert area @ found.y[:3] == pytest.approx(area @ start, rel=1e-5, abs=1e-6)


def test_a_reactor_that_newtons_method_cannot_light() -> None:
    """x' = -x + r, T' = -1.3 T + 8 r, r = Da (1-x) exp(T/(1 + T/20)), started hot: it stays lit."""
    number = 0.12

    def rate(x, temperature):
        return number * (1.0 - x) * np.exp(temperature / (1.0 + temperature / 20.0))

    def f(t, y, yp, h):
        return [yp[0] + y[0] - y[2], yp[1] + 1.3 * y[1] - 8.0 * y[2], y[2] - rate(y[0], y[1])]

    problem = DenseProblem(f, 3, differential=[0, 1], start=[0.9, 6.0, 0.0])
    x, temperature, r = initialise(problem, 0.0, mode="steady").y
    assert 1.3 * temperature == pytest.approx(8.0 * x) and x == pytest.approx(r) and r == pytest.approx(rate(x, temperature))


def test_it_is_tried_when_newtons_method_fails_and_told() -> None:
    """x' = -arctan(10 x - 5) - arctan'(…) is flat far out: Newton's steps from there are wild, the model simply comes back."""

    def f(t, y, yp, h):
        return [yp[0] + np.tanh(5.0 * (y[0] - 1.0)) + y[1], y[1] - 0.1 * np.sin(3.0 * y[0]), yp[2] + y[2] - y[0]]

    found = initialise(DenseProblem(f, 3, differential=[0, 2], start=[30.0, 0.0, 0.0]), 0.0, mode="steady")
    x = found.y[0]
    assert np.tanh(5.0 * (x - 1.0)) + 0.1 * np.sin(3.0 * x) == pytest.approx(0.0, abs=1e-9)
    assert found.outcome is Outcome.REST
    assert "pseudo-transient" in str(found.report)
