"""Which quantities are given, which are computed."""

from __future__ import annotations

import numpy as np
import pytest

from acausal.runtime.initialise import InitialisationError, Outcome, initialise

from .doubles import DenseProblem


def tank(t, y, yp, h):
    """level' = inflow - outflow, outflow = sqrt(level), inflow = 1."""
    return [yp[0] - y[2] + y[1], y[1] - np.sqrt(y[0]), y[2] - 1.0]


def test_fixed_start_is_a_condition() -> None:
    found = initialise(DenseProblem(tank, 3, differential=[0], fixed=[0], start=[4.0, 0.0, 0.0]), 0.0)
    np.testing.assert_allclose(found.y, [4.0, 2.0, 1.0])
    assert found.yp[0] == pytest.approx(-1.0)
    assert found.report.conditions.fixed.tolist() == [0]


def test_a_start_is_taken_when_conditions_are_missing_and_the_report_says_so() -> None:
    problem = DenseProblem(tank, 3, differential=[0], start=[4.0, 0.0, 0.0], names=["level", "outflow", "inflow"])
    found = initialise(problem, 0.0)
    assert found.y[0] == 4.0
    assert found.report.conditions.taken.tolist() == [0]
    assert "1 unknown taken as initial condition at the start value: level" in str(found.report)


def test_initial_equation_replaces_a_start() -> None:
    problem = DenseProblem(tank, 3, differential=[0], start=[4.0, 1, 1], initial=lambda t, y, yp, h: [y[1] - 3.0], initial_size=1)
    found = initialise(problem, 0.0)
    np.testing.assert_allclose(found.y, [9.0, 3.0, 1.0])
    assert found.yp[0] == pytest.approx(-2.0)
    assert not len(found.report.conditions.taken)


def test_initial_equation_on_a_derivative() -> None:
    problem = DenseProblem(tank, 3, differential=[0], start=[4.0, 1, 1], initial=lambda t, y, yp, h: [yp[0] + 0.5], initial_size=1)
    found = initialise(problem, 0.0)
    np.testing.assert_allclose(found.y, [2.25, 1.5, 1.0])


def test_a_fixed_algebraic_unknown_frees_a_state() -> None:
    found = initialise(DenseProblem(tank, 3, differential=[0], fixed=[1], start=[4.0, 3.0, 0.0]), 0.0)
    np.testing.assert_allclose(found.y, [9.0, 3.0, 1.0])
    assert found.report.conditions.fixed.tolist() == [1]


def two_tanks(t, y, yp, h):
    """Unknowns a, b (levels), s = a + b."""
    return [yp[0] + y[0], yp[1] + y[1], y[2] - y[0] - y[1]]


def test_the_state_without_a_given_start_is_computed_first() -> None:
    def total(t, y, yp, h):
        return [y[2] - 10.0]

    for given, expected in (([False, True, True], [7.0, 3.0]), ([True, False, True], [2.0, 8.0])):
        problem = DenseProblem(two_tanks, 3, differential=[0, 1], start=[2.0, 3.0, 0.0], initial=total, initial_size=1)
        problem.start_given = np.array(given)
        np.testing.assert_allclose(initialise(problem, 0.0).y[:2], expected)


def test_structure_keeps_the_start_that_the_initial_equation_does_not_touch() -> None:
    problem = DenseProblem(
        two_tanks, 3, differential=[0, 1], start=[2.0, 3.0, 0.0], initial=lambda t, y, yp, h: [y[1] - 5.0], initial_size=1
    )
    found = initialise(problem, 0.0)
    np.testing.assert_allclose(found.y, [2.0, 5.0, 7.0])
    assert found.report.conditions.taken.tolist() == [0]


def test_surplus_but_consistent_conditions_are_accepted() -> None:
    problem = DenseProblem(two_tanks, 3, differential=[0, 1], fixed=[0, 1, 2], start=[2.0, 3.0, 5.0])
    found = initialise(problem, 0.0)
    np.testing.assert_allclose(found.y, [2.0, 3.0, 5.0])
    assert found.report.conditions.surplus.tolist() == [2]


def test_surplus_and_contradictory_conditions_are_named() -> None:
    problem = DenseProblem(two_tanks, 3, differential=[0, 1], fixed=[0, 1, 2], start=[2.0, 3.0, 6.0], names=["a", "b", "total"])
    with pytest.raises(InitialisationError) as error:
        initialise(problem, 0.0)
    assert error.value.outcome is Outcome.INCONSISTENT
    text = str(error.value)
    assert "Violated by 1: part2: equation text 2  (plant.py:12)" in text
    assert "a = 2, b = 3, total = 6" in text
    np.testing.assert_allclose(error.value.y, [2.0, 3.0, 6.0])


def test_surplus_initial_equation_names_what_it_contradicts() -> None:
    problem = DenseProblem(
        two_tanks,
        3,
        differential=[0, 1],
        fixed=[0, 1],
        start=[2.0, 3.0, 0.0],
        initial=lambda t, y, yp, h: [y[2] - 7.0],
        initial_size=1,
    )
    with pytest.raises(InitialisationError, match="initial text 0") as error:
        initialise(problem, 0.0)
    assert "together with part2: equation text 2" in str(error.value)


def test_a_steady_integrator_keeps_its_start() -> None:
    """x' = v, 0 = v: nothing determines x when x' is zero, so its start counts."""

    def f(t, y, yp, h):
        return [yp[0] - y[1], y[1] - 0.0 * y[1]]

    problem = DenseProblem(f, 2, differential=[0], fixed=[0], start=[7.0, 0.0])
    found = initialise(problem, 0.0, mode="steady")
    np.testing.assert_allclose(found.y, [7.0, 0.0])
    assert found.report.conditions.fixed.tolist() == [0]


def test_an_integrator_that_nothing_reads_counts_on() -> None:
    def f(t, y, yp, h):
        return [yp[0] - y[1], y[1] - 1.0]

    found = initialise(DenseProblem(f, 2, differential=[0], start=[7.0, 0.0]), 0.0, mode="steady")
    assert found.y.tolist() == [7.0, 1.0] and found.yp.tolist() == [1.0, 0.0]


def test_integrators_that_drive_each_other_and_cannot_rest_are_inconsistent() -> None:
    """x1' = y, x2' = y - 1, and y has to do with both: nothing is at rest anywhere."""

    def f(t, y, yp, h):
        return [yp[0] - y[2], yp[1] - y[2] + 1.0, y[2] + y[0] - y[1]]

    with pytest.raises(InitialisationError):
        initialise(DenseProblem(f, 3, differential=[0, 1], start=[7.0, 0.0, 0.0]), 0.0, mode="steady")


def test_parallel_capacitors_need_another_form_and_are_told_so() -> None:
    """v1 = v2 between two states: the derivatives are not determined by these equations."""

    def f(t, y, yp, h):
        v1, v2, i1, i2 = y
        return [yp[0] - i1, yp[1] - i2, v1 - v2, i1 + i2]

    problem = DenseProblem(f, 4, differential=[0, 1], fixed=[0, 1], start=1.0, names=["C1.v", "C2.v", "C1.i", "C2.i"])
    with pytest.raises(InitialisationError) as error:
        initialise(problem, 0.0)
    assert error.value.outcome is Outcome.STRUCTURE
    assert "structure of the problem" in str(error.value)
    assert "der(C1.v)" in str(error.value)


def test_changed_fixed_starts_are_noticed_by_a_prepared_initialiser() -> None:
    from acausal.runtime.initialise import Initialiser

    problem = DenseProblem(tank, 3, differential=[0], fixed=[0], start=[4.0, 3.0, 0.0])
    prepared = Initialiser(problem)
    assert prepared.run(0.0).y[1] == pytest.approx(2.0)
    problem.fixed[:] = [False, True, False]
    assert prepared.run(0.0).y[0] == pytest.approx(9.0)
