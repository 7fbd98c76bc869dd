"""The pendulum in Cartesian coordinates, index 3, that turns over the top; and the same pendulum in its angle to compare with.

Turning over the top needs v² > 4·g·L at the bottom. Neither coordinate is a state all the way round: x determines y nowhere near
the horizontal, and the other way about, so states are exchanged several times in each revolution.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac

SPEED = 7.0  # m/s at the bottom; 4·g·L is 39.24


class Pendulum(ac.Component):
    """A point of unit mass on a rod: Newton's law in two coordinates, with the rod's pull as multiplier, and the rod's length."""

    g = ac.Parameter(9.81, unit="m/s^2")
    L = ac.Parameter(1.0, unit="m")
    x = ac.Variable(unit="m", start=0.0, fixed=True)
    y = ac.Variable(unit="m", start=-1.0)
    vx = ac.Variable(unit="m/s", start=SPEED, fixed=True)
    vy = ac.Variable(unit="m/s", start=0.0)
    pull = ac.Variable(unit="1/s^2", start=0.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.vx
        yield ac.der(self.y) == self.vy
        yield ac.der(self.vx) == -self.pull * self.x
        yield ac.der(self.vy) == -self.pull * self.y - self.g
        yield self.x**2 + self.y**2 == self.L**2
        self.energy = ac.named(0.5 * (self.vx**2 + self.vy**2) + self.g * self.y, unit="m^2/s^2")


class AnglePendulum(ac.Component):
    """The same in its angle from the bottom."""

    g = ac.Parameter(9.81, unit="m/s^2")
    L = ac.Parameter(1.0, unit="m")
    phi = ac.Variable(unit="rad", start=0.0, fixed=True)
    w = ac.Variable(unit="rad/s", start=SPEED, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.phi) == self.w
        yield self.L * ac.der(self.w) == -self.g * ac.sin(self.phi)
        self.energy = ac.named(0.5 * (self.L * self.w) ** 2 - self.g * self.L * ac.cos(self.phi), unit="m^2/s^2")


class Pendulums(ac.Component):
    """Many pendulums as one array, each with another length; they start aside at rest."""

    def __init__(self, n: int) -> None:
        lengths = np.linspace(1.0, 2.0, n)
        self.pendulum = ac.array(
            Pendulum, n, L=lengths, x=ac.start(0.6 * lengths, fixed=True), y=ac.start(-0.8 * lengths), vx=ac.start(0.0, fixed=True)
        )


def period(speed: float = SPEED, g: float = 9.81, length: float = 1.0) -> float:
    """Duration of one revolution: 4 L K(m)/v with m = 4 g L/v² (from the energy, half-angle substitution)."""
    from scipy.special import ellipk

    return float(4 * length * ellipk(4 * g * length / speed**2) / speed)


def drift(energy: Any) -> float:
    """The largest departure from the energy at the start, relative to the kinetic energy there."""
    values = np.asarray(energy)
    return float(np.abs(values - values[0]).max() / (0.5 * SPEED**2))
