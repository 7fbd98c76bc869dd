"""Curves of steady states against normal forms whose special points are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.analysis.continuation import Special
from acausal.errors import ModelError, UsageError


class Fold(ac.Component):
    """x' = p + x - x³ / 3: limit points at p = ± 2/3, x = ∓ 1."""

    p = ac.Parameter(-1.0)
    x, twice = ac.Variable(start=-2.0, fixed=True), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.p + self.x - self.x**3 / 3
        yield self.twice == 2 * self.x


class Brusselator(ac.Component):
    """A Hopf point at b = 1 + a², with the frequency a / 2π."""

    a, b = ac.Parameter(1.5), ac.Parameter(1.0)
    x, y = ac.Variable(start=1.5, fixed=True), ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.a - (self.b + 1) * self.x + self.x**2 * self.y
        yield ac.der(self.y) == self.b * self.x - self.x**2 * self.y


class Pitchfork(ac.Component):
    """x' = p x - x³: branches x = 0 and x = ± √p cross at p = 0."""

    p = ac.Parameter(-1.0)
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.p * self.x - self.x**3


def test_a_branch_goes_through_its_folds(tmp_path: Any) -> None:
    branch = ac.compile(Fold()).continuation("p", between=(-1.0, 1.0))
    assert [s.kind for s in branch.special] == ["limit point", "limit point"]
    np.testing.assert_allclose([s.parameter for s in branch.special], [2 / 3, -2 / 3], rtol=1e-6)
    np.testing.assert_allclose([branch.at(s, "x") for s in branch.special], [-1.0, 1.0], atol=1e-4)
    x = branch["x"]
    np.testing.assert_allclose(branch.values, x**3 / 3 - x, atol=1e-8)
    np.testing.assert_allclose(branch["twice"], 2 * x, rtol=1e-12)
    np.testing.assert_allclose(branch.values[[0, -1]], [-1.0, 1.0], atol=1e-9)
    inside = np.abs(np.abs(x) - 1) > 1e-6
    assert (branch.stable == (np.abs(x) > 1))[inside].all()
    branch.plot("x", tmp_path / "branch.png")
    assert (tmp_path / "branch.png").exists()
    assert "limit point at 0.66666667" in repr(branch)


def test_an_oscillation_begins_at_a_hopf_point() -> None:
    branch = ac.compile(Brusselator()).continuation("b", between=(1.0, 5.0))
    (hopf,) = branch.special
    assert hopf.kind == "Hopf point"
    assert hopf.parameter == pytest.approx(1 + 1.5**2, rel=1e-6)
    assert hopf.frequency == pytest.approx(1.5 / (2 * np.pi), rel=1e-6)
    assert "Hz" in str(hopf)


def test_branches_cross_and_can_be_switched() -> None:
    branch = ac.compile(Pitchfork()).continuation("p", between=(-1.0, 1.0), start_from={"x": 0.0})
    (crossing,) = branch.special
    assert crossing.kind == "branch point"
    assert crossing.parameter == pytest.approx(0.0, abs=1e-5)
    other = branch.switched(crossing)
    x = other["x"]
    assert np.abs(x).max() > 0.9
    np.testing.assert_allclose(other.values, x**2, atol=1e-8)
    with pytest.raises(UsageError, match="cross at a branch point"):
        branch.switched(Special("limit point", 0.0, 0))


def test_a_bound_parameter_follows() -> None:
    class Bound(ac.Component):
        q = ac.Parameter(-0.5)
        inner = Fold(p=2 * q)

    branch = ac.compile(Bound()).continuation("q", between=(-0.5, 0.5))
    np.testing.assert_allclose([s.parameter for s in branch.special], [1 / 3, -1 / 3], rtol=1e-6)


def test_all_states_of_rest_are_found_from_many_starts() -> None:
    states = ac.compile(Fold()).find_steady_states({"x": (-3.0, 3.0)}, count=16, set={"p": 0.0})
    np.testing.assert_allclose([s["x"][-1] for s in states], [-np.sqrt(3), 0.0, np.sqrt(3)], atol=1e-6)


def test_no_state_of_rest_to_begin_from(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ac.compile(Fold())

    def prepare(*_: Any) -> None:
        raise ModelError("it is not there")

    monkeypatch.setattr(model._preparation, "prepare", prepare)
    with pytest.raises(ModelError, match="no state of rest at p = 1, nor at 2"):
        model.continuation("p", between=(1.0, 2.0))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: ac.compile(Fold()).continuation("p", between=(1.0, 1.0)), "one value twice"),
        (lambda: ac.compile(Fold()).continuation("p", between=3.0), "a pair of numbers"),
        (lambda: ac.compile(Fold()).continuation("x", between=(0.0, 1.0)), "not a parameter"),
        (lambda: ac.compile(Fold()).continuation("pp", between=(0.0, 1.0)), "pp"),
        (lambda: ac.compile(Fold()).find_steady_states({}), "from where to search"),
        (lambda: ac.compile(Fold()).find_steady_states({"x": 3.0}), "a pair of numbers"),
        (lambda: ac.compile(Fold()).find_steady_states({"x": (3.0, 1.0)}), "must grow"),
        (lambda: ac.compile(Fold()).find_steady_states({"x": ("1", "3")}), "two numbers"),
        (lambda: ac.compile(Fold()).find_steady_states({"p": (0.0, 1.0)}), r"`p` is no variable(.|\n)*model.continuation\("),
        (lambda: ac.compile(Fold()).find_steady_states({"x": (0.0, 1.0)}, count=0), "at least 1"),
    ],
)
def test_bad_input(ask: Any, said: str) -> None:
    with pytest.raises((UsageError, ModelError), match=said):
        ask()


class Warm(ac.Component):
    """A temperature far from zero without a nominal value: T = 280 + P / 50."""

    P, T = ac.Parameter(1000.0), ac.Variable(start=283.0)

    def equations(self) -> Any:
        yield 1e5 * ac.der(self.T) == self.P - 50.0 * (self.T - 280.0)


def test_a_straight_branch_takes_few_points_and_one_that_is_broken_off_says_so() -> None:
    branch = ac.compile(Warm()).continuation("P", between=(0.0, 2000.0))
    assert len(branch) < 60 and not branch.broken_off
    assert branch.values[-1] == pytest.approx(2000.0) and branch["T"][-1] == pytest.approx(320.0)
    short = ac.compile(Warm()).continuation("P", between=(0.0, 2000.0), most=5)
    assert short.broken_off and "broken off" in repr(short)
