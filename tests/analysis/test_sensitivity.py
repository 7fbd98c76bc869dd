"""Sensitivities of runs and of steady states against closed forms and differences of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.kernels.compile import statistics


class Room(ac.Component):
    """C T' = P - G (T - T_out), with a loss that is computed and one that is solved for."""

    C, G, P = ac.Parameter(2.0, unit="J/K"), ac.Parameter(0.5, unit="W/K"), ac.Parameter(3.0)
    twice = ac.Parameter(2 * G)
    T_out = ac.Input(1.0)
    T = ac.Variable(start=G / 4, fixed=True)
    Q, loss = ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield self.C * ac.der(self.T) == self.P - self.Q
        yield self.Q == self.twice * (self.T - self.T_out) / 2
        yield self.loss == self.Q + 0.1 * ac.sin(self.loss)


def room(t: Any, C: Any = 2.0, G: Any = 0.5, P: Any = 3.0, T_out: Any = 1.0, shift: Any = 0.0) -> Any:
    rest = T_out + P / G
    return rest + (G / 4 + shift - rest) * np.exp(-G * t / C)


def slope(function: Any, name: str, value: float) -> Any:
    """A derivative by a complex step: exact to rounding."""
    return np.imag(function(**{name: value + 1e-30j})) / 1e-30


@pytest.fixture(scope="module")
def model() -> ac.Model:
    return ac.compile(Room())


def test_a_run_moves_with_parameters_inputs_and_start_values(model: ac.Model) -> None:
    result = model.simulate(10.0, points=41, rtol=1e-9, sensitivities=["G", "C", "T_out", "T"])
    t = result.time
    for name, value in {"G": 0.5, "C": 2.0, "T_out": 1.0}.items():
        exact = slope(lambda **p: room(t, **p), name, value)
        np.testing.assert_allclose(result.sensitivity("T", name), exact, atol=3e-8)
    np.testing.assert_allclose(result.sensitivity("T", "T"), np.exp(-t / 4), atol=1e-8)


def test_what_is_computed_moves_too(model: ac.Model) -> None:
    result = model.simulate(10.0, points=41, rtol=1e-9, sensitivities="G")
    t = result.time
    Q = slope(lambda G: G * (room(t, G=G) - 1.0), "G", 0.5)
    np.testing.assert_allclose(result.sensitivity("Q", "G"), Q, atol=1e-7)
    np.testing.assert_allclose(result.sensitivity("loss", "G"), Q / (1 - 0.1 * np.cos(result["loss"])), atol=1e-7)
    rate = slope(lambda G: (3.0 - G * (room(t, G=G) - 1.0)) / 2.0, "G", 0.5)
    np.testing.assert_allclose(result.sensitivity("der(T)", "G"), rate, atol=1e-7)
    assert result.sensitivities.of("T").shape == (41, 1)


@pytest.mark.parametrize("path", ["T", "Q", "loss", "der(T)"])
def test_all_parameters_at_once_are_the_same_as_one_by_one(model: ac.Model, path: str) -> None:
    found = model.simulate(10.0, points=11, sensitivities=["G", "C", "T_out"]).sensitivities
    together = found.of(path)
    assert together.shape == (11, 3)
    for k, name in enumerate(found.parameters):
        np.testing.assert_array_equal(together[:, k], found[path, name])


def test_a_steady_state_moves_with_parameters(model: ac.Model) -> None:
    rest = model.steady_state(sensitivities=["G", "P"])
    assert rest.sensitivity("T", "G")[-1] == pytest.approx(-3.0 / 0.25, rel=1e-9)
    assert rest.sensitivity("Q", "P")[-1] == pytest.approx(1.0, rel=1e-7)


def test_a_run_that_begins_at_rest_moves_with_its_state_of_rest(model: ac.Model) -> None:
    result = model.simulate(5.0, points=11, initial="steady", rtol=1e-8, sensitivities="G")
    np.testing.assert_allclose(result.sensitivity("T", "G"), -12.0, rtol=1e-7)


def test_nothing_is_compiled_for_other_parameters(model: ac.Model) -> None:
    model.simulate(1.0, points=3, sensitivities="G")
    before = statistics()
    model.simulate(1.0, points=3, sensitivities=["C", "P"], set={"G": 0.7})
    assert statistics()[:2] == before[:2]


class Ball(ac.Component):
    g, e, h0 = ac.Parameter(9.81), ac.Parameter(0.9), ac.Parameter(1.0)
    bounces, sum_of_times = ac.Discrete(0.0), ac.Discrete(0.0)
    h, v = ac.Variable(start=h0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -self.g

    def events(self) -> Any:
        yield ac.when(
            self.h < 0,
            ac.reinit(self.v, -self.e * self.v),
            ac.assign(self.bounces, ac.pre(self.bounces) + 1),
            ac.assign(self.sum_of_times, ac.pre(self.sum_of_times) + ac.time),
        )


def flown(end: float, g: Any = 9.81, e: Any = 0.9, h0: Any = 1.0) -> Any:
    """How high the ball is at the end, and the sum of the times of its bounces."""
    hit = np.sqrt(2 * h0 / g)
    v, times = e * g * hit, 0.0
    while np.real(hit) <= end:
        times, last, speed = times + hit, hit, v
        hit, v = hit + 2 * v / g, v * e
    return speed * (end - last) - g * (end - last) ** 2 / 2, times


def test_twenty_bounces() -> None:
    first = np.sqrt(2 / 9.81)
    end = first + sum(2 * 0.9**k * first for k in range(1, 20)) + 0.005
    result = ac.compile(Ball()).simulate(end, points=11, rtol=1e-10, sensitivities=["g", "e", "h0"])
    assert result["bounces"][-1] == 20
    for name, value in {"g": 9.81, "e": 0.9, "h0": 1.0}.items():
        exact = slope(lambda **p: flown(end, **p)[0], name, value)
        assert result.sensitivity("h", name)[-1] == pytest.approx(exact, rel=1e-6)
    exact = slope(lambda **p: flown(end, **p)[1], "g", 9.81)
    assert result.sensitivity("sum_of_times", "g")[-1] == pytest.approx(exact, rel=1e-6)


class Thermostat(ac.Component):
    k, P, low, high = ac.Parameter(0.1), ac.Parameter(5.0), ac.Parameter(19.0), ac.Parameter(21.0)
    T, on = ac.Variable(start=20.0, fixed=True), ac.Boolean(start=True)

    def equations(self) -> Any:
        yield ac.der(self.T) == -self.k * self.T + ac.where(self.on, self.P, 0.0)

    def events(self) -> Any:
        yield ac.when(self.T < self.low, ac.assign(self.on, True)).elsewhen(self.T > self.high, ac.assign(self.on, False))


def switched(end: float, k: Any = 0.1, P: Any = 5.0, low: Any = 19.0, high: Any = 21.0) -> Any:
    """The temperature of the thermostat at the end, in closed form from one switching to the next."""
    t, T, on = 0.0, 20.0, True
    while True:
        rest, goal = (P / k, high) if on else (0.0, low)
        later = t + np.log((T - rest) / (goal - rest)) / k
        if np.real(later) > end:
            return rest + (T - rest) * np.exp(-k * (end - t))
        t, T, on = later, goal, not on


def test_fifty_switches_of_a_thermostat() -> None:
    end = 41.4
    result = ac.compile(Thermostat()).simulate(end, points=11, rtol=1e-9, sensitivities=["k", "P", "low", "high"])
    assert len(result.events) == 50
    for name, value in {"k": 0.1, "P": 5.0, "low": 19.0, "high": 21.0}.items():
        exact = slope(lambda **p: switched(end, **p), name, value)
        assert result.sensitivity("T", name)[-1] == pytest.approx(exact, rel=1e-6)


class Sampled(ac.Component):
    """x' = a - k held, where `held` is x as it was at the last tick; a time event whose time is a parameter doubles a."""

    k, period, when = ac.Parameter(0.5), ac.Parameter(0.3), ac.Parameter(1.0)
    x, held = ac.Variable(start=1.0, fixed=True), ac.Discrete(1.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == ac.where(ac.time > self.when, 2.0, 1.0) - self.k * self.held

    def events(self) -> Any:
        yield ac.when(ac.sample(self.period, self.period), ac.assign(self.held, self.x))


@pytest.mark.parametrize("name", ["k", "period", "when"])
def test_clocks_and_times_that_are_parameters(name: str) -> None:
    model = ac.compile(Sampled())
    result = model.simulate(2.0, points=9, rtol=1e-10, sensitivities=name)
    value, h = model.get(name), 1e-5
    high, low = (model.simulate(2.0, points=9, rtol=1e-12, set={name: value + d})["x"][-1] for d in (h, -h))
    assert result.sensitivity("x", name)[-1] == pytest.approx((high - low) / (2 * h), rel=1e-6)


class Ending(ac.Component):
    """x' = -k x until x < 0.5."""

    k, x, last = ac.Parameter(1.0), ac.Variable(start=1.0, fixed=True), ac.Discrete(0.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.k * self.x

    def events(self) -> Any:
        yield ac.when(self.x < 0.5, ac.assign(self.last, ac.time), ac.terminate("low"))


def test_a_run_that_an_event_ends() -> None:
    result = ac.compile(Ending()).simulate(2.0, points=5, rtol=1e-9, sensitivities="k")
    assert result.outcome.name == "TERMINATED"
    np.testing.assert_allclose(result.sensitivity("x", "k"), -result.time * np.exp(-result.time), atol=1e-7)
    assert result.sensitivity("last", "k")[-1] == pytest.approx(-np.log(2.0), rel=1e-6)  # of ln 2 / k


class Unchanging(ac.Component):
    """Nothing is integrated: y is computed, z is solved for."""

    a, y, z = ac.Parameter(2.0), ac.Variable(), ac.Variable(start=1.0)

    def equations(self) -> Any:
        yield self.y == self.a * ac.time
        yield self.z**3 + self.z == self.y + 1


def test_a_model_without_states() -> None:
    result = ac.compile(Unchanging()).simulate(2.0, points=5, sensitivities="a")
    np.testing.assert_allclose(result.sensitivity("y", "a"), result.time, atol=1e-9)
    np.testing.assert_allclose(result.sensitivity("z", "a"), result.time / (3 * result["z"] ** 2 + 1), atol=1e-6)


class Pendulum(ac.Component):
    """In Cartesian coordinates: index 3, and states that are exchanged on the way."""

    L, g = ac.Parameter(1.0), ac.Parameter(9.81)
    x, y = ac.Variable(start=0.8 * L, fixed=True), ac.Variable(start=-0.6)
    u, v, F = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.F * self.x
        yield ac.der(self.v) == -self.F * self.y - self.g
        yield self.x**2 + self.y**2 == self.L**2


def test_index_reduction_and_exchanged_states() -> None:
    model = ac.compile(Pendulum())
    result = model.simulate(3.0, points=31, rtol=1e-9, sensitivities=["g", "L"])
    assert result.statistics["state_exchanges"] > 0
    for name, value in {"g": 9.81, "L": 1.0}.items():
        h = 1e-4
        high, low = (model.simulate(3.0, points=31, rtol=1e-12, set={name: value + d}) for d in (h, -h))
        for path in ("x", "y", "u", "F"):
            difference = (high[path] - low[path]) / (2 * h)
            error = np.abs(result.sensitivity(path, name) - difference).max()
            assert error < 1e-6 * np.abs(difference).max(), (name, path)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m: m.simulate(1.0, sensitivities=["GG"]), "GG"),
        (lambda m: m.simulate(1.0, sensitivities=[]), "`sensitivities` names nothing"),
        (lambda m: m.simulate(1.0, sensitivities=["G", "G"]), "`G` is named twice"),
        (lambda m: m.simulate(1.0, sensitivities=["Q"]), "`Q` is a variable that is computed"),
        (lambda m: m.simulate(1.0, sensitivities=[3]), "A name is a text"),
        (lambda m: m.simulate(1.0, sensitivities="G", solver="sundae"), "follow the steps of the solver `ida`"),
        (lambda m: m.simulate(1.0, sensitivities="G", store=["T"]), "need all unknowns"),
        (lambda m: m.simulate(1.0).sensitivity("T", "G"), "The run has no sensitivities"),
        (lambda m: m.simulate(1.0, sensitivities="G").sensitivity("T", "C"), "no sensitivities to `C`"),
        (lambda m: m.steady_state(sensitivities="G", given={"T": 3.0}, solve_for=["P"]), "no sensitivities yet"),
    ],
)
def test_bad_input(model: ac.Model, ask: Any, said: str) -> None:
    with pytest.raises((UsageError, ModelError), match=said):
        ask(model)


@pytest.mark.parametrize(("names", "said"), [(True, "takes names, got True"), (["GG"], "`GG` does not exist"), ([3], "a text")])
def test_names_are_looked_up_before_the_run(model: ac.Model, names: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acausal.model.model.simulated", lambda *_: pytest.fail("the run was made first"))
    with pytest.raises(ModelError, match=said):
        model.simulate(10.0, sensitivities=names)


TENT = ac.Table([0.0, 5.0, 6.0, 7.0, 10.0], [0.0, 0.0, 10.0, 0.0, 0.0], method="linear")


class Tent(ac.Component):
    """What a table of time adds up to, whose argument has a parameter."""

    x, u, k = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Parameter(1.0)

    def __init__(self, form: str) -> None:
        self.form = form

    def equations(self) -> Any:
        yield self.u == self.k * ac.time
        if self.form == "rate":
            yield ac.der(self.x) == TENT(self.k * ac.time)
        elif self.form == "handed on":
            yield ac.der(self.x) == TENT(self.u)
        elif self.form == "offset":
            yield ac.der(self.x) == TENT(ac.time - self.k) * ac.time
        else:
            yield ac.der(self.x) == TENT(self.k * ac.time + 6.0)  # a corner at time 0


@pytest.mark.parametrize(("form", "exact"), [("rate", -10.0), ("handed on", -10.0), ("offset", 10.0), ("zero", -10.0)])
def test_a_step_to_a_corner_has_the_slope_of_its_side(form: str, exact: float) -> None:
    """The area is 10/k, or (6 + k)·10: slopes jump at the corners, and a step that ends there has nothing of the other side."""
    model, times = ac.compile(Tent(form)), {"start": -6.0 if form == "zero" else 0.0, "until": 3.0 if form == "zero" else 10.0}
    run = model.simulate(rtol=1e-8, sensitivities=["k"], **times)
    assert run.sensitivity("x", "k")[-1] == pytest.approx(exact, rel=1e-6)
    assert model.gradient([ac.final("x")], ["k"], rtol=1e-8, **times).data.item() == pytest.approx(exact, rel=1e-6)


def test_many_points_that_nearly_coincide_leave_older_ones_in_place() -> None:
    """|y - 5| without an event: dozens of tiny steps cross the bend, and polynomials after them go through points before them."""

    class Bent(ac.Component):
        x, y, k = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Parameter(1.0)

        def equations(self) -> Any:
            yield ac.der(self.y) == self.k
            yield ac.der(self.x) == ac.no_event(ac.abs(self.y - 5.0))

    model = ac.compile(Bent())
    run = model.simulate(10.0, rtol=1e-9, sensitivities=["k"])
    backward = model.gradient([ac.final("x")], ["k"], until=10.0, rtol=1e-9).data.item()
    assert run.sensitivity("x", "k")[-1] == pytest.approx(25.0, rel=1e-3)
    assert backward == pytest.approx(run.sensitivity("x", "k")[-1], rel=1e-9)
