"""The benchmark models as a user writes them: components and connections.

`chain` is the heat chain that C and the peers solve as well; `ladder` is the RC ladder of the design's listing, once with
arrays of components and once with one Python object per component.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import acausal as ac

Equations = Iterator[Any]
Connections = Iterator[tuple[Any, Any]]


class HeatPort(ac.Connector):
    T = ac.Potential(unit="K")
    Q_flow = ac.Flow(unit="W")


class OscillatingTemperature(ac.Component):
    """The chain's inlet, T_0 = 300 + 50 sin(0.1 t)."""

    port = HeatPort()
    T_mean = ac.Parameter(300.0, unit="K")
    amplitude = ac.Parameter(50.0, unit="K")
    omega = ac.Parameter(0.1, unit="rad/s")

    def equations(self) -> Equations:
        yield self.T_mean + self.amplitude * ac.sin(self.omega * ac.time) == self.port.T


class Conductor(ac.Component):
    """Heat flow from a to b, with a conductance that grows with the temperature at a."""

    a, b = HeatPort(), HeatPort()
    G = ac.Parameter(10.0, unit="W/K")
    slope = ac.Parameter(0.001, unit="1/K")

    def equations(self) -> Equations:
        yield self.a.Q_flow + self.b.Q_flow == 0
        yield self.a.Q_flow == self.G * (1 + self.slope * self.a.T) * (self.a.T - self.b.T)


class Cell(ac.Component):
    """A heat capacity with a port on either side."""

    left, right = HeatPort(), HeatPort()
    C = ac.Parameter(100.0, unit="J/K")
    T = ac.Variable(unit="K", start=290.0, fixed=True)

    def equations(self) -> Equations:
        yield self.left.T == self.T
        yield self.right.T == self.T
        yield self.C * ac.der(self.T) == self.left.Q_flow + self.right.Q_flow


class ConvectiveLoss(ac.Component):
    """The chain's far end: q = 0.1 u sqrt(1 + |u|) with u = T - 290."""

    port = HeatPort()
    T_ambient = ac.Parameter(290.0, unit="K")

    def equations(self) -> Equations:
        u = self.port.T - self.T_ambient
        yield self.port.Q_flow == 0.1 * u * ac.sqrt(1 + ac.no_event(ac.abs(u)))


class Chain(ac.Component):
    def __init__(self, n: int) -> None:
        self.inlet, self.loss = OscillatingTemperature(), ConvectiveLoss()
        self.conductor = ac.array(Conductor, n)
        self.cell = ac.array(Cell, n)

    def connections(self) -> Connections:
        yield self.inlet.port, self.conductor[0].a
        yield self.conductor.b, self.cell.left
        yield self.cell[:-1].right, self.conductor[1:].a
        yield self.cell[-1].right, self.loss.port


class Pin(ac.Connector):
    v = ac.Potential(unit="V")
    i = ac.Flow(unit="A")


class TwoPin(ac.Component):
    p, n = Pin(), Pin()
    v = ac.Variable(unit="V")

    def equations(self) -> Equations:
        yield self.v == self.p.v - self.n.v
        yield self.p.i + self.n.i == 0


class Resistor(TwoPin):
    R = ac.Parameter(1.0, unit="ohm")

    def equations(self) -> Equations:
        yield from super().equations()
        yield self.v == self.R * self.p.i


class Capacitor(TwoPin):
    C = ac.Parameter(1.0, unit="F")
    v = ac.Variable(unit="V", start=0.0, fixed=True)

    def equations(self) -> Equations:
        yield from super().equations()
        yield self.C * ac.der(self.v) == self.p.i


class SineVoltage(TwoPin):
    V = ac.Parameter(1.0, unit="V")
    f = ac.Parameter(0.05, unit="Hz")

    def equations(self) -> Equations:
        yield from super().equations()
        yield self.v == self.V * ac.sin(2 * math.pi * self.f * ac.time)


class Ground(ac.Component):
    p = Pin()

    def equations(self) -> Equations:
        yield self.p.v == 0


class Ladder(ac.Component):
    """n resistors in a row, a capacitor to ground behind each: arrays of components."""

    def __init__(self, n: int) -> None:
        self.source, self.ground = SineVoltage(V=1.0, f=0.05), Ground()
        self.R = ac.array(Resistor, n, R=1.0)
        self.C = ac.array(Capacitor, n, C=1.0)

    def connections(self) -> Connections:
        yield self.source.p, self.R[0].p
        yield self.R[:-1].n, self.R[1:].p
        yield self.R.n, self.C.p
        yield self.C.n, self.ground.p
        yield self.source.n, self.ground.p


class LadderOfObjects(ac.Component):
    """The same circuit with one Python object per component and one connection at a time."""

    def __init__(self, n: int) -> None:
        self.source, self.ground = SineVoltage(V=1.0, f=0.05), Ground()
        self.R = [Resistor(R=1.0) for _ in range(n)]
        self.C = [Capacitor(C=1.0) for _ in range(n)]

    def connections(self) -> Connections:
        yield self.source.p, self.R[0].p
        for before, behind in zip(self.R[:-1], self.R[1:], strict=True):
            yield before.n, behind.p
        for resistor, capacitor in zip(self.R, self.C, strict=True):
            yield resistor.n, capacitor.p
            yield capacitor.n, self.ground.p
        yield self.source.n, self.ground.p


def chain(n: int) -> ac.Component:
    return Chain(n)


def ladder(n: int) -> ac.Component:
    return Ladder(n)


def ladder_objects(n: int) -> ac.Component:
    return LadderOfObjects(n)
