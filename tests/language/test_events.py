"""Statements about events are data: what they hold, and the expressions that `pre`, `edge` and `change` stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

import acausal as ac
from acausal.language.events import AfterStep, Assign, Crossing, During, Reinit, Terminate, When, expressions, forgotten
from acausal.language.expression import walk


class Tank(ac.Component):
    x = ac.Variable(start=0.0)
    n = ac.Integer(start=0)
    on = ac.Boolean(start=False)
    mode = ac.States("low", "high", initial="low")


tank = Tank()


def test_a_clause_keeps_its_branches_in_order() -> None:
    clause = ac.when(tank.x > 1, ac.assign(tank.n, 1)).elsewhen(tank.x < 0, ac.reinit(tank.x, 0.0), ac.terminate("empty"))
    assert isinstance(clause, When)
    assert [str(condition) for condition, _ in clause.branches] == ["x > 1", "x < 0"]
    assert [[type(a) for a in actions] for _, actions in clause.branches] == [[Assign], [Reinit, Terminate]]


def test_elsewhen_leaves_the_clause_as_it_was() -> None:
    clause = ac.when(tank.x > 1, ac.assign(tank.n, 1))
    clause.elsewhen(tank.x < 0, ac.assign(tank.n, 2))
    assert len(clause.branches) == 1


def test_statements_know_their_line() -> None:
    clause = ac.when(
        tank.x > 1,
        ac.assign(tank.n, 1),
    )
    action = clause.branches[0][1][0]
    assert Path(clause.location.file).name == Path(__file__).name
    assert "ac.when(" in clause.location.source and "ac.assign(tank.n, 1)" in action.location.source


@pytest.mark.parametrize(
    "given, text",
    [
        (lambda: ac.pre(tank.n), "pre(n)"),
        (lambda: ac.edge(tank.on), "on & ~pre(on)"),
        (lambda: ac.sample(0, 2), "sample(0, 2)"),
        (lambda: ac.initial(), "initial()"),
        (lambda: ac.smooth(ac.abs(tank.x)), "no_event(abs(x))"),
    ],
)
def test_expressions_of_events(given, text: str) -> None:
    assert str(given()) == text


def test_change_compares_with_the_value_before() -> None:
    assert {str(n) for n in walk(ac.change(tank.n))} >= {"n", "pre(n)"}


def test_a_state_is_assigned_by_its_name() -> None:
    assert str(ac.assign(tank.mode, "high").value) == "1"


@pytest.mark.parametrize(
    "make, kind, parts",
    [
        (lambda: ac.when(tank.x > 1, ac.assign(tank.n, ac.pre(tank.n) + 1), ac.terminate("")), When, ["x > 1", "n", "pre(n) + 1"]),
        (lambda: ac.after_step(ac.assign(tank.n, tank.n + 1)), AfterStep, ["n", "n + 1"]),
        (lambda: ac.crossing(tank.x - 1, "rising", "jump"), Crossing, ["x - 1"]),
        (lambda: ac.during(tank.on, tank.x == 1), During, ["on", "x - 1"]),
    ],
)
def test_what_a_statement_is_about(make, kind: type, parts: list[str]) -> None:
    statement = make()
    assert isinstance(statement, kind)
    assert [str(e) for e, _ in expressions(statement)] == parts


def test_statements_that_nobody_took_are_remembered_once() -> None:
    forgotten(())
    taken = ac.assert_(tank.x > 0, "positive")
    lost = ac.when(tank.x > 1, ac.assign(tank.n, 1)).elsewhen(tank.x > 2, ac.assign(tank.n, 2))
    assert forgotten([taken]) == [lost]
    assert forgotten(()) == []
