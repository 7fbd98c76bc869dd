"""Fusing: shared costly work is done once, in one kernel; results do not change."""

from __future__ import annotations

import numpy as np

import acausal as ac


def _calls(shared: bool):
    calls = []

    @ac.function(opaque=True)
    def property_of(x):
        calls.append(x)
        return x * x

    class Fluid(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)
        a, b = ac.Variable(), ac.Variable()

        def equations(self):
            rho = property_of(self.x)
            yield ac.der(self.x) == -rho
            yield self.a * 2 == ac.exp(rho)
            yield self.b * 3 == rho + (property_of(self.x + 1) if not shared else 0.0) * self.a

    return Fluid, calls


def test_equations_that_share_a_call_are_one_kernel():
    Fluid, calls = _calls(shared=True)
    model = ac.compile(Fluid())
    assert [len(f.template.outputs) for f in model.system.families] == [3]
    problem = model.problem
    assert problem.size == 1 and len(problem.lowered.explicit.unknown) == 2
    calls.clear()
    residual = problem.residual(0.0, np.array([1.0]), np.zeros(1))
    assert len(calls) == 1 and residual[0] == 1.0
    w = problem.equations.workspace(0.0, np.array([2.0]), np.zeros(1), problem.known)
    a, b = w[problem.lowered.place[1:]]
    np.testing.assert_allclose([a, b], [np.exp(4.0) / 2, 4.0 / 3])
    np.testing.assert_allclose(problem.jacobian(0.0, np.array([2.0]), np.zeros(1), 0.5), [0.5 + 4.0], rtol=1e-6)


def test_a_fused_model_has_the_solution_of_the_plain_one():
    Fluid, _ = _calls(shared=False)
    result = ac.compile(Fluid()).simulate(until=1.0, rtol=1e-8)
    x = 1 / (1 + result.time)
    np.testing.assert_allclose(result["x"], x, atol=1e-6)
    np.testing.assert_allclose(result["a"], np.exp(x**2) / 2, rtol=1e-5)
    np.testing.assert_allclose(result["b"], (x**2 + (x + 1) ** 2 * np.exp(x**2) / 2) / 3, rtol=1e-5)


def test_cheap_work_is_not_fused():
    class Cheap(ac.Component):
        x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=1.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == -(self.x * self.y)
            yield ac.der(self.y) == self.x * self.y

    result = ac.compile(Cheap())
    assert all(len(f.template.outputs) == 1 for f in result.system.families)
    end = result.simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(end["x"] + end["y"], 2.0, rtol=1e-7)


def test_arrays_of_different_shape_are_fused_apart():
    class Mixed(ac.Component):
        T = ac.Variable(shape=3, start=1.0, fixed=True)
        q = ac.Variable(shape=3)
        s = ac.Variable()

        def equations(self):
            yield ac.der(self.T) == -ac.exp(self.T)
            yield self.q * 2 == ac.exp(self.T) + ac.sum(self.T)
            yield self.s * 2 == ac.exp(self.T[0])

    result = ac.compile(Mixed()).simulate(until=0.5, rtol=1e-8)
    exact = -np.log(np.exp(-1.0) + result.time)
    np.testing.assert_allclose(result["T"], exact[:, None] * np.ones(3), atol=1e-6)
    np.testing.assert_allclose(result["q"], (np.exp(exact) + 3 * exact)[:, None] / 2 * np.ones(3), atol=1e-5)
    np.testing.assert_allclose(result["s"], np.exp(exact) / 2, atol=1e-5)
