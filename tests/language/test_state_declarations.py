"""Declarations of states, what a component gives for them, and transitions as data."""

from __future__ import annotations

import pytest

import acausal as ac
from acausal.errors import ModelError, ShapeError, UsageError
from acausal.language.expression import Expression, Operation, Reference
from acausal.language.states import State, StateView, Transition


class Pump(ac.Component):
    level = ac.States("low", "high", "off", initial="off")
    running = ac.OutputStates(on=("low", "high"), off="off", of="level")
    enable = ac.InputStates(on="all", off="any")


class Machine(ac.Component):
    def __init__(self) -> None:
        self.pump = Pump()
        self.pumps = ac.array(Pump, 5)
        self.mode = ac.States("a", "b", initial="b")


def test_a_state_is_the_number_of_its_name() -> None:
    declaration = Pump.level
    assert (declaration.role, declaration.type, declaration.states, declaration.value) == (
        "discrete",
        "states",
        ("low", "high", "off"),
        2,
    )


def test_rules_and_groups() -> None:
    assert Pump.enable.rules == {"on": "all", "off": "any"}
    assert Pump.running.states == ("on", "off")
    assert Pump.running.groups == {"on": ("low", "high"), "off": ("off",)}
    assert ac.InputStates("on", "off").rules == {"on": "all", "off": "all"}


def test_a_component_gives_conditions() -> None:
    pump = Pump()
    assert isinstance(pump.level, StateView)
    low = pump.level.low
    assert isinstance(low, State) and isinstance(low, Expression) and str(low) == "level.low"
    assert low is pump.level["low"] is pump.level.is_("low")  # interned, as every expression
    assert isinstance(low & pump.level.high, Operation)
    assert str(~low) == "~level.low"


def test_a_condition_keeps_its_words_when_it_is_rebuilt() -> None:
    pump = Pump()
    assert str(ac.pre(pump.level.low)) == "pre(level.low)"
    assert str(ac.where(pump.enable.on, 1.0, 2.0)) == "where(enable.on, 1, 2)"


def test_elements_and_slices_of_arrays() -> None:
    machine = Machine()
    assert machine.pumps.level.low.shape == (5,)
    assert machine.pumps[1:3].level.low.shape == (2,)
    assert machine.pumps[3].level.low.shape == ()
    assert machine.pumps.level[3].low is machine.pumps[3].level.low
    assert machine.pumps.level.low[3] is machine.pumps[3].level.low
    assert [str(v) for v in machine.pumps[:2].level] == ["pumps.level", "pumps.level"]
    assert len(machine.pumps.level) == 5


def test_states_declared_in_init() -> None:
    assert isinstance(Machine().mode, StateView)
    assert str(Machine().pump.level.off) == "level.off"


def test_arrays_of_states() -> None:
    class Bank(ac.Component):
        stage = ac.States("on", "off", initial=["on", "off", "off"], shape=3)

    assert Bank.stage.value.tolist() == [0, 1, 1]
    assert Bank().stage.on.shape == (3,)


def test_a_misspelt_state_offers_near_matches() -> None:
    with pytest.raises(AttributeError) as error:
        Pump().level.hihg  # noqa: B018
    assert "`level` has no state `hihg`. Did you mean `high`?" in str(error.value)
    assert "Its states are: low, high, off." in str(error.value)
    assert not hasattr(Pump().level, "hihg")


def test_a_misspelt_initial_state() -> None:
    with pytest.raises(UsageError, match=r"no state `onn`. Did you mean `on`") as error:
        ac.States("on", "off", initial="onn")
    assert "test_state_declarations.py" in str(error.value)


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: ac.States("on", "on", initial="on"), "named twice"),
        (lambda: ac.States(initial="on"), "needs the names"),
        (lambda: ac.States("on", 3, initial="on"), "got 3"),
        (lambda: ac.States("otherwise", "on", initial="on"), "got 'otherwise'"),
        (lambda: ac.InputStates("on", off="any"), "not both"),
        (lambda: ac.InputStates(on="every", off="any"), "'all', 'any', 'otherwise'; got 'every'"),
        (lambda: ac.OutputStates(on=("low", "high"), off="off"), "is one of 'all', 'any', 'otherwise'"),
        (lambda: ac.OutputStates("on", "off", of="level"), "say which belong to each"),
    ],
)
def test_declarations_that_mean_nothing(declare: object, message: str) -> None:
    with pytest.raises(UsageError) as error:
        declare()  # type: ignore[operator]
    assert message in str(error.value)
    assert "test_state_declarations.py" in str(error.value)


def test_a_state_variable_is_not_equated() -> None:
    with pytest.raises(UsageError, match=r"self\.level\.low"):
        Pump().level == "low"  # noqa: B015


# --- transitions ----------------------------------------------------------------------------------------------------------
def test_transitions_are_data() -> None:
    pump = Pump()
    one = pump.level.off.to("low", when=ac.time > 3.0)
    assert isinstance(one, Transition)
    assert (one.sources, one.target, one.after) == ((2,), 0, None)
    assert isinstance(one.variable, Reference) and one.location.source.startswith("one = pump.level.off.to")
    many = ac.transition(pump.level, ("low", "high"), "off", after=10.0, do=ac.terminate("enough"))
    assert many.sources == (0, 1) and len(many.do) == 1


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (lambda p: p.level.off.to("hihg", when=ac.time > 1), "Did you mean `high`?"),
        (lambda p: p.level.off.to("low"), "does not say when"),
        (lambda p: p.level.off.to("low", when=ac.time == 1), "it is not a condition"),
        (lambda p: p.level.off.to("low", when=True, do=[3]), "`do` of a transition takes actions, got 3"),
        (lambda p: ac.transition(p, "off", "low", when=True), "takes a state variable"),
        (lambda p: ac.transition(p.level, ("off", "medium"), "low", when=True), "no state `medium`"),
    ],
)
def test_transitions_that_mean_nothing(state: object, message: str) -> None:
    with pytest.raises(ModelError) as error:
        state(Pump())  # type: ignore[operator]
    assert message in str(error.value)


def test_a_transition_of_one_element_cannot_depend_on_many() -> None:
    machine = Machine()
    with pytest.raises(ShapeError, match="One condition for all"):
        machine.pumps[0].level.off.to("low", when=machine.pumps.enable.on)


# --- match ----------------------------------------------------------------------------------------------------------------
def test_match_is_a_choice() -> None:
    pump = Pump()
    assert str(ac.match(pump.level, low=1.0, high=2.0, off=0.0)) == "where(level.low, 1, where(level.high, 2, 0))"
    assert str(ac.match(pump.level, off=0.0, otherwise=2.0)) == "where(level.off, 0, 2)"
    assert str(ac.match(pump.enable, {"on": 1.0, "off": 0.0})) == "where(enable.on, 1, 0)"


@pytest.mark.parametrize(
    ("choose", "message"),
    [
        (lambda p: ac.match(p.level, low=1.0, high=2.0), "says nothing about `off`"),
        (lambda p: ac.match(p.level, low=1.0, hihg=2.0, otherwise=0.0), "no state `hihg`. Did you mean `high`?"),
        (lambda p: ac.match(p.level.low, on=1.0), "takes a state variable"),
    ],
)
def test_matches_that_mean_nothing(choose: object, message: str) -> None:
    with pytest.raises(ModelError) as error:
        choose(Pump())  # type: ignore[operator]
    assert message in str(error.value)


def test_assign_takes_a_state_by_name() -> None:
    assert str(ac.assign(Pump().level, "high").value) == "1"
