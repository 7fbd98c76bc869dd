"""Controllers of plants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import control, refrigeration, signal


class Heated(ac.Component):
    """A body that a controller heats: 20 s to warm up, one kelvin for each per cent."""

    T = ac.Variable(start=0.0, fixed=True)
    tau = ac.Parameter(20.0, unit="s")

    def __init__(self, **limits: float) -> None:
        self.control, self.wanted = control.LimitedPID(k=0.1, Ti=10.0, Td=1.0, **limits), signal.Step(height=10.0, start_time=1.0)

    def connections(self) -> Any:
        yield self.wanted.y, self.control.setpoint

    def equations(self) -> Any:
        yield self.control.measured == self.T
        yield self.tau * ac.der(self.T) == 20.0 * self.control.y - self.T


def test_a_controller_reaches_its_setpoint_and_keeps_its_limits() -> None:
    result = ac.compile(Heated()).simulate(until=300.0)
    assert result["T"][-1] == pytest.approx(10.0, abs=1e-4)
    assert result["control.y"].max() <= 1.0


def test_its_integral_does_not_run_away() -> None:
    """At a limit that keeps it from its setpoint the integral stays finite."""
    result = ac.compile(Heated(y_max=0.3)).simulate(until=5000.0)
    assert result["T"][-1] == pytest.approx(6.0, abs=1e-3)
    assert abs(float(result["control.x"][-1])) < 20.0


def test_a_rate_is_limited(wired: Any) -> None:
    plant = wired("step.y limiter.u", step=signal.Step(start_time=1.0), limiter=control.RateLimiter(rising=0.1))
    result = ac.compile(plant).simulate(until=20.0)
    y = np.asarray(result["limiter.y"])
    assert np.interp(6.0, result.time, y) == pytest.approx(0.5, abs=1e-3)
    assert y[-1] == pytest.approx(1.0, abs=1e-4)


class Rack(ac.Component):
    """A pressure that compressors pull down, each by one; two and a half would be needed."""

    p = ac.Variable(start=6.0, fixed=True)
    tau = ac.Parameter(10.0, unit="s")

    def __init__(self) -> None:
        self.staging = control.Staging(setpoint=4.0, band=0.5, stages=4)

    def equations(self) -> Any:
        yield self.staging.measured == self.p
        yield self.tau * ac.der(self.p) == 6.5 - self.p - 4 * self.staging.y


def test_stages_come_one_at_a_time() -> None:
    result = ac.compile(Rack()).simulate(until=2000.0, points=2001)
    running = np.asarray(result["staging.running"])
    assert np.abs(np.diff(running)).max() == 1
    assert set(running[result.time > 1000.0]) <= {2, 3}  # two and a half are needed
    assert running[int(np.searchsorted(result.time, 35.0))] == 1


class Evaporating(ac.Component):
    """What a valve does to superheat: the wider, the less, within a time constant; the load moves it."""

    load = ac.Input(0.4, doc="opening at which superheat is 8 K")
    superheat = ac.Variable(start=8.0, fixed=True, unit="K", doc="superheat")

    def __init__(self) -> None:
        self.control = control.SuperheatController()

    def equations(self) -> Iterator[Any]:
        yield 20.0 * ac.der(self.superheat) == 8.0 - 30.0 * (self.control.y - self.load) - self.superheat
        yield self.control.measured == self.superheat


@pytest.mark.parametrize("load", [0.2, 0.4, 0.8])
def test_superheat_comes_to_what_is_stable_at_that_load(load: float) -> None:
    result = ac.compile(Evaporating()).simulate(until=3000.0, inputs={"load": load})
    y, superheat = result["control.y"][-1], result["superheat"][-1]
    assert superheat == pytest.approx(5.0 + 4.0 * y, abs=1e-3)
    assert y == pytest.approx((8.0 - 5.0 + 30.0 * load) / 34.0, abs=1e-3)


def test_a_valve_closes_in_a_hurry_where_liquid_is_about_to_leave() -> None:
    model = ac.compile(Evaporating())
    fast, slow = (
        model.simulate(until=660.0, points=661, inputs={"load": lambda t: 0.8 if t < 600 else 0.3}, set={"control.urgent": u})
        for u in (4.0, 1.0)
    )
    assert fast["control.y"][620] < slow["control.y"][620] - 0.02
    assert fast["superheat"][620:].min() > slow["superheat"][620:].min()


def test_a_controller_at_its_limit_comes_back_at_once_and_rests_while_off(wired: Any) -> None:
    model = ac.compile(Evaporating())
    result = model.simulate(until=2000.0, points=2001, inputs={"load": lambda t: 2.0 if t < 1000 else 0.3})
    y = result["control.y"]
    assert y[990] == pytest.approx(1.0) and y[1100] < 0.6  # no integral has run away
    switch = thermostat(wired)
    held = ac.compile(switch).simulate(until=400.0, points=401)
    off = [s for s in held.states("control.run") if s.state == "off"]
    assert off and np.ptp(held["control.x"][(held.time > off[0].start + 1) & (held.time < off[0].end - 1)]) == 0.0
    assert held.at(0.5 * (off[0].start + off[0].end))["control.y"] == 0.0


def thermostat(wired: Any) -> Any:
    return wired("clock.allow control.run", control=control.SuperheatController(measured=12.0),
                 clock=refrigeration.DefrostClock(first=100.0, longest=100.0, drip=50.0))  # fmt: skip


def test_limits_that_are_exchanged() -> None:
    with pytest.raises(ac.AcausalError, match="`lowest` above `highest`"):
        ac.compile(Evaporating()).simulate(until=1.0, set={"control.lowest": 12.0}, on_failure="raise")
