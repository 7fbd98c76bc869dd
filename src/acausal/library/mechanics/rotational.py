"""Rotation about an axis. Potentials are absolute angles in rad, flows are torques in N·m, positive into the component.

An inertia carries the states phi and w. Springs and dampers join two flanges; speeds there are derivatives of angles, so a node
without an inertia works too. Two inertias joined rigidly (also by a gear) share one angle: such models have an index above 1, which
is reduced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac


class Flange(ac.Connector):
    """The end of a shaft: absolute angle phi, torque tau into the component."""

    phi = ac.Potential(unit="rad", doc="absolute angle")
    tau = ac.Flow(unit="N*m", doc="torque into the component")


class Compliant(ac.Component):
    """Base of what joins two flanges without inertia: ``tau = b.tau = -a.tau``. A subclass adds the law of tau.

    `phi_rel = b.phi - a.phi` is the angle of the flanges to each other, `w_rel` its rate.
    """

    a, b = Flange(), Flange()
    tau = ac.Variable(unit="N*m", doc="torque between the flanges")

    def equations(self) -> Iterator[Any]:
        self.phi_rel = ac.named(self.b.phi - self.a.phi, unit="rad", doc="angle of b against a")
        yield self.b.tau == self.tau
        yield self.a.tau == -self.tau


class Inertia(ac.Component):
    """A rigid body on a shaft: ``dphi/dt = w``, ``J·dw/dt = a.tau + b.tau``. States: phi, w."""

    a, b = Flange(), Flange()
    J = ac.Parameter(1.0, unit="kg*m^2", min=0, doc="moment of inertia")
    phi = ac.Variable(unit="rad", start=0.0, doc="absolute angle")
    w = ac.Variable(unit="rad/s", start=0.0, doc="absolute angular velocity")

    def equations(self) -> Iterator[Any]:
        yield self.a.phi == self.phi
        yield self.b.phi == self.phi
        yield ac.der(self.phi) == self.w
        yield self.J * ac.der(self.w) == self.a.tau + self.b.tau
        self.energy = ac.named(0.5 * self.J * self.w**2, unit="J", doc="kinetic energy")


class Spring(Compliant):
    """``tau = c·(phi_rel - phi_rel0)``."""

    c = ac.Parameter(1.0, unit="N*m/rad", min=0, doc="stiffness")
    phi_rel0 = ac.Parameter(0.0, unit="rad", doc="angle without torque")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.tau == self.c * (self.phi_rel - self.phi_rel0)
        self.energy = ac.named(0.5 * self.c * (self.phi_rel - self.phi_rel0) ** 2, unit="J", doc="energy stored")


class Damper(Compliant):
    """``tau = d·w_rel`` with ``w_rel = d(b.phi - a.phi)/dt``."""

    d = ac.Parameter(1.0, unit="N*m*s/rad", min=0, doc="damping")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        self.w_rel = ac.named(ac.der(self.b.phi - self.a.phi), unit="rad/s", doc="speed of b against a")
        yield self.tau == self.d * self.w_rel


class SpringDamper(Compliant):
    """A spring and a damper side by side, such as an elastic shaft: ``tau = c·(phi_rel - phi_rel0) + d·w_rel``."""

    c = ac.Parameter(1.0, unit="N*m/rad", min=0, doc="stiffness")
    d = ac.Parameter(1.0, unit="N*m*s/rad", min=0, doc="damping")
    phi_rel0 = ac.Parameter(0.0, unit="rad", doc="angle without torque")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        self.w_rel = ac.named(ac.der(self.b.phi - self.a.phi), unit="rad/s", doc="speed of b against a")
        yield self.tau == self.c * (self.phi_rel - self.phi_rel0) + self.d * self.w_rel


class IdealGear(ac.Component):
    """``a.phi = ratio·b.phi``, ``ratio·a.tau + b.tau = 0``: no loss, no inertia, no support.

    Between two inertias it ties their states to each other (an index above 1, which is reduced).
    """

    a, b = Flange(), Flange()
    ratio = ac.Parameter(1.0, doc="speed at a over speed at b")

    def equations(self) -> Iterator[Any]:
        yield self.a.phi == self.ratio * self.b.phi
        yield self.ratio * self.a.tau + self.b.tau == 0


# --- boundaries -------------------------------------------------------------------------------------------------------


class Fixed(ac.Component):
    """``flange.phi = phi0``, whatever the torque."""

    flange = Flange()
    phi0 = ac.Parameter(0.0, unit="rad", doc="angle")

    def equations(self) -> Iterator[Any]:
        yield self.flange.phi == self.phi0


class Position(ac.Component):
    """``flange.phi = phi`` with the input phi.

    What needs its speed (a damper, an inertia) gets it by differentiating the block that gives phi. Data from outside cannot be
    differentiated: give their speed to a `Speed` instead.
    """

    flange = Flange()
    phi = ac.Input(0.0, unit="rad", doc="angle")

    def equations(self) -> Iterator[Any]:
        yield self.flange.phi == self.phi


class Speed(ac.Component):
    """``d(flange.phi)/dt = w`` with the input w. State: phi."""

    flange = Flange()
    w = ac.Input(0.0, unit="rad/s", doc="angular velocity")
    phi = ac.Variable(unit="rad", start=0.0, doc="angle")

    def equations(self) -> Iterator[Any]:
        yield self.flange.phi == self.phi
        yield ac.der(self.phi) == self.w


class Torque(ac.Component):
    """The input tau acts on what is connected, in the direction of growing phi."""

    flange = Flange()
    tau = ac.Input(0.0, unit="N*m", doc="torque on what is connected")

    def equations(self) -> Iterator[Any]:
        yield self.flange.tau == -self.tau


class QuadraticLoad(ac.Component):
    """A fan or pump: it brakes with ``tau_nominal·(w/w_nominal)·|w/w_nominal|``, w the speed of its flange."""

    flange = Flange()
    tau_nominal = ac.Parameter(1.0, unit="N*m", min=0, doc="torque at w_nominal")
    w_nominal = ac.Parameter(100.0, unit="rad/s", min=1e-9, doc="speed at which tau_nominal holds")

    def equations(self) -> Iterator[Any]:
        x = ac.der(self.flange.phi) / self.w_nominal
        yield self.flange.tau == self.tau_nominal * x * ac.abs(x)


# --- sensors ----------------------------------------------------------------------------------------------------------


class AngleSensor(ac.Component):
    """``phi = flange.phi``, without a torque."""

    flange = Flange()
    phi = ac.Output(unit="rad", doc="absolute angle")

    def equations(self) -> Iterator[Any]:
        yield self.phi == self.flange.phi
        yield self.flange.tau == 0


class SpeedSensor(ac.Component):
    """``w = d(flange.phi)/dt``, without a torque."""

    flange = Flange()
    w = ac.Output(unit="rad/s", doc="absolute angular velocity")

    def equations(self) -> Iterator[Any]:
        yield self.w == ac.der(self.flange.phi)
        yield self.flange.tau == 0


class TorqueSensor(ac.Component):
    """``tau = a.tau``, put between two flanges, which it joins rigidly."""

    a, b = Flange(), Flange()
    tau = ac.Output(unit="N*m", doc="torque that passes from a to b")

    def equations(self) -> Iterator[Any]:
        yield self.a.phi == self.b.phi
        yield self.a.tau + self.b.tau == 0
        yield self.tau == self.a.tau


class PowerSensor(ac.Component):
    """``P = a.tau·d(a.phi)/dt``, put between two flanges, which it joins rigidly: what a drive gives to a machine behind it.

    Power that flows from a to b is positive; while a machine at b drives what is at a, it is negative.
    """

    a, b = Flange(), Flange()
    P = ac.Output(unit="W", nominal=100.0, doc="power that passes from a to b")

    def equations(self) -> Iterator[Any]:
        yield self.a.phi == self.b.phi
        yield self.a.tau + self.b.tau == 0
        yield self.P == self.a.tau * ac.der(self.a.phi)
