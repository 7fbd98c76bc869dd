"""Structure that only numbers reveal: loops of capacitors, cutsets of inductors, charges, levers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import acausal as ac
from acausal.library import electrical as el


class Ring(ac.Component):
    """n capacitors in a ring, a resistor from each corner to ground, a current into the first corner."""

    def __init__(self, n: int, C: float = 1.0) -> None:
        self.C = [el.Capacitor(C=C) for _ in range(n)]
        self.R = [el.Resistor() for _ in range(n)]
        self.I, self.g = el.ConstantCurrent(), el.Ground()

    def connections(self) -> Any:
        for k in range(len(self.C)):
            yield self.C[k].p, self.C[k - 1].n, self.R[k].p
            yield self.R[k].n, self.g.p
        yield self.I.n, self.R[0].p
        yield self.I.p, self.g.p


class Rings(ac.Component):
    """The same as an array of components, many times."""

    def __init__(self, n: int, many: int) -> None:
        self.C = ac.array(el.Capacitor, n * many, C=1.0)
        self.R = ac.array(el.Resistor, n * many)
        self.I, self.g = ac.array(el.ConstantCurrent, many), el.Ground()
        self.at, self.before = np.arange(n * many), np.roll(np.arange(n * many).reshape(many, n), 1, axis=1).ravel()
        self.first = np.arange(many) * n

    def connections(self) -> Any:
        yield self.C.p, self.C[self.before].n, self.R.p
        yield self.R.n, self.g.p
        yield self.I.n, self.R[self.first].p
        yield self.I.p, self.g.p


def ring_voltages(n: int, t: np.ndarray) -> np.ndarray:
    """Voltages of the corners: L is the ring's Laplacian, L u' = i - u with the mean of u kept at the mean of i."""
    laplace = 2 * np.eye(n) - np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), -1, 0)
    current = np.zeros(n)
    current[0] = 1.0
    values, vectors = np.linalg.eigh(laplace)
    modes = vectors.T @ current
    amplitude = np.where(values[:, None] > 1e-9, -np.expm1(-t / np.maximum(values, 1e-9)[:, None]), 1.0)
    return vectors @ (modes[:, None] * amplitude)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_a_ring_of_capacitors(n: int) -> None:
    model = ac.compile(Ring(n))
    assert int(model.problem.differential.sum()) == n - 1
    result = model.simulate(until=3.0, rtol=1e-9)
    exact = ring_voltages(n, result.time)
    for k in range(n):
        np.testing.assert_allclose(result[f"R[{k}].p.v"], exact[k], atol=1e-7)


def test_rings_in_an_array_are_found_by_families() -> None:
    model = ac.compile(Rings(3, 200))
    assert int(model.problem.differential.sum()) == 400
    result = model.simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["R[300].v"], ring_voltages(3, result.time)[0], atol=1e-6)


class Charges(ac.Component):
    """Charge-oriented equations: a floating capacitor's charges sum to zero."""

    u = ac.Variable(shape=2)
    q = ac.Variable(shape=2)

    def equations(self) -> Any:
        yield ac.der(self.q[0]) == ac.sin(ac.time) - self.u[0]
        yield ac.der(self.q[1]) == -self.u[1]
        yield self.q[0] == 0.3 * (self.u[0] - self.u[1])
        yield self.q[1] == 0.3 * (self.u[1] - self.u[0])


def test_charge_form() -> None:
    result = ac.compile(Charges()).simulate(until=5.0, rtol=1e-9)
    exact = solve_ivp(lambda t, d: [(np.sin(t) - d[0] / 0.3) / 2], (0, 5), [0.0], rtol=1e-11, atol=1e-13)
    assert result["q[0]"][-1] == pytest.approx(exact.y[0, -1], abs=1e-8)


class Loop(ac.Component):
    """Three sliding masses whose distances are prescribed by rods: the third rod's position follows from the other two."""

    x = ac.Variable(shape=3)
    v = ac.Variable(shape=3)
    F = ac.Variable(shape=3)
    d = ac.Variable(shape=3)
    pull = ac.Variable()

    def equations(self) -> Any:
        x, F = self.x, self.F
        yield ac.der(x) == self.v
        yield ac.der(self.v[0]) == F[0] - F[2] + 1.0
        yield ac.der(self.v[1]) == F[1] - F[0]
        yield ac.der(self.v[2]) == F[2] - F[1] - self.v[2]
        yield self.d[0] == x[0] - x[1]
        yield self.d[1] == x[1] - x[2]
        yield self.d[2] == x[2] - x[0]
        yield ac.der(self.d[0]) == -self.d[0] - F[0]
        yield ac.der(self.d[1]) == -self.d[1] - F[1]
        yield F[2] == 0.0
        yield self.pull == F[0] + F[1] + F[2]


def test_what_is_no_dependence_stays_as_it_is() -> None:
    model = ac.compile(Loop(), units=False)
    assert not model.system.combined
    assert model.simulate(until=1.0).outcome.ok


class Floating(ac.Component):
    """No ground: really singular, and said so as before."""

    def __init__(self) -> None:
        self.R = [el.Resistor() for _ in range(3)]
        self.V = el.ConstantVoltage()

    def connections(self) -> Any:
        for k in range(3):
            yield self.R[k].p, self.R[k - 1].n
        yield self.V.p, self.R[0].p
        yield self.V.n, self.R[1].p


def test_what_nothing_makes_regular_is_still_named() -> None:
    with pytest.raises(ac.AcausalError, match="ground"):
        ac.compile(Floating()).simulate(until=1.0)


class Singular(ac.Component):
    """E x' + x = f with E of rank one and not integer: x1 + 2 x2 is determined by the sources alone."""

    x = ac.Variable(shape=2, start=[0.5, 0.0])

    def equations(self) -> Any:
        E = np.array([[0.3, 0.7], [0.6, 1.4]])
        yield ac.dot(E, ac.der(self.x)) + self.x == np.array([1.0, 0.0]) * ac.cos(ac.time)


def test_a_mass_matrix_that_is_singular_by_numbers() -> None:
    """2 x1 - x2 = 2 cos t; with it 0.3 x1' + 0.7 x2' + x1 = cos t is an equation for x1 alone."""
    result = ac.compile(Singular()).simulate(until=2.0, rtol=1e-9)
    np.testing.assert_allclose(2 * result["x"][:, 0] - result["x"][:, 1], 2 * np.cos(result.time), atol=1e-8)
    exact = solve_ivp(
        lambda t, x: [(np.cos(t) - x[0] - 1.4 * np.sin(t)) / 1.7], (0, 2), [result["x"][0, 0]], rtol=1e-11, atol=1e-12
    )
    assert result["x"][-1, 0] == pytest.approx(exact.y[0, -1], abs=1e-7)


class Amplifier(ac.Component):
    """Hairer and Wanner's transistor amplifier in node voltages: each capacitor stands in the balances of both its nodes."""

    C1, C2, C3, C4, C5 = (ac.Parameter(k * 1e-6) for k in (1.0, 2.0, 3.0, 4.0, 5.0))
    y1, y2, y3, y4 = (ac.Variable(start=v) for v in (0.0, 3.0, 3.0, 6.0))
    y5, y6, y7, y8 = (ac.Variable(start=v) for v in (3.0, 3.0, 6.0, 0.0))
    named = True

    def equations(self) -> Any:
        C = [getattr(self, f"C{k}") if self.named else k * 1e-6 for k in range(1, 6)]
        y = [getattr(self, f"y{k}") for k in range(1, 9)]
        d = [ac.der(v) for v in y]
        through = [1e-6 * (ac.exp((a - b) / 0.026) - 1) for a, b in ((y[1], y[2]), (y[4], y[5]))]
        yield C[0] * (d[1] - d[0]) == (y[0] - 0.1 * ac.sin(200 * np.pi * ac.time)) / 1000
        yield C[0] * (d[0] - d[1]) == (2 * y[1] - 6.0) / 9000 + 0.01 * through[0]
        yield C[1] * d[2] == through[0] - y[2] / 9000
        yield C[2] * (d[4] - d[3]) == (y[3] - 6.0) / 9000 + 0.99 * through[0]
        yield C[2] * (d[3] - d[4]) == (2 * y[4] - 6.0) / 9000 + 0.01 * through[1]
        yield C[3] * d[5] == through[1] - y[5] / 9000
        yield C[4] * (d[7] - d[6]) == (y[6] - 6.0) / 9000 + 0.99 * through[1]
        yield C[4] * (d[6] - d[7]) == y[7] / 9000


class AmplifierOfNumbers(Amplifier):
    named = False


AMPLIFIED = [  # Mazzia and Magherini, Test set for IVP solvers, release 2.4: at 0.2 s
    -0.005562145012262709, 3.006522471903042, 2.849958788608128, 2.926422536206241,
    2.704617865010554, 2.761837778393145, 4.770927631616772, 1.236995868091548,
]  # fmt: skip


def test_parameters_that_are_the_same_cancel_as_numbers_do() -> None:
    steps = []
    for kind in (Amplifier, AmplifierOfNumbers):
        result = ac.compile(kind()).simulate(until=0.2, rtol=1e-6, points=2)
        np.testing.assert_allclose([result[f"y{k}"][-1] for k in range(1, 9)], AMPLIFIED, atol=1e-4)
        steps.append(result.statistics["steps"])
    assert steps[0] < 1.2 * steps[1]


def test_parameters_that_cancel_may_be_changed_afterwards() -> None:
    """Between two nodes C·(a' - b'), a resistor at each: (a - b)·exp(-t/(2 R C)) decays whatever C is."""

    class Pair(ac.Component):
        a, b, C = ac.Variable(start=1.0), ac.Variable(start=0.0), ac.Parameter(1.0)

        def equations(self) -> Any:
            yield self.C * (ac.der(self.a) - ac.der(self.b)) == -self.a
            yield self.C * (ac.der(self.b) - ac.der(self.a)) == -self.b

    model = ac.compile(Pair())
    for C in (1.0, 0.1, 5.0):
        result = model.simulate(until=1.0, rtol=1e-8, set={"C": C})
        difference = result["a"] - result["b"]
        np.testing.assert_allclose(result["a"] + result["b"], 0.0, atol=1e-9)
        np.testing.assert_allclose(difference, difference[0] * np.exp(-result.time / (2 * C)), atol=1e-6)
