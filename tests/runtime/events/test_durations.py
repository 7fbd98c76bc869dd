"""Assertions that count only after a condition has failed for a while."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Starting(ac.Component):
    """x rises to 1 within seconds, falls below 0.5 for `gap` from 20 s on, and for good at 40 s."""

    x, gap, wait = ac.Variable(start=0.0, fixed=True), ac.Parameter(3.0, unit="s"), ac.Parameter(5.0, unit="s")
    level = "warning"

    def equations(self) -> Any:
        away = ((ac.time >= 20.0) & (ac.time < 20.0 + self.gap)) | (ac.time >= 40.0)
        yield ac.der(self.x) == 10.0 * (ac.where(away, 0.0, 1.0) - self.x)

    def events(self) -> Any:
        yield ac.assert_(self.x > 0.5, "Too small.", level=self.level, lasting=self.wait)


def told(result: ac.Result) -> list[str]:
    return [d.what for d in result.diagnostics]


@pytest.mark.parametrize("solver", ["ida", "sundae"])
@pytest.mark.filterwarnings("ignore::acausal.RunWarning")
def test_only_what_lasts_is_told(solver: str, tmp_path: Path) -> None:
    model = ac.compile(Starting())
    model.save(tmp_path / "starting.acm")
    for one in (model, ac.load(tmp_path / "starting.acm")):
        assert told(one.simulate(until=30.0, solver=solver)) == []
        (long,) = told(one.simulate(until=30.0, solver=solver, set={"gap": 7.0}))
        assert long.startswith("An assertion does not hold at time 25.069") and "Too small." in long  # ln(2)/10 and 5 s after 20 s
        (last,) = told(one.simulate(until=60.0, solver=solver))
        assert "at time 45.0693" in last
        assert told(one.simulate(until=44.0, solver=solver)) == []


def test_it_counts_from_the_start_and_ends_a_run_as_an_error() -> None:
    class Ending(Starting):
        level = "error"

    model = ac.compile(Ending())
    assert model.simulate(until=30.0).outcome
    with pytest.warns(ac.RunWarning, match="Too small"):
        run = model.simulate(until=30.0, set={"wait": 0.05})
    assert run.outcome is ac.Outcome.ASSERTION and run.time_reached == pytest.approx(0.05)
    with pytest.warns(ac.RunWarning, match="Too small"):
        assert model.simulate(until=30.0, set={"wait": 0.0}).time_reached == 0.0


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_what_fails_from_the_start_of_a_run_to_its_end_is_told_however_short_it_is(solver: str) -> None:
    model = ac.compile(Starting())
    with pytest.warns(ac.RunWarning, match="does not hold at time 0.05: Too small."):
        run = model.simulate(until=0.05, solver=solver)
    assert len(told(run)) == 1
    assert told(model.simulate(until=0.1, solver=solver)) == []  # it held at last
    first = model.simulate(until=43.0, solver=solver)  # it fails at its end, but not from its start
    assert told(first) == []
    with pytest.warns(ac.RunWarning, match="Too small"):
        assert len(told(model.simulate(start=43.0, until=44.0, start_from=first, solver=solver))) == 1
    session = model.start(solver=solver).advance(0.05)
    assert told(session.result()) == [] and told(session.advance(1.0).result()) == []  # it may go on

    class Ending(Starting):
        level = "error"

    assert ac.compile(Ending()).simulate(until=0.05, solver=solver).outcome is ac.Outcome.FINISHED


def test_a_mode_that_is_left_is_not_the_end_of_a_run() -> None:
    """What is told after the switch neither hides it nor counts."""

    class Low(ac.Component):
        x = ac.Variable(start=0.0, fixed=True, max=0.5)

        def equations(self) -> Any:
            yield ac.der(self.x) == 1.0

        def events(self) -> Any:
            yield ac.assert_(self.x > 2.0, "Too small.", level="warning", lasting=10.0)

    plant = ac.Phases(first=Low(), second=Low(), initial="first")
    plant.switch("first", "second", when=lambda m: m.x > 1.0)
    result = plant.simulate(until=4.0)
    assert [phase.mode for phase in result.phases] == ["first", "second"]
    assert all("above its maximum" in d.what for d in result.diagnostics)


@pytest.mark.filterwarnings("ignore::acausal.RunWarning")
def test_sessions_and_runs_that_go_on_count_on() -> None:
    model = ac.compile(Starting())
    session = model.start()
    for t in (21.0, 41.0, 44.0, 46.0):
        session.advance(t)
    (text,) = told(session.result())
    assert "at time 45.0693" in text
    first = model.simulate(until=43.0)
    (text,) = told(model.simulate(start=43.0, until=50.0, start_from=first))
    assert "at time 45.0693" in text


@pytest.mark.filterwarnings("ignore::acausal.RunWarning")
def test_an_array_has_a_time_of_its_own_for_each_element() -> None:
    class Many(ac.Component):
        x = ac.Variable(shape=3, start=0.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == np.array([1.0, 0.5, 0.1])

        def events(self) -> Any:
            yield ac.assert_(self.x > 0.45, "Too slow.", level="warning", lasting=2.0)

    (text,) = told(ac.compile(Many()).simulate(until=10.0))
    assert "at time 2:" in text


def test_nothing_happens_while_the_condition_holds() -> None:
    class Fine(Starting):
        def events(self) -> Any:
            yield ac.assert_(self.x > -1.0, "Too small.", level="warning", lasting=self.wait)

    class Plain(Starting):
        def events(self) -> Any:
            yield ac.assert_(self.x > -1.0, "Too small.", level="warning")

    one, other = (ac.compile(kind()).simulate(until=60.0) for kind in (Fine, Plain))
    assert one.statistics.steps == other.statistics.steps and len(one.events) == len(other.events)


def test_what_is_no_duration_is_told() -> None:
    class Wrong(Starting):
        wait = ac.Parameter(5.0, unit="min")

    with pytest.raises(ac.ModelError, match="Units of different scale meet: `time` is s, `wait` is s times 60"):
        ac.compile(Wrong())
    for lasting in ("10 s", -1.0):
        with pytest.raises(ac.errors.UsageError, match=r"`lasting` of `ac.assert_` is a time in seconds"):
            ac.assert_(ac.time < 5.0, "late", lasting=lasting)


class Resting(ac.Component):
    """It comes to rest at 0.2."""

    x, level, wait = ac.Variable(start=0.0, shape=2), "warning", None

    def equations(self) -> Any:
        yield ac.der(self.x) == self.u - self.x

    u = ac.Parameter(0.2)

    def events(self) -> Any:
        yield ac.assert_(self.x > 0.5, "Too small.", level=self.level, lasting=self.wait)
        yield ac.assert_(self.x < 1.5, "Too large.", level=self.level, lasting=self.wait)


@pytest.mark.parametrize("of_level", ["warning", "error"])
@pytest.mark.parametrize("lasts", [None, 10.0])
def test_a_state_of_rest_tells_once_what_does_not_hold_there(lasts: float | None, of_level: str) -> None:
    class Other(Resting):
        level, wait = of_level, lasts

    model = ac.compile(Other())
    with pytest.warns(ac.RunWarning, match="The steady state of Other was found, but:\nAn assertion .* Too small"):
        found = model.steady_state()
    assert len(found.diagnostics) == 1 and found.diagnostics[0].warning
    assert model.steady_state(set={"u": 1.0}).diagnostics == ()
    assert [told(one) != [] for one in model.steady_states({"u": [0.2, 1.0, 2.0]}) if one is not None] == [True, False, True]


@pytest.mark.filterwarnings("error::acausal.RunWarning")
def test_a_search_for_many_states_does_not_warn_of_each() -> None:
    model = ac.compile(Resting())
    assert told(model.steady_state(warn=False)) and len(model.find_steady_states({"x[0]": (0.0, 1.0)}, 4)) == 1
