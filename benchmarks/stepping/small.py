"""Two small ones: a rectifier with an ideal diode, and a row of cells whose length of a cell is a parameter or a division."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac
from acausal.library import electrical, switching


class Rectifier(ac.Component):
    def __init__(self) -> None:
        self.source, self.diode = electrical.SineVoltage(V=10.0, f=50.0), switching.IdealDiode()
        self.load, self.buffer = electrical.Resistor(R=100.0), electrical.Capacitor(C=1e-3)
        self.ground = electrical.Ground()

    def connections(self) -> Iterator[Any]:
        yield self.source.p, self.diode.p
        yield self.diode.n, self.load.p, self.buffer.p
        yield self.source.n, self.load.n, self.buffer.n, self.ground.p


class _Cells(ac.Component):
    L, k = ac.Parameter(2.0), ac.Parameter(0.1)

    def __init__(self, n: int) -> None:
        self.n = n
        self.T = ac.Variable(shape=n, start=np.linspace(0.0, 1.0, n), fixed=True)
        self.q = ac.Variable(shape=n - 1)

    def _laws(self, dx: Any) -> Iterator[Any]:
        yield self.q == -self.k * ac.tanh((self.T[1:] - self.T[:-1]) / dx)
        yield dx * ac.der(self.T[1:-1]) == self.q[:-1] - self.q[1:]
        yield ac.der(self.T[0]) == -self.q[0] / dx
        yield ac.der(self.T[-1]) == self.q[-1] / dx


class Divided(_Cells):
    """`dx = self.L / N` inside the equations."""

    def equations(self) -> Iterator[Any]:
        yield from self._laws(self.L / self.n)


class Declared(_Cells):
    """`dx` is a parameter."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.dx = ac.Parameter(2.0 / n)

    def equations(self) -> Iterator[Any]:
        yield from self._laws(self.dx)
