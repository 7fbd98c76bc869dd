"""A chain of rods in the plane, each in absolute coordinates of its centre: two constraints a joint, index 3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac


class Pin(ac.Connector):
    x, y = ac.Potential(), ac.Potential()
    fx, fy = ac.Flow(), ac.Flow()


class Rod(ac.Component):
    m, length, g = ac.Parameter(1.0), ac.Parameter(1.0), ac.Parameter(9.81)
    x, y, phi = ac.Variable(), ac.Variable(), ac.Variable()
    vx, vy, w = ac.Variable(), ac.Variable(), ac.Variable()

    def __init__(self) -> None:
        self.a, self.b = Pin(), Pin()

    def equations(self) -> Iterator[Any]:
        c, s = self.length / 2 * ac.cos(self.phi), self.length / 2 * ac.sin(self.phi)
        yield self.a.x == self.x - c
        yield self.a.y == self.y - s
        yield self.b.x == self.x + c
        yield self.b.y == self.y + s
        yield ac.der(self.x) == self.vx
        yield ac.der(self.y) == self.vy
        yield ac.der(self.phi) == self.w
        yield self.m * ac.der(self.vx) == self.a.fx + self.b.fx
        yield self.m * ac.der(self.vy) == self.a.fy + self.b.fy - self.m * self.g
        yield self.m * self.length**2 / 12 * ac.der(self.w) == c * (self.b.fy - self.a.fy) - s * (self.b.fx - self.a.fx)


class Pivot(ac.Component):
    def __init__(self) -> None:
        self.pin = Pin()

    def equations(self) -> Iterator[Any]:
        yield self.pin.x == 0
        yield self.pin.y == 0


class Chain(ac.Component):
    """`n` rods of together 1 m and 1 kg, released at rest in a slight bow."""

    def __init__(self, n: int) -> None:
        angles = ac.start(-0.3 * np.arange(n) / n, fixed=True)
        self.rod = ac.array(Rod, n, phi=angles, w=ac.start(0.0, fixed=True), length=1.0 / n, m=1.0 / n)
        self.pivot, self.n = Pivot(), n

    def connections(self) -> Iterator[Any]:
        yield self.pivot.pin, self.rod[0].a
        if self.n > 1:
            yield self.rod[:-1].b, self.rod[1:].a

    @staticmethod
    def energy(result: Any, n: int) -> np.ndarray:
        """Of the whole chain, at the output points."""
        m, spin = 1.0 / n, 1.0 / n**3 / 12
        speed = result["rod.vx"] ** 2 + result["rod.vy"] ** 2
        return np.asarray((0.5 * m * speed + 0.5 * spin * result["rod.w"] ** 2 + m * 9.81 * result["rod.y"]).sum(axis=1))
