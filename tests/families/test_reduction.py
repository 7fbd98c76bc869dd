"""Index reduction: every differentiated row is the time derivative of its original along any smooth functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.pattern import jacobian_pattern
from acausal.runtime.build import kernels
from acausal.runtime.problem import Equations


class Mechanism(ac.Component):
    """Two constraints on three coordinates: time, parameters, powers and a variable that is another one's negative."""

    q = ac.Variable(shape=3, start=0.5)
    v = ac.Variable(shape=3)
    pull = ac.Variable(shape=2)
    mirror = ac.Variable()
    backwards = ac.Variable()
    p = ac.Parameter(1.3)

    def equations(self):
        q, pull = self.q, self.pull
        yield ac.der(q) == self.v
        yield ac.der(self.v[0]) == -pull[0] * q[0] + pull[1]
        yield ac.der(self.v[1]) == -pull[0] * q[1] - pull[1] * ac.cos(q[1])
        yield ac.der(self.v[2]) == -pull[1] * self.p
        yield self.mirror == -q[0]
        yield self.backwards == -ac.time
        yield self.mirror**2 * self.p + q[1] ** 2 == 1.0 + ac.exp(0.1 * self.backwards) * q[2]
        yield ac.sin(q[1]) + self.p * q[2] * self.mirror == ac.sin(2.0 * ac.time)


class Chain(ac.Component):
    """A long sum, with parameters alone among its terms, prescribes the last of many storages."""

    p = ac.Parameter(np.linspace(0.1, 0.5, 40), shape=40)
    x = ac.Variable(shape=30, start=0.0)
    f = ac.Variable()

    def equations(self):
        yield ac.der(self.x[:29]) == -self.x[:29]
        yield ac.der(self.x[29]) == self.f
        yield ac.sum(self.x) + 3.0 * ac.time == ac.sum(self.p)


class Prescribed(ac.Component):
    q = ac.Variable()
    x = ac.Variable()
    v = ac.Variable()
    f = ac.Variable()

    def equations(self):
        yield self.q == -ac.time
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == self.f
        yield self.x == self.q * self.q * self.q


class Shared(ac.Component):
    """Two constraints that share a costly expression, and one of them differentiated once only."""

    x = ac.Variable(shape=2, start=0.2)
    v = ac.Variable()
    f = ac.Variable()
    g = ac.Variable()

    def equations(self):
        yield ac.der(self.x[0]) == self.v
        yield ac.der(self.v) == self.f
        yield ac.der(self.x[1]) == self.g * ac.time
        yield ac.exp(self.x[0]) + self.x[1] == 2.0 + ac.time
        yield ac.exp(self.x[0]) * 2.0 == 3.0 + ac.time**2


def rows_at(model: Any, t: float) -> np.ndarray:
    """All rows with unknown i = sin(t + 0.7 i), its derivatives in their places."""
    d, system = model.system.derivatives, model.system
    y, yp = np.zeros(system.size), np.zeros(system.size)
    phase = 0.7 * np.arange(len(d.highest))
    for k, numbers in enumerate(d.number):
        y[numbers[numbers >= 0]] = np.sin(t + phase + k * np.pi / 2)[numbers >= 0]
    yp[: len(phase)] = np.cos(t + phase)
    known = model._parameters.known({})
    pattern = jacobian_pattern(system.families, system.equation_count, system.size)
    residuals, jacobians, _ = kernels(system.families, pattern.positions)
    layout = (system.size, system.equation_count, len(known), 2 * system.size, (pattern.indptr, pattern.indices))
    return np.asarray(Equations(*layout, residuals, jacobians).residual(t, y, yp, known))


@pytest.mark.parametrize("component", [Mechanism(), Chain(), Prescribed(), Shared()], ids=lambda c: type(c).__name__)
def test_differentiated_rows_are_time_derivatives(component: ac.Component) -> None:
    model = ac.compile(component, units=False)
    d, t, h = model.system.derivatives, 0.6, 1e-5
    assert d is not None
    slope = (rows_at(model, t + h) - rows_at(model, t - h)) / (2 * h)
    current = rows_at(model, t)
    row = {(int(r), 0): int(r) for r in range(d.original_rows)}
    row |= {(int(r), int(k)): d.original_rows + j for j, (r, k) in enumerate(zip(d.row_of, d.row_order, strict=True))}
    for (original, order), number in row.items():
        if order:
            assert current[number] == pytest.approx(slope[row[original, order - 1]], rel=1e-7, abs=1e-8)
    for original, count in enumerate(d.differentiations):
        assert d.top_row[original] == row[original, int(count)]


@pytest.mark.parametrize("component, states", [(Mechanism(), 2), (Chain(), 29), (Prescribed(), 0), (Shared(), 0)])
def test_state_counts(component: ac.Component, states: int) -> None:
    model = ac.compile(component, units=False)
    assert int(model.problem.differential.sum()) == states
    d, system = model.system.derivatives, model.system
    assert d is not None
    assert d.state_count + system.equation_count + int(system.differential.sum()) >= system.size
    following = d.as_unknown(system.size)
    for unknown, derivative in d.candidates():
        assert following[unknown] == derivative


def test_a_prescribed_motion_in_reversed_time() -> None:
    result = ac.compile(Prescribed()).simulate(until=2.0, points=5)
    t = result.time
    np.testing.assert_allclose(result["x"], -(t**3), atol=1e-12)
    np.testing.assert_allclose(result["v"], -3 * t**2, atol=1e-12)
    np.testing.assert_allclose(result["f"], -6 * t, atol=1e-12)


def test_a_prescribed_sum() -> None:
    result = ac.compile(Chain()).simulate(until=1.0, points=5, rtol=1e-8)
    np.testing.assert_allclose(result["x[29]"], 12.0 - 3.0 * result.time - np.asarray(result["x"])[:, :29].sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(result["f"], -3.0 + np.asarray(result["x"])[:, :29].sum(axis=1), atol=1e-9)
