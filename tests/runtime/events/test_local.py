"""Events that change few of many unknowns happen within a step of the others: no restart, and the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from math import log, pi
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.events import native

Statements = Iterator[Any]


class Cell(ac.Component):
    rate = ac.Parameter(1.0)
    x = ac.Variable(start=0.0, fixed=True)
    full = ac.Boolean(False)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.where(self.full, -self.x, self.rate)

    def events(self) -> Statements:
        yield ac.when(self.x > 1.0, ac.assign(self.full, True))


class Cells(ac.Component):
    def __init__(self, rates: np.ndarray) -> None:
        self.cell = ac.array(Cell, len(rates), rate=rates)


class Room(ac.Component):
    """With a heater that is a variable of its own, and is stronger in a warm room."""

    C, P = ac.Parameter(1.0), ac.Parameter(3.0)
    low, high = ac.Parameter(1.0), ac.Parameter(1.2)
    T, q, h = ac.Variable(start=1.1, fixed=True), ac.Variable(), ac.Variable()
    outside = ac.Input()
    on = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield self.h + 0.01 * self.h**3 == ac.where(self.on, self.P, 0.0) * (1 + 0.1 * self.T)
        yield self.C * ac.der(self.T) == self.q + self.h - 0.7 * (self.T - self.outside)

    def events(self) -> Statements:
        yield ac.when(self.T < self.low, ac.assign(self.on, True)).elsewhen(self.T > self.high, ac.assign(self.on, False))


class Row(ac.Component):
    """Rooms side by side with walls between them; what happens in one reaches the others."""

    def __init__(self, n: int, wall: float) -> None:
        random = np.random.default_rng(1)
        self.n, self.wall = n, wall
        limits = {"low": random.uniform(0.95, 1.05, n), "high": random.uniform(1.1, 1.3, n)}
        start = ac.start(random.uniform(1.06, 1.09, n))
        self.room = ac.array(Room, n, C=random.uniform(0.5, 3, n), P=random.uniform(2, 4, n), T=start, **limits)

    def equations(self) -> Statements:
        rooms, wall, last = self.room, self.wall, self.n - 1
        yield rooms[0].q == wall * (rooms[1].T - rooms[0].T)
        yield rooms[1:-1].q == wall * (rooms[:-2].T - 2 * rooms[1:-1].T + rooms[2:].T)
        yield rooms[last].q == wall * (rooms[last - 1].T - rooms[last].T)
        yield rooms.outside == 0.3 * ac.sin(2 * pi * ac.time / 5)


def ends(result: ac.Result, times: np.ndarray, path: str) -> np.ndarray:
    rows = np.searchsorted(result.time, times + 1e-12) - 1
    return np.asarray(result[path])[rows]


@pytest.mark.parametrize("n", [100, 1_000])  # with rows at events, and without
def test_cells_that_react_one_by_one(n: int) -> None:
    """Steps are those of the slowest thing to see, however many events there are."""
    rates = np.linspace(1.0, 10.0, n)
    result = ac.compile(Cells(rates)).simulate(until=2.0, points=11)
    time = result.time[:, None]
    exact = np.where(time * rates < 1.0, rates * time, np.exp(1 / rates - time))
    assert len(result.events) == n
    assert np.abs(np.sort(1 / rates) - result.events.times).max() < 1e-6
    assert np.abs(np.asarray(result["cell.x"]) - exact).max() < 2e-5
    assert result.statistics.steps < 150
    assert (np.asarray(result["cell.full"])[-1] == 1).all()


def test_memory_follows_what_changes() -> None:
    """Rows of a wide plant are not stored at events that change one column of them; discrete values are known all the same."""
    n = 1_000
    rates = np.linspace(1.0, 10.0, n)
    result = ac.compile(Cells(rates)).simulate(until=2.0, points=11)
    assert len(result.time) == 11 and len(result.events) == n
    full, time = np.asarray(result["cell.full"]), result.time[:, None]
    clear = np.abs(time * rates - 1.0) > 1e-4
    assert ((full == 1) == (time * rates > 1.0))[clear].all()
    event = result.events[0]
    assert "cell[999]" in str(event) and "False → True" in str(event)


@pytest.mark.parametrize("wall", [0.0, 0.3, 3.0])
def test_neighbours_take_part_as_far_as_it_matters(wall: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model, times = ac.compile(Row(70, wall)), np.linspace(0.0, 2.0, 9)
    result = model.simulate(until=2.0, at=times, rtol=1e-8)
    monkeypatch.setattr(native, "LOCAL", 10**9)
    restarted = model.simulate(until=2.0, at=times, rtol=1e-9)
    assert len(result.events) == len(restarted.events) > 100
    assert np.abs(result.events.times - restarted.events.times).max() < 1e-4
    assert np.abs(ends(result, times, "room.T") - ends(restarted, times, "room.T")).max() < 2e-5
    assert np.array_equal(ends(result, times, "room.on"), ends(restarted, times, "room.on"))
    assert result.statistics.steps < 2.5 * len(result.events) < restarted.statistics.steps / 4


class Mast(ac.Component):
    """An alarm that is on for as long as a swinging mast is out further than a limit: twice within what may be one step."""

    limit = ac.Parameter(0.999)
    x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)
    seconds = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x
        yield ac.der(self.seconds) == ac.where(self.x > self.limit, 1.0, 0.0)


class Masts(ac.Component):
    def __init__(self, limits: np.ndarray) -> None:
        self.mast = ac.array(Mast, len(limits), limit=limits)


def test_a_pulse_within_a_step_is_seen() -> None:
    limits = 1.0 - np.logspace(-4, -2, 70)
    result = ac.compile(Masts(limits)).simulate(until=3.0, points=2, rtol=1e-6)
    assert np.abs(np.asarray(result["mast.seconds"])[-1] - 2 * np.arccos(limits)).max() < 1e-3
    assert len(result.events) == 140


class Thermostat(ac.Component):
    level = ac.Parameter(1.0)
    T = ac.Variable(start=1.0, fixed=True)
    on = ac.Boolean(start=False)

    def equations(self) -> Statements:
        yield ac.der(self.T) == ac.where(self.on, 2.0, 0.0) - self.T

    def events(self) -> Statements:
        yield ac.when(self.T < self.level - 0.2, ac.assign(self.on, True)).elsewhen(
            self.T > self.level + 0.2, ac.assign(self.on, False)
        )


class Building(ac.Component):
    def __init__(self, n: int) -> None:
        self.room = ac.array(Thermostat, n, level=1.0 + 0.1 * np.arange(n) / n)


def switching_times(level: float, until: float) -> list[float]:
    """Cooling from 1 to the lower limit; then warming towards 2 and cooling towards 0, in turns."""
    low, high, t, times = level - 0.2, level + 0.2, log(1.0 / (level - 0.2)), []
    while t < until:
        warms = len(times) % 2 == 0
        times.append(t)
        t += log((2 - low) / (2 - high)) if warms else log(high / low)
    return times


def test_switching_again_and_again_against_closed_forms() -> None:
    n = 80
    result = ac.compile(Building(n)).simulate(until=3.0, points=2, rtol=1e-8)
    wanted = sorted(t for k in range(n) for t in switching_times(1.0 + 0.1 * k / n, 3.0))
    assert len(result.events) == len(wanted) > 5 * n
    assert np.abs(np.array(wanted) - result.events.times).max() < 2e-6
    assert result.statistics.steps < 400


class Hasty(ac.Component):
    """A heater that the sensor feels at once: the relation that switches it on is on its former side again when it is on."""

    T, low = ac.Variable(start=1.1, fixed=True), ac.Parameter(1.0)
    h, on = ac.Variable(), ac.Boolean(False)

    def equations(self) -> Statements:
        yield self.h == ac.where(self.on, 3.0, 0.0)
        yield ac.der(self.T) == self.h - self.T
        yield self.on == (self.T + 0.02 * self.h < self.low) | (ac.pre(self.on) & (self.T - 0.02 * self.h < self.low + 0.2))


class Hurry(ac.Component):
    def __init__(self, n: int) -> None:
        self.room = ac.array(Hasty, n, low=np.linspace(0.95, 1.05, n))


def test_a_relation_that_is_back_at_once() -> None:
    n, until = 70, 1.0
    result = ac.compile(Hurry(n)).simulate(until=until, points=2, rtol=1e-8)
    for k, low in enumerate(np.linspace(0.95, 1.05, n)):
        high, t, T, on = low + 0.26, 0.0, 1.1, False  # on below `low`, off above `high`, where the sensor reads 0.06 less
        while True:
            way = log((3 - T) / (3 - high)) if on else log(T / low)
            if t + way > until:
                break
            t, T, on = t + way, high if on else low, not on
        rest = until - t
        T = 3 - (3 - T) * np.exp(-rest) if on else T * np.exp(-rest)
        assert bool(result["room.on"][-1][k]) is on
        assert abs(result["room.T"][-1][k] - T) < 1e-6


class Twins(ac.Component):
    """Each room twice, so that all events come in pairs, and some a little later in the same step."""

    def __init__(self, n: int) -> None:
        self.room = ac.array(Thermostat, 2 * n, level=np.repeat(1.0 + 0.01 * np.arange(n) / n, 2))


def test_twins_switch_together_while_others_follow_in_the_same_step() -> None:
    n = 40
    result = ac.compile(Twins(n)).simulate(until=1.0, at=np.linspace(0.0, 1.0, 41), rtol=1e-8)
    wanted = sorted(t for k in range(n) for t in switching_times(1.0 + 0.01 * k / n, 1.0))
    assert len(result.events) == len(wanted) == 2 * n
    assert np.abs(np.array(wanted) - result.events.times).max() < 2e-6
    T = np.asarray(result["room.T"])
    assert np.abs(T[:, ::2] - T[:, 1::2]).max() < 1e-9


class Tank(ac.Component):
    """Takes what comes and gives to the next; how much depends on a relation of its own."""

    x, leaves = ac.Variable(start=0.5, fixed=True), ac.Variable()
    comes = ac.Input()

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.comes - self.leaves
        yield self.leaves + 0.05 * self.leaves**3 == 0.3 * ac.where(self.x > 0.6, 2.0 * self.x - 0.6, self.x)


class Ring(ac.Component):
    """Tanks in a ring, and a swing that has nothing to do with them and keeps steps short."""

    a, b = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def __init__(self, n: int) -> None:
        self.n, self.tank = n, ac.array(Tank, n, x=ac.start(0.6 + 0.1 * np.sin(np.linspace(0.0, 40.0, n))))

    def equations(self) -> Statements:
        yield ac.der(self.a) == 10.0 * self.b
        yield ac.der(self.b) == -10.0 * self.a
        yield self.tank[1:].comes == self.tank[:-1].leaves
        yield self.tank[0].comes == self.tank[self.n - 1].leaves
        self.total = ac.named(ac.sum(self.tank.x))


@pytest.mark.parametrize("rtol", [1e-3, 1e-5])
def test_what_equations_keep_is_kept_through_events(rtol: float) -> None:
    """What one tank gives the next one takes, to rounding, also where an event in one is next to nothing to the other."""
    result = ac.compile(Ring(80)).simulate(until=20.0, points=21, rtol=rtol)
    total = np.asarray(result["total"])
    assert result.statistics["restarts"] < len(result.events) / 3
    assert np.abs(total / total[0] - 1).max() < 1e-13
