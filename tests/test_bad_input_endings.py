"""Runs that assertions, warnings, `terminate` or too many events end, each with its message."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from messages import holds, stopped, wrong

import acausal as ac

HERE = Path(__file__).name


# --- endings ----------------------------------------------------------------------------------------------------------------
def test_an_assertion_at_the_start():
    text, result = stopped(wrong(lambda m: ac.assert_(m.x > 0.5, "x is too small")), ac.Outcome.ASSERTION)
    holds(text, "violated at time 0: x is too small", "ac.assert_(m.x > 0.5", "Wrong", HERE, "start values", "try:")
    assert result.time.tolist() == [0.0] and result["x"][0] == 0.0


def test_an_assertion_about_a_parameter():
    text, _ = stopped(wrong(lambda m: ac.assert_(m.k < 1, "k is too large")), ac.Outcome.ASSERTION)
    holds(text, "k is too large", HERE)


def test_an_assertion_during_a_run():
    text, result = stopped(wrong(lambda m: ac.assert_(m.x < 0.5, "x is too large")), ac.Outcome.ASSERTION)
    holds(text, "violated at time 0.5: x is too large", "ac.assert_(m.x < 0.5", HERE, "try:")
    assert result.time[-1] == pytest.approx(0.5, rel=1e-9)


def test_an_element_of_an_asserted_array_is_named():
    class Row(ac.Component):
        x = ac.Variable(start=0.0, fixed=True, shape=3)

        def equations(self):
            yield ac.der(self.x) == np.array([0.0, 2.0, 1.0])

        def events(self):
            yield ac.assert_(self.x < 1, "too large")

    text, _ = stopped(Row(), ac.Outcome.ASSERTION)
    holds(text, "at time 0.5", "element [1]")


def test_a_warning_does_not_end_a_run():
    text, result = stopped(wrong(lambda m: ac.assert_(m.x < 0.5, "x is large", level="warning")), ac.Outcome.FINISHED)
    holds(text, "does not hold at time 0.5: x is large")
    assert result.time[-1] == 3.0


def test_a_warning_is_given_once_however_often_and_of_how_many_cells():
    class Waves(ac.Component):
        x = ac.Variable(shape=3, start=np.array([0.0, 0.1, 0.2]), fixed=True)
        v = ac.Variable(shape=3, start=1.0, fixed=True)
        times = ac.Integer(start=0)

        def equations(self):
            yield ac.der(self.x) == self.v
            yield ac.der(self.v) == -self.x

        def events(self):
            yield ac.assert_(self.x < 0.5, "x is outside of its range", level="warning")
            yield ac.when(self.x[0] > 0.5, ac.assign(self.times, ac.pre(self.times) + 1))

    with pytest.warns(ac.RunWarning, match="went on, but:\nAn assertion does not hold at time .*x is outside") as heard:
        result = ac.compile(Waves()).simulate(until=60.0)
    assert len(heard) == 1
    assert result["times"][-1] == 10  # it left its range that often
    assert sum("outside of its range" in d.what for d in result.diagnostics) == 1


def test_a_session_tells_of_a_warning_when_it_comes_and_once():
    model = ac.compile(wrong(lambda m: ac.assert_(m.x < 0.5, "x is large", level="warning")))
    session = model.start()
    session.advance(0.4)
    with pytest.warns(ac.RunWarning, match="went on, but:\nAn assertion does not hold at time 0.5"):
        session.advance(0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.advance(1.0)


def test_a_run_that_stops_tells_why_before_what_it_warned_of():
    class Warned(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == 1.0

        def events(self):
            for k in range(5):
                yield ac.assert_(self.x < 0.1 * k - 0.01, f"above {k}", level="warning")
            yield ac.assert_(self.x < 2.0, "full")

    with pytest.warns(ac.RunWarning, match="full") as heard:
        result = ac.compile(Warned()).simulate(until=3.0)
    assert "above" not in str(heard[0].message) and len(result.diagnostics) == 6


def test_a_model_that_ends_its_run():
    text, result = stopped(wrong(lambda m: ac.when(m.x > 1, ac.terminate("full"))), ac.Outcome.TERMINATED)
    holds(text, "ended the run at time 1: full", 'ac.terminate("full")', HERE)
    assert result.time[-1] == pytest.approx(1.0, rel=1e-9) and len(result.events) == 1


# --- too many events --------------------------------------------------------------------------------------------------------
class Ball(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    e = ac.Parameter(0.7)

    def equations(self):
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self):
        yield ac.when(self.h <= 0, ac.reinit(self.v, -self.e * ac.pre(self.v)))


def test_a_ball_that_comes_to_rest_is_told_when():
    text, result = stopped(Ball(), ac.Outcome.ZENO, until=5.0, rtol=1e-9)
    first, e = np.sqrt(2 / 9.81), 0.7
    limit = first * (1 + 2 * e / (1 - e))
    assert limit - 1e-3 < result.time[-1] <= limit + 1e-9
    holds(text, "pile up at time 2.55", "h <= 0", "Ball", f"{HERE}:", "let it rest", "ac.States", "ac.terminate", "try:")
    k = np.arange(len(result.events))
    np.testing.assert_allclose(result.events.times, first * (1 + 2 * e * (1 - e**k) / (1 - e)), rtol=1e-6)


def test_chattering_is_explained_soon():
    class Relay(ac.Component):
        x = ac.Variable(start=0.5, fixed=True)
        on = ac.Boolean(start=False)

        def equations(self):
            yield ac.der(self.x) == ac.where(self.on, -1.0, 1.0)
            yield self.on == (self.x > 1)

    class Plant(ac.Component):
        def __init__(self):
            self.relay = Relay()

    model = ac.compile(Plant())
    begin = time.process_time()
    result = model.simulate(until=1000.0)
    assert time.process_time() - begin < 2.0  # the bar, of processor time
    assert result.outcome is ac.Outcome.CHATTERING and len(result.events) < 100
    text = "\n".join(map(str, result.diagnostics))
    holds(text, "at time 0.5", "x > 1", "relay (Relay)", f"{HERE}:", "hysteresis", "ac.no_event", 'sliding="filippov"', "try:")
    np.testing.assert_allclose(result["relay.x"], 0.5 + result.time, atol=1e-6)
