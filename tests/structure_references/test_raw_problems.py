"""Car axis, Andrews' mechanism and the water tube system as published: index 3, 3 and 2. Nothing is differentiated by hand."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from benchmarks.structure.andrews import andrews
from benchmarks.structure.car_axis import car_axis
from benchmarks.structure.raw import RawProblem
from benchmarks.structure.water_tube import water_tube

from .conftest import state_count

PROBLEMS = pytest.mark.parametrize("problem", [car_axis, andrews, water_tube], ids=lambda p: p.name)


@PROBLEMS
def test_end_values_to_four_digits(problem: RawProblem) -> None:
    result = ac.compile(problem.component()).simulate(until=problem.end, points=2, rtol=1e-7)
    assert result.outcome is ac.Outcome.FINISHED
    assert problem.digits(result) >= 4.0


@pytest.mark.parametrize(
    "problem, digits",
    [(car_axis, (5.5, 7.2)), (andrews, (7.0, 8.8)), (water_tube, (4.9, 6.4))],
    ids=lambda p: getattr(p, "name", ""),
)
def test_digits_grow_with_the_tolerance(problem: RawProblem, digits: tuple[float, float]) -> None:
    """Accelerations are tested in scales of their own: as tightly as their states deserve, not at all cost."""
    model = ac.compile(problem.component())
    reached = [problem.digits(model.simulate(until=problem.end, points=2, rtol=rtol)) for rtol in (1e-7, 1e-9)]
    assert reached[0] >= digits[0] and reached[1] >= digits[1]


@PROBLEMS
def test_degrees_of_freedom(problem: RawProblem) -> None:
    """States are what the constraints leave free: positions and velocities, less each constraint and its derivative."""
    assert state_count(ac.compile(problem.component())) == problem.degrees_of_freedom


def test_constraints_of_the_car_axis_do_not_drift() -> None:
    result = ac.compile(car_axis.component()).simulate(until=car_axis.end, rtol=1e-7)
    xl, yl, xr, yr = (np.asarray(result[n]) for n in ("xl", "yl", "xr", "yr"))
    yb = 0.1 * np.sin(10 * result.time)
    xb = np.sqrt(1 - yb**2)
    assert np.abs(xb * xl + yb * yl).max() < 1e-6
    assert np.abs((xl - xr) ** 2 + (yl - yr) ** 2 - 1).max() < 1e-6


def test_accelerations_and_multipliers_of_the_mechanism_are_consistent_at_the_start() -> None:
    """The published start values of the accelerations w and the multipliers lam follow from angles and velocities alone."""
    rough = andrews.component()
    result = ac.compile(rough).simulate(until=1e-9, points=2, rtol=1e-7)
    for name, value in andrews.others.items():
        np.testing.assert_allclose(result[name][0], value, rtol=1e-8, atol=1e-5)
