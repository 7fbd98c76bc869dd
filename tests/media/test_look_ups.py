"""One look-up for each distinct state: in residuals, the Jacobian, explicit variables, and between connected components."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal._core import fluid_look_ups


class Volume(ac.Component):
    a, b = ac.FluidPort(), ac.FluidPort()
    p = ac.Variable(unit="Pa", nominal=1e5, start=6e5, fixed=True)
    h = ac.Variable(unit="J/kg", nominal=1e5, start=3e5, fixed=True)
    M = ac.Variable(unit="kg", nominal=0.1, state="prefer")
    U = ac.Variable(unit="J", nominal=1e4, state="prefer")
    T = ac.Variable(unit="K", nominal=100.0)
    Q = ac.Variable(unit="W", nominal=1000.0)

    def equations(self) -> Any:
        state = self.medium.state(p=self.p, h=self.h, phase="any")
        yield self.M == 1e-3 * state.rho
        yield self.U == self.M * self.h - self.p * 1e-3
        yield self.T == state.T
        yield self.Q == 50.0 * (300.0 - self.T)
        yield ac.der(self.M) == self.a.m_flow + self.b.m_flow
        yield ac.der(self.U) == self.a.m_flow * self.a.h.actual + self.b.m_flow * self.b.h.actual + self.Q
        for port in (self.a, self.b):
            yield port.p == self.p
            yield port.h.outflow == self.h


class Orifice(ac.Component):
    """Its density is that of the volume upstream, looked up at the same pressure and enthalpy."""

    a, b = ac.FluidPort(), ac.FluidPort()
    rho = ac.Variable(unit="kg/m^3", nominal=10.0)

    def equations(self) -> Any:
        yield self.rho == self.medium.state(p=self.a.p, h=self.a.h.inflow, phase="any").rho
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.a.m_flow == 1e-9 * self.rho * (self.a.p - self.b.p)
        yield self.a.h.outflow == self.b.h.inflow
        yield self.b.h.outflow == self.a.h.inflow

    def events(self) -> Any:
        yield ac.crossing(self.rho - 55.5)


class Ring(ac.Component):
    def __init__(self, n: int) -> None:
        self.volumes = ac.array(Volume, n, medium="R134a", p=ac.start(6e5 + 1e4 * np.arange(n), fixed=True))
        self.orifices = ac.array(Orifice, n)

    def connections(self) -> Any:
        yield self.volumes.b, self.orifices.a
        yield self.orifices[:-1].b, self.volumes[1:].a
        yield self.orifices[-1].b, self.volumes[0].a


@pytest.mark.parametrize("n", [6, 400])
def test_as_many_look_ups_as_distinct_states(n: int) -> None:
    model = ac.compile(Ring(n))
    problem = model.problem
    rng = np.random.default_rng(1)
    first = model.simulate(until=1e-3)
    assert first.outcome
    y, yp = problem.start.copy(), np.zeros(problem.size)
    names = [problem.name_of_unknown(i) for i in range(problem.size)]
    for i, name in enumerate(names):
        y[i] = 6e5 if name.endswith(".p") else 3e5 if name.endswith(".h") else y[i]
    for _ in range(200):  # until the cache has grown to the plant
        problem.residual(0.0, y * (1 + 1e-3 * rng.random(problem.size)), yp)
    moved = y * (1 + 1e-3 * rng.random(problem.size))
    fluid_look_ups()
    problem.residual(0.0, moved, yp)
    calls, look_ups = fluid_look_ups()
    problem.jacobian(0.0, moved, yp, 1.0)
    more_calls, more = fluid_look_ups()
    assert look_ups == n and calls >= 2 * n  # a volume's state is that of the orifice behind it
    assert more == 0 and more_calls >= n  # the Jacobian takes its derivatives from the same look-ups


def test_what_is_kept_is_what_was_computed() -> None:
    fluid = ac.media.fluid("R134a")

    class Probe(ac.Component):
        p = ac.Input(1e6, unit="Pa")
        h = ac.Input(3e5, unit="J/kg")
        rho, T = ac.Variable(unit="kg/m^3"), ac.Variable(unit="K")

        def equations(self) -> Any:
            state = fluid.state(p=self.p, h=self.h, phase="any")
            yield self.rho == state.rho
            yield self.T == state.T

    times = np.linspace(0.0, 10.0, 41)
    result = ac.compile(Probe()).simulate(
        until=10.0, at=times, inputs={"p": lambda t: 1e6 + 1e4 * t, "h": lambda t: 3e5 + 1e4 * np.sin(t)}
    )
    state = fluid.state(p=1e6 + 1e4 * times, h=3e5 + 1e4 * np.sin(times))
    np.testing.assert_array_equal(result["rho"], state.rho)
    np.testing.assert_array_equal(result["T"], state.T)
