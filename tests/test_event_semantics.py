"""What events mean, in corners that are easy to get wrong: each model has an answer that can be counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Totals(ac.Component):
    """Sums of what changes at the same instant."""

    def __init__(self, n: int) -> None:
        self.x = ac.Variable(start=0.0, fixed=True, shape=n)
        self.a, self.e, self.d = ac.Discrete(0.0), ac.Discrete(0.0), ac.Discrete(0.0, shape=n)
        self.n = n

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == np.arange(1.0, self.n + 1)

    def events(self) -> Iterator[Any]:
        yield ac.when(
            ac.sample(1.0, 1.0),
            ac.assign(self.a, ac.pre(ac.sum(self.x))),
            ac.assign(self.d, ac.pre(self.d) + 1),
            ac.assign(self.e, ac.sum(self.d)),
            ac.reinit(self.x, self.x - ac.pre(ac.sum(self.x))),
        )


@pytest.mark.parametrize("n", [3, 8])  # written out, and accumulated
def test_sums_at_an_event_are_those_of_that_instant(n: int) -> None:
    result = ac.compile(Totals(n)).simulate(until=2.5)
    first = n * (n + 1) / 2
    assert result["e"][-1] == 2 * n
    assert result["a"][-1] == pytest.approx(2 * first - n * first)
    exact = 2.5 * np.arange(1, n + 1) - first - (2 * first - n * first)
    np.testing.assert_allclose(result["x"][-1], exact, atol=1e-8)


class Counter(ac.Component):
    n = ac.Integer(0)

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sample(0.0, 1.0), ac.assign(self.n, ac.pre(self.n) + 1))


class Counters(ac.Component):
    total, three = ac.Integer(0), ac.Integer(0)

    def __init__(self, n: int) -> None:
        self.c = ac.array(Counter, n)

    def events(self) -> Iterator[Any]:
        some = self.c[0].n + self.c[1].n + self.c[2].n
        yield ac.when(ac.sample(0.0, 1.0), ac.assign(self.total, ac.sum(self.c.n)), ac.assign(self.three, some))


@pytest.mark.parametrize("n", [3, 30])
def test_a_sum_over_an_array_follows_what_was_assigned_at_the_same_tick(n: int) -> None:
    result = ac.compile(Counters(n)).simulate(until=2.5)
    assert (result["total"][-1], result["three"][-1]) == (3 * n, 9)


class Rising(ac.Component):
    x, k = ac.Variable(start=0.0, fixed=True), ac.Parameter(1.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.k


class Majority(ac.Component):
    n = ac.Integer(0)

    def __init__(self, count: int) -> None:
        self.c = ac.array(Rising, count, k=np.arange(1.0, count + 1))

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sum(ac.where(self.c.x > 1.0, 1.0, 0.0)) > 1.5, ac.assign(self.n, ac.pre(self.n) + 1))


@pytest.mark.parametrize("count", [3, 20])
def test_a_condition_on_a_sum_of_relations_is_an_edge_once(count: int) -> None:
    assert ac.compile(Majority(count)).simulate(until=2.0)["n"][-1] == 1


class TwoGuesses(ac.Component):
    x, q = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    y = ac.Variable(start=1.0)
    mode = ac.States("first", "negative", "last", initial="first")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 1.0
        yield ac.der(self.q) == self.y
        yield self.y**2 == 4.0 + ac.match(self.mode, first=0.0, negative=5.0, last=12.0)

    def transitions(self) -> Iterator[Any]:
        yield self.mode.first.to("negative", when=self.x > 1)
        yield self.mode.negative.to("last", when=self.x > 2)

    def on_state_change(self) -> Iterator[Any]:
        yield self.y, self.mode.negative, -2.0
        yield self.y, self.mode.last, 2.0


def test_each_state_has_its_own_guess() -> None:
    result = ac.compile(TwoGuesses()).simulate(until=3.0, at=[0.5, 1.5, 2.5])
    np.testing.assert_allclose(result["y"][np.searchsorted(result.time, [0.5, 1.5, 2.5])], [2.0, -3.0, 4.0])


class Moving(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def __init__(self, statement: Any) -> None:
        self.statement = statement
        self.b, self.n, self.k = ac.Discrete(0.0), ac.Integer(0), ac.Boolean(True)
        self.many = ac.Integer(0, shape=2)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 1.0

    def events(self) -> Iterator[Any]:
        yield from self.statement(self)


def moved(statement: Any, until: float = 2.5) -> Any:
    return ac.compile(Moving(statement)).simulate(until=until)


def test_a_branch_with_the_condition_of_an_earlier_one_is_never_taken() -> None:
    def statement(m: Any) -> Iterator[Any]:
        hot = m.x > 1
        yield ac.when(hot, ac.assign(m.k, False)).elsewhen(hot, ac.terminate("never"))

    assert moved(statement).outcome is ac.Outcome.FINISHED


def test_pre_of_pre_is_pre() -> None:
    def statement(m: Any) -> Iterator[Any]:
        both = ac.pre(ac.pre(m.n) + ac.pre(m.x))
        yield ac.when(ac.sample(1.0, 1.0), ac.assign(m.n, ac.pre(m.n) + 1), ac.assign(m.b, both), ac.reinit(m.x, ac.pre(m.x) + 10))

    assert moved(statement)["b"][-1] == pytest.approx(13.0)


def test_a_condition_that_reads_an_element_of_what_it_assigns_means_the_value_before() -> None:
    def statement(m: Any) -> Iterator[Any]:
        yield ac.when((m.x > 1) & (m.many[0] < 1), ac.assign(m.many, ac.pre(m.many) + 1))

    result = moved(statement)
    assert result.outcome is ac.Outcome.FINISHED
    assert result["many"][-1].tolist() == [1, 1]


def test_two_values_for_one_state_are_a_conflict() -> None:
    def statement(m: Any) -> Iterator[Any]:
        yield ac.when(m.x > 1, ac.reinit(m.x, 5.0))
        yield ac.when(m.x > 1.0, ac.reinit(m.x, 7.0))

    result = moved(statement)
    assert result.outcome is ac.Outcome.EVENT_CONFLICT
    assert "Two statements set one state to different values" in str(result.diagnostics[0])
    assert result.time_reached == pytest.approx(1.0)


class Named(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        step = ac.where(self.x > 1, 1.0, 0.0)
        self.twice = step * 2
        self.more = ac.named(step + 1)
        yield ac.der(self.x) == 1.0 + self.more


def test_named_expressions_have_the_values_of_their_side_of_an_event() -> None:
    result = ac.compile(Named()).simulate(until=2.0, points=3)
    k = int(np.flatnonzero(np.diff(result.time) == 0)[0])
    assert result["twice"][k : k + 2].tolist() == [0.0, 2.0]
    assert result["more"][k : k + 2].tolist() == [1.0, 2.0]


class MadeInInit(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def __init__(self) -> None:
        self.Q = ac.named(ac.where(self.x > 0, -2.0, 1.0))

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.Q


def test_expressions_made_in_init_survive_a_second_translation() -> None:
    component = MadeInInit()
    ac.compile(component)
    assert ac.compile(component).simulate(until=0.4)["x"][-1] == pytest.approx(0.2)
    result = ac.compile(component).simulate(until=3.0, sliding="filippov")
    assert result.outcome is ac.Outcome.FINISHED
    assert result["x"][-1] == pytest.approx(0.0, abs=1e-9)


class SmoothStart(ac.Component):
    x, y = ac.Variable(), ac.Variable(start=-2.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 1.0
        yield ac.der(self.y) == 1.0

    def initial_equations(self) -> Iterator[Any]:
        yield self.x == ac.smooth(ac.max(0.0, -1.0 * self.y))


def test_initial_equations_may_opt_out_of_events() -> None:
    assert ac.compile(SmoothStart()).simulate(until=1.0)["x"][-1] == pytest.approx(3.0)


class Driven(ac.Component):
    u, x = ac.Input(), ac.Variable(start=0.0, fixed=True)
    side = ac.OutputStates("up", "down", initial="up")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.u

    def transitions(self) -> Iterator[Any]:
        yield self.side.up.to("down", when=self.x > 1)


class Driver(ac.Component):
    def __init__(self) -> None:
        self.c = Driven()

    def equations(self) -> Iterator[Any]:
        yield ac.during(self.c.side.up, self.c.u == 1.0)
        yield ac.during(~self.c.side.up, self.c.u == -1.0)


def test_equations_of_a_state_may_drive_the_input_of_a_part() -> None:
    assert ac.compile(Driver()).simulate(until=3.0)["c.x"][-1] == pytest.approx(-1.0)


class Together(ac.Component):
    x, F = ac.Variable(start=0.0, fixed=True), ac.Variable()
    m = ac.States("a", "b", "c", initial="a")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.F
        yield ac.during(self.m.a | self.m.b, self.F == 1.0)
        yield ac.during(~(self.m.a | self.m.b), self.F == 2.0)

    def transitions(self) -> Iterator[Any]:
        yield self.m.a.to("b", after=1.0)
        yield self.m.b.to("c", after=1.0)


def test_states_may_share_their_equations() -> None:
    assert ac.compile(Together()).simulate(until=3.0)["x"][-1] == pytest.approx(4.0)


class Pendulum(ac.Component):
    x, y = ac.Variable(start=1.0), ac.Variable(start=0.0)
    u, v, T = ac.Variable(start=0.0), ac.Variable(start=0.0), ac.Variable()
    when = ac.Parameter(0.5)

    def __init__(self, which: str) -> None:
        self.which = which

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.T * self.x
        yield ac.der(self.v) == -self.T * self.y - 9.81
        yield self.x**2 + self.y**2 == 1

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.time >= self.when, ac.reinit(getattr(self, self.which), 0.0))


@pytest.mark.parametrize("which", ["u", "v"])
@pytest.mark.parametrize("when", [0.5, 0.65])
def test_a_state_that_is_not_selected_can_be_re_initialised(which: str, when: float) -> None:
    """The rod ties the velocities: if one is zero so is the other, and the position stays."""
    result = ac.compile(Pendulum(which)).simulate(until=1.0, set={"when": when})
    k = int(np.flatnonzero(np.diff(result.time) == 0)[0])
    assert result["u"][k + 1] == pytest.approx(0.0, abs=1e-9)
    assert result["v"][k + 1] == pytest.approx(0.0, abs=1e-9)
    assert abs(result["u"][k]) > 1.0
    assert result["x"][k + 1] == pytest.approx(result["x"][k], rel=1e-9)


class Held(ac.Component):
    u, x = ac.Input(0.0), ac.Variable(start=0.0, fixed=True)
    y = ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.u - self.x
        yield self.y == self.u + self.x


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_an_input_that_holds_its_values_jumps_at_its_times(solver: str) -> None:
    given = ac.hold([0.0, 1.0, 2.5], [0.0, 2.0, -1.0])
    result = ac.compile(Held()).simulate(until=5.0, inputs={"u": given}, rtol=1e-9, solver=solver)
    assert result.event_times.tolist() == [1.0, 2.5]
    level = 2 * (1 - np.exp(-1.5))
    assert result["x"][-1] == pytest.approx(-1 + (level + 1) * np.exp(-2.5), abs=1e-7)
    k = int(np.searchsorted(result.time, 1.0))
    assert result["y"][k : k + 2].tolist() == [0.0, 2.0]


def test_a_held_input_is_checked() -> None:
    with pytest.raises(ac.ModelError, match="must increase"):
        ac.hold([0.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    with pytest.raises(ac.ModelError, match="2 times and 1 values"):
        ac.hold([0.0, 1.0], [1.0])


class Vacuum(ac.Component):
    p, n = ac.Variable(start=1e5, fixed=True), ac.Integer(0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.p) == -self.p

    def events(self) -> Iterator[Any]:
        yield ac.when(self.p < 5e-8, ac.assign(self.n, 1))


def test_a_threshold_is_met_however_large_the_start_was() -> None:
    result = ac.compile(Vacuum()).simulate(until=40.0, rtol=1e-8, atol=1e-14)
    assert result["n"][-1] == 1
    assert result.event_times[0] == pytest.approx(np.log(1e5 / 5e-8), rel=1e-6)


class Fast(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -1e5 * self.x


@pytest.mark.parametrize("solver", ["ida"])
def test_output_just_after_the_start_of_a_long_run(solver: str) -> None:
    at = np.array([0.0, 1e-7, 1e-6, 2e-6, 1e-5])
    result = ac.compile(Fast()).simulate(until=1e9, at=[*at, 1e9], solver=solver)
    np.testing.assert_allclose(result["x"][:5], np.exp(-1e5 * at), atol=1e-5)


class Still(ac.Component):
    """Nothing to solve for: everything is an expression of time."""

    y, n, i = ac.Variable(), ac.Integer(0), ac.Integer(0)

    def equations(self) -> Iterator[Any]:
        yield self.y == ac.where(ac.sin(ac.time) > 0, 1.0, 0.0)

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sin(ac.time) > 0, ac.assign(self.n, ac.pre(self.n) + 1))
        yield ac.after_step(ac.assign(self.i, self.i + 1))


def test_models_without_unknowns_have_events_and_steps() -> None:
    result = ac.compile(Still()).simulate(until=1e4, max_step=1.0)
    assert result["n"][-1] == 1592
    assert result["i"][-1] == result.statistics.steps > 10_000


class Sampler(ac.Component):
    u, s, x = ac.Input(), ac.Discrete(0.0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.s

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sample(0, 0.1), ac.assign(self.s, self.u))


def test_a_clock_and_a_held_input_that_differ_by_rounding_meet() -> None:
    given = ac.hold(np.arange(0, 1, 0.1), np.arange(10.0))
    assert ac.compile(Sampler()).simulate(until=0.95, inputs={"u": given})["x"][-1] == pytest.approx(4.05)


class Ticking(ac.Component):
    x, k = ac.Variable(start=0.0, fixed=True), ac.Integer(0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 1

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sample(0, 0.3), ac.assign(self.k, ac.pre(self.k) + 1))


@pytest.mark.parametrize("split", [6.0, 5.1, 5.0])
def test_a_run_that_goes_on_makes_no_tick_twice(split: float) -> None:
    model = ac.compile(Ticking())
    first = model.simulate(until=split)
    assert model.simulate(start=split, until=10, start_from=first)["k"][-1] == model.simulate(until=10.0)["k"][-1] == 34


class Following(ac.Component):
    x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)
    m = ac.Discrete(0.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x * (1.0 + 0.1 * self.m)

    def events(self) -> Iterator[Any]:
        yield ac.after_step(ac.assign(self.m, self.x))


def test_what_is_assigned_after_every_step_may_be_read_by_equations() -> None:
    result = ac.compile(Following()).simulate(until=20.0)
    assert result.outcome is ac.Outcome.FINISHED
    assert result.statistics.steps < 10_000


class Clocked(ac.Component):
    x, n = ac.Variable(start=0.0, fixed=True), ac.Integer(0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.n - self.x

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sample(0, 1.0), ac.assign(self.n, 1 - ac.pre(self.n)))
        yield ac.when(ac.time >= 100.0, ac.terminate("done"))


def test_a_clock_does_not_chatter() -> None:
    assert ac.compile(Clocked()).simulate(until=1e9).outcome is ac.Outcome.TERMINATED


class Resting(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    mode = ac.States("flying", "lying", initial="flying")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.h) == ac.match(self.mode, flying=self.v, lying=0.0)
        yield ac.der(self.v) == ac.match(self.mode, flying=-9.81, lying=0.0)

    def events(self) -> Iterator[Any]:
        yield ac.when(self.h < 0, ac.reinit(self.v, -0.7 * ac.pre(self.v)))

    def transitions(self) -> Iterator[Any]:
        yield self.mode.flying.to("lying", when=(self.h < 0) & (self.v < 0) & (self.v > -0.01))


@pytest.mark.parametrize("until", [10.0, 36000.0])
def test_a_ball_that_comes_to_rest_is_not_stopped(until: float) -> None:
    result = ac.compile(Resting()).simulate(until=until)
    assert result.outcome is ac.Outcome.FINISHED
    assert result.states("mode")[-1].state == "lying"


class Ring(ac.Component):
    """Twenty relations that switch in turn, ever so fast."""

    def __init__(self, n: int = 20) -> None:
        self.size = n
        self.x, self.k = ac.Variable(start=-1e-10, fixed=True, shape=n), ac.Integer(0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.where(ac.abs(self.k - np.arange(self.size)) < 0.5, 1.0, 0.0)

    def events(self) -> Iterator[Any]:
        for i in range(self.size):
            yield ac.when(self.x[i] > 0, ac.reinit(self.x[i], -1e-10))
        hit = ac.sum(ac.where(self.x > 0, 1.0, 0.0)) > 0.5
        after = ac.where(ac.pre(self.k) > self.size - 1.5, 0, ac.pre(self.k) + 1)
        yield ac.when(hit, ac.assign(self.k, after))


def test_chattering_in_turn_is_seen_too() -> None:
    result = ac.compile(Ring()).simulate(until=1.0)
    assert result.outcome is ac.Outcome.CHATTERING
    assert result.statistics.events < 10_000


class Bouncing(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self) -> Iterator[Any]:
        yield ac.when(self.h < 0, ac.reinit(self.v, -0.9 * ac.pre(self.v)))


@pytest.mark.parametrize("start", [0.0, 1e6, 1.7e9])
def test_times_of_events_are_as_exact_as_times_can_be(start: float) -> None:
    fall = np.sqrt(2 / 9.81)
    exact = fall * (1 + 2 * np.array([0, 0.9, 1.71, 2.439]))
    result = ac.compile(Bouncing()).simulate(start=start, until=start + 3, rtol=1e-9)
    np.testing.assert_allclose(result.event_times - start, exact, rtol=0, atol=2e-9 + 4 * np.spacing(start))


class Waiting(ac.Component):
    T, T_out = ac.Variable(start=290.0), ac.Parameter(310.0)
    call = ac.States("off", "on", initial="off")

    def equations(self) -> Iterator[Any]:
        yield 10 * ac.der(self.T) == self.T_out - self.T - ac.match(self.call, on=60.0, off=0.0)

    def transitions(self) -> Iterator[Any]:
        yield self.call.off.to("on", when=self.T > 280, after=300.0)
        yield self.call.on.to("off", when=self.T < 240)


def test_at_rest_whatever_had_to_wait_has_waited() -> None:
    model = ac.compile(Waiting())
    assert model.steady_state()["T"][0] == pytest.approx(250.0)
    assert model.steady_state(set={"T_out": 270.0})["T"][0] == pytest.approx(270.0)
    assert [i.state for i in model.simulate(until=1000.0, initial="steady").states("call")] == ["on"]
    assert [i.end for i in model.simulate(until=1000.0).states("call")] == [300.0, 1000.0]


@ac.function(opaque=True)
def hidden_step(x: float) -> float:
    """Somebody's program: nothing shows that it jumps."""
    return 1.0 if x < 1.0 else 3.0


@ac.function(opaque=True)
def told_step(side: float) -> float:
    """The same, told on which side it is, as IDA's event functions tell it (IDA Solver, section 4.8)."""
    return 3.0 if side else 1.0


class HiddenRate(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == hidden_step(self.x)

    def events(self) -> Iterator[Any]:
        yield ac.crossing(self.x - 1.0, direction="rising", kind=self.kind)


@pytest.mark.parametrize("kind", ["knee", "jump"])
def test_a_rate_that_jumps_inside_a_function_is_met_by_an_event_function(kind: str) -> None:
    result = ac.compile(HiddenRate(kind)).simulate(until=2.0, rtol=1e-8)
    assert (
        result.event_times[0] == pytest.approx(1.0, rel=1e-7) and len(result.events) == 1
    )  # a step saw the jump before it was found
    assert result["x"][-1] == pytest.approx(4.0, rel=1e-7)
    k = int(np.flatnonzero(np.diff(result.time) == 0)[0])
    if kind == "jump":  # derivatives are computed anew, too
        assert result["der(x)"][k + 1] == pytest.approx(3.0, rel=1e-9)


class ToldStep(ac.Component):
    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 1.0 + 0.1 * self.y
        yield self.y + 0.1 * self.y**3 == told_step(self.x >= 1.0)


def test_a_jump_of_an_algebraic_unknown_inside_a_function_is_told_its_side() -> None:
    """A relation as the function's argument is frozen within steps, so that none of them sees the jump."""
    result = ac.compile(ToldStep()).simulate(until=2.0, rtol=1e-8)
    assert len(result.events) == 1
    k = int(np.flatnonzero(np.diff(result.time) == 0)[0])
    before, after = result["y"][k : k + 2]
    assert before + 0.1 * before**3 == pytest.approx(1.0, abs=1e-6)
    assert after + 0.1 * after**3 == pytest.approx(3.0, abs=1e-9)
    assert result.time[k] == pytest.approx(1.0 / (1.0 + 0.1 * before), rel=1e-7)
