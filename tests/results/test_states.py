from __future__ import annotations

import numpy as np
import pytest

from acausal.errors import NameNotFound, UsageError
from acausal.results.events import Cause

from .switching import HIGH, LOW, OFF, cause_in, house, switching


@pytest.fixture(scope="module")
def run():
    return house()


def spans(intervals):
    return [(one.state, one.start, one.end) for one in intervals]


def test_how_long_which_state_lasted_and_what_began_it(run):
    found = run.states("rooms[0].thermostat.cooling")
    assert spans(found) == [("off", 0.0, 12.0), ("low", 12.0, 60.0), ("high", 60.0, 80.0), ("off", 80.0, 100.0)]
    assert [one.cause for one in found] == [None, cause_in(0), cause_in(0), cause_in(1)]
    assert found[1].duration == 48.0
    assert str(found[1]) == "low for 48 s, from 12 s to 60 s, because rooms[0].thermostat: T > 285 (house.py:31)"


def test_booleans_integers_aliases_and_conditions(run):
    assert spans(run.states("rooms[1].thermostat.alarm")) == [("False", 0.0, 30.0), ("True", 30.0, 100.0)]
    assert run.states("rooms[1].thermostat.shown") == run.states("rooms[1].thermostat.alarm")
    assert [one.state for one in run.states("rooms[0].thermostat.count")] == ["0", "1", "3"]
    assert [one.state for one in run.states("rooms[2].thermostat.setpoint")] == ["280", "281.5"]
    assert spans(run.states("rooms[0].warm")) == [("True", 0.0, 10.0), ("False", 10.0, 100.0)]  # a named condition, by its rows
    assert spans(run.states("master.cooling")) == [("off", 0.0, 100.0)]


def test_of_several_causes_the_one_of_the_own_component_counts(run):
    causes = {0: [Cause("clock", "a tick"), Cause("rooms[1].thermostat (Thermostat)", "T > 285"), Cause("master", "alarm")]}
    several = switching([(5.0, f"{c}.cooling", LOW) for c in ("rooms[1].thermostat", "master")], run._system, causes=causes)
    assert several.states("rooms[1].thermostat.cooling")[1].cause.text == "T > 285"
    assert several.states("master.cooling")[1].cause.text == "alarm"
    causes = {0: [Cause("clock", "a tick"), Cause("elsewhere", "x")]}
    other = switching([(5.0, "master.cooling", LOW)], run._system, causes=causes)
    assert other.states("master.cooling")[1].cause.text == "a tick"


def test_a_state_left_at_once_lasted_no_time_and_one_left_at_the_start_is_not_told(run):
    changes = [(0.0, "master.cooling", LOW), (50.0, "master.cooling", HIGH), (60.0, "master.cooling", OFF)]
    quick = switching(changes, run._system)
    quick._stored.log.times[2] = 50.0  # two events at one time
    assert spans(quick.states("master.cooling")) == [("low", 0.0, 50.0), ("high", 50.0, 50.0), ("off", 50.0, 100.0)]
    assert quick.time_in("master.cooling") == {"off": 50.0, "low": 50.0, "high": 0.0}
    assert quick.state_at("master.cooling", 50.0) == "off"


def test_the_state_at_a_time(run):
    for time in np.linspace(0.0, 100.0, 41):
        expected = next(one.state for one in reversed(run.states("rooms[0].thermostat.cooling")) if one.start <= time)
        assert run.state_at("rooms[0].thermostat.cooling", time) == expected
    assert run.state_at("rooms[0].thermostat.cooling", 12.0) == "low"  # after the event
    assert run.state_at("rooms[1].thermostat.alarm", 29.9) == "False"
    with pytest.raises(UsageError, match=r"nothing about 100.1 s: it goes from 0 s to 100 s"):
        run.state_at("rooms[0].thermostat.cooling", 100.1)


def test_seconds_in_each_state_are_all_there_are(run):
    assert run.time_in("rooms[0].thermostat.cooling") == {"off": 32.0, "low": 48.0, "high": 20.0}
    assert run.time_in("rooms[1].thermostat.alarm") == {"False": 30.0, "True": 70.0}
    assert run.time_in("master.alarm") == {"False": 100.0, "True": 0.0}
    for path in run.names("*.cooling"):
        assert sum(run.time_in(path).values()) == 100.0


def test_one_of_an_array_must_be_picked(run):
    with pytest.raises(UsageError, match=r"stands for 3 variables(.|\n)*such as `rooms\[0\].thermostat.cooling`"):
        run.states("rooms.thermostat.cooling")
    with pytest.raises(UsageError, match=r"such as `rooms\[1\].thermostat.marks\[0\]`"):
        run.time_in("rooms[1].thermostat.marks")


def test_what_has_no_states(run):
    for path in ("rooms[0].T", "rooms[0].thermostat.load"):
        with pytest.raises(UsageError, match="has no states"):
            run.states(path)
    with pytest.raises(NameNotFound):
        run.states("master.heating")
