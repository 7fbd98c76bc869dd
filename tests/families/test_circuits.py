"""A medium is said once and known everywhere in its circuit: through composites, arrays, nested connectors; none or two is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.assemble import read

WATER = ac.media.ConstantMedium("water", rho=1000.0, cp=4200.0)
OIL = ac.media.ConstantMedium("oil", rho=850.0, cp=2000.0)


class Source(ac.Component):
    medium = ac.AnyMedium()
    port = ac.FluidPort(medium)
    T = ac.Parameter(300.0, unit="K")
    m = ac.Parameter(0.1, unit="kg/s")

    def equations(self) -> Any:
        yield self.port.m_flow == -self.m
        yield self.port.h.outflow == self.medium.state(p=self.port.p, T=self.T).h


class Pipe(ac.Component):
    a, b = ac.FluidPort(), ac.FluidPort()
    T = ac.Variable(unit="K")

    def equations(self) -> Any:
        yield self.T == self.a.medium.state(p=self.a.p, h=self.a.h.inflow).T
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.a.p == self.b.p
        yield self.a.h.outflow == self.b.h.inflow
        yield self.b.h.outflow == self.a.h.inflow


class Sink(ac.Component):
    port = ac.FluidPort()
    T = ac.Variable(unit="K")

    def equations(self) -> Any:
        yield self.port.p == 1e5
        yield self.port.h.outflow == self.medium.state(p=1e5, T=300.0).h
        yield self.T == self.medium.state(p=self.port.p, h=self.port.h.inflow).T


class Section(ac.Component):
    a, b = ac.FluidPort(), ac.FluidPort()

    def __init__(self, n: int = 3) -> None:
        self.pipes = ac.array(Pipe, n)

    def connections(self) -> Any:
        yield self.a, self.pipes[0].a
        yield self.pipes[:-1].b, self.pipes[1:].a
        yield self.pipes[-1].b, self.b


class Line(ac.Component):
    """A source, some pipes and a sink; who says the medium is a choice."""

    def __init__(self, *, source: Any = None, sink: Any = None, array: Any = None) -> None:
        self.source, self.section, self.sink = Source(), Section(), Sink()
        if source is not None:
            self.source.medium = source
        if sink is not None:
            self.sink.medium = sink
        if array is not None:
            self.section.pipes.medium = array

    def connections(self) -> Any:
        yield self.source.port, self.section.a
        yield self.section.b, self.sink.port


def kinds(root: ac.Component) -> list[tuple[str, int]]:
    return [(kind.name, kind.count) for kind in read(root).plant.kinds]


@pytest.mark.parametrize("where", ["source", "sink", "array"])
def test_said_anywhere_it_is_known_everywhere(where: str) -> None:
    state = ac.compile(Line(**{where: OIL})).steady_state(set={"source.T": 350.0})
    np.testing.assert_allclose(state["section.pipes.T"][0], [350.0] * 3)
    assert state["sink.T"][0] == pytest.approx(350.0) and state["sink.port.h.inflow"][0] == pytest.approx(2000.0 * 76.85, rel=1e-4)


def test_one_kind_for_each_class_and_medium() -> None:
    class Three(ac.Component):
        def __init__(self) -> None:
            self.lines = [Line(source=OIL), Line(sink=OIL), Line(array=WATER)]

    found = kinds(Three())
    assert sorted(c for n, c in found if n == "Pipe") == [3, 6]
    assert sorted(c for n, c in found if n == "Source") == [1, 2] and sorted(c for n, c in found if n == "Line") == [1, 2]


def test_equal_media_made_twice_are_one() -> None:
    air = [ac.media.ideal_gas(["N2", "O2"], mole=[0.79, 0.21]) for _ in range(2)]
    assert air[0] == air[1] and hash(air[0]) == hash(air[1]) and air[0] != ac.media.ideal_gas("N2")
    again = ac.media.ConstantMedium("oil", rho=850.0, cp=2000.0)
    assert ac.compile(Line(source=OIL, sink=again)).steady_state()["sink.T"][0] == pytest.approx(300.0)


def test_a_component_hands_its_medium_on() -> None:
    class Two(ac.Component):
        medium = ac.AnyMedium(OIL)

        def __init__(self) -> None:
            self.first, self.second = Line(source=self.medium), Line(sink=self.medium)

    def enthalpy(root: ac.Component) -> float:
        return float(ac.compile(root).steady_state()["second.sink.port.h.inflow"][0])

    assert enthalpy(Two()) == pytest.approx(2000.0 * 26.85, rel=1e-3)  # the default
    assert enthalpy(Two(medium=WATER)) == pytest.approx(4200.0 * 26.85, rel=1e-3)

    class Around(ac.Component):
        def __init__(self) -> None:
            self.two = Two(medium="water")

    state = ac.compile(Around()).steady_state()
    assert state["two.first.sink.T"][0] == pytest.approx(300.0) and state["two.first.sink.port.h.inflow"][0] == pytest.approx(
        ac.media.fluid("water").state(p=1e5, T=300.0).h
    )


def test_a_world_says_the_medium_of_circuits_that_say_nothing() -> None:
    class World(ac.Component):
        medium = ac.AnyMedium(WATER, everywhere=True)

    class House(ac.Component):
        def __init__(self, oil: bool = False) -> None:
            self.line = Line()
            if oil:
                self.world = World(medium=OIL)

    class Street(ac.Component):
        def __init__(self) -> None:
            self.world, self.houses, self.other, self.own = World(), ac.array(House, 2), House(oil=True), Line(source=OIL)

    state = ac.compile(Street()).steady_state()
    water, oil = 4200.0 * 26.85, 2000.0 * 26.85
    np.testing.assert_allclose(state["houses.line.sink.port.h.inflow"][0], [water, water], rtol=1e-3)
    for name in ("other.line", "own"):
        assert state[f"{name}.sink.port.h.inflow"][0] == pytest.approx(oil, rel=1e-3)


@pytest.mark.parametrize("how", ["place", "said of a place", "class", "name", "attribute"])
def test_a_plant_without_ports_says_the_medium_of_what_is_in_it(how: str) -> None:
    class Plant(ac.Component):
        if how in ("place", "said of a place"):
            medium = ac.AnyMedium(OIL if how == "place" else WATER)
        elif how != "attribute":
            medium = OIL if how == "class" else "water"

        def __init__(self) -> None:
            self.line, self.own = Line(), Line(source=WATER)
            if how == "attribute":
                self.medium = OIL

    plant = Plant(medium=OIL) if how == "said of a place" else Plant()
    state = ac.compile(plant).steady_state()
    expected = ac.media.fluid("water").state(p=1e5, T=300.0).h if how == "name" else 2000.0 * 26.85
    assert state["line.sink.port.h.inflow"][0] == pytest.approx(expected, rel=1e-3)
    assert state["own.sink.port.h.inflow"][0] == pytest.approx(4200.0 * 26.85, rel=1e-3)


def test_a_plant_that_misspells_its_medium_is_told() -> None:
    class Plant(ac.Component):
        medium = "watre"

        def __init__(self) -> None:
            self.line = Line()

    with pytest.raises(ac.UsageError, match="watre"):
        ac.compile(Plant())


def test_a_component_with_two_circuits_keeps_them_apart() -> None:
    class Exchanger(ac.Component):
        hot, cold = ac.AnyMedium(), ac.AnyMedium()
        a1, b1 = ac.FluidPort(hot), ac.FluidPort(hot)
        a2, b2 = ac.FluidPort(cold), ac.FluidPort(cold)
        Q = ac.Parameter(1000.0, unit="W")
        T_cold = ac.Variable(unit="K")

        def equations(self) -> Any:
            for a, b, sign in ((self.a1, self.b1, -1.0), (self.a2, self.b2, 1.0)):
                yield a.m_flow + b.m_flow == 0
                yield a.p == b.p
                yield b.h.outflow == a.h.inflow + sign * self.Q / 0.1
                yield a.h.outflow == b.h.inflow
            yield self.T_cold == self.cold.state(p=self.b2.p, h=self.b2.h.outflow).T

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.hot, self.cold = Source(medium=OIL, T=400.0), Source(T=300.0)
            self.exchanger, self.sinks = Exchanger(), [Sink(), Sink(medium=WATER)]

        def connections(self) -> Any:
            yield self.hot.port, self.exchanger.a1
            yield self.exchanger.b1, self.sinks[0].port
            yield self.cold.port, self.exchanger.a2
            yield self.exchanger.b2, self.sinks[1].port

    state = ac.compile(Plant()).steady_state()
    assert state["sinks[0].T"][0] == pytest.approx(400.0 - 5.0) and state["exchanger.T_cold"][0] == pytest.approx(
        300 + 10000 / 4200
    )


def test_through_connectors_within_connectors() -> None:
    class Pair(ac.Connector):
        supply, back = ac.FluidPort(), ac.FluidPort()

    class House(ac.Component):
        pair = Pair()

        def equations(self) -> Any:
            supply, back = self.pair.supply, self.pair.back
            yield supply.m_flow + back.m_flow == 0
            yield supply.p == back.p
            yield back.h.outflow == supply.h.inflow - supply.medium.state(p=1e5, T=310.0).h + back.medium.state(p=1e5, T=300.0).h
            yield supply.h.outflow == back.h.inflow

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.source, self.house, self.sink, self.station = Source(T=340.0), House(), Sink(medium=OIL), Station()

        def connections(self) -> Any:
            yield self.station.pair, self.house.pair
            yield self.source.port, self.station.a
            yield self.station.b, self.sink.port

    class Station(ac.Component):
        pair = Pair()
        a, b = ac.FluidPort(), ac.FluidPort()

        def connections(self) -> Any:
            yield self.a, self.pair.supply
            yield self.b, self.pair.back

    assert ac.compile(Plant()).steady_state()["sink.T"][0] == pytest.approx(330.0)


def test_a_mixture_brings_its_fractions_to_the_ports() -> None:
    gas = ac.media.ideal_gas(["N2", "O2", "CO2"])

    class Feed(ac.Component):
        port = ac.FluidPort()
        X = ac.Parameter([0.7, 0.2, 0.1], shape=3)

        def equations(self) -> Any:
            yield self.port.m_flow == -0.1
            yield self.port.X.outflow == self.X
            yield self.port.h.outflow == self.medium.state(p=1e5, T=350.0, composition=self.X).h

    class Room(ac.Component):
        port = ac.FluidPort()
        X = ac.Variable(shape=3)

        def equations(self) -> Any:
            yield self.port.p == 1e5
            yield self.port.X.outflow == self.port.X.inflow
            yield self.port.h.outflow == self.port.h.inflow
            yield self.X == self.port.X.inflow

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.one, self.two, self.room = Feed(medium=gas), Feed(X=[0.1, 0.2, 0.7]), Room()

        def connections(self) -> Any:
            yield self.one.port, self.two.port, self.room.port

    np.testing.assert_allclose(ac.compile(Plant()).steady_state()["room.X"][0], [0.4, 0.2, 0.4], rtol=1e-12)


class Tank(ac.Component):
    """Written for any medium: with as many balances of substances as it has."""

    a, b = ac.FluidPort(), ac.FluidPort()
    M = ac.Variable(start=2.0, fixed=True, unit="kg")
    U = ac.Variable(start=4e5, fixed=True, unit="J", nominal=1e5)
    h = ac.Variable(unit="J/kg", start=2e5, nominal=1e5)
    M_X = ac.Fractions(unit="kg", start=1.0, fixed=True)

    def equations(self) -> Any:
        yield self.h == self.U / self.M
        yield self.a.p == 1e5 * self.M
        yield self.b.p == self.a.p
        yield ac.der(self.M) == self.a.m_flow + self.b.m_flow
        yield ac.der(self.U) == self.a.m_flow * self.a.h.actual + self.b.m_flow * self.b.h.actual
        for port in (self.a, self.b):
            yield port.h.outflow == self.h
            if self.medium.substances:
                yield port.X.outflow == self.M_X / self.M
        if self.medium.substances:
            yield ac.der(self.M_X) == self.a.m_flow * self.a.X.actual + self.b.m_flow * self.b.X.actual


class Feed(ac.Component):
    port = ac.FluidPort()
    X = ac.Parameter([0.25, 0.75], shape=2)

    def equations(self) -> Any:
        yield self.port.m_flow == -0.5
        yield self.port.h.outflow == 1e5
        if self.medium.substances:
            yield self.port.X.outflow == self.X


@pytest.mark.parametrize("medium", [ac.media.ideal_gas(["N2", "O2"]), ac.media.ideal_gas("N2")])
def test_a_component_has_an_unknown_for_each_substance_of_its_medium(medium: Any) -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.feed, self.tank = Feed(medium=medium), Tank()

        def connections(self) -> Any:
            yield self.feed.port, self.tank.a

    result = ac.compile(Plant()).simulate(until=4.0)
    assert result["tank.M"][-1] == pytest.approx(4.0) and result["tank.U"][-1] == pytest.approx(6e5)
    if medium.substances:
        np.testing.assert_allclose(result["tank.M_X"][-1], [1.5, 2.5])
    else:
        with pytest.raises(ac.ModelError, match="M_X"):
            result["tank.M_X"]


def test_fractions_of_a_pure_fluid_are_refused() -> None:
    class Wrong(ac.Component):
        port = ac.FluidPort()
        X = ac.Fractions()

        def equations(self) -> Any:
            yield self.port.p == 1e5
            yield self.X == 1.0

    with pytest.raises(ac.ModelError, match=r"`X` of Wrong is not there(.|\n)*if self.medium.substances"):
        ac.compile(Wrong(medium=OIL))


def test_parts_of_arrays_know_it_where_others_state_equations() -> None:
    class Battery(ac.Component):
        T_mean = ac.Variable(unit="K")

        def __init__(self) -> None:
            self.lines = ac.array(Line, 2, source=OIL)

        def equations(self) -> Any:
            medium = self.lines.sink.medium
            assert medium is self.lines[0].section.pipes.medium is self.lines[1].source.port.medium
            yield self.T_mean == medium.state(p=1e5, h=ac.mean(self.lines.sink.port.h.inflow)).T

    assert ac.compile(Battery()).steady_state()["T_mean"][0] == pytest.approx(300.0)


def test_a_replaced_part_keeps_the_medium_it_was_given() -> None:
    class Warm(Source):
        pass

    class Plant(Line):
        def __init__(self) -> None:
            super().__init__()
            self.source = ac.replaceable(Source(medium=OIL), choices=[Warm])

    assert ("Warm", 1) in kinds(Plant(source="Warm"))


# --- what is wrong --------------------------------------------------------------------------------------------------------------
def test_two_media_show_the_way_from_one_to_the_other() -> None:
    with pytest.raises(ac.ModelError) as error:
        ac.compile(Line(source=OIL, sink=WATER))
    text = str(error.value)
    assert "Two media are in one circuit: `source.medium` is oil, and `sink.medium` is water." in text
    steps = [line for line in text.splitlines() if "joined:" in line or "within:" in line]
    assert "within:    `source`, from `medium` to `port`" in steps[0]
    assert "joined:    `source.port` to `section.a`" in steps[1] and "test_circuits.py:" in steps[1]
    assert "joined:    `section.b` to `sink.port`" in steps[5] and len(steps) == 7
    assert "All elements of an array have one medium: make `pipes` an array for each." in text


def test_two_media_with_one_name_are_told_apart() -> None:
    with pytest.raises(ac.ModelError, match=r"is oil, and `sink.medium` is oil with other properties"):
        ac.compile(Line(source=OIL, sink=ac.media.ConstantMedium("oil", rho=851.0, cp=2000.0)))


def test_no_medium_shows_the_circuit() -> None:
    with pytest.raises(ac.ModelError) as error:
        ac.compile(Line())
    text = str(error.value)
    assert "No medium is said in the circuit of `section.a` and `sink.medium`." in text
    assert "joined:    `source.port` to `section.a`" in text.replace("`section.a` to `source.port`", "`source.port` to `section.a`")
    assert 'Say it once, in any of its components: `Pipe(medium="water")`.' in text


def test_all_circuits_are_told_at_once() -> None:
    class Two(ac.Component):
        def __init__(self) -> None:
            self.one, self.two = Line(), Line(source=OIL, sink=WATER)

    with pytest.raises(ac.ModelError, match="2 things are wrong"):
        ac.compile(Two())


def test_a_medium_of_no_port_is_refused() -> None:
    with pytest.raises(ac.ModelError, match=r"`section.medium` is said, but no port of Section belongs to it"):
        plant = Line(source=OIL)
        plant.section.medium = OIL
        ac.compile(plant)


def test_what_is_no_medium_is_refused() -> None:
    with pytest.raises(ac.ModelError, match=r"`Source.medium` is a medium or the name of a fluid, got 3"):
        Source(medium=3)
    with pytest.raises(ac.ModelError, match=r"CoolProp knows no fluid `watr`(.|\n)*`source.medium` of Source"):
        ac.compile(Line(source="watr"))


def test_it_is_not_known_before_the_circuit_is() -> None:
    class Early(Line):
        def __init__(self) -> None:
            super().__init__(source=OIL)
            self.sink.port.medium.state(p=1e5, T=300.0)

    with pytest.raises(ac.ModelError, match=r"is not known yet where `.state` is asked of it"):
        Early()


def test_a_gas_has_no_two_phases() -> None:
    class Boiler(ac.Component):
        port = ac.FluidPort()

        def equations(self) -> Any:
            yield self.port.p == self.medium.saturation(T=300.0).p
            yield self.port.h.outflow == 0

    with pytest.raises(ac.ModelError, match=r"N2 has no two phases(.|\n)*test_circuits.py"):
        ac.compile(Boiler(medium=ac.media.ideal_gas("N2")))
