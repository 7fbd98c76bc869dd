"""`model.explain`: what became of a quantity, checked on models whose structure is known by hand."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import acausal as ac
from acausal.diagnosis.explain import Role
from acausal.errors import NameNotFound
from acausal.library import demo, electrical
from benchmarks.structure.pendulum import Pendulum

from .models import TwoCapacitors


def line(of: Any, text: str) -> int:
    """The line of a class on which a text stands."""
    lines, first = inspect.getsourcelines(of)
    return first + next(k for k, one in enumerate(lines) if text in one)


@pytest.fixture(scope="module")
def circuit() -> Any:
    return ac.compile(TwoCapacitors())


@pytest.fixture(scope="module")
def house() -> Any:
    return ac.compile(demo.HeatedHouse())


@pytest.fixture(scope="module")
def pendulum() -> Any:
    return ac.compile(Pendulum())


def test_a_state_with_two_names(circuit: Any) -> None:
    """Both capacitors' voltages are one state; the currents and its derivative are solved together."""
    first, second = circuit.explain("C1.v"), circuit.explain("C2.v")
    assert first.role is second.role is Role.STATE
    assert first.alias_of == "" and second.alias_of == "C1.v"
    assert {"C2.v", "R.n.v", "C1.p.v", "C2.p.v"} == set(first.aliases)
    assert first.block is not None and first.block.size == 3 and not first.block.nonlinear
    assert set(first.block.unknowns) == {"C1.i", "C2.i"}
    assert len(first.block.equations) == 3
    assert (first.unit, first.doc) == ("V", "voltage of p over n")
    assert dict(first.attributes)["start"] == "0"


def test_a_current_is_computed_with_a_sign(circuit: Any) -> None:
    current = circuit.explain("R.i")
    assert current.role is Role.COMPUTED
    assert current.alias_of == "-source.i"
    assert "-R.n.i" in current.aliases and "R.p.i" in current.aliases and "-source.p.i" in current.aliases
    assert current.equation is not None and current.equation.equation == "self.v == self.R * self.i"
    assert current.equation.component == "R (Resistor)"
    assert current.parameters == ("R.R",)
    assert current.declared_in == "TwoPin"
    assert current.declared_at is not None and current.declared_at.line == line(electrical.TwoPin, "i = ac.Variable")


def test_eliminated_known_and_parameter(circuit: Any) -> None:
    voltage = circuit.explain("R.v")
    assert voltage.role is Role.ELIMINATED
    assert voltage.depends_on == ("R.p.v", "R.n.v")
    assert voltage.equation is not None and voltage.equation.equation == "self.v == self.p.v - self.n.v"
    ground = circuit.explain("C1.n.v")
    assert ground.role is Role.KNOWN and ground.alias_of == "0"
    assert "equal to 0" in str(ground)
    resistance = circuit.explain("R.R")
    assert resistance.role is Role.PARAMETER and dict(resistance.attributes) == {"value": "2", "min": "0"}
    assert resistance.influences == ("source.i",)


def test_a_connector_names_its_class_and_its_owner(circuit: Any) -> None:
    found = circuit.explain("R.p.v")
    assert found.declared_in == "Pin, a connector of TwoPin"
    assert found.declared_at is not None and found.declared_at.line == line(electrical.Pin, "v = ac.Potential")


def test_the_text_says_it_all(circuit: Any) -> None:
    text = str(circuit.explain("C2.v"))
    assert text.startswith("C2.v [V]  voltage of p over n\n")
    assert "equal to C1.v, which is a state" in text
    assert "in a linear block of 3 with" in text
    assert "determined by self.C * ac.der(self.v) == self.i" in text
    assert "electrical.py:" in text


def test_a_loop_of_the_house(house: Any) -> None:
    """The heat pump's supply temperature depends on its own heat: the loop that the demo promises."""
    found = house.explain("heat_pump.T_supply")
    assert found.role is Role.LOOP
    assert found.block is not None and found.block.size == 2 and found.block.nonlinear
    assert found.block.unknowns == ("heat_pump.Q_flow",)
    assert "in a nonlinear block of 2 with heat_pump.Q_flow" in str(found)


def test_a_state_of_the_house_and_its_derivative(house: Any) -> None:
    state, slope = house.explain("room.T"), house.explain("der(room.T)")
    assert state.role is Role.STATE and slope.role is Role.DERIVATIVE
    assert state.equation == slope.equation
    assert {"room.port.T", "thermometer.T", "inside.b.T"} <= set(state.aliases)
    assert "der(room.T)" in state.influences
    assert slope.unit == "K/s" and slope.influences == ()


def test_a_parameter_that_others_follow(house: Any) -> None:
    """The set point is bound to an input of the controller's difference."""
    assert house.explain("set_point").influences[:2] == ("room_error.u1", "room_error.y")


def test_an_element_of_an_array_and_a_whole_one(house: Any) -> None:
    one = house.explain("tank.T[3]")
    assert one.role is Role.STATE and {"tank.T[2]", "tank.T[4]"} <= set(one.depends_on)
    assert one.declared_at is not None and one.declared_at.line == line(demo.Tank, "self.T = ac.Variable")
    assert "stands for 10 elements; this is the first" in house.explain("tank.T").note


def test_time_and_named_expressions(house: Any) -> None:
    assert "time" in house.explain("weather.T").depends_on
    sun = house.explain("Q_sun")
    assert sun.role is Role.EXPRESSION and sun.unit == "W"
    assert sun.depends_on == ("weather.sun",) and set(sun.parameters) == {"g_value", "window_area"}


def test_index_reduction(pendulum: Any) -> None:
    """x and vx are states at the bottom; y follows from the rod, and its derivatives are dummies."""
    assert pendulum.explain("x").role is Role.STATE
    assert pendulum.explain("der(x)").role is Role.DERIVATIVE
    height = pendulum.explain("y")
    assert height.role is Role.UNKNOWN and height.block is not None and height.block.nonlinear
    assert height.equation is not None and height.equation.equation == "self.x**2 + self.y**2 == self.L**2"
    assert height.depends_on == ("x",) and height.parameters == ("L",)
    assert pendulum.explain("der(vy)").role is Role.DUMMY
    assert pendulum.explain("pull").role is Role.LOOP
    assert pendulum.explain("x").equation.equation == "ac.der(self.x) == self.vx"


def test_a_name_that_does_not_exist(house: Any) -> None:
    with pytest.raises(NameNotFound, match="does not exist"):
        house.explain("room.temperature")


def test_it_prints_with_rich(circuit: Any) -> None:
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    Console(file=out, width=200).print(circuit.explain("R.i"))
    assert out.getvalue().splitlines()[0].rstrip() == "R.i [A]  current from p to n"


def test_a_state_is_explained_with_all_that_switches_it() -> None:
    class Thermostat(ac.Component):
        T = ac.Variable(start=290.0, fixed=True, unit="K")
        T_on, T_off = ac.Parameter(292.0, unit="K"), ac.Parameter(294.0, unit="K")
        heating = ac.States("on", "off", initial="off")

        def equations(self) -> Any:
            yield ac.der(self.T) == ac.match(self.heating, on=1.0, off=-1.0)

        def transitions(self) -> Any:
            yield self.heating.off.to("on", when=self.T < self.T_on)
            yield self.heating.on.to("off", when=self.T > self.T_off)

    found = ac.compile(Thermostat(), units=False).explain("heating")
    assert found.attributes == (("states", "on, off"), ("initially", "off"))
    assert found.conditions == ("T < T_on", "T > T_off")
    assert {"T"} <= set(found.depends_on) and set(found.parameters) == {"T_on", "T_off"}
    assert "switched by   T < T_on; T > T_off" in str(found)
