"""Aliases with signs: fewer unknowns, the same values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac


def _model(equations, n, extra=1):
    class Aliased(ac.Component):
        x = ac.Variable(shape=n)
        p = ac.Parameter(3.0)
        u = ac.Input(2.0)
        y = ac.Variable(start=1.0, fixed=True)

    Aliased.equations = lambda self: iter([ac.der(self.y) == -self.y, *equations(self)])
    return ac.compile(Aliased())


def test_equal_opposite_and_known():
    model = _model(
        lambda s: [s.x[0] == s.y, s.x[1] == -s.x[0], s.x[2] + s.x[1] == 0, s.x[3] == s.p, -s.x[4] == s.u, s.x[5] == 7.0], 6
    )
    assert model.system.size == 1
    result = model.simulate(until=1.0, inputs={"u": lambda t: 4.0 + t}, rtol=1e-8)
    y = np.exp(-result.time)
    expected = [y, -y, y, 0 * y + 3, -4 - result.time, 0 * y + 7]
    np.testing.assert_allclose(result["x"], np.stack(expected, axis=1), atol=1e-6)


def test_a_variable_that_equals_its_negative_is_zero():
    model = _model(lambda s: [s.x[0] == s.x[1], s.x[0] == -s.x[1]], 2)
    assert model.system.size == 1
    assert (model.simulate(until=1.0)["x"] == 0).all()


def test_time_is_an_alias_too():
    model = _model(lambda s: [s.x[0] == ac.time], 1)
    result = model.simulate(until=2.0)
    np.testing.assert_allclose(result["x[0]"], result.time)
    np.testing.assert_allclose(result["der(x[0])"], 1.0)


def test_a_sum_shrinks_when_a_summand_is_zero():
    model = _model(lambda s: [s.x[0] == 0.0, s.x[1] + s.x[0] - s.y == 0, s.x[2] - s.x[0] + s.x[0] == 0], 3)
    assert model.system.size == 1
    result = model.simulate(until=1.0)
    np.testing.assert_allclose(result["x[1]"], result["y"])


def test_array_aliases_with_slices_and_broadcasts():
    model = _model(lambda s: [s.x[1:4] == s.x[:3], s.x[0] == s.y, s.x[4:] == -s.y], 6)
    assert model.system.size == 1
    result = model.simulate(until=1.0)
    np.testing.assert_allclose(result["x"], result["y"][:, None] * np.array([1, 1, 1, 1, -1, -1]))


def test_a_known_cannot_equal_another_or_its_own_negative():
    for equations in (
        lambda s: [s.x[0] == 1.0, s.x[0] == s.x[1], s.x[1] == 2.0],
        lambda s: [s.x[0] == s.p, s.x[1] == -s.p, s.x[0] == s.x[1]],
    ):
        with pytest.raises(ac.ModelError, match="two values at once"):
            _model(equations, 2)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=9))
def test_random_trees_of_signed_aliases(links):
    """x[k + 1] is plus or minus an earlier one; all follow y with the product of the signs."""
    n = len(links) + 1
    signs = [1]
    for k, (parent, minus) in enumerate(links):
        signs.append(signs[parent % (k + 1)] * (-1 if minus else 1))

    def equations(s):
        yield s.x[0] == s.y
        for k, (parent, minus) in enumerate(links):
            earlier = s.x[parent % (k + 1)]
            yield (s.x[k + 1] + earlier == 0) if minus else (earlier == s.x[k + 1])

    model = _model(equations, n)
    assert model.system.size == 1
    result = model.simulate(until=0.5, points=3)
    np.testing.assert_allclose(result["x"], result["y"][:, None] * signs)


class Rail(ac.Connector):
    T = ac.Potential()
    Q = ac.Flow()


class Store(ac.Component):
    loss, port = Rail(), Rail()
    turned, T = ac.Variable(), ac.Variable(start=300.0, fixed=True)

    def equations(self):
        yield self.loss.T == self.T
        yield self.port.T == self.T
        yield self.turned == -self.T
        yield ac.der(self.T) == self.loss.Q + self.port.Q


class Leak(ac.Component):
    a = Rail()
    u = ac.Input(0.0)

    def equations(self):
        yield self.a.Q == 0.1 * (self.a.T - self.u)


class Stores(ac.Component):
    def __init__(self):
        self.leak, self.store = ac.array(Leak, 3), ac.array(Store, 3)

    def connections(self):
        yield self.leak.a, self.store.loss


def test_an_unknown_is_called_what_a_component_declares_for_itself():
    """Not by a connector's alias, nor by a variable that is its negative."""
    system = ac.compile(Stores()).system
    names = {system.name_of_unknown(k) for k in range(system.size)}
    assert names == {"store[0].T", "store[1].T", "store[2].T", "leak[0].a.Q", "leak[1].a.Q", "leak[2].a.Q"}
