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
