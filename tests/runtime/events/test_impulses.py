"""Jumps in what is differentiated: states after them, and what is told, against closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import electrical, signal
from acausal.library.mechanics import rotational

Statements = Iterator[Any]


class Divider(ac.Component):
    """Two capacitors in series on a source that jumps, a resistor beside one: charge divides as 1/C."""

    def __init__(self, source: ac.Component) -> None:
        self.u, self.s, self.g, self.R = source, electrical.SignalVoltage(), electrical.Ground(), electrical.Resistor(R=10.0)
        self.c, self.d = electrical.Capacitor(C=1.0), electrical.Capacitor(C=3.0)

    def connections(self) -> Statements:
        yield self.u.y, self.s.V
        yield self.s.p, self.c.p
        yield self.c.n, self.d.p, self.R.p
        yield self.s.n, self.d.n, self.g.p, self.R.n


def test_a_step_across_capacitors_divides_as_their_charge_says() -> None:
    result = ac.compile(Divider(signal.Step(height=20.0, start_time=1.0))).simulate(until=2.0, rtol=1e-8)
    k = int(np.flatnonzero(result.time == 1.0)[-1])
    assert result["c.v"][k] == pytest.approx(15.0, rel=1e-7) and result["d.v"][k] == pytest.approx(5.0, rel=1e-7)
    assert result["d.v"][-1] == pytest.approx(5.0 * np.exp(-1.0 / 40.0), rel=1e-6)  # (C1 + C2)·R
    told = str(result.diagnostics[0])
    assert "At time 1 " in told and "d.v: 0 → 5" in told and "impulse:   d.i: 15 " in told


class Drive(ac.Component):
    def __init__(self, source: ac.Component) -> None:
        self.source, self.p, self.J = source, rotational.Position(), rotational.Inertia(J=2.0)

    def connections(self) -> Statements:
        yield self.source.y, self.p.phi
        yield self.p.flange, self.J.a


def test_a_bend_in_a_position_is_an_impulse_of_torque() -> None:
    result = ac.compile(Drive(signal.Ramp(height=1.0, duration=10.0, start_time=0.5))).simulate(until=2.0)
    assert result["J.w"][-1] == pytest.approx(0.1)
    told = str(result.diagnostics[0])
    assert "J.w: 0 → 0.1" in told and ("flange.tau: 0.2 " in told or "flange.tau: -0.2 " in told or "tau: 0.2 " in told)


def test_a_step_in_a_position_is_told() -> None:
    result = ac.compile(Drive(signal.Step(height=1.0, start_time=0.5))).simulate(until=2.0)
    assert result["J.phi"][-1] == pytest.approx(1.0) and result["J.w"][-1] == pytest.approx(0.0, abs=1e-9)
    assert "an impulse passes" in result.diagnostics[0].what


def test_what_does_not_jump_is_not_told() -> None:
    smooth = ac.compile(Divider(signal.Sine(amplitude=1.0, f=1.0))).simulate(until=2.0)
    assert smooth.diagnostics == ()


class Triggered(signal.Source):
    """Jumps when a state, not time, says so."""

    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0
        yield self.y == ac.where(self.x > 1.0, 20.0, 0.0)


def test_an_impulse_at_a_state_event_is_that_of_a_time_event() -> None:
    result = ac.compile(Divider(Triggered())).simulate(until=2.0, rtol=1e-8)
    assert result["d.v"][-1] == pytest.approx(5.0 * np.exp(-1.0 / 40.0), rel=1e-6)
    assert "an impulse passes" in result.diagnostics[0].what


class Shared(ac.Component):
    """a + b is prescribed; what is taken from a third is given to a: a jump of 3 goes to a by 2 and to b by 1."""

    u, U = ac.Input(0.0), ac.Parameter(0.0)
    s = ac.Variable(start=0.0, fixed=True)
    a, b, q = ac.Variable(start=0.0), ac.Variable(), ac.Variable()
    level_a, level_b, level = ac.Parameter(1.5), ac.Parameter(0.5), ac.Parameter(1.9)
    passed_a, passed_b, passed, passed_time = ac.Integer(0), ac.Integer(0), ac.Integer(0), ac.Integer(0)
    source, sets = "time", False

    def equations(self) -> Statements:
        step = ac.where(ac.time >= 0.5, 3.0, 0.0)
        yield ac.der(self.s) == 0.0 if self.source == "state" else ac.der(self.s) == 1.0
        yield self.a + self.b == {"time": step, "input": self.u, "parameter": self.U, "state": self.s}[self.source]
        yield ac.der(self.a) == self.q - 0.01 * self.a
        yield 2 * ac.der(self.b) == self.q - 0.02 * self.b

    def events(self) -> Statements:
        yield ac.when(self.a > self.level_a, ac.assign(self.passed_a, ac.pre(self.passed_a) + 1))
        yield ac.when(self.b > self.level_b, ac.assign(self.passed_b, ac.pre(self.passed_b) + 1))
        yield ac.when(self.a * self.b > self.level, ac.assign(self.passed, ac.pre(self.passed) + 1))
        if self.source == "state":
            yield ac.when(ac.time >= 0.5, ac.reinit(self.s, 3.0))
        elif self.sets:
            yield ac.when(ac.time >= 0.5, ac.reinit(self.s, 0.0))


def shared(preferred: str, source: str, sets: bool = False) -> Any:
    chosen = {name: ac.Variable(start=0.0, state="prefer") for name in preferred}
    return ac.compile(type("Chosen", (Shared,), {"source": source, "sets": sets, **chosen})())


def jump(model: Any, source: str, **changed: float) -> Any:
    if source == "parameter":
        return model.start(set=changed).advance(0.5).advance(0.6, set={"U": 3.0}).result()
    return model.simulate(until=0.6, set=changed, inputs={"u": ac.hold([0.0, 0.5], [0.0, 3.0])} if source == "input" else {})


@pytest.mark.parametrize("preferred", ["", "a", "b"])
@pytest.mark.parametrize("source", ["time", "input", "parameter", "state"])
def test_relations_see_where_an_impulse_leads(preferred: str, source: str) -> None:
    """Neither what was before it, nor what would be if one of the states were held."""
    model = shared(preferred, source)
    for a, b, both in ((0.5, 0.5, 1.9), (1.9, 0.9, 2.2), (2.5, 1.5, 0.1), (2.9, 2.5, 2.2)):
        result = jump(model, source, level_a=a, level_b=b, level=both)
        assert result["a"][-1] == pytest.approx(2.0, abs=1e-2) and "an impulse passes" in result.diagnostics[0].what
        found = tuple(int(result[name][-1]) for name in ("passed_a", "passed_b", "passed"))
        assert found == (a < 2, b < 1, both < 2), (a, b, both)


@pytest.mark.parametrize("preferred", ["a", "b"])
def test_an_impulse_is_not_lost_because_something_else_is_set(preferred: str) -> None:
    result = jump(shared(preferred, "time", sets=True), "time")
    assert result["a"][-1] == pytest.approx(2.0, abs=1e-2) and result["s"][-1] == pytest.approx(0.1)
    assert "a: 0 → 2" in str(result.diagnostics[0])


@pytest.mark.parametrize("level", np.round(np.linspace(0.18, 0.9, 25), 2).tolist())
def test_an_impulse_moves_nothing_across_a_level_but_what_it_moves(level: float) -> None:
    """s passes the level at the time of the jump, but for a rounding."""

    class Both(Shared):
        passed_time = ac.Integer(0)

        def equations(self) -> Statements:
            yield ac.der(self.s) == 1.0
            yield self.a + self.b == ac.where(ac.time >= level, 3.0, 0.0)
            yield ac.der(self.a) == self.q - self.a
            yield 2 * ac.der(self.b) == self.q - self.b

        def events(self) -> Statements:
            yield ac.when(self.s > level, ac.assign(self.passed_time, ac.pre(self.passed_time) + 1))

    assert int(ac.compile(Both()).simulate(until=1.0, rtol=1e-8)["passed_time"][-1]) == 1


def test_what_is_set_stays_what_it_was_set_to() -> None:
    """Two wheels on one shaft: one is set, the other follows; no impulse makes a mean of them."""

    class Shaft(ac.Component):
        v, w, F = ac.Variable(start=1.0, fixed=True), ac.Variable(), ac.Variable()

        def equations(self) -> Statements:
            yield ac.der(self.v) == self.F
            yield 3 * ac.der(self.w) == -self.F
            yield self.w == 2 * self.v

        def events(self) -> Statements:
            yield ac.when(ac.time >= 0.5, ac.reinit(self.v, -0.5 * ac.pre(self.v)))

    result = ac.compile(Shaft()).simulate(until=1.0)
    assert result["v"][-1] == pytest.approx(-0.5) and result["w"][-1] == pytest.approx(-1.0)


class Carried(ac.Component):
    """A trolley with a motor of its own on a course that bends: F - w = 2 x'', w' = F. Nothing of the course is integrated."""

    given = ac.Input(0.0)
    x, v, F, w = ac.Variable(), ac.Variable(), ac.Variable(), ac.Variable(start=0.0, fixed=True)

    def __init__(self, course: Any = None) -> None:
        self.course = course

    def equations(self) -> Statements:
        yield self.x == (self.given if self.course is None else self.course(ac.time))
        yield ac.der(self.x) == self.v
        yield self.F - self.w == 2.0 * ac.der(self.v)
        yield ac.der(self.w) == self.F


@pytest.mark.parametrize("solver", [{}, {"solver": "sundae"}, {"solver": "fixed", "step": 1e-4}])
@pytest.mark.parametrize("source", ["table", "input"])
def test_a_bend_in_what_time_alone_gives_is_an_impulse(source: str, solver: dict[str, Any]) -> None:
    """Corners at -1, 0 and 1 s: w jumps by 2, -2 and 2 and grows as exp(t) in between."""
    times, places = [-2.0, -1.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0, 2.0]
    course = ac.Table(times, places, method="linear") if source == "table" else None
    inputs = {} if source == "table" else {"given": (times, places)}
    result = ac.compile(Carried(course)).simulate(start=-1.5, until=1.5, inputs=inputs, rtol=1e-8, **solver)
    exact = 2 * (np.exp(2.5) - np.exp(1.5) + np.exp(0.5))
    assert result["w"][-1] == pytest.approx(exact, rel=1e-4 if "step" in solver else 1e-6)
    assert len(result.diagnostics) == 3
    told = str(result.diagnostics[0])
    assert "At time -1 " in told and "v: 0 → 1" in told and "impulse:   F: 2 " in told
