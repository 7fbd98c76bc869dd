"""Models with a known answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac
from acausal.library.electrical import Capacitor, ConstantVoltage, Ground, Resistor


class TwoCapacitors(ac.Component):
    """A source charges two capacitors in parallel through a resistor: index 2, one state with two names."""

    def __init__(self) -> None:
        self.source, self.R, self.ground = ConstantVoltage(V=1.0), Resistor(R=2.0), Ground()
        self.C1, self.C2 = Capacitor(C=1.0), Capacitor(C=3.0)

    def connections(self) -> Iterator[Any]:
        yield self.source.p, self.R.p
        yield self.R.n, self.C1.p, self.C2.p
        yield self.source.n, self.C1.n, self.C2.n, self.ground.p


class Floating(ac.Component):
    """Three resistors in a ring of their own: the flows at one node sum to zero if those at the other do."""

    def __init__(self) -> None:
        self.a, self.b, self.c = Resistor(R=1.0), Resistor(R=2.0), Resistor(R=3.0)
        self.C, self.R, self.ground = Capacitor(v=ac.start(1.0, fixed=True)), Resistor(), Ground()

    def connections(self) -> Iterator[Any]:
        yield self.a.p, self.b.p, self.c.p
        yield self.a.n, self.b.n, self.c.n
        yield self.C.p, self.R.p
        yield self.C.n, self.R.n, self.ground.p


class StiffSpring(ac.Component):
    """Two bodies of 1 kg on a spring of frequency w, and something slow beside them: x2 - x1 = d cos(sqrt(2) w t)."""

    w = ac.Parameter(1e3, unit="1/s")
    x1 = ac.Variable(unit="m", start=0.0, fixed=True, nominal=1e-3)
    v1 = ac.Variable(unit="m/s", start=0.0, fixed=True)
    x2 = ac.Variable(unit="m", start=1e-3, fixed=True, nominal=1e-3)
    v2 = ac.Variable(unit="m/s", start=0.0, fixed=True)
    T = ac.Variable(unit="K", start=300.0, fixed=True, nominal=300.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x1) == self.v1
        yield ac.der(self.v1) == self.w**2 * (self.x2 - self.x1)
        yield ac.der(self.x2) == self.v2
        yield ac.der(self.v2) == self.w**2 * (self.x1 - self.x2)
        yield ac.der(self.T) == -(self.T - 280.0) / 100.0


class Kinks(ac.Component):
    """A square wave that is integrated, and a cube root through its steepest point."""

    x = ac.Variable(start=0.0, fixed=True)
    y = ac.Variable(start=0.1)
    z = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.no_event(ac.where(ac.sin(20 * ac.time) > 0, 1.0, -1.0))
        yield self.y**3 + 1e-9 * self.y == 1e-2 * ac.sin(3 * ac.time) * self.z
        yield ac.der(self.z) == -0.1 * self.z


class Valve(ac.Component):
    """a·p = q with a opening that closes at t = 1: there p is no longer determined."""

    x = ac.Variable(start=1.0, fixed=True)
    p = ac.Variable(start=1.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == -0.1 * self.p
        yield ac.max(1.0 - ac.time, 0.0) * self.p == 1e-3 * self.x + 0.1 * (1.0 - ac.time)


class Loop(ac.Component):
    """n nonlinear equations in a ring: u[k] = 1 + 0.1·u[k-1]²."""

    def __init__(self, n: int, start: bool = True) -> None:
        self.u = ac.Variable(shape=n, unit="1", start=1.0) if start else ac.Variable(shape=n, unit="1")

    def equations(self) -> Iterator[Any]:
        u = self.u
        yield u[1:] == 1 + 0.1 * u[:-1] ** 2
        yield u[0] == 1 + 0.1 * u[-1] ** 2


class Dependent(ac.Component):
    """n nodes in a chain without a reference: Σ of all balance equations is 0 == 0, although each has its unknowns."""

    v: Any

    def __init__(self, n: int) -> None:
        self.v = ac.Variable(shape=n, unit="1", start=1.0)

    def equations(self) -> Iterator[Any]:
        v = self.v
        yield v[0] - v[1] + ac.sin(v[0] - v[1]) == 0
        yield 2 * v[1:-1] - v[:-2] - v[2:] == 0
        yield v[-1] - v[-2] + ac.sinh(v[-1] - v[-2]) == 0


class Merging(ac.Component):
    """Two equations become one at t = 1: 3x + 2y = s, and (1 + t)·3x + 4y = 2s."""

    x, y = ac.Variable(start=0.3), ac.Variable(start=0.2)
    s = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        k = 1.0 + ac.no_event(ac.min(ac.time, 1.0))
        yield ac.der(self.s) == -self.x
        yield 3 * self.x + 2 * self.y == self.s
        yield k * 3 * self.x + 4 * self.y == 2 * self.s
