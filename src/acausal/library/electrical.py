"""Analogue electrical circuits: ideal elements, sources, a diode, sensors. Every circuit needs one `Ground`.

Potentials are voltages against ground in V, flows are currents in A. In every two-pin element `i` runs from `p` to `n` inside the
element and `v` is the voltage of `p` over `n`; so `P = v·i` is the power taken from the circuit, and negative for a source at work.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import acausal as ac

from .thermal import HeatPort


class Pin(ac.Connector):
    """A terminal: voltage `v` against ground, current `i` into the component."""

    v = ac.Potential(unit="V", doc="voltage against ground")
    i = ac.Flow(unit="A", doc="current into the component")


class TwoPin(ac.Component):
    """Base of elements with two pins: ``v = p.v - n.v``, ``i = p.i = -n.i``. A subclass adds the relation of v and i."""

    p = Pin(doc="positive pin")
    n = Pin(doc="negative pin")
    v = ac.Variable(unit="V", doc="voltage of p over n")
    i = ac.Variable(unit="A", doc="current from p to n")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.p.v - self.n.v
        yield self.p.i + self.n.i == 0
        yield self.i == self.p.i
        self.P = ac.named(self.v * self.i, unit="W", doc="power taken from the circuit")


class Ground(ac.Component):
    """Zero voltage: ``p.v = 0``. It takes whatever current the rest of the circuit sends."""

    p = Pin()

    def equations(self) -> Iterator[Any]:
        yield self.p.v == 0


# --- passive elements -------------------------------------------------------------------------------------------------


class Resistor(TwoPin):
    """Ohm's law: ``v = R·i``."""

    R = ac.Parameter(1.0, unit="ohm", min=0, doc="resistance")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.v == self.R * self.i


class Conductor(TwoPin):
    """Ohm's law with a conductance: ``i = G·v``. G = 0 is an open circuit, which a resistor cannot be."""

    G = ac.Parameter(1.0, unit="S", min=0, doc="conductance")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.i == self.G * self.v


class HeatingResistor(TwoPin):
    """A resistor that is as warm as its heat port and gives its loss there: ``R_T = R·(1 + alpha·(T - T_ref))``, ``v = R_T·i``."""

    heat_port = HeatPort(doc="where the loss goes")
    R = ac.Parameter(1.0, unit="ohm", min=0, doc="resistance at T_ref")
    T_ref = ac.Parameter(300.0, unit="K", min=0, doc="temperature at which R holds")
    alpha = ac.Parameter(0.0, unit="1/K", doc="temperature coefficient")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        self.R_T = ac.named(self.R * (1 + self.alpha * (self.heat_port.T - self.T_ref)), unit="ohm", doc="resistance now")
        yield self.v == self.R_T * self.i
        yield self.heat_port.Q_flow == -self.v * self.i


class VariableResistor(TwoPin):
    """A resistance that is a signal: ``v = R·i`` with the input R."""

    R = ac.Input(1.0, unit="ohm", min=0, doc="resistance")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.v == self.R * self.i


class NonlinearResistor(TwoPin):
    """Chua's resistor: conductance Ga up to Ve on either side, Gb beyond. ``i = Gb·v + (Ga - Gb)/2·(|v + Ve| - |v - Ve|)``."""

    Ga = ac.Parameter(-0.757576e-3, unit="S", doc="conductance of the inner segment")
    Gb = ac.Parameter(-0.409091e-3, unit="S", doc="conductance of the outer segments")
    Ve = ac.Parameter(1.0, unit="V", min=0, doc="where the segments meet")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        bend = ac.abs(self.v + self.Ve) - ac.abs(self.v - self.Ve)
        yield self.i == self.Gb * self.v + 0.5 * (self.Ga - self.Gb) * bend


class Capacitor(TwoPin):
    """Ideal capacitor: ``C·dv/dt = i``. State: v."""

    C = ac.Parameter(1e-6, unit="F", min=0, doc="capacitance")
    v = ac.Variable(unit="V", start=0.0, doc="voltage of p over n")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.C * ac.der(self.v) == self.i


class Inductor(TwoPin):
    """Ideal inductor: ``L·di/dt = v``. State: i."""

    L = ac.Parameter(1.0, unit="H", min=0, doc="inductance")
    i = ac.Variable(unit="A", start=0.0, doc="current from p to n")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.L * ac.der(self.i) == self.v


class Diode(TwoPin):
    """A smooth diode: ``i = I_s·(e(v/V_t) - 1) + v/R_shunt``.

    e(x) is the exponential up to x = `exponent_limit` and its tangent beyond: the slope is continuous, iterations cannot
    overflow, and there is a series resistance V_t/(I_s·exp(limit)) far in the forward direction.
    """

    I_s = ac.Parameter(1e-6, unit="A", min=0, doc="saturation current")
    V_t = ac.Parameter(0.04, unit="V", min=0, doc="thermal voltage times emission coefficient")
    exponent_limit = ac.Parameter(15.0, min=0, doc="exponent beyond which the curve is a straight line")
    R_shunt = ac.Parameter(1e8, unit="ohm", min=0, doc="parallel resistance")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        x, limit = self.v / self.V_t, self.exponent_limit
        exponential = ac.exp(ac.min(x, limit)) * (1 + ac.max(x - limit, 0.0))
        yield self.i == self.I_s * (exponential - 1) + self.v / self.R_shunt


# --- two ports --------------------------------------------------------------------------------------------------------


class TwoPort(ac.Component):
    """Base of elements with two pairs of pins, a primary (1) and a secondary (2): voltages v1, v2 and currents i1, i2."""

    p1, n1 = Pin(doc="primary, positive"), Pin(doc="primary, negative")
    p2, n2 = Pin(doc="secondary, positive"), Pin(doc="secondary, negative")
    v1, v2 = ac.Variable(unit="V", doc="primary voltage"), ac.Variable(unit="V", doc="secondary voltage")
    i1, i2 = ac.Variable(unit="A", doc="primary current"), ac.Variable(unit="A", doc="secondary current")

    def equations(self) -> Iterator[Any]:
        yield self.v1 == self.p1.v - self.n1.v
        yield self.v2 == self.p2.v - self.n2.v
        yield self.p1.i + self.n1.i == 0
        yield self.p2.i + self.n2.i == 0
        yield self.i1 == self.p1.i
        yield self.i2 == self.p2.i


class IdealTransformer(TwoPort):
    """``v1 = ratio·v2``, ``i2 = -ratio·i1``: no loss, no magnetising current. Both sides need a ground."""

    ratio = ac.Parameter(1.0, doc="turns of the primary over those of the secondary")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.v1 == self.ratio * self.v2
        yield self.i2 == -self.ratio * self.i1


class VoltageControlledVoltage(TwoPort):
    """A voltage source steered by a voltage: ``v2 = gain·v1``, ``i1 = 0``."""

    gain = ac.Parameter(1.0, doc="voltage gain")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.v2 == self.gain * self.v1
        yield self.i1 == 0


class VoltageControlledCurrent(TwoPort):
    """A current source steered by a voltage: ``i2 = transconductance·v1``, ``i1 = 0``."""

    transconductance = ac.Parameter(1.0, unit="S", doc="current over controlling voltage")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.i2 == self.transconductance * self.v1
        yield self.i1 == 0


# --- sources ----------------------------------------------------------------------------------------------------------


class ConstantVoltage(TwoPin):
    """``v = V``."""

    V = ac.Parameter(1.0, unit="V", doc="voltage")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.v == self.V


class SineVoltage(TwoPin):
    """``v = offset + V·sin(2π·f·(t - start_time) + phase)``, held at its first value before `start_time`."""

    V = ac.Parameter(1.0, unit="V", doc="amplitude")
    f = ac.Parameter(50.0, unit="Hz", min=0, doc="frequency")
    phase = ac.Parameter(0.0, unit="rad", doc="phase at start_time")
    offset = ac.Parameter(0.0, unit="V", doc="mean voltage")
    start_time = ac.Parameter(0.0, unit="s", doc="when the oscillation begins")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        elapsed = ac.max(ac.time - self.start_time, 0.0)
        yield self.v == self.offset + self.V * ac.sin(2 * pi * self.f * elapsed + self.phase)


class RampVoltage(TwoPin):
    """From `offset` to `offset + V`, evenly within `duration` from `start_time` on."""

    V = ac.Parameter(1.0, unit="V", doc="height of the ramp")
    duration = ac.Parameter(1.0, unit="s", min=1e-12, doc="length of the ramp")
    offset = ac.Parameter(0.0, unit="V", doc="voltage before the ramp")
    start_time = ac.Parameter(0.0, unit="s", doc="when the ramp begins")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        t, end = ac.time, self.start_time + self.duration
        rising = ac.where(t >= end, self.V, self.V * (t - self.start_time) / self.duration)
        yield self.v == self.offset + ac.where(t >= self.start_time, rising, 0.0)


class SignalVoltage(TwoPin):
    """``v = V`` with the input V."""

    V = ac.Input(0.0, unit="V", doc="voltage")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.v == self.V


class ConstantCurrent(TwoPin):
    """``i = I``: the current I runs through the source from p to n, so it leaves at n."""

    I = ac.Parameter(1.0, unit="A", doc="current")  # noqa: E741

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.i == self.I


class SignalCurrent(TwoPin):
    """``i = I`` with the input I."""

    I = ac.Input(0.0, unit="A", doc="current")  # noqa: E741

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.i == self.I


# --- sensors ----------------------------------------------------------------------------------------------------------


class VoltageSensor(ac.Component):
    """``v = p.v - n.v``, without taking current."""

    p, n = Pin(), Pin()
    v = ac.Output(unit="V", doc="voltage of p over n")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.p.v - self.n.v
        yield self.p.i == 0
        yield self.n.i == 0


class PotentialSensor(ac.Component):
    """``v = p.v``: the voltage against ground, without taking current."""

    p = Pin()
    v = ac.Output(unit="V", doc="voltage against ground")

    def equations(self) -> Iterator[Any]:
        yield self.v == self.p.v
        yield self.p.i == 0


class CurrentSensor(ac.Component):
    """``i = p.i``, put into a line: no voltage falls off over it."""

    p, n = Pin(), Pin()
    i = ac.Output(unit="A", doc="current from p to n")

    def equations(self) -> Iterator[Any]:
        yield self.p.v == self.n.v
        yield self.p.i + self.n.i == 0
        yield self.i == self.p.i


class PowerSensor(ac.Component):
    """``P = v·i`` of what is behind it: the current passes from p to n, the voltage is that of `n` over `v_n`."""

    p, n, v_n = Pin(), Pin(), Pin(doc="return line")
    P = ac.Output(unit="W", doc="power that passes from p to n")

    def equations(self) -> Iterator[Any]:
        yield self.p.v == self.n.v
        yield self.p.i + self.n.i == 0
        yield self.v_n.i == 0
        yield self.P == (self.p.v - self.v_n.v) * self.p.i
