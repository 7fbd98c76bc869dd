"""The error test: noise never rules the step, derivatives are tested as far as states decide them, output is solved for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import electrical, signal, switching


class Rectifier(ac.Component):
    """Half a wave through an ideal diode: its current is a small voltage over a tiny resistance."""

    def __init__(self) -> None:
        self.source, self.diode = electrical.SineVoltage(V=10.0, f=50.0), switching.IdealDiode()
        self.load, self.buffer, self.ground = electrical.Resistor(R=100.0), electrical.Capacitor(C=1e-3), electrical.Ground()

    def connections(self):
        yield self.source.p, self.diode.p
        yield self.diode.n, self.load.p, self.buffer.p
        yield self.source.n, self.load.n, self.buffer.n, self.ground.p


@pytest.mark.parametrize("rtol, bar", [(1e-6, 1000), (1e-8, 3000)])
def test_the_noise_of_a_stiff_current_does_not_rule_the_step(rtol: float, bar: int) -> None:
    model = ac.compile(Rectifier())
    result = model.simulate(until=0.1, rtol=rtol, at=[0.1])
    assert result.outcome is ac.Outcome.FINISHED and result.statistics.steps <= bar
    exact = model.simulate(until=0.1, rtol=1e-11, at=[0.1])
    np.testing.assert_allclose(result["buffer.v"][-1], exact["buffer.v"][-1], rtol=10 * rtol)


class Charge(electrical.TwoPin):
    C = ac.Parameter(1e-12)
    q = ac.Variable(nominal=1e-12)

    def equations(self):
        yield from super().equations()
        yield self.q == self.C * (self.v + self.v**3 / 100)
        yield self.i == ac.der(self.q)


class Divider(ac.Component):
    def __init__(self, T: float) -> None:
        self.ramp, self.source = signal.Ramp(height=20.0, start_time=5 * T, duration=T), electrical.SignalVoltage()
        self.a, self.b, self.ground = Charge(C=1e-12), Charge(C=3e-12), electrical.Ground()

    def connections(self):
        yield self.ramp.y, self.source.V
        yield self.source.p, self.a.p
        yield self.a.n, self.b.p
        yield self.source.n, self.b.n, self.ground.p


def test_the_unit_of_time_does_not_matter() -> None:
    runs = [ac.compile(Divider(T), units=False).simulate(until=12 * T) for T in (1.0, 1e-3, 1e-6, 1e-9)]
    assert all(r.outcome is ac.Outcome.FINISHED for r in runs)
    steps = [r.statistics.steps for r in runs]
    assert max(steps) <= 1.5 * min(steps)
    for r in runs[1:]:
        np.testing.assert_allclose(r["a.v"][-1], runs[0]["a.v"][-1], rtol=1e-5)


class Corners(Divider):
    """The same voltage from a table: between its corners all currents vanish exactly, as do the derivatives of charges."""

    def __init__(self, T: float) -> None:
        super().__init__(T)
        self.ramp = signal.TimeTable([0, 5 * T, 6 * T, 11 * T, 12 * T], [0, 0, 20, 20, 0], method="linear")


@pytest.mark.parametrize("T", [1.0, 1e-6])
def test_a_derivative_that_vanishes_after_a_corner_does_not_stop_the_run(T: float) -> None:
    result = ac.compile(Corners(T), units=False).simulate(until=12 * T, at=[8 * T, 12 * T])
    assert result.outcome is ac.Outcome.FINISHED and result.statistics.steps < 500
    np.testing.assert_allclose(result["a.q"], result["b.q"], rtol=1e-6, atol=1e-16)
    np.testing.assert_allclose(result["a.v"] + result["b.v"], [20.0, 0.0], atol=1e-5)


class Algebraic(ac.Component):
    """Nothing that is integrated limits the step, so that steps become as long as the run."""

    phi = ac.Variable(start=0.0, fixed=True)
    x = ac.Variable(start=0.0)

    def equations(self):
        yield ac.der(self.phi) == 1.0
        yield self.x**3 + self.x == 2 * ac.sin(self.phi)


@pytest.mark.parametrize("suppress", [False, True])
def test_algebraic_unknowns_are_right_at_output_points(suppress: bool) -> None:
    result = ac.compile(Algebraic(), units=False).simulate(until=20.0, rtol=1e-10, suppress_algebraic=suppress)
    np.testing.assert_allclose(result["x"] ** 3 + result["x"], 2 * np.sin(result.time), atol=1e-8)
    assert (result.statistics.steps < 300) == suppress


class Volume(ac.Component):
    """Mass and energy of a gas, with pressure and enthalpy as states: their sums are differentiated."""

    p = ac.Variable(start=1e5, nominal=1e5, state="prefer", fixed=True)
    h = ac.Variable(start=3e5, nominal=1e5, state="prefer", fixed=True)
    M, U = ac.Variable(nominal=1.0), ac.Variable(nominal=1e5)
    flow = ac.Variable(nominal=1.0)
    K = ac.Parameter(1.0)

    def equations(self):
        yield self.M == self.p / (287.0 * self.h / 1000.0)
        yield self.U == self.M * self.h - self.p
        yield self.flow == self.K * (1.2e5 - self.p) / 1e4
        yield ac.der(self.M) == self.flow
        yield ac.der(self.U) == self.flow * 3.2e5


def test_derivatives_made_by_index_reduction_are_a_kind_of_their_own() -> None:
    model = ac.compile(Volume(), units=False)
    problem = model.problem
    tested, algebraic, derivative = problem.error_test()
    names = [problem.name_of_unknown(k) for k in range(problem.size)]
    for k, name in enumerate(names):
        assert derivative[k] == (name.startswith("der(") and not problem.differential[k])
    assert (tested == ~derivative).all() and (algebraic == ~problem.differential).all()
    tested, _, derivative = problem.error_test(suppress_algebraic=True)
    assert (tested == problem.differential).all() and not derivative.any()


@pytest.mark.parametrize("K", [1.0, 1e3, 1e6])
def test_stiffness_does_not_cost_steps(K: float) -> None:
    """The faster the volume fills, the noisier its derivatives; a handful of steps follows what happens all the same."""
    model = ac.compile(Volume(), units=False)
    result: Any = model.simulate(until=10.0, rtol=1e-8, set={"K": K}, derivatives=True)
    assert result.outcome is ac.Outcome.FINISHED and result.statistics.steps < 800
    fine = model.simulate(until=10.0, rtol=1e-11, set={"K": K}, at=result.time)
    for name in ("p", "h", "M", "U"):
        np.testing.assert_allclose(result[name], fine[name], rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(result["M"], result["p"] / (0.287 * result["h"]), rtol=1e-9)
