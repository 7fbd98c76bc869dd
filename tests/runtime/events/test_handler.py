"""What happens at an event, against hand enumeration: rounds, `pre`, edges, order of statements, starts, what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac

Statements = Iterator[Any]
SOLVERS = ["ida", "sundae"]


class Clock(ac.Component):
    """A state that is the time, so that relations on it are state events."""

    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0


def run(component: ac.Component, until: float = 3.0, **options: Any) -> ac.Result:
    result = ac.compile(component).simulate(until=until, **options)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    return result


# --- rounds -----------------------------------------------------------------------------------------------------------------
class Chain(Clock):
    """At 1 s: a; b follows at once; c a round later; d, which looks at c, with the values of its own round."""

    a, b, c, d = (ac.Integer(start=0) for _ in range(4))

    def equations(self) -> Statements:
        yield from super().equations()
        yield self.b == self.a + 1
        yield self.c == ac.pre(self.b) + 10

    def events(self) -> Statements:
        yield ac.when(self.x > 1, ac.assign(self.a, 5))
        yield ac.when(self.c > 12, ac.assign(self.d, self.a * 100 + self.b))


@pytest.mark.parametrize("solver", SOLVERS)
def test_values_before_in_a_chain(solver: str) -> None:
    result = run(Chain(), solver=solver)
    assert [result[name][0] for name in "abcd"] == [0, 1, 11, 0]
    assert [result[name][-1] for name in "abcd"] == [5, 6, 16, 506]
    assert len(result.events) == 1


class Edges(Clock):
    """Of a condition that is true from 1 s to 2 s: how often it became true, changed, and was true at the ticks."""

    rising, changed, true = (ac.Integer(start=0) for _ in range(3))

    def events(self) -> Statements:
        within = (self.x > 1) & (self.x < 2)
        yield ac.when(within, ac.assign(self.rising, ac.pre(self.rising) + 1))
        yield ac.when(ac.change(within), ac.assign(self.changed, ac.pre(self.changed) + 1))
        yield ac.when(ac.sample(0.25, 0.5) & within, ac.assign(self.true, ac.pre(self.true) + 1))


def test_edges_and_levels() -> None:
    result = run(Edges())
    assert [int(result[n][-1]) for n in ("rising", "changed", "true")] == [1, 2, 2]


class Priority(Clock):
    n = ac.Integer(start=0)

    def events(self) -> Statements:
        yield (
            ac.when(ac.time >= 1, ac.assign(self.n, 1))
            .elsewhen(ac.time >= 1.0, ac.assign(self.n, 2))
            .elsewhen(ac.time >= 2, ac.assign(self.n, 3))
        )


def test_of_several_branches_the_first_counts() -> None:
    result = run(Priority(), at=[0.5, 1.5, 2.5])
    steps = result["n"][np.isin(result.time, [0.5, 1.5, 2.5])]
    assert steps.tolist() == [0, 1, 3]


class Register(ac.Component):
    """A hundred cells by one clock: each takes what its neighbour had before the tick."""

    count = ac.Integer(start=0)
    cell = ac.Integer(start=0, shape=100)

    def events(self) -> Statements:
        yield ac.when(
            ac.sample(0, 1),
            ac.assign(self.count, ac.pre(self.count) + 1),
            ac.assign(self.cell[0], self.count),
            ac.assign(self.cell[1:], ac.pre(self.cell[:-1])),
        )


def test_a_shift_register() -> None:
    result = run(Register(), 120.0, at=[60.5])
    ticks = 61
    expected = np.maximum(ticks - np.arange(100), 0)
    np.testing.assert_array_equal(result["cell"][result.time == 60.5][0], expected)


def test_clauses_of_two_clocks_count_as_they_should() -> None:
    class Clocks(ac.Component):
        two, three, both, either = (ac.Integer(start=0) for _ in range(4))

        def events(self) -> Statements:
            a, b = ac.sample(0, 2), ac.sample(0, 3)
            for counter, condition in ((self.two, a), (self.three, b), (self.both, a & b), (self.either, a | b)):
                yield ac.when(condition, ac.assign(counter, ac.pre(counter) + 1))

    k = 7
    result = run(Clocks(), 6.0 * k)
    assert [result[n][-1] for n in ("two", "three", "both", "either")] == [3 * k + 1, 2 * k + 1, k + 1, 4 * k + 1]
    pattern = sorted({m + 6 * i for m in (0, 2, 3, 4) for i in range(k + 1) if 0 < m + 6 * i <= 6 * k})
    assert result.events.times.tolist() == pattern


LINES = {
    "a": lambda m: ac.when(m.x > 1, ac.assign(m.a, ac.pre(m.a) + 2)),
    "b": lambda m: m.b == 3 * m.a + ac.pre(m.c),
    "c": lambda m: ac.when(m.b > 4, ac.assign(m.c, ac.pre(m.c) + m.a)),
    "d": lambda m: ac.when(ac.change(m.c) | (m.x > 2), ac.assign(m.d, ac.pre(m.d) + m.b)).elsewhen(m.a > 1, ac.assign(m.d, -1)),
    "e": lambda m: m.e == (m.a > 1) & ~m.f,
    "f": lambda m: ac.when(m.d > 10, ac.assign(m.f, True)),
}


def shuffled(order: list[str]) -> ac.Component:
    class Shuffled(Clock):
        a, b, c, d = (ac.Integer(start=0) for _ in range(4))
        e, f = ac.Boolean(start=False), ac.Boolean(start=False)

        def events(self) -> Statements:
            for name in order:
                yield LINES[name](self)

    return Shuffled()


@settings(max_examples=10)
@given(st.permutations(list(LINES)))
def test_the_order_of_statements_does_not_matter(order: list[str]) -> None:
    ours, reference = run(shuffled(order)), run(shuffled(list(LINES)))
    np.testing.assert_allclose(ours.events.times, reference.events.times, rtol=1e-12)
    for name in LINES:
        np.testing.assert_array_equal(ours[name], reference[name])


@pytest.mark.parametrize("solver", SOLVERS)
def test_hysteresis_against_the_closed_form(solver: str) -> None:
    class Thermostat(ac.Component):
        T = ac.Variable(start=20.0, fixed=True)
        on = ac.Boolean(start=True)

        def equations(self) -> Statements:
            yield ac.der(self.T) == ac.where(self.on, 1.0, -1.0)
            yield self.on == (self.T < 19) | (ac.pre(self.on) & (self.T < 21))

    result = run(Thermostat(), 10.0, rtol=1e-9, solver=solver)
    np.testing.assert_allclose(result.events.times, [1, 3, 5, 7, 9], rtol=1e-9)
    assert [e.changes[0].after for e in result.events] == [False, True, False, True, False]


def test_boolean_algebra() -> None:
    class Logic(Clock):
        p, q, both, either, differ, neither = (ac.Boolean(start=False) for _ in range(6))

        def equations(self) -> Statements:
            yield from super().equations()
            yield self.p == (self.x > 1) & (self.x < 3)
            yield self.q == (self.x > 2) & (self.x < 4)
            yield self.both == self.p & self.q
            yield self.either == self.p | self.q
            yield self.differ == (self.p & ~self.q) | (~self.p & self.q)
            yield self.neither == ~(self.p | self.q)

    times = np.array([0.5, 1.5, 2.5, 3.5, 4.5])
    result = run(Logic(), 5.0, at=times)
    at = np.isin(result.time, times)
    p, q = (result[n][at].astype(bool) for n in "pq")
    assert p.tolist() == [0, 1, 1, 0, 0] and q.tolist() == [0, 0, 1, 1, 0]
    for name, expected in (("both", p & q), ("either", p | q), ("differ", p ^ q), ("neither", ~(p | q))):
        np.testing.assert_array_equal(result[name][at], expected)


def test_ten_thousand_relations_at_one_instant_are_one_event() -> None:
    class Many(ac.Component):
        x = ac.Variable(start=0.0, fixed=True, shape=10_000)
        y = ac.Variable(start=0.0, fixed=True, shape=10_000)
        on = ac.Boolean(start=False, shape=10_000)

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0
            yield ac.der(self.y) == ac.where(self.x > 1, 1.0, 0.0)

        def events(self) -> Statements:
            yield ac.when(self.x > 1, ac.assign(self.on, True))

    result = run(Many(), 2.0, points=3, store=["y[17]"])
    assert len(result.events) == 1 and result.statistics["event_rounds"] <= 3  # one of them at the start, one that changes nothing
    assert result["on"][-1].all() and result["y[17]"][-1] == pytest.approx(1.0)


# --- the start --------------------------------------------------------------------------------------------------------------
RELATIONS = {"lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("slope", [1.0, -1.0, 0.0])
def test_a_relation_exactly_at_its_switching_point_at_the_start(name: str, slope: float) -> None:
    holds = RELATIONS[name]

    class AtStart(ac.Component):
        x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()
        n = ac.Integer(start=0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == slope
            yield self.y == ac.where(holds(self.x, 1), 1.0, 0.0)

        def events(self) -> Statements:
            yield ac.when(holds(self.x, 1), ac.assign(self.n, ac.pre(self.n) + 1))

    result = run(AtStart(), 1.0, at=[0.0, 0.5])
    assert result["y"][0] == holds(1.0, 1.0)  # as it is written
    afterwards = holds(1.0 + slope, 1.0)
    assert result["y"][result.time == 0.5][0] == afterwards
    assert result["n"][-1] == (afterwards and not holds(1.0, 1.0))  # true from the start is no edge
    assert len(result.events) == (afterwards != holds(1.0, 1.0))


class AtStart(Clock):
    """Everything that can happen at the start: ticks and `initial()` do, conditions that hold from the start do not."""

    timed, tick, first, later = (ac.Integer(start=0) for _ in range(4))

    def events(self) -> Statements:
        yield ac.when(ac.time >= 0, ac.assign(self.timed, ac.pre(self.timed) + 1))
        yield ac.when(ac.sample(0, 1), ac.assign(self.tick, ac.pre(self.tick) + 1))
        yield ac.when(ac.initial(), ac.assign(self.first, ac.pre(self.first) + 1))
        yield ac.when(ac.time > 0, ac.assign(self.later, ac.pre(self.later) + 1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_events_at_the_start(solver: str) -> None:
    result = run(AtStart(), 2.5, at=[0.0, 2.5], solver=solver)
    assert [result[n][0] for n in ("timed", "tick", "first", "later")] == [0, 1, 1, 0]
    assert [result[n][-1] for n in ("timed", "tick", "first", "later")] == [0, 3, 1, 0]
    assert result.events.times.tolist() == [1.0, 2.0]


def test_events_at_a_start_that_is_not_zero() -> None:
    result = run(AtStart(), 3.0, start=1.0)
    assert [result[n][0] for n in ("timed", "tick", "first", "later")] == [0, 1, 1, 0]
    assert result["tick"][-1] == 3


def test_a_state_may_jump_at_the_start() -> None:
    class Jump(Clock):
        def events(self) -> Statements:
            yield ac.when(ac.initial(), ac.reinit(self.x, ac.pre(self.x) + 5.0))

    result = run(Jump(), 1.0)
    assert result["x"][0] == pytest.approx(5.0) and result["x"][-1] == pytest.approx(6.0)


# --- what is stored ---------------------------------------------------------------------------------------------------------
def test_both_sides_of_an_event_are_stored_in_order() -> None:
    class Jumps(Clock):
        y = ac.Variable()
        n = ac.Integer(start=0)

        def equations(self) -> Statements:
            yield from super().equations()
            yield self.y == self.x + 10 * self.n

        def events(self) -> Statements:
            yield ac.when(ac.sample(1, 1), ac.assign(self.n, ac.pre(self.n) + 1))

    result = run(Jumps(), 3.5, points=8)
    assert (np.diff(result.time) >= 0).all()
    for k in (1, 2, 3):
        before, after = np.flatnonzero(result.time == k)
        assert after == before + 1
        assert result["y"][[before, after]].tolist() == pytest.approx([k + 10 * (k - 1), k + 10 * k])


def test_a_variable_that_only_a_result_computes_follows_events_too() -> None:
    class Shown(Clock):
        y = ac.Variable()

        def equations(self) -> Statements:
            yield from super().equations()
            yield self.y == ac.where(self.x < 1, 1.0, 0.0)
            self.named = ac.where(self.x < 2, 5.0, 7.0)

    result = run(Shown(), points=31)
    np.testing.assert_array_equal(result["y"], (result.time <= result.events.times[0]) & (np.arange(len(result.time)) <= 11))
    assert result["named"][0] == 5.0 and result["named"][-1] == 7.0


class Counting(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)
    n = ac.Integer(start=3)
    on = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.where(self.on, 1.0, 2.0)

    def events(self) -> Statements:
        yield ac.when(ac.sample(1, 1), ac.assign(self.n, ac.pre(self.n) + 1))


def test_discrete_start_values_are_set_and_go_on_in_a_later_run() -> None:
    model = ac.compile(Counting())
    first = model.simulate(until=3.5, set={"n": 10, "on": True})
    assert first["n"][-1] == 13 and first["x"][-1] == pytest.approx(3.5)
    second = model.simulate(until=7.0, start=3.5, start_from=first)
    assert second["n"][[0, -1]].tolist() == [13, 17] and second["x"][-1] == pytest.approx(7.0)
    third = model.simulate(until=7.0, start=3.5, start_from=first, set={"n": 0})
    assert third["n"][-1] == 4


def test_discrete_variables_need_not_be_stored_to_be_there() -> None:
    model = ac.compile(Counting())
    assert model.simulate(until=3.5, store=["n"])["n"][-1] == 6
    assert model.simulate(until=3.5, store=["x"])["n"][-1] == 6


def test_a_steady_state_with_discrete_variables() -> None:
    class Room(ac.Component):
        T = ac.Variable(start=290.0)
        on = ac.Boolean(start=False)
        G = ac.Parameter(2.0)

        def equations(self) -> Statements:
            yield ac.der(self.T) == ac.where(self.on, 20.0, 0.0) - self.G * (self.T - 280)
            yield self.on == (self.T < 295)

    model = ac.compile(Room())
    rest = model.steady_state()
    assert rest["T"][-1] == pytest.approx(290.0) and rest["on"][-1] == 1
    with pytest.raises(ac.ModelError, match="no state of rest") as told:
        model.steady_state(set={"G": 0.5})
    assert "switches:  on" in str(told.value)


# --- assigned after steps ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_counter_of_steps_counts_steps(solver: str) -> None:
    class Steps(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)
        steps, crossings = ac.Integer(start=0), ac.Integer(start=0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == ac.cos(ac.time)

        def events(self) -> Statements:
            yield ac.after_step(ac.assign(self.steps, self.steps + 1))
            yield ac.when(self.x > 0.5, ac.assign(self.crossings, ac.pre(self.crossings) + 1))

    result = run(Steps(), 10.0, solver=solver)
    assert result["steps"][-1] == result.statistics.steps
    assert result["crossings"][-1] == 2


# --- constraints ------------------------------------------------------------------------------------------------------------
class Pendulum(ac.Component):
    """In Cartesian coordinates; a wall on its way throws it back."""

    x, y = ac.Variable(start=-0.6), ac.Variable(start=-0.8)
    u, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0)
    F = ac.Variable()
    n = ac.Integer(start=0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.F * self.x
        yield ac.der(self.v) == -self.F * self.y - 9.81
        yield self.x**2 + self.y**2 == 1
        self.energy = 0.5 * (self.u**2 + self.v**2) + 9.81 * self.y

    def initial_equations(self) -> Statements:
        yield self.x == -0.6

    def events(self) -> Statements:
        bounce = (ac.reinit(self.u, -ac.pre(self.u)), ac.reinit(self.v, -ac.pre(self.v)))
        yield ac.when(self.x > 0.3, *bounce, ac.assign(self.n, ac.pre(self.n) + 1))


def test_a_pendulum_that_bounces_off_a_wall_keeps_its_energy() -> None:
    result = run(Pendulum(), 5.0, rtol=1e-8)
    np.testing.assert_allclose(result["energy"], -0.8 * 9.81, rtol=1e-6)
    assert result["x"].max() < 0.3 + 1e-9 and result["n"][-1] == len(result.events) == 4
    gaps = np.diff(result.events.times)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-6)  # it goes back the way it came
    assert gaps[0] == pytest.approx(2 * result.events.times[0], rel=1e-6)


def test_a_relation_in_an_algebraic_loop() -> None:
    class Loop(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)
        y, z = ac.Variable(), ac.Variable()

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1
            yield self.y + 0.1 * self.y**3 + self.z == self.x
            yield self.z == ac.where(self.y > 0.5, 0.5 * self.y, 0.5 - 0.5 * self.y)

    result = run(Loop(), rtol=1e-8)
    y = result["y"]
    np.testing.assert_allclose(y + 0.1 * y**3 + np.where(y > 0.5, 0.5 * y, 0.5 - 0.5 * y), result["x"], atol=1e-6)
    np.testing.assert_allclose(result.events.times, [0.5 + 0.1 * 0.125 + 0.25], rtol=1e-7)
