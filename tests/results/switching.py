"""A run with events whose every discrete value is known: a real model, and a log written by hand beside it.

Rooms whose thermostats switch at given times. Every event has two stored rows of one time, as a run would store them.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import acausal as ac
from acausal.errors import Location
from acausal.results.events import Cause, EventLog
from acausal.results.result import Result, Stored
from acausal.runtime.outcome import Outcome


class Levels(ac.Discrete):
    """A declaration of states, as the language makes them."""

    type = "states"
    states = ("off", "low", "high")


class Hidden(ac.Discrete):
    """A relation that the translation made for itself."""

    type = "boolean"
    auxiliary = True


class Thermostat(ac.Component):
    cooling = Levels(doc="what the compressor does")
    alarm = ac.Boolean(start=False)
    count = ac.Integer(start=0)
    setpoint = ac.Discrete(start=280.0, unit="K")
    marks = ac.Boolean(shape=2)
    relation = Hidden()
    shown = ac.Variable(doc="the alarm, as a signal")
    opposite = ac.Variable()

    def equations(self):
        yield self.shown == self.alarm
        yield self.opposite == -self.count
        self.load = ac.named(10.0 * self.count + self.setpoint, unit="K")
        self.counted = self.count - ac.pre(self.count)


class Room(ac.Component):
    T = ac.Variable(start=290.0, fixed=True, unit="K")

    def __init__(self):
        self.thermostat = Thermostat()

    def equations(self):
        yield ac.der(self.T) == -0.1 * (self.T - 280.0)
        self.warm = self.T > 285.0


class House(ac.Component):
    def __init__(self, rooms=3):
        self.rooms = ac.array(Room, rooms)
        self.master = Thermostat()


def cell_of(system, path):
    """The known cell of a scalar discrete variable."""
    located = system.plant.locate(path)
    return int(located.kind.quantities[located.name].base + located.flat.ravel()[0])


def cause_in(room):
    return Cause(f"rooms[{room}].thermostat", "T > 285", Location("/plants/house.py", 31))


def switching(changes, system, until=100.0, points=11, causes=None, start=None, inputs=None):
    """A result whose `changes` are (time, path, value), in order of time; those of one time are one event.

    `causes[k]` are those of event k, `start[path]` is the value before all. An event at time 0 lies before the first stored row.
    """
    times = np.unique([time for time, _, _ in changes]) if changes else np.empty(0)
    inside = times[times > 0]
    grid = np.linspace(0.0, until, points)
    stored = np.sort(np.concatenate([grid[~np.isin(grid, inside)], np.repeat(inside, 2)]))
    known = np.zeros(system.known_count)
    for path, value in (start or {}).items():
        known[cell_of(system, path)] = value
    given = causes or {event: [cause_in(event % 3)] for event in range(len(times))}
    every = [(event, cause) for event in sorted(given) for cause in given[event]]
    log = EventLog(
        times=times,
        rows=np.where(times > 0, np.searchsorted(stored, times), -1),
        causes=np.array([(event, number) for number, (event, _) in enumerate(every)], dtype=np.int64).reshape(-1, 2),
        changed=np.searchsorted(times, [time for time, _, _ in changes]),
        cells=np.array([cell_of(system, path) for _, path, _ in changes], dtype=np.int64),
        values=np.array([float(value) for _, _, value in changes]),
        describe=lambda number: every[number][1],
    )
    data = 280.0 + 10.0 * np.exp(-0.1 * stored)[:, None] * np.ones(system.size)
    columns = np.arange(system.size)
    kept = Stored(stored, data, columns, columns * 0 - 1, known, inputs or {}, log=log)
    return Result(SimpleNamespace(system=system, title="House"), kept, Outcome.FINISHED, {})


OFF, LOW, HIGH = 0, 1, 2
CHANGES = [
    (12.0, "rooms[0].thermostat.cooling", LOW),
    (12.0, "rooms[0].thermostat.count", 1),
    (30.0, "rooms[1].thermostat.alarm", True),
    (47.5, "master.relation", True),
    (60.0, "rooms[0].thermostat.cooling", HIGH),
    (60.0, "rooms[2].thermostat.setpoint", 281.5),
    (60.0, "rooms[0].thermostat.count", 3),
    (80.0, "rooms[0].thermostat.cooling", OFF),
]


def house():
    """Three rooms and the changes above."""
    return switching(CHANGES, ac.compile(House()).system, start={"rooms[2].thermostat.setpoint": 280.0})
