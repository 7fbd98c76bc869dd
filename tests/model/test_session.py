"""Sessions: advanced in pieces, changed on the way, taken back, two of them together."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
from plants import Pendulum

import acausal as ac
from acausal.errors import UsageError

SOLVERS = ["ida", "sundae"]


class Spring(ac.Component):
    u = ac.Input(0.0)
    x, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    k = ac.Parameter(1.0)
    force = ac.Variable()

    def equations(self):
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == self.force
        yield self.force == self.u - self.k * self.x


class Ball(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    ticks, bounces = ac.Integer(0), ac.Integer(0)

    def equations(self):
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self):
        hit = ac.when(self.h < 0, ac.reinit(self.v, -0.8 * ac.pre(self.v)), ac.assign(self.bounces, ac.pre(self.bounces) + 1))
        yield hit
        yield ac.when(ac.sample(0.1, 0.25), ac.assign(self.ticks, ac.pre(self.ticks) + 1))


class Thermostat(ac.Component):
    T = ac.Variable(start=20.0, fixed=True)
    outside = ac.Input(0.0)
    on = ac.Boolean(False)

    def equations(self):
        yield 10 * ac.der(self.T) == self.outside - self.T + ac.where(self.on, 40.0, 0.0)

    def events(self):
        yield ac.when(self.T < 19.0, ac.assign(self.on, True)).elsewhen(self.T > 21.0, ac.assign(self.on, False))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("component", [Spring, Ball], ids=["smooth", "events"])
def test_a_thousand_pieces_take_the_steps_of_one_run(component: type[ac.Component], solver: str) -> None:
    model, pieces = ac.compile(component()), 1000 if solver == "ida" else 100
    whole = model.simulate(until=2.0, solver=solver, at=[2.0])
    session = model.start(until=2.0, solver=solver)
    for k in range(1, pieces + 1):
        session.advance(2.0 * k / pieces)
    assert session.time == 2.0 and session.outcome is ac.Outcome.FINISHED
    parts = session.result()
    assert parts.statistics.steps == whole.statistics.steps > 10
    assert parts.statistics.residual_evaluations == whole.statistics.residual_evaluations
    assert len(parts.events) == len(whole.events)
    name = "x" if component is Spring else "h"
    assert parts[name][-1] == pytest.approx(whole[name][-1], abs=1e-12)
    if component is Spring:
        np.testing.assert_allclose(parts["x"], np.cos(parts.time), atol=1e-4)


def test_values_at_the_present_time() -> None:
    session = ac.compile(Spring()).start(rtol=1e-9)
    assert session.time == 0.0 and session["x"] == 1.0 and session["force"] == -1.0
    session.advance("500 ms")
    assert session.time == session["time"] == 0.5
    assert session["x"] == pytest.approx(np.cos(0.5), abs=1e-7)
    assert session["force"] == pytest.approx(-np.cos(0.5), abs=1e-7)
    assert session["der(x)"] == pytest.approx(-np.sin(0.5), abs=1e-6)
    assert "Session of Spring at 0.5 s" in repr(session)


@pytest.mark.parametrize("solver", SOLVERS)
def test_parameters_and_inputs_change_on_the_way(solver: str) -> None:
    """Each piece has a closed form that begins where the last one ended."""
    session = ac.compile(Spring()).start(rtol=1e-9, solver=solver)
    x, v, t = 1.0, 0.0, 0.0
    for k, u, until in ((1.0, 0.0, 1.0), (4.0, 0.0, 1.7), (4.0, 2.0, 2.5), (9.0, -1.0, 4.0)):
        session.advance(until, set={"k": k}, inputs={"u": u})
        w, d, rest = np.sqrt(k), until - t, u / k
        x, v = rest + (x - rest) * np.cos(w * d) + v / w * np.sin(w * d), v * np.cos(w * d) - w * (x - rest) * np.sin(w * d)
        t = until
        assert session["x"] == pytest.approx(x, abs=3e-7) and session["v"] == pytest.approx(v, abs=3e-7)
        assert session["k"] == k and session["u"] == u
    result = session.result()
    assert len(session.events) == 3
    np.testing.assert_array_equal(result.time, [0.0, 1.0, 1.0, 1.7, 1.7, 2.5, 2.5, 4.0])
    np.testing.assert_array_equal(result["k"], [1, 1, 4, 4, 4, 4, 9, 9])
    np.testing.assert_array_equal(result["u"], [0, 0, 0, 0, 2, 2, -1, -1])
    np.testing.assert_allclose(result["force"], result["u"] - result["k"] * result["x"])


def test_numbers_that_stay_the_same_are_no_interruption() -> None:
    session = ac.compile(Spring()).start(until=2.0)
    other = ac.compile(Spring()).start(until=2.0)
    for k in range(1, 11):
        session.advance(k / 5, set={"k": 1.0}, inputs={"u": 0.0})
        other.advance(k / 5)
    assert session.result().statistics.steps == other.result().statistics.steps
    assert not len(session.events)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_session_is_taken_back(solver: str) -> None:
    model = ac.compile(Ball())
    session = model.start(solver=solver)
    session.advance(0.6)
    mark = session.save()
    here = {name: session[name] for name in ("h", "v", "ticks", "bounces")}
    rows = len(session.result().time)

    def goes_on() -> list[float]:
        assert {name: session[name] for name in here} == here and session.time == 0.6
        assert len(session.result().time) == rows
        session.advance(1.1)
        session.advance(1.7)
        return [session[name] for name in here]

    straight = goes_on()
    again = [goes_on() for _ in range(3) if session.restore(mark)]
    assert again[0] == again[1] == again[2]  # to the last bit
    np.testing.assert_allclose(again[0], straight, rtol=1e-4)
    assert straight[2:] == again[0][2:] == [7.0, 2.0]


def test_what_was_saved_goes_to_another_session() -> None:
    model = ac.compile(Thermostat())
    first = model.start(inputs={"outside": 5.0}).advance(13.0)
    saved = pickle.loads(pickle.dumps(first.save()))
    other = ac.compile(Thermostat()).start()
    other.restore(saved)
    assert other.time == saved.time == 13.0 and other["T"] == first["T"] and other["on"] == first["on"] and other["outside"] == 5.0
    first.restore(first.save()).advance(30.0)
    other.advance(30.0)
    assert other["T"] == first["T"] and other["on"] == first["on"]


def test_two_sessions_together_are_the_whole_plant() -> None:
    """A mass on a spring whose other end is moved by a second mass: positions and forces are exchanged every millisecond."""

    class Mass(ac.Component):
        x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
        force, m, k = ac.Input(0.0), ac.Parameter(1.0), ac.Parameter(10.0)

        def equations(self):
            yield ac.der(self.x) == self.v
            yield self.m * ac.der(self.v) == self.force - self.k * self.x

    class Both(ac.Component):
        x1, v1 = ac.Variable(start=0.1, fixed=True), ac.Variable(start=0.0, fixed=True)
        x2, v2 = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)

        def equations(self):
            pull = 5.0 * (self.x2 - self.x1)
            yield ac.der(self.x1) == self.v1
            yield ac.der(self.x2) == self.v2
            yield ac.der(self.v1) == pull - 10.0 * self.x1
            yield 2.0 * ac.der(self.v2) == -pull - 10.0 * self.x2

    at = np.linspace(0.0, 1.0, 26)
    whole = ac.compile(Both()).simulate(until=1.0, rtol=1e-9, at=at)
    model = ac.compile(Mass())

    def error(step: float) -> float:
        one, two = model.start(start_from={"x": 0.1, "v": 0.0}, rtol=1e-8), model.start(set={"m": 2.0}, rtol=1e-8)
        for k in range(1, round(1 / step) + 1):
            pull = 5.0 * (two["x"] + 0.5 * step * two["v"] - one["x"] - 0.5 * step * one["v"])  # in the middle of the interval
            one.advance(k * step, inputs={"force": pull})
            two.advance(k * step, inputs={"force": -pull})
        errors = [np.interp(at, r.time, r["x"]) - whole[x] for r, x in ((one.result(), "x1"), (two.result(), "x2"))]
        return float(np.abs(errors).max())

    coarse, fine = error(0.02), error(0.01)
    assert fine < 1e-4 and 3.0 < coarse / fine < 5.0  # values in the middle: second order


def test_discrete_values_go_on_with_changed_inputs() -> None:
    session = ac.compile(Thermostat()).start(rtol=1e-8)
    session.advance(1.0)  # 20 exp(-t/10) passes 19 at t = 0.513
    assert session["on"] == 1.0
    session.advance(4.0, inputs={"outside": 30.0})
    assert session["on"] == 0.0 and round(next(iter(session.events)).time, 2) == 0.51


def test_a_session_refuses_what_it_cannot() -> None:
    model = ac.compile(Spring())
    session = model.start(until=3.0).advance(1.0)
    with pytest.raises(UsageError, match=r"A session goes forward: it is at time 1 and cannot advance to 0\.5"):
        session.advance(0.5)
    with pytest.raises(UsageError, match=r"was started until 3 and cannot advance to 4"):
        session.advance(4.0)
    with pytest.raises(ac.ModelError, match="`k` is not an input"):
        session.advance(2.0, inputs={"k": 1.0})
    with pytest.raises(UsageError, match="`restore` takes what `save`"):
        session.restore(3)  # type: ignore[arg-type]
    assert session.time == 1.0 and session.advance(3.0).outcome is ac.Outcome.FINISHED
    with pytest.raises(UsageError, match="The session has ended at time 3"):
        session.advance(3.5)
    with pytest.raises(UsageError, match="`to` is a time, got None"):
        model.start().advance(None)  # type: ignore[arg-type]
    with pytest.raises(ac.AcausalError, match="`start` has no argument `untill`"):
        model.start(untill=3.0)


def test_a_session_that_stops_is_heard_and_can_be_taken_back() -> None:
    class Escape(ac.Component):
        x, k = ac.Variable(start=1.0, fixed=True), ac.Parameter(1.0)

        def equations(self):
            yield ac.der(self.x) == self.k * self.x**2

    session = ac.compile(Escape()).start(rtol=1e-8).advance(0.5)
    mark = session.save()
    with pytest.warns(ac.RunWarning, match=r"Escape stopped at time (0\.9999|1\.)"):
        session.advance(2.0)
    assert session.outcome is ac.Outcome.STEP_TOO_SMALL
    session.restore(mark).advance(2.0, set={"k": 0.0})
    assert session["x"] == pytest.approx(2.0, rel=1e-5)


def test_states_are_exchanged_in_a_session() -> None:
    model = ac.compile(Pendulum(), units=False)
    session = model.start(rtol=1e-8).advance(0.5)
    mark = session.save()
    first = session.advance(3.0)["x"]
    assert session.restore(mark).advance(3.0)["x"] == pytest.approx(first, abs=1e-5)
    assert model.simulate(until=3.0, rtol=1e-8)["x"][-1] == pytest.approx(first, abs=1e-5)


class _Integral(ac.Component):
    u, x = ac.Input(0.0), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.u


@pytest.mark.parametrize("until", [None, 20.0])
def test_data_repeat_in_a_session_as_long_as_it_goes(until: float | None) -> None:
    model, waves = ac.compile(_Integral()), ac.data([0.0, 1.0, 2.0], [0.0, 2.0, 0.0], ends="repeat")
    assert model.start(inputs={"u": waves}, until=until).advance(20.0)["x"] == pytest.approx(20.0, rel=1e-4)
    assert model.start(until=until).advance(19.0, inputs={"u": waves})["x"] == pytest.approx(19.0, rel=1e-4)


def test_data_that_must_not_be_left() -> None:
    model, short = ac.compile(_Integral()), ac.data([0.0, 1.0], [0.0, 1.0], ends="stop")
    session = model.start(inputs={"u": short}).advance(1.0)
    with pytest.raises(UsageError, match=r"The data of input `u` end at 1 s, the session would go on to 2 s(.|\n)*until"):
        session.advance(2.0)
    assert session.advance(2.0, inputs={"u": 0.0})["x"] == pytest.approx(0.5, rel=1e-5)
    with pytest.raises(UsageError, match="the run from 0 s to 3 s"):
        model.start(inputs={"u": short}, until=3.0)


def test_data_given_on_the_way_that_end_before_the_session_are_told() -> None:
    session = ac.compile(_Integral()).start(until=5.0).advance(1.0)
    session.advance(2.0, inputs={"u": ([0.0, 3.0], [0.0, 3.0])})
    (told,) = session.advance(5.0).result().diagnostics
    assert "the last value is held after 3 s" in told.what


class _Integrals(ac.Component):
    u, x = ac.Input(0.0, shape=3), ac.Variable(shape=3, start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.u


def test_a_function_gives_all_elements_of_an_array_of_inputs() -> None:
    model = ac.compile(_Integrals())
    for given, found in ((lambda t: np.array([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]), (lambda t: 2.0, [2.0, 2.0, 2.0])):
        assert model.simulate(1.0, inputs={"u": given})["x"][-1] == pytest.approx(found)
    with pytest.raises(UsageError, match=r"Input `u` has the shape \(3,\), and its function gives list \[1.0, 1.0\] at 0"):
        model.simulate(1.0, inputs={"u": lambda t: np.ones(2)})


def test_a_function_that_gives_no_number_is_named() -> None:
    model, array = ac.compile(_Integral()), ac.compile(_Integrals())
    for given, said in (
        (lambda t: None, "The function of input `u` gives NoneType None at 0"),
        (lambda t: "warm", "The function of input `u` gives str 'warm' at 0"),
        (lambda t: np.ones(1), "Let it give the number itself"),
        (lambda t: np.ones(4), "Let it give a number for each time"),
        (lambda t: float("nan"), "The function of input `u` gives nan at 0; it must give a finite number"),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            model.simulate(1.0, inputs={"u": given})
    with pytest.raises(UsageError, match=r"Input `u` has the shape \(3,\), and its function gives list \[1, \[2\], 3\] at 0"):
        array.simulate(1.0, inputs={"u": lambda t: [1, [2], 3]})


class _Falls(ac.Component):
    """Turns over where x passes a level, again and again."""

    level = ac.Parameter(-1.08)
    x, n, down = ac.Variable(start=-0.877, fixed=True), ac.Integer(0), ac.Boolean(True)

    def equations(self):
        yield ac.der(self.x) == ac.where(self.down, -0.04, 0.07)

    def events(self):
        yield ac.when(self.x < self.level, ac.assign(self.down, False), ac.assign(self.n, ac.pre(self.n) + 1)).elsewhen(
            self.x > -0.877, ac.assign(self.down, True)
        )


def test_what_is_saved_right_at_an_event_does_not_lose_it() -> None:
    """By rounding the state is behind the switching point already, and the relation has not switched yet."""
    model = ac.compile(_Falls())
    whole = model.simulate(until=20.0, rtol=1e-8)
    times = [event.time for event in whole.events if event.time > 0]
    assert len(times) >= 3
    for t in times:
        for near in (np.nextafter(t, 0.0), t, np.nextafter(t, np.inf), t * (1 + 4e-16), t * (1 - 4e-16)):
            session = model.start(rtol=1e-8).advance(near)
            session = session.restore(session.save()).advance(20.0)
            assert session["n"] == whole["n"][-1]
            assert session["x"] == pytest.approx(whole["x"][-1], abs=1e-7)


class _Timed(ac.Component):
    u = ac.Input(0.0)
    x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    fast = ac.States("no", "yes", initial="no")

    def equations(self):
        yield ac.der(self.x) == ac.where(ac.time > 0.8, 2.0, 1.0)
        yield ac.der(self.z) == self.u + ac.match(self.fast, no=0.0, yes=1.0)

    def transitions(self):
        yield self.fast.no.to("yes", after=0.8)


@pytest.mark.parametrize(("solver", "options"), [("ida", {}), ("sundae", {}), ("fixed", {"step": 0.01})])
@pytest.mark.parametrize("inputs", [{}, {"u": ac.hold([0.0, 0.8], [0.0, 5.0])}], ids=["alone", "with_jump"])
def test_a_session_that_stops_a_rounding_before_a_given_time_does_not_lose_it(solver: str, options: dict, inputs: dict) -> None:
    """As one does that goes on by 0.1, again and again: the sum of eight is less than 0.8."""
    model, tenths = ac.compile(_Timed()), 0.0
    for _ in range(8):
        tenths += 0.1
    assert tenths < 0.8
    for near in (tenths, 0.8, np.nextafter(0.8, 1.0), 0.8 * (1 - 7e-16), 0.8 * (1 - 1.3e-15)):
        for saved in (False, True):
            session = model.start(solver=solver, inputs=inputs, **options).advance(near)
            session = session.restore(session.save()) if saved else session
            session.advance(0.8 if near < 0.8 else 0.9).advance(2.0)
            assert session["x"] == pytest.approx(0.8 + 2.4, abs=1e-6)
            assert session["z"] == pytest.approx(1.2 + (6.0 if inputs else 0.0), abs=1e-6)


def test_a_tick_behind_a_stop_that_is_a_rounding_ahead_of_a_pause_is_on_time() -> None:
    """Functions are asked ahead as far as ten advances, and a step ends there: at 1.1, where eleven tenths are a rounding less."""

    class Sampler(ac.Component):
        u, x = ac.Input(0.0), ac.Variable(start=0.0, fixed=True)
        ticked = ac.Discrete(0.0)

        def equations(self):
            yield ac.der(self.x) == self.u

        def events(self):
            yield ac.when(self.x > 100.0, ac.reinit(self.x, 0.0))
            yield ac.when(ac.sample(1.1501, 10.0), ac.assign(self.ticked, ac.time))

    session, tenths = ac.compile(Sampler()).start(inputs={"u": lambda t: 0.5}), 0.0
    for _ in range(11):
        tenths += 0.1
        session.advance(tenths)
    assert tenths < 1.1
    assert session.advance(1.3)["ticked"] == 1.1501


def test_a_session_is_neither_copied_nor_pickled() -> None:
    """It ended in an error about a lock."""
    session = ac.compile(Ticking()).start()
    for keep in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(ac.UsageError, match=r"can be neither copied nor pickled(.|\n)*s.save\(\)"):
            keep(session)


class Ticking(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    n = ac.Integer(0)

    def equations(self):
        yield ac.der(self.x) == -self.x + 0.1 * self.n

    def events(self):
        yield ac.when(ac.sample(0.1, 0.1), ac.assign(self.n, ac.pre(self.n) + 1))


@pytest.mark.parametrize("roundings", [1, 2, 3])
def test_what_was_saved_a_rounding_before_a_tick_goes_on(roundings: int) -> None:
    """No step leads to the tick, and none had been taken since the session was restored: it went there and back for ever."""
    model = ac.compile(Ticking())
    for k in range(1, 12):
        t = 0.1 * k
        for _ in range(roundings):
            t = np.nextafter(t, 0.0)
        session = model.start().advance(t)
        mark = session.save()
        session.advance(t + 0.05)
        assert session.restore(mark).advance(t + 0.05)["n"] == k


class Slopes(ac.Component):
    k = ac.Parameter(1.0, shape=2)
    x, y = ac.Variable(start=1.0), ac.Variable(start=0.0, shape=2)

    def equations(self) -> Any:
        yield ac.der(self.x) == -ac.where(self.x > 0, 1.0, -1.0)
        yield ac.der(self.y) == self.k


def test_the_last_word_counts_in_sliding_runs() -> None:
    model = ac.compile(Slopes()).set({"k[0]": 1.0}).set({"k": 2.0}).set({"k[0]": 3.0})
    assert abs(model.simulate(2.0, sliding="filippov")["y"][-1] - [6.0, 4.0]).max() < 1e-6
    assert model.get("k").tolist() == [3.0, 2.0]


class Plain(ac.Component):
    k, y = ac.Parameter(1.0, shape=2), ac.Variable(start=0.0, shape=2)

    def equations(self) -> Any:
        yield ac.der(self.y) == self.k


def test_the_last_word_counts_in_sessions_and_studies() -> None:
    session = ac.compile(Plain()).start()
    session.advance(1.0, set={"k[0]": 1.5})
    session.advance(2.0, set={"k": 2.0})
    session.advance(3.0, set={"k[0]": 3.0})
    assert abs(session["y"][0] - 6.5) < 1e-6
    st = ac.compile(Plain()).study({"k[0]": [5.0, 6.0]}, ["y[0]"], until=1.0, set={"k[0]": 1.0, "k": 2.0})
    assert abs(st["y[0]"] - [5.0, 6.0]).max() < 1e-6
