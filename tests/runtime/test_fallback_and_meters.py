"""`ac.fallback` where an expression has no value, `ac.integral` as a meter, and functions that see a run as it goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac


class Draining(ac.Component):
    """h' = -sqrt(h): empty at t = 2·sqrt(h0). Without a fallback the run ends there for want of a value."""

    h = ac.Variable(start=1.0, fixed=True)
    safe = True

    def equations(self) -> Any:
        root = ac.sqrt(self.h)
        yield ac.der(self.h) == -(ac.fallback(root, 0.0) if self.safe else root) - 1e-3


def test_the_run_goes_on_where_a_value_is_missing() -> None:
    result = ac.compile(Draining()).simulate(4.0)
    assert result.outcome.ok
    assert result["h"][-1] == pytest.approx(-0.002, abs=1e-3)

    class Bare(Draining):
        safe = False

    assert not ac.compile(Bare()).simulate(4.0, on_failure="keep").outcome.ok


def test_derivatives_of_what_has_no_value_do_not_spoil_the_rest() -> None:
    """The steady state is on the side of the fallback: Newton's method needs its derivative there."""

    class Rest(ac.Component):
        x = ac.Variable(start=-3.0)
        y = ac.Variable()

        def equations(self) -> Any:
            yield ac.fallback(ac.log(self.x), 2.0 * self.x) == -4.0
            yield self.y == ac.fallback(ac.Table([0.0, 1.0], [5.0, 6.0], extrapolation="refuse")(self.x), 7.0)

    found = ac.compile(Rest()).steady_state()
    assert (found["x"][-1], found["y"][-1]) == (pytest.approx(-2.0), pytest.approx(7.0))
    assert ac.fallback(np.array([1.0, np.nan, np.inf]), 9.0) == pytest.approx([1.0, 9.0, 9.0])


class Room(ac.Component):
    T = ac.Variable(start=290.0, fixed=True, unit="K")
    Q, used = ac.Variable(unit="W"), ac.Variable(unit="J")

    def equations(self) -> Any:
        yield self.Q == 10.0 * (300.0 - self.T)
        yield 1000.0 * ac.der(self.T) == self.Q
        yield self.used == ac.integral(self.Q, start=5.0)


def test_a_meter() -> None:
    model = ac.compile(Room())
    result = model.simulate(200.0, rtol=1e-8)
    np.testing.assert_allclose(result["used"] - 5.0, 1000.0 * (result["T"] - 290.0), atol=1e-3)
    assert result.unit("used") == "J"
    assert model.steady_state()["T"] == pytest.approx(300.0)
    assert ac.integral("Q").of(result) == pytest.approx(result["used"][-1] - 5.0, rel=1e-4)


def test_each_distinct_meter_is_one_state() -> None:
    class Twice(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)
        a, b = ac.Variable(), ac.Variable(shape=2)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.x
            yield self.a == ac.integral(self.x) + ac.integral(self.x)
            yield self.b == ac.integral(np.array([1.0, 2.0]) * self.x)

    model = ac.compile(Twice())
    assert model.info().states == 4
    result = model.simulate(1.0, rtol=1e-8)
    area = 1.0 - np.exp(-1.0)
    assert result["a"][-1] == pytest.approx(2 * area, rel=1e-6)
    assert result["b"][-1] == pytest.approx([area, 2 * area], rel=1e-6)


def test_a_function_sees_the_run_as_it_goes() -> None:
    seen: list[tuple[float, float]] = []

    def look(run: ac.Session) -> bool:
        seen.append((run.time, run["T"]))
        return run["T"] < 295.0

    model = ac.compile(Room())
    whole = model.simulate(200.0, every=10.0)
    result = model.simulate(200.0, every=10.0, on_solution=look, on_failure="keep")
    assert result.outcome.name == "CANCELLED"
    assert [t for t, _ in seen] == [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    np.testing.assert_allclose([T for _, T in seen], whole["T"][: len(seen)], rtol=1e-9)
    again = model.simulate(200.0, every=10.0, on_solution=lambda run: None)
    np.testing.assert_allclose(again["T"], whole["T"], rtol=1e-9)
