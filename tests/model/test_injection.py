"""Failures at a time, by name: against closed forms and against runs that were made with the failure from their start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac


class Plain(ac.Component):
    """A level' = q_in - q, q = k level; s is measured, 2 s - sin s = q."""

    A, k, q_in = ac.Parameter(2.0), ac.Parameter(0.5), ac.Input(1.0)
    level, q = ac.Variable(start=1.0, fixed=True), ac.Variable()
    s = ac.Variable()

    def equations(self) -> Any:
        yield self.A * ac.der(self.level) == self.q_in - self.q
        yield self.q == self.k * self.level
        yield 2 * self.s - ac.sin(self.s) == self.q


class Plant(ac.Component):
    def __init__(self) -> None:
        self.one, self.several = Plain(), ac.array(Plain, 3)


def level(t: Any, start: float = 1.0, k: float = 0.5) -> Any:
    return 1 / k + (start - 1 / k) * np.exp(-k * t / 2)


@pytest.fixture(scope="module")
def model() -> ac.Model:
    return ac.compile(Plant(), failures=["one.q", "several[1].level", "several[2].s"])


def test_a_parameter_and_an_input_fail_and_are_repaired(model: ac.Model) -> None:
    failures = {"one.k": [(1.0, 0.25), ("3 s", "repaired")], "several[0].q_in": (2.0, 0.0)}
    run = model.simulate(4.0, points=9, rtol=1e-9, failures=failures)
    first = level(1.0)
    second = level(2.0, first, 0.25)
    np.testing.assert_allclose(run.at(4.0)["one.level"], level(1.0, second), rtol=1e-7)
    np.testing.assert_allclose(run.at(4.0)["several[0].level"], level(2.0) * np.exp(-0.5), rtol=1e-7)
    assert model.simulate(1.0)["one.k"][-1] == 0.5  # a failure is of one run


def test_an_algebraic_variable_gets_stuck(model: ac.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    run = model.simulate(4.0, points=9, rtol=1e-9, failures={"one.q": (1.0, 0.2), "several[2].s": ("2 s", None)})
    np.testing.assert_allclose(run.at(4.0)["one.level"], level(1.0) + 3 * 0.8 / 2, rtol=1e-7)
    assert run["one.q"][-1] == 0.2
    np.testing.assert_allclose(run["several[2].s"][run.time >= 2.0], run.at(2.0)["several[2].s"], rtol=1e-9)
    np.testing.assert_allclose(run.at(4.0)["several[1].level"], level(4.0), rtol=1e-7)  # its neighbours work
    assert "one.q_failed: False → True" in str(run.events)


def test_a_state_stays_where_it_is(model: ac.Model) -> None:
    run = model.simulate(4.0, points=9, rtol=1e-9, failures={"several[1].level": [(1.0, None), (3.0, "repaired")]})
    held, t = level(1.0), run.time
    np.testing.assert_allclose(run["several[1].level"][(t >= 1.0) & (t <= 3.0)], held, rtol=1e-7)
    np.testing.assert_allclose(run.at(4.0)["several[1].level"], level(1.0, held), rtol=1e-7)


def test_a_model_that_may_fail_is_the_same_as_long_as_nothing_does(model: ac.Model) -> None:
    plain, plant = ac.compile(Plant()), Plant()
    ours, theirs = (m.simulate(4.0, points=9, rtol=1e-9)["several.level"] for m in (model, plain))
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)
    ac.compile(plant, failures=["one.q"])
    assert type(plant.one) is Plain  # the user's components are as they were


def test_units_are_checked_and_converted() -> None:
    class Room(ac.Component):
        C, G = ac.Parameter(1e5, unit="J/K"), ac.Parameter(50.0, unit="W/K")
        T = ac.Variable(start=290.0, fixed=True, unit="K")
        Q = ac.Variable(unit="W")

        def equations(self) -> Any:
            yield self.C * ac.der(self.T) == -self.Q
            yield self.Q == self.G * (self.T - 280.0)

    model = ac.compile(Room(), failures=["T", "Q"])
    run = model.simulate("1 h", failures={"Q": ("30 min", "1 kW")})
    assert run["Q"][-1] == 1000.0
    with pytest.raises(ac.AcausalError, match="cannot be converted"):
        model.simulate("1 h", failures={"Q": ("30 min", "1 K")})


def test_cases_of_a_study_fail_alike(model: ac.Model) -> None:
    study = model.study({"one.k": [0.5, 1.0]}, "one.level", until=4.0, failures={"one.q": (1.0, 0.0)}, rtol=1e-9)
    np.testing.assert_allclose(study["one.level"], [level(1.0) + 1.5, level(1.0, k=1.0) + 1.5], rtol=1e-7)


class Unclear(ac.Component):
    a, b = ac.Variable(start=1.0), ac.Variable(start=1.0)

    def equations(self) -> Any:
        yield self.a + self.b == 2.0
        yield self.a - self.b == 1.0


@pytest.mark.parametrize(
    ("failures", "said"),
    [
        ({"one.level": (1.0, None)}, r"was not compiled to let it get stuck.*failures=\[\"one.level\"\]"),
        ({"several[1].level": (1.0, 3.0)}, "is a state: it stays where it is"),
        ({"one.kk": (1.0, 0.0)}, "Did you mean `k`"),
        ({"one.k": (1.0, None)}, "is a parameter: say what it becomes"),
        ({"one.k": 5.0}, "a time and a value were expected"),
        ({"one.k": (9.0, 1.0)}, "to fail at 9 s; the run goes from 0 s to 4 s"),
        ([1], "`failures` takes a time and a value by name"),
    ],
)
def test_bad_input(model: ac.Model, failures: Any, said: str) -> None:
    with pytest.raises(ac.AcausalError, match=f"(?s){said}"):
        model.simulate(4.0, failures=failures)


@pytest.mark.parametrize(
    ("plant", "failures", "said"),
    [
        (Plant, ["one.qq"], "Plain declares no variable `qq`. Did you mean `q`"),
        (Plant, ["two.q"], "there is no component `two`"),
        (Plant, ["one.k"], "declares no variable `k`"),
        (Plant, "one.q", "is a list of names"),
        (Unclear, ["a"], "not clear which equation of Unclear gives it .*self.a \\+ self.b == 2.0; self.a - self.b == 1.0"),
    ],
)
def test_what_cannot_get_stuck_is_told(plant: Any, failures: Any, said: str) -> None:
    with pytest.raises(ac.AcausalError, match=said):
        ac.compile(plant(), failures=failures)


def test_no_sensitivities_across_a_failure(model: ac.Model) -> None:
    with pytest.raises(ac.AcausalError, match="has no sensitivities"):
        model.simulate(1.0, failures={"one.k": (0.5, 1.0)}, sensitivities="one.k")
