from itertools import product

import pytest

from acausal.structure.resolution import RULES, ambiguous, resolve

PUMP_AND_VALVE = [("on", "on"), ("on", "off"), ("off", "on"), ("off", "off")]  # system states 1 to 4 of tables 6.1 and 6.2


def counted(sources):
    return {state: sources.count(state) for state in sources}


def by_definition(rules, sources):
    """WinDali 6.2 read aloud: ask every input state whether it is set, given the state of each source."""
    is_set = {
        state: (rule == "all" and all(s == state for s in sources)) or (rule == "any" and any(s == state for s in sources))
        for state, rule in rules.items()
    }
    if not any(is_set.values()):
        is_set = {state: rule == "otherwise" for state, rule in rules.items()}
    chosen = [state for state in rules if is_set[state]]
    return chosen[0] if len(chosen) == 1 else None


@pytest.mark.parametrize("rule", ["all", "any"])
def test_table_6_1_states_2_and_3_are_indefinite(rule):
    rules = {"on": rule, "off": rule}
    assert [resolve(rules, counted(sources), 2) for sources in PUMP_AND_VALVE] == ["on", None, None, "off"]
    assert ambiguous(rules, 2) == [frozenset({"on", "off"})]


def test_table_6_2_on_needs_all_and_off_any():
    rules = {"on": "all", "off": "any"}
    assert [resolve(rules, counted(sources), 2) for sources in PUMP_AND_VALVE] == ["on", "off", "off", "off"]
    assert ambiguous(rules, 2) == []


def test_otherwise_takes_what_is_left():
    rules = {"high": "all", "off": "all", "mixed": "otherwise"}
    states = ("low", "high", "off")
    assert ambiguous(rules, 3, states) == []
    assert resolve(rules, {"high": 3}, 3) == "high"
    assert resolve(rules, {"high": 2, "off": 1}, 3) == "mixed"
    assert resolve(rules, {"low": 3}, 3) == "mixed"


def test_a_state_nobody_listens_to_is_indefinite():
    assert ambiguous({"on": "any"}, 2, ("on", "off")) == [frozenset({"off"})]


def test_two_that_are_otherwise_are_as_bad_as_none():
    rules = {"a": "any", "b": "otherwise", "c": "otherwise"}
    assert resolve(rules, {"b": 1}, 1) is None
    assert ambiguous(rules, 1) == [frozenset({"b"}), frozenset({"c"})]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_one_source_always_decides_between_all_and_any(count):
    for choice in product(("all", "any"), repeat=count):
        rules = dict(zip("wxyz", choice, strict=False))
        assert ambiguous(rules, 1) == []
        assert [resolve(rules, {state: 1}, 1) for state in rules] == list(rules)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("sources", [1, 2, 3])
def test_every_combination_against_the_definition(count, sources):
    names = "wxyz"[:count]
    for choice in product(RULES, repeat=count):
        rules = dict(zip(names, choice, strict=True))
        undecided = set()
        for combination in product((*names, "foreign"), repeat=sources):
            expected = by_definition(rules, combination)
            assert resolve(rules, counted(combination), sources) == expected
            if expected is None:
                undecided.add(frozenset(combination))
        found = ambiguous(rules, sources, (*names, "foreign"))
        assert set(found) == undecided and len(found) == len(undecided)
        assert set(ambiguous(rules, sources)) == {s for s in undecided if "foreign" not in s}
        assert [len(s) for s in found] == sorted(len(s) for s in found)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="the rule of input state 'on' is 'some'; it is one of all, any, otherwise"):
        ambiguous({"on": "some"}, 2)
    with pytest.raises(ValueError, match="without a source"):
        ambiguous({"on": "all"}, 0)
    with pytest.raises(ValueError, match="2 sources cannot be in the states"):
        resolve({"on": "all"}, {"on": 3}, 2)
