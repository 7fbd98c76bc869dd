"""Small components that many tests build plants from; written out here so that the tests stand on the language alone."""

from __future__ import annotations

from typing import Any

import numpy as np

import acausal as ac


class Pin(ac.Connector):
    v = ac.Potential(unit="V")
    i = ac.Flow(unit="A")


class TwoPin(ac.Component):
    p, n = Pin(), Pin()
    v = ac.Variable(unit="V", doc="voltage from p to n")

    def equations(self):
        yield self.v == self.p.v - self.n.v
        yield self.p.i + self.n.i == 0


class Resistor(TwoPin):
    R = ac.Parameter(1.0, unit="ohm", min=0, doc="resistance")

    def equations(self):
        yield from super().equations()
        yield self.v == self.R * self.p.i


class Capacitor(TwoPin):
    C = ac.Parameter(1.0, unit="F", min=0)

    def equations(self):
        yield from super().equations()
        yield self.C * ac.der(self.v) == self.p.i


class Inductor(TwoPin):
    L = ac.Parameter(1.0, unit="H", min=0)

    def equations(self):
        yield from super().equations()
        yield self.L * ac.der(self.p.i) == self.v


class VoltageSource(TwoPin):
    V = ac.Parameter(1.0, unit="V")

    def equations(self):
        yield from super().equations()
        yield self.v == self.V


class SineVoltage(TwoPin):
    V = ac.Parameter(1.0, unit="V")
    f = ac.Parameter(0.05, unit="Hz")

    def equations(self):
        yield from super().equations()
        yield self.v == self.V * ac.sin(2 * np.pi * self.f * ac.time)


class CurrentSource(TwoPin):
    I = ac.Parameter(1.0, unit="A")  # noqa: E741

    def equations(self):
        yield from super().equations()
        yield self.p.i == self.I


class Ground(ac.Component):
    p = Pin()

    def equations(self):
        yield self.p.v == 0


class Ladder(ac.Component):
    """The listing of the design, with arrays."""

    def __init__(self, n: int) -> None:
        self.source, self.ground = SineVoltage(), Ground()
        self.R = ac.array(Resistor, n)
        self.C = ac.array(Capacitor, n, v=ac.start(0.0, fixed=True))

    def connections(self):
        yield self.source.p, self.R[0].p
        yield self.R[:-1].n, self.R[1:].p
        yield self.R.n, self.C.p
        yield self.C.n, self.ground.p
        yield self.source.n, self.ground.p


class LadderOfObjects(ac.Component):
    """The same with one Python object per component."""

    def __init__(self, n: int) -> None:
        self.source, self.ground = SineVoltage(), Ground()
        self.R = [Resistor() for _ in range(n)]
        self.C = [Capacitor(v=ac.start(0.0, fixed=True)) for _ in range(n)]

    def connections(self):
        yield self.source.p, self.R[0].p
        for a, b in zip(self.R[:-1], self.R[1:], strict=True):
            yield a.n, b.p
        for r, c in zip(self.R, self.C, strict=True):
            yield r.n, c.p
            yield c.n, self.ground.p
        yield self.source.n, self.ground.p


def flat_ladder(n: int) -> ac.Component:
    """The same flattened by hand: capacitor voltages and resistor currents."""

    def residuals(t: Any, dy: Any, y: Any, x: Any):
        u = [ac.sin(2 * np.pi * 0.05 * t), *y]
        for k in range(n):
            yield x[k] - (u[k] - u[k + 1])
            yield dy[k] - (x[k] - (x[k + 1] if k + 1 < n else 0.0))

    return ac.plain(residuals, y=[0.0] * n, x=[0.0] * n)


class HeatPort(ac.Connector):
    T = ac.Potential(unit="K")
    Q_flow = ac.Flow(unit="W")


class Mass(ac.Component):
    port = HeatPort()
    C = ac.Parameter(1.0, unit="J/K", min=0)
    T = ac.Variable(start=300.0, fixed=True, unit="K")

    def equations(self):
        yield self.T == self.port.T
        yield self.C * ac.der(self.T) == self.port.Q_flow


class Conductor(ac.Component):
    a, b = HeatPort(), HeatPort()
    G = ac.Parameter(1.0, unit="W/K", min=0)

    def equations(self):
        yield self.a.Q_flow == self.G * (self.a.T - self.b.T)
        yield self.a.Q_flow + self.b.Q_flow == 0
        self.loss = ac.named(self.G * (self.a.T - self.b.T), unit="W", doc="heat from a to b")


class Boundary(ac.Component):
    port = HeatPort()
    T = ac.Parameter(293.15, unit="K")

    def equations(self):
        yield self.port.T == self.T


class Pendulum(ac.Component):
    """In x and y: which of them are states changes on the way, and there are no events."""

    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0)
    u, v, F = ac.Variable(), ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.F * self.x
        yield ac.der(self.v) == -self.F * self.y - 9.81
        yield self.x**2 + self.y**2 == 1
