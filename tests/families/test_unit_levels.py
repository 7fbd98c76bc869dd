"""Units that count from elsewhere, or in another way, than the equations that they stand in: levels in degC, turns in Hz."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import acausal as ac


class Plant(ac.Component):
    phi, omega, f = ac.Parameter(0.1, unit="rad"), ac.Parameter(1.0, unit="rad/s"), ac.Parameter(50.0, unit="Hz")
    n, rate = ac.Parameter(3000.0, unit="rpm"), ac.Parameter(1.0, unit="1/s")
    T, Ta, K = ac.Parameter(20.0, unit="degC"), ac.Parameter(5.0, unit="degC"), ac.Parameter(300.0, unit="K")
    F = ac.Parameter(70.0, unit="degF")
    p, q, tau = ac.Parameter(1e5, unit="Pa"), ac.Parameter(1.0, unit="W/m^2"), ac.Parameter(1.0, unit="s")
    d, bar, x = ac.Parameter(20.0, unit="mm"), ac.Parameter(2.0, unit="bar"), ac.Parameter(1.0, unit="1")
    area, degrees, voltage = ac.Variable(unit="m^2"), ac.Variable(unit="deg"), ac.Variable(unit="V")
    V, turns = ac.Parameter(1.0, unit="V"), ac.Parameter(1.0, unit="turn")
    sigma = ac.Constant(5.67e-8, unit="W/(m^2*K^4)")
    angle, speed = ac.Variable(unit="rad", start=0.0), ac.Variable(unit="rad/s")
    frequency, y, plain = ac.Variable(unit="Hz"), ac.Variable(unit="1"), ac.Variable()
    flux, density, T_K, T_C = (ac.Variable(unit=u) for u in ("W/m^2", "kg/m^3", "K", "degC"))

    def __init__(self, stated: Callable[[Any], Any]) -> None:
        self._stated = stated

    def equations(self) -> Any:
        yield self._stated(self)
        for one in (self.speed, self.frequency, self.y, self.plain, self.flux, self.density, self.T_K, self.T_C):
            yield one == 0.0
        for one in (self.area, self.degrees, self.voltage):
            yield one == 0.0
        yield ac.der(self.angle) == 0.0


def told(stated: Callable[[Any], Any]) -> str:
    """What the check of units says of one equation; the count of equations is another matter."""
    try:
        ac.compile(Plant(stated))
    except ac.ModelError as error:
        text = str(error)
        return "" if "Too many equations" in text or "two values at once" in text else text
    return ""


def with_time(self: Any) -> Any:
    return self.y == ac.sin(self.f * ac.time)


@pytest.mark.parametrize(
    "stated",
    [
        lambda self: ac.der(self.angle) == self.f,
        lambda self: ac.der(self.angle) == 0.5 * self.f,
        lambda self: self.speed == self.f,
        lambda self: self.frequency == self.omega - self.f,
        lambda self: self.speed == ac.where(self.omega > self.f, self.omega, 0.0),
        with_time,
        lambda self: self.y == ac.cos(self.f * self.tau),
    ],
)
def test_a_turn_is_an_angle_or_one(stated: Callable[[Any], Any]) -> None:
    text = told(stated)
    assert "Turns are counted in two ways" in text or "takes an angle, but" in text
    assert "multiply what is in Hz by 2π" in text


@pytest.mark.parametrize(
    "stated",
    [
        lambda self: ac.der(self.angle) == 2 * 3.141592653589793 * self.f,
        lambda self: self.frequency == self.omega / (2 * 3.141592653589793),
        lambda self: ac.der(self.angle) == self.rate,
        lambda self: self.plain == self.f,
        lambda self: self.frequency == self.rate,
        lambda self: self.y == ac.sin(2 * 3.141592653589793 * self.f * ac.time),
        lambda self: self.y == ac.sin(self.omega * ac.time + self.phi),
        lambda self: self.y == self.f * self.tau,
        lambda self: self.speed == self.omega**2 * self.tau,
    ],
)
def test_rates_that_may_meet(stated: Callable[[Any], Any]) -> None:
    assert told(stated) == ""


@pytest.mark.parametrize(
    ("stated", "which"),
    [
        (lambda self: self.flux == 5.67e-8 * self.T**4, "`T` counts from 273.15 K, and is raised to a power"),
        (lambda self: self.flux == self.sigma * (self.T**4 - self.Ta**4), "`Ta` counts from 273.15 K"),
        (lambda self: self.flux == 0.9 * self.sigma * self.F**4, "`F` counts from 255.372 K"),
        (lambda self: self.density == self.p / (287.0 * self.T), "`T` counts from 273.15 K, and is divided by"),
        (lambda self: self.y == 1.0 - self.Ta / self.T, "and is divided by"),
        (lambda self: self.plain == ac.exp(-5000.0 / self.T), "and is divided by"),
        (lambda self: self.plain == 20.05 * ac.sqrt(self.T), "the argument of a root"),
        (lambda self: self.plain == self.T**0.7, "raised to a power"),
        (lambda self: self.T_K == 0.5 * (self.T + self.Ta), "Temperatures with different zeros meet"),
        (lambda self: self.T_K == (self.T + 2 * self.Ta) / 3, "Temperatures with different zeros meet"),
    ],
)
def test_a_level_in_degrees_celsius_is_no_factor(stated: Callable[[Any], Any], which: str) -> None:
    assert which in told(stated)


@pytest.mark.parametrize(
    "stated",
    [
        lambda self: self.flux == 5.67e-8 * self.K**4,
        lambda self: self.flux == 5.67e-8 * (self.T + 273.15) ** 4,
        lambda self: self.density == 999.8 + 0.07 * self.T - 0.009 * self.T**2 + 7e-5 * self.T**3,
        lambda self: self.density == 1000.0 - 1e-5 * self.T**3,
        lambda self: self.density == 0.1 * self.T**3 - 0.2 * self.T,
        lambda self: self.plain == ac.exp(17.27 * self.T / (self.T + 237.3)),
        lambda self: self.plain == self.T / 100.0,
        lambda self: self.T_C == 0.5 * (self.T + self.Ta),
        lambda self: self.T_C == (self.T + 2 * self.Ta) / 3,
        lambda self: self.T_C == 30.0 - 0.5 * self.T,
        lambda self: self.y == (self.T - self.Ta) / self.tau * self.tau / (self.T - self.Ta),
    ],
)
def test_levels_in_fits_and_means_pass(stated: Callable[[Any], Any]) -> None:
    assert told(stated) == ""


@pytest.mark.parametrize(
    "stated",
    [
        lambda self: self.area == 3.141592653589793 / 4 * self.d**2,
        lambda self: self.area == 3.141592653589793 * self.d**2 / 4,
        lambda self: self.y == (self.bar / self.p) ** 0.2857,
        lambda self: self.degrees == ac.atan(self.x),
        lambda self: self.degrees == -ac.atan2(self.x, self.x),
    ],
)
def test_scales_that_were_lost_on_the_way(stated: Callable[[Any], Any]) -> None:
    """π in the area of a circle is no conversion, a ratio keeps its scale in any power, and an arc tangent is in rad."""
    assert "Units of different scale meet" in told(stated)


def test_what_an_arc_tangent_multiplies_keeps_its_unit() -> None:
    assert "The units do not agree" in told(lambda self: self.voltage == self.tau * ac.atan(self.x))
    assert "The units do not agree" in told(lambda self: self.voltage == self.tau + ac.atan(self.x))


@pytest.mark.parametrize(
    "stated",
    [
        lambda self: self.degrees == 180 / 3.141592653589793 * ac.atan(self.x),
        lambda self: self.angle == ac.atan(self.x),
        lambda self: self.voltage == ac.atan(self.x),
        lambda self: self.voltage == 2 / 3.141592653589793 * self.V * ac.atan(self.x),
        lambda self: self.voltage == self.V + ac.atan(self.x),
        lambda self: self.angle == 2 * 3.141592653589793 * self.turns,
        lambda self: self.y == (self.p / self.p) ** 0.2857,
    ],
)
def test_angles_of_functions_and_conversions_by_pi_pass(stated: Callable[[Any], Any]) -> None:
    assert told(stated) == ""
