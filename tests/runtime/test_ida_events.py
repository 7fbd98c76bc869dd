"""What a run with events asks of the native session: cells, rows, step updates, roots met without a restart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_problems as problems
from small_problems import Rows, expression_kernel, make_problem

core = pytest.importorskip("acausal._core")

one, minus = (lambda *_: 1.0), (lambda *_: -1.0)


def session(problem: Any, gather: Any = None, yp: Any = None, tolerance: float = 1e-6, **options: Any) -> Any:
    cells = np.arange(problem.size) if gather is None else gather
    outputs = core.Outputs(problem.native, np.asarray(cells, dtype=np.int32))
    atol = np.full(problem.size, tolerance)
    ida = core.Ida(
        problem.native, problem.known, tolerance, atol, problem.differential, outputs, **{**problems.SUNDIALS, **options}
    )
    ida.start(0.0, problem.start, np.zeros(problem.size) if yp is None else np.asarray(yp, dtype=float))
    return ida


def advance(ida: Any, t_end: float, times: Any = ()) -> tuple[int, np.ndarray]:
    times = np.asarray(times, dtype=float)
    rows = np.full((len(times), ida.width), np.nan)
    status, written = ida.advance(t_end, times, rows)
    return status, rows[:written]


def set_cells(ida: Any, cells: Any, values: Any) -> None:
    ida.set_cells(np.array(cells, dtype=np.int32), np.array(values, dtype=float))


def row(ida: Any) -> list[float]:
    out = np.full(ida.width, np.nan)
    ida.row(out)
    return out.tolist()


def wave(levels: Any = (0.0,), cells: int = 0) -> Any:
    """x = sin t as an oscillator, with root functions x - level; the levels are known cells, `cells` more come behind them."""
    count = len(levels)
    speed = Rows([[2], [1]], [0], lambda xp, v: xp - v, {0: one, 1: minus})
    force = Rows([[3], [0]], [1], lambda vp, x: vp + x, {0: one, 1: one})
    problem = make_problem(2, [*levels, *[0.0] * cells], [speed, force], [True, True], [0.0, 1.0])
    places = np.arange(count)
    problem.native.add_root(*expression_kernel(Rows([np.zeros(count, int), 4 + places], places, lambda x, a: x - a), 2))
    problem.native.set_roots(count)
    return problem


def start_wave(problem: Any, **more: Any) -> Any:
    return session(problem, yp=[1.0, 0.0], tolerance=1e-9, **more)


# ------------------------------------------------------------------------------------------------ cells, rows, workspace


def test_cells_change_what_is_integrated_and_what_is_stored() -> None:
    problem = problems.decay(1, 1.0)
    ida = session(problem, gather=[0, 2], yp=[-1.0])
    advance(ida, 1.0)
    set_cells(ida, [0], [3.0])
    ida.reinit(1.0, ida.y, -3 * ida.y)
    _status, rows = advance(ida, 2.0, [1.0, 2.0])
    np.testing.assert_allclose(rows, [[np.exp(-1.0), 3.0], [np.exp(-4.0), 3.0]], rtol=1e-4)


@pytest.mark.parametrize(
    "cells, values, told",
    [
        (np.array([2], dtype=np.int32), np.ones(1), "`cells` holds 2, outside the 2 known values"),
        (np.array([-1], dtype=np.int32), np.ones(1), "negative"),
        (np.array([0], dtype=np.int32), np.ones(2), "`values` must have 1 elements, not 2"),
        (np.array([0]), np.ones(1), "`cells` must be .* int32"),
    ],
)
def test_cells_are_checked(cells: Any, values: Any, told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=told):
        session(problems.decay(1), yp=[-1.0]).set_cells(cells, values)


def test_an_input_keeps_its_cell() -> None:
    ida = session(problems.driven(), gather=[0, 2], yp=[2.0])
    ida.add_table(0, np.array([0.0, 10.0]), np.array([2.0, 2.0]))
    set_cells(ida, [0], [50.0])
    assert row(ida) == [0.0, 2.0]
    advance(ida, 1.0)
    assert row(ida)[0] == pytest.approx(2.0, abs=1e-5)


def test_a_row_is_what_is_stored_where_the_session_is() -> None:
    problem = wave([0.5])
    ida = start_wave(problem, gather=[0, 1, 2, 5])
    assert row(ida) == [0.0, 1.0, 1.0, 0.0]
    assert advance(ida, 10.0)[0] == core.status.ROOT
    assert ida.t == pytest.approx(np.arcsin(0.5), abs=1e-7)
    np.testing.assert_allclose(row(ida), [*ida.y, ida.yp[0], ida.t], rtol=1e-12)
    assert row(ida)[0] == pytest.approx(0.5, abs=1e-12)
    ida.reinit(ida.t, np.array([9.0, 8.0]), np.array([8.0, -9.0]))
    assert row(ida) == [9.0, 8.0, 8.0, ida.t]


def test_the_workspace_is_up_to_date() -> None:
    problem = problems.driven()
    ida = session(problem, yp=[0.0])
    ida.add_table(0, np.array([0.0, 10.0]), np.array([0.0, 20.0]))
    out = np.full(4, np.nan)
    ida.workspace(out)
    assert out.tolist() == [0.0, 0.0, 0.0, 0.0]
    advance(ida, 3.0)
    ida.workspace(out)
    assert out.tolist() == [ida.y[0], ida.yp[0], 6.0, 3.0]
    with pytest.raises(ValueError, match="`out` must have 4 elements, not 3"):
        ida.workspace(np.zeros(3))


# ------------------------------------------------------------------------------------------------ step updates


def counting(watched: bool = False, levels: Any = (0.5, -0.5)) -> tuple[Any, int]:
    """The wave with a cell that counts accepted steps."""
    problem = wave(levels, cells=1)
    cell = 4 + len(levels)
    problem.native.add_step_update(*expression_kernel(Rows([[cell]], [0], lambda i: i + 1.0), 2))
    problem.native.set_step_updates(np.array([len(levels)], dtype=np.int32), np.array([watched]))
    return problem, cell


def count_of(ida: Any, cell: int) -> float:
    out = np.zeros(4 + 4)
    ida.workspace(out)
    return float(out[cell])


def test_a_counter_counts_accepted_steps_once() -> None:
    problem, cell = counting()
    ida = start_wave(problem)
    roots = 0
    while (status := advance(ida, 20.0)[0]) == core.status.ROOT:
        roots += 1
    assert status == core.status.FINISHED and roots == 13
    assert count_of(ida, cell) == ida.statistics()["steps"] > 100


def test_a_counter_counts_over_restarts() -> None:
    problem, cell = counting()
    ida = start_wave(problem)
    while advance(ida, 20.0)[0] == core.status.ROOT:
        ida.reinit(ida.t, ida.y, ida.yp)
    assert count_of(ida, cell) == ida.statistics()["steps"] > 100


def test_step_updates_need_no_root_functions() -> None:
    problem = problems.decay(1, 1.0)
    problem.native.add_step_update(*expression_kernel(Rows([[2], [0]], [0], lambda k, y: k + 0.0 * y), 1))
    problem.native.set_step_updates(np.array([0], dtype=np.int32), np.array([True]))
    ida = session(problem, yp=[-1.0])
    assert advance(ida, 1.0)[0] == core.status.FINISHED  # never changed
    np.testing.assert_allclose(ida.y, np.exp(-1.0), rtol=1e-4)


def test_a_watched_cell_ends_the_run_after_each_step_that_changes_it() -> None:
    problem, cell = counting(watched=True, levels=(5.0, 6.0))
    ida = start_wave(problem)
    for k in range(1, 20):
        assert advance(ida, 20.0)[0] == core.status.ASSIGNED
        assert ida.statistics()["steps"] == k == count_of(ida, cell)
    ends = []
    while (status := advance(ida, 20.0)[0]) == core.status.ASSIGNED:
        ends.append(ida.t)
    assert status == core.status.FINISHED and ends[-1] == ida.t == 20.0
    np.testing.assert_allclose(ida.y[0], np.sin(20.0), atol=1e-6)


def test_interruptions_do_not_change_the_steps() -> None:
    quiet, loud = start_wave(counting(False, (5.0, 6.0))[0]), start_wave(counting(True, (5.0, 6.0))[0])
    advance(quiet, 20.0)
    while advance(loud, 20.0)[0] == core.status.ASSIGNED:
        pass
    assert quiet.y.tolist() == loud.y.tolist()
    assert quiet.statistics()["residual_evaluations"] == loud.statistics()["residual_evaluations"]


def test_output_within_a_step_sees_what_held_there() -> None:
    """A cell remembers the time of the last step's end: at an output time it is not later than that time."""
    law = Rows([[1], [0]], [0], lambda yp, y: yp + y, {0: one, 1: one})
    problem = make_problem(1, [0.0], [law], [True], [1.0])
    problem.native.add_step_update(*expression_kernel(Rows([[3]], [0], lambda t: t + 0.0), 1))
    problem.native.set_step_updates(np.array([0], dtype=np.int32), np.array([False]))
    ida = session(problem, gather=[2], yp=[-1.0])
    times = np.linspace(0.0, 3.0, 301)
    _status, rows = advance(ida, 3.0, times)
    assert len(rows) == 301 and rows[0, 0] == 0.0
    assert (rows[:, 0] <= times).all() and (np.diff(rows[:, 0]) >= 0).all() and rows[-1, 0] > 2.0
    assert row(ida) == [3.0]


@pytest.mark.parametrize(
    "cells, watched, told", [([9], [True], "outside the known"), ([0], [True, False], "`watched` must have 1")]
)
def test_step_updates_are_checked(cells: Any, watched: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        problems.decay(1).native.set_step_updates(np.array(cells, dtype=np.int32), np.array(watched))


# ------------------------------------------------------------------------------------------------ roots without a restart


def test_a_run_goes_on_after_roots_as_if_there_were_none() -> None:
    alone, rooted = start_wave(wave([5.0])), start_wave(wave([0.5]))
    assert advance(alone, 20.0)[0] == core.status.FINISHED
    found = []
    while advance(rooted, 20.0)[0] == core.status.ROOT:
        found.append((rooted.t, rooted.roots()[0]))
    expected = np.sort(np.concatenate([np.pi / 6 + 2 * np.pi * np.arange(4), 5 * np.pi / 6 + 2 * np.pi * np.arange(3)]))
    np.testing.assert_allclose([t for t, _ in found], expected, atol=1e-6)
    assert [int(d) for _, d in found] == [1, -1] * 3 + [1]
    assert rooted.y.tolist() == alone.y.tolist() and rooted.t == alone.t == 20.0
    assert rooted.statistics()["steps"] == alone.statistics()["steps"]


def test_levels_moved_at_a_root_hold_from_there_on() -> None:
    """Climbing: at each crossing the level goes up, past where x is, without a restart."""
    ida = start_wave(wave([0.1]))
    found = []
    for level in (0.3, 0.6, 0.9, -0.5, 2.0):
        status, _rows = advance(ida, 6.0)
        assert status == core.status.ROOT
        found.append(ida.t)
        set_cells(ida, [0], [level])
    assert advance(ida, 6.0)[0] == core.status.FINISHED
    np.testing.assert_allclose(found, [*np.arcsin([0.1, 0.3, 0.6, 0.9]), np.pi + np.arcsin(0.5)], atol=1e-6)


@pytest.mark.parametrize("direction", [0, 1, -1])
def test_levels_moved_at_a_stop_make_no_crossing(direction: int) -> None:
    """x = 0.48 at t = 0.5; the level jumps from above x to below it, which is no crossing of x through it."""
    ida = start_wave(wave([0.9]))
    ida.set_root_directions(np.array([direction], dtype=np.int32))
    assert advance(ida, 0.5)[0] == core.status.FINISHED
    set_cells(ida, [0], [0.2])
    status, _rows = advance(ida, 6.0)
    if direction == 1:
        assert status == core.status.FINISHED
        return
    assert status == core.status.ROOT and ida.roots().tolist() == [-1]
    assert ida.t == pytest.approx(np.pi - np.arcsin(0.2), abs=1e-6)
    set_cells(ida, [0], [-0.9])
    status, _rows = advance(ida, 4.8)
    assert status == core.status.ROOT and ida.roots().tolist() == [-1]
    assert ida.t == pytest.approx(np.pi + np.arcsin(0.9), abs=1e-6)


def test_directions_hold_for_a_level_that_was_moved() -> None:
    ida = start_wave(wave([0.9]))
    ida.set_root_directions(np.array([1], dtype=np.int32))
    advance(ida, 0.5)
    set_cells(ida, [0], [0.2])
    assert advance(ida, 10.0)[0] == core.status.ROOT and ida.roots().tolist() == [1]
    assert ida.t == pytest.approx(2 * np.pi + np.arcsin(0.2), abs=1e-6)
    assert advance(ida, 20.0)[0] == core.status.ROOT and ida.t == pytest.approx(4 * np.pi + np.arcsin(0.2), abs=1e-6)


def test_an_end_within_the_step_of_a_root_is_met() -> None:
    """IDAS stands at the end of its step when it returns a root inside: an end before that is reached by looking back."""
    ida = start_wave(wave([0.5, 0.501]))
    assert advance(ida, 10.0)[0] == core.status.ROOT
    first = ida.t
    status, rows = advance(ida, first + 1e-4, [first + 5e-5, first + 1e-4, first + 2e-4])
    assert status == core.status.FINISHED and ida.t == first + 1e-4 and len(rows) == 2
    np.testing.assert_allclose(rows[:, 0], np.sin([first + 5e-5, first + 1e-4]), atol=1e-7)
    status, rows = advance(ida, 10.0, [first + 2e-4, 9.0])
    assert status == core.status.ROOT and ida.roots().tolist() == [0, 1] and len(rows) == 1
    assert ida.t == pytest.approx(np.arcsin(0.501), abs=1e-6)
    status, rows = advance(ida, ida.t + 1e-12, [ida.t])
    assert status == core.status.FINISHED and len(rows) == 1


def test_an_output_time_at_a_root_is_written_once() -> None:
    """Time itself is the root function's argument, so that the root is at an output time exactly, or a rounding error beside it."""
    problem = problems.decay(1, 1.0)
    problem.native.add_root(*expression_kernel(Rows([[3]], [0], lambda t: t - 0.5), 1))
    problem.native.set_roots(1)
    for restart in (False, True):
        ida = session(problem, gather=[3], yp=[-1.0])
        times = np.linspace(0.0, 1.0, 11)
        status, rows = advance(ida, 1.0, times)
        assert status == core.status.ROOT and ida.t == pytest.approx(0.5, abs=1e-12)
        if restart:
            ida.reinit(ida.t, ida.y, ida.yp)
        status, more = advance(ida, 1.0, times[len(rows) :])
        assert status == core.status.FINISHED
        np.testing.assert_array_equal(np.concatenate([rows, more])[:, 0], times)


def test_an_end_is_met_exactly_and_passed_without_a_restart() -> None:
    alone, stopped = start_wave(wave([5.0])), start_wave(wave([5.0]))
    advance(alone, 10.0)
    for end in (0.1 * np.arange(1, 100)).tolist():
        assert advance(stopped, end)[0] == core.status.FINISHED and stopped.t == end
    advance(stopped, 10.0)
    np.testing.assert_allclose(stopped.y, alone.y, atol=1e-6)
    assert stopped.statistics()["steps"] < 30 * alone.statistics()["steps"]


def test_a_restart_analyses_and_pivots_nothing_anew() -> None:
    problem = problems.ladder(50)
    problem.known[0] = 1.0
    ida = session(problem)
    for k in range(1, 30):
        y, yp = ida.y, ida.yp
        set_cells(ida, [0], [float(k % 3)])
        assert ida.consistent(ida.t, y, yp, problem.differential, problem.nominal) == (True, 1)
        ida.reinit(ida.t, y, yp)
        assert advance(ida, 0.1 * k)[0] == core.status.FINISHED
    assert ida.statistics()["full_factorisations"] == 1


def test_a_restart_with_a_known_step_takes_fewer() -> None:
    """What the steps were like before an event is a better first guess than none, and slopes still limit it."""
    taken = []
    for part in (0.0, 0.1):
        ida = start_wave(wave([0.5]))
        while advance(ida, 20.0)[0] == core.status.ROOT:
            ida.reinit(ida.t, ida.y, ida.yp, part * ida.last_step)
        np.testing.assert_allclose(ida.y[0], np.sin(20.0), atol=1e-6)
        taken.append(ida.statistics()["steps"])
    assert taken[1] < taken[0]
    with pytest.raises(ValueError, match="`step` must not be negative"):
        ida.reinit(0.0, ida.y, ida.yp, -1.0)


def test_ten_thousand_crossings_at_one_instant_are_one_return() -> None:
    ida = start_wave(wave(np.full(10_000, 0.5)))
    assert advance(ida, 2.0)[0] == core.status.ROOT and ida.roots().tolist() == [1] * 10_000
    assert advance(ida, 2.0)[0] == core.status.FINISHED
