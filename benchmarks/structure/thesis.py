"""Examples of high index from Tummescheit's thesis (2002): a circuit, a gas spring with piston, salt basins, a superheater.

Where the printed form is wrong, the remark says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac
from acausal.library import electrical

# --- circuit ----------------------------------------------------------------------------------------------------------


class TwoCapacitors(ac.Component):
    """Source, R1, C1, R2, C2 (figure 2.7). Without R2 the capacitors are in parallel: one state, index 2."""

    def __init__(self, R2: float | None = None) -> None:
        self.joined = R2 is None
        self.source, self.ground = electrical.ConstantVoltage(V=1.0), electrical.Ground()
        self.R1 = electrical.Resistor(R=1000.0)
        self.C1 = electrical.Capacitor(C=0.002, v=ac.start(0.0, fixed=True))
        self.C2 = electrical.Capacitor(C=0.001, v=ac.start(0.0, fixed=R2 is not None))
        if R2 is not None:
            self.R2 = electrical.Resistor(R=R2)

    def connections(self) -> Iterator[Any]:
        yield self.source.p, self.R1.p
        if self.joined:
            yield self.R1.n, self.C1.p, self.C2.p
        else:
            yield self.R1.n, self.C1.p, self.R2.p
            yield self.R2.n, self.C2.p
        yield self.source.n, self.C1.n, self.C2.n, self.ground.p


def circuit_poles(R2: float, R1: float = 1000.0, C1: float = 0.002, C2: float = 0.001) -> np.ndarray:
    """Roots of the transfer function's denominator. The matrix printed beside it does not belong to it."""
    return np.sort(np.roots([C1 * C2 * R1 * R2, R1 * (C1 + C2) + C2 * R2, 1.0]))


# --- gas and piston ---------------------------------------------------------------------------------------------------


class Gas(ac.Component):
    """A closed volume of ideal gas: two initial conditions of its own."""

    mass, R, c_v = ac.Parameter(0.01, unit="kg"), ac.Parameter(287.0, unit="J/(kg*K)"), ac.Parameter(717.5, unit="J/(kg*K)")
    p = ac.Variable(unit="Pa", start=1e5, nominal=1e5, min=0)
    T = ac.Variable(unit="K", start=300.0, nominal=300.0, min=0)
    V = ac.Variable(unit="m^3", start=0.01, nominal=0.01, min=0)
    heat = ac.Input(0.0, unit="W")

    def equations(self) -> Iterator[Any]:
        yield self.p * self.V == self.mass * self.R * self.T
        yield self.mass * self.c_v * ac.der(self.T) == -self.p * ac.der(self.V) + self.heat


class Piston(ac.Component):
    """A mass on a spring that the gas pushes outwards: two initial conditions of its own.

    Printed is m·x'' = k·x - p·A, with both signs turned: in V = V0 + A·x that pushes the piston into the gas that resists it.
    """

    m, k, A = ac.Parameter(2.0, unit="kg"), ac.Parameter(5e3, unit="N/m"), ac.Parameter(0.01, unit="m^2")
    x = ac.Variable(unit="m", start=0.1)
    v = ac.Variable(unit="m/s", start=0.0)
    p = ac.Input(0.0, unit="Pa")

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.v
        yield self.m * ac.der(self.v) == self.p * self.A - self.k * self.x


class GasSpring(ac.Component):
    """Gas and piston joined by V = V0 + A·x: together three initial conditions, not four."""

    V0 = ac.Parameter(0.008, unit="m^3")

    def __init__(self, **fixed: Any) -> None:
        gas = {name: value for name, value in fixed.items() if name in ("T", "p", "V")}
        piston = {name: value for name, value in fixed.items() if name in ("x", "v")}
        self.gas, self.piston = Gas(**gas), Piston(**piston)

    def connections(self) -> Iterator[Any]:
        yield self.gas.p, self.piston.p

    def equations(self) -> Iterator[Any]:
        yield self.V0 + self.piston.A * self.piston.x == self.gas.V
        gas, piston = self.gas, self.piston
        moving = 0.5 * piston.m * piston.v**2 + 0.5 * piston.k * piston.x**2
        self.energy = ac.named(gas.mass * gas.c_v * gas.T + moving, unit="J")
        self.invariant = ac.named(gas.T * gas.V ** (gas.R / gas.c_v))


# --- salt basins ------------------------------------------------------------------------------------------------------


@ac.function
def brine_density(salt: Any) -> Any:
    """Density of brine by its mass fraction of salt."""
    return 998.0 + 680.0 * salt + 420.0 * salt**2


class Basin(ac.Component):
    """Equations (2.12a-f), with xs = ms/m (printed is the inverse). The volume is constant: the outflow is what makes it so."""

    V, evaporated = ac.Parameter(50.0, unit="m^3"), ac.Parameter(0.1, unit="kg/s")
    v_in = ac.Input(0.0, unit="m^3/s")
    rho_in, c_in = ac.Input(1000.0, unit="kg/m^3"), ac.Input(0.0, unit="kg/m^3")
    v = ac.Output(unit="m^3/s", start=1e-3, nominal=1e-3)
    rho, c = ac.Output(unit="kg/m^3", start=1000.0, nominal=1e3), ac.Output(unit="kg/m^3", start=20.0, nominal=10.0)
    m, ms = ac.Variable(unit="kg", start=5e4, nominal=1e4), ac.Variable(unit="kg", start=1e3, nominal=1e3)
    xs = ac.Variable(start=0.02, fixed=True, nominal=0.01)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.m) == self.rho_in * self.v_in - self.evaporated - self.rho * self.v
        yield ac.der(self.ms) == self.c_in * self.v_in - self.c * self.v
        yield self.m == self.rho * self.V
        yield self.ms == self.c * self.V
        yield self.xs * self.m == self.ms
        yield self.rho == brine_density(self.xs)


class Basins(ac.Component):
    """Basins in series, the first one fed with weak brine."""

    v0, xs0 = ac.Parameter(2e-3, unit="m^3/s"), ac.Parameter(0.03)

    def __init__(self, n: int) -> None:
        self.basin = ac.array(Basin, n, V=np.linspace(40.0, 60.0, n), xs=ac.start(np.linspace(0.04, 0.1, n), fixed=True))

    def equations(self) -> Iterator[Any]:
        first, rho0 = self.basin[0], brine_density(self.xs0)
        yield first.v_in == self.v0
        yield first.rho_in == rho0
        yield first.c_in == rho0 * self.xs0
        yield self.basin[1:].v_in == self.basin[:-1].v
        yield self.basin[1:].rho_in == self.basin[:-1].rho
        yield self.basin[1:].c_in == self.basin[:-1].c


def basin_outflow(xs: Any, rho: Any, xs_in: Any, rho_in: Any, v_in: Any, evaporated: float = 0.1) -> Any:
    """The volume flow by hand: (2.12c, e, f) differentiated. The printed form has wrong indices, and m' for the evaporation."""
    slope = 680.0 + 840.0 * xs
    return ((rho * rho_in + slope * (xs - xs_in) * rho_in) * v_in - (rho + slope * xs) * evaporated) / rho**2


# --- superheater ------------------------------------------------------------------------------------------------------

VOLUME, M_IN, HEAT = 2.0, 5.0, 1.5e6


def _steam_density(p: float, h: float) -> float:
    """Ideal steam: ρ = p/(R·T), T linear in h."""
    return p / (461.5 * _steam_temperature(h))


def _steam_temperature(h: float) -> float:
    return 600.0 + (h - 3.0e6) / 2200.0


def _steam_density_slopes(p: float, h: float) -> tuple[float, float]:
    T = _steam_temperature(h)
    return 1 / (461.5 * T), -p / (461.5 * T**2) / 2200.0


steam_density = ac.function(opaque=True, derivative=_steam_density_slopes)(_steam_density)


class Superheater(ac.Component):
    """Balances of mass and energy in M and E, an equation of state in p and h that is only known as a function with derivatives."""

    V, heat, h_in = ac.Parameter(VOLUME, unit="m^3"), ac.Parameter(HEAT, unit="W"), ac.Parameter(2.9e6, unit="J/kg")
    m_in, valve = ac.Parameter(M_IN, unit="kg/s"), ac.Parameter(M_IN / 30e5, unit="kg/(s*Pa)")
    M, E = ac.Variable(unit="kg", start=20.0, nominal=10.0), ac.Variable(unit="J", start=6e7, nominal=1e7)
    rho = ac.Variable(unit="kg/m^3", start=10.0, nominal=10.0)
    p = ac.Variable(unit="Pa", start=25e5, fixed=True, nominal=1e6, state="prefer")
    h = ac.Variable(unit="J/kg", start=3.0e6, fixed=True, nominal=1e6, state="prefer")

    def equations(self) -> Iterator[Any]:
        m_out = self.valve * self.p
        self.mass_rate = ac.named(self.m_in - m_out, unit="kg/s")
        self.energy_rate = ac.named(self.heat + self.h_in * self.m_in - self.h * m_out, unit="W")
        yield ac.der(self.M) == self.mass_rate
        yield ac.der(self.E) == self.energy_rate
        yield self.V * self.rho == self.M
        yield self.V * self.rho * self.h == self.E
        yield self.rho == steam_density(self.p, self.h)


def superheater_rates(p: Any, h: Any, mass_rate: Any, energy_rate: Any) -> tuple[Any, Any]:
    """dp/dt and dh/dt as the thesis gives them for p and h as states."""
    rho = _steam_density(p, h)
    g_p, g_h = _steam_density_slopes(p, h)
    dp = (-energy_rate * g_h + (rho + g_h * h) * mass_rate) / (g_p * rho * VOLUME)
    return dp, (energy_rate - h * mass_rate) / (rho * VOLUME)
