"""Events that come too fast are noticed; events that are merely many are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.events.chatter import WINDOW, Rhythm
from acausal.runtime.outcome import Outcome

Statements = Iterator[Any]


def first_complaint(
    times: np.ndarray, causes: list[list[tuple[str, int]]] | None = None, end: float = 1.0
) -> tuple[Outcome | None, int]:
    rhythm = Rhythm(0.0, end)
    for k, t in enumerate(times):
        outcome = rhythm.event(float(t), [("relation", 0)] if causes is None else causes[k], 3 * k)
        if outcome is not None:
            return outcome, k
    return None, len(times)


def test_a_relation_that_goes_to_and_fro_is_chattering() -> None:
    outcome, k = first_complaint(0.5 + 1e-12 * np.arange(500))
    assert outcome is Outcome.CHATTERING and k == WINDOW - 1


def test_regular_events_are_not_however_many() -> None:
    assert first_complaint(np.linspace(0.0, 1.0, 20_000))[0] is None


def test_many_causes_at_nearly_one_time_are_not() -> None:
    """A thousand rooms that switch within a microsecond, each once."""
    times = 0.5 + 1e-12 * np.arange(1000)
    assert first_complaint(times, [[("relation", k)] for k in range(1000)])[0] is None


@pytest.mark.parametrize("ratio", [0.3, 0.7, 0.95])
def test_intervals_that_shrink_towards_a_time_are_zeno(ratio: float) -> None:
    times = np.cumsum(0.02 * ratio ** np.arange(2000))
    outcome, k = first_complaint(times)
    assert outcome is Outcome.ZENO
    assert times[-1] - times[k] < 1e-4  # not long before the end of time


def test_intervals_that_shrink_a_little_and_stop_shrinking_are_not() -> None:
    gaps = np.concatenate([0.01 * 0.9 ** np.arange(8), np.full(300, 0.004)])
    assert first_complaint(np.cumsum(gaps), end=2.0)[0] is None


class Bouncing(ac.Component):
    h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
    e = ac.Parameter(0.5)

    def equations(self) -> Statements:
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self) -> Statements:
        yield ac.when(self.h <= 0, ac.reinit(self.v, -self.e * ac.pre(self.v)))


@pytest.mark.parametrize("e", [0.3, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_a_ball_is_stopped_just_before_it_rests(e: float, solver: str) -> None:
    result = ac.compile(Bouncing()).simulate(until=20.0, set={"e": e}, solver=solver)
    limit = np.sqrt(2 / 9.81) * (1 + e) / (1 - e)
    assert result.outcome is ac.Outcome.ZENO
    assert limit * (1 - 1e-3) < result.time[-1] < limit * (1 + 1e-4)
    assert result["h"].min() > -1e-6


def test_a_ball_that_may_rest_goes_on() -> None:
    class Resting(ac.Component):
        h, v = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)
        rests = ac.Boolean(start=False)

        def equations(self) -> Statements:
            yield ac.der(self.h) == self.v
            yield ac.der(self.v) == ac.where(self.rests, 0.0, -9.81)

        def events(self) -> Statements:
            slow = ac.pre(self.v) > -0.1
            speed = ac.where(slow, 0.0, -0.7 * ac.pre(self.v))
            yield ac.when(self.h <= 0, ac.reinit(self.v, speed), ac.assign(self.rests, slow))

    result = ac.compile(Resting()).simulate(until=20.0)
    assert result.outcome is ac.Outcome.FINISHED and result["rests"][-1] == 1 and result["v"][-1] == 0.0
    assert result["h"][-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_the_component_that_chatters_is_named_among_many(solver: str) -> None:
    class Relay(ac.Component):
        x, level = ac.Variable(start=0.0, fixed=True), ac.Parameter(100.0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == ac.where(self.x > self.level, -1.0, 1.0)

    class Plant(ac.Component):
        def __init__(self) -> None:
            self.relay = ac.array(Relay, 5, level=np.array([9.0, 9.0, 1.5, 9.0, 9.0]))

    result = ac.compile(Plant()).simulate(until=5.0, solver=solver)
    assert result.outcome is ac.Outcome.CHATTERING and result.time[-1] == pytest.approx(1.5, rel=1e-6)
    text = str(result.diagnostics[0])
    assert "relay[2] (Relay)" in text and "x > level" in text and "relay[1]" not in text


class Creeping(ac.Component):
    """Each event makes the next one follow after a distance d; nothing else happens."""

    x, level, d = ac.Variable(start=0.0, fixed=True), ac.Discrete(0.5), ac.Parameter(1e-9)

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0

    def events(self) -> Statements:
        yield ac.when(self.x > self.level, ac.assign(self.level, self.x + self.d))


class CreepingTime(Creeping):
    def events(self) -> Statements:
        yield ac.when(ac.time >= ac.pre(self.level), ac.assign(self.level, ac.time + self.d))


class CreepingEquation(Creeping):
    """Equations read what the event assigns: the integration begins anew each time."""

    def equations(self) -> Statements:
        yield ac.der(self.x) == 1.0 + 1e-3 * self.level


@pytest.mark.parametrize("kind", [Creeping, CreepingTime, pytest.param(CreepingEquation, marks=pytest.mark.slow)])
def test_events_that_bring_about_the_next_one_at_once_end_the_run(kind: type[ac.Component]) -> None:
    result = ac.compile(kind()).simulate(until=1.0, on_failure="keep")
    assert result.outcome is Outcome.CHATTERING and 0.45 < result.time_reached < 0.6
    told = str(result.diagnostics[0])
    for part in ("would take more than 3e+07", "level", "test_chatter.py:", "try: "):
        assert part in told, told


@pytest.mark.parametrize("kind", [Creeping, CreepingTime])
def test_as_many_of_them_as_one_can_wait_for_are_done(kind: type[ac.Component]) -> None:
    result = ac.compile(kind()).simulate(until=1.0, set={"d": 1e-5})
    assert result.outcome.ok and abs(len(result.events) - 50_000) <= 50


def test_a_pace_without_end_is_one_with_few_steps() -> None:
    class Logged:
        def latest(self, count: int) -> list[tuple[float, list[tuple[str, int]]]]:
            return [(0.5, [("relation", 0)])] * count

    def stopped(interval: float, steps: int, count: int = 30_000) -> bool:
        rhythm = Rhythm(0.0, 1.0)
        log: Any = Logged()
        return any(rhythm.without_end(k, interval * k, steps * k, log) is not None for k in range(0, count, 100))

    assert stopped(1e-9, 0) and stopped(1e-9, 3) and not stopped(1e-9, 5) and stopped(1e-9, 5, 250_000)
    assert not stopped(1e-7, 0, 250_000) and not stopped(1e-9, 10, 250_000)
