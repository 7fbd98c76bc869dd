"""Vessels in which liquid and vapour part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import acausal as ac

from ..thermal import HeatPort


class Vessel(ac.Component):
    """Base of vessels in which liquid and vapour part; a subclass says what leaves at b.

    Mass and energy are the states (see `fluid.Volume`). What leaves at a is vapour until the vessel is full. A small loss at
    the inlet parts its pressure from that of what stands before it. `heat` is its shell.
    """

    a, b = ac.FluidPort(doc="inlet at the top"), ac.FluidPort(doc="outlet")
    heat = HeatPort(doc="the shell")
    V = ac.Parameter(1e-3, unit="m^3", min=1e-12, doc="volume")
    dip = ac.Parameter(0.03, min=1e-4, max=0.5, doc="level, as a share of the height, where vapour gets into the outlet")
    charge_start = ac.Parameter(0.4, unit="kg", min=0, doc="refrigerant in it at first")
    T_start = ac.Parameter(293.15, unit="K", min=0, doc="temperature at first")
    dp_inlet = ac.Parameter(5e3, unit="Pa", min=1e-3, doc="pressure lost at the inlet with m_nominal, in proportion to the flow")
    m_nominal = ac.Parameter(0.01, unit="kg/s", min=1e-9, doc="size of the mass flow")
    p = ac.Variable(unit="Pa", nominal=1e5, start=5e5, doc="pressure")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=2.5e5, doc="specific enthalpy")
    M = ac.Variable(unit="kg", nominal=0.1, start=0.4, state="always", doc="mass")
    U = ac.Variable(unit="J", nominal=2e4, start=1e5, state="always", doc="energy")
    level = ac.Variable(start=0.3, doc="volume of liquid over all")

    def equations(self) -> Iterator[Any]:
        state, ends = self.medium.state(p=self.p, h=self.h), self.medium.saturation(p=self.p)
        quality = _share((self.h - ends.liquid.h) / ac.no_event(ac.max(ends.h_evaporation, 1e3)))
        yield self.M == self.V * state.rho
        yield self.U == self.M * self.h - self.p * self.V
        yield self.level == 1 - quality / (quality + (1 - quality) * ends.vapour.rho / ends.liquid.rho)
        yield self.a.m_flow == self.m_nominal / self.dp_inlet * (self.a.p - self.p)
        yield self.b.p == self.p
        liquid, vapour = ac.no_event(ac.min(self.h, ends.liquid.h)), ac.no_event(ac.max(self.h, ends.vapour.h))
        yield self.b.h.outflow == self.leaves(liquid, vapour)
        yield self.a.h.outflow == liquid + _share((1 - self.level) / self.dip) * (vapour - liquid)
        yield self.heat.T == state.T
        yield ac.der(self.M) == self.a.m_flow + self.b.m_flow
        flows = self.a.m_flow * self.a.h.actual + self.b.m_flow * self.b.h.actual
        yield ac.der(self.U) == flows + self.heat.Q_flow
        self.charge = ac.named(self.M, unit="kg", doc="refrigerant in it")
        self.energy = ac.named(self.U, unit="J", doc="energy of the refrigerant")

    @abstractmethod
    def leaves(self, liquid: Any, vapour: Any) -> Any:
        """The enthalpy at b, of what there is of liquid and of vapour."""

    def initial_equations(self) -> Iterator[Any]:
        start = self.medium.state(rho=self.charge_start / self.V, T=self.T_start)
        yield self.p == start.p
        yield self.h == start.h


class Receiver(Vessel):
    """A vessel from which liquid is drawn, at the bottom: vapour gets into the outlet as the level falls below `dip`."""

    def leaves(self, liquid: Any, vapour: Any) -> Any:
        return vapour + _share(self.level / self.dip) * (liquid - vapour)


class Accumulator(Vessel):
    """A vessel before a compressor, from which vapour is drawn at the top; through a hole for oil comes the share `hole` of
    liquid.

    Liquid is carried over when it is full but for `dip`.
    """

    hole = ac.Parameter(0.01, min=0, max=1, doc="share of the mass that leaves as liquid, through the hole for oil")

    def leaves(self, liquid: Any, vapour: Any) -> Any:
        drawn = vapour + self.hole * _share(self.level / self.dip) * (liquid - vapour)
        return liquid + _share((1 - self.level) / self.dip) * (drawn - liquid)


def _share(x: Any) -> Any:
    return ac.no_event(ac.min(ac.max(x, 0.0), 1.0))
