"""Structure that only the values of parameters reveal: floating charges, gyrators, perfect coupling, what is zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import acausal as ac
from acausal.errors import UsageError
from acausal.library import electrical as el


class Floating(ac.Component):
    """Both charges of a capacitor that is connected to nothing else: b q1 + a q2 = 0, whatever a and b are."""

    a, b, k = ac.Parameter(1.0), ac.Parameter(1.0), ac.Parameter(1.0)
    u1, u2, q1, q2 = ac.Variable(start=0.0), ac.Variable(start=0.0), ac.Variable(start=0.0), ac.Variable(start=0.0)

    def equations(self) -> Any:
        yield ac.der(self.q1) == self.k * ac.sin(ac.time) - self.u1
        yield ac.der(self.q2) == -self.u2
        a, b = self.factors()
        yield self.q1 == a * (self.u1 - self.u2)
        yield self.q2 == b * (self.u2 - self.u1)

    def factors(self) -> tuple[Any, Any]:
        return self.a, self.b


def difference(a: float, b: float, k: float, until: float) -> float:
    """u1 - u2 at the end: b q1' + a q2' = 0 gives u1 = (b k sin + a d)/(a + b), and a d' = k sin - u1."""
    slope = lambda t, d: (k * np.sin(t) - (b * k * np.sin(t) + a * d) / (a + b)) / a  # noqa: E731
    return float(solve_ivp(slope, (0, until), [0.0], rtol=1e-10, atol=1e-13).y[0, -1])


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 2.0), (1.0, 2.0), (0.3, 0.1), (0.7, 1.9)])
def test_multipliers_may_be_parameters(a: float, b: float) -> None:
    result = ac.compile(Floating()).simulate(until=5.0, rtol=1e-8, set={"a": a, "b": b})
    assert result.outcome.ok
    assert result["u1"][-1] - result["u2"][-1] == pytest.approx(difference(a, b, 1.0, 5.0), abs=1e-7)
    np.testing.assert_allclose(b * result["q1"] + a * result["q2"], 0.0, atol=1e-14)


def test_values_are_looked_at_for_every_run_and_others_translate_nothing() -> None:
    model = ac.compile(Floating())
    for a, b, k in [(1.0, 1.0, 1.0), (1.0, 2.0, 1.0), (1.0, 1.0, 2.0), (1.0, 1.0, 1.0)]:
        result = model.set({"k": k}).simulate(until=1.0, rtol=1e-8, set={"a": a, "b": b})
        assert result["u1"][-1] - result["u2"][-1] == pytest.approx(difference(a, b, k, 1.0), abs=1e-7)
        assert (result["k"] == k).all()
    assert len(model._variants._others) == 2


def test_files_sessions_and_studies_find_the_same(tmp_path: Path) -> None:
    model = ac.compile(Floating()).set({"a": 0.3, "b": 0.1})
    whole = model.simulate(until=2.0, rtol=1e-8)
    first = model.simulate(until=1.0, rtol=1e-8)
    rest = model.simulate(until=2.0, start=1.0, start_from=first, rtol=1e-8)
    model.save(tmp_path / "floating.acm")
    loaded = ac.load(tmp_path / "floating.acm").simulate(until=2.0, rtol=1e-8)
    session = model.start(rtol=1e-8)
    session.advance(2.0)
    study = model.study(ac.grid({"k": [1.0, 2.0]}), ["u1"], until=2.0, rtol=1e-8)
    for found in (rest["u1"][-1], loaded["u1"][-1], session["u1"], study["u1"][0], study["u1"][1] / 2):
        assert found == pytest.approx(whole["u1"][-1], rel=1e-6)


class Coils(ac.Component):
    """Coupled coils; perfectly, if M² = L1 L2."""

    L1, L2, M, R1, R2 = ac.Parameter(2.0), ac.Parameter(0.5), ac.Parameter(1.0), ac.Parameter(1.0), ac.Parameter(3.0)
    i1, i2 = ac.Variable(start=0.0), ac.Variable()

    def equations(self) -> Any:
        yield self.L1 * ac.der(self.i1) + self.M * ac.der(self.i2) == ac.sin(ac.time) - self.R1 * self.i1
        yield self.M * ac.der(self.i1) + self.L2 * ac.der(self.i2) == -self.R2 * self.i2


@pytest.mark.parametrize("turns", [2.0, 0.7, 1e3])
def test_perfect_coupling_ties_the_currents(turns: float) -> None:
    """With L1 = n² L2 and M = n L2: sin t - R1 i1 = -n R2 i2, and what is left is one state."""
    L2, n = 0.5, turns
    model = ac.compile(Coils())
    result = model.simulate(until=4.0, rtol=1e-9, set={"L1": n * n * L2, "M": n * L2})

    def slope(t: float, i1: np.ndarray) -> Any:  # n² L2 i1' + n L2 i2' = sin t - i1 with i2 = (i1 - sin t)/(3 n)
        return (np.sin(t) - i1 + L2 * np.cos(t) / 3) / (n * n * L2 + L2 / 3)

    exact = solve_ivp(slope, (0, 4), [0.0], rtol=1e-11, atol=1e-15, t_eval=result.time).y[0]
    np.testing.assert_allclose(result["i1"], exact, atol=1e-8)
    np.testing.assert_allclose(result["i2"], (exact - np.sin(result.time)) / (3 * n), atol=1e-8)


def test_coupling_that_is_nearly_perfect_is_what_it_is() -> None:
    model = ac.compile(Coils())
    result = model.simulate(until=1.0, rtol=1e-8, set={"M": 1.0 - 1e-10})
    assert result.outcome.ok and not model._variants._others


class Charge(ac.Component):
    C, R = ac.Parameter(1.0), ac.Parameter(1.0)
    u, q, i = ac.Variable(start=1.0), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield self.q == self.C * self.u
        yield ac.der(self.q) == self.i
        yield self.i == (ac.sin(3 * ac.time) + 1 - self.u) / self.R


class Difference(ac.Component):
    """What the factor of u is adds up from two terms."""

    g = ac.Parameter(0.5)
    u, x = ac.Variable(), ac.Variable(start=0.0)

    def equations(self) -> Any:
        yield self.x == self.u - self.g * self.u
        yield ac.der(self.x) == ac.sin(3 * ac.time) + 1 - self.u


@pytest.mark.parametrize(("plant", "value"), [(Charge, {"C": 0.0}), (Difference, {"g": 1.0})])
def test_a_factor_that_is_zero(plant: type[ac.Component], value: dict[str, float]) -> None:
    """What it was to determine follows from the derivative: no charge, no current, and the voltage of the source."""
    result = ac.compile(plant()).simulate(until=2.0, set=value)
    np.testing.assert_allclose(result["u"], np.sin(3 * result.time) + 1, atol=1e-12)


def test_two_controlled_sources_whose_gains_are_inverse() -> None:
    """v2 = g v1 and v1 = h v2 say the same where g h = 1; nothing is left then that says how large they are."""

    class Loop(ac.Component):
        g, h = ac.Parameter(0.5), ac.Parameter(0.5)
        v1, v2, x = ac.Variable(), ac.Variable(), ac.Variable(start=0.0)

        def equations(self) -> Any:
            yield self.v2 == self.g * self.v1
            yield self.v1 == self.h * self.v2
            yield ac.der(self.x) == self.v1 - self.x

    model = ac.compile(Loop())
    assert model.simulate(until=1.0).outcome.ok
    with pytest.raises(ac.ModelError, match=r"(?s)depend on each other.*self\.g \* self\.v1.*self\.h \* self\.v2"):
        model.simulate(until=1.0, set={"h": 2.0})


def test_what_holds_for_these_values_alone_is_refused_with_others() -> None:
    model = ac.compile(Floating())
    with pytest.raises(UsageError, match="no derivatives by parameters"):
        model.simulate(until=1.0, sensitivities=["a"])
    with pytest.raises(UsageError, match="no derivatives by parameters"):
        model.simulate(until=1.0, given={"u1": 0.5}, solve_for=["a"])
    with pytest.raises(UsageError, match="no derivatives around this point"):
        model.linearise()
    session = model.start()
    session.advance(0.5)
    session.advance(1.0, set={"k": 2.0})
    with pytest.raises(UsageError, match="`a` cannot be set to that in a running session"):
        session.advance(2.0, set={"a": 2.0})
    alone = ac.Model(model.simulate(until=1.0).program)
    assert alone.simulate(until=1.0, set={"k": 3.0}).outcome.ok
    with pytest.raises(UsageError, match="values that `a`, `b` had"):
        alone.simulate(until=1.0, set={"a": 3.0})


def test_a_session_is_refused_values_that_make_equations_depend_on_each_other() -> None:
    session = ac.compile(Coils()).start(set={"M": 0.5})
    session.advance(0.5)
    with pytest.raises(UsageError, match="`M` cannot be set to that in a running session"):
        session.advance(1.0, set={"M": 1.0})


def test_plants_that_values_cannot_change_are_asked_nothing() -> None:
    class Decay(ac.Component):
        x, y, k = ac.Variable(start=1.0), ac.Variable(), ac.Parameter(2.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.k * self.x + self.y
            yield self.y == self.k * ac.exp(self.x)

    model = ac.compile(Decay())
    assert model.system.coincidence is None and model.program.before is None


def test_a_network_of_resistors_is_looked_at_in_linear_time() -> None:
    """Rows of one large block of which only parameters are factors: with a leak of 1e-9 beside 1 they are independent."""

    class Chain(ac.Component):
        def __init__(self, n: int) -> None:
            self.R, self.leak = ac.array(el.Resistor, n, R=1.0), ac.array(el.Resistor, n, R=1e9)
            self.source, self.C, self.g = el.ConstantVoltage(V=1.0), el.Capacitor(C=1.0), el.Ground()

        def connections(self) -> Any:
            yield self.source.p, self.R[0].p
            yield self.R[:-1].n, self.R[1:].p, self.leak[:-1].p
            yield self.R[-1].n, self.leak[-1].p, self.C.p
            yield self.leak.n, self.g.p
            yield self.source.n, self.C.n, self.g.p

    n = 400
    model = ac.compile(Chain(n))
    for resistance in (1.0, 2.0):
        result = model.simulate(until=10.0, rtol=1e-8, set={"R.R": resistance})
        charged = 1.0 - np.exp(-10.0 / (n * resistance))
        assert result["C.v"][-1] == pytest.approx(charged, rel=1e-3)
    assert not model._variants._others


class Plates(Floating):
    """With factors that follow from parameters by a function."""

    def factors(self) -> tuple[Any, Any]:
        return ac.sqrt(self.a), ac.sqrt(self.b)


def test_what_follows_from_parameters_is_looked_at_for_every_run() -> None:
    model = ac.compile(Plates())
    for a, b in [(1.0, 2.0), (2.0, 2.0), (1.0, 5.0), (1.0, 2.0)]:
        r = model.simulate(2.0, set={"a": a * a, "b": b * b}, rtol=1e-9)
        assert abs(r["u1"][-1] - r["u2"][-1] - difference(a, b, 1.0, 2.0)) < 1e-7


class Coupled(ac.Component):
    L1, L2, k = ac.Parameter(2.0), ac.Parameter(0.5), ac.Parameter(0.9)
    i1, i2 = ac.Variable(start=0.0), ac.Variable()

    def equations(self) -> Any:
        M = self.k * ac.sqrt(self.L1 * self.L2)
        yield self.L1 * ac.der(self.i1) + M * ac.der(self.i2) == ac.sin(ac.time) - self.i1
        yield M * ac.der(self.i1) + self.L2 * ac.der(self.i2) == -3 * self.i2


def test_a_coupling_that_is_perfect_no_more() -> None:
    model, values = ac.compile(Coupled()), {"k": 0.9, "L1": 8.0}
    model.simulate(2.0, set={"k": 1.0, "L1": 8.0})
    expected = ac.compile(Coupled()).simulate(2.0, set=values, rtol=1e-8)["i1"][-1]
    assert abs(model.simulate(2.0, set=values, rtol=1e-8)["i1"][-1] - expected) < 1e-6


def test_factors_that_are_zero_beyond_a_threshold() -> None:
    class Charge(ac.Component):
        p = ac.Parameter(10.0)
        u, q = ac.Variable(start=1.0), ac.Variable()

        def equations(self) -> Any:
            yield self.q == ac.where(self.p > 5, 1.0, 0.0) * self.u
            yield ac.der(self.q) == ac.sin(3 * ac.time) + 1 - self.u

    r = ac.compile(Charge()).simulate(2.0, set={"p": 2.0})
    assert abs(r["u"] - np.sin(3 * r.time) - 1).max() < 1e-12


def test_values_with_which_nothing_can_be_made_say_nothing_of_others() -> None:
    class M(ac.Component):
        C, a = ac.Parameter(1.0), ac.Parameter(1.0)
        x, z = ac.Variable(start=1.0), ac.Variable()

        def equations(self) -> Any:
            yield self.C * self.z == self.a * self.x - ac.cos(ac.time)
            yield ac.der(self.x) == -self.x + self.z

    model = ac.compile(M())
    with pytest.raises(ac.ModelError):
        model.simulate(1.0, set={"C": 0.0, "a": 0.0})
    assert abs(model.simulate(1.0, set={"C": 0.0, "a": 1.0})["x"][-1] - np.cos(1.0)) < 1e-6


def test_numbers_set_in_the_model_need_not_be_allowed_when_a_run_has_others() -> None:
    class M(Plates):
        c = ac.Parameter(1.0, min=0.0)

    model = ac.compile(M()).set({"c": -1.0})
    for _ in range(2):
        model.simulate(1.0, set={"c": 2.0})


class Small(ac.Component):
    x, y = ac.Variable(start=1.0), ac.Variable(start=1.0)

    def equations(self) -> Any:
        yield 2 * ac.der(self.x) + 1e-11 * ac.der(self.y) == -2 * self.x
        yield 3 * ac.der(self.x) - 2.5e-11 * ac.der(self.y) == -3 * self.x + 1e-11 * self.y


class Rows(ac.Component):
    x, y = ac.Variable(start=1.0), ac.Variable(start=0.0)

    def equations(self) -> Any:
        yield 1e5 * (ac.der(self.x) - ac.der(self.y)) == -1e5 * self.x
        yield 2e-6 * (ac.der(self.y) - ac.der(self.x)) == 2e-6 * (self.y - ac.cos(ac.time))


def test_literals_far_apart() -> None:
    assert abs(ac.compile(Small()).simulate(2.0, rtol=1e-8)["y"][-1] - np.exp(-0.5)) < 1e-5
    r = ac.compile(Rows()).simulate(1.0, rtol=1e-8)
    assert abs(r["x"][-1] + np.sin(1.0)) < 1e-6 and abs(r["y"][-1] - r["x"][-1] - np.cos(1.0)) < 1e-9
