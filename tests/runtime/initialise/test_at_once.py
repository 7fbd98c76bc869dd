"""Newton's method in the native core gives what it gives in Python, or leaves the matter to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.runtime.initialise import equations
from acausal.runtime.initialise.initialiser import Initialiser

pytest.importorskip("acausal._core")


class Coupled(ac.Component):
    """A state, its rate by way of two unknowns that decide each other."""

    a, b, c = ac.Parameter(1.0), ac.Parameter(0.3), ac.Parameter(0.1)
    x = ac.Variable(start=1.0, fixed=True)
    u, v = ac.Variable(start=0.5), ac.Variable(start=0.5)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -self.u * self.x
        yield self.u + self.b * self.v**3 == self.a
        yield self.v - self.c * ac.sin(self.u) == self.x


@pytest.fixture(scope="module")
def model() -> ac.Model:
    return ac.compile(Coupled())


def both(model: ac.Model, monkeypatch: pytest.MonkeyPatch, numbers: dict[str, float]) -> tuple[Any, Any]:
    problem = model.problem
    found = []
    for native in (True, False):
        with monkeypatch.context() as patch:
            if not native:
                patch.setattr(equations.Subsystem, "at_once", lambda *_: None)
            problem.known[:] = model._parameters.known(numbers)
            found.append(Initialiser(problem).run(0.0))
    return found[0], found[1]


@settings(max_examples=40, deadline=None)
@given(st.floats(-3, 3), st.floats(-1, 1), st.floats(-2, 2))
def test_same_values(model: ac.Model, a: float, b: float, c: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        native, python = both(model, patch, {"a": a, "b": b, "c": c})
    assert native.outcome is python.outcome
    np.testing.assert_allclose(native.y, python.y, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(native.yp, python.yp, rtol=1e-9, atol=1e-12)


def test_it_is_what_an_ordinary_start_takes(model: ac.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    model.problem.known[:] = model._parameters.known({})  # whatever another test left there
    taken = []
    at_once = equations.Subsystem.at_once
    monkeypatch.setattr(equations.Subsystem, "at_once", lambda *a: taken.append(at_once(*a)) or taken[-1])
    told = Initialiser(model.problem).run(0.0).report
    assert taken[0] is not None and told.statistics.residuals == taken[0][2] + 1 and told.statistics.jacobians >= 1


class Steep(ac.Component):
    """Full steps from the start leave where the root exists."""

    x = ac.Variable(start=1.0, fixed=True)
    u = ac.Variable(start=1e-6)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -self.u
        yield ac.sqrt(self.u) == self.x + 2.0


def test_what_full_steps_do_not_find_is_found() -> None:
    found = ac.compile(Steep()).start()
    assert found["u"] == pytest.approx(9.0, rel=1e-9)


def test_factors_that_python_made_meanwhile_are_not_taken_for_its_own(model: ac.Model) -> None:
    initialiser = Initialiser(model.problem)
    first = initialiser.run(0.0)
    whole, x = initialiser.whole, np.concatenate([first.y, first.yp])
    assert whole is not None

    def factorisations() -> int:
        before, whole.x[:] = whole.stack.counts.factorisations, x
        assert whole.at_once(x[whole.columns], 1e-9, 20) is not None
        return whole.stack.counts.factorisations - before

    factorisations()
    assert factorisations() == 0  # a start like the last one
    whole.factorise(whole.jacobian(x[whole.columns]))  # not scaled
    assert factorisations() == 1
