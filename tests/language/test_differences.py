"""A difference of temperatures in degC would be 273.15 too much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import acausal as ac
from acausal.language.differences import is_difference


class Valve(ac.Component):
    dT, T, superheat = ac.Parameter(5.0, unit="K"), ac.Parameter(300.0, unit="K"), ac.Input(6.0, unit="K")
    dT_c, dt = ac.Parameter(5.0, unit="degC"), ac.Parameter(1.0, unit="s")
    y = ac.Variable(unit="K")

    def equations(self) -> Any:
        yield self.y == self.T + self.dT + self.superheat


def ran(**given: Any) -> float:
    return float(ac.compile(Valve()).simulate(1.0, **given)["y"][-1])


@pytest.mark.parametrize(
    "given",
    [
        lambda: Valve(dT="5 degC"),
        lambda: Valve(dT=ac.modify(value=5.0, unit="degC")),
        lambda: ran(set={"dT": "5 °C"}),
        lambda: ran(inputs={"superheat": "7 degC"}),
    ],
)
def test_a_difference_in_degrees_celsius_is_told(given: Callable[[], Any]) -> None:
    with pytest.raises(ac.ModelError, match=r'is a difference of temperatures, and . (degC|°C) is a temperature(.|\n)*Write ". K"'):
        given()


def test_degrees_fahrenheit_have_a_unit_of_differences() -> None:
    with pytest.raises(ac.ModelError, match='Write "9 delta_degF"'):
        Valve(dT="9 degF")
    assert ran(set={"dT": "9 delta_degF"}) == pytest.approx(311.0)


def test_other_temperatures_are_levels() -> None:
    assert ran(set={"T": "20 degC", "dT": "4 K"}, inputs={"superheat": "5 K"}) == pytest.approx(302.15)
    assert ac.compile(Valve(dT_c="4 degC", dt="1 min")).get("dT_c") == 4.0
    assert [n for n in ("dT", "T_diff", "pinch", "T_superheat", "duct", "adiabatic", "Tdt") if is_difference(n)] == [
        "dT",
        "T_diff",
        "pinch",
    ]
