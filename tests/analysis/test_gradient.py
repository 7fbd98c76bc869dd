"""Gradients of numbers that come of a run, backward, against forward sensitivities and closed forms."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from analysis.test_sensitivity import Ball, Ending, Pendulum, Sampled, Thermostat, Unchanging, flown, slope, switched
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.analysis.gradient import _of_cubics
from acausal.errors import NameNotFound, UsageError
from acausal.results.extremes import peak


class Rod(ac.Component):
    """Heat along a rod, with radiation and an algebraic loop at its end."""

    def __init__(self, n: int = 12) -> None:
        self.G, self.hot = ac.Parameter(np.linspace(1.0, 2.0, n + 1), shape=n + 1), ac.Parameter(2.0)
        self.T = ac.Variable(shape=n, start=1.0, fixed=True)
        self.end, self.lost = ac.Variable(start=1.0), ac.Variable()

    def equations(self) -> Any:
        T, G = self.T, self.G
        yield ac.der(T[0]) == G[0] * (self.hot - T[0]) - G[1] * (T[0] - T[1])
        yield ac.der(T[1:-1]) == G[1:-2] * (T[:-2] - T[1:-1]) - G[2:-1] * (T[1:-1] - T[2:]) - 0.01 * T[1:-1] ** 4
        yield ac.der(T[-1]) == G[-2] * (T[-2] - T[-1]) - G[-1] * (T[-1] - self.end)
        yield G[-1] * (T[-1] - self.end) == 0.1 * self.end**4
        yield self.lost == 0.1 * self.end**4 + self.hot


OUTPUTS = ["T[5]", "end", "lost", ac.mean("T[0]"), ac.integral("end"), ac.max("T[3]"), ac.first("end")]


def test_backward_and_forward_agree() -> None:
    model = ac.compile(Rod())
    found = model.gradient(OUTPUTS, until=20.0, points=21, rtol=1e-7)
    assert len(found.parameters) == 14
    t = found.result.time
    run = model.simulate(20.0, at=t, rtol=1e-7, sensitivities=found.parameters)
    forward, weights = run.sensitivities.of, _of_cubics(t)
    assert len(t) > 256  # of few points no integral would be right
    expected = [
        forward("T[5]")[-1], forward("end")[-1], forward("lost")[-1], weights @ forward("T[0]") / 20.0,
        weights @ forward("end"), forward("T[3]")[int(np.argmax(run["T[3]"]))], forward("end")[0],
    ]  # fmt: skip
    np.testing.assert_allclose(found.data, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.values[:2], [run["T[5]"][-1], run["end"][-1]])
    assert found["end", "hot"] == pytest.approx(forward("end")[-1, found.parameters.index("hot")])
    assert next(iter(found.ranking("end", model.parameters()))) == "hot"


def test_twenty_bounces_backward() -> None:
    first = np.sqrt(2 / 9.81)
    end = first + sum(2 * 0.9**k * first for k in range(1, 20)) + 0.005
    found = ac.compile(Ball()).gradient(["h", "sum_of_times"], ["g", "e", "h0"], until=end, points=11, rtol=1e-10)
    assert found.result["bounces"][-1] == 20
    for name, value in {"g": 9.81, "e": 0.9, "h0": 1.0}.items():
        for k, path in enumerate(("h", "sum_of_times")):
            exact = slope(lambda k=k, **p: flown(end, **p)[k], name, value)
            assert found[path, name] == pytest.approx(exact, rel=1e-6)


def test_fifty_switches_backward() -> None:
    found = ac.compile(Thermostat()).gradient("T", until=41.4, points=11, rtol=1e-9)
    assert len(found.result.events) == 50
    for name, value in {"k": 0.1, "P": 5.0, "low": 19.0, "high": 21.0}.items():
        exact = slope(lambda **p: switched(41.4, **p), name, value)
        assert found["T", name] == pytest.approx(exact, rel=1e-6)


class Mixed(ac.Component):
    """Everything at once: an algebraic loop, a switch with a gap, a clock, a time that is a parameter, states that are set,
    assignments that depend on each other."""

    k, P, period, begin, level, kick = (ac.Parameter(v) for v in (0.7, 1.3, 0.31, 0.9, 0.8, 0.4))
    x, y = ac.Variable(start=k / 2, fixed=True), ac.Variable(shape=2, start=[0.2, 0.5], fixed=True)
    z, flow = ac.Variable(start=0.3), ac.Variable()
    on, held = ac.Boolean(start=True), ac.Discrete(0.1)
    total, twice = ac.Discrete(0.0), ac.Discrete(0.0)

    def equations(self) -> Any:
        yield self.z + 0.2 * self.z**3 == self.x + self.y[0]
        yield self.flow == ac.where(self.on, self.P, 0.0) - self.k * self.z
        yield ac.der(self.x) == self.flow
        yield ac.der(self.y[0]) == self.held - self.y[0] + ac.where(ac.time > self.begin, 0.5, 0.0)
        yield ac.der(self.y[1]) == self.twice * 0.1 + self.z

    def events(self) -> Any:
        yield ac.when(self.x > self.level, ac.assign(self.on, False)).elsewhen(
            self.x < 0.5 * self.level, ac.assign(self.on, True), ac.reinit(self.y[0], self.kick * self.x)
        )
        yield ac.when(ac.sample(self.period, self.period), ac.assign(self.held, self.z * self.k))
        yield ac.when(
            self.y[1] > 2.0,
            ac.reinit(self.y[1], self.kick * self.z),
            ac.assign(self.total, ac.pre(self.total) + ac.time),
            ac.assign(self.twice, 2.0 * self.total),
        )


@functools.cache
def mixed() -> ac.Model:
    return ac.compile(Mixed())


@given(seed=st.integers(0, 10**6))
@settings(max_examples=3, deadline=None, phases=[Phase.generate])
def test_backward_is_forward_across_random_events(seed: int) -> None:
    rng, model = np.random.default_rng(seed), mixed()
    names = ["k", "P", "period", "begin", "level", "kick"]
    options: Any = {"rtol": 1e-7, "set": {n: model.get(n) * float(rng.uniform(0.7, 1.4)) for n in names}}
    outputs = ["x", "z", "y[1]", "flow", "total", ac.max("z"), ac.mean("flow"), ac.integral("z"), ac.integral("held")]
    found = model.gradient(outputs, names, until=3.0, **options)
    run = model.simulate(3.0, at=np.unique(found.result.time), sensitivities=names, **options)
    assert len(run.events) > 5
    np.testing.assert_array_equal(found.result.time, run.time)
    for path in ("x", "z", "y[1]", "flow", "total"):
        expected = run.sensitivities.of(path)[-1]
        np.testing.assert_allclose(found.data[list(found.outputs).index(path)], expected, rtol=1e-6, atol=1e-8)
    weights, z = _of_cubics(found.result.time), run.sensitivities.of("z")
    (first, parts), jumps = peak(run.time, np.asarray(run["z"]), steps=False), np.zeros(len(names))
    moved = parts @ z[first : first + len(parts)]
    if len(parts) == 1 and np.count_nonzero(run.time == run.time[first]) > 1:  # it is at an event, and moves with it
        slope_there = (run["der(x)"][first] + run["der(y[0])"][first]) / (1 + 0.6 * run["z"][first] ** 2)
        moved = moved + slope_there * run.sensitivities.events[run.time[first]]
    np.testing.assert_allclose(found.data[list(found.outputs).index("max z")], moved, rtol=1e-6, atol=1e-8)
    for t, later in run.sensitivities.events.items():
        before, after = (int(np.searchsorted(run.time, t, side=side)) for side in ("left", "right"))
        if before < after:  # what does not jump has no row of its own
            jumps += (run["z"][before] - run["z"][after - 1]) * later
    np.testing.assert_allclose(found.data[list(found.outputs).index("integral z")], weights @ z + jumps, rtol=1e-6, atol=1e-8)


class Room64(ac.Component):
    """Eighty rooms in a row, each with a thermostat: events within steps."""

    def __init__(self, n: int = 80) -> None:
        self.G, self.P = ac.Parameter(np.linspace(0.5, 1.5, n), shape=n), ac.Parameter(8.0)
        self.T = ac.Variable(shape=n, start=np.linspace(18.0, 22.0, n), fixed=True)
        self.on = ac.Boolean(shape=n, start=True)

    def equations(self) -> Any:
        T = self.T
        heat = ac.where(self.on, self.P, 0.0) - 0.2 * self.G * T
        yield ac.der(T[0]) == heat[0] + T[1] - T[0]
        yield ac.der(T[1:-1]) == heat[1:-1] + T[2:] + T[:-2] - 2 * T[1:-1]
        yield ac.der(T[-1]) == heat[-1] + T[-2] - T[-1]

    def events(self) -> Any:
        yield ac.when(self.T < 19.0, ac.assign(self.on, True)).elsewhen(self.T > 21.0, ac.assign(self.on, False))


@pytest.mark.parametrize(
    ("component", "paths", "end"),
    [
        (Ball, ["h", "v", "bounces", "sum_of_times"], 1.5),
        (Pendulum, ["x", "v", "F", "der(u)"], 3.0),
        (Sampled, ["x", "held"], 2.0),
        (Ending, ["last"], 2.0),  # its last row moves: see below
        (Unchanging, ["y", "z"], 2.0),
        (Room64, ["T[3]", "T[40]"], 0.3),
    ],
)
def test_backward_is_forward(component: type, paths: list[str], end: float) -> None:
    model = ac.compile(component())
    plant = model.system.plant
    every = [n for n in model.parameters() if plant.locate(n).kind.quantities[plant.locate(n).name].role == "parameter"]
    names = every if len(every) < 10 else ["P", "G[3]", "G[50]"]
    found = model.gradient(paths, names, until=end, points=5, rtol=1e-8)
    run = model.simulate(end, points=5, rtol=1e-8, sensitivities=names)
    for k, path in enumerate(paths):
        np.testing.assert_allclose(found.data[k], run.sensitivities.of(path)[-1], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m: m.gradient(3.0, until=1.0), "A gradient is of a path"),
        (lambda m: m.gradient([3.0], until=1.0), "A gradient is of a path"),
        (lambda m: m.gradient([], until=1.0), "`outputs` names nothing"),
        (lambda m: m.gradient("h", ["gg"], until=0.1), "gg"),
        (lambda m: m.gradient("h", ["g"], until=0.1)["h", "e"], "no `e`"),
    ],
)
def test_bad_input(ask: Any, said: str) -> None:
    with pytest.raises((UsageError, NameNotFound), match=said):
        ask(ac.compile(Ball()))


class Room(ac.Component):
    """C T' = P - Q, Q = G (T - 280); T(0) = 290."""

    C, G, P = ac.Parameter(1e5), ac.Parameter(50.0), ac.Parameter(1000.0)
    T, Q = ac.Variable(start=290.0, fixed=True), ac.Variable()

    def equations(self) -> Any:
        yield self.C * ac.der(self.T) == self.P - self.Q
        yield self.Q == self.G * (self.T - 280.0)


def mean_above(P: float, end: float = 7200.0, tau: float = 2000.0) -> float:
    """The mean of T - 280 over a run."""
    return P / 50.0 + (10.0 - P / 50.0) * tau / end * (1 - np.exp(-end / tau))


@pytest.mark.parametrize("options", [{"every": "10 min"}, {"points": 3}, {}])
def test_integrals_do_not_depend_on_the_output_points(options: Any) -> None:
    model = ac.compile(Room())
    outputs = [ac.mean("T"), ac.mean("Q"), ac.integral("Q")]
    found = model.gradient(outputs, ["P"], until="2 h", rtol=1e-8, **options)
    exact = mean_above(1000.0)
    np.testing.assert_allclose(found.values, [280.0 + exact, 50 * exact, 50 * 7200.0 * exact], rtol=1e-7)
    slope = mean_above(1.0) - mean_above(0.0)
    np.testing.assert_allclose(found.data[:, 0], [slope, 50 * slope, 50 * 7200 * slope], rtol=1e-6)
    study = model.study([{}], outputs, until="2 h", rtol=1e-8, **options)
    np.testing.assert_allclose(study.rows.values[0], found.values, rtol=1e-9)


class Late(ac.Component):
    """Something is switched on at p; a level is passed 0.2 s later, and the time of that is kept."""

    p = ac.Parameter(0.4)
    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable()
    on, kept = ac.Boolean(start=False), ac.Discrete(0.0)

    def equations(self) -> Any:
        yield self.y == ac.where(ac.time > self.p, 1.0, 0.0)
        yield ac.der(self.x) == self.y
        yield self.on == (self.x > 0.2)
        yield ac.when(self.x > 0.2, ac.assign(self.kept, ac.time))


def test_an_integral_moves_with_the_times_of_jumps() -> None:
    outputs = [ac.mean("y"), ac.mean("x"), ac.integral("on"), ac.integral("kept"), ac.final("kept")]
    found = ac.compile(Late()).gradient(outputs, ["p"], until=2.0, rtol=1e-8)
    p = 0.4  # 2 - p; (2 - p)² / 2; 1.8 - p; (p + 0.2) (1.8 - p); p + 0.2
    np.testing.assert_allclose(found.values, [0.8, 0.64, 1.4, 0.6 * 1.4, 0.6], rtol=1e-6)
    np.testing.assert_allclose(found.data[:, 0], [-0.5, -(2 - p) / 2, -1.0, 1.8 - p - (p + 0.2), 1.0], rtol=2e-5)


class Cycle(ac.Component):
    """Heated from low to high and cooled again, as often as it is asked for: the last row, and extreme values, are at events."""

    k, P, low, high = ac.Parameter(0.1), ac.Parameter(5.0), ac.Parameter(19.0), ac.Parameter(21.0)
    T, y = ac.Variable(start=20.0, fixed=True), ac.Variable()
    on, count = ac.Boolean(start=True), ac.Integer(0)

    def equations(self) -> Any:
        yield ac.der(self.T) == ac.where(self.on, self.P, 0.0) - self.k * self.T
        yield self.y == self.T**2 + ac.time

    def events(self) -> Any:
        up = ac.assign(self.on, False), ac.assign(self.count, ac.pre(self.count) + 1)
        yield ac.when(self.T > self.high, *up).elsewhen(self.T < self.low, ac.assign(self.on, True))
        yield ac.when(self.count >= 2, ac.terminate("twice"))


def test_rows_at_events_move_with_them() -> None:
    def at_end(k: Any = 0.1, P: Any = 5.0, low: Any = 19.0, high: Any = 21.0) -> Any:
        up, down = np.log((low - P / k) / (high - P / k)) / k, np.log(high / low) / k
        first = np.log((20.0 - P / k) / (high - P / k)) / k
        end, heat = first + down + up, P * (first + up)
        integral = (heat - (high - 20.0)) / k  # T' = P on - k T
        return np.array([high, high**2 + end, high, low, integral, integral / end])

    outputs = ["T", "y", ac.max("T"), ac.min("T"), ac.integral("T"), ac.mean("T")]
    found = ac.compile(Cycle()).gradient(outputs, ["k", "P", "low", "high"], until=10.0, rtol=1e-9)
    np.testing.assert_allclose(found.values, at_end(), rtol=1e-7)
    for j, name in enumerate(("k", "P", "low", "high")):
        value = found.result[name][0]
        exact = at_end(**{name: value + 1e-30j}).imag / 1e-30
        np.testing.assert_allclose(found.data[:, j], exact, rtol=2e-6, atol=2e-6)
