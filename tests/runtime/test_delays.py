"""`ac.delay` against closed forms: method of steps, travelling signals, jumps, variable delays, long steps, sessions."""

from __future__ import annotations

import pickle
import threading
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError
from acausal.language.delays import DelayFunction
from acausal.runtime.histories import history_cells

core = pytest.importorskip("acausal._core")


class Echo(ac.Component):
    """x' = -x(t - T), x = 1 before the start: a polynomial of degree k on the k-th interval."""

    T = ac.Parameter(1.0, unit="s")
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == -ac.delay(self.x, self.T) / 1.0


def echo(t: Any, T: float = 1.0) -> np.ndarray:
    t = np.asarray(t, dtype=float)
    terms = [(-1.0) ** k * np.maximum(t - (k - 1) * T, 0.0) ** k / factorial(k) for k in range(1, int(t.max() / T) + 3)]
    return 1.0 + np.sum(terms, axis=0)


@pytest.mark.parametrize(("solver", "rtol", "error"), [("ida", 1e-6, 2e-5), ("ida", 1e-9, 1e-7), ("sundae", 1e-8, 1e-6)])
def test_the_method_of_steps(solver: str, rtol: float, error: float) -> None:
    r = ac.compile(Echo()).simulate(8.0, rtol=rtol, solver=solver)
    assert np.abs(r["x"] - echo(r["time"])).max() < error
    breaks = [round(e.time, 9) for e in r.events]  # each one order smoother than the last, until it is smooth to the tolerance
    assert breaks == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0][: len(breaks)]
    assert len(breaks) >= 3


def test_fixed_steps_converge() -> None:
    m = ac.compile(Echo())
    errors = [np.abs((r := m.simulate(4.0, solver="fixed", step=h))["x"] - echo(r["time"])).max() for h in (0.02, 0.01)]
    assert errors[1] < 0.6 * errors[0] < 0.01


@pytest.mark.parametrize("T", [1e-3, 0.05, 0.4, 3.0])
def test_any_delay_is_met_with_steps_longer_than_it(T: float) -> None:
    r = ac.compile(Echo(T=T)).simulate(6.0, rtol=1e-8)
    if T > 0.01:
        assert np.abs(r["x"] - echo(r["time"], T)).max() < 2e-6
    else:  # x' = -x(t - T) goes as exp(-s t) with s = exp(s T), once the start is forgotten
        late = r["time"] > 1.0
        assert np.abs(np.diff(np.log(r["x"][late])) / np.diff(r["time"][late]) + 1.001001502).max() < 2e-5
        assert r.statistics["steps"] < 1000


class Line(ac.Component):
    """A signal at the end of a line, and its slope there."""

    T = ac.Parameter(0.7)
    u, late, slope = ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield self.u == ac.sin(3.0 * ac.time)
        yield self.late == ac.delay(self.u, self.T, before=lambda t: ac.sin(3.0 * t))
        yield self.slope == ac.der(self.late)


def test_a_travelling_wave_and_its_derivative() -> None:
    r = ac.compile(Line()).simulate(5.0, rtol=1e-8)
    t = r["time"]
    assert np.abs(r["late"] - np.sin(3 * (t - 0.7))).max() < 1e-6
    assert np.abs(r["slope"] - 3 * np.cos(3 * (t - 0.7)))[1:].max() < 2e-4


class Source(ac.Component):
    """No state at all, and a fast signal beside a slow plant that does not feel it."""

    u, v, late = ac.Input(0.0), ac.Variable(), ac.Variable(shape=2)
    slow = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield self.v == ac.sin(20.0 * ac.time)
        yield self.late[0] == ac.delay(self.v, 0.3)
        yield self.late[1] == ac.delay(self.u, 0.3)
        yield ac.der(self.slow) == -1e-3 * self.slow


def test_what_no_state_feels_is_remembered_as_well() -> None:
    t = np.linspace(0.0, 10.0, 41)
    r = ac.compile(Source()).simulate(10.0, inputs={"u": ac.data(t, np.cos(t), interpolation="smooth")}, rtol=1e-6)
    back = np.maximum(r["time"] - 0.3, 0.0)
    assert np.abs(r["late"][:, 0] - np.sin(20.0 * back)).max() < 1e-4
    assert np.abs(r["late"][:, 1] - np.cos(back)).max() < 2e-3  # as good as the table


class Rising(ac.Component):
    """A delay that grows with time: what is read is cos((1 - a) t - T0)."""

    x, late = ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == ac.cos(ac.time)
        yield self.late == ac.delay(self.x, 1.0 + 0.5 * self.x**2, before=lambda t: ac.sin(t))


def test_a_delay_that_varies_with_a_state() -> None:
    r = ac.compile(Rising()).simulate(20.0, rtol=1e-8)
    t = r["time"]
    assert np.abs(r["late"] - np.sin(t - 1.0 - 0.5 * np.sin(t) ** 2)).max() < 1e-6


class Jumping(ac.Component):
    """A ball on a line and its picture half a second later."""

    x, late, total = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == 1.0
        yield self.late == ac.delay(self.x, 0.5, before=0.0)
        yield ac.der(self.total) == self.late

    def events(self) -> Any:
        yield ac.when(self.x >= 1.0, ac.reinit(self.x, 0.0))


def test_jumps_arrive_late_and_exactly() -> None:
    r = ac.compile(Jumping()).simulate(3.25, rtol=1e-9)
    assert r["total"][-1] == pytest.approx(2 * 0.5 + 0.5 * 0.75**2, abs=1e-7)
    times = [round(e.time, 8) for e in r.events]
    assert {0.5, 1.0, 1.5, 2.0, 2.5, 3.0} <= set(times)
    assert r["late"].max() == pytest.approx(1.0, abs=1e-6)


class Comb(ac.Component):
    """y = u + y(t - 1)/2: no integration anywhere, jumps for ever."""

    u, y = ac.Input(0.0), ac.Variable()
    sink = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield self.y == self.u + 0.5 * ac.delay(self.y, 1.0)
        yield ac.der(self.sink) == self.y


def test_an_algebraic_echo() -> None:
    r = ac.compile(Comb()).simulate(5.5, inputs={"u": ac.hold([0.0, 0.25], [0.0, 1.0])}, rtol=1e-8)
    steps = np.floor(5.5 - 0.25)
    assert r["y"][-1] == pytest.approx(2.0 - 0.5**steps, abs=1e-9)
    exact = sum(0.5**k * (5.5 - 0.25 - k) for k in range(6))
    assert r["sink"][-1] == pytest.approx(exact, abs=1e-6)


def test_at_rest_the_delayed_value_is_the_value() -> None:
    assert ac.compile(Comb()).simulate(0.5, inputs={"u": 3.0})["y"][0] == pytest.approx(6.0)

    class Loop(ac.Component):
        x = ac.Variable(start=5.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == 2.0 - ac.delay(self.x, 1.0, before=7.0)

    assert ac.compile(Loop()).steady_state()["x"] == pytest.approx(2.0)


class Many(ac.Component):
    """An array of delays, one time for each."""

    u = ac.Variable(shape=3)
    late = ac.Variable(shape=3)
    T = ac.Parameter([0.1, 0.2, 0.3], shape=3)
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == 1.0
        yield self.u == self.x * np.array([1.0, 2.0, 3.0])
        yield self.late == ac.delay(self.u, self.T)


def test_arrays_and_many_components() -> None:
    class Two(ac.Component):
        def __init__(self) -> None:
            self.parts = ac.array(Many, 2)

    r = ac.compile(Two()).simulate(1.0)
    expected = np.maximum(1.0 - np.array([0.1, 0.2, 0.3]), 0.0) * np.array([1.0, 2.0, 3.0])
    assert r["parts[1].late"][-1] == pytest.approx(expected, abs=1e-6)


def test_a_session_is_taken_back_with_its_past() -> None:
    whole = ac.compile(Echo()).simulate(5.0, rtol=1e-9)["x"][-1]
    session = ac.compile(Echo()).start(rtol=1e-9)
    session.advance(2.5)
    kept = pickle.loads(pickle.dumps(session.save()))
    session.advance(4.0, set={"T": 0.5})
    session.restore(kept).advance(5.0)
    assert session["x"] == pytest.approx(whole, abs=1e-7)
    other = ac.compile(Echo()).start(rtol=1e-9)
    assert other.restore(kept).advance(5.0)["x"] == pytest.approx(whole, abs=1e-7)


def test_runs_at_once_have_pasts_of_their_own(tmp_path: Path) -> None:
    model = ac.compile(Echo())
    found: dict[float, float] = {}

    def run(T: float) -> None:
        found[T] = float(model.simulate(4.0, set={"T": T}, rtol=1e-8)["x"][-1])

    threads = [threading.Thread(target=run, args=(T,)) for T in (0.3, 0.6, 0.9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {T: pytest.approx(float(echo([4.0], T)[0]), abs=1e-5) for T in found}
    model.save(tmp_path / "echo.acm")
    again = ac.load(tmp_path / "echo.acm").simulate(4.0, rtol=1e-8)
    assert again["x"][-1] == pytest.approx(float(echo([4.0])[0]), abs=1e-6)


def test_what_is_refused() -> None:
    with pytest.raises(ac.UsageError, match="at least zero, got -1"):
        ac.delay(ac.time, -1.0)
    model = ac.compile(Echo())
    for ask in (
        lambda: model.linearise(),
        lambda: model.gradient("x", until=2.0),
        lambda: model.simulate(2.0, sensitivities=["T"]),
    ):
        with pytest.raises(ac.UsageError, match=r"of a model with `ac\.delay` is not possible"):
            ask()
    with pytest.warns(ac.RunWarning, match="negative"):
        model.simulate(2.0, set={"T": -1.0})

    class Wrong(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == ac.der(ac.delay(self.x, 1.0))

    with pytest.raises(ac.ModelError, match="name of its own"):
        ac.compile(Wrong())


@pytest.mark.parametrize("cell", [1e-7, 0.5, 12345.0, 1e18, -3.0, np.inf, np.nan])
def test_a_cell_that_holds_no_history_does_no_harm(cell: float) -> None:
    """A file that somebody changed, or a difference quotient: what stands there is looked up, not followed."""
    model = ac.compile(Echo())
    problem, system = model.problem, model.system
    known = problem.known.copy()
    known[history_cells(system)] = cell
    assert np.isfinite(problem.residual(0.3, problem.start, np.zeros(problem.size), known=known)).all()


def test_a_history_forgets_what_no_delay_reaches() -> None:
    """Numbers stay what they are to the last digit: a parameter, which may be set on the way, remembers all."""

    class Both(ac.Component):
        T = ac.Parameter(1.0, unit="s")
        x, fixed, kept = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

        def equations(self) -> Any:
            yield ac.der(self.x) == ac.cos(3.0 * ac.time) - ac.delay(self.x, 1.0) + 0.0 * ac.delay(self.x, 0.25)
            yield self.fixed == ac.delay(self.x, 1.0)
            yield self.kept == ac.delay(self.x, self.T)

    session = ac.compile(Both()).start(rtol=1e-8)
    session.advance(200.0)
    sizes = sorted(len(one) for one in session._histories.save())
    assert sizes[-1] > 10 * sizes[-2], sizes
    result = ac.compile(Both()).simulate(200.0, rtol=1e-8, points=2001)
    np.testing.assert_array_equal(result["fixed"], result["kept"])


class Late(ac.Component):
    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == 1.0
        yield self.y == ac.delay(self.x, 1.0)


def test_a_start_without_a_past_is_told(tmp_path: Path) -> None:
    """Values by name have none, and neither has a file of numbers."""
    model = ac.compile(Late())
    model.simulate(2.0).save(tmp_path / "late.npz")
    for point in ({"x": 2.0}, ac.load(tmp_path / "late.npz")):
        with pytest.warns(ac.ModelWarning, match="A point to start from has no past"):
            again = model.simulate(until=5.0, start=2.0, start_from=point)
        np.testing.assert_allclose(again["y"], np.where(again.time < 3.0, 2.0, again.time - 1.0), atol=1e-6)


class Remembering(ac.Component):
    """Three ways to remember: a number, a parameter with something before the start, and a delay that varies."""

    T = ac.Parameter(0.7)
    x, y, z, v = ac.Variable(start=1.0, fixed=True), ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == -1.3 * self.y - 0.2 * self.z + 0.1 * self.v
        yield self.y == ac.delay(self.x, 1.0)
        yield self.z == ac.delay(self.x, self.T, before=lambda t: 1.0 + t)
        yield self.v == ac.delay(self.x, 0.5 + 0.1 * ac.abs(self.x))


@pytest.mark.parametrize("stop", [0.3, 1.0, 2.5])
def test_a_run_that_starts_from_another_goes_on_with_its_past(stop: float) -> None:
    model = ac.compile(Remembering())
    how: Any = {"rtol": 1e-9, "atol": 1e-10}  # with which x is right to 6e-7 after six seconds, in one run or in two
    whole, first = model.simulate(6.0, at=[6.0], **how), model.simulate(stop, **how)
    names = ("x", "y", "z", "v")
    for earlier in (first, pickle.loads(pickle.dumps(first))):
        second = model.simulate(start=stop, until=6.0, start_from=earlier, **how)
        assert not second.diagnostics
        np.testing.assert_allclose([second[n][-1] for n in names], [whole[n][-1] for n in names], atol=1e-6)
        np.testing.assert_allclose([second[n][0] for n in names], [first[n][-1] for n in names], rtol=1e-8, atol=1e-9)
    session = model.start(start=stop, start_from=first, **how).advance(6.0)
    np.testing.assert_allclose([session[n] for n in names], [whole[n][-1] for n in names], atol=1e-6)


def test_a_past_goes_along_to_another_time() -> None:
    """Nothing in the model asks what time it is: it may go on at zero, too."""
    model = ac.compile(Remembering())
    how: Any = {"rtol": 1e-9, "atol": 1e-10}
    whole, first = model.simulate(6.0, **how), model.simulate(2.5, **how)
    assert model.simulate(3.5, start_from=first, **how)["x"][-1] == pytest.approx(whole["x"][-1], abs=1e-6)


def test_a_past_that_is_too_short_for_a_longer_delay_is_said() -> None:
    model = ac.compile(Remembering())
    with pytest.raises(ModelError, match=r"what was 2\.5 ago is not known: a run keeps of its past what its own"):
        model.simulate(1.0, start_from=model.simulate(4.0), set={"T": 2.5})


def test_a_parameter_forgets_too_where_nobody_can_set_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from acausal.runtime import histories as module

    made: list[Any] = []

    class Seen(module.Histories):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            made.append(self)

    monkeypatch.setattr(module, "Histories", Seen)
    model = ac.compile(Echo())
    model.simulate(2000.0, rtol=1e-6, set={"T": 0.3})
    (run,) = made
    assert max(len(one) for one in run.save()) < 3000
    session = model.start(rtol=1e-6, set={"T": 0.3}).advance(50.0)
    kept = session.advance(51.0, set={"T": 40.0})  # all of the past is still there
    assert np.isfinite(kept["x"])


class Watched(ac.Component):
    """Something that is delayed, and something else that switches for itself."""

    T = ac.Parameter(0.3)
    x, y, z = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable()
    on = ac.Boolean(False)

    def equations(self) -> Any:
        yield ac.der(self.x) == -0.5 * self.z + 0.2 * ac.sin(ac.time)
        yield self.z == ac.delay(self.x, self.T)
        yield ac.der(self.y) == ac.where(self.on, -1.0, 1.0)

    def events(self) -> Any:
        yield ac.when(self.y > 0.5, ac.assign(self.on, True)).elsewhen(self.y < -0.5, ac.assign(self.on, False))


@pytest.mark.parametrize(("rtol", "more"), [(1e-4, 8), (1e-6, 40)])
def test_what_is_smooth_makes_no_event_a_delay_later(rtol: float, more: int) -> None:
    """The other part switches 20 times, and each time the integration begins anew; x knows nothing of it. Six times as many
    restarts would be due if each of them were a break: some are left, where the noise of a restart is too large to tell."""
    result = ac.compile(Watched()).simulate(until=20.0, rtol=rtol, at=np.linspace(0.0, 20.0, 41))
    switched = sum(1 for event in result.events if event.time > 0 and any("on" in str(c) for c in event.changes))
    assert 18 <= switched <= 22
    assert result.statistics.restarts <= switched + more
    alone = ac.compile(Watched()).simulate(until=20.0, rtol=1e-10, at=np.linspace(0.0, 20.0, 41), set={"on": True, "y": 100.0})
    times = np.linspace(0.0, 20.0, 41)
    x, exact = (np.interp(times, r.time, np.asarray(r["x"])) for r in (result, alone))
    np.testing.assert_allclose(x, exact, atol=30 * rtol)


def test_a_delay_that_becomes_negative_is_told_with_its_line():
    class Late(ac.Component):
        tau = ac.Parameter(1.0)
        x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield self.y == ac.delay(self.x, self.tau)

    run = ac.compile(Late(), units=False).simulate(1.0, set={"tau": -1.0}, on_failure="keep")
    told = run.diagnostics[0]
    assert "what will be in the future, no equation can know" in told.what
    assert told.location is not None and told.location.file == __file__ and "ac.delay(self.x" in told.location.source


def test_points_close_together_say_nothing_about_an_interval_far_longer_than_they_are_apart() -> None:
    """A step that was cut short at a stop, and those after it that grow again: slopes between such points are noise."""
    histories = core.Histories(1)
    (number,) = histories.handles()
    record, value = DelayFunction("record"), DelayFunction("value")
    times = np.cumsum([0.0, 1e-3, 1e-3, 8e-5, *1e-9 * 2.0 ** np.arange(17)])
    for t in times:
        record.value(number, t, np.sin(3 * t))
    sought = np.linspace(0.0, times[-1], 2000)
    found = value.value(number, times[-1], times[-1] - sought, 0.0, -1.0)
    assert np.abs(found - np.sin(3 * sought)).max() < 1e-13


class Sawtooth(ac.Component):
    """z rises with slope 1 and falls back to 0 at every whole second; x = sin(t). Both are seen after a delay of time alone."""

    x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    late_x, late_z = ac.Variable(), ac.Variable()

    def __init__(self, late: Any) -> None:
        self.late = late
        super().__init__()

    def equations(self) -> Any:
        yield ac.der(self.x) == ac.cos(ac.time)
        yield ac.der(self.z) == 1.0
        yield self.late_x == ac.delay(self.x, self.late(ac.time))
        yield self.late_z == ac.delay(self.z, self.late(ac.time))

    def events(self) -> Any:
        yield ac.when(self.z >= 1.0, ac.reinit(self.z, 0.0))


KNOTS = ([0.0, 2.0, 5.0, 10.0], [0.1, 0.3, 0.15, 0.4])


def sawtooth(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Its value at a time, and where that is no jump."""
    return np.where(s > 0, s - np.floor(s), 0.0), np.abs(s - np.round(s)) > 1e-4


@pytest.mark.parametrize("solver", ["ida", "sundae"])
@pytest.mark.parametrize(
    ("late", "number"),
    [
        (lambda t: 0.1 + 0.05 * ac.sin(t), lambda t: 0.1 + 0.05 * np.sin(t)),
        (lambda t: 0.1 + 0.05 * ac.exp(-t), lambda t: 0.1 + 0.05 * np.exp(-t)),
        (lambda t: 0.1 + 0.002 * t * t, lambda t: 0.1 + 0.002 * t * t),
        (ac.Table(*KNOTS, method="linear"), lambda t: np.interp(t, *KNOTS)),
        (lambda t: 0.1 + 0.01 * t, lambda t: 0.1 + 0.01 * t),
    ],
    ids=["sine", "exponential", "square", "table", "line"],
)
def test_a_delay_that_varies_with_time_alone(late: Any, number: Any, solver: str) -> None:
    r = ac.compile(Sawtooth(late)).simulate(10.0, points=1001, solver=solver)
    s = r.time - number(r.time)
    assert np.abs(r["late_x"] - np.where(s > 0, np.sin(s), 0.0)).max() < 1e-4
    value, smooth = sawtooth(s)
    assert np.abs(r["late_z"] - value)[smooth].max() < 1e-8


class Sliding(ac.Component):
    """A sawtooth, seen after a delay that is a state: 0.55 - A (1 - cos t)."""

    A = ac.Parameter(0.05)
    z, late, tau = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable(start=0.55, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.z) == 1.0
        yield ac.der(self.tau) == -self.A * ac.sin(ac.time)
        yield self.late == ac.delay(self.z, self.tau)

    def events(self) -> Any:
        yield ac.when(self.z >= 1.0, ac.reinit(self.z, 0.0))


@pytest.mark.parametrize(
    "options", [{"solver": "ida"}, {"solver": "sundae"}, {"solver": "fixed", "step": 0.05}], ids=lambda o: o["solver"]
)
@pytest.mark.parametrize("A", [0.15, 0.05, 0.03])
def test_a_jump_right_after_an_echo_within_one_step_is_remembered(A: float, options: dict[str, Any]) -> None:
    """An echo that makes no restart and a jump lie in the same step: the history knows the value before the jump, too."""
    r = ac.compile(Sliding(A=A)).simulate(20.0, points=2001, **options)
    value, smooth = sawtooth(r.time - r["tau"])
    assert np.abs(r["late"] - value)[smooth].max() < 1e-6
    if options["solver"] == "ida":
        assert np.abs(r["tau"] - (0.55 - A * (1 - np.cos(r.time)))).max() < 1e-4
        arrived = np.array([e.time for e in r.events if "delay" in e.causes[0].text])
        for jump in range(1, 19):
            there = jump + 0.55
            for _ in range(50):
                there = jump + 0.55 - A * (1 - np.cos(there))
            assert np.abs(arrived - there).min() < 1e-3


class Differentiated(ac.Component):
    """x = sin(t) as an oscillator's state, and the derivative of what it was."""

    x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0, fixed=True)
    late, slope = ac.Variable(), ac.Variable()
    T = ac.Parameter(0.3)

    def __init__(self, of: Any = lambda d: d) -> None:
        self.of = of
        super().__init__()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.x
        yield self.late == self.of(ac.delay(self.x, self.T))
        yield self.slope == ac.der(self.late)


@pytest.mark.parametrize("solver", ["ida", "sundae"])
@pytest.mark.parametrize("T", [0.3, 1e-3])
@pytest.mark.parametrize("factor", [1.0, -1.0, 2.0])
def test_the_derivative_of_a_state_that_is_delayed(factor: float, T: float, solver: str) -> None:
    """What is delayed does not determine the present: x stays the state, not its late value."""
    model = ac.compile(Differentiated(of=lambda d: factor * d))
    r = model.simulate(5.0, set={"T": T}, rtol=1e-7, solver=solver)
    assert r.outcome
    s = r.time - T
    smooth = np.abs(s) > 1e-6  # the derivative jumps where the start arrives
    assert np.abs(r["late"] - factor * np.where(s > 0, np.sin(s), 0.0)).max() < 1e-5
    assert np.abs(r["slope"] - factor * np.where(s > 0, np.cos(s), 0.0))[smooth].max() < 1e-3
