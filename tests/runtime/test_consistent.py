"""Consistent values after a jump, found by the native session: against closed forms and the equations themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import small_problems as problems
from small_problems import Rows, make_problem

import acausal as ac

core = pytest.importorskip("acausal._core")

one, minus = (lambda *_: 1.0), (lambda *_: -1.0)


def session(problem: Any) -> Any:
    return core.Ida(problem.native, problem.known, 1e-6, np.full(problem.size, 1e-6), problem.differential, **problems.SUNDIALS)


def solve(
    problem: Any, y: Any, yp: Any = None, t: float = 0.0, ida: Any = None, **more: Any
) -> tuple[bool, int, np.ndarray, np.ndarray]:
    y = np.array(y, dtype=float)
    yp = np.zeros(problem.size) if yp is None else np.array(yp, dtype=float)
    nominal = more.pop("nominal", np.ones(problem.size))
    ok, iterations = (ida or session(problem)).consistent(t, y, yp, problem.differential, nominal, **more)
    return ok, iterations, y, yp


def cubic() -> Any:
    """x' = z, z³ + z = x + known 0: one real z for every x."""
    clock = Rows([[2], [1]], [0], lambda xp, z: xp - z, {0: one, 1: minus})
    law = Rows([[1], [0], [4]], [1], lambda z, x, u: z * z * z + z - x - u, {0: lambda z, x, u: 3.0 * z * z + 1.0, 1: minus})
    return make_problem(2, [0.0], [clock, law], [True, False], [0.0, 0.0])


def modes() -> Any:
    """m x' + (1 - m) (x - 3) = 0 with m, cell 0 of known: differential in one mode, algebraic in the other; z = x + x'."""
    law = Rows(
        [[2], [0], [4]],
        [0],
        lambda xp, x, m: m * (xp + x) + (1.0 - m) * (x - 3.0),
        {0: lambda xp, x, m: m, 1: lambda xp, x, m: m + (1.0 - m)},
    )
    watch = Rows([[1], [0]], [1], lambda z, x: z - x, {0: one, 1: minus})
    return make_problem(2, [1.0], [law, watch], [True, False], [0.0, 0.0])


def test_a_linear_problem_is_solved_by_one_correction() -> None:
    problem = problems.ladder(40)
    problem.known[0] = 7.0
    voltages = np.sin(np.arange(40.0))
    ok, iterations, y, yp = solve(problem, np.concatenate([voltages, np.zeros(40)]))
    assert (ok, iterations) == (True, 1)
    currents = -np.diff(voltages, prepend=7.0)
    np.testing.assert_array_equal(y[:40], voltages)
    np.testing.assert_allclose(y[40:], currents, atol=1e-14)
    np.testing.assert_allclose(yp[:40], currents - np.append(currents[1:], 0.0), atol=1e-14)
    assert not yp[40:].any()


def test_nothing_is_corrected_where_nothing_is_wrong() -> None:
    problem = problems.ladder(5)
    _ok, _iterations, y, yp = solve(problem, np.arange(10.0))
    again = solve(problem, y, yp)
    assert again[:2] == (True, 0)
    np.testing.assert_array_equal(again[2], y)
    np.testing.assert_array_equal(again[3], yp)


def test_newton_finds_the_root_of_a_nonlinear_equation_from_afar() -> None:
    ok, iterations, y, yp = solve(cubic(), [1e4, 0.0])
    assert ok and 3 < iterations < 20
    expected = np.roots([1.0, 0.0, 1.0, -1e4])
    expected = expected[np.abs(expected.imag) < 1e-9].real[0]
    np.testing.assert_allclose([y[1], yp[0]], expected, rtol=1e-12)


def test_too_few_iterations_leave_everything_as_it_was() -> None:
    ok, iterations, y, yp = solve(cubic(), [1e4, 0.5], [0.25, 0.125], max_iterations=3)
    assert (ok, iterations) == (False, 3)
    assert y.tolist() == [1e4, 0.5] and yp.tolist() == [0.25, 0.125]


def test_an_unknown_is_algebraic_in_the_mode_in_which_its_derivative_vanishes() -> None:
    problem = modes()
    ida = session(problem)
    assert solve(problem, [5.0, 0.0], ida=ida)[0]
    _ok, _iterations, y, yp = solve(problem, [5.0, 0.0], ida=ida)
    assert y.tolist() == [5.0, 5.0] and yp.tolist() == [-5.0, 0.0]
    ida.set_cells(np.array([0], dtype=np.int32), np.array([0.0]))
    ok, iterations, y, yp = solve(problem, [5.0, 0.0], [9.0, 9.0], ida=ida)
    assert (ok, iterations) == (True, 1)
    assert y.tolist() == [3.0, 3.0] and yp.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("k", [1e-12, 1e12])
def test_stiff_rows_lose_no_digits(k: float) -> None:
    problem = problems.decay(1, k)
    ok, iterations, _y, yp = solve(problem, [0.3], [1.0])
    assert ok and iterations <= 2  # from 1 to 1e-12, a first correction leaves its rounding error
    np.testing.assert_allclose(yp, -k * 0.3, rtol=1e-15)


def test_a_slow_state_beside_large_values_is_corrected() -> None:
    """1e-18 v' = i with i tiny: small against its row's nominal values, and yet wrong."""
    charge = Rows([[2], [1]], [0], lambda vp, i: 1e-18 * vp - i, {0: lambda *_: 1e-18, 1: minus})
    given = Rows([[1], [4]], [1], lambda i, u: i - u, {0: one})
    problem = make_problem(2, [1e-18], [charge, given], [True, False], [0.0, 0.0])
    ok, _iterations, y, yp = solve(problem, [0.0, 0.0])
    assert ok
    np.testing.assert_allclose([y[1], yp[0]], [1e-18, 1.0], rtol=1e-14)


def test_singular_equations_are_told() -> None:
    problem = problems.undetermined()
    ok, _iterations, y, yp = solve(problem, [2.0, 1.0], [0.5, 0.0])
    assert not ok and y.tolist() == [2.0, 1.0] and yp.tolist() == [0.5, 0.0]


def test_what_has_no_value_is_told() -> None:
    ok, iterations, y, _yp = solve(problems.square_root(), [2.0, 1.0])
    assert (ok, iterations) == (False, 0) and y.tolist() == [2.0, 1.0]


def test_inputs_are_those_of_the_time_asked_for() -> None:
    problem = problems.driven()
    ida = session(problem)
    ida.add_table(0, np.array([0.0, 10.0]), np.array([0.0, 100.0]))
    assert solve(problem, [0.0], t=2.0, ida=ida)[3].tolist() == [20.0]
    assert solve(problem, [0.0], t=3.0, ida=ida)[3].tolist() == [30.0]


def test_an_input_that_raises_is_heard() -> None:
    ida = session(problems.driven())
    ida.add_function(0, lambda t: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        solve(problems.driven(), [0.0], ida=ida)


def test_a_run_is_not_disturbed() -> None:
    """The same steps, whether or not consistent values were asked for on the way."""
    ends = []
    for ask in (False, True):
        problem = cubic()
        ida = session(problem)
        _ok, _iterations, y, yp = solve(problem, [1.0, 0.0], ida=ida)
        ida.start(0.0, y, yp)
        nothing = np.zeros(0)
        for k in range(1, 6):
            if ask:
                assert solve(problem, [100.0, 0.0], t=50.0, ida=ida)[0]
            assert ida.advance(k / 5, nothing, np.zeros((0, ida.width)))[0] == core.status.FINISHED
        ends.append((ida.y.tolist(), ida.yp.tolist(), ida.statistics()["residual_evaluations"]))
    assert ends[0] == ends[1]


def test_the_jacobian_is_linear_in_cj_through_computed_cells() -> None:
    """What the separation into dF/dy and dF/dy' rests on: an explicit variable that reads a derivative, used twice."""
    import acausal as ac

    class Chain(ac.Component):
        def __init__(self) -> None:
            self.x, self.z = ac.Variable(start=1.0), ac.Variable(start=2.0)
            self.f, self.g = ac.Variable(), ac.Variable()

        def equations(self) -> Any:
            yield ac.der(self.x) * ac.der(self.x) * ac.der(self.x) + ac.der(self.x) == -self.x
            yield self.f == 3.0 * self.x + self.x * ac.der(self.x)
            yield self.g == self.f * self.x * ac.der(self.x)
            yield ac.der(self.z) * self.f == self.g - self.z

    problem = ac.compile(Chain()).problem
    slots = np.concatenate([kernel.slots.ravel() for kernel in problem.computed.kernels])
    assert ((slots >= problem.size) & (slots < 2 * problem.size)).any()
    values = [problem.jacobian(0.0, problem.start, np.full(problem.size, 0.3), cj) for cj in (0.0, 1.0, 2.0)]
    np.testing.assert_allclose(values[2] - values[1], values[1] - values[0], rtol=1e-13)


class Contact(ac.Component):
    """A ball that falls into a damper and a spring: the force jumps, and follows from an equation that is not linear."""

    x, v, f = ac.Variable(start=0.3, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.v
        yield self.f + 0.001 * self.f**3 == ac.where(self.x < 0, -400.0 * self.x - 2.0 * self.v, 0.0)
        yield ac.der(self.v) == self.f - 9.81


def test_what_is_solved_for_at_an_event_is_exact_at_any_tolerance() -> None:
    result = ac.compile(Contact()).simulate(until=0.5, rtol=1e-11, points=11)
    row = int(np.searchsorted(result.time, result.events[0].time, side="right")) - 1
    x, v, f = (float(result[name][row]) for name in "xvf")
    assert v == pytest.approx(-np.sqrt(2 * 9.81 * 0.3), rel=1e-9)
    assert f > 4.0 and abs(f + 0.001 * f**3 + 400.0 * x + 2.0 * v) < 1e-14 * f


def started(problem: Any, t: float, y: Any, yp: Any, table: Any = None) -> Any:
    """A session whose algebraic unknowns are known to be such, begun at a consistent point."""
    algebraic = ~np.asarray(problem.differential)
    ida = core.Ida(
        problem.native, problem.known, 1e-6, np.full(problem.size, 1e-6), np.ones(problem.size, dtype=bool), algebraic=algebraic,
        **problems.SUNDIALS,
    )  # fmt: skip
    if table is not None:
        ida.add_table(0, *table)
    ida.start(t, np.asarray(y, dtype=float), np.asarray(yp, dtype=float))
    return ida


@pytest.mark.parametrize("z", [-2.0, 0.1, 3.0])
def test_a_start_knows_how_fast_algebraic_unknowns_change(z: float) -> None:
    """z³ + z = x and x' = z: (3 z² + 1) z' = z."""
    ida = started(cubic(), 5.0, [z**3 + z, z], [z, 0.0])
    np.testing.assert_allclose(ida.yp, [z, z / (3 * z * z + 1)], rtol=1e-12)


def test_inputs_that_are_tables_take_part_in_it() -> None:
    """z³ + z = x + u with u' = 7: (3 z² + 1) z' = z + 7."""
    z, times = 0.5, np.array([0.0, 10.0])
    ida = started(cubic(), 2.0, [z**3 + z - 14.0, z], [z, 0.0], (times, 7.0 * times, None))
    assert ida.yp[1] == pytest.approx((z + 7.0) / (3 * z * z + 1), rel=1e-6)


class Kicked(ac.Component):
    """x falls and is kicked up each second; z follows from it by an equation that has to be solved."""

    x = ac.Variable(start=1.0, fixed=True)
    z = ac.Variable(start=1.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -3.0 * self.z
        yield self.z + 0.1 * ac.exp(self.z) == self.x
        yield ac.when(ac.sample(1.0, 1.0), ac.reinit(self.x, self.x + 1.0))


def test_a_restart_is_no_slower_than_the_solution_asks_for() -> None:
    """It takes some 42 steps from kick to kick; with slopes of zero it took 54."""
    result = ac.compile(Kicked()).simulate(until=30.0, rtol=1e-6)
    assert result.statistics["steps"] < 48 * result.statistics["restarts"]


class Emptied(ac.Component):
    """x is set to next to nothing each second, where its root has a slope of 1e5; y is what flows by it."""

    x, z, y = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.7), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 1.0
        yield self.z**2 + 1e-9 * self.z == self.x
        yield ac.der(self.y) == self.z
        yield ac.when(self.x > 1.0, ac.reinit(self.x, 1e-20))


def test_a_slope_that_leads_nowhere_is_not_followed() -> None:
    """2/3·(1 - 0.5^1.5) until the first event, 2/3 from one to the next, 2/3·0.8^1.5 after the last; with such slopes it took 95
    steps each."""
    result = ac.compile(Emptied()).simulate(until=20.3)
    assert result["y"][-1] == pytest.approx(2 / 3 * (1 - 0.5**1.5 + 19 + 0.8**1.5), rel=2e-5)
    assert result.statistics["steps"] < 70 * result.statistics["restarts"]
