"""Transitions as rules, nets of connected states, and what is refused at translation."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError
from acausal.families.nets import combination
from acausal.structure.resolution import resolve


class Switch(ac.Component):
    state = ac.OutputStates("on", "off", initial="off")
    at = ac.Parameter(1.0, unit="s")

    def transitions(self):
        yield self.state.off.to("on", when=ac.time >= self.at)


class Reversed(ac.Component):
    """The same names in another order."""

    state = ac.OutputStates("off", "on", initial="off")

    def transitions(self):
        yield self.state.off.to("on", when=ac.time >= 2.0)


class Consumer(ac.Component):
    run = ac.InputStates(on="all", off="any")


def test_combinations_that_can_occur() -> None:
    on_off, only = ("on", "off"), ("defrost", "off")
    assert combination(frozenset(["on", "off"]), [on_off, on_off]) == ["on", "off"]
    assert combination(frozenset(["on", "off"]), [on_off, only]) == ["on", "off"]
    assert combination(frozenset(["defrost"]), [on_off, only]) is None
    assert combination(frozenset(["on", "off", "defrost"]), [on_off, only]) is None


@pytest.mark.parametrize("rules", [{"on": "all", "off": "any"}, {"on": "any", "off": "all"}, {"on": "all", "off": "otherwise"}])
def test_nets_agree_with_the_definition(rules: dict[str, str]) -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.a, self.b, self.c = Switch(), Reversed(), Switch()
            self.load = type("Load", (ac.Component,), {"run": ac.InputStates(**rules)})()

        def connections(self):
            yield self.a.state, self.load.run
            yield self.b.state, self.load.run, self.c.state

    found = ac.compile(Plant()).system_states()
    assert len(found) == 8
    for entry in found:
        states = [entry[f"{name}.state"] for name in "abc"]
        assert entry["load.run"] == resolve(rules, {s: states.count(s) for s in ("on", "off")}, 3)


def test_arrays_connect_element_by_element_and_broadcast() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.switch = ac.array(Switch, 4, at=np.arange(4.0))
            self.enable = Reversed()
            self.load = ac.array(Consumer, 4)

        def connections(self):
            yield self.switch[::-1].state, self.load.run
            yield self.enable.state, self.load.run

    for entry in ac.compile(Plant()).system_states():
        for k in range(4):
            both = {entry["enable.state"], entry[f"switch[{3 - k}].state"]}
            assert entry[f"load[{k}].run"] == ("on" if both == {"on"} else "off")


def test_inputs_that_are_connected_take_the_same() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.a, self.b, self.first, self.second = Switch(), Switch(), Consumer(), Consumer()

        def connections(self):
            yield self.first.run, self.second.run
            yield self.a.state, self.first.run
            yield self.b.state, self.second.run

    for entry in ac.compile(Plant()).system_states():
        both = "on" if entry["a.state"] == entry["b.state"] == "on" else "off"
        assert entry["first.run"] == entry["second.run"] == both


def test_a_net_reaches_through_composites() -> None:
    class Unit(ac.Component):
        run = ac.InputStates(on="all", off="any")
        running = ac.OutputStates("on", "off")

        def __init__(self) -> None:
            self.inner, self.own = Consumer(), Reversed()

        def connections(self):
            yield self.run, self.inner.run
            yield self.own.state, self.running

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.switch, self.unit, self.light = Switch(), Unit(), Consumer()

        def connections(self):
            yield self.switch.state, self.unit.run
            yield self.unit.running, self.light.run

    for entry in ac.compile(Plant()).system_states():
        assert entry["unit.run"] == entry["unit.inner.run"] == entry["switch.state"]
        assert entry["light.run"] == entry["unit.running"] == entry["unit.own.state"]


def test_an_output_with_rules_is_resolved_inside_and_a_source_outside() -> None:
    class Rack(ac.Component):
        running = ac.OutputStates(on="any", off="all")

        def __init__(self) -> None:
            self.compressors = ac.array(Switch, 2)

        def connections(self):
            yield self.compressors.state, self.running

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.racks = ac.array(Rack, 2)
            self.fan = Consumer()

        def connections(self):
            yield self.racks.running, self.fan.run

    for entry in ac.compile(Plant()).system_states():
        running = []
        for k in range(2):
            states = [entry[f"racks[{k}].compressors[{j}].state"] for j in range(2)]
            running.append("on" if "on" in states else "off")
            assert entry[f"racks[{k}].running"] == running[-1]
        assert entry["fan.run"] == ("on" if running == ["on", "on"] else "off")


def test_sources_with_different_states() -> None:
    class Defroster(ac.Component):
        state = ac.OutputStates("defrost", "off", initial="off")

        def transitions(self):
            yield self.state.off.to("defrost", when=ac.time > 1.0)

    class Evaporator(ac.Component):
        mode = ac.InputStates(defrost="any", on="otherwise", off="all")

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.switch, self.defroster, self.evaporator = Switch(), Defroster(), Evaporator()

        def connections(self):
            yield self.switch.state, self.evaporator.mode, self.defroster.state

    found = {(e["switch.state"], e["defroster.state"]): e["evaporator.mode"] for e in ac.compile(Plant()).system_states()}
    assert found == {("on", "off"): "on", ("off", "off"): "off", ("on", "defrost"): "defrost", ("off", "defrost"): "defrost"}


def test_a_default_is_for_what_is_not_connected_and_can_be_given() -> None:
    class Plant(ac.Component):
        run = ac.InputStates(on="all", off="any", default="off")

        def __init__(self) -> None:
            self.unit = Consumer()

        def connections(self):
            yield self.run, self.unit.run

    model = ac.compile(Plant())
    assert model.get("unit.run") == "off"
    assert model.set({"run": "on"}).get("unit.run") == "on"
    with pytest.raises(ModelError, match="cannot be set"):
        model.set({"unit.run": "off"})


def test_states_without_transitions_stay_and_can_be_given() -> None:
    class Plant(ac.Component):
        season = ac.OutputStates("summer", "winter", initial="winter")

        def __init__(self) -> None:
            self.unit = type("Unit", (ac.Component,), {"season": ac.InputStates("winter", "summer")})()

        def connections(self):
            yield self.season, self.unit.season

    model = ac.compile(Plant())
    assert model.states() == {"season": ("summer", "winter"), "unit.season": ("winter", "summer")}
    assert model.get("unit.season") == "winter"
    assert model.set({"season": "summer"}).get("unit.season") == "summer"
    assert model.system_states() == [{"season": "summer", "unit.season": "summer"}]


def test_ten_thousand_nets_are_a_few_arrays() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.switch, self.load = ac.array(Switch, 10_000), ac.array(Consumer, 10_000)

        def connections(self):
            yield self.switch.state, self.load[::-1].run

    model = ac.compile(Plant())
    (level,) = model.system.states.levels
    assert level.nets == len(level.source) == len(level.follower) == 10_000
    known = model.problem.known.copy()
    known[np.sort(level.source)] = np.arange(10_000) % 2
    model.system.states.follow(known)
    assert (known[np.sort(level.follower)] == np.arange(10_000)[::-1] % 2).all()


def test_too_many_system_states_are_refused() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.switch = ac.array(Switch, 100)

    with pytest.raises(ModelError, match=r"about 10\^30 system states \(100 state variables\)"):
        ac.compile(Plant()).system_states()


# --- modifications --------------------------------------------------------------------------------------------------------
def test_initial_states_of_instances() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.a, self.b, self.c = Switch(state=ac.start("on")), Switch(state="on"), Switch()
            self.many = ac.array(Switch, 3, state=ac.start(["on", "off", "on"]))
            self.others = ac.array(Switch, 3)
            self.others[1].state = ac.start("on")

    model = ac.compile(Plant())
    assert [model.get(f"{n}.state") for n in "abc"] == ["on", "on", "off"]
    assert model.get("many.state").tolist() == ["on", "off", "on"]
    assert model.get("others.state").tolist() == ["off", "on", "off"]
    model.set({"many[1].state": "on", "others.state": ["on", "on", "off"]})
    assert model.get("many.state").tolist() == ["on", "on", "on"]
    assert model.get("others.state").tolist() == ["on", "on", "off"]


def test_a_misspelt_state_of_an_instance() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.a = Switch(state=ac.start("onn"))

    with pytest.raises(ModelError) as error:
        ac.compile(Plant())
    assert "`a.state` cannot be 'onn'" in str(error.value) and "Did you mean `on`?" in str(error.value)
    with pytest.raises(ModelError, match=r"`state` cannot be 'onn'.*Did you mean `on`"):
        ac.compile(Switch()).set({"state": "onn"})


# --- what is refused ------------------------------------------------------------------------------------------------------
def complaint(component: ac.Component) -> str:
    with pytest.raises(ModelError) as error:
        ac.compile(component)
    return str(error.value)


def test_transitions_from_states_of_others_are_all_refused_at_once() -> None:
    class Wrong(ac.Component):
        run = ac.InputStates(on="all", off="any", default="off")
        level = ac.States("low", "off", initial="off")
        running = ac.OutputStates(on="low", off="off", of="level")
        unset = ac.OutputStates("on", "off")

        def __init__(self) -> None:
            self.switch = Switch()

        def transitions(self):
            yield self.run.off.to("on", when=ac.time > 1.0)
            yield self.switch.state.off.to("on", when=ac.time > 1.0)
            yield self.running.off.to("on", when=ac.time > 1.0)
            yield self.level.off.to("off", when=ac.time > 1.0)
            yield self.unset.off.to("on", when=ac.time > 1.0)

    text = complaint(Wrong())
    assert text.startswith("5 things are wrong:")
    assert "Wrong has a transition of `run` from `off` to `on`, but `run` are input states: others set them." in text
    assert "`state` belongs to `switch` (Switch), which alone can change it." in text
    assert "connect an `ac.OutputStates` of Wrong to an `ac.InputStates` of Switch" in text
    assert "`running` is combined from `level`." in text and "State the transition for `level`." in text
    assert "that leads nowhere" in text
    assert "`unset` does not say in which state it starts." in text
    assert 'self.run.off.to("on", when=ac.time > 1.0)' in text and "test_nets.py:" in text


def test_an_input_state_with_nothing_connected() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.rooms = ac.array(Consumer, 3)

    text = complaint(Plant())
    assert "Nothing that has states of its own is connected to the input states `rooms[0].run` (and 2 more)." in text
    assert 'run = ac.InputStates(on="all", off="any")' in text and "test_nets.py:" in text
    assert 'default="off"' in text


def test_connected_states_that_differ() -> None:
    class Valve(ac.Component):
        state = ac.OutputStates("open", "closed", initial="open")

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.valve, self.load = Valve(), Consumer()

        def connections(self):
            yield self.valve.state, self.load.run

    text = complaint(Plant())
    assert "`valve.state` and `load.run` are connected, but their states differ." in text
    assert "valve.state: open, closed" in text and "load.run: on, off" in text
    assert "valve.state, load.run" in text and "component: Plant" in text and "test_nets.py:" in text


def test_an_input_state_that_nobody_sets() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.switch = Switch()
            self.load = type("Load", (ac.Component,), {"run": ac.InputStates(on="all", off="any", idle="any")})()

        def connections(self):
            yield self.switch.state, self.load.run

    assert "never set: idle" in complaint(Plant())


@pytest.mark.parametrize(("on", "off", "met"), [("any", "any", "on and off at once"), ("all", "all", "none of its states")])
def test_and_or_left_ambiguous(on: str, off: str, met: str) -> None:
    """WinDali table 6.1: pump and valve differ, and C1 does not know."""

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.pump, self.valve = Switch(), Switch()
            self.C1 = type("C1", (ac.Component,), {"flow": ac.InputStates(on=on, off=off)})()

        def connections(self):
            yield self.pump.state, self.C1.flow
            yield self.valve.state, self.C1.flow

    text = complaint(Plant())
    assert f"It is open which state `C1.flow` is in when its sources differ: pump.state on, valve.state off sets {met}." in text
    assert f'C1.flow: on="{on}", off="{off}"' in text
    assert 'ac.InputStates(on="all", off="any")' in text


def test_an_output_handed_on_from_two_sources_needs_rules() -> None:
    class Rack(ac.Component):
        running = ac.OutputStates("on", "off")

        def __init__(self) -> None:
            self.a, self.b = Switch(), Switch()

        def connections(self):
            yield self.a.state, self.running
            yield self.b.state, self.running

    assert "It is open which state `running` is in" in complaint(Rack())


def test_outputs_alone_are_not_connected() -> None:
    class Plant(ac.Component):
        def __init__(self) -> None:
            self.a, self.b = Switch(), Switch()

        def connections(self):
            yield self.a.state, self.b.state

    assert "A connection of Plant joins output states only" in complaint(Plant())


def test_an_output_that_nothing_determines() -> None:
    class Plain(ac.Component):
        running = ac.OutputStates("on", "off")

    text = complaint(Plain())
    assert "Nothing says what the output states `running` are" in text and 'initial="on"' in text


def test_a_state_with_a_port() -> None:
    class Pin(ac.Connector):
        v = ac.Potential(unit="V")
        i = ac.Flow(unit="A")

    class Plant(ac.Component):
        p = Pin()

        def __init__(self) -> None:
            self.switch = Switch()

        def connections(self):
            yield self.switch.state, self.p

    text = complaint(Plant())
    assert "joins the states `switch.state` (on, off) with the Pin `p`" in text and "States are connected with states" in text


def test_local_states_cannot_be_connected() -> None:
    class Pump(ac.Component):
        level = ac.States("on", "off", initial="off")

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.pump, self.load = Pump(), Consumer()

        def connections(self):
            yield self.pump.level, self.load.run

    text = complaint(Plant())
    assert "`pump.level` has local states, which others cannot see" in text and '`ac.OutputStates(…, of="level")`' in text


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"on": "low", "off": "off"}, "leaves open what it is while `level` is high"),
        ({"on": ("low", "high"), "off": ("off", "low")}, "has `low` of `level` in two states"),
        ({"on": ("low", "hihg"), "off": "off"}, "Did you mean `high`?"),
    ],
)
def test_local_states_are_each_in_one_combined_state(groups: dict[str, object], message: str) -> None:
    body = {
        "level": ac.States("low", "high", "off", initial="off"),
        "running": ac.OutputStates(**groups, of="level"),
    }
    assert message in complaint(type("Pump", (ac.Component,), body)())


def test_a_combined_state_names_a_local_one() -> None:
    body = {"level": ac.States("low", "off", initial="off"), "running": ac.OutputStates(on="low", off="off", of="levle")}
    assert "combines `levle`, which is not a state variable of that class. Did you mean `level`?" in complaint(
        type("Pump", (ac.Component,), body)()
    )


def test_input_states_are_not_assigned() -> None:
    class Wrong(ac.Component):
        run = ac.InputStates(on="all", off="any", default="off")

        def events(self):
            yield ac.when(ac.time > 1.0, ac.assign(self.run, "on"))

    assert "Wrong assigns `run`, which follows other states." in complaint(Wrong())


def test_what_is_yielded_in_the_wrong_place() -> None:
    class Wrong(ac.Component):
        def transitions(self):
            yield ac.when(ac.time > 1.0, ac.terminate("now"))

    assert "where a transition was expected" in complaint(Wrong())

    class Guess(ac.Component):
        x = ac.Variable()

        def equations(self):
            yield self.x == 1.0

        def on_state_change(self):
            yield self.x, 1.0

    assert "yields a variable, a state and a number" in complaint(Guess())
