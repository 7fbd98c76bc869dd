"""Relations on what other relations decide: current branches at the start, in every round, after `reinit`; bands; rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

Statements = Iterator[Any]


def finished(component: ac.Component, until: float, **more: Any) -> Any:
    result = ac.compile(component).simulate(until=until, **more)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    return result


class Ball(ac.Component):
    """It bounces at 3.5 m/s, and is not at rest."""

    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    rests, count = ac.Boolean(False), ac.Integer(0)

    def size(self) -> Any:
        return ac.abs(self.v)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self) -> Statements:
        yield ac.when(self.h < 0, ac.reinit(self.v, -0.8 * ac.pre(self.v)))
        yield ac.when((self.h < 0) & (self.size() < 0.05), ac.assign(self.rests, True))
        yield ac.when((self.size() < 0.05) & (ac.time > 0.1), ac.assign(self.count, ac.pre(self.count) + 1))


class ByMaximum(Ball):
    def size(self) -> Any:
        return ac.max(self.v, -self.v)


class ByWhere(Ball):
    def size(self) -> Any:
        return ac.where(self.v >= 0, 1.0, -1.0) * self.v


class ByVariable(Ball):
    """Computed before the residuals."""

    speed = ac.Variable()

    def size(self) -> Any:
        return self.speed

    def equations(self) -> Statements:
        yield from super().equations()
        yield self.speed == ac.abs(self.v)


class ByLoop(ByVariable):
    """Solved for: the relation is right only after the equations have been solved with the other branch."""

    def equations(self) -> Statements:
        yield from Ball.equations(self)
        yield self.speed + 0.2 * ac.tanh(self.speed) == ac.abs(self.v) + 0.2 * ac.tanh(ac.abs(self.v))


class ByBoolean(Ball):
    """Through a discrete variable that is nothing but a name for a relation."""

    up = ac.Boolean(False)

    def size(self) -> Any:
        return ac.where(self.up, self.v, -self.v)

    def equations(self) -> Statements:
        yield from super().equations()
        yield self.up == (self.v >= 0)


@pytest.mark.parametrize("kind", [Ball, ByMaximum, ByWhere, ByVariable, ByLoop, ByBoolean])
def test_a_ball_that_bounces_is_not_at_rest(kind: type[Ball]) -> None:
    result = finished(kind(), 0.8)
    assert result["rests"][-1] == 0 and result["count"][-1] == 0
    assert result["v"][-1] == pytest.approx(0.8 * np.sqrt(2 * 9.81) - 9.81 * (0.8 - np.sqrt(2 / 9.81)), rel=1e-5)


class Tank(ac.Component):
    x, size, z = ac.Variable(start=0.3, fixed=True), ac.Variable(), ac.Variable()

    def equations(self) -> Statements:
        yield self.size == ac.abs(self.x)
        yield self.z == ac.where(self.size > 0.1, 1.0, -1.0)
        yield ac.der(self.x) == -self.x * ac.where(self.size > 0.1, 1.0, 5.0)


def test_a_relation_on_what_another_decides_is_right_from_the_start() -> None:
    result = finished(Tank(), 3.0, rtol=1e-8)
    assert result["z"][0] == 1.0 and result.events.times == pytest.approx([np.log(3.0)], rel=1e-7)
    assert result["x"][-1] == pytest.approx(0.1 * np.exp(-5 * (3 - np.log(3))), abs=2e-8)


class Settling(ac.Component):
    x, size = ac.Variable(start=0.3), ac.Variable()

    def equations(self) -> Statements:
        yield self.size == ac.abs(self.x)
        yield ac.der(self.x) == ac.where(self.size > 0.1, 1.0, 5.0) - self.x


def test_a_run_ends_where_the_steady_state_is() -> None:
    model = ac.compile(Settling())
    assert model.simulate(until=50.0)["x"][-1] == pytest.approx(model.steady_state()["x"][0], rel=1e-6)


class Watched(ac.Component):
    x, err = ac.Variable(start=0.3, fixed=True), ac.Variable()
    s, n = ac.States("ok", "alarm", initial="ok"), ac.Integer(0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == -self.x
        yield self.err == ac.abs(self.x)

    def transitions(self) -> Statements:
        yield self.s.ok.to("alarm", when=self.err > 0.1)

    def events(self) -> Statements:
        yield ac.when(self.err < 0.1, ac.assign(self.n, ac.pre(self.n) + 1))


def test_an_alarm_is_given_at_the_start_and_a_crossing_counted_once() -> None:
    result = finished(Watched(), 3.0)
    assert [i.state for i in result.states("s")] == ["alarm"] and result["n"][-1] == 1


class Implicit(ac.Component):
    """z + tanh(z)/5 is what a condition says."""

    x, y, z = ac.Variable(start=0.3, fixed=True), ac.Variable(), ac.Variable()

    def right(self) -> Any:
        return ac.where(ac.where(self.x > 0.1, 0.81, ac.time) < 0.8, 0.0, 1.0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == -self.x
        yield self.y + 0.2 * ac.tanh(self.y) == 1.37
        yield self.z + 0.2 * ac.tanh(self.z) == self.right()


class OfUnknown(Implicit):
    def right(self) -> Any:
        return ac.where(self.y > 0.5, 2.0, 0.0)


class Stair(Implicit):
    def right(self) -> Any:
        return ac.ceil(ac.time) + self.x


@pytest.mark.parametrize("kind, right", [(Implicit, 1.0), (OfUnknown, 2.0), (Stair, 1.3)])
def test_the_start_is_solved_with_the_branches_that_hold(kind: type[Implicit], right: float) -> None:
    z = finished(kind(), 3.0)["z"][0]
    assert z + 0.2 * np.tanh(z) == pytest.approx(right, rel=1e-9)


# ------------------------------------------------------------------------------------------------ rounds


class Chained(ac.Component):
    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    s = ac.States("a", "b", "c", initial="a")

    def equations(self) -> Statements:
        yield ac.der(self.x) == 0.0
        yield ac.der(self.y) == 1.0

    def transitions(self) -> Statements:
        yield self.s.a.to("b", when=self.y > 0.5, do=[ac.reinit(self.x, ac.pre(self.x) + 1.0)])
        yield self.s.b.to("c", when=self.y > 0.4, do=[ac.reinit(self.x, ac.pre(self.x) + 10.0)])


def test_what_one_transition_moved_the_next_one_sees() -> None:
    result = finished(Chained(), 1.0)
    assert [i.state for i in result.states("s")] == ["a", "c"] and result["x"][-1] == 11.0


class Piece(ac.Component):
    inp, out, fell = ac.Input(0.0), ac.Output(), ac.Boolean(False)

    def equations(self) -> Statements:
        yield self.out == ac.where(self.fell, 1.0, 0.0)

    def events(self) -> Statements:
        yield ac.when(self.inp > 0.5, ac.assign(self.fell, True))


class Dominoes(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def __init__(self, n: int) -> None:
        self.d = ac.array(Piece, n)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0
        yield self.d[0].inp == ac.where(self.x > 1, 1.0, 0.0)
        yield self.d[1:].inp == self.d[:-1].out


@pytest.mark.parametrize("n", [10, 1_000])
def test_all_dominoes_fall_at_one_instant(n: int) -> None:
    result = finished(Dominoes(n), 2.0)
    assert result["d.fell"][-1].all() and len(result.events) == 1


class Counting(ac.Component):
    """It counts to a limit at one instant, one a round."""

    limit = ac.Parameter(1000.0)
    x, n = ac.Variable(start=0.0, fixed=True), ac.Integer(0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0
        yield self.n == ac.where((self.x > 1) & (ac.pre(self.n) < self.limit), ac.pre(self.n) + 1, ac.pre(self.n))


def test_a_thousand_rounds_come_to_rest_and_an_endless_count_is_told() -> None:
    model = ac.compile(Counting())
    assert model.simulate(until=2.0)["n"][-1] == 1000
    endless = model.simulate(until=2.0, set={"limit": 1e9})
    assert endless.outcome is ac.Outcome.EVENT_CYCLES
    assert "does not come to rest" in str(endless.diagnostics[0]) and "n, by" in str(endless.diagnostics[0])


@pytest.mark.parametrize("delay", [0.0, -1.0, 1e-12, 0.5])
def test_after_no_time_is_at_once(delay: float) -> None:
    class Waiting(ac.Component):
        s, delay = ac.States("a", "b", "c", initial="a"), ac.Parameter(0.0)
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self) -> Statements:
            yield ac.der(self.x) == -self.x

        def transitions(self) -> Statements:
            yield self.s.a.to("b", after=self.delay)
            yield self.s.b.to("c", after=self.delay)

    result = ac.compile(Waiting()).simulate(until=2.0, set={"delay": delay})
    assert result.states("s")[-1].state == "c" and result.states("s")[-1].start == pytest.approx(max(0.0, 2 * delay), abs=1e-9)


# ------------------------------------------------------------------------------------------------ bands


@pytest.mark.parametrize("big", [1e3, 1e9, 1e13])
def test_what_was_large_at_the_start_does_not_delay_a_crossing(big: float) -> None:
    class Falling(ac.Component):
        x, area = ac.Variable(start=big, fixed=True), ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Statements:
            yield ac.der(self.x) == -1.0
            yield ac.der(self.area) == ac.where(self.x > 0, 1.0, -1.0)

        def events(self) -> Statements:
            yield ac.when(ac.time >= 1.0, ac.reinit(self.x, 0.5))

    result = finished(Falling(), 3.0)
    np.testing.assert_allclose(result.events.times, [1.0, 1.5], rtol=1e-9)
    assert result["area"][-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_what_becomes_small_without_an_event_crosses_too(solver: str) -> None:
    """From 1e13 it decays to a swing of 1 about zero: every crossing counts."""

    class Decaying(ac.Component):
        x, n = ac.Variable(start=1e13, fixed=True), ac.Integer(0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == -2 * (self.x - ac.sin(ac.time)) + ac.cos(ac.time)

        def events(self) -> Statements:
            yield ac.when(self.x > 0, ac.assign(self.n, ac.pre(self.n) + 1))

    result = finished(Decaying(), 40.0, rtol=1e-8, solver=solver)
    assert result["n"][-1] == sum(2 * np.pi * k > 15.0 for k in range(1, 7))


def test_rounding_of_large_terms_does_not_switch_back() -> None:
    """1e13 + x - 1e13: noise of a thousandth about every crossing."""

    class Noisy(ac.Component):
        x, y, n = ac.Variable(start=1e13, fixed=True), ac.Variable(start=1e13 + 1, fixed=True), ac.Integer(0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0
            yield ac.der(self.y) == 0.0

        def events(self) -> Statements:
            yield ac.when(self.x > self.y, ac.assign(self.n, ac.pre(self.n) + 1))

    result = finished(Noisy(), 2.0)
    assert result["n"][-1] == 1 and len(result.events) == 1


@pytest.mark.parametrize("size", [1e-15, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_an_event_is_not_late_because_the_quantities_are_small(size: float, solver: str) -> None:
    """x > y, one from far away, one through zero, and one that begins on its switching point."""

    class Small(ac.Component):
        unit = ac.Parameter(size)
        x, y = ac.Variable(start=0.0, fixed=True), ac.Variable(start=size, fixed=True)
        z = ac.Variable(start=-0.5 * size, fixed=True)
        met, passed, left = ac.Boolean(False), ac.Boolean(False), ac.Boolean(False)

        def equations(self) -> Statements:
            yield ac.der(self.x) == self.unit
            yield ac.der(self.y) == 0.0 * self.unit
            yield ac.der(self.z) == self.unit * ac.where(ac.time < 1.25, 1.0, -1.0)
            yield self.met == (self.x > self.y)
            yield self.passed == (self.z > 0)
            yield self.left == (self.x > 0)

    result = finished(Small(), 4.0, rtol=1e-10, atol=1e-8 * size, solver=solver)
    names = ("met", "passed", "left")
    changes = {name: [e.time for e in result.events if any(c.name == name for c in e.changes)] for name in names}
    np.testing.assert_allclose(changes["met"], [1.0], rtol=1e-8)
    np.testing.assert_allclose(changes["passed"], [0.5, 2.0], rtol=1e-8)
    np.testing.assert_allclose(changes["left"], [0.0], atol=1e-8)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_what_rests_on_its_switching_point_has_the_value_that_is_written(strict: bool, solver: str) -> None:
    class Limited(ac.Component):
        x, on = ac.Variable(start=0.0, fixed=True), ac.Boolean(False)

        def equations(self) -> Statements:
            least = ac.min(self.x, 0.5)
            yield ac.der(self.x) == ac.where(ac.time > 0.8, -1.0, 1.0)
            yield self.on == ((least > 0.5) if strict else (least >= 0.5))

    result = finished(Limited(), 2.0, points=201, solver=solver)
    inside = (np.abs(result.time - 0.5) > 1e-6) & (np.abs(result.time - 1.1) > 1e-6)
    expected = (0.5 < result.time) & (result.time < 1.1) & (not strict)
    np.testing.assert_array_equal(np.asarray(result["on"])[inside], expected[inside])


def test_what_stops_on_its_switching_point_is_on_it() -> None:
    """A sledge that is brought to rest: it does not move forward any more, and does not move back either."""

    class Stopped(ac.Component):
        v = ac.Variable(start=1.0, fixed=True)
        forward, resting = ac.Boolean(False), ac.Boolean(False)
        mode = ac.States("sliding", "stuck", initial="sliding")

        def equations(self) -> Statements:
            yield ac.der(self.v) == ac.match(self.mode, sliding=-1.0, stuck=0.0)
            yield self.forward == (self.v > 0)
            yield self.resting == (self.v >= 0) & (self.v <= 0)

        def transitions(self) -> Statements:
            yield self.mode.sliding.to("stuck", when=self.v < 0, do=ac.reinit(self.v, 0.0))

    result = finished(Stopped(), 2.0)
    assert not result["forward"][-1] and result["resting"][-1] and result["forward"][0]


class Said(ac.Component):
    """Relations within relations."""

    x, y, b = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Boolean(False)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 1.0
        yield self.y == ac.where(ac.where(self.x > 0.3, 1.0, 0.0) + self.x > 0.9, 2.0, ac.floor(ac.abs(4.0 * self.x)))
        yield self.b == ((ac.abs(self.x - 0.5) < 0.2) & (self.y > 0.1))


def test_causes_are_told_as_they_were_written() -> None:
    events = ac.compile(Said()).simulate(until=1.0).events
    told = "\n".join(str(event) for event in events)
    assert "where(x > 0.3, 1, 0) + x > 0.9" in told and "abs(x - 0.5) < 0.2" in told and "floor(abs(4*x))" in told
    assert "live" not in told and "relation" not in told
    for event in events:
        lines = str(event).splitlines()
        assert len(lines) == len(set(lines))
