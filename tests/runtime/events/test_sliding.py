"""Sliding along switching surfaces (Filippov) against closed forms: when it begins, what it is mixed of, when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import acausal as ac

Statements = Iterator[Any]


def slide(component: ac.Component, until: float, **options: Any) -> ac.Result:
    result = ac.compile(component).simulate(until=until, rtol=1e-8, sliding="filippov", **options)
    assert result.outcome is ac.Outcome.FINISHED, result.diagnostics
    return result


class Rubbing(ac.Component):
    """v' = a sin t - sign(v): sticks while |a sin t| < 1."""

    a = ac.Parameter(1.5)
    v = ac.Variable(start=0.0, fixed=True)
    s = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.v) == self.a * ac.sin(ac.time) - ac.where(self.v > 0, 1.0, -1.0)
        yield ac.der(self.s) == self.v


def times_of_leaving_and_sticking(a: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """It leaves where a sin t = ±1; from there v = -(t - t0) - a (cos t - cos t0) until it is zero again, every half period."""
    leaves = np.arcsin(1 / a)
    sticks = brentq(lambda t: -(t - leaves) - a * (np.cos(t) - np.cos(leaves)), leaves + 0.5, leaves + np.pi, xtol=1e-14)
    k = np.pi * np.arange(count)
    return leaves + k, sticks + k


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_it_sticks_and_leaves_when_it_should(solver: str) -> None:
    result = slide(Rubbing(), 20.0, solver=solver)
    leaves, sticks = times_of_leaving_and_sticking(1.5, 6)
    expected = np.sort(np.concatenate([leaves, sticks]))
    times = result.events.times[result.events.times > 1e-6]  # sliding begins at the start
    np.testing.assert_allclose(times[: len(expected)], expected[expected < 20.0], rtol=1e-6)
    t, v = result.time, result["v"]
    for a, b in zip(sticks[:-1], leaves[1:], strict=True):
        assert np.abs(v[(t > a) & (t < b)]).max() < 1e-7
    flight = (t > leaves[0]) & (t < sticks[0])
    exact = -(t - leaves[0]) - 1.5 * (np.cos(t) - np.cos(leaves[0]))
    np.testing.assert_allclose(v[flight], exact[flight], atol=1e-6)


def test_it_stays_if_nothing_is_strong_enough() -> None:
    """x' = -sign(x) + a sin t with a < 1: x = 1 - t + a (1 - cos t) until it meets the surface, zero ever after."""

    class Weak(ac.Component):
        a = ac.Parameter(0.8)
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self) -> Statements:
            yield ac.der(self.x) == -ac.sign(self.x) + self.a * ac.sin(ac.time)

    result = slide(Weak(), 30.0)
    meets = brentq(lambda t: 1 - t + 0.8 * (1 - np.cos(t)), 0.5, 5.0, xtol=1e-14)
    t, x = result.time, result["x"]
    assert result.events.times[0] == pytest.approx(meets, rel=1e-7)
    np.testing.assert_allclose(x[t < meets], (1 - t + 0.8 * (1 - np.cos(t)))[t < meets], atol=1e-7)
    assert np.abs(x[t > meets + 1e-6]).max() < 1e-7
    assert len(result.events) < 10


def test_it_crosses_where_one_side_carries_it_away() -> None:
    """With a = 2 the surface is met where |a sin t| > 1: nothing slides, and nothing chatters."""

    class Strong(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self) -> Statements:
            yield ac.der(self.x) == ac.where(self.x > 0, -1.0, 1.0) + 2 * ac.sin(ac.time)

    result = slide(Strong(), 10.0)
    down = brentq(lambda t: 1 - t + 2 * (1 - np.cos(t)), 3.0, 5.0, xtol=1e-14)
    up = brentq(lambda t: t - down - 2 * (np.cos(t) - np.cos(down)), 6.0, 8.0, xtol=1e-14)
    np.testing.assert_allclose(result.events.times, [down, up], rtol=1e-7)


def test_two_surfaces_at_once() -> None:
    """The second is met while the solution slides along the first, whose share changes then; in the end both are slid along."""

    class Corner(ac.Component):
        x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.5, fixed=True)

        def equations(self) -> Statements:
            a, b = ac.where(self.x > 0, -1.0, 1.0), ac.where(self.y > 0, -1.0, 1.0)
            yield ac.der(self.x) == a + 0.3 * b
            yield ac.der(self.y) == b + 0.3 * a

    result = slide(Corner(), 3.0)
    first = 0.5 / 1.3
    second = first + (1 - 1.3 * first) / (1 - 0.3 * 0.3)
    np.testing.assert_allclose(result.events.times[:2], [first, second], rtol=1e-7)
    between = (result.time > first + 1e-6) & (result.time < result.events.times[1])  # which may be a rounding before `second`
    np.testing.assert_allclose(result["der(x)"][between], -(1 - 0.09), rtol=1e-6)
    after = result.time > second + 1e-6
    assert np.abs(result["x"][after]).max() < 1e-7 and np.abs(result["y"][after]).max() < 1e-7


def test_the_mixture_is_what_keeps_it_on_the_surface() -> None:
    result = slide(Rubbing(a=0.9), 6.0)
    t = result.time
    after = t > 1e-3
    np.testing.assert_allclose(result["der(v)"][after], 0.0, atol=1e-6)
    friction = 0.9 * np.sin(t) - result["der(v)"]  # -1 + 2 share of the first branch
    assert (np.abs(friction[after]) < 1).all()


def test_without_the_option_it_is_told() -> None:
    result = ac.compile(Rubbing()).simulate(until=20.0)
    assert result.outcome is ac.Outcome.CHATTERING
    assert "v > 0" in str(result.diagnostics[0]) and 'sliding="filippov"' in str(result.diagnostics[0])


def test_another_word_than_filippov() -> None:
    with pytest.raises(ac.ModelError, match="filippov"):
        ac.compile(Rubbing()).simulate(until=1.0, sliding="utkin")
