"""A steam pipe in components: mass, momentum, energy, walls. With pressures and enthalpies as states its index is 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac

GAS, CP, H0, T0 = 461.5, 2000.0, 2.5e6, 373.0
LENGTH, AREA = 100.0, 0.03


class Port(ac.Connector):
    p = ac.Potential(nominal=1e6, start=20e5)
    h = ac.Potential(nominal=1e6, start=3e6)
    m = ac.Flow(nominal=10.0)
    H = ac.Flow(nominal=1e7)


class Volume(ac.Component):
    V, A, alpha = ac.Parameter(0.1), ac.Parameter(0.3), ac.Parameter(500.0)
    wall, Q = ac.Parameter(5e4), ac.Parameter(0.0)
    p = ac.Variable(start=20e5, nominal=1e6, state="prefer", fixed=True)
    h = ac.Variable(start=3e6, nominal=1e6, state="prefer", fixed=True)
    M, U = ac.Variable(nominal=1.0), ac.Variable(nominal=1e6)
    rho, T = ac.Variable(nominal=10.0), ac.Variable(nominal=500.0)
    q = ac.Variable(nominal=1e4)
    Tw = ac.Variable(start=600.0, nominal=500.0, fixed=True)

    def __init__(self) -> None:
        self.port = Port()

    def equations(self) -> Iterator[Any]:
        yield self.p == self.port.p
        yield self.h == self.port.h
        yield self.T == T0 + (self.h - H0) / CP
        yield self.rho == self.p / (GAS * self.T)
        yield self.M == self.V * self.rho
        yield self.U == self.M * self.h - self.V * self.p
        yield ac.der(self.M) == self.port.m
        yield ac.der(self.U) == self.port.H + self.q
        yield self.q == self.alpha * self.A * (self.Tw - self.T)
        yield self.wall * ac.der(self.Tw) == self.Q - self.q


class Segment(ac.Component):
    L, A, k = ac.Parameter(1.0), ac.Parameter(AREA), ac.Parameter(1e3)
    m = ac.Variable(start=1.0, nominal=10.0, fixed=True)

    def __init__(self) -> None:
        self.a, self.b = Port(), Port()

    def equations(self) -> Iterator[Any]:
        m, forward = self.m, 0.5 * (1 + ac.tanh(self.m / 0.01))
        enthalpy = m * (forward * self.a.h + (1 - forward) * self.b.h)
        yield self.L / self.A * ac.der(m) == self.a.p - self.b.p - self.k * m * ac.sqrt(m * m + 1e-4)
        yield self.a.m == m
        yield self.b.m == -m
        yield self.a.H == enthalpy
        yield self.b.H == -enthalpy


class Boundary(ac.Component):
    p0, rise, h0 = ac.Parameter(20e5), ac.Parameter(0.0), ac.Parameter(3e6)

    def __init__(self) -> None:
        self.port = Port()

    def equations(self) -> Iterator[Any]:
        yield self.port.p == self.p0 + self.rise * 0.5 * (1 + ac.tanh((ac.time - 10.0) / 2.0))
        yield self.port.h == self.h0


class SteamPipe(ac.Component):
    """`n` volumes between `n + 1` segments; the pressure at its inlet rises."""

    def __init__(self, n: int) -> None:
        pressure = ac.modify(start=np.linspace(20.9e5, 19.1e5, n))
        self.volume = ac.array(
            Volume, n, V=LENGTH * AREA / n, A=0.6 * LENGTH / n, wall=4e4 * LENGTH / n, Q=2e3 * LENGTH / n, p=pressure
        )
        self.segment = ac.array(Segment, n + 1, L=LENGTH / (n + 1), k=8e3 / n)
        self.inlet, self.outlet = Boundary(p0=21e5, rise=2e5, h0=3.1e6), Boundary(p0=19e5)

    def connections(self) -> Iterator[Any]:
        yield self.inlet.port, self.segment[0].a
        yield self.segment[:-1].b, self.volume.port
        yield self.volume.port, self.segment[1:].a
        yield self.segment[-1].b, self.outlet.port
