"""Jumps inside inputs that are Python functions: found, and passed as events, with the results of `ac.hold`."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac


class Follower(ac.Component):
    """A state that follows its input, and an algebraic unknown that jumps with it."""

    u, k = ac.Input(0.0), ac.Parameter(1.0)
    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.k * self.u - self.x
        yield self.y + 0.1 * self.y**3 == self.u + self.x


class Total(ac.Component):
    """What passed."""

    u, x = ac.Input(0.0), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.u


MODEL, TOTAL = ac.compile(Follower()), ac.compile(Total())


def held(times: list[float], values: list[float], open_at: bool = False) -> Callable[[float], float]:
    """Values from times on; `open_at`: at its very time it is still what it was."""
    find = bisect.bisect_left if open_at else bisect.bisect_right
    return lambda t: values[max(0, find(times, t) - 1)]


def step(t: float) -> float:
    return 1.0 if t > 0.3 else 0.0


STEP = ac.hold([0.0, 0.3], [0.0, 1.0])


@given(
    times=st.lists(st.integers(1, 999), min_size=1, max_size=12, unique=True),
    seed=st.integers(0, 1000),
    open_at=st.booleans(),
    length=st.sampled_from([1e-3, 1.0, 86400.0]),
)
@settings(max_examples=15, deadline=None)
def test_held_values_are_those_of_hold(times: list[int], seed: int, open_at: bool, length: float) -> None:
    at = [0.0, *(length * k / 1000 for k in sorted(times))]
    values = [float(v) for v in np.random.default_rng(seed).normal(0.0, 1.0, len(at))]
    options: dict[str, Any] = {"until": length, "points": 11, "rtol": 1e-9}
    ours = TOTAL.simulate(inputs={"u": held(at, values, open_at)}, **options)
    total = float(np.dot(values, np.diff([*at, length])))
    assert ours["x"][-1] == pytest.approx(total, rel=1e-7, abs=1e-7 * length)
    ours = MODEL.simulate(inputs={"u": held(at, values, open_at)}, **options)
    same = MODEL.simulate(inputs={"u": ac.hold(at, values)}, **options)
    assert ours["y"][-1] == pytest.approx(same["y"][-1], abs=1e-7)


@pytest.mark.parametrize("solver", ["ida", "sundae", "fixed"])
def test_both_sides_of_a_jump_are_stored(solver: str) -> None:
    options: dict[str, Any] = {"step": 1e-3} if solver == "fixed" else {}
    result = MODEL.simulate(until=1.0, inputs={"u": step}, solver=solver, **options)
    assert result["x"][-1] == pytest.approx(1 - np.exp(-0.7), abs=2e-6)
    assert result["x"][result.time < 0.3].max() == 0.0
    assert [event.time for event in result.events] == [np.nextafter(0.3, 1.0)]
    both = np.flatnonzero(result.time == result.events[0].time)
    assert result["u"][both].tolist() == [0.0, 1.0]
    assert result["y"][both[0]] == pytest.approx(0.0, abs=1e-9)
    assert result["y"][both[1]] == pytest.approx(0.9217, abs=1e-4)


def test_a_pulse_while_everything_rests_is_not_stepped_over() -> None:
    for pulse in (lambda t: 100.0 if 40000 < t < 40800 else 0.0, lambda t: 100.0 * max(0.0, 1 - ((t - 40400) / 600) ** 2)):
        assert TOTAL.simulate(until=86400.0, inputs={"u": pulse})["x"][-1] == pytest.approx(80000.0, rel=1e-5)


def test_a_jump_within_what_else_a_function_does() -> None:
    result = MODEL.simulate(until=1.0, rtol=1e-9, inputs={"u": lambda t: np.sin(t) + 1e-5 * (t > 0.3)})
    moving = 0.5 * (np.sin(1.0) - np.cos(1.0) + np.exp(-1.0))
    assert result["x"][-1] == pytest.approx(moving + 1e-5 * (1 - np.exp(-0.7)), abs=5e-9)
    saw = TOTAL.simulate(until=20.5, inputs={"u": lambda t: t % 1.0})
    assert saw["x"][-1] == pytest.approx(10.125, abs=2e-5)
    assert len(saw.events) == 20


def test_a_smooth_function_of_few_digits_is_not_taken_for_held_values() -> None:
    """Between its digits it is constant: of a million tiny jumps none is looked for, and the one that matters is found."""
    asked = 0

    def few_digits(t: float) -> float:
        nonlocal asked
        asked += 1
        return float(np.float32(np.sin(t) + (t > 0.3)))

    result = MODEL.simulate(until=1.0, inputs={"u": few_digits})
    moving = 0.5 * (np.sin(1.0) - np.cos(1.0) + np.exp(-1.0))
    assert result["x"][-1] == pytest.approx(moving + 1 - np.exp(-0.7), abs=2e-6)
    assert len(result.events) == 1
    assert asked < 20_000


def test_a_jump_right_behind_the_start() -> None:
    result = MODEL.simulate(until=1.0, inputs={"u": lambda t: 1.0 if t > 0 else 0.0})
    assert result["y"][0] == pytest.approx(0.0, abs=1e-12)
    assert result["x"][-1] == pytest.approx(1 - np.exp(-1.0), abs=2e-6)


def test_inputs_that_jump_together_are_one_event() -> None:
    class Two(ac.Component):
        u = ac.Input(0.0, shape=3)
        x, y = ac.Variable(shape=3, start=0.0, fixed=True), ac.Variable(shape=3)

        def equations(self) -> Iterator[Any]:
            yield ac.der(self.x) == self.u - self.x
            yield self.y + 0.1 * self.y**3 == self.u + self.x

    result = ac.compile(Two()).simulate(until=1.0, inputs={"u": lambda t: np.array([t > 0.3, t > 0.5, t >= 0.3], dtype=float)})
    assert result["x"][-1] == pytest.approx(1 - np.exp([-0.7, -0.5, -0.7]), abs=2e-6)
    assert len(result.events) == 2


def test_a_session_in_pieces_and_taken_back() -> None:
    wanted = pytest.approx(1 - np.exp(-0.7), abs=2e-6)
    session = MODEL.start(inputs={"u": step})
    for k in range(1, 11):
        session.advance(k / 10)
    assert session["x"] == wanted
    session = MODEL.start(inputs={"u": step}).advance(0.3)
    before = session.save()
    session.advance(0.7)
    after = session.save()
    assert session.restore(before).advance(1.0)["x"] == wanted
    assert session.restore(after).advance(1.0)["x"] == wanted


@pytest.mark.parametrize("jump", [0.5, 0.011, 0.0221])
def test_a_session_in_many_pieces_that_end_a_rounding_apart(jump: float) -> None:
    session = MODEL.start(inputs={"u": lambda t: 1.0 if t >= jump else 0.0}, rtol=1e-9)
    for k in range(1, 1001):
        session.advance(k / 1000)
    assert session["x"] == pytest.approx(1 - np.exp(jump - 1.0), abs=1e-7)


def test_a_session_whose_function_reads_what_somebody_changes() -> None:
    valve = [0.0]
    session = MODEL.start(inputs={"u": lambda t: valve[0]}).advance(0.3)
    valve[0] = 1.0
    assert session.advance(1.0)["x"] == pytest.approx(1 - np.exp(-0.7), abs=2e-6)


def test_sensitivities_gradients_and_studies_go_across_jumps() -> None:
    for u in (step, STEP):
        result = MODEL.simulate(until=1.0, inputs={"u": u}, sensitivities=["k"])
        assert result.sensitivities["x", "k"][-1] == pytest.approx(1 - np.exp(-0.7), abs=2e-6)
    study = ac.study(MODEL, {"k": [1.0, 2.0]}, until=1.0, inputs={"u": step}, outputs={"x": ac.final("x")})
    assert np.asarray(study["x"]) == pytest.approx([1 - np.exp(-0.7), 2 - 2 * np.exp(-0.7)], abs=5e-6)


def test_who_looks_back_sees_what_a_function_gave_before_its_jump() -> None:
    """A run that has passed a jump asks the function beyond it only; the journal of its steps asks at any time."""
    result = MODEL.simulate(until=1.0, inputs={"u": step}, solver="ida")
    (cell,) = result.journal.inputs
    assert [result.journal.known_at(t)[cell] for t in (0.2, 0.8)] == [0.0, 1.0]


def test_a_function_that_fails_says_so_where_the_run_comes_there() -> None:
    def ends(t: float) -> float:
        if t > 0.6:
            raise ValueError(f"no data at {t}")
        return step(t)

    with pytest.raises(ValueError, match=r"no data at 0\.6"):
        MODEL.simulate(until=1.0, inputs={"u": ends}, max_step=0.01)
