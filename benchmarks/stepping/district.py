"""A network of district heating: a pump, mains with water moving through cells, users whose controllers move their valves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac

CP, RHO, CELLS, DAY = 4180.0, 980.0, 5, 86400.0


class Port(ac.Connector):
    p = ac.Potential(nominal=1e5, start=2e5)
    T = ac.Potential(nominal=300.0, start=333.0)
    m = ac.Flow(nominal=1.0)
    H = ac.Flow(nominal=1e5)


def carried(m: Any, before: Any, behind: Any) -> Any:
    """Heat that water carries from where it comes."""
    return m * CP * ac.where(m > 0, before, behind)


class Main(ac.Component):
    L, d, k = ac.Parameter(50.0), ac.Parameter(0.1), ac.Parameter(2e3)
    T = ac.Variable(shape=CELLS, start=333.0, nominal=300.0, fixed=True)
    m = ac.Variable(nominal=1.0, start=1.0)

    def __init__(self) -> None:
        self.a, self.b = Port(), Port()

    def equations(self) -> Iterator[Any]:
        m, T = self.m, self.T
        capacity = CP * RHO * self.L * np.pi / 4 * self.d**2 / CELLS
        first, inner, last = carried(m, self.a.T, T[0]), carried(m, T[:-1], T[1:]), carried(m, T[-1], self.b.T)
        loss = 2.0 * (T - 283.0) * self.L / CELLS
        yield self.a.p - self.b.p == self.k * m * ac.sqrt(m * m + 1e-6)
        yield capacity * ac.der(T[0]) == first - inner[0] - loss[0]
        yield capacity * ac.der(T[1:-1]) == inner[:-1] - inner[1:] - loss[1:-1]
        yield capacity * ac.der(T[-1]) == inner[-1] - last - loss[-1]
        yield self.a.m == m
        yield self.b.m == -m
        yield self.a.H == first
        yield self.b.H == -last


class Node(ac.Component):
    V = ac.Parameter(0.01)
    T = ac.Variable(start=333.0, nominal=300.0, fixed=True)

    def __init__(self) -> None:
        self.port = Port()

    def equations(self) -> Iterator[Any]:
        yield self.port.T == self.T
        yield self.port.m == 0
        yield RHO * self.V * CP * ac.der(self.T) == self.port.H


class User(ac.Component):
    Kv, UA, C, G, phase = ac.Parameter(2e-3), ac.Parameter(400.0), ac.Parameter(5e6), ac.Parameter(200.0), ac.Parameter(0.0)
    m, u, q = ac.Variable(nominal=0.2, start=0.2), ac.Variable(nominal=0.3), ac.Variable(nominal=1e4)
    out = ac.Variable(start=310.0, nominal=300.0)
    room = ac.Variable(start=292.0, nominal=300.0, fixed=True)
    memory = ac.Variable(start=0.3, fixed=True)

    def __init__(self) -> None:
        self.a, self.b = Port(), Port()

    def equations(self) -> Iterator[Any]:
        error, drop = 293.0 - self.room, self.a.p - self.b.p
        outside = 273.0 + 8 * ac.sin(2 * np.pi * ac.time / DAY + self.phase)
        yield ac.der(self.memory) == 1e-4 * error
        yield self.u == ac.smooth_min(ac.smooth_max(0.3 * error + self.memory, 0.02, 0.01), 1.0, 0.01)
        yield self.m == self.Kv * self.u * drop / ac.sqrt(ac.sqrt(drop**2 + 1e4))
        yield self.q == self.UA * (self.out - self.room)
        yield self.m * CP * (self.a.T - self.out) == self.q
        yield self.C * ac.der(self.room) == self.q - self.G * (self.room - outside)
        yield self.a.m == self.m
        yield self.b.m == -self.m
        yield self.a.H == self.m * CP * self.a.T
        yield self.b.H == -self.m * CP * self.out


class Plant(ac.Component):
    head, k, hot = ac.Parameter(3e5), ac.Parameter(200.0), ac.Parameter(353.0)
    m = ac.Variable(nominal=10.0, start=8.0)

    def __init__(self) -> None:
        self.supply, self.back = Port(), Port()

    def equations(self) -> Iterator[Any]:
        yield self.back.p == 2e5
        yield self.supply.p == self.back.p + self.head - self.k * self.m**2
        yield self.supply.m == -self.m
        yield self.supply.H == -self.m * CP * self.hot
        yield self.back.H == self.m * CP * self.back.T


class Network(ac.Component):
    """`n` users along a supply and a return main."""

    def __init__(self, n: int) -> None:
        left = np.arange(n, 0, -1)
        self.supply, self.back = (
            ac.array(Main, n, k=1e5 / (0.2 * left) ** 2 / n, d=0.03 + 0.12 * np.sqrt(left / n)) for _ in range(2)
        )
        self.hot, self.cold = ac.array(Node, n + 1), ac.array(Node, n + 1)
        self.user = ac.array(User, n, phase=np.linspace(0, 1, n))
        self.plant = Plant()

    def connections(self) -> Iterator[Any]:
        yield self.plant.supply, self.hot[0].port
        yield self.plant.back, self.cold[0].port
        yield self.hot[:-1].port, self.supply.a
        yield self.supply.b, self.hot[1:].port
        yield self.cold[1:].port, self.back.a
        yield self.back.b, self.cold[:-1].port
        yield self.hot[1:].port, self.user.a
        yield self.user.b, self.cold[1:].port
