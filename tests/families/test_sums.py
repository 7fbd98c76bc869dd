"""Sums of every kind against numpy, along a trajectory."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac

N = 11


class Decays(ac.Component):
    y = ac.Variable(shape=N, start=1.0, fixed=True)
    M = ac.Variable(shape=(3, 7))
    rates = ac.Parameter(np.linspace(0.1, 1.0, N), shape=N)

    def equations(self):
        yield ac.der(self.y) == -self.rates * self.y
        yield self.M == np.arange(21.0).reshape(3, 7) * self.y[0] + ac.exp(-self.y[:7])


CASES = {
    "long": (lambda s: ac.sum(s.y), lambda y, m: y.sum(0)),
    "short": (lambda s: ac.sum(s.y[:3]), lambda y, m: y[:3].sum(0)),
    "negative": (lambda s: -ac.sum(s.y), lambda y, m: -y.sum(0)),
    "with factor": (lambda s: 2 * ac.sum(s.y) * s.y[0], lambda y, m: 2 * y.sum(0) * y[0]),
    "divided": (lambda s: ac.sum(s.y) / (1 + s.y[1]), lambda y, m: y.sum(0) / (1 + y[1])),
    "difference": (lambda s: ac.sum(s.y**2) - ac.sum(s.y) - s.y[2], lambda y, m: (y**2).sum(0) - y.sum(0) - y[2]),
    "in a function": (lambda s: ac.sin(ac.sum(s.y)), lambda y, m: np.sin(y.sum(0))),
    "nested": (lambda s: ac.sum(s.y / ac.sum(s.y) ** 2), lambda y, m: (y / y.sum(0) ** 2).sum(0)),
    "of functions": (lambda s: ac.sum(ac.exp(s.y * s.rates)), lambda y, m: np.exp(y.T * np.linspace(0.1, 1.0, N)).sum(1)),
    "product": (lambda s: ac.sum(s.y) * ac.sum(s.y**2), lambda y, m: y.sum(0) * (y**2).sum(0)),
    "mean": (lambda s: ac.mean(s.y), lambda y, m: y.mean(0)),
    "dot": (lambda s: ac.dot(s.y, s.rates), lambda y, m: y.T @ np.linspace(0.1, 1.0, N)),
    "plane": (lambda s: ac.sum(s.M), lambda y, m: m.sum((0, 1))),
    "stepped": (lambda s: ac.sum(s.M[::-1, ::2] * 3), lambda y, m: 3 * m[::-1, ::2].sum((0, 1))),
    "of a literal": (lambda s: ac.sum(s.y * np.arange(N)) + ac.sum(np.arange(9.0)), lambda y, m: np.arange(N) @ y + 36),
}


def _run(make, shape=()):
    class Model(Decays):
        q = ac.Variable(shape=shape)

        def equations(self):
            yield from super().equations()
            yield self.q == make(self)

    return ac.compile(Model()).simulate(until=2.0, points=7, rtol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_scalar_sums(case):
    make, expected = CASES[case]
    result = _run(make)
    y, m = np.moveaxis(result["y"], 0, -1), np.moveaxis(result["M"], 0, -1)
    np.testing.assert_allclose(result["q"], expected(y, m), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sums_along_an_axis(axis):
    shape = (7,) if axis == 0 else (3,)
    result = _run(lambda s: ac.sum(s.M, axis) - 2 * ac.sum(s.M * s.y[3], axis), shape)
    expected = (result["M"] * (1 - 2 * result["y[3]"][:, None, None])).sum(axis=axis + 1 if axis >= 0 else axis)
    np.testing.assert_allclose(result["q"], expected, rtol=1e-6, atol=1e-6)


def test_one_sum_in_every_element_costs_one_unknown():
    """`y - mean(y)` in n rows: n² summands are neither stored nor computed."""
    result = _run(lambda s: s.y - ac.mean(s.y) + ac.sum(s.y) / np.arange(1.0, N + 1), (N,))
    y = result["y"]
    np.testing.assert_allclose(
        result["q"], y - y.mean(1)[:, None] + y.sum(1)[:, None] / np.arange(1.0, N + 1), rtol=1e-6, atol=1e-6
    )

    class Large(ac.Component):
        x = ac.Variable(shape=2000, start=np.linspace(0, 1, 2000), fixed=True)

        def equations(self):
            yield ac.der(self.x) == ac.mean(self.x) - self.x

    model = ac.compile(Large())
    assert len(model.problem.pattern[1]) < 10 * 2000
    end = model.simulate(until=1.0, rtol=1e-8)["x"][-1]
    np.testing.assert_allclose(end, 0.5 + (np.linspace(0, 1, 2000) - 0.5) * np.exp(-1.0), atol=1e-6)


def test_sums_inside_arrays_of_components_and_over_them():
    class Cell(ac.Component):
        k = ac.Parameter(1.0)
        x = ac.Variable(shape=6, start=1.0, fixed=True)
        total, wave = ac.Variable(), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == -self.k * self.x
            yield self.total == ac.sum(self.x * np.arange(1.0, 7.0))
            yield self.wave == ac.cos(ac.sum(self.x**2))

    class Rack(ac.Component):
        both, largest = ac.Variable(), ac.Variable()

        def __init__(self):
            self.cells = ac.array(Cell, (2, 4), k=np.arange(1.0, 9.0).reshape(2, 4))

        def equations(self):
            yield self.both == ac.sum(self.cells.total * self.cells.k) + ac.sum(self.cells[0].x[:, 1])
            yield self.largest == ac.max(self.cells.total)

    result = ac.compile(Rack()).simulate(until=0.5, points=5, rtol=1e-9)
    k = np.arange(1.0, 9.0).reshape(2, 4)
    x = np.exp(-result.time[:, None, None] * k)
    np.testing.assert_allclose(result["cells.total"], 21 * x, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(result["cells.wave"], np.cos(6 * x**2), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(result["both"], (21 * x * k).sum((1, 2)) + x[:, 0].sum(1), rtol=1e-6)
    np.testing.assert_allclose(result["largest"], 21 * x.max((1, 2)), rtol=1e-6)


def test_the_kernels_of_a_sum_do_not_depend_on_its_length():
    def count(n):
        class Summed(ac.Component):
            x = ac.Variable(shape=n, start=1.0, fixed=True)
            q = ac.Variable()

            def equations(self):
                yield ac.der(self.x) == -self.x
                yield self.q == ac.sum(self.x)

        return {f.template for f in ac.compile(Summed()).system.families}

    assert count(10) == count(500)


def test_sums_in_initial_equations():
    class Shared(ac.Component):
        x = ac.Variable(shape=6, start=1.0)

        def equations(self):
            yield ac.der(self.x) == -self.x

        def initial_equations(self):
            yield self.x[1:] == 2 * self.x[:-1]
            yield ac.sum(self.x) == 63.0

    np.testing.assert_allclose(ac.compile(Shared()).simulate(until=1.0)["x"][0], 2.0 ** np.arange(6), rtol=1e-6)


def test_a_sum_over_python_objects_may_be_long():
    class One(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == -self.x

    class Many(ac.Component):
        total = ac.Variable()

        def __init__(self):
            self.parts = [One() for _ in range(600)]

        def equations(self):
            yield self.total == sum(part.x for part in self.parts)

    result = ac.compile(Many()).simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["total"], 600 * np.exp(-result.time), rtol=1e-6)


def test_auxiliary_unknowns_do_not_take_the_user_s_names():
    class Named(ac.Component):
        sum1, sum2 = ac.Variable(), ac.Parameter(2.0)
        x = ac.Variable(shape=9, start=1.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield self.sum1 == ac.sin(self.sum2 * ac.sum(self.x))

    result = ac.compile(Named()).simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["sum1"], np.sin(18 * np.exp(-result.time)), atol=1e-5)
