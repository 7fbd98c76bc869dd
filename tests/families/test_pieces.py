"""Tables of unknowns whose corners are impulses, since index reduction differentiates them twice: pieces, with events between."""

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.pieces import breaks, broken_tables

STEEPER = ac.Table([-1.0, 1.0, 3.0], [-1.0, 1.0, 5.0], method="linear")


class Follower(ac.Component):
    """A mass at a position that a table of a state prescribes; the state is known, x = start + A sin(t)."""

    s, v, F = ac.Variable(), ac.Variable(), ac.Variable()
    m = ac.Parameter(3.0)

    def __init__(self, table, start=0.0, A=1.0):
        self.table, self.x, self.A = table, ac.Variable(start=start, fixed=True), A

    def equations(self):
        yield ac.der(self.x) == self.A * ac.cos(ac.time)
        yield self.s == self.table(self.x)
        yield ac.der(self.s) == self.v
        yield self.m * ac.der(self.v) == self.F


def followed(table, start, amplitude, until=6.0):
    """A run, and for each event the time, the jump of the speed and the impulse that should be there."""
    result = ac.compile(Follower(table, start, amplitude)).simulate(until, rtol=1e-9, points=601)
    x = start + amplitude * np.sin(result.time)
    assert result.outcome.ok and np.abs(result["s"] - table.value(x)).max() < 1e-6
    speed = table.derivative().value(x) * amplitude * np.cos(result.time)
    apart = np.abs(result["v"] - speed) > 1e-5 * (1 + np.abs(speed))
    assert not apart[~np.isin(result.time, result.events.times)].any()
    return result


def passed(at, start, amplitude, until=6.0):
    """When x passes some places."""
    phase = (np.asarray(at) - start) / amplitude
    first = np.arcsin(phase[np.abs(phase) < 1])
    times = np.concatenate([first, np.pi - first, first + 2 * np.pi, 3 * np.pi - first])
    return np.sort(times[(times > 0) & (times < until)])


@pytest.mark.parametrize(
    "table",
    [
        ac.Table([0.0, 0.3, 0.7, 1.0], [0.0, 1.0, 0.5, 0.5], method="linear"),
        ac.Table([0.0, 0.3, 0.7, 1.0], [0.0, 1.0, 0.5, 0.7], method="linear", extrapolation="linear"),
        ac.Table([-9.0, 0.3, 0.7, 9.0], [0.0, 1.0, 0.5, 0.7], method="linear", extrapolation="refuse"),
        ac.Table([0.2, 0.5, 0.8], [0.0, 1.0, 3.0]),
        ac.Table([0.5, 0.50001, 0.50002], [0.0, 1e-5, 0.0], method="linear"),
    ],
)
def test_each_corner_is_an_event_with_its_impulse(table):
    result = followed(table, -0.5, 2.0)
    assert result.events.times == pytest.approx(passed(breaks(table, 0), -0.5, 2.0), abs=1e-6)
    for event, told in zip(result.events.times, result.diagnostics, strict=True):
        assert f"At time {event:.6g} quantities jump" in told.what
        before, after = result["v"][result.time == event]
        assert f"impulse:   F: {3.0 * (after - before):.3g}"[:16] in " ".join(told.details)


def test_momentum_is_kept_where_both_move():
    class Pair(ac.Component):
        """v1 + 3 v2 is kept; beyond the corner v2 = 2 v1."""

        x1, v1 = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)
        x2, v2, F = ac.Variable(), ac.Variable(), ac.Variable()

        def equations(self):
            yield ac.der(self.x1) == self.v1
            yield ac.der(self.x2) == self.v2
            yield self.x2 == STEEPER(self.x1)
            yield 3.0 * ac.der(self.v2) == self.F
            yield ac.der(self.v1) == -self.F

    result = ac.compile(Pair()).simulate(1.5, rtol=1e-8)
    assert result.events.times == pytest.approx([1.0])
    assert [result[name][-1] for name in ("v1", "v2", "x1")] == pytest.approx([4 / 7, 8 / 7, 1.0 + 2 / 7])
    assert "impulse:   F: 0.428571 (its unit times a second)" in result.diagnostics[0].details


def test_a_table_of_two_arguments():
    axis, other = np.array([-3.0, 0.0, 0.4, 3.0]), np.array([-2.0, 0.3, 2.0])
    table = ac.Table2D(axis, other, np.abs(axis)[:, None] + 0.5 * np.maximum(other - 0.3, 0.0) * axis[:, None], method="linear")

    class Both(Follower):
        y = ac.Variable(start=0.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == self.A * ac.cos(ac.time)
            yield ac.der(self.y) == 0.19
            yield self.s == table(self.x, self.y)
            yield ac.der(self.s) == self.v
            yield self.m * ac.der(self.v) == self.F

    result = ac.compile(Both(table, -0.5, 2.0)).simulate(6.0, rtol=1e-9, points=601)
    x, y, t = -0.5 + 2.0 * np.sin(result.time), 0.19 * result.time, result.time
    assert np.abs(result["s"] - table.value(x, y)).max() < 1e-6
    by_x, by_y = (table.derivative(**{k: 1}).value(x, y) for k in ("x", "y"))
    apart = np.abs(result["v"] - by_x * 2.0 * np.cos(t) - 0.19 * by_y) > 1e-5
    assert not apart[~np.isin(t, result.events.times)].any()
    assert result.events.times == pytest.approx(np.sort(np.append(passed([0.0], -0.5, 2.0), 0.3 / 0.19)), abs=1e-6)


def test_a_state_that_jumps_over_pieces_is_on_the_one_where_it_arrives():
    class Moved(Follower):
        def events(self):
            yield ac.when(ac.time >= 1.0, ac.reinit(self.x, 0.9))

    zigzag = ac.Table(np.arange(0.0, 2.0, 0.1), np.arange(20) % 2 * 1.0, method="linear", extrapolation="linear")
    result = ac.compile(Moved(zigzag, 0.01, 0.01)).simulate(1.02, rtol=1e-8)
    x = 0.9 + 0.01 * (np.sin(1.02) - np.sin(1.0))
    assert result["x"][-1] == pytest.approx(x) and result["s"][-1] == pytest.approx(zigzag(x), abs=1e-7)
    assert result["v"][-1] == pytest.approx(-10.0 * 0.01 * np.cos(1.02), rel=1e-5)


@pytest.mark.parametrize(("start", "slope"), [(1.0, 2.0), (0.0, 1.0)])
def test_a_start_on_a_corner_and_off_it(start, slope):
    result = ac.compile(Follower(STEEPER, start)).simulate(0.1)
    assert result.outcome.ok and result["v"][-1] == pytest.approx(slope * np.cos(0.1)) and not len(result.events)


def test_tables_that_drive_no_impulse_are_asked_as_ever():
    class Once(ac.Component):
        """A capacitor at a voltage that a table of a state gives: its current jumps, and nothing else."""

        x, u, i = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == 1.0
            yield self.u == STEEPER(self.x)
            yield ac.der(self.u) == self.i

    for part in (Once(), Follower(ac.Table([-5.0, 0.0, 5.0], [-5.0, 0.0, 5.0], method="linear", extrapolation="linear"))):
        system = ac.compile(part).system
        assert not broken_tables(system) and system.hybrid is None


def test_models_from_files_and_pickles_have_their_pieces(tmp_path):
    model = ac.compile(Follower(STEEPER, 0.0, 2.0))
    model.save(tmp_path / "follower.acm")
    runs = [m.simulate(2.9) for m in (model, ac.load(tmp_path / "follower.acm"))]
    assert np.array_equal(runs[0].data, runs[1].data) and len(runs[0].events) == 2


def test_why_a_run_ended_is_told_before_the_impulses_on_its_way():
    table = ac.Table(
        [-0.5, 0.1, 0.2, 0.3, 0.4, 0.8], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0], method="linear", extrapolation="refuse", name="cam"
    )
    with pytest.warns(ac.RunWarning, match=r"`cam` holds from -0\.5 to 0\.8, and is asked for at 0\.8") as caught:
        result = ac.compile(Follower(table)).simulate(2.0)
    assert result.outcome is ac.Outcome.NOT_FINITE and result.time_reached == pytest.approx(np.arcsin(0.8), abs=1e-3)
    assert len(result.diagnostics) == 5 and "impulse" not in result.diagnostics[0].what and len(caught) == 1


class Cam(ac.Component):
    s, v, F = ac.Variable(), ac.Variable(), ac.Variable()

    def __init__(self, table: Any, x: float, A: float, y: float, B: float) -> None:
        self.table, self.A, self.B = table, A, B
        self.x, self.y = ac.Variable(start=x, fixed=True), ac.Variable(start=y, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.A * ac.cos(ac.time)
        yield ac.der(self.y) == self.B * ac.cos(ac.time)
        yield self.s == self.table(self.x, self.y)
        yield ac.der(self.s) == self.v
        yield ac.der(self.v) == self.F


def cam_met(table: Any, *start: float) -> None:
    r = ac.compile(Cam(table, *start)).simulate(1.5, rtol=1e-8)
    assert r.outcome.ok and abs(r["s"] - table.value(r["x"], r["y"])).max() < 1e-6


def test_a_table_that_refuses_and_is_straight_along_one_axis() -> None:
    cam_met(
        ac.Table2D([-9, 0.3, 9], [-5, 5], [[0, 1], [1, 2], [3, 4]], method="linear", extrapolation="refuse"), 0.0, 1.0, 0.0, 1.0
    )


def test_an_end_whose_slope_is_zero_at_the_points_only() -> None:
    cam_met(ac.Table2D([0, 1, 2], [0, 1, 3], [[0, 0, 1], [1, 1, 0], [3, 3, 2]]), 1.0, 0.2, 0.1, -1.0)
