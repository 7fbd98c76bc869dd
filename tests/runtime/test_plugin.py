"""A solver from outside: the one of docs/solvers.md, with events, in a session, and with mistakes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.solvers import Status, StepFailed


class Ball(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    ticks = ac.Integer(0)

    def equations(self):
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self):
        yield ac.when(self.h < 0, ac.reinit(self.v, -0.8 * ac.pre(self.v)))
        yield ac.when(ac.sample(0.1, 0.25), ac.assign(self.ticks, ac.pre(self.ticks) + 1))


class Decay(ac.Component):
    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == -self.y
        yield self.y**3 + self.y == 2 * self.x


@pytest.fixture(scope="module")
def euler() -> Any:
    """The listing of the documentation, as it stands there."""
    text = (Path(__file__).parents[2] / "docs" / "solvers.md").read_text(encoding="utf-8")
    listing = next(code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "class Euler:" in code)
    space: dict[str, Any] = {}
    exec(listing.partition("\nmodel.simulate")[0], space)
    return space["Euler"]


def test_it_converges_with_order_one(euler: Any) -> None:
    model = ac.compile(Decay())
    exact = model.simulate(until=1.0, rtol=1e-11, at=[1.0])["x"][-1]
    errors = [abs(model.simulate(until=1.0, solver=euler, step=h, at=[1.0])["x"][-1] - exact) for h in (0.04, 0.02, 0.01)]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05) and errors[1] / errors[2] == pytest.approx(2.0, rel=0.05)


def test_it_has_events(euler: Any) -> None:
    model = ac.compile(Ball())
    result = model.simulate(until=2.0, solver=euler(), step=5e-4)
    by_ida = model.simulate(until=2.0)
    assert result["h"].min() > -1e-9 and len(result.events) == len(by_ida.events)
    assert result["ticks"][-1] == by_ida["ticks"][-1] == 8.0
    hits, exact = ([e.time for e in r.events if "h < 0" in str(e)] for r in (result, by_ida))
    np.testing.assert_allclose(hits, exact, atol=5e-3)
    assert result.statistics.steps >= 4000 and result.statistics.residual_evaluations > 2000


def test_it_runs_in_a_session_and_is_taken_back(euler: Any) -> None:
    session = ac.compile(Ball()).start(solver=euler, step=1e-3).advance(0.7)
    mark, h = session.save(), session["h"]
    session.advance(1.0)
    assert session.restore(mark)["h"] == h and session.time == 0.7


def test_a_step_that_fails_ends_the_run_in_the_solvers_words() -> None:
    class Failing:
        name, doc, options = "failing", "for tests", ()

        def open(self, task: Any) -> Any:
            return self

        def start(self, *begin: Any) -> None:
            pass

        def step(self, stop: float) -> Any:
            raise StepFailed(Status.CONVERGENCE, "no luck")

    with pytest.warns(ac.RunWarning, match="could not be solved"):
        result = ac.compile(Decay()).simulate(until=1.0, solver=Failing())
    assert result.outcome is ac.Outcome.CONVERGENCE


def test_options_of_a_plug_in_are_checked(euler: Any) -> None:
    with pytest.raises(UsageError, match="Option `step` of solver `euler` must be a number"):
        ac.compile(Decay()).simulate(until=1.0, solver=euler, step="long")


def test_a_solver_of_whole_runs_is_refused_in_a_session() -> None:
    class Whole:
        name, doc, options = "whole", "for tests", ()

        def run(self, problem: Any, request: Any) -> Any:
            raise AssertionError("it must not be asked")

    with pytest.raises(UsageError, match="The solver `whole` makes whole runs only"):
        ac.compile(Decay()).start(solver=Whole())
