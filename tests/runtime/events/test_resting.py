"""Relations on what comes to rest exactly on its switching point: they have the value that is written there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac

Statements = Iterator[Any]
LINEAR = ac.Table([0.0, 1.0, 2.0], [0.0, 1.0, 1.0], method="linear", name="linear")
CURVED = ac.Table([0.0, 1.0, 2.0], [0.0, 1.0, 1.0], name="curved")
RISING = ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 1.0, 1.0])
FALLING = ([0.0, 1.0, 2.0, 3.0], [2.0, 1.0, 1.0, 1.0])
SOLVERS: list[dict[str, Any]] = [{}, {"solver": "sundae"}, {"solver": "fixed", "step": 0.0173}]


class Ramp(ac.Component):
    """u is 1 from 1 s on, and so is a table of x."""

    u = ac.Input(0.0)
    x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    at, count = ac.Discrete(-1.0), ac.Integer(0)

    def __init__(self, condition: Callable[[Any], Any]) -> None:
        self._condition = condition

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0
        yield ac.der(self.z) == ac.where(self._condition(self), 1.0, 0.0)

    def events(self) -> Statements:
        yield ac.when(self._condition(self), ac.assign(self.at, ac.time), ac.assign(self.count, ac.pre(self.count) + 1))


CONDITIONS: dict[str, Callable[[Any], Any]] = {
    "u >= 1": lambda c: c.u >= 1.0,
    "~(u < 1)": lambda c: ~(c.u < 1.0),
    "2 u >= 2": lambda c: 2.0 * c.u >= 2.0,
    "linear(x) >= 1": lambda c: LINEAR(c.x) >= 1.0,
    "curved(x) >= 1": lambda c: CURVED(c.x) >= 1.0,
    "linear(time) >= 1": lambda c: LINEAR(ac.time) >= 1.0,
    "limited": lambda c: ac.no_event(ac.min(c.x, 1.0)) >= 1.0,
    "floor": lambda c: ac.floor(c.u) > 0.5,
}


@pytest.mark.parametrize("more", SOLVERS, ids=str)
@pytest.mark.parametrize("name", CONDITIONS)
def test_what_rises_to_its_switching_point_and_stays(name: str, more: dict[str, Any]) -> None:
    result = ac.compile(Ramp(CONDITIONS[name])).simulate(until=3.0, inputs={"u": RISING}, **more)
    close = 1e-8 if name.startswith("curved") else 1e-9  # it rounds to 1 a little earlier
    assert result["count"][-1] == 1 and result["at"][-1] == pytest.approx(1.0, abs=close)
    assert result["z"][-1] == pytest.approx(2.0, abs=1e-8)


@pytest.mark.parametrize("more", SOLVERS, ids=str)
def test_what_falls_to_its_switching_point_and_stays(more: dict[str, Any]) -> None:
    for condition, expected in ((lambda c: c.u > 1.0, 1.0), (lambda c: c.u >= 1.0, 3.0), (lambda c: ~(c.u <= 1.0), 1.0)):
        result = ac.compile(Ramp(condition)).simulate(until=3.0, inputs={"u": FALLING}, **more)
        assert result["z"][-1] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("more", SOLVERS, ids=str)
def test_what_is_strict_does_not_switch_there(more: dict[str, Any]) -> None:
    result = ac.compile(Ramp(lambda c: c.u > 1.0)).simulate(until=3.0, inputs={"u": RISING}, **more)
    assert result["count"][-1] == 0 and result["z"][-1] == 0.0


class Several(ac.Component):
    """In a large plant, each with a table that is reached at another time."""

    x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    rate, at = ac.Parameter(1.0), ac.Discrete(-1.0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.rate
        yield ac.der(self.z) == ac.where(LINEAR(self.x) >= 1.0, 1.0, 0.0)

    def events(self) -> Statements:
        yield ac.when(LINEAR(self.x) >= 1.0, ac.assign(self.at, ac.time))


class Plant(ac.Component):
    def __init__(self, count: int) -> None:
        self.part = ac.array(Several, count, rate=[1.0 / (1.0 + 0.01 * k) for k in range(count)])


def test_in_a_large_plant() -> None:
    result = ac.compile(Plant(40)).simulate(until=3.0)
    for k in range(40):
        assert result["part.at"][-1][k] == pytest.approx(1.0 + 0.01 * k, abs=1e-9)
        assert result["part.z"][-1][k] == pytest.approx(2.0 - 0.01 * k, abs=1e-7)


def test_what_passes_its_switching_point_does_so_once() -> None:
    """`x >= 1` and `x > 1` change together where x passes 1, although a search may try that very point."""

    class Passing(ac.Component):
        x, both = ac.Variable(start=0.0, fixed=True), ac.Integer(0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0

        def events(self) -> Statements:
            changed = ac.change(self.x >= 1.0) | ac.change(self.x > 1.0)
            yield ac.when(changed, ac.assign(self.both, ac.pre(self.both) + 1))

    for more in SOLVERS:
        assert ac.compile(Passing()).simulate(until=2.0, **more)["both"][-1] == 1


@pytest.mark.parametrize("more", SOLVERS, ids=str)
def test_an_input_that_differs_by_the_last_digit_where_it_crosses(more: dict[str, Any]) -> None:
    """At 0.18750000000000003 s the solver's code has 0.25 less a digit, and Python has 0.25: the crossing is one all the same."""
    falling = ([0.0, 0.375, 0.75, 2.0], [0.5, 0.0, 0.0, 0.0])
    result = ac.compile(Ramp(lambda c: c.u >= 0.25)).simulate(until=1.0, inputs={"u": falling}, **more)
    assert result["z"][-1] == pytest.approx(0.1875, abs=1e-9)


def test_random_inputs_cross_levels_that_they_meet_exactly() -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        times = np.concatenate([[0.0], np.cumsum(rng.choice([0.25, 0.375, 0.5, 1.0], 10))])
        values = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], len(times))
        level = float(rng.choice([0.25, 0.5, 0.75]))
        fine = np.unique(np.concatenate([np.linspace(0.0, times[-1], 20001), times]))
        middle = np.interp(0.5 * (fine[1:] + fine[:-1]), times, values)
        result = ac.compile(Ramp(lambda c, level=level: c.u >= level)).simulate(
            until=float(times[-1]), inputs={"u": (times, values)}
        )
        assert result["z"][-1] == pytest.approx(np.diff(fine)[middle >= level].sum(), abs=2e-3)


class Leaving(ac.Component):
    """x begins at zero and falls: its amount is above zero from then on, though both relations have bands of the same width."""

    rate, turn = ac.Parameter(-0.01), ac.Parameter(0.7)
    x, at_zero = ac.Variable(start=0.0, fixed=True), ac.Boolean(False)

    def equations(self):
        yield ac.der(self.x) == ac.where(ac.time < self.turn, self.rate, 0.01)
        yield self.at_zero == (ac.abs(self.x) <= 0)


def test_what_begins_exactly_at_the_edge_of_its_band_is_not_forgotten():
    """In one of thirty the second relation was on the edge of its band to the last bit when the first one switched."""
    model, rng = ac.compile(Leaving()), np.random.default_rng(0)
    for rate, turn in zip(-rng.uniform(0.003, 0.02, 60), rng.uniform(0.2, 3.8, 60), strict=True):
        result = model.simulate(until=4.0, rtol=1e-10, atol=1e-10 * abs(rate) * turn, set={"rate": rate, "turn": turn})
        assert result["at_zero"][0] and result.events.times[0] < 1e-9


class Greatest(ac.Component):
    """What is the same for all at 0.23 s, and goes apart from there."""

    z, y = ac.Variable(shape=3, start=[0.15, 0.13, 0.87], fixed=True), ac.Variable()
    rate, level = ac.Parameter(0.0, shape=3), ac.Parameter(0.758)

    def equations(self) -> Statements:
        yield ac.der(self.z) == self.rate - 0.5 * self.z
        yield self.y == ac.max(self.z)

    def events(self) -> Statements:
        yield ac.when(ac.time >= 0.23, ac.reinit(self.z, self.level * np.ones(3)))


@pytest.mark.parametrize("more", SOLVERS, ids=str)
def test_what_another_relation_puts_behind_its_switching_point_is_still_seen_to_leave(more: dict[str, Any]) -> None:
    """Which of two is greater decides on what a third is compared with: that relation was put behind its switching point, within
    its band, which was then made so narrow that it was beyond: nobody saw it leave, and y followed the wrong one of the three."""
    model, rng = ac.compile(Greatest()), np.random.default_rng(1)
    for k in range(40):
        rate = [-0.1, 0.1, 0.2] if k == 0 else rng.choice([-0.1, 0.1, 0.2], 3)
        numbers = {"rate": rate, "level": 0.758 if k == 0 else rng.uniform(0.3, 0.9)}
        result = model.simulate(until=1.0, points=9, set=numbers, **more)
        assert result["y"] == pytest.approx(result["z"].max(axis=1), abs=1e-9)


def test_a_session_sees_it_leave_as_well() -> None:
    session = ac.compile(Greatest()).start(set={"rate": [-0.1, 0.1, 0.2]}, until=1.0)
    for time in (0.23, 0.23 + 1e-11, 0.3, 1.0):
        session.advance(time)
        assert session["y"] == pytest.approx(max(session["z"]), abs=1e-9)


class Solved(ac.Component):
    """y is solved for, and goes with x; it passes a level, or comes to rest on it."""

    x, y, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0), ac.Variable(start=0.0)
    level, stop = ac.Parameter(0.5), ac.Parameter(9.0)
    above, below, at = ac.Integer(0), ac.Integer(0), ac.Integer(0)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.cos(ac.time)
        yield self.y + self.y**3 == self.x
        yield self.z + self.y * self.z == (1.0 + self.y) * ac.min(self.x, self.stop)

    def events(self) -> Statements:
        yield ac.when(self.y > self.level, ac.assign(self.above, ac.pre(self.above) + 1))
        yield ac.when(self.y <= self.level, ac.assign(self.below, ac.pre(self.below) + 1))
        yield ac.when(self.z >= self.stop, ac.assign(self.at, ac.pre(self.at) + 1))


@pytest.mark.parametrize("more", SOLVERS, ids=str)
@pytest.mark.parametrize("level", [0.18, 0.331, 0.5, 0.511])
def test_what_is_solved_for_and_passes_its_switching_point_does_not_rest_on_it(level: float, more: dict[str, Any]) -> None:
    """The slopes of states say that it stays. x is the sine: it passes four times upwards in 20 s, and three times downwards."""
    result = ac.compile(Solved()).simulate(until=20.0, set={"level": level}, **more)
    assert [result[name][-1] for name in ("above", "below")] == [4, 3]
    times, passing = np.unique(result.events.times), np.arcsin(level + level**3)
    wanted = np.sort([passing + 2 * np.pi * k for k in range(4)] + [np.pi * (2 * k + 1) - passing for k in range(3)])
    assert np.abs(times - wanted).max() < 1e-4


def test_what_is_solved_for_and_comes_to_its_switching_point_stays_there() -> None:
    result = ac.compile(Solved()).simulate(until=2.0, set={"stop": 0.5, "level": 9.0})
    assert result["at"][-1] == 1
