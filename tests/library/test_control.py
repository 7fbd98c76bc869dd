"""Controllers of plants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import control, signal


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
