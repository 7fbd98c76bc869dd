"""Tables whose arguments are computed from time: no pulse of theirs is stepped over, whatever the argument goes through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import signal
from acausal.runtime.inputs import turned_at

Statements = Iterator[Any]
PULSE = ac.Table([0.0, 5.0, 5.001, 5.002, 10.0], [0.0, 0.0, 1000.0, 0.0, 0.0], method="linear")
ARGUMENTS = {
    "a clock": (lambda k: ac.time, lambda u: u),
    "a rate": (lambda k: k * ac.time, lambda u: u),
    "a rate that is scaled back": (lambda k: 3.0 - 2.0 * k * ac.time, lambda u: (3.0 - u) / 2.0),
    "a ramp": (lambda k: ac.where(ac.time > 1.0, k * ac.time, 0.5), lambda u: u),
    "steps between": (lambda k: k * ac.time + ac.where(ac.time > 2.0, 7.0, 0.0), lambda u: u - 7.0),
}


class Read(ac.Component):
    """The area under a pulse of a millisecond."""

    u, x, k = ac.Variable(), ac.Variable(start=0.0, fixed=True), ac.Parameter(1.0)

    def __init__(self, argument: str) -> None:
        self.argument = argument

    def equations(self) -> Statements:
        handed_on, read = ARGUMENTS[self.argument]
        yield self.u == handed_on(self.k)
        yield ac.der(self.x) == PULSE(read(self.u))


@pytest.mark.parametrize("solver", [{}, {"solver": "sundae"}, {"solver": "fixed", "step": 0.1}])
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_a_pulse_is_seen_whatever_hands_time_on(argument: str, solver: dict[str, Any]) -> None:
    result = ac.compile(Read(argument)).simulate(until=10.0, **solver)
    assert result["x"][-1] == pytest.approx(1.0, rel=1e-4)


def test_a_rate_that_changes_on_the_way_moves_the_pulse() -> None:
    session = ac.compile(Read("a rate")).start()
    session.advance(3.0)
    session.advance(4.0, set={"k": 1.25})  # the pulse is about to begin
    session.advance(10.0)
    assert session["x"] == pytest.approx(1.0 / 1.25, rel=1e-5)


def test_an_array_of_clocks_has_pulses_of_its_own() -> None:
    class Many(ac.Component):
        def __init__(self) -> None:
            self.read = ac.array(Read, 100, argument="a rate", k=np.linspace(0.6, 3.0, 100))

    result = ac.compile(Many()).simulate(until=10.0)
    assert result["read.x"][-1] == pytest.approx(1.0 / np.linspace(0.6, 3.0, 100), rel=1e-3)


def test_an_impulse_at_a_corner_behind_a_block_is_not_lost() -> None:
    """F - w = 2 x'', w' = F: w jumps by twice the jump of x'."""

    class Moved(ac.Component):
        v, F, w = ac.Variable(), ac.Variable(), ac.Variable(start=0.0, fixed=True)

        def __init__(self) -> None:
            self.clock = signal.Ramp(height=3.0, duration=3.0)
            self.course = signal.TableBlock(ac.Table([0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 1.0], method="linear"))

        def connections(self) -> Statements:
            yield self.clock.y, self.course.u

        def equations(self) -> Statements:
            yield ac.der(self.course.y) == self.v
            yield self.F - self.w == 2.0 * ac.der(self.v)
            yield ac.der(self.w) == self.F

    result = ac.compile(Moved()).simulate(until=2.9, rtol=1e-8)
    assert result["w"][-1] == pytest.approx(2.0 * (np.exp(1.9) - np.exp(0.9)), rel=1e-6)
    assert "At time 1 " in result.diagnostics[0].what


@pytest.mark.parametrize("length", [10.0, 1000.0])
@pytest.mark.parametrize("source", ["table", "handed on", "input"])
def test_a_smooth_pulse_after_long_rest_is_seen(source: str, length: float) -> None:
    """Nothing moves until 5 s; the area under a monotone cubic with level ends is half of its base and height."""
    times, values = np.array([0.0, 5.0, 6.0, 7.0, length]), np.array([0.0, 0.0, 10.0, 0.0, 0.0])

    class Filled(ac.Component):
        u, y, x = ac.Input(0.0), ac.Variable(), ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Statements:
            table = ac.Table(times, values)
            yield self.y == (ac.time if source != "handed on" else 2.0 * ac.time)
            yield ac.der(self.x) == (self.u if source == "input" else table(ac.time if source == "table" else self.y / 2.0))

    inputs = {"u": ac.data(times, values, interpolation="monotone")} if source == "input" else {}
    result = ac.compile(Filled()).simulate(until=length, inputs=inputs, rtol=1e-8)
    assert result["x"][-1] == pytest.approx(10.0, rel=1e-6)


def test_a_smooth_table_that_only_rises_ends_no_step() -> None:
    class Rising(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Statements:
            knots = np.linspace(0.0, 10.0, 2001)
            yield ac.der(self.x) == ac.Table(knots, knots)(ac.time)

    result = ac.compile(Rising()).simulate(until=10.0)
    assert result["x"][-1] == pytest.approx(50.0, rel=1e-5) and result.statistics.steps < 100


@pytest.mark.parametrize("values", [np.sin(np.arange(2000) / 4), np.random.default_rng(1).normal(size=2000), np.arange(2000) / 7])
def test_what_always_moves_ends_few_steps(values: np.ndarray) -> None:
    assert len(turned_at(np.arange(2000) / 3, values)) < 20


def test_what_sets_out_is_found_with_what_follows() -> None:
    x = np.arange(12.0)
    assert turned_at(x, np.array([0, 0, 0, 0, 3, 0, 0, 0, 0, 0, -1, 0.0])).tolist() == [3.0, 4.0, 9.0, 10.0]
    assert turned_at(x, x + np.array([0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0.0])).tolist() == [5.0, 6.0]
