"""Vessels in which liquid and vapour part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import acausal as ac

from ..fluid.two_phase import TwoPhaseVessel, share


class Vessel(TwoPhaseVessel):
    """Base of vessels of refrigeration plants; a subclass says what leaves at b.

    ``dM/dt = sum(m_flow)``, ``dU/dt = sum(m_flow·h) + Q``, ``M = V·rho(p, h)``, ``U = M·h - p·V``: mass and energy are the states
    (see `fluid.Volume`). What leaves at a is vapour until the vessel is full. A small loss at the inlet, ``a.p - p =
    dp_inlet·m_flow/m_nominal``, parts its pressure from that of what stands before it. `heat` is its shell.
    """

    a, b = ac.FluidPort(doc="inlet at the top"), ac.FluidPort(doc="outlet")
    charge_start = ac.Parameter(0.4, unit="kg", min=0, doc="refrigerant in it at first")
    T_start = ac.Parameter(293.15, unit="K", min=0, doc="temperature at first")
    dp_inlet = ac.Parameter(5e3, unit="Pa", min=1e-3, doc="pressure lost at the inlet with m_nominal, in proportion to the flow")
    m_nominal = ac.Parameter(0.01, unit="kg/s", min=1e-9, doc="size of the mass flow")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.a.m_flow == self.m_nominal / self.dp_inlet * (self.a.p - self.p)
        yield self.b.p == self.p
        liquid, vapour = self.phases()
        yield self.b.h.outflow == self.leaves(liquid, vapour)
        yield self.a.h.outflow == liquid + share((1 - self.level) / self.dip) * (vapour - liquid)
        yield from self.balances(self.a, self.b)

    @abstractmethod
    def leaves(self, liquid: Any, vapour: Any) -> Any:
        """The enthalpy at b, of what there is of liquid and of vapour."""

    def initial_equations(self) -> Iterator[Any]:
        start = self.medium.state(rho=self.charge_start / self.V, T=self.T_start)
        yield self.p == start.p
        yield self.h == start.h


class Receiver(Vessel):
    """A vessel from which liquid is drawn, at the bottom: vapour gets into the outlet as the level falls below `dip`, ``h_b = h'' +
    min(level/dip, 1)·(h' - h'')``, h' and h'' those of saturation.
    """

    def leaves(self, liquid: Any, vapour: Any) -> Any:
        return vapour + share(self.level / self.dip) * (liquid - vapour)


class Accumulator(Vessel):
    """A vessel before a compressor, from which vapour is drawn at the top; through a hole for oil comes the share `hole` of
    liquid.

    ``h_b = h'' + hole·min(level/dip, 1)·(h' - h'')``, h' and h'' those of saturation; liquid is carried over when it is full but
    for `dip`.
    """

    hole = ac.Parameter(0.01, min=0, max=1, doc="share of the mass that leaves as liquid, through the hole for oil")

    def leaves(self, liquid: Any, vapour: Any) -> Any:
        drawn = vapour + self.hole * share(self.level / self.dip) * (liquid - vapour)
        return liquid + share((1 - self.level) / self.dip) * (drawn - liquid)
