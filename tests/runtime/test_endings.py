"""A run that ends early names unknowns and equations, whichever solver it was and whatever ended it."""

from __future__ import annotations

from typing import Any

import pytest

import acausal as ac
from acausal.library import electrical


class Escape(ac.Component):
    """x' = x²: infinite at time 1."""

    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.x**2


class Fold(ac.Component):
    """From time 1 on there is no solution."""

    x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0)

    def equations(self):
        yield ac.der(self.x) == 1.0
        yield self.z**2 == 1 - self.x


class Relay(ac.Component):
    x, u = ac.Variable(start=1.0, fixed=True), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == self.u
        yield self.u == ac.where(self.x > 0, -1.0, 1.0)


@ac.function(opaque=True, derivative=lambda x: 2 * x)
def ends(x):
    if x > 0.5:
        raise ValueError("the data end at 0.5")
    return x * x


class Opaque(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == 1.0 + ends(self.x)


class Coils(electrical.TwoPort):
    """Two coils whose coupling is perfect by numbers alone: M² = L1 L2, but for rounding, as long as an input is 1 H."""

    L1, L2, M = ac.Parameter(1.0, unit="H"), ac.Parameter(1.0, unit="H"), ac.Input(1.0, unit="H")

    def equations(self):
        yield from super().equations()
        yield self.v1 == self.L1 * ac.der(self.i1) + self.M * ac.der(self.i2)
        yield self.v2 == self.M * ac.der(self.i1) + self.L2 * ac.der(self.i2)


class Coupled(ac.Component):
    def __init__(self, L: float) -> None:
        self.coils, self.supply = Coils(L1=L, L2=1.0 / L), electrical.ConstantVoltage(V=1.4)
        self.C, self.L, self.ground = electrical.Capacitor(C=0.9), electrical.Inductor(L=0.7), electrical.Ground()

    def connections(self):
        yield self.coils.p1, self.supply.n, self.C.n, self.L.n
        yield self.coils.n1, self.coils.n2, self.supply.p, self.L.p
        yield self.coils.p2, self.C.p, self.ground.p


class Plant(ac.Component):
    def __init__(self, part: ac.Component) -> None:
        self.part = part


def told(part: ac.Component, **run: Any) -> tuple[ac.Outcome, str]:
    result = ac.compile(Plant(part), units=False).simulate(until=2.0, on_failure="keep", **run)
    return result.outcome, "\n".join(map(str, result.diagnostics))


@pytest.mark.parametrize("solver", ["ida", "sundae", "fixed"])
@pytest.mark.parametrize(
    "part, unknown, equation",
    [(Escape, "part.x", "self.x**2"), (Fold, "part.z", "self.z**2 == 1 - self.x")],
    ids=["escape", "fold"],
)
def test_a_step_that_was_too_much(part: Any, unknown: str, equation: str, solver: str) -> None:
    outcome, text = told(part(), solver=solver)
    assert outcome in (ac.Outcome.STEP_TOO_SMALL, ac.Outcome.CONVERGENCE, ac.Outcome.ERROR_TEST, ac.Outcome.SINGULAR)
    assert unknown in text and equation in text and "test_endings.py:" in text


def test_too_many_steps() -> None:
    outcome, text = told(Fold(), max_steps=5)
    assert outcome is ac.Outcome.TOO_MANY_STEPS
    assert "part." in text and "part (Fold): " in text


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_chattering_names_what_moves_and_by_which_equation(solver: str) -> None:
    outcome, text = told(Relay(), solver=solver)
    assert outcome is ac.Outcome.CHATTERING
    assert "part (Relay): x > 0, " in text and "unknown:   part.x" in text
    assert "part (Relay): ac.der(self.x) == self.u" in text


@pytest.mark.parametrize("solver", ["ida", "sundae", "fixed"])
def test_an_exception_inside_an_opaque_function_is_told_with_its_place(solver: str) -> None:
    outcome, text = told(Opaque(), solver=solver)
    assert outcome is ac.Outcome.NOT_FINITE
    assert "ac.der(self.x) == 1.0 + ends(self.x)" in text and "part.x = 0.5" in text
    assert "failed with ValueError: the data end at 0.5 at " in text and "test_endings.py:" in text


class Root(ac.Component):
    """A solution as long as u is positive."""

    u, x, y = ac.Input(1.0), ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0)

    def equations(self):
        yield ac.der(self.x) == self.y
        yield self.y**2 + 0.1 * self.y * ac.sin(self.y) == self.u


def test_a_jump_of_a_function_beyond_which_there_is_no_solution_is_named() -> None:
    with pytest.warns(ac.RunWarning):
        result = ac.compile(Root()).simulate(until=1.0, inputs={"u": lambda t: 1.0 if t < 0.4 else -1.0})
    assert result.outcome is ac.Outcome.EVENT_UNSOLVABLE
    assert result.time[-1] == 0.4
    assert "input u" in str(result.events) and "self.y**2" in " ".join(map(str, result.diagnostics))


@pytest.mark.parametrize("L", [0.3, 0.6, 0.7, 0.8, 1.1, 1.2, 1.3, 1.9, 3.0, 49.0])
def test_equations_that_only_rounding_keeps_apart_are_blamed_however_the_run_ends(L: float) -> None:
    """Derivatives are quotients of rounding errors: a run overflows, does not converge, or fails its tests, as numbers have it."""
    with pytest.raises(ac.RunFailed) as failed:
        ac.compile(Coupled(L)).simulate(until=2.0, rtol=1e-8, on_failure="raise")
    result = failed.value.result
    assert result.time_reached < 1e-15 and not result.outcome.ok
    told = [str(d) for d in result.diagnostics if d.what.startswith("Equations depend on each other")]
    assert len(told) == 1 and "component: coils (Coils)" in told[0] and "der(coils.i" in told[0]
