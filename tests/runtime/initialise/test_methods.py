"""Ways to take a step, and the succession of methods, on equations made to resist."""

from __future__ import annotations

import numpy as np
import pytest

from acausal.runtime.initialise import Options
from acausal.runtime.initialise.equations import Stack, Subsystem
from acausal.runtime.initialise.linear import damped_least_squares
from acausal.runtime.initialise.methods import SUCCESSION, arcs, bracketed, other_starts, spread_starts
from acausal.runtime.initialise.newton import Groups, newton
from acausal.runtime.initialise.steps import descending, natural, unguarded
from acausal.runtime.initialise.trust import Dogleg

from .doubles import DenseProblem
from .networks import double

WAYS = {"descending": descending, "unguarded": unguarded, "natural": natural, "dogleg": Dogleg}


def system_of(problem) -> Subsystem:
    stack = Stack(problem)
    stack.incidence.prepare()
    return Subsystem(stack, np.arange(problem.size), np.arange(problem.size))


def rosenbrock(t, y, yp, h):
    return [10.0 * (y[1] - y[0] ** 2), 1.0 - y[0]]


def brown(t, y, yp, h):
    """Brown's almost linear function: n - 1 planes and a product."""
    total, product = sum(y), np.prod(y)
    return [y[k] + total - (len(y) + 1) for k in range(len(y) - 1)] + [product - 1.0]


def wood(t, y, yp, h):
    a, b, c, d = y
    return [
        -200 * a * (b - a * a) - (1 - a),
        200 * (b - a * a) + 20.2 * (b - 1) + 19.8 * (d - 1),
        -180 * c * (d - c * c) - (1 - c),
        180 * (d - c * c) + 20.2 * (d - 1) + 19.8 * (b - 1),
    ]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_solves_an_ordinary_system(way: str) -> None:
    problem = DenseProblem(lambda t, y, yp, h: [np.exp(y[0]) - y[1] - 1.0, y[0] + y[1] - 2.0], 2, start=0.5)
    result = newton(system_of(problem), problem.start, Options(), 50, None, WAYS[way])
    assert result.converged.all()
    np.testing.assert_allclose([np.exp(result.z[0]) - result.z[1], result.z.sum()], [1.0, 2.0], atol=1e-9)


@pytest.mark.parametrize("way", ["natural", "dogleg", "unguarded"])
def test_a_curved_valley_is_followed(way: str) -> None:
    result = newton(system_of(DenseProblem(rosenbrock, 2)), np.array([-12.0, 10.0]), Options(), 100, None, WAYS[way])
    np.testing.assert_allclose(result.z, 1.0, rtol=1e-8)


@pytest.mark.parametrize(("way", "function", "start"), [("natural", brown, [0.5] * 5), ("dogleg", wood, [-3.0, -1.0, -3.0, -1.0])])
def test_what_a_descending_line_search_cannot_do(way: str, function, start) -> None:
    problem = DenseProblem(function, len(start), start=start)
    assert not newton(system_of(problem), problem.start, Options(), 50).converged.all()
    found = newton(system_of(problem), problem.start, Options(), 100, None, WAYS[way])
    assert found.converged.all()
    np.testing.assert_allclose(function(0.0, found.z, None, 1.0), 0.0, atol=1e-7)


def test_full_steps_open_and_close_check_valves_within_a_few_iterations() -> None:
    problem = double(20, 2, 1.0, 1e6)
    assert not newton(system_of(problem), problem.start, Options(), 150).converged.all()
    found = newton(system_of(problem), problem.start, Options(), 100, None, unguarded)
    assert found.converged.all() and found.iterations <= 50


def test_full_steps_that_run_in_a_circle_get_shorter() -> None:
    """y³ - 2y + 2 from 0: Newton's full steps go 0, 1, 0, 1, … for ever."""
    problem = DenseProblem(lambda t, y, yp, h: [y[0] ** 3 - 2.0 * y[0] + 2.0], 1)
    found = newton(system_of(problem), np.zeros(1), Options(), 100, None, unguarded)
    assert found.z[0] == pytest.approx(np.roots([1.0, 0.0, -2.0, 2.0]).real.min())
    assert found.iterations > 25


@pytest.mark.parametrize("way", WAYS)
def test_groups_keep_their_own_verdict(way: str) -> None:
    problem = DenseProblem(lambda t, y, yp, h: [y[0] ** 2 - 4.0, y[1] ** 2 + 1.0, y[2] - 3.0], 3, start=1.0)
    result = newton(system_of(problem), np.ones(3), Options(), 40, Groups(np.array([0, 1, 2, 3])), WAYS[way])
    assert result.converged.tolist() == [True, False, True]
    np.testing.assert_allclose(result.z[[0, 2]], [2.0, 3.0], rtol=1e-9)


@pytest.mark.parametrize("method", [bracketed, other_starts, arcs, spread_starts])
def test_methods_share_one_signature(method) -> None:
    problem = DenseProblem(lambda t, y, yp, h: [y[0] ** 3 - 3.0 * y[0] + 3.0, y[1] - 2.0], 2)
    groups = Groups(np.array([0, 1, 2]))
    z, solved = method(system_of(problem), np.array([2.0, 0.0]), groups, Options())
    assert solved.all()
    np.testing.assert_allclose(z, [np.roots([1.0, 0.0, -3.0, 3.0]).real.min(), 2.0], rtol=1e-8)


def test_names_in_the_succession_are_different() -> None:
    assert len({step.name for step in SUCCESSION}) == len(SUCCESSION)


def test_a_solution_behind_hills_is_found_from_all_around() -> None:
    """u + v³ = 0, v + 1.875 sin u = 1: a line search ends in valleys without a solution, and so does the arc from the start."""
    problem = DenseProblem(lambda t, y, yp, h: [y[0] + y[1] ** 3, y[1] + 1.875 * np.sin(y[0]) - 1.0], 2, start=0.5)
    one = Groups(np.array([0, 2]))
    for method in (other_starts, arcs):
        assert not method(system_of(problem), problem.start, one, Options())[1].any()
    z, solved = spread_starts(system_of(problem), problem.start, one, Options())
    assert solved.all()
    np.testing.assert_allclose([z[0] + z[1] ** 3, z[1] + 1.875 * np.sin(z[0])], [0.0, 1.0], atol=1e-9)


def test_starts_all_around_keep_to_the_bounds() -> None:
    tried = []

    def residual(t, y, yp, h):
        tried.append(float(np.real(y[0])))
        return [y[0] ** 2 + 1.0]

    problem = DenseProblem(residual, 1, start=0.5)
    problem.minimum, problem.maximum = np.array([0.2]), np.array([0.9])
    system = system_of(problem)
    tried.clear()  # what found the pattern
    assert not spread_starts(system, problem.start, Groups(np.array([0, 1])), Options())[1].any()
    assert min(tried) >= 0.2 and max(tried) <= 0.9


def test_numbers_whose_squares_are_none_any_more_lead_nowhere() -> None:
    data, all_free = np.array([1.0, np.inf, 2.0, 1e200]), np.ones(2, dtype=bool)
    step = damped_least_squares(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), data, np.ones(2), 1e-8, all_free)
    assert step.tolist() == [0.0, 0.0]
