"""Pipes and vessels in which liquid and vapour flow together or part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

import acausal as ac
from acausal.errors import UsageError

from ..thermal import HeatPort
from .friction import MULTIPLIERS, both_phases, two_phase_loss
from .passages import Passage, entering, one_substance, upwind
from .pipes import GRAVITY, column_density, upset_column


class TwoPhasePipe(Passage):
    """A pipe without storage for fluid in any phase: friction after Churchill in one phase; ``a.p - b.p = friction + rho·g·height``
    with the homogeneous density of what comes; at rest as in `Pipe`.

    In two phases `multiplier` says how the losses of both are put together: "mueller-steinhagen-heck" (between all liquid and all
    vapour), "lockhart-martinelli" (of the liquid part alone, with Chisholm's C = 20) or "homogeneous" (one fluid of the mixture's
    density, and a viscosity by McAdams: ``1/mu = x/mu_v + (1 - x)/mu_l``).
    """

    length = ac.Parameter(1.0, unit="m", min=0, doc="length")
    diameter = ac.Parameter(0.01, unit="m", min=1e-6, doc="inner diameter")
    roughness = ac.Parameter(1.5e-6, unit="m", min=0, doc="height of the wall's roughness")
    height = ac.Parameter(0.0, unit="m", doc="how much higher b is than a")

    def __init__(self, multiplier: str = MULTIPLIERS[0]) -> None:
        if multiplier not in MULTIPLIERS:
            raise UsageError(f"The multiplier of a two-phase pipe is one of {', '.join(MULTIPLIERS)}, not {multiplier!r}.")
        self.multiplier = multiplier

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        forth, back = (self._loss(port) for port in (self.a, self.b))
        yield self.a.p - self.b.p == upwind(self.m_flow, forth, back) + column_density(self) * GRAVITY * self.height

    def events(self) -> Iterator[Any]:
        yield from upset_column(self)

    def _loss(self, port: Any) -> Any:
        """What friction takes of fluid that comes from a port."""
        state, ends = entering(self.medium, port), self.medium.saturation(p=port.p)
        x = (port.h.inflow - ends.liquid.h) / ac.no_event(ac.max(ends.h_evaporation, 1e3))
        sizes = self.length, self.diameter, self.roughness
        return two_phase_loss(self.multiplier, self.m_flow, x, *both_phases(x, state, ends), *sizes)


class TwoPhaseVessel(ac.Component):
    """Base of vessels in which liquid and vapour part. A subclass has ports, says what leaves at them, and balances both states.

    ``M = V·rho(p, h)``, ``U = M·h - p·V``; `level` is the volume of liquid over all, `heat` the shell. The pressure is the same at
    all ports: the column of liquid does not count.
    """

    heat = HeatPort(doc="the shell: its temperature is that of the fluid")
    V = ac.Parameter(1e-3, unit="m^3", min=1e-12, doc="volume")
    dip = ac.Parameter(0.03, min=1e-4, max=0.5, doc="share of the height, at top and bottom, where the other phase gets out, too")
    p = ac.Variable(unit="Pa", nominal=1e5, start=5e5, doc="pressure")
    h = ac.Variable(unit="J/kg", nominal=1e5, start=2.5e5, doc="specific enthalpy")
    M = ac.Variable(unit="kg", nominal=0.1, start=0.4, state="always", doc="mass")
    U = ac.Variable(unit="J", nominal=2e4, start=1e5, state="always", doc="energy")
    level = ac.Output(start=0.5, doc="volume of liquid over all")

    @abstractmethod
    def equations(self) -> Iterator[Any]:
        one_substance(self)
        state, ends = self.medium.state(p=self.p, h=self.h), self.medium.saturation(p=self.p)
        x = share((self.h - ends.liquid.h) / ac.no_event(ac.max(ends.h_evaporation, 1e3)))
        yield self.M == self.V * state.rho
        yield self.U == self.M * self.h - self.p * self.V
        yield self.level == 1 - x / (x + (1 - x) * ends.vapour.rho / ends.liquid.rho)
        yield self.heat.T == state.T
        self.charge = ac.named(self.M, unit="kg", doc="fluid in it")
        self.energy = ac.named(self.U, unit="J", doc="energy of the fluid")

    def phases(self) -> tuple[Any, Any]:
        """Enthalpies of liquid and of vapour in it; where there is one phase only, both are its own."""
        ends = self.medium.saturation(p=self.p)
        return ac.no_event(ac.min(self.h, ends.liquid.h)), ac.no_event(ac.max(self.h, ends.vapour.h))

    def balances(self, *ports: Any) -> Iterator[Any]:
        """Of mass and energy."""
        yield ac.der(self.M) == ac.sum([port.m_flow for port in ports])
        yield ac.der(self.U) == ac.sum([port.m_flow * port.h.actual for port in ports]) + self.heat.Q_flow


class Separator(TwoPhaseVessel):
    """A vessel that parts liquid and vapour: a liquid separator, an intermediate vessel.

    What comes in at `inlet` settles; `vapour` is drawn from the top and `liquid` from the bottom, each as the other when there is
    no more of it within `dip` of the height: ``h_liquid = h'' + min(level/dip, 1)·(h' - h'')`` and ``h_vapour = h' + min((1 -
    level)/dip, 1)·(h'' - h')``, h' and h'' those of saturation, or of what is in it where that has one phase. ``dM/dt =
    sum(m_flow)``, ``dU/dt = sum(m_flow·h) + Q``, ``M = V·rho(p, h)``, ``U = M·h - p·V``: mass and energy are the states (see
    `fluid.Volume`). `heat` is its shell. `level`, the volume of liquid over all, is ``1 - x/(x + (1 -
    x)·rho''/rho')``.
    """

    inlet, liquid, vapour = (
        ac.FluidPort(doc="what is to be parted"),
        ac.FluidPort(doc="at the bottom"),
        ac.FluidPort(doc="at the top"),
    )
    p_start = ac.Parameter(5e5, unit="Pa", min=1e-3, doc="pressure at first")
    level_start = ac.Parameter(0.5, min=0, max=1, doc="level at first: it is saturated")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        wet, dry = self.phases()
        yield self.liquid.h.outflow == dry + share(self.level / self.dip) * (wet - dry)
        yield self.vapour.h.outflow == wet + share((1 - self.level) / self.dip) * (dry - wet)
        yield self.inlet.h.outflow == self.h
        ports = (self.inlet, self.liquid, self.vapour)
        for port in ports:
            yield port.p == self.p
        yield from self.balances(*ports, *self.more_ports())

    def more_ports(self) -> tuple[Any, ...]:
        """Ports of a subclass at which something comes in, too."""
        return ()

    def initial_equations(self) -> Iterator[Any]:
        ends = self.medium.saturation(p=self.p_start)
        rho = self.level_start * ends.liquid.rho + (1 - self.level_start) * ends.vapour.rho
        mixed = self.level_start * ends.liquid.rho * ends.liquid.h + (1 - self.level_start) * ends.vapour.rho * ends.vapour.h
        yield self.p == self.p_start
        yield self.h == mixed / rho

    def events(self) -> Iterator[Any]:
        highest = f"{self.medium.p_critical / 1e5:.1f} bar of {self.medium.name}"
        what = type(self).__name__
        text = f"`{what}` begins with a level, and there is none above the critical {highest}: give a smaller `p_start`."
        yield ac.assert_(self.p_start < self.medium.p_critical, text)


_ANGLE = np.linspace(0.0, pi, 201)  # from the lowest line of a lying cylinder to where the surface of its liquid meets the wall
HEIGHT = ac.Table((_ANGLE - np.sin(_ANGLE) * np.cos(_ANGLE)) / pi, (1 - np.cos(_ANGLE)) / 2, name="height over share of volume")


class Drum(Separator):
    """A steam drum: a lying cylinder that parts what comes from the risers at `inlet`, takes water at `feed`, gives water to the
    downcomers at `liquid` and steam at `vapour`.

    The balances are those of `Separator`, with a port more: ``dM/dt = sum(m_flow)``, ``dU/dt = sum(m_flow·h) + Q``, ``V =
    pi/4·diameter²·length``. `water` is the height of the water above the lowest line: with the angle b from there to where its
    surface meets the wall, ``water = diameter/2·(1 - cos(b))`` and ``level = (b - sin(b)·cos(b))/pi``. Bubbles below the surface
    are not counted, nor is the pressure of the water's column. The metal is a `thermal.HeatCapacitor` at `heat`, behind a
    `thermal.ThermalConductor`.
    """

    feed = ac.FluidPort(doc="feed water")
    diameter = ac.Parameter(1.0, unit="m", min=1e-3, doc="inner diameter")
    length = ac.Parameter(3.0, unit="m", min=1e-3, doc="length")
    V = ac.Variable(unit="m^3", start=2.0, doc="volume")
    p_start = ac.Parameter(50e5, unit="Pa", min=1e-3, doc="pressure at first")
    water = ac.Output(unit="m", start=0.5, doc="height of the water")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.feed.p == self.p
        yield self.feed.h.outflow == self.h
        yield self.V == pi / 4 * self.diameter**2 * self.length
        yield self.water == self.diameter * HEIGHT(self.level)

    def more_ports(self) -> tuple[Any, ...]:
        return (self.feed,)


def share(x: Any) -> Any:
    """x between 0 and 1, without an event."""
    return ac.no_event(ac.min(ac.max(x, 0.0), 1.0))
