"""A closed refrigerant circuit from default guesses: started by any two properties, and at rest with its charge held."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Volume(ac.Component):
    """Mass and energy are states; pressure and enthalpy say where they start."""

    a, b = ac.FluidPort(), ac.FluidPort()
    V = ac.Parameter(1e-3, unit="m^3")
    UA = ac.Parameter(100.0, unit="W/K")
    T_ambient = ac.Parameter(300.0, unit="K")
    p = ac.Variable(unit="Pa", nominal=1e5, start=6e5, fixed=True)
    h = ac.Variable(unit="J/kg", nominal=1e5, start=3e5, fixed=True)
    M = ac.Variable(unit="kg", nominal=0.1, state="prefer")
    U = ac.Variable(unit="J", nominal=1e4, state="prefer")
    T = ac.Variable(unit="K", nominal=100.0)
    x = ac.Variable()
    superheat = ac.Variable(unit="K", nominal=10.0)
    Q = ac.Variable(unit="W", nominal=1000.0)

    def equations(self) -> Any:
        state = self.medium.state(p=self.p, h=self.h)
        yield self.M == self.V * state.rho
        yield self.U == self.M * self.h - self.p * self.V
        yield self.T == state.T
        yield self.x == state.x
        yield self.superheat == self.T - self.medium.saturation(p=self.p).T
        yield self.Q == self.UA * (self.T_ambient - self.T)
        yield ac.der(self.M) == self.a.m_flow + self.b.m_flow
        yield ac.der(self.U) == self.a.m_flow * self.a.h.actual + self.b.m_flow * self.b.h.actual + self.Q
        for port in (self.a, self.b):
            yield port.p == self.p
            yield port.h.outflow == self.h


class Valve(ac.Component):
    a, b = ac.FluidPort(), ac.FluidPort()
    k = ac.Parameter(1e-5, unit="kg/(s*Pa)")

    def equations(self) -> Any:
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.a.m_flow == self.k * (self.a.p - self.b.p)
        yield self.a.h.outflow == self.b.h.inflow
        yield self.b.h.outflow == self.a.h.inflow


class Compressor(ac.Component):
    a, b = ac.FluidPort(), ac.FluidPort()
    V_flow = ac.Parameter(5e-4, unit="m^3/s")
    efficiency = ac.Parameter(0.7)
    W = ac.Variable(unit="W", nominal=1000.0)

    def equations(self) -> Any:
        suction = self.medium.state(p=self.a.p, h=self.a.h.inflow)
        ideal = self.medium.state(p=self.b.p, s=suction.s)
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.a.m_flow == self.V_flow * suction.rho
        yield self.b.h.outflow == self.a.h.inflow + (ideal.h - suction.h) / self.efficiency
        yield self.a.h.outflow == self.b.h.inflow
        yield self.W == self.a.m_flow * (ideal.h - suction.h) / self.efficiency


class Circuit(ac.Component):
    charge = ac.Variable(unit="kg", nominal=0.1)

    def __init__(self, n: int = 2) -> None:
        self.condenser = ac.array(Volume, n, T_ambient=305.0)
        self.evaporator = ac.array(Volume, n, T_ambient=285.0, h=ac.start(3.9e5, fixed=True), p=ac.start(4e5, fixed=True))
        self.tubes = [ac.array(Valve, n - 1), ac.array(Valve, n - 1)] if n > 2 else [Valve(), Valve()]
        self.valve, self.compressor = Valve(k=3e-8), Compressor(medium="R134a")

    def equations(self) -> Any:
        yield self.charge == ac.sum(self.condenser.M) + ac.sum(self.evaporator.M)

    def connections(self) -> Any:
        yield self.compressor.b, self.condenser[0].a
        yield self.condenser[0].b, self.tubes[0].a
        yield self.tubes[0].b, self.condenser[1].a
        yield self.condenser[1].b, self.valve.a
        yield self.valve.b, self.evaporator[0].a
        yield self.evaporator[0].b, self.tubes[1].a
        yield self.tubes[1].b, self.evaporator[1].a
        yield self.evaporator[1].b, self.compressor.a


@cache
def circuit() -> ac.Model:
    return ac.compile(Circuit())


@cache
def volume() -> ac.Model:
    return ac.compile(Volume(medium="R134a"))


@pytest.mark.parametrize(
    "given",
    [
        {"p": 5e5, "h": 2.5e5},
        {"p": "5 bar", "T": "20 degC"},
        {"p": 5e5, "x": 0.3},
        {"T": 280.0, "x": 0.3},
        {"M": 0.1, "p": 5e5},
        {"M": 0.1, "T": 280.0},
        {"p": 5e5, "superheat": 10.0},
        {"M": 0.02, "superheat": 10.0},
    ],
    ids=lambda given: "-".join(given),
)
def test_a_start_by_any_two_properties(given: dict[str, Any]) -> None:
    result = volume().simulate(until=1.0, given=given)
    for name, value in given.items():
        wanted = {"5 bar": 5e5, "20 degC": 293.15}.get(value, value) if isinstance(value, str) else value
        assert result[name][0] == pytest.approx(wanted, rel=1e-9)
    state = ac.media.fluid("R134a").state(p=float(result["p"][0]), h=float(result["h"][0]))
    assert result["M"][0] == pytest.approx(1e-3 * state.rho, rel=1e-9)
    assert result["M"][-1] == pytest.approx(result["M"][0], rel=1e-13)


def test_starts_are_set_like_parameters() -> None:
    result = volume().simulate(until=1.0, set={"p": "4 bar", "h": 4.2e5})
    assert result["p"][0] == pytest.approx(4e5) and result["h"][0] == pytest.approx(4.2e5)
    with pytest.raises(ac.ModelError, match="hh"):
        volume().simulate(until=1.0, set={"hh": 4.2e5})


@pytest.mark.parametrize("charge", [0.05, 0.3, 0.8, 2.0, 2.6])
def test_a_charge_is_met_from_dry_to_flooded(charge: float) -> None:
    state = circuit().steady_state(given={"charge": charge})
    assert state["charge"][0] == pytest.approx(charge, rel=1e-9)
    heat = state["condenser.Q"][0].sum() + state["evaporator.Q"][0].sum()
    assert heat + state["compressor.W"][0] == pytest.approx(0.0, abs=1e-6 * abs(state["compressor.W"][0]))
    fluid = ac.media.fluid("R134a")
    for part in ("condenser", "evaporator"):  # the phases are those of the state that was found, not of the guess
        found = fluid.state(p=state[f"{part}.p"][0], h=state[f"{part}.h"][0])
        np.testing.assert_allclose(state[f"{part}.M"][0], 1e-3 * found.rho, rtol=1e-8)


def test_at_rest_the_charge_is_that_of_the_start_and_a_run_ends_there() -> None:
    started = circuit().simulate(until=3000.0)
    rest = circuit().simulate(until=10.0, initial="steady")
    assert rest["charge"][0] == pytest.approx(started["charge"][0], rel=1e-9) and len(rest.events) == 0
    np.testing.assert_allclose(rest["condenser.p"][0], started["condenser.p"][-1], rtol=1e-6)
    np.testing.assert_allclose(rest["evaporator.h"][-1], started["evaporator.h"][-1], rtol=1e-6)
    assert started["charge"][-1] == pytest.approx(started["charge"][0], rel=1e-12)
