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
