"""Bad input about events, each with its message: component, statement, line, what was expected, what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import messages
import numpy as np
import pytest
from messages import Base, holds, stopped, wrong

import acausal as ac

HERE = Path(__file__).name


def message(component: ac.Component, error: type[Exception] = ac.ModelError, **options: object) -> str:
    return messages.message(lambda: ac.compile(component).simulate(until=3.0, **options), error)  # type: ignore[arg-type]


# --- an iteration without end -----------------------------------------------------------------------------------------------
def test_two_conditions_that_switch_each_other_are_both_named():
    class Quarrel(Base):
        first, second = ac.Boolean(start=False), ac.Boolean(start=False)

        def equations(self):
            yield from super().equations()
            yield self.first == (self.x > 1) & ~ac.pre(self.second)
            yield self.second == ac.pre(self.first)

    text, result = stopped(Quarrel(), ac.Outcome.EVENT_CYCLES)
    holds(
        text,
        "at time 1",
        "does not come to rest",
        "switches:  first, by self.first == ",
        "switches:  second",
        f"{HERE}:",
        "ac.pre",
        "hysteresis",
        "try:",
    )
    assert result.time[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(result["x"], result.time, atol=1e-9)


def test_relations_that_have_no_answer_are_both_named():
    class Liar(Base):
        y, w = ac.Variable(), ac.Variable()

        def equations(self):
            yield from super().equations()
            yield self.y == ac.where(self.w > 0.5, 0.0, self.x)
            yield self.w == ac.where(self.y > 1.0, 1.0, 0.0)

    text, _ = stopped(Liar(), ac.Outcome.EVENT_CYCLES)
    holds(text, "w > 0.5", "y > 1", f"{HERE}:", "Liar", "try:")


def test_a_variable_that_counts_itself_never_comes_to_rest():
    class Restless(Base):
        def events(self):
            yield ac.when(ac.change(self.n) | (self.x > 1), ac.assign(self.n, ac.pre(self.n) + 1))
            yield ac.when(self.n > 3, ac.assign(self.d, 1.0))

        def equations(self):
            yield from super().equations()
            yield self.row[0] == ac.pre(self.row[0]) + 1

    text, _ = stopped(Restless(), ac.Outcome.EVENT_CYCLES)
    holds(text, "after 5001 rounds discrete values still change", "row[0]", "try:")


@pytest.mark.parametrize("same", [True, False])
def test_assignments_in_a_loop_are_told_only_if_their_clocks_meet(same: bool):
    class Loop(ac.Component):
        a, b = ac.Discrete(start=0.0), ac.Discrete(start=0.0)

        def events(self):
            yield ac.when(ac.sample(0, 1), ac.assign(self.b, self.a))
            yield ac.when(ac.sample(0 if same else 0.5, 1), ac.assign(self.a, self.b + 1))

    if same:
        text, _ = stopped(Loop(), ac.Outcome.EVENT_CYCLES)
        holds(
            text,
            "depend on each other in a loop",
            "ac.assign(self.b, self.a)",
            "ac.assign(self.a, self.b + 1)",
            HERE,
            "ac.pre",
            "try:",
        )
    else:
        result = ac.compile(Loop()).simulate(until=3.25)
        assert result["a"][-1] == 3 and result["b"][-1] == 3


# --- reinit -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "target, told",
    [
        (lambda m: m.z, "`z`, which is not a state"),
        (lambda m: m.u, "`u`, which is not a state"),
        (lambda m: m.k, "`k` is none"),
        (lambda m: m.n, "`n` is none"),
        (lambda m: 2 * m.x, "`2*x` is none"),
        (lambda m: ac.der(m.x), "`der(x)` is none"),
    ],
    ids=["algebraic", "input", "parameter", "discrete", "expression", "derivative"],
)
def test_reinit_of_something_that_is_not_a_state(target, told):
    text = message(wrong(lambda m: ac.when(m.x > 1, ac.reinit(target(m), 0.0))))
    holds(text, "ac.reinit", told, f"{HERE}:", "Wrong", "try:")


def test_reinit_of_an_alias_of_a_parameter():
    class Alias(Base):
        q = ac.Variable()

        def equations(self):
            yield from super().equations()
            yield self.q == self.k

        def events(self):
            yield ac.when(self.x > 1, ac.reinit(self.q, 0.0))

    holds(message(Alias()), "`q`, which is not a state", "ac.reinit(self.q, 0.0)", HERE, "try:")


def test_reinit_of_the_negative_of_a_state_sets_the_state():
    class Alias(Base):
        q = ac.Variable()

        def equations(self):
            yield from super().equations()
            yield self.q == -self.x

        def events(self):
            yield ac.when(self.x > 1, ac.reinit(self.q, -0.5))

    result = ac.compile(Alias()).simulate(until=2.25, rtol=1e-9)
    np.testing.assert_allclose(result.events.times, [1.0, 1.5, 2.0], rtol=1e-9)
    assert result["x"][-1] == pytest.approx(0.75)


# --- two statements for one variable ----------------------------------------------------------------------------------------
def test_two_clauses_that_assign_one_variable():
    class Twice(Base):
        def events(self):
            yield ac.when(self.x > 1, ac.assign(self.n, 1))
            yield ac.when(self.x > 2, ac.assign(self.n, 2))

    text = message(Twice())
    holds(text, "`n` is assigned by two statements", "ac.assign(self.n, 1)", "ac.assign(self.n, 2)", HERE, "elsewhen", "try:")


def test_of_arrays_only_the_elements_that_are_assigned_twice_are_named():
    class Twice(Base):
        def events(self):
            yield ac.when(self.x > 1, ac.assign(self.row[:3], 1))
            yield ac.when(self.x > 2, ac.assign(self.row[2:], 2))

    text = message(Twice())
    holds(text, "`row[2]` is assigned by two statements")
    assert "row[1]" not in text and "row[3]" not in text


def test_of_many_components_each_is_named_in_one_complaint():
    class Twice(Base):
        def events(self):
            yield ac.when(self.x > 1, ac.assign(self.n, 1))
            yield ac.when(self.x > 2, ac.assign(self.n, 2))

    class Many(ac.Component):
        def __init__(self):
            self.part = ac.array(Twice, 6)

    text = message(Many())
    holds(text, "`part[0].n`, `part[1].n`, `part[2].n`, `part[3].n` and 2 more are assigned")
    assert "things are wrong" not in text


def test_a_clause_and_an_equation_for_one_variable():
    class Both(Base):
        def equations(self):
            yield from super().equations()
            yield self.n == 3

        def events(self):
            yield ac.when(self.x > 1, ac.assign(self.n, 1))

    holds(message(Both()), "`n` is assigned by two statements", "also:      self.n == 3", "at every event", HERE, "try:")


def test_a_clause_and_a_step_counter_for_one_variable():
    class Both(Base):
        def events(self):
            yield ac.when(self.x > 1, ac.assign(self.n, 0))
            yield ac.after_step(ac.assign(self.n, self.n + 1))

    holds(message(Both()), "`n` is assigned by two statements", "ac.after_step", "another one", "try:")


def test_one_branch_that_assigns_twice():
    text = message(wrong(lambda m: ac.when(m.x > 1, ac.assign(m.n, 1), ac.assign(m.n, 2))))
    holds(text, "`n` is assigned twice at one instant", "all at once", HERE, "try:")


# --- conditions and actions -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "statement, told",
    [
        (lambda m: ac.when(m.x == 1, ac.terminate("")), ("states an equation, it is not a condition", "Compare")),
        (lambda m: ac.when(m.n == 1, ac.terminate("")), ("states an equation", "whole numbers")),
        (lambda m: ac.when(m.x, ac.terminate("")), ("`x` is a number, not a condition", "`x > 0`")),
        (lambda m: ac.when(m.x - 1, ac.terminate("")), ("`x - 1` is a number",)),
        (lambda m: ac.when(ac.time, ac.terminate("")), ("`time` is a number",)),
        (lambda m: ac.when(3 > 2, ac.terminate("")), ("never becomes true", "ac.initial()")),
        (lambda m: ac.when("x > 1", ac.terminate("")), ("got the text 'x > 1'", "without quotes")),
        (lambda m: ac.when(m.x > 1), ("needs something to do", "ac.assign")),
        (lambda m: ac.when(m.x > 1, m.n == 1), ("takes actions, got the equation", "ac.assign(self.n, value)")),
        (lambda m: ac.when(m.x > 1, [ac.assign(m.n, 1)]), ("got a list", "separated by commas")),
        (lambda m: ac.when(m.x > 1 and m.x < 2, ac.terminate("")), ("no truth value", "`&`")),
        (lambda m: ac.when(1 < m.x < 2, ac.terminate("")), ("no truth value", "`(a > 1) & (a < 2)`")),
        (lambda m: ac.when(m.x > 1, ac.assign(m.k, 1)), ("`k` is none", "ac.Discrete")),
        (lambda m: ac.when(m.x > 1, ac.assign(m.x, 1)), ("`x` is none", "ac.reinit")),
        (lambda m: ac.when(m.x > 1, ac.assign(m.n, 0.5)), ("`n` is a whole number, it cannot be 0.5",)),
        (lambda m: ac.when(m.x > 1, ac.assign(m.b, 2)), ("`b` is true or false, it cannot be 2",)),
        (lambda m: ac.when(m.x > 1, ac.assign(m.n, float("nan"))), ("`n` is a whole number",)),
        (lambda m: ac.when(m.x > 1, ac.assign(m.n, 3 * 0.1 * 10)), ("`n` is a whole number, it cannot be 3.0000000000000004",)),
        (lambda m: ac.assert_(m.x - 1, "positive"), ("`x - 1` is a number",)),
        (lambda m: ac.assert_(m.x > 1, "", level="fatal"), ("got 'fatal'", "warning")),  # type: ignore[arg-type]
        (lambda m: ac.crossing(m.x, direction="up"), ("got 'up'", "rising")),  # type: ignore[arg-type]
        (lambda m: ac.crossing(m.x, kind="edge"), ("got 'edge'", "knee")),  # type: ignore[arg-type]
        (lambda m: ac.after_step(ac.reinit(m.x, 1)), ("got Reinit", "ac.when")),  # type: ignore[arg-type]
        (lambda m: ac.after_step(), ("got nothing",)),
        (lambda m: ac.when(m.xx > 1, ac.terminate("")), ("no attribute `xx`", "Did you mean `x`")),
        (lambda m: ac.when(m.x > 1, ac.assign(m.nn, 1)), ("no attribute `nn`", "Did you mean `n`")),
        (lambda m: ac.when(Base.x > 1, ac.terminate("")), ("`x` is used without `self.`", "Write `self.x`")),
        (lambda m: ac.when(m.x > 1, ac.assign(Base.n, 1)), ("`n` is used without `self.`",)),
        (lambda m: ac.when(m.x > 1, ac.assign(m.n, Base.n + 1)), ("`n` is used without `self.`",)),
        (lambda m: ac.when(OTHER.x > 1, ac.terminate("")), ("which is not part of it",)),
        (lambda m: ac.when(m.x > 1, ac.assign(OTHER.n, 1)), ("which is not part of it",)),
    ],
)  # fmt: skip
def test_statements_that_mean_nothing(statement, told):
    holds(message(wrong(statement)), *told, "Wrong", f"{HERE}:", "try:")


OTHER = Base()


def test_an_action_is_told_where_it_is_yielded():
    class Bare(Base):
        def events(self):
            yield ac.assign(self.n, 1)

    holds(message(Bare()), "an action", "Say when it is taken", "Bare", f"{HERE}:", "try:")


def test_a_comparison_within_an_equation_needs_parentheses():
    text = message(wrong(None, lambda m: m.b == m.x < 3))
    holds(text, "not true or false", "`self.on == (self.T < 295)`", HERE)


def test_a_statement_that_is_not_yielded_is_not_lost_in_silence():
    class Forgetful(Base):
        def events(self):
            yield ac.when(self.x > 1, ac.assign(self.n, 1)).elsewhen(self.x > 2, ac.assign(self.n, 3))
            ac.assert_(self.x < 5, "too large")

    text = message(Forgetful())
    holds(text, "`ac.assert_` is not yielded", 'yield ac.assert_(self.x < 5, "too large")', HERE, "try:")
    assert "elsewhen" not in text


def test_events_among_initial_equations():
    class Misplaced(Base):
        def initial_equations(self):
            yield ac.when(self.x > 1, ac.assign(self.n, 1))

    holds(message(Misplaced()), "a statement about events", "to the method `events`", HERE)


# --- values before ----------------------------------------------------------------------------------------------------------
def test_pre_of_a_continuous_variable_in_an_equation():
    class Wrong(Base):
        y = ac.Variable()

        def equations(self):
            yield from super().equations()
            yield self.y == ac.pre(self.x) + 1

    holds(message(Wrong()), "`pre(x)` stands in an equation", "self.y == ac.pre(self.x) + 1", "ac.when", HERE, "try:")


def test_pre_of_what_is_discrete_may_stand_in_an_equation():
    class Right(Base):
        y, e = ac.Variable(), ac.Variable()

        def equations(self):
            yield from super().equations()
            yield self.y == ac.pre(self.n) + 1
            yield self.e == ac.where(ac.edge(self.x > 1), 1.0, 0.0)

        def events(self):
            yield ac.when(self.x > 1, ac.assign(self.n, 5))

    result = ac.compile(Right()).simulate(until=2.0)
    assert result["y"][-1] == 6.0 and result["e"][-1] == 0.0


# --- shapes -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "statement, told",
    [
        (lambda m: ac.when(m.x > 1, ac.assign(m.row, np.arange(4))), "`row` of shape (5,) cannot take a value of shape (4,)"),
        (lambda m: ac.when(m.x > 1, ac.assign(m.n, np.arange(4))), "`n` of shape () cannot take a value of shape (4,)"),
        (lambda m: ac.when(m.x > np.arange(3), ac.assign(m.n, 1)), "`n` of shape () cannot take a condition of shape (3,)"),
        (lambda m: ac.when(m.x > np.arange(3), ac.assign(m.row, 1)), "`row` of shape (5,) cannot take a condition of shape (3,)"),
        (lambda m: ac.when(m.x > 1, ac.reinit(m.x, np.zeros(2))), "`x` of shape () cannot take a value of shape (2,)"),
    ],
)
def test_shapes_that_do_not_fit(statement, told):
    text = message(wrong(statement))
    holds(text, told, "Wrong", f"{HERE}:", "try:")
    assert "relation1" not in text and "live" not in text


def test_the_shape_of_a_discrete_equation():
    text = message(wrong(None, lambda m: m.n == ac.where(ac.time > np.arange(3), 1, 0)))
    holds(text, "`n` of shape () cannot take a value of shape (3,)", HERE, "try:")


# --- clocks -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("period", [0.0, -1.0, np.nan, np.inf])
def test_a_period_that_is_none(period):
    text = message(wrong(lambda m: ac.when(ac.sample(0, period), ac.assign(m.n, 1))))
    holds(text, f"period {period:g} s", "sample(0, ", "Wrong", HERE, "above zero", "try:")


def test_a_parameter_that_is_no_period():
    text = message(wrong(lambda m: ac.when(ac.sample(0, m.k), ac.assign(m.n, 1))), set={"k": 0.0})
    holds(text, "period 0 s", "sample(0, k)", "the model (Wrong)", HERE, "try:")


@pytest.mark.parametrize("what", ["x", "n", "time"])
def test_a_period_that_changes(what):
    text = message(wrong(lambda m: ac.when(ac.sample(0, ac.time if what == "time" else getattr(m, what)), ac.assign(m.d, 1))))
    holds(text, f"depends on `{what}`, which changes during a run", "let a discrete variable hold the next time", HERE, "try:")


# --- values without a number, equations without a solution ------------------------------------------------------------------
@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_a_division_by_zero_in_an_assignment(solver):
    component = wrong(lambda m: ac.when(m.x > 1, ac.assign(m.d, 1 / m.n)))
    text, result = stopped(component, ac.Outcome.NOT_FINITE, solver=solver)
    holds(text, "not finite", "event at time 1", "ac.assign(m.d, 1 / m.n)", "Wrong", HERE, "try:")
    assert result.time[-1] == pytest.approx(1.0) and result["d"][-1] == 0.0


def test_a_state_that_jumps_to_no_number():
    component = wrong(lambda m: ac.when(m.x > 1, ac.reinit(m.x, 1 / (m.k - 2))))
    text, _ = stopped(component, ac.Outcome.NOT_FINITE)
    holds(text, "not finite", "ac.reinit", HERE)


class Valve(ac.Component):
    mode = ac.States("open", "shut", initial="open")
    m, p = ac.Variable(start=1.0), ac.Variable(start=3.0, fixed=True)

    def equations(self):
        yield ac.der(self.p) == -self.m
        yield ac.during(self.mode.open, self.m == 1.0)
        yield ac.during(self.mode.shut, self.m**2 + 1 == 0 * self.p)

    def transitions(self):
        yield self.mode.open.to("shut", when=self.p < 2)


def test_an_event_that_makes_the_equations_unsolvable():
    class Plant(ac.Component):
        def __init__(self):
            self.valve = Valve()

    text, result = stopped(Plant(), ac.Outcome.EVENT_UNSOLVABLE)
    holds(text, "After the event at time 1", "valve.mode: open → shut", "valve (Valve): p < 2", "self.m**2 + 1 == 0 * self.p")
    holds(text, "Tried:", "Newton's method", "valve.m", f"{HERE}:", "ac.reinit", "try:")
    assert "initial values" not in text
    assert result.time[-1] == pytest.approx(1.0)
    before = result.time < 1
    np.testing.assert_allclose(result["valve.p"][before], 3 - result.time[before], rtol=1e-6)
    assert len(result.events) == 1


# --- equations of states ----------------------------------------------------------------------------------------------------
def during(*statements):
    class Modes(ac.Component):
        x, y, z = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()
        mode = ac.States("one", "two", initial="one")

        def equations(self):
            yield ac.der(self.x) == 1.0
            for statement in statements:
                yield statement(self)

        def transitions(self):
            yield self.mode.one.to("two", when=self.x > 1)

    return Modes()


@pytest.mark.parametrize(
    "statements, told",
    [
        (
            (lambda m: ac.during(m.mode.one, m.y == 1, m.z == 2), lambda m: ac.during(m.mode.two, m.y == m.z)),
            ("equations that hold while mode is two", "1 fewer than in another state", "mode is one: 2, mode is two: 1"),
        ),
        ((lambda m: ac.during(m.mode.tow, m.y == 1),), ("no state `tow`", "Did you mean `two`")),
        ((lambda m: ac.during("one", m.y == 1),), ("got the text 'one'", "`self.mode.one`")),
        ((lambda m: ac.during(m.x == 1, m.y == 1),), ("states an equation, it is not a condition",)),
        ((lambda m: ac.during(m.mode.one, m.y > 1),), ("takes equations, got y > 1", "left == right")),
        ((lambda m: ac.when(m.x > 1, ac.assign(m.mode, "tow")),), ("no state `tow`", "one, two")),
    ],
)
def test_equations_of_states_that_mean_nothing(statements, told):
    holds(message(during(*statements)), *told, "Modes", f"{HERE}:", "try:")


@pytest.mark.parametrize(
    "condition",
    [lambda s: s.x, lambda s: s.x - 1.0, lambda s: ac.sin(s.x), lambda s: ~s.x, lambda s: s.on & s.x, lambda s: ac.time],
)
def test_a_number_is_no_condition_of_where(condition: Any) -> None:
    class Chooses(ac.Component):
        x, on = ac.Variable(start=1.0, fixed=True), ac.Boolean(True)

        def equations(self) -> Any:
            yield ac.der(self.x) == ac.where(condition(self), -1.0, 1.0)

    with pytest.raises(ac.AcausalError, match="is a number, not a condition"):
        ac.compile(Chooses())
