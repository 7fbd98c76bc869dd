"""States end to end: plants that switch, with switching times in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Thermostat(ac.Component):
    T = ac.Input(unit="K")
    T_on, T_off = ac.Parameter(278.15, unit="K"), ac.Parameter(276.15, unit="K")
    cooling = ac.OutputStates("on", "off", initial="off")

    def transitions(self):
        yield self.cooling.off.to("on", when=self.T > self.T_on)
        yield self.cooling.on.to("off", when=self.T < self.T_off)


class Compressor(ac.Component):
    run = ac.InputStates(on="all", off="any")
    rate = ac.Output(unit="K/s")

    def equations(self):
        yield self.rate == ac.match(self.run, on=2e-3, off=0.0)


class Cabinet(ac.Component):
    """Warms at 1 mK/s, and is cooled by 2 mK/s while the compressor runs."""

    T = ac.Variable(start=277.15, fixed=True, unit="K")

    def __init__(self) -> None:
        self.thermostat, self.compressor = Thermostat(), Compressor()

    def equations(self):
        yield ac.der(self.T) == 1e-3 - self.compressor.rate
        yield self.thermostat.T == self.T

    def connections(self):
        yield self.thermostat.cooling, self.compressor.run


def test_a_thermostat_over_several_cycles() -> None:
    """Up by 1 K in 1000 s, then 2 K down and 2 K up in 2000 s each."""
    result = ac.compile(Cabinet()).simulate(until=12_000.0)
    expected = 1000.0 + 2000.0 * np.arange(6)
    assert result.event_times == pytest.approx(expected, rel=1e-8)
    intervals = result.states("thermostat.cooling")
    assert [i.state for i in intervals] == ["off", "on", "off", "on", "off", "on", "off"]
    assert intervals[1].cause is not None and "thermostat" in intervals[1].cause.component
    assert [i.state for i in result.states("compressor.run")] == [i.state for i in intervals]
    assert result.time_in("compressor.run") == pytest.approx({"on": 6000.0, "off": 6000.0}, rel=1e-7)


def test_a_run_starts_in_the_state_that_is_given() -> None:
    result = ac.compile(Cabinet()).simulate(until=1500.0, set={"thermostat.cooling": "on"})
    assert result.state_at("compressor.run", 0.0) == "on"  # before anything is computed, inputs follow their sources
    assert result.event_times == pytest.approx([1000.0], rel=1e-8)


def test_a_condition_that_holds_on_arrival_is_obeyed_at_once() -> None:
    cabinet = Cabinet()
    cabinet.T = ac.start(280.0)
    result = ac.compile(cabinet).simulate(until=100.0)
    assert result.state_at("thermostat.cooling", 1.0) == "on"
    assert result["T"][-1] == pytest.approx(279.9, abs=1e-6)


# --- WinDali 6.2 ----------------------------------------------------------------------------------------------------------
class Pump(ac.Component):
    """Two levels of capacity, and off; others see on and off."""

    level = ac.States("low", "high", "off", initial="off")
    running = ac.OutputStates(on=("low", "high"), off="off", of="level")

    def transitions(self):
        yield self.level.off.to("low", when=(ac.time >= 1.0) & (ac.time < 4.0))
        yield self.level.low.to("high", when=ac.time >= 2.0)
        yield ac.transition(self.level, ("low", "high"), "off", when=ac.time >= 4.0)


class Valve(ac.Component):
    state = ac.OutputStates("off", "on", initial="off")

    def transitions(self):
        yield self.state.off.to("on", when=(ac.time >= 1.5) & (ac.time < 3.0))
        yield self.state.on.to("off", when=ac.time >= 3.0)


class C1(ac.Component):
    flow = ac.InputStates(on="all", off="any")
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == ac.match(self.flow, on=1.0, off=0.0)


class Figure67(ac.Component):
    def __init__(self) -> None:
        self.pump, self.valve, self.c1 = Pump(), Valve(), C1()

    def connections(self):
        yield self.pump.running, self.c1.flow
        yield self.valve.state, self.c1.flow


def test_table_6_2() -> None:
    found = {(e["pump.running"], e["valve.state"], e["c1.flow"]) for e in ac.compile(Figure67()).system_states()}
    assert found == {("on", "on", "on"), ("on", "off", "off"), ("off", "on", "off"), ("off", "off", "off")}


def test_two_capacity_levels_and_off_are_on_and_off() -> None:
    model = ac.compile(Figure67())
    assert len(model.system_states()) == 6  # three local states times two
    result = model.simulate(until=5.0)
    assert [(i.state, i.start) for i in result.states("pump.level")] == [("off", 0.0), ("low", 1.0), ("high", 2.0), ("off", 4.0)]
    assert [(i.state, i.start) for i in result.states("pump.running")] == [("off", 0.0), ("on", 1.0), ("off", 4.0)]
    assert [(i.state, i.start) for i in result.states("c1.flow")] == [("off", 0.0), ("on", 1.5), ("off", 3.0)]
    assert result["c1.x"][-1] == pytest.approx(1.5)


class Evaporator(ac.Component):
    """Local states and input states: four combinations."""

    phase = ac.States("two_phase", "gas", initial="two_phase")
    compressor = ac.InputStates(on="all", off="any")
    h = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        slope = ac.match(
            self.phase, two_phase=ac.match(self.compressor, on=1.0, off=0.5), gas=ac.match(self.compressor, on=4.0, off=2.0)
        )
        yield ac.der(self.h) == slope

    def transitions(self):
        yield self.phase.two_phase.to("gas", when=self.h > 2.0)


def test_an_evaporator_is_in_four_states() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.valve, self.evaporator = Valve(), Evaporator()

        def connections(self):
            yield self.valve.state, self.evaporator.compressor

    model = ac.compile(Plant())
    assert len({(e["evaporator.phase"], e["evaporator.compressor"]) for e in model.system_states()}) == 4
    # 0.5 until 1.5 (0.75), 1.0 until h = 2 at 2.75, 4.0 until 3.0 (3.0), 2.0 until 4.0
    result = model.simulate(until=4.0, rtol=1e-9)
    assert result.event_times == pytest.approx([1.5, 2.75, 3.0], rel=1e-8)
    assert result["evaporator.h"][-1] == pytest.approx(5.0, rel=1e-8)


# --- transitions ----------------------------------------------------------------------------------------------------------
def test_transitions_after_some_time() -> None:
    class Defrost(ac.Component):
        mode = ac.States("cooling", "defrosting", "dripping", initial="cooling")
        drip = ac.Parameter(60.0, unit="s")

        def transitions(self):
            yield self.mode.cooling.to("defrosting", after=3600.0)
            yield self.mode.defrosting.to("dripping", after=1200.0)
            yield self.mode.dripping.to("cooling", after=self.drip)

    for start in (0.0, 5000.0):
        result = ac.compile(Defrost()).simulate(start=start, until=start + 10_000.0)
        starts = [i.start - start for i in result.states("mode")]
        assert starts == pytest.approx([0.0, 3600.0, 4800.0, 4860.0, 8460.0, 9660.0, 9720.0], abs=1e-9)


def test_a_condition_and_some_time() -> None:
    """A compressor that must stand still for a while before it may start again."""

    class Guarded(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)
        run = ac.States("on", "off", initial="off")

        def equations(self):
            yield ac.der(self.x) == ac.match(self.run, on=-1.0, off=1.0)

        def transitions(self):
            yield self.run.off.to("on", when=self.x > 0.0, after=2.0)
            yield self.run.on.to("off", when=self.x < 0.0)

    result = ac.compile(Guarded()).simulate(until=10.5)
    # 2 s off to x = 3, 3 s on to x = 0, 2 s off to x = 2, 2 s on
    assert result.event_times == pytest.approx([2.0, 5.0, 7.0, 9.0], abs=1e-6)


def test_actions_are_taken_with_a_transition() -> None:
    class Ball(ac.Component):
        h = ac.Variable(start=1.0, fixed=True, unit="m")
        v = ac.Variable(start=0.0, fixed=True, unit="m/s")
        mode = ac.States("flying", "resting", initial="flying")
        bounces = ac.Integer(start=0)

        def equations(self):
            yield ac.der(self.h) == ac.match(self.mode, flying=self.v, resting=0.0)
            yield ac.der(self.v) == ac.match(self.mode, flying=-9.81, resting=0.0)

        def transitions(self):
            yield self.mode.flying.to(
                "resting", when=self.h < 0.0, do=[ac.reinit(self.v, 0.0), ac.assign(self.bounces, ac.pre(self.bounces) + 1)]
            )

    result = ac.compile(Ball()).simulate(until=2.0)
    assert result.event_times == pytest.approx([np.sqrt(2 / 9.81)], rel=1e-6)
    assert result["v"][-1] == 0.0 and result["bounces"][-1] == 1.0


def test_the_first_of_two_transitions_is_taken_with_its_actions() -> None:
    class Fork(ac.Component):
        way = ac.States("start", "left", "right", initial="start")
        taken = ac.Integer(start=0)

        def transitions(self):
            yield self.way.start.to("left", when=ac.time >= 1.0, do=ac.assign(self.taken, 1))
            yield self.way.start.to("right", when=ac.time >= 1.0, do=ac.assign(self.taken, 2))

    result = ac.compile(Fork()).simulate(until=2.0)
    assert result.state_at("way", 1.5) == "left" and result["taken"][-1] == 1.0


def test_several_transitions_at_one_instant_follow_each_other() -> None:
    class Chain(ac.Component):
        step = ac.States("a", "b", "c", "d", initial="a")

        def transitions(self):
            yield self.step.a.to("b", when=ac.time >= 1.0)
            yield self.step.b.to("c", when=ac.time >= 1.0)
            yield self.step.c.to("d", when=ac.time >= 3.0)

    result = ac.compile(Chain()).simulate(until=4.0)
    assert [i.state for i in result.states("step") if i.duration > 0] == ["a", "c", "d"]
    assert result.event_times == pytest.approx([1.0, 3.0])


def test_transitions_that_lead_in_a_circle_are_told() -> None:
    class Circle(ac.Component):
        step = ac.States("a", "b", initial="a")

        def transitions(self):
            yield self.step.a.to("b", when=ac.time >= 1.0)
            yield self.step.b.to("a", when=ac.time >= 1.0)

    result = ac.compile(Circle()).simulate(until=2.0)
    assert result.outcome.name == "EVENT_CYCLES"
    assert "step" in str(result.diagnostics[0])


def test_values_before_and_edges_of_states() -> None:
    class Counter(ac.Component):
        on = ac.States("yes", "no", initial="no")
        starts = ac.Integer(start=0)

        def transitions(self):
            yield self.on.no.to("yes", after=1.0)
            yield self.on.yes.to("no", after=1.0)

        def events(self):
            yield ac.when(self.on.yes & ~ac.pre(self.on.yes), ac.assign(self.starts, ac.pre(self.starts) + 1))

    assert ac.compile(Counter()).simulate(until=10.5)["starts"][-1] == 5.0


def test_arrays_of_state_variables() -> None:
    class Stages(ac.Component):
        stage = ac.States("on", "off", initial="off", shape=3)
        lamp = ac.Boolean(start=False)
        delay = ac.Parameter([1.0, 2.0, 3.0], shape=3, unit="s")

        def transitions(self):
            yield self.stage[:2].off.to("on", after=self.delay[:2])
            yield self.stage[2].off.to("on", when=self.stage[0].on & self.stage[1].on, after=self.delay[2])

        def events(self):
            yield self.lamp == self.stage[2].on

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.banks = ac.array(Stages, 2, delay=np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 1.0]]))

    result = ac.compile(Plant()).simulate(until=10.0)
    starts = [[result.states(f"banks[{k}].stage[{j}]")[1].start for j in range(3)] for k in range(2)]
    assert starts == [[1.0, 2.0, 3.0], [4.0, 5.0, 5.0]]
    assert [result.states(f"banks[{k}].lamp")[1].start for k in range(2)] == [3.0, 5.0]


# --- guesses --------------------------------------------------------------------------------------------------------------
def test_a_guess_decides_which_solution_a_new_state_begins_with() -> None:
    class Cubic(ac.Component):
        """x^3 = x has three solutions."""

        x = ac.Variable(start=0.1)
        z = ac.Variable(start=0.0, fixed=True)
        guess = ac.Parameter(2.0)
        mode = ac.States("low", "high", initial="low")

        def equations(self):
            yield ac.der(self.z) == 1.0
            yield ac.match(self.mode, low=self.x, high=self.x**3 - self.x) == 0.0

        def transitions(self):
            yield self.mode.low.to("high", when=self.z > 1.0)

        def on_state_change(self):
            yield self.x, self.mode.high, self.guess

    model = ac.compile(Cubic())
    for guess, found in ((2.0, 1.0), (-2.0, -1.0), (0.01, 0.0)):
        result = model.simulate(until=2.0, set={"guess": guess})
        assert result["x"][-1] == pytest.approx(found, abs=1e-6)


# --- many -----------------------------------------------------------------------------------------------------------------
class Heater(ac.Component):
    run = ac.InputStates(on="all", off="any")
    rate = ac.Output()

    def equations(self):
        yield self.rate == ac.match(self.run, on=1.0, off=-1.0)


class RoomThermostat(ac.Component):
    T = ac.Input()
    heat = ac.OutputStates("off", "on", initial="on")

    def transitions(self):
        yield self.heat.on.to("off", when=self.T > 1.0)
        yield self.heat.off.to("on", when=self.T < -1.0)


class Central(ac.Component):
    enable = ac.OutputStates("on", "off", initial="on")
    until = ac.Parameter(1e9, unit="s")

    def transitions(self):
        yield self.enable.on.to("off", when=ac.time >= self.until)


class House(ac.Component):
    def __init__(self, n: int) -> None:
        self.T = ac.Variable(shape=n, start=np.linspace(-0.9, 0.9, n), fixed=True)
        self.thermostat, self.heater, self.central = ac.array(RoomThermostat, n), ac.array(Heater, n), Central()

    def equations(self):
        yield ac.der(self.T) == self.heater.rate
        yield self.thermostat.T == self.T

    def connections(self):
        yield self.thermostat.heat, self.heater.run
        yield self.central.enable, self.heater.run


@pytest.mark.parametrize("n", [3, 1000])
def test_rooms_with_thermostats_and_a_central_switch(n: int) -> None:
    """Each room goes up and down between -1 and 1 with slope 1, until the central switch stops all heaters at 2.5 s."""
    model = ac.compile(House(n))
    result = model.simulate(until=4.0, set={"central.until": 2.5}, points=11)
    start = np.linspace(-0.9, 0.9, n)
    first = 1.0 - start  # down from here; up again 2 s later
    up_again = np.where(first + 2.0 < 2.5, 2.5 - (first + 2.0), 0.0)
    expected = np.where(first + 2.0 < 2.5, -1.0 + up_again - 1.5, 1.0 - (4.0 - first))
    assert result["T"][-1] == pytest.approx(expected, abs=1e-6)
    assert result.time_in("heater[0].run")["on"] == pytest.approx(1.9, rel=1e-6)
    assert (result["heater.run"][-1] == 1.0).all()


def test_states_of_rooms_deep_in_a_hierarchy() -> None:
    class Flat(ac.Component):
        run = ac.InputStates(on="all", off="any")

        def __init__(self) -> None:
            self.rooms = ac.array(Heater, 2)

        def connections(self):
            yield self.run, self.rooms.run

    class Block(ac.Component):
        total = ac.Variable(start=0.0, fixed=True)

        def __init__(self) -> None:
            self.flats, self.central = ac.array(Flat, 3), Central(until=1.0)

        def equations(self):
            yield ac.der(self.total) == ac.sum(ac.where(self.flats.rooms.run.on, 1.0, 0.0))

        def connections(self):
            yield self.central.enable, self.flats.run

    result = ac.compile(Block()).simulate(until=2.0)
    assert result["total"][-1] == pytest.approx(6.0, rel=1e-8)
    assert [i.state for i in result.states("flats[2].rooms[1].run")] == ["on", "off"]


class Rivals(ac.Component):
    """Of two ways out of the first state, both at once, the one that is stated first is taken."""

    y, wait = ac.Variable(start=0.0, fixed=True), ac.Parameter(0.0, unit="s")
    s = ac.States("a", "b", initial="a")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.y) == 0.0

    def transitions(self) -> Iterator[Any]:
        yield self.s.a.to("b", after=self.wait, do=[ac.reinit(self.y, 1.0)])
        yield self.s.a.to("b", when=self.y < 5.0, do=[ac.reinit(self.y, 2.0)])


@pytest.mark.parametrize(("wait", "y"), [(0.0, 1.0), (-1.0, 1.0), (0.5, 2.0)])
@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_what_waits_for_nothing_has_its_turn_at_the_start(wait: float, y: float, solver: str) -> None:
    result = ac.compile(Rivals()).simulate(until=1.0, set={"wait": wait}, solver=solver)
    assert result["y"][-1] == y and [i.state for i in result.states("s")] == ["b"]
