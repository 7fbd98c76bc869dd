"""The whole task, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array, diags_array, eye_array

from acausal.runtime.initialise import Initialiser, Options, Outcome, initialise

from .doubles import DenseProblem, SparseProblem


def rc_ladder(sections: int) -> SparseProblem:
    """Unknowns v (capacitors) and i (resistors), in turn: v_k' = i_k - i_{k+1}, i_k = v_{k-1} - v_k, v_{-1} = 1."""
    n = 2 * sections
    v, i = np.arange(0, n, 2), np.arange(1, n, 2)
    rows = [v, v[:-1], i, i[1:]]
    columns = [i, i[1:], v, v[:-1]]
    signs = [-1.0, 1.0, 1.0, -1.0]
    data = np.concatenate([np.full(len(r), s) for r, s in zip(rows, signs, strict=True)])
    value = csc_array((data, (np.concatenate(rows), np.concatenate(columns))), shape=(n, n))
    value = value + csc_array((np.ones(sections), (i, i)), shape=(n, n))
    slope = csc_array((np.ones(sections), (v, v)), shape=(n, n))
    constant = np.zeros(n)
    constant[1] = -1.0
    return SparseProblem(value, slope, constant=constant, differential=v)


def test_linear_network_takes_one_iteration_and_a_check() -> None:
    problem = rc_ladder(50)
    found = initialise(problem, 0.0)
    assert found.outcome is Outcome.NEWTON
    assert found.report.statistics.iterations == 1
    assert found.report.statistics.residuals == 2
    assert found.report.statistics.jacobians == 1
    expected_current = np.zeros(50)
    expected_current[0] = 1.0
    np.testing.assert_allclose(found.y[1::2], expected_current, atol=1e-15)
    np.testing.assert_allclose(found.yp[::2], expected_current, atol=1e-15)  # capacitor 0 alone is charged
    np.testing.assert_array_equal(found.yp[1::2], 0.0)


def test_steady_state_of_the_ladder_is_its_source() -> None:
    found = initialise(rc_ladder(50), 0.0, mode="steady")
    np.testing.assert_allclose(found.y[::2], 1.0, atol=1e-12)
    np.testing.assert_allclose(found.y[1::2], 0.0, atol=1e-12)
    np.testing.assert_array_equal(found.yp, 0.0)


def test_a_hundred_thousand_unknowns_cost_two_residuals_and_one_factorisation() -> None:
    n = 100_000
    value = diags_array([np.full(n - 1, -1.0), np.full(n, 4.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
    truth = np.cos(np.arange(n))
    problem = SparseProblem(value.tocsc(), csc_array((n, n)), constant=-(value @ truth))
    found = initialise(problem, 0.0)
    np.testing.assert_allclose(found.y, truth, atol=1e-12)
    statistics = found.report.statistics
    assert (statistics.residuals, statistics.jacobians, statistics.factorisations, statistics.iterations) == (2, 1, 1, 1)


def test_a_rerun_keeps_the_factorisation_of_a_linear_plant_and_reads_new_numbers() -> None:
    problem = rc_ladder(20)
    prepared = Initialiser(problem)
    prepared.run(0.0)
    problem.constant[1] = -3.0
    again = prepared.run(0.0)
    assert again.y[1] == pytest.approx(3.0)
    problem.start[0] = 1.0
    assert prepared.run(0.0).y[1] == pytest.approx(2.0)
    assert again.report.statistics.factorisations == 0


def test_a_good_guess_costs_one_residual() -> None:
    def f(t, y, yp, h):
        return [y[0] ** 2 - 2.0, y[1] - y[0] ** 3]

    problem = DenseProblem(f, 2, start=1.0)
    first = initialise(problem, 0.0)
    again = initialise(problem, 0.0, y_guess=first.y)
    np.testing.assert_allclose(again.y, [2**0.5, 2**1.5], rtol=1e-14)
    assert again.report.statistics.iterations == 0


def test_bounds_choose_between_two_solutions() -> None:
    def f(t, y, yp, h):
        return [y[0] ** 2 - 4.0]

    upper = initialise(DenseProblem(f, 1, start=-1.0, minimum=0.0), 0.0)
    lower = initialise(DenseProblem(f, 1, start=1.0, maximum=0.0), 0.0)
    assert upper.y[0] == pytest.approx(2.0, rel=1e-9)
    assert lower.y[0] == pytest.approx(-2.0, rel=1e-9)


@pytest.mark.parametrize("start", [-5.0, 0.0, 0.7, 5.0, 30.0])
def test_diode_and_resistor_from_anywhere(start: float) -> None:
    """i = Is (exp(v/Vt) - 1), E = R i + v."""
    saturation, thermal, resistance, source = 1e-14, 0.025, 100.0, 5.0

    def f(t, y, yp, h):
        v, i = y
        return [i - saturation * (np.exp(v / thermal) - 1.0), source - resistance * i - v]

    found = initialise(DenseProblem(f, 2, start=[start, 0.0], nominal=[1.0, 0.01]), 0.0)
    v, i = found.y
    assert i == pytest.approx((source - v) / resistance, rel=1e-9)
    assert v == pytest.approx(thermal * np.log(i / saturation + 1.0), rel=1e-9)


@pytest.mark.parametrize("start", [0.0, 1.0, 1e3, 1e-6])
def test_logarithm_and_root_traps(start: float) -> None:
    """Newton's full step leaves the domain of log and sqrt from a large start; from zero there is no value at all."""

    def f(t, y, yp, h):
        return [np.log(y[0]) + 2.0, np.sqrt(y[1]) - 3.0 + y[0] - np.exp(-2.0)]

    found = initialise(DenseProblem(f, 2, start=start), 0.0)
    np.testing.assert_allclose(found.y, [np.exp(-2.0), 9.0], rtol=1e-8)


def test_a_division_by_a_start_of_zero_is_no_obstacle_when_the_divisor_is_solved_first() -> None:
    def f(t, y, yp, h):
        return [y[0] - 5.0, y[1] * y[0] - 1.0 / y[0]]

    found = initialise(DenseProblem(f, 2), 0.0)
    np.testing.assert_allclose(found.y, [5.0, 0.04], rtol=1e-9)
    assert found.report.non_finite.tolist() == [1]


def test_steady_state_of_a_heated_tank() -> None:
    """C T' = P - G (T - T_a) - s (T^4 - T_a^4), q = G (T - T_a)."""
    power, conductance, radiation, ambient = 1000.0, 5.0, 1e-8, 290.0

    def f(t, y, yp, h):
        return [4e4 * yp[0] - power + y[1] + radiation * (y[0] ** 4 - ambient**4), y[1] - conductance * (y[0] - ambient)]

    problem = DenseProblem(f, 2, differential=[0], fixed=[0], start=[290.0, 0.0], nominal=[300.0, 1e3])
    found = initialise(problem, 0.0, mode="steady")
    roots = np.roots([radiation, 0, 0, conductance, -power - conductance * ambient - radiation * ambient**4])
    expected = roots[(abs(roots.imag) < 1e-9) & (roots.real > 0)].real[0]
    assert found.y[0] == pytest.approx(expected, rel=1e-9)
    assert found.report.conditions.unused.tolist() == [0]


def test_a_closed_circuit_at_rest_keeps_what_it_has() -> None:
    """Three tanks in a ring of pipes: at rest the levels are equal, and nothing says at which height. The nearest is the mean."""

    def f(t, y, yp, h):
        level, flow = y[:3], y[3:]
        return [*(yp[:3] + flow - np.roll(flow, 1)), *(flow - (level - np.roll(level, -1)))]

    problem = DenseProblem(f, 6, differential=[0, 1, 2], start=[3.0, 1.0, 5.0, 0.0, 0.0, 0.0])
    found = initialise(problem, 0.0, mode="steady")
    np.testing.assert_allclose(found.y, [3.0, 3.0, 3.0, 0.0, 0.0, 0.0], atol=1e-6)
    assert "may not be unique" in str(found.report)


def test_hold_keeps_differential_unknowns_where_they_are() -> None:
    def f(t, y, yp, h):
        return [yp[0] + y[1], y[1] - y[0] ** 2]

    problem = DenseProblem(f, 2, differential=[0], fixed=[0], start=[1.0, 0.0])
    found = initialise(problem, 2.0, mode="hold", y_guess=np.array([3.0, 0.0]))
    np.testing.assert_allclose(found.y, [3.0, 9.0])
    assert found.yp[0] == pytest.approx(-9.0)


def test_an_entry_that_the_trials_missed_is_found_later() -> None:
    """der(u0) is multiplied by something that is zero around the start, and only there."""

    def f(t, y, yp, h):
        gate = np.where(np.real(y[1]) > 50.0, 1.0, 0.0)
        return [yp[0] - 2.0 + 0.0 * y[0], y[1] - 100.0 + gate * 0.0, y[2] - 1.0 - gate * yp[0]]

    problem = DenseProblem(f, 3, differential=[0])
    dense = csc_array(np.ones((3, 3)))
    problem.pattern = dense.indptr.astype(np.int32), dense.indices.astype(np.int32)
    found = initialise(problem, 0.0)
    np.testing.assert_allclose([*found.y, found.yp[0]], [0.0, 100.0, 3.0, 2.0])


def test_tolerance_is_honoured() -> None:
    def f(t, y, yp, h):
        return [y[0] ** 3 - 10.0]

    loose = initialise(DenseProblem(f, 1, start=1.0), 0.0, tolerance=1e-3)
    tight = initialise(DenseProblem(f, 1, start=1.0), 0.0, options=Options(tolerance=1e-12))
    assert abs(loose.y[0] - 10 ** (1 / 3)) < 1e-3 * 3
    assert abs(tight.y[0] - 10 ** (1 / 3)) < 1e-12 * 3
    assert loose.report.statistics.iterations < tight.report.statistics.iterations


def test_singular_linear_systems_are_told_from_structural_ones() -> None:
    from acausal.runtime.initialise import InitialisationError

    def twice(t, y, yp, h):
        return [y[0] + y[1] - 1.0, 2.0 * y[0] + 2.0 * y[1] - 3.0]

    with pytest.raises(InitialisationError) as error:
        initialise(DenseProblem(twice, 2), 0.0)
    assert error.value.outcome is Outcome.SINGULAR

    def alone(t, y, yp, h):
        return [y[0] - 1.0, y[0] ** 2 - 3.0]

    with pytest.raises(InitialisationError) as error:
        initialise(DenseProblem(alone, 2), 0.0)
    assert error.value.outcome is Outcome.STRUCTURE
    assert "Not determined: u1" in str(error.value)
    assert "part1: equation text 1" in str(error.value)


def test_a_root_where_the_jacobian_vanishes_is_accepted_if_it_stands_alone() -> None:
    """A turbulent pipe at rest: m |m| = 0."""

    def f(t, y, yp, h):
        return [y[0] * np.sqrt(y[0] ** 2) - y[1], y[1] - 0.0]

    found = initialise(DenseProblem(f, 2), 0.0)
    np.testing.assert_array_equal(found.y, 0.0)


def test_a_floating_potential_is_not_accepted() -> None:
    """i = v1 - v2 = 0 twice: consistent, but the potentials are anywhere."""

    def f(t, y, yp, h):
        return [y[2] - (y[0] - y[1]), y[2] - 0.0, y[0] - y[1] + 2.0 * y[2]]

    from acausal.runtime.initialise import InitialisationError

    with pytest.raises(InitialisationError) as error:
        initialise(DenseProblem(f, 3, start=[1.0, 1.0, 0.0]), 0.0)
    assert error.value.outcome is Outcome.SINGULAR


def test_a_problem_without_unknowns() -> None:
    found = initialise(SparseProblem(csc_array((0, 0)), csc_array((0, 0))), 0.0)
    assert found.y.shape == (0,)


def test_identity_of_size_one() -> None:
    found = initialise(SparseProblem(eye_array(1).tocsc(), csc_array((1, 1)), constant=-np.ones(1)), 0.0)
    assert found.y.tolist() == [1.0]
