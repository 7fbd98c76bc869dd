"""Models of fluids that benchmarks and tests share: a closed volume that is heated, and a steady refrigeration cycle."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import acausal as ac


class Volume(ac.Component):
    """A closed volume of fluid, heated and cooled again: states are its mass and its energy."""

    V = ac.Parameter(1e-3, unit="m^3")
    M0 = ac.Parameter(0.4676, unit="kg")
    T0 = ac.Parameter(288.15, unit="K")
    Q = ac.Parameter(100.0, unit="W")
    period = ac.Parameter(300.0, unit="s")
    p = ac.Variable(start=5e6, unit="Pa", nominal=1e6)
    h = ac.Variable(start=3e5, unit="J/kg", nominal=1e5)
    M = ac.Variable(unit="kg", nominal=0.5, state="prefer")
    U = ac.Variable(unit="J", nominal=1e5, state="prefer")
    T = ac.Variable(unit="K", nominal=100.0)

    def __init__(self, medium: Any) -> None:
        self.medium = medium

    def equations(self) -> Iterator[Any]:
        state = self.medium.state(p=self.p, h=self.h)
        yield self.M == self.V * state.rho
        yield self.U == self.M * self.h - self.p * self.V
        yield self.T == state.T
        yield ac.der(self.M) == 0.0
        yield ac.der(self.U) == self.Q * ac.cos(ac.time / self.period)

    def initial_equations(self) -> Iterator[Any]:
        yield self.M == self.M0
        yield self.T == self.T0


class Cycle(ac.Component):
    """A steady vapour compression cycle: evaporator outlet superheated, condenser outlet given, compressor with an efficiency."""

    p_low = ac.Parameter(2e5, unit="Pa")
    p_high = ac.Parameter(1e6, unit="Pa")
    superheat = ac.Parameter(8.0, unit="K")
    T_out = ac.Parameter(300.0, unit="K")  # after the condenser or gas cooler
    efficiency = ac.Parameter(0.7)
    h_suction = ac.Variable(unit="J/kg", nominal=1e5)
    h_discharge = ac.Variable(unit="J/kg", nominal=1e5)
    h_liquid = ac.Variable(unit="J/kg", nominal=1e5)
    COP = ac.Variable()

    def __init__(self, medium: Any) -> None:
        self.medium = medium

    def equations(self) -> Iterator[Any]:
        evaporating = self.medium.saturation(p=self.p_low)
        suction = self.medium.state(p=self.p_low, T=evaporating.T + self.superheat)
        ideal = self.medium.state(p=self.p_high, s=suction.s)
        yield self.h_suction == suction.h
        yield self.efficiency * (self.h_discharge - self.h_suction) == ideal.h - self.h_suction
        yield self.h_liquid == self.medium.state(p=self.p_high, T=self.T_out).h
        yield self.COP == (self.h_suction - self.h_liquid) / (self.h_discharge - self.h_suction)


class RingVolume(ac.Component):
    """A volume of a ring: mass and energy are states."""

    a, b = ac.FluidPort(), ac.FluidPort()
    V = ac.Parameter(1e-3, unit="m^3")
    p = ac.Variable(unit="Pa", nominal=1e5, start=3e5, fixed=True)
    h = ac.Variable(unit="J/kg", nominal=1e5, start=4.2e5, fixed=True)
    M = ac.Variable(unit="kg", nominal=0.01, state="always")
    U = ac.Variable(unit="J", nominal=1e3, state="always")

    def equations(self) -> Iterator[Any]:
        state = self.medium.state(p=self.p, h=self.h)
        yield self.M == self.V * state.rho
        yield self.U == self.M * self.h - self.p * self.V
        yield ac.der(self.M) == self.a.m_flow + self.b.m_flow
        yield ac.der(self.U) == self.a.m_flow * self.a.h.actual + self.b.m_flow * self.b.h.actual
        for port in (self.a, self.b):
            yield port.p == self.p
            yield port.h.outflow == self.h


class RingPipe(ac.Component):
    """A pipe with inertia and friction: the flow swings, and turns."""

    a, b = ac.FluidPort(), ac.FluidPort()
    m = ac.Variable(unit="kg/s", nominal=0.01, start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield self.m == self.a.m_flow
        yield self.a.m_flow + self.b.m_flow == 0
        yield ac.der(self.m) == 1e-4 * (self.a.p - self.b.p) - 0.2 * self.m
        yield self.a.h.outflow == self.b.h.inflow
        yield self.b.h.outflow == self.a.h.inflow


class Ring(ac.Component):
    """Volumes and pipes in a ring, with a wave of pressure at first."""

    def __init__(self, n: int, medium: Any = "R134a") -> None:
        wave = 3e5 + 5e4 * np.sin(10 * np.pi * np.arange(n) / n)
        self.volumes = ac.array(RingVolume, n, medium=medium, p=ac.start(wave, fixed=True))
        self.pipes = ac.array(RingPipe, n)

    def connections(self) -> Iterator[Any]:
        yield self.volumes.b, self.pipes.a
        yield self.pipes[:-1].b, self.volumes[1:].a
        yield self.pipes[-1].b, self.volumes[0].a


def exact_cop(fluid: str, p_low: float, p_high: float, superheat: float, T_out: float, efficiency: float) -> float:
    """The same by CoolProp directly."""
    from CoolProp.CoolProp import PropsSI

    T = PropsSI("T", "P", p_low, "Q", 0, fluid) + superheat
    suction, s = (PropsSI(k, "P", p_low, "T", T, fluid) for k in ("H", "S"))
    ideal = PropsSI("H", "P", p_high, "S", s, fluid)
    liquid = PropsSI("H", "P", p_high, "T", T_out, fluid)
    return float((suction - liquid) / ((ideal - suction) / efficiency))


CYCLES = {
    "R134a": {"p_low": 2e5, "p_high": 1e6, "superheat": 8.0, "T_out": 308.0, "efficiency": 0.7},
    "CO2": {"p_low": 3e6, "p_high": 9e6, "superheat": 5.0, "T_out": 308.15, "efficiency": 0.65},
}


def tespy_cop(fluid: str, p_low: float, p_high: float, superheat: float, T_out: float, efficiency: float) -> float:
    """The same by TESPy, which has to be installed."""
    from CoolProp.CoolProp import PropsSI
    from tespy.components import Compressor, CycleCloser, SimpleHeatExchanger, Valve
    from tespy.connections import Connection
    from tespy.networks import Network

    closer, compressor, cooler = CycleCloser("closer"), Compressor("compressor"), SimpleHeatExchanger("cooler")
    valve, evaporator = Valve("valve"), SimpleHeatExchanger("evaporator")
    parts = [closer, compressor, cooler, valve, evaporator, closer]
    suction, discharge, liquid, mixture, back = (Connection(a, "out1", b, "in1") for a, b in pairwise(parts))
    network = Network(iterinfo=False)
    network.add_conns(suction, discharge, liquid, mixture, back)
    suction.set_attr(fluid={fluid: 1}, m=0.1, p=p_low, T=PropsSI("T", "P", p_low, "Q", 1, fluid) + superheat)
    discharge.set_attr(p=p_high)
    liquid.set_attr(p=p_high, T=T_out)
    mixture.set_attr(p=p_low)
    compressor.set_attr(eta_s=efficiency)
    network.solve("design")
    h = {name: float(c.h.val_SI) for name, c in (("suction", suction), ("discharge", discharge), ("mixture", mixture))}
    return (h["suction"] - h["mixture"]) / (h["discharge"] - h["suction"])
