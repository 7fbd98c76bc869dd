"""Events that set states of a few of many unknowns happen within a step of the others, too: against closed forms, and restarts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.events import native

Statements = Iterator[Any]
G = 9.81


class Ball(ac.Component):
    e = ac.Parameter(0.7)
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    bounces = ac.Integer(start=0)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -G

    def events(self) -> Statements:
        counted = ac.assign(self.bounces, ac.pre(self.bounces) + 1)
        yield ac.when(self.h <= 0, ac.reinit(self.v, -self.e * ac.pre(self.v)), counted)


class Balls(ac.Component):
    def __init__(self, kind: type[ac.Component], heights: np.ndarray, e: float = 0.7) -> None:
        self.ball = ac.array(kind, len(heights), h=ac.start(heights), **({"e": e} if "e" in dir(kind) else {}))


def fall(height: float, e: float, t: float) -> tuple[float, float, int]:
    """Height, speed and number of bounces so far."""
    speed, count, since = np.sqrt(2 * G * height), 0, 0.0
    end = speed / G
    if t < end:
        return height - 0.5 * G * t * t, -G * t, 0
    while t >= end:
        speed, count, since = e * speed, count + 1, end
        end += 2 * speed / G
    return speed * (t - since) - 0.5 * G * (t - since) ** 2, speed - G * (t - since), count


def at_times(result: ac.Result, times: np.ndarray, path: str) -> np.ndarray:
    return np.asarray(result[path])[np.searchsorted(result.time, times, side="right") - 1]


@pytest.mark.parametrize(("n", "together"), [(100, 1), (600, 1), (100, 2), (100, 5)])
@pytest.mark.parametrize("rtol", [1e-3, 1e-7])
def test_balls_bounce_as_if_each_was_alone(n: int, together: int, rtol: float) -> None:
    """Also those that hit the ground together; steps do not grow with the number of bounces."""
    heights, e, times = np.repeat(np.linspace(1.0, 9.0, n // together), together), 0.8, np.linspace(0.0, 3.6, 31)
    result = ac.compile(Balls(Ball, heights, e)).simulate(until=3.6, at=times, rtol=rtol)
    exact = np.array([[fall(h, e, t) for h in heights] for t in times])
    assert np.abs(at_times(result, times, "ball.h") - exact[..., 0]).max() < 1e-7
    assert np.abs(at_times(result, times, "ball.v") - exact[..., 1]).max() < 1e-7
    assert np.array_equal(at_times(result, times, "ball.bounces"), exact[..., 2])
    assert 0 <= exact[-1, :, 2].sum() / together - len(result.events) <= 1  # two balls may meet the ground at one instant
    assert result.statistics["restarts"] == 1 and result.statistics.steps < 60


def test_both_sides_of_a_bounce_are_rows() -> None:
    result = ac.compile(Balls(Ball, np.linspace(1.0, 9.0, 80))).simulate(until=1.4, points=2)
    h, v = np.asarray(result["ball.h"]), np.asarray(result["ball.v"])
    second = np.flatnonzero(np.diff(result.time) == 0) + 1
    assert len(second) == len(result.events) > 80
    for row in second:
        (ball,) = np.flatnonzero(np.abs(v[row] - v[row - 1]) > 1e-9)
        assert v[row, ball] == pytest.approx(-0.7 * v[row - 1, ball], rel=1e-12)
        assert np.abs(h[row] - h[row - 1]).max() < 1e-12


class Firing(ac.Component):
    """Integrates, leaks and fires (Lapicque 1907)."""

    rate = ac.Parameter(2.0)
    v, given = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    q, fired = ac.Variable(), ac.Integer(start=0)

    def equations(self) -> Statements:
        yield ac.der(self.v) == self.rate - self.v + self.q
        yield ac.der(self.given) == self.rate - self.v

    def events(self) -> Statements:
        yield ac.when(self.v > 1, ac.reinit(self.v, ac.pre(self.v) - 1.0), ac.assign(self.fired, ac.pre(self.fired) + 1))


class Tissue(ac.Component):
    """Cells in a ring that exchange what they hold."""

    def __init__(self, n: int, wall: float) -> None:
        random = np.random.default_rng(2)
        self.n, self.wall = n, wall
        self.cell = ac.array(Firing, n, rate=np.linspace(2.0, 3.0, n), v=ac.start(random.uniform(0.0, 0.9, n) if wall else 0.0))

    def equations(self) -> Statements:
        c, n, wall = self.cell, self.n, self.wall
        yield c[1:-1].q == wall * (c[:-2].v - 2 * c[1:-1].v + c[2:].v)
        yield c[0].q == wall * (c[n - 1].v - 2 * c[0].v + c[1].v)
        yield c[n - 1].q == wall * (c[n - 2].v - 2 * c[n - 1].v + c[0].v)
        self.total = ac.named(ac.sum(c.v) + ac.sum(c.fired) - ac.sum(c.given))


@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_cells_fire_each_at_its_own_pace(rtol: float) -> None:
    n, until, times = 200, 3.0, np.linspace(0.0, 3.0, 31)
    result = ac.compile(Tissue(n, 0.0)).simulate(until=until, at=times, rtol=rtol)
    rates = np.linspace(2.0, 3.0, n)
    period = np.log(rates / (rates - 1))
    phase = times[:, None] % period
    clear = np.minimum(phase, period - phase) > 1e-2
    error = np.abs(at_times(result, times, "cell.v") - rates * (1 - np.exp(-phase)))[clear].max()
    assert error < 20 * rtol and len(result.events) == np.floor(until / period).sum()
    assert result.statistics["restarts"] == 1 and result.statistics.steps < 200


@pytest.mark.parametrize("wall", [0.1, 1.0, 10.0])
def test_what_cells_exchange_is_kept_in_sum_while_they_fire(wall: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model, times = ac.compile(Tissue(70, wall)), np.linspace(0.0, 1.5, 16)
    result = model.simulate(until=1.5, at=times, rtol=1e-7)
    total = np.asarray(result["total"])
    assert np.abs(total - total[0]).max() < 1e-10
    assert result.statistics["restarts"] < 0.1 * len(result.events)
    monkeypatch.setattr(native, "LOCAL", 10**9)
    restarted = model.simulate(until=1.5, at=times, rtol=1e-8)
    assert len(result.events) == len(restarted.events) > 100
    assert np.abs(result.events.times - restarted.events.times).max() < 5e-6
    assert np.abs(at_times(result, times, "cell.v") - at_times(restarted, times, "cell.v")).max() < 5e-5


class Counting(ac.Component):
    """Where x begins anew, y grows by one; where that is beyond a level, y begins anew as well, at the same instant."""

    rate = ac.Parameter(1.0)
    h = ac.Variable(start=0.0, fixed=True)
    y, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    rounds = ac.Integer(start=0)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.rate
        yield ac.der(self.y) == 0.0
        yield ac.der(self.z) == self.y

    def events(self) -> Statements:
        yield ac.when(self.h > 1, ac.reinit(self.h, 0.0), ac.reinit(self.y, ac.pre(self.y) + 1))
        yield ac.when(self.y > 2.25, ac.reinit(self.y, 0.0), ac.assign(self.rounds, ac.pre(self.rounds) + 1))


class Counters(ac.Component):
    def __init__(self, rates: np.ndarray) -> None:
        self.counter = ac.array(Counting, len(rates), rate=rates)


def test_a_state_that_is_set_makes_others_be_set_at_the_same_instant() -> None:
    rates, until = np.linspace(1.03, 2.03, 70), 4.9
    result = ac.compile(Counters(rates)).simulate(until=until, points=2)
    passed = np.floor(until * rates)
    left = until - passed / rates
    z = (passed // 3) * 3 / rates + np.where(passed % 3 == 2, 1 / rates, 0.0) + (passed % 3) * left
    assert np.array_equal(result["counter.y"][-1], passed % 3) and np.array_equal(result["counter.rounds"][-1], passed // 3)
    assert np.abs(np.asarray(result["counter.z"][-1]) - z).max() < 1e-6
    assert len(result.events) == passed.sum() and result.statistics["restarts"] == 1


class Resting(Ball):
    rests = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == ac.where(self.rests, 0.0, -G)

    def events(self) -> Statements:
        slow = ac.pre(self.v) > -0.1
        speed = ac.where(slow, 0.0, -self.e * ac.pre(self.v))
        counted = ac.assign(self.bounces, ac.pre(self.bounces) + 1)
        yield ac.when(self.h <= 0, ac.reinit(self.h, 0.0), ac.reinit(self.v, speed), ac.assign(self.rests, slow), counted)


def test_what_comes_to_rest_rests() -> None:
    heights = np.linspace(1.0, 2.0, 70)
    result = ac.compile(Balls(Resting, heights)).simulate(until=6.0, points=2)
    speeds = np.sqrt(2 * G * heights)
    assert np.array_equal(result["ball.bounces"][-1], np.ceil(np.log(0.1 / speeds) / np.log(0.7)) + 1)
    assert (np.asarray(result["ball.rests"][-1]) == 1).all() and np.abs(np.asarray(result["ball.v"][-1])).max() < 1e-12
    assert np.abs(np.asarray(result["ball.h"][-1])).max() < 1e-12
    assert result.statistics["restarts"] < 5


@pytest.mark.parametrize("e", [0.5, 0.8, 0.95])
def test_bounces_of_one_of_many_balls_that_pile_up_end_the_run(e: float) -> None:
    result = ac.compile(Balls(Ball, np.linspace(1.0, 9.0, 100), e)).simulate(until=30.0, points=2, on_failure="keep")
    limit = np.sqrt(2 / G) * (1 + e) / (1 - e)
    assert result.outcome is ac.Outcome.ZENO and limit * (1 - 1e-3) < result.time_reached < limit * (1 + 1e-4)
    assert "ball[0]" in str(result.diagnostics[0])


class Tied(Ball):
    """With another one as heavy on top of it: its place is a constraint, and the force between them an unknown."""

    top, speed, force = ac.Variable(start=0.0), ac.Variable(start=0.0), ac.Variable(start=0.0)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -G - self.force
        yield ac.der(self.top) == self.speed
        yield ac.der(self.speed) == -G + self.force
        yield self.top == self.h + 1


def test_balls_that_carry_others() -> None:
    heights, times = np.linspace(1.0, 9.0, 40), np.linspace(0.0, 2.3, 24)
    result = ac.compile(Balls(Tied, heights)).simulate(until=2.3, at=times, rtol=1e-8)
    exact = np.array([[fall(h, 0.7, t) for h in heights] for t in times])
    assert np.abs(at_times(result, times, "ball.h") - exact[..., 0]).max() < 1e-5
    assert np.abs(at_times(result, times, "ball.speed") - exact[..., 1]).max() < 1e-4
    assert np.array_equal(at_times(result, times, "ball.bounces"), exact[..., 2])


class Late(ac.Component):
    """What a ball's height was a while ago, beside balls that nobody looks at."""

    late = ac.Variable()

    def __init__(self, heights: np.ndarray) -> None:
        self.ball = ac.array(Ball, len(heights), h=ac.start(heights))

    def equations(self) -> Statements:
        yield self.late == ac.delay(self.ball[0].v, 0.3)


def test_a_delayed_value_jumps_a_while_after_the_state() -> None:
    heights, times = np.linspace(1.0, 9.0, 40), np.linspace(0.35, 2.0, 34)
    result = ac.compile(Late(heights)).simulate(until=2.0, at=times, rtol=1e-8)
    exact = np.array([fall(1.0, 0.7, t - 0.3)[1] for t in times])
    assert np.abs(at_times(result, times, "late") - exact).max() < 1e-5


def test_a_session_that_stops_at_bounces() -> None:
    heights = np.linspace(1.0, 9.0, 70)
    model = ac.compile(Balls(Ball, heights))
    first, session = np.sqrt(2 * heights / G), model.start()
    for t in [*first[:5], 0.8, *first[30:33], 1.4]:
        session.advance(t)
        exact = np.array([fall(h, 0.7, t)[0] for h in heights])
        assert max(abs(session[f"ball[{k}].h"] - exact[k]) for k in (0, 3, 40)) < 1e-6
    assert session["ball[0].bounces"] == fall(1.0, 0.7, 1.4)[2]


class Held(ac.Component):
    """`kept` is assigned at every event, whosever it is."""

    x, kept = ac.Variable(start=0.0, fixed=True), ac.Discrete(start=0.0)

    def __init__(self, heights: np.ndarray) -> None:
        self.ball = ac.array(Ball, len(heights), h=ac.start(heights))

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0
        yield self.kept == self.x


@pytest.mark.parametrize("n", [5, 100])
def test_an_equation_that_assigns_does_so_at_events_of_others(n: int) -> None:
    result = ac.compile(Held(np.linspace(1.0, 9.0, n))).simulate(until=1.3, points=2)
    bounces = result.events.times[[("h <= 0" in str(event)) for event in result.events]]
    assert result["kept"][-1] >= bounces[-1] - 1e-9 > 1.0


class Closing(ac.Component):
    """Fills, also from its neighbours; where it is full it loses a half, and closes."""

    rate = ac.Parameter(1.0)
    v, given = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    q, open, lost = ac.Variable(), ac.Integer(start=1), ac.Integer(start=0)

    def equations(self) -> Statements:
        comes = self.open * self.rate * (1 + 0.5 * ac.sin(7 * ac.time))
        yield ac.der(self.v) == self.q + comes
        yield ac.der(self.given) == comes

    def events(self) -> Statements:
        counted = ac.assign(self.lost, ac.pre(self.lost) + 1)
        yield ac.when(self.v > 1, ac.assign(self.open, 0), ac.reinit(self.v, ac.pre(self.v) - 0.5), counted)


class Chain(ac.Component):
    def __init__(self, n: int, wall: float) -> None:
        random = np.random.default_rng(2)
        self.n, self.wall = n, wall
        self.cell = ac.array(Closing, n, rate=np.linspace(0.5, 3.0, n), v=ac.start(random.uniform(0.0, 0.9, n)))

    def equations(self) -> Statements:
        c, n, wall = self.cell, self.n, self.wall
        yield c[0].q == -wall * c[0].open * c[1].open * (c[0].v - c[1].v)
        yield c[n - 1].q == wall * c[n - 2].open * c[n - 1].open * (c[n - 2].v - c[n - 1].v)
        before = wall * c[:-2].open * c[1:-1].open * (c[:-2].v - c[1:-1].v)
        yield c[1:-1].q == before - wall * c[1:-1].open * c[2:].open * (c[1:-1].v - c[2:].v)
        self.total = ac.named(ac.sum(c.v) + 0.5 * ac.sum(c.lost) - ac.sum(c.given))


@pytest.mark.parametrize("wall", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("rtol", [1e-3, 1e-7])
def test_what_cells_exchange_is_kept_in_sum_while_they_close_and_rest(wall: float, rtol: float) -> None:
    """A cell at rest does not lose what its former course was wrong by while its neighbours keep it."""
    result = ac.compile(Chain(70, wall)).simulate(until=1.5, rtol=rtol)
    total = np.asarray(result["total"])
    assert np.abs(total - total[0]).max() < 1e-10
    assert len(result.events) == 70 and result.statistics["restarts"] == 1
