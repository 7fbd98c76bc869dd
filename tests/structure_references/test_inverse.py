"""Inverse models: an output is prescribed, the input that makes it so is solved for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

from .conftest import state_count


class Plant(ac.Component):
    """2·y'' + y' + 4·y = u (Tiller 2008, "Patterns and Anti-Patterns in Modelica")."""

    y = ac.Variable(start=0.0)
    dy = ac.Variable(start=0.0)
    u = ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.y) == self.dy
        yield 2 * ac.der(self.dy) + self.dy + 4 * self.y == self.u


class PerfectControl(ac.Component):
    """The output follows the wish exactly."""

    def __init__(self, wish: Any) -> None:
        self.plant, self.wish = Plant(), wish

    def equations(self) -> Iterator[Any]:
        yield self.plant.y == self.wish(ac.time)


class ClosedLoop(ac.Component):
    """A proportional controller instead."""

    def __init__(self) -> None:
        self.plant = Plant(y=ac.start(0.0, fixed=True), dy=ac.start(0.0, fixed=True))

    def equations(self) -> Iterator[Any]:
        yield self.plant.u == 10 * (ac.max(0.0, ac.time - 2) - self.plant.y)


def test_perfect_control_of_a_ramp() -> None:
    """u = 1 + 4·(t - 2) for t > 2: the wish is differentiated twice, and no state is left."""
    model = ac.compile(PerfectControl(lambda t: t - 2))
    assert state_count(model) == 0
    result = model.simulate(start=2.0, until=6.0, points=41)
    np.testing.assert_allclose(result["plant.u"], 1 + 4 * (result.time - 2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wish", [lambda t: ac.max(0.0, t - 2), lambda t: ac.where(t > 2, t - 2, 0.0)], ids=["max", "where"])
def test_perfect_control_on_either_side_of_the_corner(wish: Any) -> None:
    """Each branch is differentiated by itself; at t = 2 itself the slope jumps (an impulse in u), so no run goes across."""
    model = ac.compile(PerfectControl(wish))
    np.testing.assert_allclose(model.simulate(until=1.95)["plant.u"], 0.0, atol=1e-12)
    result = model.simulate(start=2.05, until=6.0)
    np.testing.assert_allclose(result["plant.u"], 1 + 4 * (result.time - 2), rtol=1e-9)


def test_perfect_control_of_a_smooth_wish(agrees: Any) -> None:
    result = ac.compile(PerfectControl(lambda t: ac.sin(3 * t) ** 2)).simulate(until=3.0, rtol=1e-8)
    t = result.time  # y = (1 - cos 6t)/2
    agrees(result["plant.u"], 2 * 18 * np.cos(6 * t) + 3 * np.sin(6 * t) + 2 * (1 - np.cos(6 * t)))


def test_the_closed_loop_lags_behind() -> None:
    """y tends to (10/14)·(t - 2) - 10/196."""
    result = ac.compile(ClosedLoop()).simulate(until=60.0, rtol=1e-8)
    np.testing.assert_allclose(result["plant.y"][-1], 10 / 14 * 58 - 10 / 196, rtol=1e-6)


def test_data_from_outside_are_differentiated_a_function_is_not() -> None:
    """u = 2·0 + 1 + 4·t for the ramp; an input that is a number asks for 4 times it."""

    class Prescribed(ac.Component):
        wish = ac.Input(0.0)

        def __init__(self) -> None:
            self.plant = Plant()

        def equations(self) -> Iterator[Any]:
            yield self.plant.y == self.wish

    model = ac.compile(Prescribed())
    assert model.simulate(1.0, inputs={"wish": 3.0})["plant.u"][-1] == 12.0
    ramp = model.simulate(2.0, inputs={"wish": ([0.0, 2.0], [0.0, 2.0])})
    np.testing.assert_allclose(ramp["plant.u"], 1 + 4 * ramp.time, rtol=1e-12)
    with pytest.raises(ac.ModelError, match="needs the derivative of input `wish`"):
        model.simulate(1.0, inputs={"wish": lambda t: t})
