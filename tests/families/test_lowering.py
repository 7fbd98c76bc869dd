"""Lowering: the problem with explicit variables and the one without have the same equations, Jacobians and trajectories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plants import Boundary, Capacitor, Conductor, Ground, Ladder, Mass, Resistor, VoltageSource
from scipy.sparse import csc_matrix

import acausal as ac
from acausal.library import demo
from acausal.runtime.initialise import InitialisationError

COUNT = 9
CURVE = ac.Table(np.linspace(-20.0, 20.0, 81), np.cos(np.linspace(-20.0, 20.0, 81)), method="catmull-rom", extrapolation="linear")


class Scripted(ac.Component):
    """Algebraic equations by a script of (kind, which earlier variable, which state); x[k] may use any x[j] with j < k."""

    y = ac.Variable(shape=2, start=0.4, fixed=True)
    x = ac.Variable(shape=COUNT)
    p = ac.Parameter(np.linspace(0.5, 2.5, COUNT), shape=COUNT)

    def __init__(self, script: list[tuple[int, int, int]]) -> None:
        self.script = script

    def equations(self):
        x, y, p = self.x, self.y, self.p
        yield ac.der(y[0]) == -y[0] + ac.tanh(x[COUNT - 1])
        yield ac.der(y[1]) * (2.0 + ac.sin(x[COUNT // 2])) == -y[1]
        for k, (kind, before, state) in enumerate(self.script):
            s = y[state]
            e = x[before % k] if k else ac.cos(s)
            yield (
                x[k] == 0.5 * e + s,
                ac.time - 2.0 * x[k] == ac.sin(e) * s,
                -x[k] == e,
                p[k] * x[k] == e * s + p[k],
                (p[k] - 4.0) * (x[k] + e) == s / p[k],
                x[k] + 0.3 * x[k] ** 3 == e + s,
                x[k] == e + 0.2 * ac.der(s),
                x[k] == ac.where(e > 0.1, s, 2.0 * s) + ac.sign(e),
                x[k] * 3.0 + ac.sum(ac.sin(p * s)) == ac.sum(x[:k]) if k else x[k] == s * ac.sum(p),
                2.0 * x[k] == CURVE(s) + e,  # calls that rows of several levels share
                x[k] - ac.exp(-s) / p[k] == CURVE(ac.tanh(CURVE(s) + e)),
                x[k] + 0.1 * ac.tanh(x[k]) == CURVE(s) * ac.exp(-s),
                x[k] == p[k] ** 2 / (1.0 + p[0]) * CURVE(p[1]) * s,  # a coefficient that parameters determine
            )[kind]


scripts = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 20), st.integers(0, 1)), min_size=COUNT, max_size=COUNT)


def implicit(model: Any) -> Any:
    return model._preparation.all_implicit(model._parameters.known({}))


def dense(problem: Any, values: np.ndarray) -> np.ndarray:
    indptr, indices = problem.pattern
    return np.asarray(csc_matrix((values, indices, indptr), shape=(problem.size, problem.size)).toarray())


def differences(problem: Any, t: float, y: np.ndarray, yp: np.ndarray, cj: float, h: float = 1e-6) -> np.ndarray:
    columns = []
    for step in h * np.eye(problem.size):
        up, down = problem.residual(t, y + step, yp + cj * step), problem.residual(t, y - step, yp - cj * step)
        columns.append((up - down) / (2 * h))
    return np.stack(columns, axis=1)


def check(model: Any, seed: int) -> None:
    """Everything that relates a lowered problem to the whole one, at a random point."""
    problem, whole, rng = model.problem, implicit(model), np.random.default_rng(seed)
    t, y, yp = 0.3, rng.normal(size=problem.size), rng.normal(size=problem.size)
    lowered, n = problem.lowered, whole.size
    w = lowered.expand(problem.equations.workspace(t, y, yp, problem.known))
    residual = whole.residual(t, w[:n], w[n : 2 * n])
    np.testing.assert_allclose(residual[lowered.explicit.row], 0.0, atol=1e-10)
    np.testing.assert_allclose(residual[lowered.kept_rows], problem.residual(t, y, yp), rtol=1e-12, atol=1e-10)
    by_value, by_slope = problem.pattern_parts
    values = {cj: problem.jacobian(t, y, yp, cj) for cj in (0.0, 3.0)}
    for cj, found in values.items():
        exact = dense(problem, found)
        np.testing.assert_allclose(exact, differences(problem, t, y, yp, cj), atol=2e-6 * max(1.0, float(np.abs(exact).max())))
    assert not values[0.0][~by_value].any()
    assert not (values[3.0] - values[0.0])[~by_slope].any()
    assert (by_value | by_slope).all()
    called = replace(problem, use_native=False)
    assert called.native is None
    np.testing.assert_allclose(called.residual(t, y, yp), problem.residual(t, y, yp), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(called.jacobian(t, y, yp, 3.0), values[3.0], rtol=1e-13, atol=1e-13)


@settings(max_examples=40)
@given(scripts, st.integers(0, 1000))
def test_random_models(script: list[tuple[int, int, int]], seed: int) -> None:
    check(ac.compile(Scripted(script), units=False), seed)


class Star(ac.Component):
    """Masses around a node that stores nothing but is held by a boundary: its heat flow is a long sum."""

    def __init__(self) -> None:
        n = 6
        self.mass = ac.array(Mass, n, T=ac.start(np.linspace(280.0, 320.0, n), fixed=True))
        self.link = ac.array(Conductor, n, G=np.linspace(1.0, 2.0, n))
        self.middle = Boundary()

    def connections(self):
        yield self.mass.port, self.link.a
        for k in range(6):
            yield self.link[k].b, self.middle.port


@pytest.mark.parametrize("component", [Ladder(7), Star(), demo.HeatedHouse()], ids=["ladder", "star", "house"])
def test_plants(component: ac.Component) -> None:
    model = ac.compile(component)
    assert model.problem.lowered.computed
    if isinstance(component, demo.HeatedHouse):
        start, lowered = model.problem.start, model.problem.lowered
        w = lowered.expand(model.problem.equations.workspace(0.0, start, 0 * start, model.problem.known))
        whole = implicit(model)
        residual = whole.residual(0.0, w[: whole.size], w[whole.size : 2 * whole.size])
        scale = 1e-12 * np.abs(whole.jacobian(0.0, w[: whole.size], w[whole.size : 2 * whole.size], 0.0)).max() * np.abs(w).max()
        np.testing.assert_allclose(residual[lowered.explicit.row], 0.0, atol=scale)
        np.testing.assert_allclose(residual[lowered.kept_rows], model.problem.residual(0.0, start, 0 * start), atol=scale)
    else:
        check(model, 3)


@pytest.mark.parametrize("component, until", [(Ladder(6), 10.0), (demo.HeatedHouse(), 0.5 * demo.DAY)], ids=["ladder", "house"])
def test_trajectories_agree_with_those_of_the_whole_problem(component: ac.Component, until: float) -> None:
    model, other = ac.compile(component), ac.compile(component)
    other._preparation._explicit = implicit(other)
    at = np.linspace(0.0, until, 13)
    runs = [m.simulate(until=until, at=at, rtol=1e-7) for m in (model, other)]
    rows = [np.searchsorted(r.time, at) for r in runs]  # beside those of events
    assert other.problem.size > model.problem.size
    for unknown in range(model.system.size):
        name = model.system.name_of_unknown(unknown)
        ours, theirs = (np.asarray(r[name])[k] for r, k in zip(runs, rows, strict=True))
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-4 * max(float(np.abs(theirs).max()), 1e-9), err_msg=name)


def test_explicit_variables_are_exact_functions_of_the_states_and_can_be_stored_alone() -> None:
    result = (model := ac.compile(Ladder(5))).simulate(until=3.0, points=7)
    v = np.asarray(result["C.v"])
    np.testing.assert_allclose(np.asarray(result["R[2].p.i"]), v[:, 1] - v[:, 2], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(np.asarray(result["R[2].n.i"]), v[:, 2] - v[:, 1], rtol=1e-13, atol=1e-15)
    alone = model.simulate(until=3.0, points=7, store=["R[2].p.i"])
    np.testing.assert_array_equal(alone["R[2].p.i"], result["R[2].p.i"])
    np.testing.assert_allclose(result["der(C[2].v)"], result["C[2].p.i"], atol=1e-4)


class Charging(ac.Component):
    def __init__(self) -> None:
        self.source, self.ground, self.R, self.C = VoltageSource(), Ground(), Resistor(), Capacitor(v=ac.start(0.0, fixed=True))

    def connections(self):
        yield self.source.p, self.R.p
        yield self.R.n, self.C.p
        yield self.C.n, self.source.n, self.ground.p


def test_a_zero_coefficient_is_told_and_does_not_spoil_later_runs() -> None:
    model = ac.compile(Charging())
    assert model.problem.lowered.coefficients
    for resistance in (1.0, 0.0, 2.0):
        if resistance == 0:
            with pytest.raises(InitialisationError, match=r"self\.R \* self\.p\.i"):
                model.simulate(until=1.0, set={"R.R": 0.0})
            assert model.steady_state(set={"R.R": 0.0})["C.v"] == pytest.approx(1.0)
            assert model.problem.lowered is implicit(model).lowered
            continue
        result = model.simulate(until=1.0, points=5, rtol=1e-8, set={"R.R": resistance})
        np.testing.assert_allclose(result["C.v"], 1.0 - np.exp(-result.time / resistance), atol=1e-6)


def test_a_coefficient_that_an_alias_with_a_minus_sign_cancels() -> None:
    class Cancelled(ac.Component):
        a = ac.Parameter(1.0)
        p = ac.Parameter(2.0)
        s = ac.Variable(start=2.0, fixed=True)
        q = ac.Variable()
        i = ac.Variable()

        def equations(self):
            yield ac.der(self.s) == -self.s
            yield self.q == -self.p
            yield (self.a + self.q) * self.i == self.s**2

    model = ac.compile(Cancelled())
    lowered, known = model.problem.lowered, model._parameters.known
    assert lowered.coefficients
    assert lowered.usable(known({})) and lowered.usable(known({"a": -2.0})) and not lowered.usable(known({"a": 2.0}))


class Simpler(ac.Component):
    """Elements of arrays in which a quantity falls away that stands in the array as a whole."""

    x, y, k = ac.Variable(shape=2, start=2.0, fixed=True), ac.Variable(shape=4), ac.Parameter(1.0)

    def __init__(self, of: Any) -> None:
        self.of = of

    def equations(self) -> Any:
        yield ac.der(self.x) == 0.0
        yield self.y[:3] == self.of(self.x[1:]) - self.k
        yield self.y[3:] == 0.8 * self.x[:1]


@pytest.mark.parametrize("of", [lambda x: x**0, lambda x: ac.where(ac.time > x, 1.0, 1.0), lambda x: 1.0 + ac.abs(x) ** 0 - x**0])
def test_an_array_whose_elements_are_simpler_than_it_is_reads_its_own_parameters(of: Any) -> None:
    """A slot fell away where slots were numbered anew, and others took its place in the table: a neighbour's parameter was read."""

    class Several(ac.Component):
        def __init__(self) -> None:
            self.part = [Simpler(of, k=10.0**k) for k in range(3)]

    result = ac.compile(Several()).simulate(until=0.5, points=3)
    for k in range(3):
        np.testing.assert_allclose(result[f"part[{k}].y"], [[*[1.0 - 10.0**k] * 3, 1.6]] * 3, rtol=1e-9)
