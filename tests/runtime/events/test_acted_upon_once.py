"""Events that were acted upon twice, not at all, or late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Sampler(ac.Component):
    u, P = ac.Input(0.0), ac.Parameter(1.0)
    x, n = ac.Variable(start=0.0, fixed=True), ac.Integer(0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.u

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sample(0.0, self.P), ac.assign(self.n, ac.pre(self.n) + 1))


def test_an_input_that_is_set_where_a_clock_ticks_does_not_let_it_tick_again() -> None:
    """A session that was given an input or a parameter at the time of a tick let the clock tick a second time."""
    session = ac.compile(Sampler()).start()
    for k in range(4):
        session.advance(k + 1.0, inputs={"u": k + 1.0})
    assert session["n"] == 5
    assert session["x"] == pytest.approx(10.0)
    session.advance(4.5, set={"P": 0.5})  # its tick at 4 was that of the other clock, too
    assert session["n"] == 6


def test_a_restored_session_does_not_tick_again_when_an_input_is_set() -> None:
    """A session that was restored to the time of a tick, and given an input there, let the clock tick a second time."""
    session = ac.compile(Sampler()).start()
    saved = session.advance(1.0).save()
    session.advance(2.5)
    session.restore(saved)
    session.advance(1.5, inputs={"u": 1.0})
    assert session["n"] == 2


class Cubic(ac.Component):
    u, x, z = ac.Input(0.0), ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.z - self.x
        yield self.z**3 + self.z == self.u


def test_values_that_are_held_may_be_given_to_a_running_session() -> None:
    """Jumps of `ac.hold` that a session was given on its way were no events, and the run failed at the first of them."""
    model, held = ac.compile(Cubic()), ac.hold([0.0, 2.0, 3.0, 4.0], [0.0, 10.0, 0.0, 2.0])
    session = model.start().advance(0.5)
    session.advance(5.0, inputs={"u": held})
    whole = model.simulate(until=5.0, inputs={"u": held})
    assert session["z"] == pytest.approx(1.0)
    assert session["x"] == pytest.approx(whole["x"][-1], rel=1e-5)


class AtTheStart(ac.Component):
    n, either, both = ac.Integer(0), ac.Integer(0), ac.Integer(0)

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sample(1.0, 1.0), ac.assign(self.n, ac.pre(self.n) + 1))
        yield ac.when(ac.initial() | (ac.pre(self.n) > 1), ac.assign(self.either, ac.pre(self.either) + 1))
        yield ac.when(ac.initial() & (ac.pre(self.n) < 1), ac.assign(self.both, ac.pre(self.both) + 1))


def test_the_start_counts_beside_values_before_the_event() -> None:
    """`ac.when(ac.initial() | …, …)` did nothing at the start where the condition has `ac.pre`."""
    result = ac.compile(AtTheStart()).simulate(until=3.5)
    assert (result["either"][0], result["both"][0]) == (1, 1)
    assert (result["either"][-1], result["both"][-1]) == (2, 1)


class Highest(ac.Component):
    x, s = ac.Variable(start=0.0, fixed=True), ac.Parameter(1.0)
    top, ticks, passed = ac.Discrete(0.0), ac.Integer(0), ac.Discrete(-1.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.s * ac.cos(ac.time)

    def events(self) -> Iterator[Any]:
        yield ac.after_step(ac.assign(self.top, ac.max(self.top, self.x)))
        yield ac.when(ac.sample(0.5, 0.5), ac.assign(self.ticks, ac.pre(self.ticks) + 1))
        yield ac.when(self.top > 0.5 * self.s, ac.assign(self.passed, ac.time))


@pytest.mark.parametrize("options", [{}, {"solver": "fixed", "step": 0.01}, {"solver": "sundae"}])
def test_a_clock_ticks_where_a_step_assigns_a_little(options: dict[str, Any]) -> None:
    """Ticks were lost at the end of steps after which `ac.after_step` changed a value by less than a twentieth."""
    assert ac.compile(Highest()).simulate(until=3.25, **options)["ticks"][-1] == 6


@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
def test_what_is_assigned_after_steps_is_seen_where_it_passes_something(size: float) -> None:
    """`ac.when(self.top > …)` never acted where `ac.after_step` changes `top` by less than a twentieth, or by less than 0.05."""
    result = ac.compile(Highest()).simulate(until=3.0, set={"s": size}, max_step=0.01)
    assert result["passed"][-1] == pytest.approx(np.pi / 6, abs=0.02)


class Turning(ac.Component):
    x, d = ac.Variable(start=0.0, fixed=True), ac.Parameter(0.3)
    first, back, low = ac.Boolean(False), ac.Boolean(False), ac.Boolean(False)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.where(self.back, -1.0, 1.0)

    def events(self) -> Iterator[Any]:
        yield ac.when(self.x < -5, ac.assign(self.low, True))
        yield ac.when(ac.time >= 1.0, ac.assign(self.first, True))
        yield ac.when(ac.time >= 1.0 + self.d, ac.assign(self.back, True))


class Turnings(ac.Component):
    def __init__(self, count: int, d: float) -> None:
        self.c = ac.array(Turning, count, d=np.r_[d, np.full(count - 1, 0.3)])


@pytest.mark.parametrize("d", [1e-15, 3e-15, 1e-14, 2e-14, 1e-12])
def test_two_times_next_to_each_other_are_both_seen_in_a_large_plant(d: float) -> None:
    """In plants of 64 unknowns and more a time some ten roundings after another one was passed until the next step ended."""
    result = ac.compile(Turnings(80, d)).simulate(until=1.5, at=[1.5])
    assert result["c.x"][-1][0] == pytest.approx(0.5, abs=1e-9)


class Counted(ac.Component):
    x, a = ac.Variable(start=0.0, fixed=True), ac.Variable()
    n, e = ac.Integer(0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 2 * ac.cos(self.x + ac.time)
        yield self.a**3 + self.a == 3 * ac.sin(self.x) + ac.sin(3 * ac.time)
        yield ac.der(self.e) == 0.0

    def events(self) -> Iterator[Any]:
        yield ac.when(self.a > 0.5, ac.assign(self.n, ac.pre(self.n) + 1), ac.reinit(self.e, ac.pre(self.e) + 1.0))


@pytest.mark.parametrize("options", [{}, {"rtol": 1e-4}, {"rtol": 1e-9}, {"solver": "sundae"}])
def test_an_algebraic_unknown_passes_a_value_once(options: dict[str, Any]) -> None:
    """`ac.when` of an unknown that is solved for acted twice at one crossing, where the restart moved it back by interpolation."""
    result = ac.compile(Counted()).simulate(until=40.0, points=2001, **options)
    passed = int((np.diff((result["a"] > 0.5).astype(int)) > 0).sum())
    assert (result["n"][-1], result["e"][-1]) == (passed, pytest.approx(passed))
