"""Parts of electronic circuits: operational amplifiers, an inductor that saturates, a diode that gets warm, a two-way switch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .electrical import Pin, TwoPin
from .thermal import HeatPort

BOLTZMANN_OVER_CHARGE = 1.380649e-23 / 1.602176634e-19  # V/K, exact in the SI of 2019


class OpAmp(ac.Component):
    """An ideal operational amplifier: no voltage and no current at its inputs, whatever current at its output (a nullor).

    It has to be fed back; `LimitedOpAmp` also works without.
    """

    in_p, in_n, out = Pin(doc="non-inverting input"), Pin(doc="inverting input"), Pin(doc="output, against ground")

    def equations(self) -> Iterator[Any]:
        yield self.in_p.v == self.in_n.v
        yield self.in_p.i == 0
        yield self.in_n.i == 0


class LimitedOpAmp(ac.Component):
    """An operational amplifier with a finite gain between its supplies: ``out.v = gain·(in_p.v - in_n.v)``, limited."""

    in_p, in_n, out = Pin(doc="non-inverting input"), Pin(doc="inverting input"), Pin(doc="output, against ground")
    gain = ac.Parameter(1e5, min=1, doc="gain without feedback")
    v_max = ac.Parameter(15.0, unit="V", doc="highest output")
    v_min = ac.Parameter(-15.0, unit="V", doc="lowest output")

    def equations(self) -> Iterator[Any]:
        yield self.out.v == ac.max(self.v_min, ac.min(self.v_max, self.gain * (self.in_p.v - self.in_n.v)))
        yield self.in_p.i == 0
        yield self.in_n.i == 0


class SaturatingInductor(TwoPin):
    """An inductor whose core saturates: ``psi = L_far·i + (L - L_far)·I_sat·tanh(i/I_sat)``, ``v = dpsi/dt``. State: i or psi."""

    L = ac.Parameter(1.0, unit="H", min=0, doc="inductance at small currents")
    L_far = ac.Parameter(0.1, unit="H", min=0, doc="inductance far in saturation")
    I_sat = ac.Parameter(1.0, unit="A", min=1e-12, doc="current around which it saturates")
    i = ac.Variable(unit="A", start=0.0, doc="current from p to n")
    psi = ac.Variable(unit="Wb", doc="linked flux")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.psi == self.L_far * self.i + (self.L - self.L_far) * self.I_sat * ac.tanh(self.i / self.I_sat)
        yield ac.der(self.psi) == self.v


class HeatingDiode(TwoPin):
    """A diode as warm as its heat port, where its loss goes: ``i = I_s(T)·(e(v/(N·V_t)) - 1) + v/R_shunt`` with ``V_t = k·T/q``.

    The saturation current follows ``I_s(T) = I_s·(T/T_ref)^(xti/N)·exp(E_g/N·(1/V_t(T_ref) - 1/V_t))`` (SPICE). e(x) is the
    exponential up to `exponent_limit` and its tangent beyond, so that iterations cannot overflow.
    """

    heat_port = HeatPort(doc="where the loss goes")
    I_s = ac.Parameter(1e-14, unit="A", min=0, doc="saturation current at T_ref")
    N = ac.Parameter(1.0, min=0.1, doc="emission coefficient")
    T_ref = ac.Parameter(300.15, unit="K", min=1, doc="temperature at which I_s holds")
    E_g = ac.Parameter(1.11, unit="V", min=0, doc="band gap, over the elementary charge")
    xti = ac.Parameter(3.0, doc="exponent of the saturation current")
    exponent_limit = ac.Parameter(40.0, min=0, doc="exponent beyond which the curve is a straight line")
    R_shunt = ac.Parameter(1e9, unit="ohm", min=0, doc="parallel resistance")
    k_q = ac.Constant(BOLTZMANN_OVER_CHARGE, unit="V/K", doc="Boltzmann's constant over the elementary charge")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        T = self.heat_port.T
        warm, cold = self.k_q * T, self.k_q * self.T_ref
        grown = (T / self.T_ref) ** (self.xti / self.N) * ac.exp(self.E_g / self.N * (1 / cold - 1 / warm))
        x, limit = self.v / (self.N * warm), self.exponent_limit
        exponential = ac.exp(ac.min(x, limit)) * (1 + ac.max(x - limit, 0.0))
        yield self.i == self.I_s * grown * (exponential - 1) + self.v / self.R_shunt
        yield self.heat_port.Q_flow == -self.v * self.i


class TwoWaySwitch(ac.Component):
    """Joins p with n2 while the input `control` is above 0.5, else with n1. With Ron = Goff = 0 it is exact."""

    p, n1, n2 = Pin(doc="the common pin"), Pin(doc="joined while off"), Pin(doc="joined while on")
    Ron = ac.Parameter(1e-5, unit="ohm", min=0, doc="resistance of the way that is closed")
    Goff = ac.Parameter(1e-5, unit="S", min=0, doc="conductance of the way that is open")
    ohm = ac.Constant(1.0, unit="ohm", doc="makes a voltage of the current, so that the two can be compared")
    control = ac.Input(0.0, doc="a signal that is high above 0.5")

    def equations(self) -> Iterator[Any]:
        on = self.control > 0.5
        for pin, closed in ((self.n1, ~on), (self.n2, on)):
            v, i = self.p.v - pin.v, -pin.i
            yield ac.where(closed, v - self.Ron * i, self.ohm * (i - self.Goff * v)) == 0
        yield self.p.i + self.n1.i + self.n2.i == 0
