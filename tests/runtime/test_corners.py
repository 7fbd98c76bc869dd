"""Corners without events: an algebraic unknown whose equation has another slope on the other side, as a density at saturation has.

Newton's iteration with the slopes of one side never meets a solution on the other, if that is steeper by a factor of two; the step
may be as short as it likes. Every such equation here is monotone, so it has one solution, and the run must go on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import electrical, signal

RATIOS = (0.01, 0.1, 10.0, 100.0)


def bent(y: Any, ratio: Any) -> Any:
    return y + (ratio - 1) * ac.no_event(ac.max(y, 0.0))


class OneCorner(ac.Component):
    """A swing, and what follows from it across a corner."""

    ratio = ac.Parameter(100.0, doc="of the slopes")
    x, v = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.0, fixed=True)
    y, z = ac.Variable(start=0.0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x
        yield bent(self.y, self.ratio) == self.x
        yield ac.der(self.z) == self.y - self.z


class TwoCorners(OneCorner):
    """Two unknowns, each with a corner, that depend on each other."""

    u = ac.Variable(start=0.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x
        yield bent(self.y, self.ratio) + 0.5 * (self.y - self.u) == self.x
        yield bent(-self.u - 0.1, self.ratio) + 0.5 * (self.y - self.u) == -self.v
        yield ac.der(self.z) == self.y * self.u - self.z


@pytest.mark.parametrize("rtol", [1e-3, 3e-5, 1e-6, 3e-8])
def test_a_corner_is_passed_with_any_slopes(rtol: float) -> None:
    model = ac.compile(OneCorner())
    for ratio in RATIOS:
        result = model.simulate(until=50.0, points=101, rtol=rtol, set={"ratio": ratio})
        x, y = np.asarray(result["x"]), np.asarray(result["y"])
        np.testing.assert_allclose(x, 0.5 * np.cos(result.time), atol=300 * rtol)
        np.testing.assert_allclose(y, np.where(x > 0, x / ratio, x), atol=2 * rtol * max(1.0, 1 / ratio))


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 1e3, 1e4, 1e8])
def test_factors_of_the_steep_side_do_not_serve_on_the_other(rtol: float, ratio: float) -> None:
    """With them corrections are tiny, and what has not converged looks as if it had."""
    result = ac.compile(OneCorner()).simulate(until=50.0, points=501, rtol=rtol, set={"ratio": ratio})
    x, y = np.asarray(result["x"]), np.asarray(result["y"])
    np.testing.assert_allclose(y, np.where(x > 0, x / ratio, x), rtol=2 * rtol, atol=2 * rtol)


class Written(ac.Component):
    """The corner of `OneCorner` in other words: what changes its sign there is something else each time."""

    steep = ac.Parameter(1e5)
    x, v = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.0, fixed=True)
    a, b, c, d = ac.Variable(), ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        up = (self.steep - 1) / 2
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x
        yield self.a + up * (self.a + ac.no_event(ac.abs(self.a))) == self.x
        yield ac.no_event(ac.where(self.b > 0, self.steep * self.b, self.b)) == self.x
        yield ac.no_event(ac.where(~(self.c <= 0) & (self.c > -1.0), self.steep, 1.0)) * self.c == self.x
        yield self.d - (self.steep - 1) * ac.no_event(ac.min(-self.d, 0.0)) == self.x


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_corners_are_seen_however_they_are_written(rtol: float) -> None:
    result = ac.compile(Written()).simulate(until=50.0, points=501, rtol=rtol)
    x = np.asarray(result["x"])
    for name in "abcd":
        np.testing.assert_allclose(result[name], np.where(x > 0, x / 1e5, x), atol=2 * rtol, err_msg=name)


def test_relations_with_events_and_models_without_corners_have_no_bends() -> None:
    class Frozen(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == ac.max(ac.sin(ac.time), 0.0) - ac.where(self.x > 1.0, self.x, ac.abs(self.x))

    assert ac.compile(Frozen()).problem.bends.count == 0
    assert ac.compile(OneCorner()).problem.bends.count == 1


@pytest.mark.parametrize("rtol", [1e-3, 3e-4, 1e-5, 1e-6, 3e-8])
def test_two_corners_that_depend_on_each_other(rtol: float) -> None:
    model = ac.compile(TwoCorners())
    for ratio in RATIOS:
        assert model.simulate(until=50.0, points=11, rtol=rtol, set={"ratio": ratio}).outcome is ac.Outcome.FINISHED


class Balanced(ac.Component):
    """Two vessels of equal pressure, and a flow that begins at the bend of what it carries: which one is upstream jumps."""

    p, q = ac.Variable(start=1.0, fixed=True), ac.Variable(start=1.0, fixed=True)
    m, T = ac.Variable(start=0.0), ac.Variable(start=300.0)
    E = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.p) == 1.0 - self.m
        yield ac.der(self.q) == self.m
        yield self.m == 10.0 * (self.p - self.q)
        yield self.T == ac.no_event(ac.where(self.m > 0, 1000.0, 300.0))
        yield ac.der(self.E) == self.m * self.T


def test_a_start_right_at_a_jump_without_event_goes_on():
    result = ac.compile(Balanced()).simulate(until=1.0, rtol=1e-8)
    flow = 0.5 * (1 - np.exp(-20.0 * result.time))
    np.testing.assert_allclose(result["m"], flow, atol=1e-7)
    np.testing.assert_allclose(result["E"][-1], 1000.0 * (0.5 - (1 - np.exp(-20.0)) / 40.0), rtol=1e-6)


def follows(table: Any, swing: float = 1.0) -> Any:
    """A swing, and what a table makes of the unknown that follows from it."""

    class Follows(ac.Component):
        x, v = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.0, fixed=True)
        y = ac.Variable(start=0.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == self.v
            yield ac.der(self.v) == -self.x
            yield table(self.y) + 1e-9 * ac.sin(self.y) == swing * self.x

    return ac.compile(Follows())


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
@pytest.mark.parametrize("steep", [100.0, 1e4, 1e6])
def test_tables_of_an_unknown_have_corners_too(rtol: float, steep: float) -> None:
    points = np.array([-1.0, -0.2, 0.0, 0.3, 1.0])
    values = np.concatenate([[-0.8 * steep - 0.2], [-0.2, 0.0, 0.3 * steep], [0.3 * steep + 0.7]])
    table = ac.Table(points, values, method="linear", extrapolation="linear")
    result = follows(table).simulate(until=50.0, points=501, rtol=rtol)
    assert result["y"] == pytest.approx(np.interp(result["x"], values, points), rel=2 * rtol, abs=2 * rtol)


def test_a_smooth_table_that_becomes_steep() -> None:
    table = ac.Table([-1.0, 0.0, 1.0], [-1.0, 0.0, 1e4], extrapolation="linear")
    result = follows(table).simulate(until=50.0, points=501, rtol=1e-6)
    there = np.linspace(-1.0, 0.5, 200_001)
    assert result["y"] == pytest.approx(np.interp(result["x"], table(there), there), abs=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_tables_of_two_arguments(axis: int) -> None:
    line, other = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 1.0])
    values = np.broadcast_to(np.array([-1.0, 0.0, 1e5])[:, None], (3, 2))
    grid = (line, other, values) if axis == 0 else (other, line, values.T)
    table = ac.Table2D(*grid, method="linear", extrapolation="linear")
    one = follows(lambda y: table(y, 0.5) if axis == 0 else table(0.5, y))
    result = one.simulate(until=50.0, points=501, rtol=1e-3)
    assert result["y"] == pytest.approx(np.where(result["x"] > 0, result["x"] / 1e5, result["x"]), abs=2e-3)


def test_each_of_many_tables_has_corners_of_its_own() -> None:
    """Components that differ in a table are one kind, and their table is data."""

    class Follower(ac.Component):
        x, y = ac.Input(), ac.Variable(start=0.0)

        def __init__(self, steep: float) -> None:
            self.table = ac.Table([-1.0, 0.0, 0.1, 1.0], [-1.0, 0.0, 0.1, steep], extrapolation="linear")

        def equations(self) -> Any:
            yield self.table(self.y) + 1e-9 * ac.sin(self.y) == self.x

    class Both(ac.Component):
        x, v = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.0, fixed=True)

        def __init__(self) -> None:
            self.part = [Follower(steep) for steep in (1.0, 1e3, 1e5)]

        def equations(self) -> Any:
            yield ac.der(self.x) == self.v
            yield ac.der(self.v) == -self.x

        def connections(self) -> Any:
            for part in self.part:
                yield self.x, part.x

    plant = Both()
    result = ac.compile(plant).simulate(until=20.0, points=101, rtol=1e-6)
    there = np.linspace(-1.0, 1.0, 200_001)
    for k, part in enumerate(plant.part):
        wanted = np.interp(result["x"], part.table(there), there)
        assert result[f"part[{k}].y"] == pytest.approx(wanted, abs=1e-5)


def test_a_medium_whose_phase_changes_without_an_event() -> None:
    """Along a line of constant pressure the density of water falls 60 000 times as fast beyond saturation."""
    water, p = ac.media.fluid("Water"), 1e4
    most = float(water.state(p=p, x=0.0).rho)

    class Vessel(ac.Component):
        x, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
        h = ac.Variable(start=1e5, nominal=1e5)

        def equations(self) -> Any:
            yield ac.der(self.x) == self.v
            yield ac.der(self.v) == -self.x
            yield water.state(p=p, h=self.h, phase="any").rho == most * (0.98 + 0.022 * self.x)

    result = ac.compile(Vessel()).simulate(until=50.0, points=201, rtol=1e-5)
    assert result.outcome.ok
    assert water.state(p=p, h=np.asarray(result["h"])).rho == pytest.approx(most * (0.98 + 0.022 * result["x"]), rel=1e-5)


class Picofarads(electrical.TwoPin):
    """q = C·(v + v³/100), with C of 1e-12."""

    C = ac.Parameter(1e-12)
    q = ac.Variable(nominal=1e-12)

    def equations(self) -> Any:
        yield from super().equations()
        yield self.q == self.C * (self.v + self.v**3 / 100)
        yield self.i == ac.der(self.q)


class InSeries(ac.Component):
    """A voltage of straight lines in time across two of them."""

    def __init__(self, scale: float) -> None:
        self.u = signal.TimeTable([0, 5 * scale, 6 * scale, 11 * scale, 12 * scale], [0, 0, 20, 20, 0], method="linear")
        self.s, self.g = electrical.SignalVoltage(), electrical.Ground()
        self.c, self.d = Picofarads(C=1e-12), Picofarads(C=3e-12)

    def connections(self) -> Any:
        yield self.u.y, self.s.V
        yield self.s.p, self.c.p
        yield self.c.n, self.d.p
        yield self.s.n, self.d.n, self.g.p


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-6, 1e-9])
def test_tiny_capacitors_follow_a_table_at_any_scale_of_time(scale: float) -> None:
    """Between its corners 20 V are shared such that both have one charge: 3·(v + v³/100) = (20 - v) + (20 - v)³/100."""
    result = ac.compile(InSeries(scale)).simulate(until=12 * scale)
    assert result.outcome.ok
    v = max(np.roots([0.04, -0.6, 16.0, -100.0]).real, key=lambda root: -abs(root - 7.27))
    assert result["d.v"][np.abs(result.time / scale - 8).argmin()] == pytest.approx(v, rel=1e-5)
