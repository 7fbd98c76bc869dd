"""Newton's method: groups, properties, networks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, diags_array

from acausal.runtime.initialise import Options, Outcome, initialise
from acausal.runtime.initialise.equations import Stack, Subsystem
from acausal.runtime.initialise.newton import Groups, Verdict, newton

from .doubles import DenseProblem, SparseProblem


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.floats(-3.0, 3.0))
def test_diagonally_dominant_nonlinear_systems_are_solved_from_anywhere(n: int, seed: int, exponent: float) -> None:
    """A y + tanh-like g(y) = b with A strictly dominant and g monotone has one solution, which is known here by construction."""
    random = np.random.default_rng(seed)
    matrix = random.uniform(-1, 1, (n, n)) * (random.uniform(size=(n, n)) < 0.4)
    np.fill_diagonal(matrix, np.abs(matrix).sum(axis=1) + random.uniform(0.5, 2.0, n))
    truth, start = random.uniform(-3, 3, n), random.uniform(-10, 10, n)
    size = 10.0**exponent  # the unit the unknowns are measured in
    matrix /= size
    truth, start = truth * size, start * size

    def g(y):
        return (y / size) ** 3 + 2.0 * np.arctan(y / size)

    def dg(y):
        return (3.0 * (y / size) ** 2 + 2.0 / (1.0 + (y / size) ** 2)) / size

    problem = SparseProblem(csc_array(matrix), csc_array((n, n)), g, dg, -(matrix @ truth + g(truth)), start=start, nominal=size)
    found = initialise(problem, 0.0)
    np.testing.assert_allclose(found.y, truth, atol=1e-8 * size)


def test_result_does_not_depend_on_the_units_of_the_equations() -> None:
    def f(factor):
        return lambda t, y, yp, h: [factor * (y[0] ** 3 + y[1] - 9.0), (y[1] ** 2 - y[0] + 1.0) / factor]

    plain = initialise(DenseProblem(f(1.0), 2, start=[1.5, 0.5]), 0.0)
    scaled = initialise(DenseProblem(f(1e12), 2, start=[1.5, 0.5]), 0.0)
    np.testing.assert_allclose(scaled.y, plain.y, rtol=1e-10)
    assert scaled.report.statistics.iterations == plain.report.statistics.iterations


def test_groups_are_judged_one_by_one() -> None:
    """x² = 4 and x² = -1 side by side: the first converges, the second stalls and does not disturb it."""

    def f(t, y, yp, h):
        return [y[0] ** 2 - 4.0, y[1] ** 2 + 1.0, y[2] - 3.0]

    stack = Stack(DenseProblem(f, 3, start=1.0))
    stack.incidence.prepare()
    system = Subsystem(stack, np.arange(3), np.arange(3))
    result = newton(system, np.ones(3), Options(), 50, Groups(np.array([0, 1, 2, 3])))
    assert result.verdict[0] == Verdict.CONVERGED and result.verdict[2] == Verdict.CONVERGED
    assert result.verdict[1] not in (Verdict.CONVERGED, Verdict.RUNNING)
    np.testing.assert_allclose(result.z[[0, 2]], [2.0, 3.0], rtol=1e-9)


def test_every_evaluated_point_is_within_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(t, y, yp, h):
        return [np.sqrt(y[0]) - 0.5 * y[1], y[0] + y[1] ** 3 - 2.0]

    problem = DenseProblem(f, 2, start=[9.0, 3.0], minimum=[0.0, 0.1], maximum=[10.0, 4.0])
    points, evaluate = [], problem.residual
    monkeypatch.setattr(problem, "residual", lambda t, y, yp: points.append(y.copy()) or evaluate(t, y, yp))
    a, b = initialise(problem, 0.0).y
    assert np.sqrt(a) == pytest.approx(0.5 * b) and a + b**3 == pytest.approx(2.0)
    assert (np.array(points) >= [0.0, 0.1]).all() and (np.array(points) <= [10.0, 4.0]).all()


def test_large_nonlinear_chain_converges_quadratically() -> None:
    n = 20_000
    value = diags_array([np.full(n - 1, -1.0), np.full(n, 2.5), np.full(n - 1, -1.0)], offsets=[-1, 0, 1]).tocsc()
    truth = np.sin(0.01 * np.arange(n))
    problem = SparseProblem(value, csc_array((n, n)), np.sinh, np.cosh, -(value @ truth + np.sinh(truth)))
    found = initialise(problem, 0.0)
    assert found.outcome is Outcome.NEWTON
    np.testing.assert_allclose(found.y, truth, atol=1e-9)
    assert found.report.statistics.iterations <= 6
