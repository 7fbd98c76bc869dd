"""Tanks with a free surface, and layered stores."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import acausal as ac

from ..counts import counted
from ..thermal import HeatPort
from .passages import liquid_only, no_vapour, one_substance, state_at
from .pipes import GRAVITY


class OpenTank(ac.Component):
    """A tank of liquid under a free surface, with `count` ports at the bottom.

    ``dM/dt = sum(m_flow)``, ``M = rho·area·level``; ``port.p = p_surface + rho·g·level`` plus what the port's contraction and
    widening take, ``(zeta_in - 1)·rho·v²/2`` of what comes in and ``(zeta_out + 1)·rho·v²/2`` of what goes out (v in a port of
    `port_diameter`). Energy is that of the liquid at the pressure of its surface; while `p_surface` changes its enthalpy stays, so
    that the liquid cools by 0.02 K with each bar of water that is put on it. States: M and U.
    """

    medium = ac.AnyMedium(doc="the liquid")
    ports: Any
    heat = HeatPort(doc="the wall: its temperature is that of the liquid")
    area = ac.Parameter(1.0, unit="m^2", min=1e-6, doc="cross section of the tank")
    height = ac.Parameter(10.0, unit="m", min=0, doc="height of the tank; above it runs over, which is told")
    port_diameter = ac.Parameter(0.1, unit="m", min=1e-6, doc="diameter of the ports")
    zeta_in = ac.Parameter(1.04, min=0, doc="loss of what flows in, in dynamic pressures")
    zeta_out = ac.Parameter(0.5, min=0, doc="loss of what flows out, in dynamic pressures")
    p_surface = ac.Input(101325.0, unit="Pa", min=0, nominal=1e5, doc="pressure at the surface")
    level_start = ac.Parameter(1.0, unit="m", min=0, doc="level at first")
    T_start = ac.Parameter(293.15, unit="K", min=0, doc="temperature at first")
    m_small = ac.Parameter(1e-3, unit="kg/s", min=1e-9, group="method", doc="flow that is small")
    M = ac.Variable(unit="kg", nominal=1e3, start=1e3, state="always", doc="mass")
    U = ac.Variable(unit="J", nominal=1e7, start=1e7, state="always", doc="enthalpy of the liquid")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=8e4, doc="specific enthalpy")
    level = ac.Variable(unit="m", nominal=1.0, start=1.0, doc="level")

    def __init__(self, count: int = 1) -> None:
        self.ports = ac.FluidPort(shape=counted(count, 1, "A tank has one port or more"), doc="at the bottom")

    def equations(self) -> Iterator[Any]:
        one_substance(self)
        state = state_at(self.medium, self.p_surface, self.h)
        liquid_only(self, state)
        rho, m = state.rho, self.ports.m_flow
        yield self.M == rho * self.area * self.level
        yield self.U == self.M * self.h
        port = pi / 4 * self.port_diameter**2
        squared = m * ac.sqrt(m * m + self.m_small**2)  # with a slope at zero: a flow between two tanks turns there
        comes, goes = (self.zeta_in - 1) * squared, (self.zeta_out + 1) * squared
        dynamic = ac.no_event(ac.where(m > 0, comes, goes)) / (2 * rho * port**2)
        yield self.ports.p == self.p_surface + rho * GRAVITY * self.level + dynamic
        yield self.ports.h.outflow == self.h
        yield self.heat.T == state.T
        yield ac.der(self.M) == ac.sum(m)
        yield ac.der(self.U) == ac.sum(m * self.ports.h.actual) + self.heat.Q_flow
        self.T = ac.named(state.T, unit="K", doc="temperature")

    def initial_equations(self) -> Iterator[Any]:
        start = self.medium.state(p=self.p_surface, T=self.T_start)
        yield self.level == self.level_start
        yield self.h == start.h

    def events(self) -> Iterator[Any]:
        over = "The tank runs over: its level is above its height. Give a larger `height`, or let less come in; it all stays in."
        yield ac.assert_(self.level <= self.height, over, level="warning")
        text = (
            "The tank is empty, and more is drawn from it. Stop what draws (a valve, a pump) while the level is low, or begin with "
            "a larger `level_start`."
        )
        yield ac.assert_(self.level >= 0, text)
        yield from no_vapour(self, state_at(self.medium, self.p_surface, self.h))


class ExpansionVessel(ac.Component):
    """A vessel with a cushion of gas behind a membrane: it takes what the liquid of a closed circuit expands by.

    The gas fills the vessel at `p_gas` and follows ``p·V_gas^n = p_gas·V^n``; n is 1 where it keeps the temperature around it. The
    liquid has mass and energy, ``dU/dt = m_flow·h - p·dV_liquid/dt``. States: p and h of the liquid.
    """

    medium = ac.AnyMedium("water", doc="the liquid")
    port = ac.FluidPort(medium)
    V = ac.Parameter(0.01, unit="m^3", min=1e-9, doc="volume of the vessel")
    p_gas = ac.Parameter(1e5, unit="Pa", min=1.0, doc="pressure of the gas while the vessel holds no liquid")
    n = ac.Parameter(1.0, min=1.0, max=2.0, doc="exponent of the gas: 1 isothermal, 1.4 so fast that air keeps its heat")
    p_start = ac.Parameter(1.5e5, unit="Pa", min=1e-3, doc="pressure at first, above that of the gas alone")
    T_start = ac.Parameter(293.15, unit="K", min=0, doc="temperature at first")
    p = ac.Variable(unit="Pa", nominal=1e5, start=p_start, fixed=True, state="always", doc="pressure")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=1e5, state="always", doc="specific enthalpy of the liquid")
    V_liquid = ac.Variable(unit="m^3", nominal=0.01, start=0.005, state="avoid", doc="volume of the liquid")
    M = ac.Variable(unit="kg", nominal=1.0, start=1.0, state="avoid", doc="mass of the liquid")
    U = ac.Variable(unit="J", nominal=1e5, start=1e5, state="avoid", doc="energy of the liquid")

    def equations(self) -> Iterator[Any]:
        one_substance(self)
        state = state_at(self.medium, self.p, self.h)
        liquid_only(self, state)
        yield self.V_liquid == self.V * (1 - (self.p_gas / self.p) ** (1 / self.n))
        yield self.M == state.rho * self.V_liquid
        yield self.U == self.M * self.h - self.p * self.V_liquid
        yield self.port.p == self.p
        yield self.port.h.outflow == self.h
        yield ac.der(self.M) == self.port.m_flow
        yield ac.der(self.U) == self.port.m_flow * self.port.h.actual - self.p * ac.der(self.V_liquid)
        self.T = ac.named(state.T, unit="K", doc="temperature of the liquid")

    def initial_equations(self) -> Iterator[Any]:
        yield self.h == self.medium.state(p=self.p_start, T=self.T_start).h

    def events(self) -> Iterator[Any]:
        text = (
            "The vessel holds no liquid: the circuit's pressure is below that of its gas. Give a larger `p_start` or a smaller "
            "`p_gas`; during a run more liquid has left the circuit, or has become colder, than it held: give a larger `V`."
        )
        yield ac.assert_(self.p > self.p_gas, text)
        yield from no_vapour(self, state_at(self.medium, self.p, self.h))


UA_LEAST = 1e-9  # W/K: without any loss, nothing would say how warm an ambient is to which nobody connects the store


class StratifiedTank(ac.Component):
    """A store of hot water in `layers` layers of equal volume, from the top (a) to the bottom (b), always full.

    Water moves down while it enters at a, and up while it enters at b. Neighbouring layers exchange heat by conduction, and by
    mixing wherever a lower layer is warmer than the one above it. ``C·dT/dt = flow + conduction + mixing + losses``. State: T
    of each layer. Water that boils is not described: then the run ends, and says so.

    Pressure is the same at a and b: the column of water in it is not counted, `height` is that for conduction. So pipes around it
    have heights that come to nothing from a to b, or none.
    """

    medium = ac.AnyMedium("water", doc="what is stored")
    a, b = ac.FluidPort(medium, doc="at the top"), ac.FluidPort(medium, doc="at the bottom")
    V = ac.Parameter(0.5, unit="m^3", min=1e-12, doc="volume")
    height = ac.Parameter(1.5, unit="m", min=1e-3, doc="height")
    conductivity = ac.Parameter(0.6, unit="W/(m*K)", min=0, doc="of the water and the wall, upright")
    UA = ac.Parameter(2.0, unit="W/K", min=0, doc="losses of the whole store")
    mixing = ac.Parameter(500.0, unit="W/K", min=0, doc="exchange between layers that are upside down")
    p_nominal = ac.Parameter(2e5, unit="Pa", min=1.0, doc="pressure at which properties are taken")
    T_start = ac.Parameter(313.15, unit="K", min=0, doc="temperature at first")
    ambient = HeatPort(doc="what is around it")
    T: Any

    def __init__(self, layers: int = 10) -> None:
        self.layers = layers = counted(layers, 2, "A stratified store has two layers or more", "`fluid.LiquidVolume` is one layer.")
        self.T = ac.Variable(shape=layers, unit="K", nominal=300.0, start=313.15, doc="temperatures, from the top")

    def equations(self) -> Iterator[Any]:
        n, T, a, b = self.layers, self.T, self.a, self.b
        one_substance(self)
        water = self.medium.state(p=self.p_nominal, T=T, **({"phase": "liquid"} if self.medium.evaporates else {}))
        liquid_only(self, water)
        C = self.V / n * water.rho * water.cp
        first, last, inner = (C[0], C[n - 1], C[1:-1]) if C.shape else (C, C, C)  # of constant properties there is one
        down = self.conductivity * (self.V / self.height) / (self.height / n) * (T[:-1] - T[1:])
        upset = ac.no_event(ac.max(T[1:] - T[:-1], 0.0))
        passing = a.m_flow * ac.no_event(ac.where(a.m_flow > 0, water.h[:-1], water.h[1:])) + down - self.mixing * upset
        losses = (self.UA + UA_LEAST) / n * (self.ambient.T - T)
        yield a.m_flow + b.m_flow == 0
        yield a.p == b.p
        yield a.h.outflow == water.h[0]
        yield b.h.outflow == water.h[n - 1]
        yield first * ac.der(T[0]) == a.m_flow * a.h.actual - passing[0] + losses[0]
        yield last * ac.der(T[n - 1]) == b.m_flow * b.h.actual + passing[n - 2] + losses[n - 1]
        if n > 2:
            yield inner * ac.der(T[1:-1]) == passing[:-1] - passing[1:] + losses[1:-1]
        yield self.ambient.Q_flow == ac.sum(losses)

    def initial_equations(self) -> Iterator[Any]:
        yield self.T == self.T_start

    def events(self) -> Iterator[Any]:
        if self.medium.evaporates:
            text = (
                "The store boils: its top layer is as warm as water boils at `p_nominal`. Give a higher `p_nominal` or less heat."
            )
            yield ac.assert_(self.T[0] < self.medium.saturation(p=self.p_nominal).T, text)
