"""Gears and freewheels between rotating shafts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .friction import Sliding
from .rotational import Compliant, Flange


class SupportedGear(ac.Component):
    """A gear in a housing: ``a.phi - support.phi = ratio·(b.phi - support.phi)``; the housing carries ``-(a.tau + b.tau)``."""

    a, b, support = Flange(), Flange(), Flange(doc="the housing")
    ratio = ac.Parameter(1.0, doc="speed at a over speed at b, seen from the housing")

    def equations(self) -> Iterator[Any]:
        yield self.a.phi - self.support.phi == self.ratio * (self.b.phi - self.support.phi)
        yield self.ratio * self.a.tau + self.b.tau == 0
        yield self.a.tau + self.b.tau + self.support.tau == 0


class PlanetaryGear(ac.Component):
    """Sun, carrier and ring (Willis): ``(1 + ratio)·carrier.phi = sun.phi + ratio·ring.phi``, without loss and inertia."""

    sun, carrier, ring = Flange(), Flange(), Flange()
    ratio = ac.Parameter(2.0, min=0, doc="teeth of the ring over teeth of the sun")

    def equations(self) -> Iterator[Any]:
        yield (1 + self.ratio) * self.carrier.phi == self.sun.phi + self.ratio * self.ring.phi
        yield self.ring.tau == self.ratio * self.sun.tau
        yield self.carrier.tau == -(1 + self.ratio) * self.sun.tau


class OneWayClutch(Compliant):
    """A freewheel: a drives b, and b may run ahead of a. ``tau = d·max(w_a - w_b, 0)`` with a large d while it is engaged."""

    d = ac.Parameter(1e4, unit="N*m*s/rad", min=0, doc="how stiffly it holds when a would overtake b")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        w_rel = ac.der(self.a.phi) - ac.der(self.b.phi)
        yield self.tau == -self.d * ac.max(w_rel, 0.0)


class LossyGear(Sliding):
    """A gear that loses power and may hold itself: ``b.tau = -ratio·(a.tau - tau)``, ``a.phi = ratio·b.phi``.

    The friction torque at a is what the efficiency takes of the torque that comes in, from whichever side, and the bearings':
    turning forward ``tau = (1 - eta_a)·a.tau + tau_bearing`` while a drives, ``(1 - 1/eta_b)·a.tau + tau_bearing`` while b does.
    At rest the gear sticks until what drives it exceeds that. (C. Pelchen, C. Schweiger, M. Otter: Modeling and simulating the
    efficiency of gearboxes and of planetary gearboxes, 2nd International Modelica Conference, 2002.)
    """

    a, b = Flange(), Flange()
    ratio = ac.Parameter(1.0, doc="speed at a over speed at b")
    eta_a = ac.Parameter(0.95, min=1e-3, max=1.0, doc="efficiency while a drives")
    eta_b = ac.Parameter(0.95, min=1e-3, max=1.0, doc="efficiency while b drives")
    tau_bearing = ac.Parameter(0.0, unit="N*m", min=0, doc="friction of the bearings, at a")

    def _taken(self, tau: Any) -> Any:
        return ac.max((1 - self.eta_a) * tau, (1 - 1 / self.eta_b) * tau) + self.tau_bearing

    def equations(self) -> Iterator[Any]:
        yield self.a.phi == self.ratio * self.b.phi
        yield self.phi_rel == self.a.phi
        yield self.b.tau == -self.ratio * (self.a.tau - self.tau)
        forward, backward = self._taken(self.a.tau), self._taken(-self.a.tau)
        yield from self.friction_both_ways(False, (forward, backward), (forward, backward))
