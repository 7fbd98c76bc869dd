"""What an event turns back is seen to return, or is said to come to rest; what goes on the same way goes on."""

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
    e, floor = ac.Parameter(0.2), ac.Parameter(0.0)
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -G

    def events(self) -> Statements:
        yield ac.when(self.h < self.floor, ac.reinit(self.v, -self.e * ac.pre(self.v)))


class Balls(ac.Component):
    def __init__(self, e: float, n: int) -> None:
        self.ball = ac.array(Ball, n, e=e, h=ac.start(np.linspace(1.0, 9.0, n)))


def rests_at(e: float, height: float = 1.0) -> float:
    return float(np.sqrt(2 * height / G) * (1 + e) / (1 - e))


@pytest.mark.filterwarnings("ignore::acausal.RunWarning")
@pytest.mark.parametrize("e", [0.5, 0.3, 0.2, 0.1, 0.05, 1e-3, 0.0])
@pytest.mark.parametrize("solver", ["ida", "sundae", "fixed"])
def test_a_ball_that_hardly_bounces_does_not_fall_through_the_floor(e: float, solver: str) -> None:
    options: dict[str, Any] = {"step": 0.005} if solver == "fixed" else {}
    result = ac.compile(Ball()).simulate(until=20.0, set={"e": e}, solver=solver, **options)
    assert result.outcome is ac.Outcome.ZENO
    assert result["h"].min() > -1e-9
    assert result.time[-1] == pytest.approx(rests_at(e), rel=5e-2 if solver == "fixed" else 1e-4)


@pytest.mark.filterwarnings("ignore::acausal.RunWarning")
@pytest.mark.parametrize("e", [0.5, 0.3, 0.2, 0.1, 0.05, 0.0])
@pytest.mark.parametrize("local", [64, 10**9])
def test_the_first_of_many_balls_comes_to_rest(e: float, local: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was left in the middle of a step, to see whether events pile up, goes on with what was found in that step."""
    monkeypatch.setattr(native, "LOCAL", local)
    result = ac.compile(Balls(e, 100)).simulate(until=30.0)
    assert result.outcome is ac.Outcome.ZENO
    assert np.asarray(result["ball.h"]).min() > -1e-9
    assert result.time[-1] == pytest.approx(rests_at(e), rel=1e-4)
    assert "ball[0]" in str(result.diagnostics[-1])


@pytest.mark.filterwarnings("ignore::acausal.RunWarning")
@pytest.mark.parametrize("span", [1.0, 3e4])
@pytest.mark.parametrize("floor", [-5.0, 0.5])
def test_neither_the_length_of_a_run_nor_the_height_of_the_floor_matters(span: float, floor: float) -> None:
    result = ac.compile(Ball()).simulate(until=2.0 * span, set={"floor": floor})
    if rests_at(0.2, 1.0 - floor) < 2.0 * span:
        assert result.outcome is ac.Outcome.ZENO
        assert result.time[-1] == pytest.approx(rests_at(0.2, 1.0 - floor), rel=1e-4)
    assert result["h"].min() > floor - 1e-6


class Level(ac.Component):
    """A tank that is drained; where it is low, the flow is set anew, and returns to what it was."""

    flow = ac.Parameter(0.05)
    level, q = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.2, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.level) == -self.q
        yield ac.der(self.q) == 0.5 * (0.2 - self.q)

    def events(self) -> Statements:
        yield ac.when(self.level < 0.5, ac.reinit(self.q, self.flow))


@pytest.mark.parametrize(("flow", "events"), [(0.05, 1), (1e-3, 1), (-0.05, 4)])
@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_what_goes_on_or_comes_back_later_is_an_ordinary_event(flow: float, events: int, solver: str) -> None:
    result = ac.compile(Level()).simulate(until=6.0, set={"flow": flow}, solver=solver)
    assert result.outcome is ac.Outcome.FINISHED and len(result.events) == events
    assert (result["level"][-1] < 0.5) == (flow > 0)


class Wagons(ac.Component):
    """One runs into another, and they stay together: their distance is turned to a stop, and stays."""

    a, b = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)
    va, vb = ac.Variable(start=1.3, fixed=True), ac.Variable(start=0.1, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.a) == self.va
        yield ac.der(self.b) == self.vb
        yield ac.der(self.va) == -0.1
        yield ac.der(self.vb) == -0.1

    def events(self) -> Statements:
        together = (ac.pre(self.va) + 2 * ac.pre(self.vb)) / 3
        yield ac.when(self.a > self.b, ac.reinit(self.va, together), ac.reinit(self.vb, together))


@pytest.mark.parametrize("solver", ["ida", "sundae", "fixed"])
def test_what_stays_where_it_was_stopped_goes_on(solver: str) -> None:
    result = ac.compile(Wagons()).simulate(until=6.0, solver=solver)
    assert result.outcome is ac.Outcome.FINISHED and len(result.events) == 1
    assert result["a"][-1] == pytest.approx(result["b"][-1], abs=1e-6)


class Stopped(ac.Component):
    """A wagon is stopped at a mark, or nearly, and pushed on."""

    x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)
    left = ac.Parameter(0.0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == 0.5

    def events(self) -> Statements:
        yield ac.when(self.x >= 1, ac.reinit(self.v, self.left))


def test_what_is_stopped_and_pushed_on_is_told_what_to_do_and_that_helps() -> None:
    """Nothing parts it from a ball that falls through its floor."""
    model = ac.compile(Stopped())
    stopped = model.simulate(until=2.0, on_failure="keep")
    assert stopped.outcome is ac.Outcome.ZENO
    assert "turns back or stops" in str(stopped.diagnostics) and "leave it a little speed" in str(stopped.diagnostics)
    slowed = model.simulate(until=2.0, rtol=1e-8, set={"left": 1e-6})
    mark = 2 * (np.sqrt(2.0) - 1)  # t + t²/4 = 1
    assert slowed["x"][-1] == pytest.approx(1 + (2 - mark) ** 2 / 4, abs=3e-6)
