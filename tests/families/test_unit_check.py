"""Units: consistent equations pass whatever they look like, one wrong unit is found, mistakes get the message they deserve."""

from __future__ import annotations

import os
import subprocess
import sys
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plants import Boundary, Conductor, HeatPort, Ladder, LadderOfObjects, Pin

import acausal as ac
from acausal.errors import ModelError
from acausal.families import unit_inference
from acausal.families.assemble import assemble, read
from acausal.families.census import Census
from acausal.families.measures import Number, measure, number_of, shown
from acausal.families.trace import trace
from acausal.families.traced import Traced
from acausal.families.unit_check import check_units, report
from acausal.language.operators import OPERATORS


def traced(component: ac.Component) -> list[Traced]:
    census = Census(component)
    return [trace(kind, census) for kind in census.plant.kinds]


def model(equations: Any, **declared: Any) -> ac.Component:
    """A component with these equations; what is declared is a unit of a variable, or a declaration."""
    found = {k: ac.Variable(unit=v) if isinstance(v, str) else v for k, v in declared.items()}
    return type("Device", (ac.Component,), {**found, "equations": equations})()


def one(equation: Any) -> Any:
    def equations(self):
        yield equation(self)

    return equations


def complaint(component: ac.Component) -> str:
    with pytest.raises(ModelError) as error:
        check_units(traced(component))
    return str(error.value)


# --- random equations -----------------------------------------------------------------------------------------------------

BASE = ("m", "kg", "s", "A", "K")
Dimension = tuple[int, ...]
NONE = (0,) * len(BASE)
SECOND = (0, 0, 1, 0, 0)
dimensions = st.tuples(*[st.integers(-2, 2)] * len(BASE))


def text_of(dimension: Dimension) -> str:
    return "*".join(f"{base}**{e}" for base, e in zip(BASE, dimension, strict=True) if e) or "1"


def minus(a: Dimension, b: Dimension) -> Dimension:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def plus(a: Dimension, b: Dimension) -> Dimension:
    return tuple(x + y for x, y in zip(a, b, strict=True))


class Grower:
    """Grows an expression of a wanted dimension; every leaf is a variable of its own, so that each unit matters once."""

    def __init__(self, draw: Any, conversions: bool, literals: bool) -> None:
        self.draw, self.literals, self.bare = draw, literals, False
        self.factors = [2.0, 0.5, 1 / 3, -1.0, 2 * pi] if conversions else [2.0, 0.5, 1 / 3, -1.0]
        self.units: list[Dimension] = []

    def leaf(self, dimension: Dimension) -> Any:
        self.units.append(dimension)
        name = f"x{len(self.units)}"
        return lambda component: getattr(component, name)

    def grow(self, wanted: Dimension, depth: int) -> Any:
        if depth == 0:
            return self.leaf(wanted)
        rules = [self.sum, self.extreme, self.choice, self.product, self.quotient, self.root, self.rate]
        rules += [] if self.bare else [self.scaled, self.wave]
        rules += [self.beside] if self.literals else []
        return self.draw(st.sampled_from([self.leafy, *rules]))(wanted, depth - 1)

    def leafy(self, wanted: Dimension, depth: int) -> Any:
        return self.leaf(wanted)

    def sum(self, wanted: Dimension, depth: int) -> Any:
        a, b, plus_or_minus = self.grow(wanted, depth), self.grow(wanted, depth), self.draw(st.booleans())
        return lambda s: a(s) + b(s) if plus_or_minus else a(s) - b(s)

    def beside(self, wanted: Dimension, depth: int) -> Any:
        """A number beside a quantity that has none as a factor is in the unit of that quantity."""
        number, number_first, self.bare, outside = (
            self.draw(st.sampled_from([1.0, 9.81, 273.15])),
            self.draw(st.booleans()),
            True,
            self.bare,
        )
        a, self.bare = self.grow(wanted, depth), outside
        return lambda s: number - a(s) if number_first else a(s) + number

    def extreme(self, wanted: Dimension, depth: int) -> Any:
        a, b = self.grow(wanted, depth), self.grow(wanted, depth)
        return lambda s: ac.max(a(s), ac.abs(b(s)), 0.0)

    def choice(self, wanted: Dimension, depth: int) -> Any:
        other = self.draw(dimensions)
        a, b, c, d = self.grow(wanted, depth), self.grow(wanted, depth), self.leaf(other), self.leaf(other)
        return lambda s: ac.where((c(s) > d(s)) & (d(s) > 0), a(s), b(s))

    def product(self, wanted: Dimension, depth: int) -> Any:
        other = self.draw(dimensions)
        a, b = self.grow(other, depth), self.grow(minus(wanted, other), depth)
        return lambda s: a(s) * b(s)

    def quotient(self, wanted: Dimension, depth: int) -> Any:
        other = self.draw(dimensions)
        a, b = self.grow(plus(wanted, other), depth), self.grow(other, depth)
        return lambda s: -a(s) / b(s)

    def root(self, wanted: Dimension, depth: int) -> Any:
        power = self.draw(st.sampled_from([2, 3]))
        a = self.grow(tuple(power * e for e in wanted), depth)
        return lambda s: ac.sqrt(a(s)) if power == 2 else a(s) ** (1 / 3)

    def scaled(self, wanted: Dimension, depth: int) -> Any:
        a, factor = self.grow(wanted, depth), self.draw(st.sampled_from(self.factors))
        return lambda s: factor * a(s)

    def rate(self, wanted: Dimension, depth: int) -> Any:
        a = self.leaf(plus(wanted, SECOND))
        return lambda s: ac.der(a(s))

    def wave(self, wanted: Dimension, depth: int) -> Any:
        a, b, frequency = self.grow(wanted, depth), self.grow(NONE, depth), self.leaf(minus(NONE, SECOND))
        function = self.draw(st.sampled_from([ac.sin, ac.exp, ac.tanh, ac.log]))
        return lambda s: a(s) * function(b(s) + frequency(s) * ac.time) * (1.0 + ac.cos(frequency(s) * ac.time))


@st.composite
def equations(draw: Any, conversions: bool = True, literals: bool = True) -> tuple[Any, list[Dimension]]:
    grower = Grower(draw, conversions, literals)
    wanted = draw(dimensions)
    left, right = grower.grow(wanted, draw(st.integers(0, 2))), grower.grow(wanted, draw(st.integers(0, 3)))
    return one(lambda s: left(s) == right(s)), grower.units


def declared(units: list[str]) -> dict[str, Any]:
    return {f"x{k}": unit for k, unit in enumerate(units, 1)}


@given(equations())
def test_a_consistent_equation_never_alarms(found: Any) -> None:
    stated, units = found
    check_units(traced(model(stated, **declared([text_of(u) for u in units]))))


@given(equations(), st.data())
def test_nor_when_units_are_missing(found: Any, data: Any) -> None:
    stated, units = found
    texts = [text_of(u) if data.draw(st.booleans()) else "" for u in units]
    check_units(traced(model(stated, **declared(texts))))


@given(equations(), st.data())
def test_one_wrong_unit_alarms(found: Any, data: Any) -> None:
    stated, units = found
    texts = [text_of(u) for u in units]
    wrong = data.draw(st.integers(0, len(units) - 1))
    texts[wrong] += "*" + data.draw(st.sampled_from(["m", "kg", "s", "1/A", "K**2", "mol"]))
    complaint(model(stated, **declared(texts)))


@given(equations(conversions=False), st.data())
def test_one_wrong_scale_alarms(found: Any, data: Any) -> None:
    stated, units = found
    texts = [text_of(u) for u in units]
    wrong = data.draw(st.integers(0, len(units) - 1))
    texts[wrong] += "*km/m"
    assert any(word in complaint(model(stated, **declared(texts))) for word in ("different scale", "takes", "exponent"))


@given(equations(conversions=False, literals=False), st.data())
def test_a_missing_unit_is_inferred_when_it_is_the_only_one_missing(found: Any, data: Any) -> None:
    """In these equations every leaf can be found from the others."""
    stated, units = found
    missing = data.draw(st.integers(0, len(units) - 1))
    texts = ["" if k == missing else text_of(u) for k, u in enumerate(units)]
    (line,) = report(traced(model(stated, **declared(texts))))
    assert shown(measure(text_of(units[missing]))) in line


# --- what passes ----------------------------------------------------------------------------------------------------------

PASSING = {
    "an offset in kelvin": (lambda s: s.T_c == s.T - 273.15, {"T_c": "1", "T": "K"}),
    "a number for a quantity": (lambda s: s.v == 5.0, {"v": "V"}),
    "a number as bound": (lambda s: s.y == ac.max(s.m, 1e-6) * s.h, {"y": "W", "m": "kg/s", "h": "J/kg"}),
    "zero": (lambda s: s.p == 0, {"p": "Pa"}),
    "an amplitude of one": (lambda s: s.v == ac.sin(2 * pi * s.f * ac.time), {"v": "V", "f": "Hz"}),
    "time alone in a function": (lambda s: s.v == s.V * ac.sin(ac.time), {"v": "V", "V": "V"}),
    "gravity as a number": (lambda s: s.m * ac.der(s.v) == -s.m * 9.81, {"m": "kg", "v": "m/s"}),
    "Stefan and Boltzmann": (lambda s: s.q == 5.67e-8 * s.T**4, {"q": "W/m^2", "T": "K"}),
    "a fit": (lambda s: s.cop == 3.0 + 0.5 * (s.T - 273.15), {"cop": "1", "T": "K"}),
    "a power law": (lambda s: s.h == 3 * s.v**0.8, {"h": "W/(m^2*K)", "v": "m/s"}),
    "rad and torque": (lambda s: s.P == s.tau * ac.der(s.phi), {"P": "W", "tau": "N*m", "phi": "rad"}),
    "a table": (lambda s: s.eta == ac.Table([0.0, 1.0], [0.0, 1.0])(s.p), {"eta": "1", "p": "Pa"}),
    "kW, kg/s and kJ/kg": (lambda s: s.Q == s.m * (s.h1 - s.h2), {"Q": "kW", "m": "kg/s", "h1": "kJ/kg", "h2": "kJ/kg"}),
    "rpm, converted": (lambda s: s.w == 2 * pi / 60 * s.n, {"w": "rad/s", "n": "rpm"}),
    "deg, converted": (lambda s: s.y == s.r * ac.sin(s.a * pi / 180), {"y": "m", "r": "m", "a": "deg"}),
    "bar, converted": (lambda s: s.p == s.q * 1e5, {"p": "Pa", "q": "bar"}),
    "days, converted": (lambda s: s.t == s.d * 24, {"t": "h", "d": "d"}),
    "degC, differences": (lambda s: s.Q == s.G * (s.a - s.b), {"Q": "W", "G": "W/K", "a": "degC", "b": "degC"}),
    "degC, a level and a difference": (lambda s: s.a == s.b - s.dT, {"a": "degC", "b": "degC", "dT": "K"}),
    "degC, a difference less a level, and a level": (
        lambda s: s.dT == s.d - s.a + s.b,
        {"dT": "K", "d": "K", "a": "degC", "b": "degC"},
    ),
    "degC, its mean": (lambda s: s.a == 0.5 * (s.b + s.c), {"a": "degC", "b": "degC", "c": "degC"}),
    "degC, its rate": (lambda s: s.C * ac.der(s.T) == s.Q, {"C": "J/K", "T": "degC", "Q": "W"}),
    "homotopy": (lambda s: s.p == ac.homotopy(s.k * s.m**2, s.r * s.m), {"p": "Pa", "m": "kg/s", "k": "1/(kg*m)", "r": "1/(m*s)"}),
    "smooth stand-ins": (
        lambda s: s.m == s.k * ac.regularised_sqrt(s.p, s.d),
        {"m": "kg/s", "k": "(kg*m)**0.5", "p": "Pa", "d": "Pa"},
    ),
    "the rate of an expression": (lambda s: ac.der(s.m * s.u**2) == s.q, {"m": "kg", "u": "m/s", "q": "W"}),
    "an array with elements of different units": (
        lambda s: s.x[0] * s.t[0] == s.x[1],
        {"x": ac.Variable(shape=2), "t": ac.Variable(shape=1)},
    ),
    "a variable without a unit that is a number": (lambda s: ac.der(s.x) == s.T - s.x, {"x": "", "T": "K"}),
    "one small number for all": (
        lambda s: ac.abs(s.p + s.eps) * s.m == s.p * ac.abs(s.m + s.eps),
        {"p": "Pa", "m": "kg", "eps": ac.Parameter(1e-9)},
    ),
    "an exponent that is a parameter": (
        lambda s: s.p * s.v**s.n == s.c,
        {"p": "Pa", "v": "m^3/kg", "n": ac.Parameter(1.3), "c": "J"},
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_passes(name: str) -> None:
    equation, units = PASSING[name]
    check_units(traced(model(one(equation), **units)))


# --- what does not ----------------------------------------------------------------------------------------------------------

MISTAKES = {
    "a forgotten factor": (
        lambda s: s.Q == s.m * (s.T1 - s.T2),
        {"Q": "W", "m": "kg/s", "T1": "K", "T2": "K"},
        ["`Q` is m^2 kg s^-3 (W)", "`m*(T1 - T2)` is kg s^-1 K", "a factor in m^2 s^-2 K^-1 (J/(kg*K))", "m in kg/s"],
    ),
    "a forgotten der": (
        lambda s: s.C * s.T == s.Q,
        {"C": "J/K", "T": "K", "Q": "W"},
        ["`C*T` is m^2 kg s^-2 (J)", "`Q` is m^2 kg s^-3 (W)", "ac.der(…)", "declared:  C in J/K, T in K, Q in W"],
    ),
    "a sum of unlike things": (
        lambda s: s.p == s.q + s.v,
        {"p": "Pa", "q": "Pa", "v": "m/s"},
        ["`q` is m^-1 kg s^-2 (Pa), `v` is m s^-1"],
    ),
    "multiplied instead of divided": (lambda s: s.i == s.v * s.R, {"i": "A", "v": "V", "R": "ohm"}, ["`i` is A", "`v*R`"]),
    "a number that has a unit": (
        lambda s: s.Q == 2.0 * (s.T - s.T_amb),
        {"Q": "W", "T": "K", "T_amb": "K"},
        ["`2*(T - T_amb)` is K", "a factor in m^2 kg s^-3 K^-1 (W/K)", "ac.Constant(…, unit=…)"],
    ),
    "time where a rate is needed": (lambda s: s.x == ac.time, {"x": "m"}, ["`x` is m", "`time` is s"]),
    "exp of a voltage": (
        lambda s: s.i == s.I * ac.exp(s.v),
        {"i": "A", "I": "A", "v": "V"},
        ["`exp` takes a plain number", "ac.exp(x / x_ref)"],
    ),
    "log of a pressure": (
        lambda s: s.y == ac.log(s.p),
        {"y": "1", "p": "Pa"},
        ["`log` takes a plain number, but `p` is m^-1 kg s^-2 (Pa)"],
    ),
    "sin of degrees": (
        lambda s: s.y == s.r * ac.sin(s.a),
        {"y": "m", "r": "m", "a": "deg"},
        ["`sin` takes an angle in rad", "dimensionless times 0.0174533", "Declare `a` in rad", '"… deg"'],
    ),
    "unlike things compared": (
        lambda s: s.y == ac.where(s.T > s.p, s.y, 2 * s.y),
        {"y": "1", "T": "K", "p": "Pa"},
        ["`T` is K, `p` is m^-1 kg s^-2 (Pa)"],
    ),
    "unlike branches": (lambda s: s.y == ac.where(s.y > 0, s.y, s.p), {"y": "m", "p": "Pa"}, ["`y` is m, `p` is"]),
    "unlike bounds": (lambda s: s.y == ac.min(s.y, s.p), {"y": "m", "p": "Pa"}, ["`y` is m, `p` is"]),
    "an exponent with a unit": (lambda s: s.y == s.y**s.n, {"y": "1", "n": "K"}, ["An exponent is a plain number, but `n` is K"]),
    "a square too much": (lambda s: s.E == 0.5 * s.m * s.v, {"E": "J", "m": "kg", "v": "m/s"}, ["a factor in m s^-1"]),
    "bar and Pa": (
        lambda s: s.p == s.q + s.dp,
        {"p": "Pa", "q": "Pa", "dp": "bar"},
        ["Units of different scale meet", "`dp` is m^-1 kg s^-2 (Pa) times 100000", "Declare `dp` in Pa", 'in_unit(…, "bar")'],
    ),
    "rpm and rad/s": (lambda s: s.w == s.n, {"w": "rad/s", "n": "rpm"}, ["scale", "times 0.10472", "Declare `n` in s^-1"]),
    "kW and kJ": (lambda s: s.P == ac.der(s.E), {"E": "kWh", "P": "kW"}, ["different scale", "times 3.6e+06", "times 1000"]),
    "a forgotten percent": (lambda s: s.P == s.eta * s.Q, {"P": "W", "eta": "%", "Q": "W"}, ["scale", "Declare `eta` in 1"]),
    "degC and K": (
        lambda s: s.T == s.T_amb,
        {"T": "K", "T_amb": "degC"},
        ["Temperatures with different zeros meet", "`T_amb` is K from 273.15", "Declare `T_amb` in K"],
    ),
    "a difference of degC and K, as a factor": (
        lambda s: s.tau * ac.der(s.T) == s.k * (s.T_amb - s.T),
        {"T": "K", "T_amb": "degC", "tau": "s", "k": "1"},
        ["different zeros", "`T_amb` is K from 273.15, `T` is K"],
    ),
    "a difference of K and degC": (
        lambda s: s.tau * ac.der(s.T) == s.T_amb - s.T,
        {"T": "degC", "T_amb": "K", "tau": "s"},
        ["different zeros", "`T_amb` is K, `T` is K from 273.15"],
    ),
    "the size of such a difference": (
        lambda s: s.Q == s.G * ac.abs(s.a - s.b),
        {"Q": "W", "G": "W/K", "a": "degC", "b": "K"},
        ["different zeros"],
    ),
    "the larger of such a difference and nothing": (
        lambda s: s.Q == s.G * ac.max(s.a - s.b, 0.0),
        {"Q": "W", "G": "W/K", "a": "degC", "b": "K"},
        ["different zeros"],
    ),
    "a difference declared in degC": (
        lambda s: s.dT == s.a - s.b,
        {"dT": "degC", "a": "degC", "b": "degC"},
        ["different zeros", "a difference of temperatures is in K"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    equation, units, parts = MISTAKES[name]
    text = complaint(model(one(equation), **units))
    assert "component: Device" in text and "test_unit_check.py:" in text and "equation: " in text and "try: " in text
    for part in parts:
        assert part in text, f"{part!r} not in:\n{text}"


class Tank(ac.Component):
    """`level` and `area` have no unit; both follow, one through the other."""

    port = HeatPort()
    volume, length = ac.Variable(unit="m^3"), ac.Parameter(2.0, unit="m")
    area, level = ac.Variable(), ac.Variable()
    factor, gain, free = ac.Parameter(1.0), ac.Parameter(1.0), ac.Parameter(1.0)

    def equations(self):
        yield self.volume == self.area * self.level
        yield self.level * 3 == self.length
        yield self.port.Q_flow == self.factor * (self.port.T - 273.15) * self.gain
        yield self.port.Q_flow == self.factor * (3 + 0.5 * self.port.T) * self.free  # perhaps a fit
        yield self.port.T * self.factor == self.port.T


def test_units_that_are_missing_are_inferred_or_told() -> None:
    lines = report(traced(Tank()))
    assert lines == [
        "Tank.area: no unit is declared; m^2 follows from `self.volume == self.area * self.level`",
        "Tank.level: no unit is declared; m follows from `self.level * 3 == self.length`",
        "Tank.factor: no unit is declared; dimensionless follows from `self.port.T * self.factor == self.port.T`",
        "Tank.gain: no unit is declared; m^2 kg s^-3 K^-1 (W/K) follows from "
        "`self.port.Q_flow == self.factor * (self.port.T - 273.15) * self.gain`",
        "Tank: no unit is declared for free, and none follows from the equations",
    ]


class Flow(ac.Component):
    """Compiles; `dp` is a definition that translation takes out, the sum an accumulated one."""

    a, b = HeatPort(), HeatPort()
    G = ac.Parameter(np.ones(9), shape=9, unit="W/K")
    difference, total = ac.Variable(), ac.Variable()

    def equations(self):
        yield self.difference == self.a.T - self.b.T
        yield self.total == ac.sum(self.G * self.difference)
        yield self.a.Q_flow == self.total
        yield self.a.Q_flow + self.b.Q_flow == 0


class Plate(ac.Component):
    def __init__(self) -> None:
        self.flow, self.left, self.right = Flow(), Boundary(), Boundary()

    def connections(self):
        yield self.flow.a, self.left.port
        yield self.flow.b, self.right.port


def test_the_report_of_a_translated_model() -> None:
    system = assemble(read(Plate()))
    lines = report(system.traced, system.definitions)
    assert [line.split(" follows")[0] for line in lines] == [
        "Flow.difference: no unit is declared; K",
        "Flow.total: no unit is declared; m^2 kg s^-3 (W)",
    ]


def test_a_clash_through_inferred_units_says_where_they_come_from() -> None:
    def equations(self):
        yield self.x == self.T
        yield self.y == 2 * self.x
        yield self.p == self.y

    text = complaint(model(equations, x="", y="", T="K", p="Pa"))
    assert "`p` is m^-1 kg s^-2 (Pa), `y` is K" in text
    assert "declared:  p in Pa" in text and "inferred:  y in K, from `self.y == 2 * self.x`" in text


def test_all_complaints_of_all_kinds_come_together_and_a_base_class_is_told_once() -> None:
    class Base(ac.Component):
        p = Pin()
        R = ac.Parameter(1.0, unit="ohm")

        def equations(self):
            yield self.p.v == self.p.i

    class First(Base):
        pass

    class Second(Base):
        def equations(self):
            yield from super().equations()
            yield self.p.v * self.p.i == self.R

    class Both(ac.Component):
        def __init__(self) -> None:
            self.first, self.second = First(), Second()

    text = complaint(Both())
    assert text.startswith("2 things are wrong:")
    assert "component: First" in text and "also in:   Second" in text and text.count("self.p.v == self.p.i\n") == 1


def test_units_of_named_expressions_bindings_and_initial_equations() -> None:
    class Device(ac.Component):
        v, i = ac.Variable(unit="V"), ac.Variable(unit="A")
        R = ac.Parameter(1.0, unit="ohm")
        G = ac.Parameter(2 * R, unit="S")

        def equations(self):
            self.P = ac.named(self.v * self.i, unit="J")
            self.milli = ac.named(self.v, unit="mV")
            yield self.v == self.R * self.i

        def initial_equations(self):
            yield self.v == self.i

    text = complaint(Device())
    assert text.startswith("4 things are wrong:")
    assert "`v*i` is m^2 kg s^-3 (W), the unit given to it (`J`) is m^2 kg s^-2 (J)" in text and "equation:  P = v*i" in text
    assert "`v` is m^2 kg s^-3 A^-1 (V), the unit given to it (`mV`) is m^2 kg s^-3 A^-1 (V) times 0.001" in text
    assert "`2*R` is" in text and "the unit given to it (`S`)" in text
    assert "yield" not in text and "equation:  self.v == self.i" in text


def test_a_unit_for_the_reader_says_nothing_about_what_is_in_it() -> None:
    def equations(self):
        self.loss = ac.named(2 * self.x, unit="W")
        yield ac.der(self.x) == -self.loss

    check_units(traced(model(equations, x="")))


def test_what_is_inferred_below_is_known_above_and_signals_stay_free() -> None:
    class Inner(ac.Component):
        a, x, u, y = ac.Variable(unit="K"), ac.Variable(), ac.Input(0.0), ac.Output()

        def equations(self):
            yield self.x == self.a
            yield self.a == 300.0
            yield self.y == self.u

    def outer(equation: Any) -> ac.Component:
        class Outer(ac.Component):
            p, T = ac.Variable(unit="Pa"), ac.Variable(unit="K")

            def __init__(self) -> None:
                self.one, self.two = Inner(), Inner()

            def equations(self):
                yield self.p == self.one.y
                yield self.two.y == self.T
                yield equation(self)

        return Outer()

    check_units(traced(outer(lambda s: s.two.x == s.T)))
    assert "`one.x` is K" in complaint(outer(lambda s: s.one.x == s.p))


def test_arrays_of_components_and_their_sums() -> None:
    class Cells(ac.Component):
        total = ac.Variable(unit="W")

        def __init__(self) -> None:
            self.cell = ac.array(Conductor, 5)

        def equations(self):
            yield self.total == ac.sum(self.cell.a.Q_flow[1:]) + sum(c.a.T for c in self.cell)

    assert "is K" in complaint(Cells())


def test_functions_that_say_their_units_are_checked() -> None:
    saturation = ac.Table([250.0, 350.0], [1e5, 2e6], name="saturation")
    saturation.units = ("K", "Pa")  # type: ignore[attr-defined]
    check_units(traced(model(one(lambda s: s.p == saturation(s.T)), p="Pa", T="K")))
    assert "`q` is s^-1" in complaint(model(one(lambda s: s.q == saturation(s.T)), q="1/s", T="K"))
    text = complaint(model(one(lambda s: s.p == saturation(s.q)), p="Pa", q="J"))
    assert "`q` is m^2 kg s^-2 (J), what `saturation` takes is K" in text
    assert "K follows" in report(traced(model(one(lambda s: s.p == saturation(s.x)), p="Pa", x="")))[0]


def test_a_unit_that_cannot_be_read() -> None:
    text = complaint(model(one(lambda s: s.m == 1.0), m="Kg/s"))
    assert "The unit of `m` in Device cannot be read. The unit `Kg/s` is unknown." in text and "try:       Did you mean" in text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, Number.ZERO), (1.0, Number.PURE), (-0.5, Number.PURE), (4 / 3, Number.PURE), (np.sqrt(3.0), Number.PURE),
        (2 * pi, Number.PURE_OR_CONVERSION), (4 / 3 * pi, Number.PURE_OR_CONVERSION), (pi**2 / 8, Number.PURE_OR_CONVERSION),
        (24.0, Number.PURE_OR_CONVERSION), (64.0, Number.PURE_OR_CONVERSION), (9.81, Number.ANYTHING), (4186.0, Number.ANYTHING),
        (3600.0, Number.ANYTHING), (pi / 180, Number.ANYTHING), (pi / 30, Number.ANYTHING), (1e-3, Number.ANYTHING),
        (5.670374419e-8, Number.ANYTHING), (8.314462618, Number.ANYTHING), (273.15, Number.ANYTHING), (86400.0, Number.ANYTHING),
        (1e5, Number.ANYTHING), (0.1, Number.ANYTHING), (1e300, Number.ANYTHING), (float("inf"), Number.ANYTHING),
    ],
)  # fmt: skip
def test_what_a_number_may_stand_for(value: float, expected: Number) -> None:
    assert number_of(value) is expected


def test_every_operator_has_a_rule() -> None:
    assert set(unit_inference._RULES) == set(OPERATORS)


def test_the_work_depends_on_kinds_not_on_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    rule = unit_inference.Inference._rule
    monkeypatch.setattr(unit_inference.Inference, "_rule", lambda self, node: (calls.append(node), rule(self, node))[1])
    counts = []
    for plant in (Ladder(3), Ladder(3000), LadderOfObjects(3), LadderOfObjects(300)):
        calls.clear()
        check_units(traced(plant))
        counts.append(len(calls))
    assert len(set(counts)) == 1 and counts[0] < 100


def test_compiling_checks_units_without_pint() -> None:
    code = "import sys, plants, acausal as ac; ac.compile(plants.Ladder(3)); sys.exit('pint' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=_with_tests_on_the_path(), check=False).returncode == 0
    with pytest.raises(ModelError, match="The units do not agree"):
        ac.compile(model(one(lambda s: s.x == s.p), x="m", p=ac.Parameter(1.0, unit="Pa")))


def _with_tests_on_the_path() -> dict[str, str]:
    path = [str(Path(__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


@pytest.mark.parametrize(
    ("spelt", "meant"),
    [("W/(m2.K)", "W/(m^2*K)"), ("m3/h", "m^3/h"), ("kg m-3", "kg/m^3"), ("J/(kg K)", "J/(kg*K)"), ("-", "1"), ("Ohm", "ohm")],
)
def test_other_spellings_are_read(spelt: str, meant: str) -> None:
    check_units(traced(model(one(lambda s: s.x == s.y), x=spelt, y=meant)))
