"""When a quantity first passes a level, between the rows, against closed forms; and how that time moves with parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import acausal as ac
from acausal.errors import ModelError
from acausal.results.crossings import first_above


class Swing(ac.Component):
    w, d = ac.Parameter(3.0), ac.Parameter(0.1)
    x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)
    height = ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -(self.w**2) * self.x - 2 * self.d * self.v
        yield self.height == 2.0 - ac.exp(self.x)


def swing(t: float, w: float = 3.0, d: float = 0.1) -> float:
    q = np.sqrt(w * w - d * d)
    return float(np.exp(-d * t) * np.sin(q * t) / q)


@pytest.mark.parametrize("until", [5.0, 500.0])
@pytest.mark.parametrize("points", [2, 501])
def test_neither_time_nor_gradient_depends_on_the_output_points(until: float, points: int) -> None:
    model, asked = ac.compile(Swing()), {"until": until, "points": points, "rtol": 1e-8}
    up, down = ac.when_first("x", above=0.3), ac.when_first("height", below=2.0 - np.exp(0.3))
    exact = brentq(lambda t: swing(t) - 0.3, 0.0, 0.5)
    for together in (True, False):
        table = ac.study(model, {"w": [3.0, 3.0]}, {"up": up, "down": down}, executor="serial", together=together, **asked)
        np.testing.assert_allclose([table["up"], table["down"]], exact, rtol=1e-6)
    found = model.gradient([up, down], ["w"], **asked)
    times = [brentq(lambda t, w=w: swing(t, w) - 0.3, 0.0, 0.55, xtol=1e-14) for w in (3.0 + 1e-4, 3.0 - 1e-4)]
    np.testing.assert_allclose(found.data, (times[0] - times[1]) / 2e-4, rtol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.floats(-0.95, 0.95), st.floats(0.0, 6.0), st.integers(30, 60))
def test_a_level_of_a_sine(level: float, phase: float, rows: int) -> None:
    t = np.linspace(0.0, 7.0, rows)
    found = first_above(t, np.sin(t + phase), level, steps=False)
    first = (np.arcsin(level) - phase) % (2 * np.pi)
    expected = 0.0 if np.sin(phase) > level else first
    assert found is not None and found.time == pytest.approx(expected, abs=(7.0 / rows) ** 4)


def test_a_peak_between_two_rows_passes_a_level_that_no_row_does() -> None:
    t = np.linspace(0.0, 3.0, 30)
    level = 0.5 * (1.0 + np.sin(t).max())
    found = first_above(t, np.sin(t), level, steps=False)
    assert found is not None and found.time == pytest.approx(np.arcsin(level), abs=1e-5)
    assert first_above(t, np.sin(t), 1.0 + 1e-6, steps=False) is None


class Thermostat(ac.Component):
    P = ac.Parameter(5.0)
    T, on = ac.Variable(start=20.0, fixed=True), ac.Boolean(start=True)

    def equations(self) -> Any:
        yield ac.der(self.T) == -0.1 * self.T + ac.where(self.on, self.P, 0.0)

    def events(self) -> Any:
        yield ac.when(self.T < 19, ac.assign(self.on, True)).elsewhen(self.T > 21, ac.assign(self.on, False))


@pytest.mark.parametrize("points", [2, 40])
def test_a_level_at_which_an_event_happens(points: int) -> None:
    def warm(P: Any) -> Any:
        return -10.0 * np.log((P / 0.1 - 21) / (P / 0.1 - 20))

    model, asked = ac.compile(Thermostat()), {"until": 10.0, "points": points, "rtol": 1e-9}
    outputs = [ac.when_first("T", above=21.0), ac.when_first("T", below=19.0)]
    found = model.gradient(outputs, ["P"], **asked)
    np.testing.assert_allclose(found.values, [warm(5.0), warm(5.0) + 10 * np.log(21 / 19)], rtol=1e-7)
    np.testing.assert_allclose(found.data, np.imag(warm(5.0 + 1e-30j)) / 1e-30, rtol=1e-6)
    table = ac.study(model, [{}], {"off": ac.when_first("on", below=0.5)}, **asked)
    assert table["off"][0] == pytest.approx(warm(5.0), rel=1e-7)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (ac.when_first("x", above=5.0), "it does not happen within the run"),
        (ac.when_first("x", above=-1.0), "it is beyond from the start"),
    ],
)
def test_no_gradient_where_the_time_does_not_move(output: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ac.compile(Swing()).gradient(output, ["w"], until=5.0)
