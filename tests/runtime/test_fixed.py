"""The fixed-step solver: its order, its events, its grid, its bounds."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError

pytest.importorskip("acausal._core")


class Decay(ac.Component):
    """A nonlinear algebraic unknown beside the state, and an input in time."""

    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == -self.y + ac.sin(3 * ac.time)
        yield self.y**3 + self.y == 2 * self.x


class Ball(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81 - 0.3 * self.v

    def events(self):
        yield ac.when(self.h < 0, ac.reinit(self.v, -0.8 * ac.pre(self.v)))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("component, name", [(Decay, "x"), (Decay, "y"), (Ball, "h")], ids=["state", "algebraic", "events"])
def test_order_of_convergence(component: type[ac.Component], name: str, order: int) -> None:
    model = ac.compile(component())
    at = [1.1]  # two bounces have passed
    exact = model.simulate(until=1.1, rtol=1e-11, at=at)[name][-1]
    steps = [0.02, 0.01, 0.005, 0.0025]
    runs = [model.simulate(until=1.1, solver="fixed", step=h, order=order, at=at) for h in steps]
    errors = np.abs([r[name][-1] - exact for r in runs])
    slopes = np.log2(errors[:-1] / errors[1:])
    assert slopes[-1] == pytest.approx(order, abs=0.35) and errors[-1] < errors[0]
    assert runs[0].statistics.steps >= 55


def test_steps_end_on_the_grid_whatever_happens() -> None:
    result = ac.compile(Ball()).simulate(until=1.0, solver="fixed", step=0.01, points=2)
    events = len(result.events)
    assert result.statistics.steps == 100 + events > 100
    assert result["h"].min() > -1e-9


def test_iterations_of_a_step_are_bounded() -> None:
    result = ac.compile(Decay()).simulate(until=1.0, solver="fixed", step=0.01, max_iterations=5)
    assert result.outcome and 1 <= result.statistics.most_iterations <= 5
    with pytest.warns(ac.RunWarning, match="could not be solved"):
        stopped = ac.compile(Decay()).simulate(until=1.0, solver="fixed", step=0.5, max_iterations=1)
    assert stopped.outcome is ac.Outcome.CONVERGENCE


def test_a_session_in_pieces_takes_the_same_steps() -> None:
    model = ac.compile(Decay())
    whole = model.simulate(until=1.0, solver="fixed", step=0.01, at=[1.0])
    session = model.start(solver="fixed", step=0.01)
    for k in range(1, 301):
        session.advance(k / 300)
    assert session.result().statistics.steps == whole.statistics.steps == 100
    assert session["x"] == pytest.approx(whole["x"][-1], abs=1e-13)


def test_a_step_is_needed_where_the_end_is_not_known() -> None:
    with pytest.raises(UsageError, match="needs a step"):
        ac.compile(Decay()).start(solver="fixed")
    assert ac.compile(Decay()).simulate(until=1.0, solver="fixed").statistics.steps == 1000


def test_inputs_and_progress() -> None:
    class Driven(ac.Component):
        u, x = ac.Input(0.0), ac.Variable(start=0.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == self.u

    model, seen = ac.compile(Driven()), []
    result = model.simulate(
        until=2.0, solver="fixed", step=1e-4, inputs={"u": lambda t: np.cos(t)}, progress=seen.append, progress_interval=0.0
    )
    assert result["x"][-1] == pytest.approx(np.sin(2.0), abs=1e-7) and seen == sorted(seen) and seen
    table = model.simulate(until=2.0, solver="fixed", step=0.01, inputs={"u": ([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])})
    assert table["x"][-1] == pytest.approx(1.0, abs=1e-9)


def test_a_step_after_which_the_time_is_the_same_is_refused() -> None:
    model = ac.compile(Decay())
    for step in (1e-300, 1e-17):
        with pytest.raises(UsageError, match=r"leads nowhere at 1 s(.|\n)*Choose a step of"):
            model.simulate(until=1.0, solver="fixed", step=step)
    assert model.simulate(until=1e-3, solver="fixed", step=1e-6).outcome.ok
