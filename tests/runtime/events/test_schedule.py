"""Events at known times, handled natively and by the handler in Python: the same to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.runtime.clocks import Clocks
from acausal.runtime.events import native

pytest.importorskip("acausal._core")

COUNTS = ("steps", "events", "time_events", "state_events", "restarts", "event_rounds", "event_sweeps")


class Clocked(ac.Component):
    """Clocks that meet, a sampled controller, relations of time, a state event in between."""

    x = ac.Variable(start=1.0, fixed=True)
    p, q, late = ac.Parameter(0.3), ac.Parameter(0.2), ac.Parameter(1.7)
    n, m = ac.Integer(0), ac.Integer(0)
    u = ac.Discrete(0.0)

    def equations(self):
        yield ac.der(self.x) == self.u - self.x + ac.where(ac.time >= self.late, 0.5, 0.0)

    def events(self):
        yield ac.when(ac.sample(0.1, self.p), ac.assign(self.n, ac.pre(self.n) + 1))
        control = ac.assign(self.u, ac.pre(self.u) + 0.3 * (1.2 - self.x))
        yield ac.when(ac.sample(0.0, self.q), control, ac.assign(self.m, ac.pre(self.m) + self.n))
        yield ac.when(self.x > 1.25, ac.reinit(self.x, 1.0))


class Light(ac.Component):
    """States that last for a time."""

    lamp = ac.OutputStates("red", "green", "amber", initial="red")
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == ac.match(self.lamp, red=0.0, green=1.0, amber=0.5)

    def transitions(self):
        yield self.lamp.red.to("green", after=1.5)
        yield self.lamp.green.to("amber", after=0.7)
        yield self.lamp.amber.to("red", after=0.2)


def both(model: ac.Model, monkeypatch: pytest.MonkeyPatch, **run: Any) -> tuple[ac.Result, ac.Result]:
    """A run, and one in which roots are searched in the same way, but all events are the handler's."""
    ours, made = model.simulate(**run), native.switches

    def idle(*given: Any) -> Any:
        found = made(*given)
        found.handles = False
        return found

    with monkeypatch.context() as patch:
        patch.setattr(native, "add_schedule", lambda *_: False)
        patch.setattr(native, "switches", idle)
        return ours, model.simulate(**run)


def same(one: ac.Result, other: ac.Result) -> None:
    np.testing.assert_array_equal(one.time, other.time)
    np.testing.assert_array_equal(one.data, other.data)
    assert {c: one.statistics[c] for c in COUNTS} == {c: other.statistics[c] for c in COUNTS}
    assert str(one.events) == str(other.events)


@pytest.mark.parametrize("p, q, late", [(0.3, 0.2, 1.7), (0.1, 0.1, 0.3), (1 / 3, 0.25, 0.1 + 0.2), (0.7, 0.05, 100.0)])
def test_clocks_and_relations_of_time(p: float, q: float, late: float, monkeypatch: pytest.MonkeyPatch) -> None:
    given_ = {"p": p, "q": q, "late": late}
    ours, reference = both(ac.compile(Clocked()), monkeypatch, until=5.0, set=given_, points=37)
    same(ours, reference)
    assert ours["n"][-1] == np.floor((5.0 - 0.1) / p + 1e-9) + 1


def test_states_that_last_for_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, reference = both(ac.compile(Light()), monkeypatch, until=20.0)
    same(ours, reference)
    assert ours["x"][-1] == pytest.approx(8 * 0.8 + 0.8 * 0 + min(max(20.0 - 8 * 2.4 - 1.5, 0.0), 0.7), abs=1e-6)


def test_irrational_periods_are_left_to_python() -> None:
    p, q = float(np.sqrt(2) / 5), float(np.pi / 11)
    assert Clocks([0.1, 0.0], [p, q]).whole(0.0, 5.0) is None
    result = ac.compile(Clocked()).simulate(until=5.0, set={"p": p, "q": q})
    assert result["n"][-1] == np.floor(4.9 / p) + 1 and result.outcome


def test_output_times_and_a_long_run(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ac.compile(Clocked())
    same(*both(model, monkeypatch, until=40.0, at=np.arange(0.0, 40.0, 0.05)))


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 40)), min_size=1, max_size=4),
    st.sampled_from([1, 3, 7, 10, 64, 1000]),
    st.floats(-10, 10),
)
def test_whole_clocks_tick_at_the_same_doubles(clocks: list[tuple[int, int]], over: int, t: float) -> None:
    found = Clocks([o / over for o, _ in clocks], [p / over for _, p in clocks])
    whole = found.whole(t, 100.0)
    assert whole is not None
    following, periods, first, base, denominator = whole
    for _ in range(20):
        times = [float(first + m * base) / float(denominator) for m in following]
        time, ticking = found.next(t, inclusive=False)
        assert min(times) == time and [k for k, at in enumerate(times) if at == time] == ticking.tolist()
        following = [m + p if at == time else m for m, p, at in zip(following, periods, times, strict=True)]
        t = time
