"""Drives with inertia: an induction motor that starts, runs and coasts, at the frequency of the mains or of a converter."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import acausal as ac

from .rotational import Flange


class InductionMotor(ac.Component):
    """A motor with its rotor: ``J·dw/dt = tau + flange.tau``, ``tau = 2·tau_most/(s/s_most + s_most/s)`` (Kloss), with the slip
    ``s = 1 - w/w_0`` against the speed of the field, ``w_0 = 2·pi·frequency/pairs``.

    Connect its `flange` to a compressor, a pump, a fan. While `run` is off it coasts. The electric power is that of the field,
    ``P = tau·w_0``, and `P_losses` while it runs; what is not ``tau·w`` heats the rotor. A converter changes the voltage with the
    frequency up to `rated`, so that torque belongs to the same ``w_0 - w`` whatever the frequency, ``s_most·rated/frequency`` to
    its breakdown; above `rated` the voltage stays, and the breakdown torque falls by ``(rated/frequency)²``. States: phi, w.
    """

    flange = Flange(doc="shaft")
    run = ac.InputStates(on="all", off="any", default="on", doc="whether it is switched on: if everything connected says so")
    frequency = ac.Input(50.0, unit="1/s", min=1.0, doc="of the field")
    pairs = ac.Parameter(1, min=1, doc="pairs of poles")
    rated = ac.Parameter(50.0, unit="1/s", min=1.0, doc="frequency at which it has its full voltage: that of the mains")
    tau_most = ac.Parameter(10.0, unit="N*m", min=0, doc="breakdown torque up to `rated`")
    s_most = ac.Parameter(0.12, min=1e-3, max=1, doc="slip of the breakdown torque, at `rated`")
    J = ac.Parameter(0.01, unit="kg*m^2", min=1e-9, doc="moment of inertia of rotor and what turns with it")
    P_losses = ac.Parameter(30.0, unit="W", min=0, doc="losses of stator and electronics")
    phi = ac.Variable(unit="rad", start=0.0, fixed=True, doc="angle")
    w = ac.Variable(unit="rad/s", nominal=100.0, start=0.0, fixed=True, doc="speed")
    tau = ac.Variable(unit="N*m", nominal=1.0, start=0.0, doc="torque of the field")
    P = ac.Variable(unit="W", nominal=100.0, start=0.0, doc="electric power")

    def equations(self) -> Iterator[Any]:
        field = 2 * pi * self.frequency / self.pairs
        slip, most = 1 - self.w / field, self.s_most * self.rated / self.frequency
        weakened = ac.no_event(ac.min(self.rated / self.frequency, 1.0)) ** 2
        kloss = 2 * self.tau_most * weakened * slip * most / (slip * slip + most**2)
        yield self.flange.phi == self.phi
        yield ac.der(self.phi) == self.w
        yield self.tau == ac.match(self.run, on=kloss, off=0.0)
        yield self.J * ac.der(self.w) == self.tau + self.flange.tau
        yield self.P == self.tau * field + ac.match(self.run, on=self.P_losses, off=0.0)
        self.heat = ac.named(self.P - self.tau * self.w, unit="W", doc="heat of rotor, stator and electronics")
        self.energy = ac.named(0.5 * self.J * self.w**2, unit="J", doc="kinetic energy")
