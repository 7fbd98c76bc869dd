"""Events at times that can be computed are hit to the last digit; stairs, `min`, `abs` and the like have numpy's values."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import acausal as ac

Statements = Iterator[Any]


def integral(values: Any, times: Any) -> float:
    values, times = np.asarray(values), np.asarray(times)
    return float((0.5 * (values[1:] + values[:-1]) * np.diff(times)).sum())


def run(component: ac.Component, until: float = 3.0, **options: Any) -> ac.Result:
    result = ac.compile(component).simulate(until=until, **options)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    return result


class Step(ac.Component):
    """A ramp that begins at a time."""

    T = ac.Parameter(0.3)
    y = ac.Variable(start=0.0, fixed=True)
    n = ac.Integer(start=0)

    def equations(self) -> Statements:
        yield ac.der(self.y) == ac.where(ac.time >= self.T, 1.0, 0.0)

    def events(self) -> Statements:
        yield ac.when(ac.time >= self.T, ac.assign(self.n, ac.pre(self.n) + 1))


@pytest.mark.parametrize("solver", ["ida", "sundae"])
@pytest.mark.parametrize("moment", [0.3, 0.1 + 0.2, 1 / 3, 0.7, np.nextafter(0.5, 1.0)])
def test_a_time_is_hit_to_the_last_digit(moment: float, solver: str) -> None:
    result = run(Step(), 1.0, set={"T": moment}, solver=solver)
    assert result.events.times.tolist() == [moment]
    assert result["y"][-1] == pytest.approx(1.0 - moment, abs=1e-12) and result["n"][-1] == 1
    assert result.statistics["time_events"] == 1 and result.statistics["state_events"] == 0


def test_an_event_at_the_end_is_part_of_the_run() -> None:
    result = run(Step(), 0.3)
    assert result.events.times.tolist() == [0.3] and result["n"][-1] == 1


def test_a_time_that_moves_on_by_itself() -> None:
    class Alarm(ac.Component):
        due = ac.Discrete(start=0.1)
        rung = ac.Integer(start=0)

        def events(self) -> Statements:
            later, counted = ac.assign(self.due, ac.pre(self.due) + 0.1), ac.assign(self.rung, ac.pre(self.rung) + 1)
            yield ac.when(ac.time >= ac.pre(self.due), later, counted)

    result = run(Alarm(), 1.05)
    np.testing.assert_allclose(result.events.times, 0.1 * np.arange(1, 11), rtol=1e-15)
    assert result["rung"][-1] == 10


def test_what_happens_at_the_same_time_is_one_event() -> None:
    class Together(ac.Component):
        a, b, c = (ac.Integer(start=0) for _ in range(3))

        def events(self) -> Statements:
            yield ac.when(ac.time >= 0.6, ac.assign(self.a, 1))
            yield ac.when(ac.sample(0.3, 0.3), ac.assign(self.b, ac.pre(self.b) + 1))
            yield ac.when(2 * ac.time > 1.2, ac.assign(self.c, 10 * self.a + self.b))

    result = run(Together(), 1.0)
    assert result.events.times.tolist() == [0.3, 0.6, 0.9]
    assert result["c"][-1] == 12  # all of it sees all of it


def test_a_state_event_and_a_time_event_at_one_instant() -> None:
    class Both(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)
        timed, crossed, both = (ac.Integer(start=0) for _ in range(3))

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0

        def events(self) -> Statements:
            at, over = ac.time >= 1.0, self.x >= 1.0
            for counter, condition in ((self.timed, at), (self.crossed, over), (self.both, at & over)):
                yield ac.when(condition, ac.assign(counter, ac.pre(counter) + 1))

    result = run(Both())
    assert [result[n][-1] for n in ("timed", "crossed", "both")] == [1, 1, 1]
    np.testing.assert_allclose(result.events.times, 1.0, rtol=1e-9)


# --- corners ----------------------------------------------------------------------------------------------------------------
TIMES, VALUES = [0.0, 1.0, 2.0, 2.001, 2.002, 3.0, 10.0], [0.0, 1.0, 0.5, 3.0, 0.5, 0.25, 0.25]
AREA = integral(VALUES, TIMES)


class Driven(ac.Component):
    u = ac.Input()
    x = ac.Variable(start=0.0, fixed=True)
    n = ac.Integer(start=0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.u

    def events(self) -> Statements:
        yield ac.when(self.u > 2, ac.assign(self.n, ac.pre(self.n) + 1))


class Tabulated(Driven):
    def __init__(self) -> None:
        self.table = ac.Table(TIMES, VALUES, method="linear")

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.table(ac.time)

    def events(self) -> Statements:
        yield ac.when(self.table(ac.time) > 2, ac.assign(self.n, ac.pre(self.n) + 1))


@pytest.mark.parametrize("solver", ["ida", "sundae"])
@pytest.mark.parametrize("table", [False, True])
def test_a_peak_between_corners_is_not_stepped_over(table: bool, solver: str) -> None:
    given_values = {} if table else {"inputs": {"u": (TIMES, VALUES)}}
    result = run(Tabulated() if table else Driven(), 10.0, solver=solver, rtol=1e-7, **given_values)
    assert result["n"][-1] == 1
    np.testing.assert_allclose(result.events.times, [2.0 + 0.001 * 1.5 / 2.5], rtol=1e-9)
    assert result["x"][-1] == pytest.approx(AREA, abs=1e-3)


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_a_symmetric_corner_does_not_deceive_the_error_test(solver: str) -> None:
    times, values = [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 0.0]

    class Triangle(Driven):
        def events(self) -> Statements:
            yield ac.when(self.u > 0.5, ac.assign(self.n, ac.pre(self.n) + 1))

    result = run(Triangle(), 3.0, inputs={"u": (times, values)}, rtol=1e-8, solver=solver)
    assert result["x"][-1] == pytest.approx(1.0, abs=1e-5)


# --- stairs and other functions that switch ---------------------------------------------------------------------------------
Numbers = Callable[[np.ndarray], np.ndarray]


def expression(choose: random.Random, depth: int) -> tuple[Any, Numbers]:
    """A random expression of time, and what numpy makes of it."""
    if not depth or choose.random() < 0.15:
        if choose.random() < 0.4:
            return ac.time, lambda t: t
        a, b, c = choose.uniform(0.5, 4), choose.uniform(0, 6), choose.uniform(0.5, 3)
        return c * ac.sin(a * ac.time + b), lambda t: c * np.sin(a * t + b)
    name = choose.choice(["min", "max", "abs", "sign", "floor", "ceil", "where", "add", "mul"])
    one, f = expression(choose, depth - 1)
    if name in ("abs", "sign", "floor", "ceil"):
        return getattr(ac, name)(one), lambda t: getattr(np, name)(f(t))
    other, g = expression(choose, depth - 1)
    if name == "where":
        third, h = expression(choose, depth - 1)
        return ac.where(third > 0.1, one, other), lambda t: np.where(h(t) > 0.1, f(t), g(t))
    if name in ("min", "max"):
        return getattr(ac, name)(one, other), lambda t: getattr(np, name + "imum")(f(t), g(t))
    return (one + other, lambda t: f(t) + g(t)) if name == "add" else (0.5 * one * other, lambda t: 0.5 * f(t) * g(t))


@settings(max_examples=25)
@given(st.integers(0, 10_000))
@example(105)  # a stair that another one puts right onto its edge
def test_random_expressions_of_time_have_the_values_of_numpy(seed: int) -> None:
    stated, exact = expression(random.Random(seed), 3)

    class Random(ac.Component):
        y = ac.Variable()
        x, fast = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Statements:
            yield self.y == stated
            yield ac.der(self.x) == self.y
            yield ac.der(self.fast) == 30 * ac.cos(30 * ac.time)  # steps so small that nothing goes to and fro within one

    result = run(Random(), 5.0, points=301, rtol=1e-7)
    t = result.time
    away = (t > 0) & (t < 5)
    for moment in result.events.times:
        away &= np.abs(t - moment) > 1e-6
    np.testing.assert_allclose(result["y"][away], exact(t[away]), atol=1e-6)
    dense = np.linspace(0, 5, 100_001)
    assert result["x"][-1] == pytest.approx(integral(exact(dense), dense), abs=2e-3)


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_stairs_of_an_algebraic_unknown(sense: float) -> None:
    """Interpolated where the crossing was found, and solved for after it: it must not go to and fro."""

    class Stairs(ac.Component):
        x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
        u, low, high = ac.Variable(), ac.Variable(), ac.Variable()

        def equations(self) -> Statements:
            yield ac.der(self.x) == 3 * ac.cos(ac.time)
            yield self.u + 0.1 * self.u**3 == sense * self.x
            yield self.low == ac.floor(self.u)
            yield self.high == ac.ceil(self.u)
            yield ac.der(self.z) == self.low + self.high - 0.1 * self.z

    result = run(Stairs(), 20.0)
    away = result.time > 0
    for moment in result.events.times:
        away &= np.abs(result.time - moment) > 1e-5
    np.testing.assert_array_equal(result["low"][away], np.floor(result["u"][away]))
    np.testing.assert_array_equal(result["high"][away], np.ceil(result["u"][away]))


def test_a_jump_right_onto_a_stair() -> None:
    class Jumping(ac.Component):
        x, z = ac.Variable(start=2.0, fixed=True), ac.Variable(start=0.0, fixed=True)
        low, high = ac.Variable(), ac.Variable()

        def equations(self) -> Statements:
            yield ac.der(self.x) == 0.0
            yield self.low == ac.floor(self.x)
            yield self.high == ac.ceil(self.x)
            yield ac.der(self.z) == self.low + self.high

        def events(self) -> Statements:
            yield ac.when(ac.sample(1, 1), ac.reinit(self.x, ac.pre(self.x) + ac.where(ac.time < 4.5, 1.0, -1.0)))

    result = run(Jumping(), 8.5, at=np.arange(0.5, 8.5))
    np.testing.assert_array_equal(result["low"], result["x"])
    np.testing.assert_array_equal(result["high"], result["x"])


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_a_stair_that_is_jumped_onto_but_for_rounding_where_another_relation_switches(solver: str) -> None:
    """What is rounded up is compared with the next whole number right where it begins to count: that edge was on its switching
    point and the one below it beyond, by 2e-14, and they switched each other for ever."""

    class Coinciding(ac.Component):
        y, up, down = ac.Variable(start=-1.0, fixed=True), ac.Variable(), ac.Variable()

        def equations(self) -> Statements:
            yield ac.der(self.y) == 1.0
            inner = ac.where(self.y + 0.713 > 0, self.y, 0.863) - 0.787
            yield self.up == ac.ceil(2 * inner)
            yield self.down == ac.floor(-2 * inner)

    result = ac.compile(Coinciding()).simulate(until=2.0, solver=solver)
    away = result.time > 0
    for moment in result.events.times:
        away &= np.abs(result.time - moment) > 1e-9
    y = result["y"][away]
    up = np.ceil(2 * (np.where(y + 0.713 > 0, y, 0.863) - 0.787))
    np.testing.assert_array_equal(result["up"][away], up)
    np.testing.assert_array_equal(result["down"][away], -up)


@pytest.mark.parametrize("solver", ["ida", "sundae"])
@pytest.mark.parametrize("soon", [1e-200, 5e-324])
def test_a_time_next_to_the_start_is_reached(soon: float, solver: str) -> None:
    """The way there times a step was no number above zero, and the run failed without a word."""

    class Soon(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)
        mode, wait = ac.States("off", "on", "late", initial="off"), ac.Parameter(soon)

        def transitions(self) -> Statements:
            yield self.mode.off.to("on", after=self.wait)
            yield self.mode.on.to("late", after=1.0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == ac.where(self.mode.late, 1.0, 0.0)

        def events(self) -> Statements:
            yield ac.when(ac.sample(self.wait, 2.5), ac.reinit(self.x, self.x + 10))

    result = ac.compile(Soon()).simulate(until=2.0, solver=solver)
    assert result["x"][-1] == pytest.approx(11.0, abs=1e-9)
    assert ac.compile(Soon()).simulate(until=soon, solver=solver).outcome is ac.Outcome.FINISHED


def test_a_stair_on_which_a_run_begins_is_no_edge() -> None:
    class Begins(ac.Component):
        x = ac.Variable(start=3.7, fixed=True)
        four, three = ac.Integer(start=0), ac.Integer(start=0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0

        def events(self) -> Statements:
            yield ac.when(ac.floor(self.x) >= 4, ac.assign(self.four, ac.pre(self.four) + 1))
            yield ac.when(ac.floor(self.x) >= 3, ac.assign(self.three, ac.pre(self.three) + 1))

    result = run(Begins(), 1.0)
    assert result["four"][-1] == 1 and result["three"][-1] == 0
    np.testing.assert_allclose(result.events.times, [0.3], rtol=1e-9)


def test_no_event_gives_the_same_where_branches_meet() -> None:
    def model(wrap: Callable[[Any], Any]) -> ac.Component:
        class Kinks(ac.Component):
            x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)

            def equations(self) -> Statements:
                yield ac.der(self.x) == ac.cos(ac.time) - 0.2 * self.x
                yield ac.der(self.z) == wrap(ac.max(ac.sin(3 * ac.time), 0) * ac.abs(self.x - 0.5))

        return Kinks()

    events, none = run(model(lambda e: e), 10.0, rtol=1e-8), run(model(ac.no_event), 10.0, rtol=1e-8)
    assert len(events.events) > 5 and len(none.events) == 0
    assert none["z"][-1] == pytest.approx(events["z"][-1], abs=1e-6)
    smooth = run(model(ac.smooth), 10.0, rtol=1e-8)
    assert smooth["z"][-1] == none["z"][-1]
