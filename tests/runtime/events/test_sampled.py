"""Relations on inputs that are functions: every change is seen, or the user is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.runtime.inputs import table


class Gate(ac.Component):
    """Seconds for which the input is above a level."""

    level = ac.Parameter(0.5)
    u = ac.Input()
    seconds = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.seconds) == ac.where(2 * self.u > 2 * self.level, 1.0, 0.0)


MODEL = ac.compile(Gate())


@given(f=st.floats(0.3, 200.0), phase=st.floats(0.0, 6.28), level=st.floats(-0.97, 0.97))
@settings(max_examples=12, deadline=None)
def test_all_crossings_of_a_sine(f: float, phase: float, level: float) -> None:
    result = MODEL.simulate(until=1.0, points=2, inputs={"u": lambda t: np.sin(2 * np.pi * f * t + phase)}, set={"level": level})
    first, last = np.arcsin(level), np.pi - np.arcsin(level)
    turns = np.arange(-2, int(f) + 4)
    low, high = (np.clip((a + 2 * np.pi * turns - phase) / (2 * np.pi * f), 0.0, 1.0) for a in (first, last))
    assert result["seconds"][-1] == pytest.approx((high - low).sum(), abs=1e-6)


def test_a_smooth_table() -> None:
    t = np.linspace(0.0, 1.0, 2001)
    signal = table(t, np.sin(2 * np.pi * 40 * t), "u", "monotone")
    result = MODEL.simulate(until=1.0, points=2, inputs={"u": signal})
    assert len(result.events) == 80
    assert result["seconds"][-1] == pytest.approx(1 / 3, abs=1e-4)


def test_a_slow_function_is_asked_a_few_times_ahead_only() -> None:
    asked: list[float] = []
    result = MODEL.simulate(until=1.0, points=2, inputs={"u": lambda t: asked.append(t) or t})  # type: ignore[func-returns-value]
    assert result["seconds"][-1] == pytest.approx(0.5, abs=1e-9)
    assert len(asked) < 1000


def test_what_cannot_be_followed_is_told() -> None:
    random = np.random.default_rng(0).uniform(0.0, 1.0, 1_000_003)
    with pytest.warns(ac.RunWarning, match="Input u turns more than") as said:
        result = MODEL.simulate(
            until=0.01, points=2, inputs={"u": lambda t: float(random[int(t * 1e9) % 1_000_003])}, max_steps=200, on_failure="keep"
        )
    assert "ac.hold" in str(said[0].message) and "max_step" in str(said[0].message)
    assert any("turns more than" in d.what for d in result.diagnostics)


def test_a_function_that_fails_later_does_so_when_the_run_is_there() -> None:
    def until_two(t: float) -> float:
        if t > 2.0:
            raise ValueError("no data")
        return t

    assert MODEL.simulate(until=1.9, points=2, inputs={"u": until_two})["seconds"][-1] == pytest.approx(1.4, abs=1e-9)
    with pytest.raises(Exception, match="no data"):
        MODEL.simulate(until=3.0, points=2, inputs={"u": until_two})


def test_a_session_that_stays_where_it_is_asks_nothing() -> None:
    """Its function was asked over no time at all, which numpy warned of."""
    session = MODEL.start(inputs={"u": lambda t: np.sin(3 * t)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saved = session.advance(1.0).save()
        session = session.advance(2.0).restore(saved).advance(1.0)
        assert session.advance(1.0).time == 1.0


class Integral(ac.Component):
    u, x = ac.Input(0.0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.u


@pytest.mark.parametrize("width", [0.01, 0.003])
def test_a_pulse_that_the_result_shows_was_followed(width: float) -> None:
    model = ac.compile(Integral())
    for begin in np.random.default_rng(3).uniform(0.05, 0.9, 20):
        result = model.simulate(until=1.0, inputs={"u": lambda t, a=begin: 1.0 if a <= t < a + width else 0.0})
        assert result["u"].max() == 1.0 and abs(result["x"][-1] - width) < 1e-6


def test_a_pulse_at_one_output_point_alone_is_followed() -> None:
    result = ac.compile(Integral()).simulate(until=1.0, every=0.001, inputs={"u": lambda t: float(abs(t - 0.437) < 1e-5)})
    assert result["u"].max() == 1.0 and abs(result["x"][-1] - 2e-5) < 1e-8
