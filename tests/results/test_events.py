from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acausal as ac
from acausal.errors import Location
from acausal.results.events import Cause, Change, EventLog, Events, History, Meaning

from .switching import HIGH, LOW, OFF, Thermostat, cause_in, cell_of, house, switching


@pytest.fixture(scope="module")
def run():
    return house()


def by_definition(run, path, start=0.0):
    """Row by row: the last change at an event whose row before lies before this row."""
    log, cell = run._stored.log, cell_of(run._system, path)
    changes = [(log.rows[event], new) for event, c, new in zip(log.changed, log.cells, log.values, strict=True) if c == cell]
    return np.array([next((new for row, new in reversed(changes) if row < k), start) for k in range(len(run.time))])


# --- trajectories


@given(st.data())
def test_trajectories_are_those_of_the_definition(data):
    events, cells, count = data.draw(st.integers(1, 8)), 4, data.draw(st.integers(0, 12))
    rows = np.sort(np.array(data.draw(st.lists(st.integers(-1, count), min_size=events, max_size=events))))
    one = st.tuples(st.integers(0, events - 1), st.integers(0, cells - 1), st.integers(0, 3))
    changes = sorted(data.draw(st.lists(one)), key=lambda change: change[0])
    changed, which, values = np.array(changes, dtype=np.int64).reshape(-1, 3).T
    start = np.arange(cells) % 3.0
    history = History(EventLog(np.arange(events), rows, np.empty((0, 2)), changed, which, values), start, None)
    asked = np.array(data.draw(st.lists(st.integers(0, cells - 1), max_size=6)), dtype=np.int64)
    for lag in (0, 1):
        wanted = np.tile(start[asked], (count, 1))
        for event, cell, value in changes:
            wanted[np.ix_(np.arange(count) > rows[event] + lag, asked == cell)] = value
        np.testing.assert_array_equal(history.trajectories(asked, count, lag), wanted)


def test_discrete_values_jump_between_the_two_rows_of_an_event(run):
    before, after = np.flatnonzero(run.time == 12.0)
    cooling = run["rooms[0].thermostat.cooling"]
    assert (cooling[before], cooling[after]) == (OFF, LOW)
    for path in ("rooms[0].thermostat.cooling", "rooms[0].thermostat.count", "rooms[1].thermostat.alarm"):
        np.testing.assert_array_equal(run[path], by_definition(run, path))
    np.testing.assert_array_equal(run["rooms[2].thermostat.setpoint"], by_definition(run, "rooms[2].thermostat.setpoint", 280.0))


def test_arrays_of_discrete_values(run):
    whole = run["rooms.thermostat.cooling"]
    assert whole.shape == (len(run.time), 3)
    for k in range(3):
        np.testing.assert_array_equal(whole[:, k], run[f"rooms[{k}].thermostat.cooling"])
    assert run["rooms.thermostat.marks"].shape == (len(run.time), 3, 2)
    np.testing.assert_array_equal(run["der(rooms.thermostat.count)"], 0.0)


def test_aliases_and_expressions_of_discrete_values(run):
    np.testing.assert_array_equal(run["rooms.thermostat.shown"], run["rooms.thermostat.alarm"])
    np.testing.assert_array_equal(run["rooms.thermostat.opposite"], -run["rooms.thermostat.count"])
    load = 10 * run["rooms.thermostat.count"] + run["rooms.thermostat.setpoint"]
    np.testing.assert_array_equal(run["rooms.thermostat.load"], load)


def test_pre_is_the_value_before_just_behind_an_event_and_the_same_elsewhere(run):
    counted = run["rooms[0].thermostat.counted"]
    rows = np.flatnonzero(counted)
    assert run.time[rows].tolist() == [12.0, 60.0]
    assert counted[rows].tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(run.time[rows - 1], run.time[rows])  # the second row of the two


def test_an_event_at_the_start_is_seen_in_the_first_row(run):
    early = switching([(0.0, "master.cooling", HIGH), (5.0, "master.cooling", LOW)], run._system)
    assert early.time[:3].tolist() == [0.0, 5.0, 5.0]
    assert early["master.cooling"][:3].tolist() == [HIGH, HIGH, LOW]
    assert [str(change) for change in early.events[0].changes] == ["master.cooling: off → high"]


class Step:
    def at(self, times):
        return np.where(np.asarray(times) >= 12.0, 5.0, 1.0)


class Driven(ac.Component):
    u = ac.Input()
    x = ac.Variable(start=0.0, fixed=True)

    def __init__(self):
        self.master = Thermostat()

    def equations(self):
        yield ac.der(self.x) == self.u


def test_an_input_that_jumps_at_an_event_has_both_values():
    system = ac.compile(Driven()).system
    cell = system.plant.root.kind.quantities["u"].known_base
    run = switching([(12.0, "master.alarm", True)], system, inputs={cell: Step()})
    np.testing.assert_array_equal(run["u"], np.where(run["master.alarm"] > 0, 5.0, 1.0))


def test_without_a_log_discrete_values_stay_as_they_began():
    system = ac.compile(Driven()).system
    run = switching([], system, start={"master.cooling": LOW})
    run._stored.log = None
    assert run["master.cooling"].tolist() == [LOW] * len(run.time)
    assert run.source("master.cooling") == ("constant", cell_of(system, "master.cooling"), 1)
    assert (len(run.events), repr(run.events), run.event_times.size) == (0, "no events", 0)
    assert [(i.state, i.start, i.end, i.cause) for i in run.states("master.cooling")] == [("low", 0.0, 100.0, None)]


# --- names and sources


def test_discrete_names_are_listed_and_auxiliary_ones_are_not(run):
    names = run.names()
    assert {"rooms[0].thermostat.cooling", "master.count", "rooms[1].thermostat.marks[1]"} <= set(names)
    assert not [name for name in names if "relation" in name]


def test_what_changes_is_computed_and_what_does_not_is_a_constant(run):
    kinds = {path.rpartition(".")[2]: run.source(path)[0] for path in run.names("rooms[0].thermostat.*")}
    assert {name for name, kind in kinds.items() if kind == "expression"} == {"cooling", "count", "opposite", "load", "counted"}
    assert run.source("rooms[1].thermostat.shown")[0] == "expression"  # equal to a Boolean that changes


# --- events


def test_events_tell_when_why_and_what(run):
    events = run.events
    assert isinstance(events, Events) and len(events) == 5
    np.testing.assert_array_equal(run.event_times, [12.0, 30.0, 47.5, 60.0, 80.0])
    assert events[0].time == 12.0
    assert events[0].causes == (Cause("rooms[0].thermostat", "T > 285", Location("/plants/house.py", 31)),)
    cooling, count = Change("rooms[0].thermostat.cooling", "off", "low"), Change("rooms[0].thermostat.count", 0, 1)
    assert set(events[0].changes) == {cooling, count}
    assert events[1].changes == (Change("rooms[1].thermostat.alarm", False, True),)
    assert events[1].changes[0].after is True and type(count.after) is int
    assert events[2].changes == ()  # a relation that the translation made
    assert Change("rooms[2].thermostat.setpoint", 280.0, 281.5) in events[3].changes
    assert events[-1].changes == (Change("rooms[0].thermostat.cooling", "high", "off"),)


def test_parts_of_the_events(run):
    assert [event.time for event in run.events[1:3]] == [30.0, 47.5]
    assert [event.time for event in run.events[::-1]] == run.event_times[::-1].tolist()
    assert run.events.between(30.0, 60.0).times.tolist() == [30.0, 47.5, 60.0]
    with pytest.raises(IndexError, match="5 events"):
        run.events[5]


def test_several_changes_at_one_event_count_as_the_last_and_none_as_none(run):
    path = "master.count"
    changes = [(5.0, path, 1), (5.0, path, 2), (7.0, path, 3), (7.0, path, 2), (9.0, path, 2), (11.0, path, 4)]
    events = switching(changes, run._system).events
    assert [event.changes for event in events] == [(Change(path, 0, 2),), (), (), (Change(path, 2, 4),)]


def test_a_table_of_events(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = repr(run.events).splitlines()
    assert lines[0] == "5 events, 12 … 80 s"
    assert lines[1].split() == ["time", "component", "what", "happened", "what", "changed", "where"]
    assert "12 s  rooms[0].thermostat  T > 285" in lines[2] and lines[2].endswith("house.py:31")
    assert "rooms[1].thermostat.alarm: False → True" in lines[3]
    assert "(+1)" in lines[2] and "(+2)" in lines[5]
    assert str(run.events[1]).splitlines() == [
        "event at 30 s",
        "  because  rooms[1].thermostat: T > 285 (house.py:31)",
        "           rooms[1].thermostat.alarm: False → True",
    ]


def test_a_long_table_is_shortened_with_a_count_and_a_wide_one_cut(run, monkeypatch):
    changes = [(1.0 + k / 100, "rooms[0].thermostat.count", k + 1) for k in range(1000)]
    causes = {k: [Cause(f"a.very.long.path.{'x' * 100}", "T > 285"), cause_in(1)] for k in range(1000)}
    monkeypatch.setenv("COLUMNS", "100")
    lines = repr(switching(changes, run._system, causes=causes).events).splitlines()
    assert lines[0] == "1000 events, 1 … 10.99 s"
    assert len(lines) == 2 + 24 + 1 and "  … 976 more …" in lines
    assert max(map(len, lines)) <= 100
    assert lines[2].startswith("      1 s  a.very") and "T > 285  (+1)" in lines[2] and "…" in lines[2]


def test_ten_thousand_events_are_not_made_before_they_are_looked_at():
    asked = []

    def describe(source):
        asked.append(source)
        return cause_in(source)

    n = 10_000
    pairs = np.stack([np.arange(n), np.arange(n) % 7], axis=1)
    log = EventLog(np.arange(n) * 1.0, np.arange(n) * 2, pairs, np.arange(n), np.arange(n), np.ones(n), describe)

    class Every:
        def name(self, cell):
            return f"x[{cell}]"

        def meaning(self, cell):
            return Meaning("boolean")

    events = Events(History(log, np.zeros(n), Every()))
    assert not asked
    repr(events)
    assert len(asked) <= 7
    assert events[9_999].changes == (Change("x[9999]", False, True),)
    assert events._history.trajectories(np.array([17]), 2 * n).sum() == 2 * n - (2 * 17 + 1)


@pytest.mark.parametrize(
    ("meaning", "number", "value", "text"),
    [
        (Meaning("states", ("a", "b")), 1.0, "b", "b"),
        (Meaning("states", ("a", "b")), 2.0, 2.0, "2"),
        (Meaning("boolean"), 1.0, True, "True"),
        (Meaning("integer"), 3.0, 3, "3"),
        (Meaning("integer"), 3.5, 3.5, "3.5"),
        (Meaning(), 0.1, 0.1, "0.1"),
    ],
)
def test_what_a_number_stands_for(meaning, number, value, text):
    assert meaning.of(number) == value and type(meaning.of(number)) is type(value)
    assert meaning.text(number) == text


def test_a_result_counts_its_events(run):
    assert repr(run) == f"<Result of House: {len(run.time)} points, 0 … 100 s, 5 events, finished>"
    assert run._system.plant.root.class_name == "House"
