"""Compressors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac


class Compressor(ac.Component):
    """A displacement compressor with a volumetric and an isentropic efficiency, that runs or not.

    ``m_flow = eta_volumetric·V_displaced·frequency·speed·rho_suction``, ``h_discharge = h + (h(p_b, s) - h)/eta_isentropic``. A
    check valve keeps gas from coming back while it stands. It speeds up and slows down within some `tau`.
    """

    a, b = ac.FluidPort(doc="suction"), ac.FluidPort(doc="discharge")
    run = ac.InputStates(on="all", off="any", default="on", doc="whether it runs: if everything connected says so")
    V_displaced = ac.Parameter(20e-6, unit="m^3", min=0, doc="displaced volume a turn")
    frequency = ac.Parameter(50.0, unit="1/s", min=0, doc="turns a second")
    eta_volumetric = ac.Parameter(0.85, min=0, max=1, doc="volumetric efficiency")
    eta_isentropic = ac.Parameter(0.65, min=0.01, max=1, doc="isentropic efficiency")
    tau = ac.Parameter(2.0, unit="s", min=1e-3, doc="time to speed up and to slow down")
    speed = ac.Variable(start=0.0, fixed=True, doc="speed, of `frequency`")
    m_flow = ac.Variable(unit="kg/s", nominal=0.01, doc="mass flow")
    h_discharge = ac.Variable(unit="J/kg", nominal=1e5, start=4.5e5, doc="enthalpy of the hot gas")
    P = ac.Variable(unit="W", nominal=100.0, doc="power")

    def equations(self) -> Iterator[Any]:
        suction = self.medium.state(p=self.a.p, h=self.a.h.inflow, phase="any")
        ideal = self.medium.state(p=self.b.p, s=suction.s, phase="any")
        yield self.tau * ac.der(self.speed) == ac.match(self.run, on=1.0, off=0.0) - self.speed
        yield self.m_flow == self.eta_volumetric * self.V_displaced * self.frequency * self.speed * suction.rho
        yield self.h_discharge == suction.h + (ideal.h - suction.h) / self.eta_isentropic
        yield self.P == self.m_flow * (self.h_discharge - suction.h)
        yield self.a.m_flow == self.m_flow
        yield self.b.m_flow == -self.m_flow
        yield self.b.h.outflow == self.h_discharge
        yield self.a.h.outflow == suction.h
