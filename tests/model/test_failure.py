"""A run that stops early is heard; Ctrl-C ends more than the run; runs do not wait for each other."""

from __future__ import annotations

import datetime
import os
import signal
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError


class Escape(ac.Component):
    """x(t) = 1 / (1 - t)"""

    x = ac.Variable(start=1.0)

    def equations(self):
        yield ac.der(self.x) == self.x**2


class Decay(ac.Component):
    u, x = ac.Input(0.0), ac.Variable(start=1.0, fixed=True)
    k = ac.Parameter(1.0)

    def equations(self):
        yield ac.der(self.x) == self.u - self.k * self.x


class Stiff(ac.Component):
    x, y = ac.Variable(start=2.0), ac.Variable(start=0.0)

    def equations(self):
        yield ac.der(self.x) == self.y
        yield ac.der(self.y) == 1000.0 * (1 - self.x**2) * self.y - self.x


class Ball(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self):
        yield ac.when(self.h < 0, ac.reinit(self.v, -0.8 * ac.pre(self.v)))


def test_a_run_that_stops_early_warns_where_it_was_asked_for() -> None:
    model = ac.compile(Escape())
    with pytest.warns(ac.RunWarning, match=r"Escape stopped at time 0\.9999\d+\. Time no longer moves") as caught:
        result = model.simulate(until=2.0)
    assert caught[0].filename == __file__
    assert not result.outcome and not result.outcome.ok
    assert "x: local error" in str(caught[0].message)


def test_a_run_that_stops_early_raises_on_request_and_its_result_is_kept() -> None:
    with pytest.raises(ac.RunFailed, match="Escape stopped at time") as caught:
        ac.compile(Escape()).simulate(until=2.0, on_failure="raise")
    assert caught.value.result["x"][-1] > 1e3


def test_silence_on_request() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ac.compile(Escape()).simulate(until=2.0, on_failure="keep")
    assert not result.outcome
    assert ac.compile(Decay()).simulate(until=1.0).outcome


def test_on_failure_is_one_of_three() -> None:
    with pytest.raises(UsageError, match='`on_failure` is "warn", "raise" or "keep", got \'ignore\''):
        ac.compile(Decay()).simulate(until=1.0, on_failure="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_ctrl_c_ends_the_loop_that_runs_are_in(solver: str) -> None:
    model, runs = ac.compile(Stiff()), 0

    def ctrl_c(t: float) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        for _ in range(3):
            model.simulate(until=3e3, rtol=1e-9, solver=solver, progress=ctrl_c, progress_interval=0.0)
            runs += 1
    assert runs == 0
    assert isinstance(caught.value, ac.Interrupted)
    assert caught.value.result.outcome is ac.Outcome.CANCELLED and len(caught.value.result.time) >= 1
    assert model.simulate(until=1.0).outcome


def test_an_input_function_may_run_the_same_model() -> None:
    model = ac.compile(Decay())
    within = lambda t: float(model.simulate(until=1.0)["x"][-1])  # noqa: E731
    result = model.simulate(until=1.0, inputs={"u": within}, points=3)
    e = np.exp(-1.0)
    assert result["x"][-1] == pytest.approx(e + (1 - e) * e, rel=1e-5)


def test_threads_simulate_one_model_at_the_same_time() -> None:
    model = ac.compile(Decay())

    def run(k: int) -> float:
        return float(model.simulate(until=1.0, set={"k": k / 10}, rtol=1e-8, points=3)["x"][-1])

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(run, range(1, 201)))
    np.testing.assert_allclose(found, np.exp(-np.arange(1, 201) / 10), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "hour", [datetime.timedelta(hours=1), np.timedelta64(3600, "s"), np.timedelta64(1, "h"), np.timedelta64(3600 * 10**9, "ns")]
)
def test_durations_are_times(hour: object) -> None:
    result = ac.compile(Decay()).simulate(until=hour, at=[hour], points=None)
    assert result.time.tolist() == [3600.0]


@pytest.mark.parametrize("wrong", [(0, 10), None, float("nan"), True, np.array([1.0, 2.0])])
def test_what_is_no_time_is_told(wrong: object) -> None:
    with pytest.raises(UsageError, match="`until` is a time, got"):
        ac.compile(Decay()).simulate(until=wrong)  # type: ignore[arg-type]


def test_names_are_texts() -> None:
    model = ac.compile(Decay())
    with pytest.raises(UsageError, match=r'A name is a text such as "room.T", got \[\'x\'\] of type list'):
        model.get(["x"])
    with pytest.raises(UsageError, match="A name is a text"):
        model.simulate(until=1.0)[3]


@pytest.mark.parametrize("wrong", [3, object(), ["ida"], int])
def test_what_is_no_solver_is_told(wrong: object) -> None:
    with pytest.raises(UsageError, match="`solver` is a name or a solver, got"):
        ac.compile(Decay()).simulate(until=1.0, solver=wrong)  # type: ignore[arg-type]


def test_a_solver_may_be_given_itself() -> None:
    from acausal.runtime.ida import Ida

    for solver in (Ida, Ida()):
        assert ac.compile(Decay()).simulate(until=1.0, solver=solver)["x"][-1] == pytest.approx(np.exp(-1), rel=1e-5)


class Blind:
    """A solver that knows nothing of events."""

    name, doc, options = "blind", "for tests", ()

    def run(self, problem, request):  # type: ignore[no-untyped-def]
        raise AssertionError("it must not be asked")


def test_a_solver_without_events_is_refused_where_there_are_some() -> None:
    with pytest.raises(UsageError, match=r"The model has events \(relations that switch, states that are set\)") as caught:
        ac.compile(Ball()).simulate(until=2.0, solver=Blind())
    assert "solver `blind` looks for none" in str(caught.value) and "h < 0" in str(caught.value)


@pytest.mark.parametrize("names", [5, 3.5, ["x", 3], {"x": None, 4: None}])
def test_what_is_to_be_drawn_or_tabulated_has_a_name(names: object) -> None:
    result = ac.compile(Decay()).simulate(until=1.0)
    for use in (result.plot, result.to_pandas):
        with pytest.raises(UsageError, match="A variable's name was expected, not"):
            use(names)  # type: ignore[operator]
