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
    allowed = 1e-4 if "nominal" in of_x else 1e-5  # of x a hundred times as much is allowed; y, vx and vy are tested as ever
    for name, values in exact(result).items():
        np.testing.assert_allclose(result[name], values, atol=allowed, err_msg=name)


def test_both_watches_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the core says that states degraded, so does the watch in Python, and not at points in between."""
    model, calls = ac.compile(pendulum()), []
    original = Exchange.__call__

    def recorded(self: Exchange, problem: Any, t: float, y: np.ndarray, yp: np.ndarray) -> tuple[Any, Watch]:
        whole = spread(problem, t, y, yp, problem.known)
        problem, watch = original(self, problem, t, y, yp)
        calls.append((t, *whole, watch))
        return problem, watch

    monkeypatch.setattr(Exchange, "__call__", recorded)
    model.simulate(until=3.0, rtol=1e-8)
    known = model._parameters.known({})
    assert len(calls) > 6
    for (_, _, _, watch), (t, y, yp, _) in pairwise(calls):
        assert watch.limit < watch.growth(t, y, yp, known) < 1.3 * watch.limit  # noticed at once
    for t, y, yp, watch in calls:
        assert watch.growth(t, y, yp, known) < watch.limit  # the new choice is better


def test_a_singular_block_has_degraded() -> None:
    model = ac.compile(pendulum())
    problem, known = model.problem, model._parameters.known({})
    selection = model.selection
    assert selection is not None
    n = problem.lowered.system.size
    start, yp = spread(problem, 0.0, problem.start, np.zeros(problem.size), problem.known)
    chosen = selection.select(0.0, start, yp, known, np.ones(n))
    watch = selection.watch(chosen, problem, np.ones(n))
    assert watch is not None
    assert watch.growth(0.0, np.zeros(n), yp, known) > watch.limit
    assert watch.growth(0.0, start, yp, known) < watch.limit


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


MU, RADIUS = 3.986e14, 7e6


def orbit(**nominal: float) -> ac.Component:
    """A circular orbit, stated in Cartesian coordinates, integrated in polar ones."""

    def size(of: str) -> dict[str, float]:
        return {"nominal": nominal[of]} if of in nominal else {}

    class Orbit(ac.Component):
        r = ac.Variable(start=RADIUS, state="always", fixed=True, **size("r"))
        phi = ac.Variable(start=0.0, state="always", fixed=True)
        vr = ac.Variable(start=0.0, state="always", fixed=True, **size("v"))
        w = ac.Variable(start=float(np.sqrt(MU / RADIUS**3)), state="always", fixed=True, **size("w"))
        x, y = ac.Variable(**size("r")), ac.Variable(**size("r"))
        u, v = ac.Variable(**size("v")), ac.Variable(**size("v"))

        def equations(self):
            d = (self.x**2 + self.y**2) ** 1.5
            yield ac.der(self.x) == self.u
            yield ac.der(self.y) == self.v
            yield ac.der(self.u) == -MU * self.x / d
            yield ac.der(self.v) == -MU * self.y / d
            c, s = ac.cos(self.phi), ac.sin(self.phi)
            yield self.x == self.r * c
            yield self.y == self.r * s
            yield self.u == self.vr * c - self.r * self.w * s
            yield self.v == self.vr * s + self.r * self.w * c

    return Orbit()


@pytest.mark.parametrize("nominal", [{"r": 1e7, "v": 1e4, "w": 1e-3}, {}], ids=["with nominal values", "without"])
def test_always_is_kept_where_the_rest_is_determined(nominal: dict[str, float]) -> None:
    model = ac.compile(orbit(**nominal), units=False)
    period = 2 * np.pi * np.sqrt(RADIUS**3 / MU)
    result = model.simulate(until=period, rtol=1e-10)
    assert {model.system.name_of_unknown(int(u)) for u in model.problem.states[:, 0]} <= {"r", "phi", "vr", "w"}
    assert result.outcome is ac.Outcome.FINISHED and not result.statistics.get("state_exchanges")
    assert result.statistics.steps < 100
    np.testing.assert_allclose(result["r"], RADIUS, rtol=1e-9)
    np.testing.assert_allclose(result["phi"], 2 * np.pi * result.time / period, rtol=1e-8, atol=1e-9)


def test_variables_are_explicit_although_states_are_exchanged() -> None:
    class Weighed(ac.Component):
        """A pendulum, and what is computed from it."""

        def __init__(self) -> None:
            self.pendulum = pendulum()

        energy, height = ac.Variable(), ac.Variable()

        def equations(self):
            p = self.pendulum
            yield self.height * 2.0 == 2.0 * p.y + ac.exp(0.0 * p.x)
            yield self.energy == 0.5 * (p.vx**2 + p.vy**2) + G * self.height

    model = ac.compile(Weighed())
    result = model.simulate(until=4.0, rtol=1e-9)
    computed = {model.system.name_of_unknown(int(u)) for u in model.problem.lowered.explicit.unknown}
    assert result.statistics.state_exchanges >= 8 and {"energy", "height"} <= computed
    np.testing.assert_allclose(result["energy"], result["energy"][0], rtol=1e-6)
    np.testing.assert_allclose(result["height"], result["pendulum.y"] + 0.5, atol=1e-12)


@pytest.mark.parametrize("kinds", [("always", "never"), ("always", "default"), ("prefer", "avoid"), ("avoid", "prefer")])
def test_what_an_event_sets_moves_the_state_that_it_is_tied_to(kinds):
    """b == 2 a, and a is always the state: `reinit` of b was undone without a word."""

    class Geared(ac.Component):
        a = ac.Variable(start=1.0, state=kinds[0], fixed=kinds[0] == "always")
        b = ac.Variable(start=2.0, state=kinds[1])
        f = ac.Variable()

        def equations(self):
            yield ac.der(self.a) == 1.0 + 2.0 * self.f
            yield ac.der(self.b) == -self.f
            yield self.b == 2.0 * self.a

        def events(self):
            yield ac.when(ac.time > 0.5, ac.reinit(self.b, 10.0))

    result = ac.compile(Geared()).simulate(until=1.0)
    np.testing.assert_allclose([result["a"][-1], result["b"][-1]], [5.1, 10.2], rtol=1e-9)  # a' = 0.2
