"""Local definitions: they cost no unknown, and can still be looked at."""

from __future__ import annotations

import numpy as np
import pytest
from plants import Capacitor, Ground, Resistor, VoltageSource

import acausal as ac


class Charging(ac.Component):
    def __init__(self):
        self.v, self.r, self.c, self.g = VoltageSource(), Resistor(), Capacitor(v=ac.start(0.0, fixed=True)), Ground()

    def connections(self):
        yield self.v.p, self.r.p
        yield self.r.n, self.c.p
        yield self.c.n, self.v.n, self.g.p


def test_the_voltage_of_a_resistor_costs_nothing_and_is_still_there():
    model = ac.compile(Charging())
    assert model.system.size == 4  # the source's node, the capacitor's voltage, one current, the ground's current
    result = model.simulate(until=3.0, rtol=1e-8)
    np.testing.assert_allclose(result["r.v"], np.exp(-result.time), atol=1e-6)
    np.testing.assert_allclose(result["r.v"] + result["c.v"], 1.0, atol=1e-9)


def test_the_derivative_of_a_definition_is_the_definition_of_derivatives():
    class Difference(ac.Component):
        a, b = ac.Variable(start=1.0, fixed=True), ac.Variable(start=2.0, fixed=True)
        d = ac.Variable()

        def equations(self):
            yield ac.der(self.a) == -self.a
            yield ac.der(self.b) == -2 * self.b
            yield self.d == self.a - 3 * self.b

    result = ac.compile(Difference()).simulate(until=1.0, rtol=1e-8, derivatives=True)
    np.testing.assert_allclose(result["der(d)"], -np.exp(-result.time) + 12 * np.exp(-2 * result.time), atol=1e-4)
    alone = ac.compile(Difference()).simulate(until=1.0, rtol=1e-8, store=["der(d)"])
    np.testing.assert_allclose(alone["der(d)"], result["der(d)"])
    with pytest.raises(ac.ModelError, match=r"`r.p.v` is not differentiated"):
        ac.compile(Charging()).simulate(until=1.0)["der(r.v)"]


def test_chains_of_definitions_in_arrays():
    class Chain(ac.Component):
        x = ac.Variable(shape=(2, 3), start=np.arange(6.0).reshape(2, 3) + 1, fixed=True)
        row = ac.Variable(shape=3, start=1.0, fixed=True)
        a, b, c = (ac.Variable(shape=(2, 3)) for _ in range(3))
        wide = ac.Variable(shape=(2, 3))
        s = ac.Variable()

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield ac.der(self.row) == -2 * self.row
            yield self.a == self.x + 2 * self.row
            yield self.b == self.a - self.x[0, 0]
            yield self.c == self.b + self.a
            yield self.wide == self.row + 3 * self.x[1]  # both sides have fewer axes than the variable
            yield self.s == ac.exp(-self.c[1, 2]) + self.wide[0, 1] + self.wide[1, 2] * self.b[0, 0]

    model = ac.compile(Chain())
    assert model.system.size < 9 + 18
    result = model.simulate(until=1.0, points=5, rtol=1e-9)
    x = (np.arange(6.0).reshape(2, 3) + 1) * np.exp(-result.time)[:, None, None]
    row = np.exp(-2 * result.time)[:, None, None] * np.ones((1, 1, 3))
    a = x + 2 * row
    b = a - x[:, :1, :1]
    wide = np.broadcast_to(row + 3 * x[:, 1:], x.shape)
    np.testing.assert_allclose(result["a"], a, atol=1e-6)
    np.testing.assert_allclose(result["b"], b, atol=1e-6)
    np.testing.assert_allclose(result["c"], a + b, atol=1e-6)
    np.testing.assert_allclose(result["wide"], wide, atol=1e-6)
    np.testing.assert_allclose(result["s"], np.exp(-(a + b)[:, 1, 2]) + wide[:, 0, 1] + wide[:, 1, 2] * b[:, 0, 0], atol=1e-5)
    np.testing.assert_allclose(result["b[-1, ::2]"], b[:, -1, ::2], atol=1e-6)


@pytest.mark.parametrize("reason", ["fixed", "differentiated", "elsewhere", "modified"])
def test_what_others_need_is_kept_as_an_unknown(reason):
    class Inner(ac.Component):
        x = ac.Variable(start=1.0, fixed=reason not in ("fixed", "modified"))
        y = ac.Variable(start=5.0, fixed=reason == "fixed")

        def equations(self):
            yield self.y == self.x + ac.time + 1
            yield ac.der(self.x if reason != "differentiated" else self.y) == -self.x

    class Outer(ac.Component):
        z = ac.Variable()

        def __init__(self):
            self.inner = Inner(y=ac.start(5.0, fixed=True)) if reason == "modified" else Inner()

        def equations(self):
            yield self.z == (self.inner.y if reason == "elsewhere" else 2.0) * 3

    result = ac.compile(Outer()).simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["inner.y"], result["inner.x"] + result.time + 1, atol=1e-6)
    if reason in ("fixed", "modified"):
        assert result["inner.y"][0] == pytest.approx(5.0)
    if reason == "elsewhere":
        np.testing.assert_allclose(result["z"], 3 * result["inner.y"], atol=1e-6)
