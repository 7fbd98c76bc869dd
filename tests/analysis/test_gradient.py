"""Gradients of numbers that come of a run, backward, against forward sensitivities and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from analysis.test_sensitivity import Ball, Pendulum

import acausal as ac
from acausal.analysis.gradient import _of_cubics
from acausal.errors import NameNotFound, UsageError


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


@pytest.mark.parametrize(("component", "path", "end"), [(Ball, "h", 1.5), (Pendulum, "x", 1.0)])
def test_events_and_exchanged_states_are_differentiated_forward(component: type, path: str, end: float) -> None:
    model = ac.compile(component())
    found = model.gradient(path, ["g"], until=end, points=5, rtol=1e-9)
    run = model.simulate(end, points=5, rtol=1e-9, sensitivities="g")
    assert found[path, "g"] == pytest.approx(run.sensitivity(path, "g")[-1], rel=1e-9)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m: m.gradient(3.0, until=1.0), "A gradient is of a path"),
        (lambda m: m.gradient([3.0], until=1.0), "A gradient is of a path"),
        (lambda m: m.gradient([], until=1.0), "`outputs` names nothing"),
        (lambda m: m.gradient(ac.when_first("h", above=1.0), until=1.0), "A gradient is of a path"),
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
