"""Numbers beside quantities: they are in the unit of what they stand beside, and where a factor may make a fit of it, in any."""

from __future__ import annotations

from typing import Any

import pytest

import acausal as ac
from acausal.errors import ModelError
from acausal.families.census import Census
from acausal.families.trace import trace
from acausal.families.unit_check import check_units


def check(equation: Any, units: dict[str, str]) -> None:
    def equations(self: Any) -> Any:
        yield equation(self)

    declared = {name: ac.Variable(unit=unit) for name, unit in units.items()}
    census = Census(type("Device", (ac.Component,), {**declared, "equations": equations})())
    check_units([trace(kind, census) for kind in census.plant.kinds])


WARMING = (lambda s: s.C * ac.der(s.T) == s.G * (280.0 - s.T), {"C": "J/K", "T": "K"})

RIGHT = {
    "a number beside a quantity": (WARMING[0], {**WARMING[1], "G": "W/K"}),
    "a fit with a small whole factor, EN ISO 6946": (lambda s: s.h == 4 + 4 * s.v, {"h": "W/(m^2*K)", "v": "m/s"}),
    "a fit with a term that is bare": (lambda s: s.h == 10.45 - s.v + 10 * ac.sqrt(s.v), {"h": "W/(m^2*K)", "v": "m/s"}),
    "a fit of degrees": (lambda s: s.cop == 3.0 + 0.5 * (s.T - 273.15), {"cop": "1", "T": "K"}),
    "Antoine": (lambda s: ac.log(s.p / s.p0) == 18.3 - 3816.0 / (s.T - 46.1), {"p": "Pa", "p0": "Pa", "T": "K"}),
    "degrees as a number": (lambda s: s.T_c == s.T - 273.15, {"T_c": "1", "T": "K"}),
    "degrees as a unit": (lambda s: s.T_c == s.T - 273.15, {"T_c": "degC", "T": "K"}),
    "a number beside an oscillation": (
        lambda s: s.P == s.i * (5.0 + s.V * ac.sin(s.w * ac.time)),
        {"P": "W", "i": "A", "V": "V", "w": "1/s"},
    ),
    "a variable without a unit that is a fit": (lambda s: s.eta == 0.9 - s.m, {"eta": "", "m": "kg/s"}),
    "a state without a unit": (lambda s: ac.der(s.x) == 1.0 - s.x, {"x": ""}),
    "a number over a reference value": (lambda s: s.y == ac.tanh((s.T - 300) / 3), {"y": "1", "T": "K"}),
    "a width that is a power of two": (lambda s: s.y == ac.exp(-((s.x / 8) ** 2) - (s.x / 0.5) ** 2), {"y": "1", "x": "m"}),
    "a number to the power of degrees": (lambda s: s.r == s.k * 1.047 ** (s.T - 293.15), {"r": "1/s", "k": "1/s", "T": "K"}),
    "twice as fast every eight degrees": (lambda s: s.y == 2.0 ** ((s.T - 293.15) / 8), {"y": "1", "T": "K"}),
    "a parameter without a unit to the power of degrees": (lambda s: s.y == s.b ** (s.T - 293.15), {"y": "1", "T": "K", "b": ""}),
    "degC and K, converted": (lambda s: s.T == s.T_c + 273.15, {"T": "K", "T_c": "degC"}),
    "degC and K, converted with a rise": (lambda s: s.T == s.T_c + 278.15, {"T": "K", "T_c": "degC"}),
    "degC, a rise": (lambda s: s.T == s.T_c + 5.0, {"T": "degC", "T_c": "degC"}),
    "degC, a difference to a number": (lambda s: s.dT == s.T_c - 20.0, {"dT": "K", "T_c": "degC"}),
    "K, a level in degC": (lambda s: s.T_c == 20.0 + s.dT, {"dT": "K", "T_c": "degC"}),
    "what keeps a divisor from zero": (lambda s: s.eta == s.P / (s.Q + 1e-9), {"eta": "1", "P": "W", "Q": "W"}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_passes(name: str) -> None:
    check(*RIGHT[name])


WRONG = {
    "a factor": (
        WARMING[0],
        {**WARMING[1], "G": "W"},
        ["`G*(280 - T)` is m^2 kg s^-3 K", "differ by a factor in K", "A number beside a quantity is in its unit: `280 - T` is K"],
    ),
    "never below zero": (
        lambda s: s.Q == s.G * ac.max(s.T - 280.0, 0.0),
        {"Q": "W", "T": "K", "G": "W"},
        ["`G*max(T - 280, 0)` is m^2 kg s^-3 K", "`T - 280` is K"],
    ),
    "a choice of a number": (
        lambda s: s.Q == s.G * ac.where(s.T > 5.0, 280.0, -s.T),
        {"Q": "W", "T": "K", "G": "W"},
        ["kg s^-3 K"],
    ),
    "products": (
        lambda s: s.Q == s.u * s.i * s.T + 5.0,
        {"Q": "W", "u": "V", "i": "A", "T": "K"},
        ["`u*i*T + 5` is m^2 kg s^-3 K"],
    ),
    "a time constant that is forgotten": (
        lambda s: ac.der(s.x) == 1.0 - s.x,
        {"x": "m"},
        ["`der(x)` is m s^-1, `1 - x` is m", "a factor that is a time", "in its unit: `1 - x` is m"],
    ),
    "the argument of a function": (
        lambda s: s.y == ac.log(s.p + 1.0),
        {"y": "1", "p": "Pa"},
        ["`p + 1` is m^-1 kg s^-2 (Pa)", "x / x_ref"],
    ),
    "two of them": (lambda s: s.y == ac.max(s.p - 5.0, s.T - 2.0), {"p": "Pa", "T": "K", "y": ""}, ["`T - 2` is K"]),
    "two that are compared": (
        lambda s: s.y == ac.where(s.T - 5.0 > s.p, 1.0, 0.0),
        {"p": "Pa", "T": "K", "y": ""},
        ["`T - 5` is K"],
    ),
    "a level in degC plus a rise": (
        lambda s: s.T == s.T_c + 1.0,
        {"T": "K", "T_c": "degC"},
        ["different zeros", "`T_c + 1` is K from 273.15", "Declare `T_c` in K"],
    ),
    "such a level, compared": (
        lambda s: s.y == ac.where(s.T > 5.0 + s.T_c, 1.0, 0.0),
        {"T": "K", "T_c": "degC", "y": "1"},
        ["different zeros", "`5 + T_c` is K from 273.15"],
    ),
    "a frequency instead of an angle": (lambda s: s.y == ac.sin(2 * ac.pi * s.f), {"y": "1", "f": "Hz"}, ["`sin` takes an angle"]),
    "an argument without a factor": (lambda s: s.y == ac.tanh(s.T - 300.0), {"y": "1", "T": "K"}, ["`T - 300` is K"]),
    "degrees as a factor": (lambda s: s.Q == s.G * (s.T - 273.15), {"Q": "W", "G": "W", "T": "K"}, ["`T - 273.15` is K"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_is_refused(name: str) -> None:
    equation, units, parts = WRONG[name]
    with pytest.raises(ModelError) as told:
        check(equation, units)
    for part in parts:
        assert part in str(told.value)


def test_what_follows_from_such_a_product_is_known_elsewhere() -> None:
    class Body(ac.Component):
        C, T, G, Q = ac.Parameter(1.0, unit="J/K"), ac.Variable(unit="K"), ac.Parameter(1.0, unit="W"), ac.Variable()

        def equations(self) -> Any:
            yield self.Q == self.G * (280.0 - self.T)
            yield self.C * ac.der(self.T) == self.Q

    with pytest.raises(ModelError, match="inferred:  Q in"):
        ac.compile(Body())
