"""Models at the edge of what switching semantics can decide: each with a right answer, found at one instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import electrical
from benchmarks.switching import Graetz


class Knee(ac.Component):
    """A spring with a damper that never pulls; the speed is the state v or the derivative of the state s, which is the same."""

    s, v = ac.Variable(start=0.0), ac.Variable(start=-3.0)

    def __init__(self, by_derivative: bool) -> None:
        self.by_derivative = by_derivative

    def equations(self) -> Any:
        speed = ac.der(self.s) if self.by_derivative else self.v
        yield ac.der(self.s) == self.v
        yield ac.der(self.v) == -400 * self.s - ac.max(10 * speed, 400 * self.s)


@pytest.mark.parametrize("by_derivative", [False, True])
def test_a_relation_may_contain_the_derivative_of_a_state(by_derivative: bool) -> None:
    result = ac.compile(Knee(by_derivative)).simulate(until=0.1, rtol=1e-9)
    assert result.outcome is ac.Outcome.FINISHED
    assert len(result.events) == 1


class Jump(ac.Component):
    """Runs while u is positive; u becomes zero at t = 1."""

    x, u = ac.Variable(start=0.0), ac.Variable()

    def equations(self) -> Any:
        yield self.u == ac.where(ac.time >= 1.0, 0.0, 1.0)
        yield ac.der(self.x) == ac.where(self.u <= 0, 0.0, 1.0)


def test_a_jump_onto_the_switching_point_is_seen() -> None:
    assert ac.compile(Jump()).simulate(until=2.0)["x"][-1] == pytest.approx(1.0)


class Freewheeling(ac.Component):
    """A coil whose supply is cut at t = 1 by an exact switch: at the same instant an exact diode has to conduct."""

    i, v, diode = ac.Variable(start=1.0), ac.Variable(), ac.Variable()
    blocking = ac.Boolean(start=True)

    def equations(self) -> Any:
        yield ac.der(self.i) == self.v - self.i
        yield ac.where(ac.time < 1.0, self.v - 5.0, self.i - self.diode) == 0
        yield self.blocking == (ac.where(ac.pre(self.blocking), -self.v, self.diode) <= 0)
        yield ac.where(self.blocking, self.diode, self.v) == 0


def test_a_switch_and_a_diode_switch_together() -> None:
    result = ac.compile(Freewheeling()).simulate(until=2.0, rtol=1e-8)
    at_cut = 5.0 - 4.0 * np.exp(-1.0)
    assert result["i"][-1] == pytest.approx(at_cut * np.exp(-1.0), rel=1e-6)
    assert result["blocking"][-1] == 0


class Late(ac.Component):
    """With the start values of the discrete variables y is not determined; with those after the event at the start it is."""

    x, y = ac.Variable(start=1.0), ac.Variable()
    on = ac.Boolean(start=False)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.y
        yield ac.where(self.on, self.y - self.x, 0 * self.y) == 0

    def events(self) -> Any:
        yield ac.when(ac.sample(0.0, 1.0), ac.assign(self.on, True))


def test_the_event_at_the_start_may_make_the_equations_solvable() -> None:
    assert ac.compile(Late()).simulate(until=2.0)["x"][-1] == pytest.approx(np.exp(-2.0), rel=1e-5)


class TwoRelations(electrical.TwoPin):
    """The conditional diode as it is usually written, with one relation for the voltage and one for the current."""

    ohm = ac.Constant(1.0, unit="ohm")
    blocking = ac.Boolean(start=True)

    def equations(self) -> Any:
        yield from super().equations()
        yield self.blocking == ac.where(ac.pre(self.blocking), self.v <= 0, self.i < 0)
        yield ac.where(self.blocking, self.ohm * self.i, self.v) == 0


@pytest.mark.parametrize("phase", [0.0, np.pi / 2, 4.0])
def test_a_diode_may_look_at_voltage_and_current(phase: float) -> None:
    result = ac.compile(Graetz(TwoRelations, stray=0.0, phase=phase)).simulate(until=0.06, rtol=1e-9)
    assert result.outcome is ac.Outcome.FINISHED
    assert max(result[f"d{k}.v"].max() for k in (1, 2, 3, 4)) < 1e-6
