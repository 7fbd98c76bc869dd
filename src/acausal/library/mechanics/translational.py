"""Motion along a line. Potentials are absolute positions in m, flows are forces in N, positive into the component.

A mass carries the states s and v. Springs and dampers join two flanges; velocities there are derivatives of positions, so a node
without a mass works too. Two masses joined rigidly share one position: such models have an index above 1, which is reduced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac


class Flange(ac.Connector):
    """A place where a force acts: absolute position s, force f into the component."""

    s = ac.Potential(unit="m", doc="absolute position")
    f = ac.Flow(unit="N", doc="force into the component")


class Compliant(ac.Component):
    """Base of what joins two flanges without inertia: ``f = b.f = -a.f``, a pull is positive. A subclass adds the law of f.

    `s_rel = b.s - a.s` is the distance of the flanges, `v_rel` its rate.
    """

    a, b = Flange(), Flange()
    f = ac.Variable(unit="N", doc="force between the flanges; a pull is positive")

    def equations(self) -> Iterator[Any]:
        self.s_rel = ac.named(self.b.s - self.a.s, unit="m", doc="distance from a to b")
        yield self.b.f == self.f
        yield self.a.f == -self.f


class Mass(ac.Component):
    """A point mass without friction: ``ds/dt = v``, ``m·dv/dt = a.f + b.f``. States: s, v. For a length, add a `Rod`."""

    a, b = Flange(), Flange()
    m = ac.Parameter(1.0, unit="kg", min=0, doc="mass")
    s = ac.Variable(unit="m", start=0.0, doc="absolute position")
    v = ac.Variable(unit="m/s", start=0.0, doc="absolute velocity")

    def equations(self) -> Iterator[Any]:
        yield self.a.s == self.s
        yield self.b.s == self.s
        yield ac.der(self.s) == self.v
        yield self.m * ac.der(self.v) == self.a.f + self.b.f
        self.energy = ac.named(0.5 * self.m * self.v**2, unit="J", doc="kinetic energy")


class Rod(ac.Component):
    """A rigid rod without mass: ``b.s = a.s + L``, ``a.f + b.f = 0``."""

    a, b = Flange(), Flange()
    L = ac.Parameter(1.0, unit="m", doc="length")

    def equations(self) -> Iterator[Any]:
        yield self.b.s == self.a.s + self.L
        yield self.a.f + self.b.f == 0


class Spring(Compliant):
    """``f = c·(s_rel - s_rel0)``."""

    c = ac.Parameter(1.0, unit="N/m", min=0, doc="stiffness")
    s_rel0 = ac.Parameter(0.0, unit="m", doc="length without force")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.f == self.c * (self.s_rel - self.s_rel0)
        self.energy = ac.named(0.5 * self.c * (self.s_rel - self.s_rel0) ** 2, unit="J", doc="energy stored")


class Damper(Compliant):
    """``f = d·v_rel`` with ``v_rel = d(b.s - a.s)/dt``."""

    d = ac.Parameter(1.0, unit="N*s/m", min=0, doc="damping")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        self.v_rel = ac.named(ac.der(self.b.s - self.a.s), unit="m/s", doc="rate at which the flanges part")
        yield self.f == self.d * self.v_rel


class SpringDamper(Compliant):
    """A spring and a damper side by side: ``f = c·(s_rel - s_rel0) + d·v_rel``."""

    c = ac.Parameter(1.0, unit="N/m", min=0, doc="stiffness")
    d = ac.Parameter(1.0, unit="N*s/m", min=0, doc="damping")
    s_rel0 = ac.Parameter(0.0, unit="m", doc="length without force")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        self.v_rel = ac.named(ac.der(self.b.s - self.a.s), unit="m/s", doc="rate at which the flanges part")
        yield self.f == self.c * (self.s_rel - self.s_rel0) + self.d * self.v_rel


# --- boundaries -------------------------------------------------------------------------------------------------------


class Fixed(ac.Component):
    """``flange.s = s0``, whatever the force."""

    flange = Flange()
    s0 = ac.Parameter(0.0, unit="m", doc="position")

    def equations(self) -> Iterator[Any]:
        yield self.flange.s == self.s0


class Position(ac.Component):
    """``flange.s = s`` with the input s.

    What needs its velocity (a damper, a mass) gets it by differentiating the block that gives s. Data from outside cannot be
    differentiated: give their velocity to a `Speed` instead.
    """

    flange = Flange()
    s = ac.Input(0.0, unit="m", doc="position")

    def equations(self) -> Iterator[Any]:
        yield self.flange.s == self.s


class Speed(ac.Component):
    """``d(flange.s)/dt = v`` with the input v. State: s."""

    flange = Flange()
    v = ac.Input(0.0, unit="m/s", doc="velocity")
    s = ac.Variable(unit="m", start=0.0, doc="position")

    def equations(self) -> Iterator[Any]:
        yield self.flange.s == self.s
        yield ac.der(self.s) == self.v


class Force(ac.Component):
    """The input f acts on what is connected, in the direction of growing s."""

    flange = Flange()
    f = ac.Input(0.0, unit="N", doc="force on what is connected")

    def equations(self) -> Iterator[Any]:
        yield self.flange.f == -self.f


# --- sensors ----------------------------------------------------------------------------------------------------------


class PositionSensor(ac.Component):
    """``s = flange.s``, without a force."""

    flange = Flange()
    s = ac.Output(unit="m", doc="absolute position")

    def equations(self) -> Iterator[Any]:
        yield self.s == self.flange.s
        yield self.flange.f == 0


class SpeedSensor(ac.Component):
    """``v = d(flange.s)/dt``, without a force."""

    flange = Flange()
    v = ac.Output(unit="m/s", doc="absolute velocity")

    def equations(self) -> Iterator[Any]:
        yield self.v == ac.der(self.flange.s)
        yield self.flange.f == 0


class ForceSensor(ac.Component):
    """``f = a.f``, put between two flanges, which it joins rigidly."""

    a, b = Flange(), Flange()
    f = ac.Output(unit="N", doc="force that passes from a to b")

    def equations(self) -> Iterator[Any]:
        yield self.a.s == self.b.s
        yield self.a.f + self.b.f == 0
        yield self.f == self.a.f


class PowerSensor(ac.Component):
    """``P = a.f·d(a.s)/dt``, put between two flanges, which it joins rigidly. Power that flows from a to b is positive."""

    a, b = Flange(), Flange()
    P = ac.Output(unit="W", nominal=100.0, doc="power that passes from a to b")

    def equations(self) -> Iterator[Any]:
        yield self.a.s == self.b.s
        yield self.a.f + self.b.f == 0
        yield self.P == self.a.f * ac.der(self.a.s)
