"""Volumes: fluid that is well mixed, with mass and energy as states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from ..thermal import HeatPort


class Volume(ac.Component):
    """A well-mixed volume with `count` ports and a heat port.

    ``dM/dt = sum(m_flow)``, ``dU/dt = sum(m_flow·h) + Q``, with ``M = V·rho(p, h)`` and ``U = M·h - p·V``. States are mass and
    energy, so both are conserved to rounding. The phase may be any, and change: that is an event. At first it holds fluid of
    `p_start` and `h_start`.
    """

    medium = ac.AnyMedium(doc="what is in it")
    ports: Any
    heat = HeatPort(doc="the wall: its temperature is that of the fluid")
    V = ac.Parameter(1e-3, unit="m^3", min=1e-12, doc="volume")
    p_start = ac.Parameter(5e5, unit="Pa", min=0, doc="pressure at first")
    h_start = ac.Parameter(3e5, unit="J/kg", doc="specific enthalpy at first")
    p = ac.Variable(unit="Pa", nominal=1e5, start=p_start, fixed=True, doc="pressure")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=h_start, fixed=True, doc="specific enthalpy")
    M = ac.Variable(unit="kg", nominal=0.1, start=0.1, state="always", doc="mass")
    U = ac.Variable(unit="J", nominal=2e4, start=2e4, state="always", doc="energy")
    T = ac.Variable(unit="K", nominal=100.0, start=300.0, doc="temperature")

    def __init__(self, count: int = 2) -> None:
        self.ports = ac.FluidPort(shape=count)

    def equations(self) -> Iterator[Any]:
        state = self.medium.state(p=self.p, h=self.h)
        yield self.M == self.V * state.rho
        yield self.U == self.M * self.h - self.p * self.V
        yield self.T == state.T
        yield self.ports.p == self.p
        yield self.ports.h.outflow == self.h
        yield self.heat.T == self.T
        yield ac.der(self.M) == ac.sum(self.ports.m_flow)
        yield ac.der(self.U) == ac.sum(self.ports.m_flow * self.ports.h.actual) + self.heat.Q_flow


class LiquidVolume(Volume):
    """A volume of liquid: the same balances, with pressure and enthalpy as states.

    Liquid hardly gives way: a millionth of its mass is a pressure of 20 bar, so that mass to some tolerance says nothing about the
    flows between two such volumes. Mass and energy are conserved to the tolerance of the run, not to rounding.
    """

    p_start = ac.Parameter(2e5, unit="Pa", min=0, doc="pressure at first")
    h_start = ac.Parameter(1e5, unit="J/kg", doc="specific enthalpy at first")
    p = ac.Variable(unit="Pa", nominal=1e5, start=p_start, fixed=True, state="always", doc="pressure")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=h_start, fixed=True, state="always", doc="specific enthalpy")
    M = ac.Variable(unit="kg", nominal=1.0, start=1.0, state="avoid", doc="mass")
    U = ac.Variable(unit="J", nominal=1e5, start=1e5, state="avoid", doc="energy")
