"""Conditions that have no value for a while: crossings before they lose it, and after they get one; what is said about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

Statements = Iterator[Any]
SOLVERS: list[dict[str, Any]] = [{}, {"solver": "sundae"}, {"solver": "fixed", "step": 0.37}, {"max_step": 0.01}]
quiet = pytest.mark.filterwarnings("ignore:A condition has no value")


class Falling(ac.Component):
    """x falls from 1 by 0.1 a second: 0.51 after 4.9 s, 0.5 after 5 s, 0 after 10 s."""

    x = ac.Variable(start=1.0, fixed=True)
    at = ac.Discrete(-1.0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == -0.1

    def root(self) -> Any:
        return ac.sqrt(self.x - 0.5)


class Watched(Falling):
    def events(self) -> Statements:
        yield ac.when(self.root() < 0.1, ac.assign(self.at, ac.time))


class Chosen(Falling):
    y = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield from super().equations()
        yield ac.der(self.y) == ac.where(self.root() < 0.1, 1.0, 0.0)


class Larger(Falling):
    """The larger of two has a value although one of them has none."""

    y = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield from super().equations()
        yield ac.der(self.y) == ac.max(self.root(), 0.1)


class Sequence(Falling):
    mode = ac.States("high", "low", initial="high")

    def transitions(self) -> Statements:
        yield self.mode.high.to("low", when=self.root() < 0.1)


class Asserted(Falling):
    def events(self) -> Statements:
        yield ac.assert_(self.root() > 0.1, "It is low.")


class Hidden(Watched):
    """Events of models with such a crossing are not handled natively."""

    def events(self) -> Statements:
        yield from super().events()
        yield ac.crossing(self.x - 0.2, kind="jump")


class Remembering(Watched):
    """The value before an event is kept, so that no event is local."""

    before = ac.Discrete(-1.0)

    def events(self) -> Statements:
        yield from super().events()
        yield ac.when(self.x < 0.3, ac.assign(self.before, ac.pre(self.x)))


class Rising(ac.Component):
    """The condition has a value from 5 s on, and is true until 5.1 s."""

    x = ac.Variable(start=0.0, fixed=True)
    at, count = ac.Discrete(-1.0), ac.Integer(0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 0.1

    def events(self) -> Statements:
        yield ac.when(ac.sqrt(self.x - 0.5) < 0.1, ac.assign(self.at, ac.time), ac.assign(self.count, ac.pre(self.count) + 1))


class Between(ac.Component):
    """It has no value from 1 s to 2 s, is false before and true afterwards, at once."""

    x = ac.Variable(start=0.0, fixed=True)
    at, count = ac.Discrete(-1.0), ac.Integer(0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0

    def events(self) -> Statements:
        condition = ac.sqrt((self.x - 1.0) * (self.x - 2.0)) + self.x > 1.5
        yield ac.when(condition, ac.assign(self.at, ac.time), ac.assign(self.count, ac.pre(self.count) + 1))


class Guarded(Falling):
    count = ac.Integer(0)

    def events(self) -> Statements:
        yield ac.when((self.x > 0.5) & (ac.log(self.x - 0.5) > 3.0), ac.assign(self.count, ac.pre(self.count) + 1))


class OfTime(ac.Component):
    """Nothing to solve for."""

    begun, over = ac.Discrete(-1.0), ac.Discrete(-1.0)

    def events(self) -> Statements:
        yield ac.when(ac.sqrt(ac.time - 1.0) < 0.001, ac.assign(self.begun, ac.time))
        yield ac.when(ac.sqrt(5.0 - ac.time) < 0.001, ac.assign(self.over, ac.time))


def run(component: ac.Component, until: float = 12.0, **more: Any) -> Any:
    return ac.compile(component).simulate(until=until, **more)


class Many(ac.Component):
    def __init__(self, kind: type[ac.Component], count: int = 80) -> None:
        self.part = ac.array(kind, count)


@quiet
@pytest.mark.parametrize("more", SOLVERS, ids=str)
@pytest.mark.parametrize("kind", [Watched, Hidden, Remembering])
def test_a_crossing_is_seen_before_the_condition_loses_its_value(kind: type[Falling], more: dict[str, Any]) -> None:
    assert run(kind(), **more)["at"][-1] == pytest.approx(4.9, abs=1e-9)


@quiet
@pytest.mark.parametrize("more", SOLVERS, ids=str)
def test_so_it_is_in_equations_and_transitions_and_assertions(more: dict[str, Any]) -> None:
    assert run(Chosen(), **more)["y"][-1] == pytest.approx(12.0 - 4.9, abs=1e-8)
    assert run(Sequence(), **more).states("mode")[-1].start == pytest.approx(4.9, abs=1e-9)
    with pytest.warns(ac.RunWarning, match="It is low"):
        assert run(Asserted(), **more).time_reached == pytest.approx(4.9, abs=1e-9)


@quiet
def test_the_larger_of_two_is_the_one_that_has_a_value() -> None:
    exact = (2.0 / 3.0) * (0.5**1.5 - 0.01**1.5) / 0.1 + 0.1 * (12.0 - 4.9)
    assert run(Larger(), rtol=1e-9)["y"][-1] == pytest.approx(exact, rel=1e-7)


@quiet
@pytest.mark.parametrize("kind", [Watched, Remembering])
def test_in_large_plants(kind: type[Falling]) -> None:
    result = run(Many(kind))
    assert np.allclose(result["part.at"][-1], 4.9, atol=1e-9)
    assert np.allclose(run(Many(Rising))["part.at"][-1], 5.0, atol=1e-9)
    assert (run(Many(Guarded))["part.count"][-1] == 0).all()


@quiet
@pytest.mark.parametrize("more", SOLVERS, ids=str)
def test_a_condition_that_gets_a_value_becomes_true_with_it(more: dict[str, Any]) -> None:
    for kind, when in ((Rising, 5.0), (Between, 2.0)):
        result = run(kind(), **more)
        assert (result["at"][-1], result["count"][-1]) == (pytest.approx(when, abs=1e-9), 1)


@quiet
def test_without_anything_to_solve_for() -> None:
    result = run(OfTime())
    assert (result["begun"][-1], result["over"][-1]) == (pytest.approx(1.0, abs=1e-9), pytest.approx(5.0 - 1e-6, abs=1e-9))


@quiet
def test_in_a_session_that_stops_in_the_gap_and_is_taken_back() -> None:
    session = ac.compile(Between()).start()
    session.advance(1.5)
    mark = session.save()
    for _ in range(2):
        session.advance(3.0)
        assert session["at"] == pytest.approx(2.0, abs=1e-9) and session["count"] == 1
        session.restore(mark)


class LastMoment(Falling):
    """True from 1e-11 s before the condition loses its value."""

    def events(self) -> Statements:
        yield ac.when(self.root() < 1e-6, ac.assign(self.at, ac.time))


STOPS = [(Rising, 5.0), (Between, 2.0), (LastMoment, 5.0)]


@quiet
@pytest.mark.parametrize("more", SOLVERS, ids=str)
@pytest.mark.parametrize(("kind", "stop"), STOPS)
def test_a_session_that_stops_right_there_deals_with_it_before_it_stops(kind: Any, stop: float, more: dict[str, Any]) -> None:
    session = ac.compile(kind()).start(**more)
    for to in (stop, stop, stop + 1.0):
        session.advance(to)
        assert session["at"] == pytest.approx(stop, abs=1e-9) and session.time == pytest.approx(to)
        assert kind is LastMoment or session["count"] == 1


@quiet
def test_so_does_one_of_a_large_plant() -> None:
    session = ac.compile(Many(Rising)).start()
    session.advance(5.0)
    assert np.allclose(session["part.at"], 5.0, atol=1e-9) and (session["part.count"] == 1).all()


@pytest.mark.parametrize("more", SOLVERS, ids=str)
def test_a_guarded_condition_does_not_act_and_nothing_is_said(more: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(Guarded(), **more)
    assert result["count"][-1] == 0 and not result.diagnostics


@pytest.mark.parametrize("more", SOLVERS, ids=str)
def test_a_condition_without_a_value_is_told_once(more: dict[str, Any]) -> None:
    with pytest.warns(ac.RunWarning, match="A condition has no value at 5.*counts as true, as it was last") as told:
        result = run(Many(Watched, 3), **more)
    assert len(told) == 1
    (found,) = result.diagnostics
    assert found.component == "part[0] (Watched)" and "sqrt(x - 0.5) < 0.1" in found.equation
    assert "test_gaps.py" in str(found.location) and "Guard the condition" in found.remedy


def test_a_condition_without_a_value_at_the_start_is_told() -> None:
    with pytest.warns(ac.RunWarning, match="no value at the start, and counts as false until it has one") as told:
        run(Rising())
    assert len(told) == 1
