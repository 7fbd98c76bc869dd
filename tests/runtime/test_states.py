"""States exchanged during a run: nothing jumps, both watches agree, and wishes or nominal values do not disturb."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.initialise import InitialisationError
from acausal.runtime.states import Exchange, Watch, gathered, spread

G, SPEED = 9.81, 7.0


class Angle(ac.Component):
    phi = ac.Variable(start=0.0, fixed=True)
    w = ac.Variable(start=SPEED, fixed=True)

    def equations(self):
        yield ac.der(self.phi) == self.w
        yield ac.der(self.w) == -G * ac.sin(self.phi)


def pendulum(**of_x: Any) -> ac.Component:
    class Pendulum(ac.Component):
        x = ac.Variable(start=0.0, fixed=True, **of_x)
        y = ac.Variable(start=-1.0)
        vx = ac.Variable(start=SPEED, fixed=True)
        vy = ac.Variable(start=0.0)
        pull = ac.Variable(start=0.0)

        def equations(self):
            yield ac.der(self.x) == self.vx
            yield ac.der(self.y) == self.vy
            yield ac.der(self.vx) == -self.pull * self.x
            yield ac.der(self.vy) == -self.pull * self.y - G
            yield self.x**2 + self.y**2 == 1.0

    return Pendulum()


def exact(result: Any) -> dict[str, np.ndarray]:
    run = ac.compile(Angle()).simulate(until=float(result.time[-1]), at=result.time, rtol=1e-11)
    phi, w = np.asarray(run["phi"]), np.asarray(run["w"])
    values = {"x": np.sin(phi), "y": -np.cos(phi), "vx": w * np.cos(phi), "vy": w * np.sin(phi)}
    return {**values, "pull": w**2 + G * np.cos(phi)}


WISHES: list[dict[str, Any]] = [
    {}, {"nominal": 100.0}, {"state": "prefer"}, {"state": "always"}, {"state": "avoid"}, {"state": "never"},
]  # fmt: skip


@pytest.mark.parametrize("of_x", WISHES, ids=str)
def test_every_variable_goes_on_through_exchanges(of_x: dict[str, Any]) -> None:
    result = ac.compile(pendulum(**of_x)).simulate(until=4.0, rtol=1e-8, points=2001)
    assert result.outcome is ac.Outcome.FINISHED
    assert 8 <= result.statistics.state_exchanges < 150  # not at every step
    for name, values in exact(result).items():
        np.testing.assert_allclose(result[name], values, atol=1e-3, err_msg=name)


def test_both_watches_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the core says that states degraded, so does the watch in Python, and not at points in between."""
    model, calls = ac.compile(pendulum()), []
    original = Exchange.__call__

    def recorded(self: Exchange, t: float, y: np.ndarray, yp: np.ndarray) -> tuple[Any, Watch]:
        problem, watch = original(self, t, y, yp)
        calls.append((t, np.array(y), np.array(yp), watch))
        return problem, watch

    monkeypatch.setattr(Exchange, "__call__", recorded)
    model.simulate(until=3.0, rtol=1e-8)
    known = model._parameters.known({})
    assert len(calls) > 6
    for (_, _, _, watch), (t, y, yp, _) in pairwise(calls):
        assert watch.degraded(t, y, yp, known)
        assert watch.growth(t, y, yp, known) < 1.3 * watch.limit  # noticed at once
    for t, y, yp, watch in calls:
        assert not watch.degraded(t, y, yp, known)  # the new choice is better


def test_a_singular_block_has_degraded() -> None:
    model = ac.compile(pendulum())
    problem, known = model.problem, model._parameters.known({})
    selection = model.selection
    assert selection is not None
    yp = np.zeros(problem.size)
    chosen = selection.select(0.0, problem.start, yp, known, np.ones(problem.size))
    watch = selection.watch(chosen, problem)
    assert watch is not None
    assert watch.degraded(0.0, np.zeros(problem.size), yp, known)
    assert not watch.degraded(0.0, problem.start, yp, known)


class Coupled(ac.Component):
    """Two storages in proportion (index 2), and a current with a parameter as coefficient."""

    R = ac.Parameter(1.0)
    x = ac.Variable(start=1.0, fixed=True)
    y = ac.Variable()
    f = ac.Variable()
    i = ac.Variable()

    def equations(self):
        yield ac.der(self.x) == -self.x + self.f
        yield ac.der(self.y) == self.f
        yield self.y == 2 * self.x
        yield self.R * self.i == ac.sin(self.x)


def test_a_zero_coefficient_in_a_reduced_system_does_not_spoil_later_runs() -> None:
    model = ac.compile(Coupled())
    assert model.problem.lowered.coefficients
    for _ in range(2):
        with pytest.raises(InitialisationError, match="coefficient is zero"):
            model.simulate(until=1.0, set={"R": 0.0})
        assert model.problem.lowered.computed == 0
        result = model.simulate(until=1.0, points=5, rtol=1e-8, set={"R": 2.0})
        assert model.problem.lowered.computed
        np.testing.assert_allclose(result["x"], np.exp(result.time), rtol=1e-6)
        np.testing.assert_allclose(result["i"], np.sin(result["x"]) / 2.0, rtol=1e-12)


def test_spread_and_gathered_are_inverse() -> None:
    model = ac.compile(Coupled())
    result = model.simulate(until=0.1, points=2)
    problem = model.problem
    y = np.array([float(result[problem.name_of_unknown(k)][0]) for k in range(problem.size)])
    whole, slopes = spread(problem, 0.0, y, np.zeros(problem.size), problem.known)
    again, rates = gathered(problem, whole, slopes)
    np.testing.assert_array_equal(again, y)
    kept = {int(u): k for k, u in enumerate(problem.lowered.kept)}
    for state, derivative in problem.states:
        assert rates[kept[int(state)]] == whole[derivative]
