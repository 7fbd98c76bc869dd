"""Measured inputs: straight lines between points. The native session passes their corners by itself, as Python would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.events.driver import Hybrid

TIMES = np.cumsum([0.0, 0.3, 0.7, 0.05, 1.0, 2.0, 0.4, 0.55])
VALUES = np.array([0.0, 3.0, -1.0, 2.0, 2.0, 0.5, 4.0, -2.0])
END = float(TIMES[-1])


class Filter(ac.Component):
    """tau x' = a u - x, and what follows from both at once."""

    tau, a = ac.Parameter(0.5), ac.Parameter(2.0)
    u = ac.Input(0.0)
    x = ac.Variable(start=1.0, fixed=True)
    y, z = ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield self.tau * ac.der(self.x) == self.a * self.u - self.x
        yield self.y + 0.3 * ac.sin(self.z) == self.u + self.x
        yield self.z - 0.3 * ac.cos(self.y) == self.u * self.x


def exact(t: float, tau: Any = 0.5, a: Any = 2.0) -> Any:
    """The answer piece by piece: a line's is a line, and what is left decays."""
    x: Any = 1.0
    for k in range(len(TIMES) - 1):
        begin, end = TIMES[k], min(TIMES[k + 1], t)
        slope = a * (VALUES[k + 1] - VALUES[k]) / (TIMES[k + 1] - begin)
        line = a * VALUES[k] - tau * slope
        x = line + slope * (end - begin) + (x - line) * np.exp(-(end - begin) / tau)
        if t <= TIMES[k + 1]:
            break
    return x


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_closed_form(rtol: float) -> None:
    result = ac.compile(Filter()).simulate(END, points=57, rtol=rtol, inputs={"u": (TIMES, VALUES)})
    assert result.statistics["bends"] == len(TIMES) - 2
    np.testing.assert_allclose(result["x"], [exact(t) for t in result.time], atol=20 * rtol)
    u = np.interp(result.time, TIMES, VALUES)
    np.testing.assert_allclose(result["y"] + 0.3 * np.sin(result["z"]), u + result["x"], atol=20 * rtol)


class Switched(Filter):
    """With what happens by itself, by a clock, and at a corner's time exactly."""

    on, n = ac.Boolean(start=False), ac.Integer(start=0)

    def equations(self) -> Any:
        yield self.tau * ac.der(self.x) == self.a * self.u - self.x + ac.where(self.on, 0.5, 0.0)
        yield self.y + 0.3 * ac.sin(self.z) == self.u + self.x + ac.where(ac.time > float(TIMES[3]), 0.1, 0.0)
        yield self.z - 0.3 * ac.cos(self.y) == self.u * self.x

    def events(self) -> Any:
        yield ac.when(self.x > 1.5, ac.assign(self.on, True)).elsewhen(self.x < 0.5, ac.assign(self.on, False))
        yield ac.when(ac.sample(0.0, 0.4), ac.assign(self.n, ac.pre(self.n) + 1))


@pytest.mark.parametrize("component", [Filter, Switched])
def test_the_same_as_in_python(component: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ac.compile(component())
    asked: dict[str, Any] = {"until": END, "points": 57, "inputs": {"u": (TIMES, VALUES)}}
    ours = model.simulate(**asked)
    monkeypatch.setattr(Hybrid, "_tell_bends", lambda self: None)
    theirs = model.simulate(**asked)
    assert ours.statistics["bends"] >= len(TIMES) - 3 and not theirs.statistics["bends"]  # one is at an event
    assert all(ours.statistics[k] == theirs.statistics[k] for k in ("steps", "restarts", "events"))
    for name in ("time", "x", "y", "z"):
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_a_session_that_stops_at_corners() -> None:
    model = ac.compile(Filter())
    whole = model.simulate(END, at=TIMES, rtol=1e-8, inputs={"u": (TIMES, VALUES)})
    session = model.start(inputs={"u": (TIMES, VALUES)}, rtol=1e-8)
    for t, x in zip(TIMES[1:], whole["x"][1:], strict=True):
        session.advance(float(t))
        assert session["x"] == pytest.approx(x, abs=1e-6)
        assert session["x"] == pytest.approx(exact(float(t)), abs=1e-6)


def test_sensitivities_go_on_over_corners() -> None:
    model, at = ac.compile(Filter()), np.linspace(0.1, END, 23)
    asked: dict[str, Any] = {"at": at, "rtol": 1e-9, "inputs": {"u": (TIMES, VALUES)}}
    result = model.simulate(END, sensitivities=["tau", "a"], **asked)
    for name, value in (("tau", 0.5), ("a", 2.0)):
        derivative = [np.imag(exact(t, **{name: value + 1e-30j})) / 1e-30 for t in at]
        np.testing.assert_allclose(result.sensitivity("x", name), derivative, atol=1e-6)
    found = model.gradient(["x", "z"], ["tau", "a"], until=END, **asked)
    for output in ("x", "z"):
        forward = [result.sensitivity(output, name)[-1] for name in ("tau", "a")]
        np.testing.assert_allclose([found[output, name] for name in ("tau", "a")], forward, rtol=1e-7)


class Released(ac.Component):
    """What an input brings counts from an event on that depends on time alone."""

    u, z = ac.Input(0.0), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.z) == ac.where(ac.time > 0.8, self.u, 0.0)


@pytest.mark.parametrize("off", [0.0, -1.2e-16, 1.5e-16, -1e-15, 1e-15, -4e-15, -1e-13, 1e-13])
def test_a_knot_a_rounding_beside_a_time_event_loses_nothing(off):
    given = ([0.0, 0.8 * (1 + off), 2.0], [0.0, 1.0, 0.0])
    result = ac.compile(Released()).simulate(until=2.0, inputs={"u": given}, rtol=1e-8)
    assert len(result.events) == 1
    assert result["z"][-1] == pytest.approx(0.6, rel=1e-6)
