"""Inputs that composites hand on to inputs inside: whoever is outermost has the value, unless something drives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Room(ac.Component):
    T_out = ac.Input(298.15)
    T = ac.Variable(start=280.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.T) == self.T_out - self.T


class Place(ac.Component):
    outside = ac.Input(290.0)

    def __init__(self) -> None:
        self.room = Room()

    def connections(self) -> Iterator[Any]:
        yield self.outside, self.room.T_out


class Town(ac.Component):
    def __init__(self) -> None:
        self.a, self.b = Place(), Place()


def test_a_composite_that_nobody_drives_keeps_its_default() -> None:
    model = ac.compile(Town())
    result = model.simulate(until=40.0, inputs={"b.outside": 270.0})
    assert result["a.room.T"][-1] == pytest.approx(290.0) and result["b.room.T"][-1] == pytest.approx(270.0)
    np.testing.assert_array_equal(result["a.room.T_out"], result["a.outside"])


def test_each_of_an_array_does() -> None:
    class Street(ac.Component):
        def __init__(self) -> None:
            self.place = ac.array(Place, 3)

    result = ac.compile(Street()).simulate(until=40.0, inputs={"place[1].outside": 270.0})
    np.testing.assert_allclose(result["place.room.T"][-1], [290.0, 270.0, 290.0])


def test_through_two_levels_the_outermost_counts() -> None:
    class District(ac.Component):
        weather = ac.Input(285.0)

        def __init__(self) -> None:
            self.place = Place()

        def connections(self) -> Iterator[Any]:
            yield self.weather, self.place.outside

    class Country(ac.Component):
        def __init__(self) -> None:
            self.north = District()

    assert ac.compile(Country()).simulate(until=40.0)["north.place.room.T"][-1] == pytest.approx(285.0)


def test_what_is_driven_stays_driven() -> None:
    class Driven(Town):
        def connections(self) -> Iterator[Any]:
            yield self.a.outside, self.b.room.T

        def equations(self) -> Iterator[Any]:
            yield self.b.outside == 275.0

    result = ac.compile(Driven()).simulate(until=60.0)
    assert result["b.room.T"][-1] == pytest.approx(275.0) and result["a.room.T"][-1] == pytest.approx(275.0)


@pytest.mark.parametrize(
    "stated", [lambda u: 2 * u == 6, lambda u: u - 6 == -u, lambda u: ac.exp(u) == ac.exp(3.0), lambda u: 6 / u == 2]
)
def test_an_input_is_given_by_any_equation_in_which_nothing_else_is_unknown(stated: Any) -> None:
    class Lag(ac.Component):
        u, x = ac.Input(1.0), ac.Variable(start=1.0)

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.x) == self.u - self.x

    class Given(ac.Component):
        def __init__(self) -> None:
            self.lag = Lag()

        def equations(self) -> Iterator[Any]:
            yield stated(self.lag.u)

    assert ac.compile(Given()).simulate(until=30.0, rtol=1e-9)["lag.x"][-1] == pytest.approx(3.0)
