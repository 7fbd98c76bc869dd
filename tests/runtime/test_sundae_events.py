"""Models with events on the portable solver: closed forms, and the native solver's results; also without the native core."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import small_problems as problems

import acausal as ac
from acausal.results.result import Result
from acausal.runtime import ida, problem
from acausal.runtime.crossings import crosses, first_crossing
from acausal.runtime.outcome import Outcome
from acausal.runtime.run import PlugIn
from acausal.runtime.solver import Request
from acausal.runtime.status import Status
from acausal.runtime.stepping import Stepping
from acausal.runtime.sundae import Sundae

GRAVITY = 9.81


class Ball(ac.Component):
    """Bounces with a loss."""

    e = ac.Parameter(0.7)
    h = ac.Variable(start=1.0, fixed=True)
    v = ac.Variable(start=0.0, fixed=True)
    bounces = ac.Integer(start=0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -GRAVITY

    def events(self) -> Iterator[Any]:
        yield ac.when(self.h < 0, ac.reinit(self.v, -self.e * ac.pre(self.v)), ac.assign(self.bounces, ac.pre(self.bounces) + 1))


class Thermostat(ac.Component):
    """A heater that switches on below 19 and off above 21, in a room with an algebraic loss."""

    T = ac.Variable(start=15.0, fixed=True)
    loss = ac.Variable()
    on = ac.Boolean(start=True)

    def equations(self) -> Iterator[Any]:
        yield self.loss == 0.1 * self.T
        yield ac.der(self.T) == ac.where(self.on, 4.0, 0.0) - self.loss

    def events(self) -> Iterator[Any]:
        yield ac.when(self.T > 21, ac.assign(self.on, 0)).elsewhen(self.T < 19, ac.assign(self.on, 1))


class Timed(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.where(ac.time >= 0.3, 1.0, -2.0)


class Sampled(ac.Component):
    """A controller that reads every 0.1 s."""

    x = ac.Variable(start=1.0, fixed=True)
    u = ac.Discrete(start=0.0)
    ticks = ac.Integer(start=0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -self.x + self.u

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.sample(0.0, 0.1), ac.assign(self.u, -2.0 * ac.pre(self.x)), ac.assign(self.ticks, ac.pre(self.ticks) + 1))


class Ending(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 2.0

    def events(self) -> Iterator[Any]:
        yield ac.when(self.x > 0.5, ac.terminate("far enough"))


class Finished(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 2.0

    def events(self) -> Iterator[Any]:
        yield ac.when(ac.initial(), ac.terminate("at once"))


class Wave(ac.Component):
    """An oscillator whose crossings are counted and change nothing else; steps are counted, too."""

    x = ac.Variable(start=0.0, fixed=True)
    v = ac.Variable(start=1.0, fixed=True)
    up = ac.Integer(start=0)
    steps = ac.Integer(start=0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x

    def events(self) -> Iterator[Any]:
        yield ac.when(self.x > 0.5, ac.assign(self.up, ac.pre(self.up) + 1))
        yield ac.after_step(ac.assign(self.steps, self.steps + 1))


class Latch(ac.Component):
    """A flag set after the step that passes 0.5: no root is searched."""

    x = ac.Variable(start=0.0, fixed=True)
    late = ac.Boolean(start=False)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.where(self.late, 0.0, 1.0)

    def events(self) -> Iterator[Any]:
        yield ac.after_step(ac.assign(self.late, ac.no_event(self.x > 0.5)))


def without_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where nothing could be built."""
    monkeypatch.setitem(sys.modules, "acausal._core", None)
    monkeypatch.setattr(problem, "core", None)
    monkeypatch.setattr(ida, "core", None)


@pytest.fixture(params=["native evaluation", "no native core"])
def evaluated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "no native core":
        without_core(monkeypatch)
    else:
        pytest.importorskip("acausal._core")


def simulate(component: ac.Component, until: float, **more: Any) -> Result:
    return ac.compile(component).simulate(until=until, solver=more.pop("solver", "sundae"), **more)


def session_of(component: ac.Component, t_end: float, **options: Any) -> Stepping:
    model = ac.compile(component)
    p = model.problem
    stored = problem.Stored(np.arange(p.size, dtype=np.int32))
    request = Request(0.0, t_end, np.zeros(0), p.start.copy(), np.zeros(p.size), stored, 1e-8, 1e-8, options=options)
    return PlugIn(Sundae(), p, request.checked(p)).session


# ------------------------------------------------------------------------------------------------ closed forms


@pytest.mark.usefixtures("evaluated")
class TestAgainstClosedForms:
    def test_a_ball_bounces_when_it_must(self) -> None:
        run = simulate(Ball(), 2.0, rtol=1e-8)
        fall = np.sqrt(2 / GRAVITY)
        flights = 2 * fall * 0.7 ** np.arange(1, 10)
        exact = fall + np.concatenate([[0.0], np.cumsum(flights)])
        exact = exact[exact < 2.0]
        np.testing.assert_allclose(run.events.times, exact, atol=1e-6)
        assert run["bounces"][-1] == len(exact)
        t = run.time - exact[-1]
        last = t >= 0
        speed = GRAVITY * fall * 0.7 ** len(exact)
        np.testing.assert_allclose(run["h"][last][1:], (speed * t - GRAVITY * t**2 / 2)[last][1:], atol=1e-6)

    def test_a_thermostat_switches_at_its_limits(self) -> None:
        run = simulate(Thermostat(), 20.0, rtol=1e-10)
        first = 10 * np.log(25 / 19)  # T = 40 - 25 exp(-t/10)
        off, on = 10 * np.log(21 / 19), 10 * np.log(21 / 19)
        exact = first + np.cumsum([0.0, *[off, on] * 10])
        np.testing.assert_allclose(run.events.times, exact[exact < 20.0], atol=1e-6)
        np.testing.assert_allclose(run["loss"], 0.1 * run["T"], rtol=1e-12)

    def test_a_time_is_hit_exactly(self) -> None:
        run = simulate(Timed(), 1.0)
        assert run.events.times.tolist() == [0.3]
        np.testing.assert_allclose(run["x"], np.where(run.time < 0.3, -2 * run.time, run.time - 0.9), atol=1e-6)

    def test_clocks_tick_exactly(self) -> None:
        run = simulate(Sampled(), 1.0, rtol=1e-8)
        x, decay = [1.0], np.exp(-0.1)
        for _ in range(10):
            x.append(x[-1] * decay - 2 * x[-1] * (1 - decay))
        np.testing.assert_allclose([run["x"][run.time == k / 10][0] for k in range(11)], x, atol=1e-6)
        assert run["ticks"][-1] == 11

    def test_a_model_ends_its_run(self) -> None:
        run = simulate(Ending(), 1.0)
        assert run.outcome is Outcome.TERMINATED and run.time[-1] == pytest.approx(0.25, abs=1e-6)
        assert "far enough" in str(run.diagnostics[0])

    def test_a_run_may_end_at_its_start(self) -> None:
        """The solver never takes a step."""
        run = simulate(Finished(), 1.0)
        assert run.outcome is Outcome.TERMINATED and run.time[-1] == 0.0

    def test_a_crossing_that_changes_no_equation_does_not_restart(self) -> None:
        run = simulate(Wave(), 20.0, rtol=1e-8, points=201)
        turns = np.arcsin(0.5) + 2 * np.pi * np.arange(4)
        assert run["up"][-1] == len(turns) and run.statistics["restarts"] == 1
        np.testing.assert_allclose(run.time[:-1][np.diff(run["up"]) > 0], turns, atol=1e-6)
        np.testing.assert_allclose(run["x"], np.sin(run.time), atol=2e-6)  # also at output times within the steps of roots
        assert run["steps"][-1] == run.statistics["steps"] > 100

    def test_what_is_assigned_after_a_step_may_change_the_equations(self) -> None:
        run = simulate(Latch(), 2.0, max_step=0.01)
        assert run["late"][-1] == 1 and 0.5 < run["x"][-1] <= 0.5101
        np.testing.assert_allclose(run["x"], np.minimum(run.time, run["x"][-1]), atol=1e-6)


# ------------------------------------------------------------------------------------------------ the native solver


@pytest.mark.parametrize(
    "component, until", [(Ball, 2.0), (Thermostat, 20.0), (Timed, 1.0), (Sampled, 1.0), (Ending, 1.0), (Wave, 20.0)]
)
def test_both_solvers_agree(component: type[ac.Component], until: float) -> None:
    pytest.importorskip("acausal._core")
    model = ac.compile(component())
    runs = [model.simulate(until=until, solver=name, rtol=1e-10, points=51) for name in ("ida", "sundae")]
    assert runs[0].outcome is runs[1].outcome
    np.testing.assert_allclose(runs[1].time, runs[0].time, atol=1e-6)
    np.testing.assert_allclose(runs[1].events.times, runs[0].events.times, atol=1e-6)
    for name in set(runs[0].stored_names) - {"steps"}:
        np.testing.assert_allclose(runs[1][name], runs[0][name], atol=1e-5, err_msg=name)


def test_statuses_are_those_of_the_native_core() -> None:
    core = pytest.importorskip("acausal._core")
    for member in Status:
        name = member.name
        assert getattr(core.status, name) == member


class Switched(ac.Component):
    """Driven to zero from both sides."""

    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.where(self.x > 0, -1.0, 1.0)


def test_chattering_is_told_and_can_be_slid_along() -> None:
    run = simulate(Switched(), 3.0)
    assert run.outcome is Outcome.CHATTERING and run.time[-1] == pytest.approx(1.0, abs=1e-6)
    assert "x > 0" in str(run.diagnostics[0])
    run = simulate(Switched(), 3.0, sliding="filippov")
    assert run.outcome is Outcome.FINISHED
    np.testing.assert_allclose(run["x"], np.maximum(1 - run.time, 0.0), atol=1e-6)


# ------------------------------------------------------------------------------------------------ the session


def advance(session: Stepping, stop: float, times: Any = ()) -> tuple[int, np.ndarray]:
    rows = np.full((len(times), 2), np.nan)
    status, written = session.advance(stop, np.asarray(times, dtype=float), rows)
    return status, rows[:written]


def start_wave(t_end: float, **options: Any) -> Stepping:
    session = session_of(Wave(), t_end, **options)
    session.start(0.0, np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    return session


def test_what_lies_within_the_step_of_a_root_is_met_by_interpolation() -> None:
    session, turn = start_wave(10.0), np.arcsin(0.5)
    status, rows = advance(session, 10.0, [0.0, 0.1, turn - 1e-3, turn - 1e-5])
    assert status == Status.ROOT and session.t == pytest.approx(turn, abs=1e-7) and session.t < session.end
    assert session.roots().tolist() == [1]
    np.testing.assert_allclose(rows[:, 0], np.sin([0.0, 0.1, turn - 1e-3, turn - 1e-5]), atol=1e-7)
    steps, stop = session.statistics()["steps"], 0.5 * (session.t + session.end)
    times = np.linspace(session.t, stop, 4)
    status, rows = advance(session, stop, times)
    assert status == Status.FINISHED and session.t == stop and session.statistics()["steps"] == steps
    np.testing.assert_allclose(rows[:, 0], np.sin(times), atol=1e-7)
    status, _ = advance(session, 10.0)
    assert status == Status.ROOT and session.roots().tolist() == [-1] and session.t == pytest.approx(np.pi - turn, abs=1e-7)


def test_interruptions_do_not_change_the_steps() -> None:
    """Roots, and rows before and behind them, leave the integration as it is."""
    few, many = start_wave(10.0), start_wave(10.0)
    while advance(few, 10.0)[0] == Status.ROOT:
        pass
    times = np.linspace(0.0, 10.0, 101)
    while (found := advance(many, 10.0, times))[0] == Status.ROOT:
        times = times[len(found[1]) :]
    assert few.t == many.t == 10.0
    np.testing.assert_array_equal(few.y, many.y)
    assert few.statistics()["residual_evaluations"] == many.statistics()["residual_evaluations"]


def test_a_level_that_moves_makes_no_crossing() -> None:
    """The band of the relation is a cell: to move it is an event of the caller, not one of the session."""
    session = start_wave(10.0)
    assert advance(session, 0.1)[0] == Status.FINISHED
    hybrid = session.problem.lowered.system.hybrid
    assert hybrid is not None
    band = hybrid.parts["relation"].bands
    session.set_cells(band, np.array([-0.45]))  # the level is 0.05 now, and x is beyond
    status, _ = advance(session, 10.0)
    assert status == Status.ROOT and session.roots().tolist() == [-1]
    assert session.t == pytest.approx(np.pi - np.arcsin(0.05), abs=1e-6)


def test_consistent_values_are_those_of_the_native_session() -> None:
    core = pytest.importorskip("acausal._core")
    session = session_of(Thermostat(), 1.0)
    p = session.problem
    outputs = core.Outputs(p.native, np.arange(p.size, dtype=np.int32))
    native = core.Ida(p.native, p.known, 1e-6, np.full(p.size, 1e-6), p.differential, outputs, **problems.SUNDIALS)
    found = []
    for one in (session, native):
        y, yp = np.full(p.size, 18.0), np.full(p.size, -3.0)
        ok, iterations = one.consistent(0.0, y, yp, p.differential, p.nominal)
        assert ok and iterations <= 2
        found.append(np.concatenate([y, yp]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-14)
    assert np.abs(p.residual(0.0, found[0][: p.size], found[0][p.size :])).max() < 1e-12


def test_a_known_step_makes_the_first_one_larger() -> None:
    taken = []
    for step in (0.0, 0.5):
        session = session_of(Wave(), 1.0)
        session.start(0.0, np.array([0.0, 1.0]), np.array([1.0, 0.0]), step)
        advance(session, 0.4)
        taken.append(session.statistics()["steps"])
    assert taken[1] < taken[0]


def test_the_number_of_steps_is_limited_over_restarts() -> None:
    session = start_wave(10.0, max_steps=30)
    advance(session, 0.01)
    before = session.statistics()["steps"]
    session.start(session.t, session.y, session.yp)
    assert advance(session, 10.0)[0] == Status.TOO_MANY_STEPS and session.statistics()["steps"] == 30 > before > 0


def test_an_exception_before_the_first_factorisation_is_heard() -> None:
    """scikit-sundae's solver cannot be freed then."""

    class Driven(ac.Component):
        u = ac.Input()
        x = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.x) == self.u

    started: list[float] = []

    def later(t: float) -> float:
        if t > 0:
            raise ArithmeticError("no value")
        started.append(t)
        return 1.0

    for _ in range(3):
        with pytest.raises(ArithmeticError, match="no value"):
            ac.compile(Driven()).simulate(until=1.0, solver="sundae", inputs={"u": later})
    assert started


# ------------------------------------------------------------------------------------------------ crossings


def test_the_first_of_several_crossings_is_found() -> None:
    places = np.array([0.9, 0.31, 0.6, 3.0])

    def values(t: float) -> np.ndarray:
        return (t - places) * np.array([1.0, -1e6, 1e-6, 1.0]) + 0.1 * (t - places) ** 3

    t, before, after = first_crossing((0.0, 1.0), values(0.0), values(1.0), values, 1e-14)
    assert 0 <= t - 0.31 <= 2e-14
    assert np.flatnonzero(crosses(before, after)).tolist() == [1]


@pytest.mark.parametrize("power", [1, 3, 9])
def test_a_flat_crossing_takes_few_evaluations(power: int) -> None:
    count = 0

    def values(t: float) -> np.ndarray:
        nonlocal count
        count += 1
        return np.array([(t - 0.7) ** power])

    t, _, after = first_crossing((0.0, 1.0), values(0.0), values(1.0), values, 1e-13)
    assert abs(t - 0.7) <= 2e-13 and after[0] >= 0 and count < 130


def test_a_function_that_starts_at_zero_has_not_crossed() -> None:
    assert crosses(np.array([0.0, 0.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 0.0, -2.0, 1.0])).tolist() == [
        False,
        False,
        True,
        False,
        True,
    ]


def test_an_input_that_holds_its_values_has_not_jumped_before_its_event() -> None:
    """A step that ends at a jump is a step of this side: it takes as many as the native solver, not many times more."""

    class Fed(ac.Component):
        u, x, z = ac.Input(0.0), ac.Variable(start=0.0, fixed=True), ac.Variable()

        def equations(self) -> Iterator[Any]:
            yield self.z + self.z**3 == self.u
            yield ac.der(self.x) == self.z

    model = ac.compile(Fed())
    inputs = {"u": ac.hold(0.25 * np.arange(20), [0.0, 2.0, 10.0, -10.0] * 5)}
    here, native = (model.simulate(until=5.0, inputs=inputs, rtol=1e-8, solver=name) for name in ("sundae", "ida"))
    assert here["x"][-1] == pytest.approx(1.25, abs=1e-9)
    assert here.statistics["steps"] <= 1.5 * native.statistics["steps"]
