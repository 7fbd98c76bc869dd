"""Volumes: fluid that is well mixed, with mass and energy as states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import acausal as ac

from ..counts import counted
from ..thermal import HeatPort
from .passages import checked_fractions, given_enthalpy, given_fractions, refuse_fractions, stored_density, vapour_share


class Volume(ac.Component):
    """A well-mixed volume with `count` ports and a heat port.

    ``dM/dt = sum(m_flow)``, ``dU/dt = sum(m_flow·h) + Q``, with ``M = V·rho(p, h)`` and ``U = M·h - p·V``. States are mass and
    energy, so both are conserved to rounding. The phase may be any, and change: that is an event. At first it holds fluid of
    `p_start` and `h_start`, or of the temperature or vapour quality given instead: ``Volume(2, T_start=350.0)``; gases and moist
    air, whose enthalpy is counted from another zero, are of `T_start` if nothing is given. A liquid whose density does not follow
    its pressure (`ac.media.liquid`) is refused. Of a mixture the mass of each substance is a state, ``d(M·X)/dt = sum(m_flow·X)``,
    from the mass fractions `X_start` on: ``Volume(2, [0.2, 0.8])``.
    """

    medium = ac.AnyMedium(doc="what is in it")
    ports: Any
    heat = HeatPort(doc="the wall: its temperature is that of the fluid")
    V = ac.Parameter(1e-3, unit="m^3", min=1e-12, doc="volume")
    p_start = ac.Parameter(5e5, unit="Pa", min=1e-3, doc="pressure at first")
    h_start = ac.Parameter(3e5, unit="J/kg", doc="specific enthalpy at first")
    T_start = ac.Parameter(300.0, unit="K", min=0, instead_of="h_start", doc="temperature at first")
    x_start = ac.Parameter(0.5, min=0, max=1, instead_of="h_start", doc="vapour quality at first")
    p = ac.Variable(unit="Pa", nominal=1e5, start=p_start, fixed=True, doc="pressure")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=h_start, fixed=True, doc="specific enthalpy")
    M = ac.Variable(unit="kg", nominal=0.1, start=0.1, state="always", doc="mass")
    U = ac.Variable(unit="J", nominal=2e4, start=2e4, state="always", doc="energy")
    T = ac.Variable(unit="K", nominal=100.0, start=300.0, doc="temperature")
    x = ac.OfPhases(doc="vapour quality: the mass of vapour over all, 0 in liquid, 1 in vapour")
    phase = ac.OfPhases(doc="-1 liquid, 0 two phases, 1 vapour")
    X = ac.Fractions(nominal=0.1, start=0.0, doc="mass fractions, of a mixture")
    MX = ac.Fractions(unit="kg", nominal=0.01, start=0.0, state="always", doc="mass of each substance, of a mixture")

    def __init__(self, count: int = 2, X_start: Sequence[float] | None = None) -> None:
        self.ports = ac.FluidPort(shape=counted(count, 0, "A volume has some ports, or none"))
        self.said = given_fractions(X_start, "X_start")

    def equations(self) -> Iterator[Any]:
        refuse_fractions(self.medium, self.said, "X_start")
        mixed = {"X": self.X} if self.medium.substances else {}
        state = self.medium.state(p=self.p, h=self.h, **mixed)
        yield self.M == self.V * stored_density(self, state)
        yield self.U == self.M * self.h - self.p * self.V
        yield self.T == state.T
        if self.medium.evaporates:
            yield self.x == vapour_share(state)
            yield self.phase == state.phase
        yield self.ports.p == self.p
        yield self.ports.h.outflow == self.h
        yield self.heat.T == self.T
        yield ac.der(self.M) == ac.sum(self.ports.m_flow)
        yield ac.der(self.U) == ac.sum(self.ports.m_flow * self.ports.h.actual) + self.heat.Q_flow
        for k in range(len(self.medium.substances)):
            yield self.MX[k] == self.M * self.X[k]
            yield ac.der(self.MX[k]) == ac.sum(self.ports.m_flow * self.ports.X.actual[:, k])
            yield self.ports.X.outflow[:, k] == self.X[k]

    def initial_equations(self) -> Iterator[Any]:
        mixed = {"X": checked_fractions(self.medium, self.said, "X_start")} if self.medium.substances else {}
        for X in mixed.values():
            yield self.X == X
        if self.h_start is None:
            yield self.h == given_enthalpy(self.medium, self.p_start, None, self.T_start, self.x_start, **mixed)


class LiquidVolume(Volume):
    """A volume of liquid: the same balances, with pressure and enthalpy as states.

    Liquid hardly gives way: a millionth of its mass is a pressure of 20 bar, so that mass to some tolerance says nothing about the
    flows between two such volumes. Mass and energy are conserved to the tolerance of the run, not to rounding.
    """

    p_start = ac.Parameter(2e5, unit="Pa", min=1e-3, doc="pressure at first")
    h_start = ac.Parameter(1e5, unit="J/kg", doc="specific enthalpy at first")
    p = ac.Variable(unit="Pa", nominal=1e5, start=p_start, fixed=True, state="always", doc="pressure")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=h_start, fixed=True, state="always", doc="specific enthalpy")
    M = ac.Variable(unit="kg", nominal=1.0, start=1.0, state="avoid", doc="mass")
    U = ac.Variable(unit="J", nominal=1e5, start=1e5, state="avoid", doc="energy")
