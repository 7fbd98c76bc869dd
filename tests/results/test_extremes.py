"""Largest and smallest values, found between the rows, against closed forms; and how they move with parameters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.results.extremes import peak


class Swing(ac.Component):
    """A swing that dies out within a small part of a long run."""

    w, d, v0 = ac.Parameter(3.0), ac.Parameter(0.1), ac.Parameter(1.0)
    x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)
    height = ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -(self.w**2) * self.x - 2 * self.d * self.v
        yield self.height == 2.0 - ac.exp(self.x)


class Two(ac.Component):
    x = ac.Variable(shape=2, start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.x


def highest(w: Any = 3.0, d: Any = 0.1) -> Any:
    q = np.sqrt(w * w - d * d)
    t = np.arctan2(np.real(q), np.real(d)) / np.real(q)  # the slope is zero there: its own move does not count
    return np.exp(-d * t) * np.sin(q * t) / q


@pytest.mark.parametrize("until", [5.0, 500.0])
@pytest.mark.parametrize("points", [2, 50, 501])
def test_neither_value_nor_gradient_depends_on_the_output_points(until: float, points: int) -> None:
    model, asked = ac.compile(Swing()), {"until": until, "points": points, "rtol": 1e-8}
    found = model.gradient([ac.max("x"), ac.min("height")], ["w", "d"], **asked)
    np.testing.assert_allclose(found.values, [highest(), 2.0 - np.exp(highest())], rtol=1e-6)
    for name, value in (("w", 3.0), ("d", 0.1)):
        slope = np.imag(highest(**{name: value + 1e-30j})) / 1e-30
        assert found["max x", name] == pytest.approx(slope, rel=1e-6)
        assert found["min height", name] == pytest.approx(-np.exp(highest()) * slope, rel=1e-6)
    for together in (True, False):
        table = ac.study(model, {"w": [3.0, 3.0]}, ac.max("x"), executor="serial", together=together, **asked)
        np.testing.assert_allclose(table["max x"], highest(), rtol=1e-6)


def test_a_peak_is_a_sum_of_rows() -> None:
    t = np.linspace(0.0, 3.0, 40)
    values = np.sin(t) + 0.1 * t
    first, weights = peak(t, values, steps=False)
    top = np.arccos(-0.1)
    assert weights @ values[first : first + len(weights)] == pytest.approx(np.sin(top) + 0.1 * top, abs=1e-9)
    assert weights.sum() == pytest.approx(1.0) and weights @ t[first : first + len(weights)] == pytest.approx(top, abs=1e-5)
    first, weights = peak(t, -values, steps=False, highest=False)
    assert weights @ t[first : first + len(weights)] == pytest.approx(top, abs=1e-5)


@pytest.mark.parametrize(
    ("values", "row"),
    [
        (lambda t: t, 39),  # at the end
        (lambda t: np.exp(-t), 0),  # at the start
        (lambda t: -np.abs(t - t[20]), 20),  # at a corner
        (lambda t: np.where(t > 1.0, 1.0, 0.0), 14),  # a step
        (lambda t: np.zeros(40), 0),
    ],
)
def test_elsewhere_it_is_a_row(values: Any, row: int) -> None:
    t = np.linspace(0.0, 3.0, 40)
    first, weights = peak(t, values(t), steps=False)
    assert (first, weights.tolist()) == (row, [1.0])


def test_an_array_has_no_largest_value() -> None:
    with pytest.raises(UsageError, match=r"`x` is an array of shape \(2,\)"):
        ac.compile(Two()).simulate(until=1.0).extreme_of("x")


def test_no_polynomial_goes_over_an_event() -> None:
    t = np.concatenate([np.linspace(0.0, 1.0, 11), np.linspace(1.0, 2.0, 11)])
    values = np.concatenate([t[:11], 3.0 - t[11:]])  # a saw tooth, whose rows at the event are the best ones
    assert peak(t, values, steps=False)[1].tolist() == [1.0]


class Ball(ac.Component):
    e = ac.Parameter(0.8)
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=-2.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -10.0

    def events(self) -> Any:
        yield ac.when(self.h < 0, ac.reinit(self.v, -self.e * self.v))


def test_a_peak_after_an_event_moves_with_it() -> None:
    model = ac.compile(Ball())
    found = model.gradient([ac.max("h"), ac.max("v"), ac.min("v")], ["e"], until=1.2, points=7, rtol=1e-9, set={"h": 0.2})
    speed = np.sqrt(4.0 + 2 * 10.0 * 0.2)  # where it hits the ground
    np.testing.assert_allclose(found.values, [(0.8 * speed) ** 2 / 20.0, 0.8 * speed, -speed], rtol=1e-6)
    np.testing.assert_allclose(found.data[:, 0], [0.8 * speed**2 / 10.0, speed, 0.0], rtol=1e-6, atol=1e-6)


def test_few_rows_warn_where_a_study_asks_for_more() -> None:
    run = ac.compile(Swing()).simulate(500.0, points=50)
    with pytest.warns(ac.RunWarning, match="`x` has rows that are too far apart .* where it is largest"):
        run.extreme_of("x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ac.compile(Swing()).simulate(5.0).extreme_of("x")
