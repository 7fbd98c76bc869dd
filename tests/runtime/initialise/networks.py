"""Pipe networks with loops and check valves: as a user writes them, with components, and in plain numpy."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

import acausal as ac

from .doubles import SparseProblem

SOURCE, DRAWN = 2e5, 1.0  # Pa at the first node, kg/s drawn from the last one
SMALL = 1e-4  # kg/s: below, the flow is laminar


def grid(side: int) -> np.ndarray:
    """Pairs of neighbours, (2, pipes), in a square grid of nodes."""
    number = np.arange(side**2).reshape(side, side)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()])
    return np.concatenate([down, np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()])], axis=1)


def numbers(side: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of nodes, resistances that differ by up to three orders of magnitude, and which pipes (a fifth) have a valve."""
    pairs, random = grid(side), np.random.default_rng(seed)
    resistance = 1e4 * 10.0 ** random.uniform(0, 3, pairs.shape[1])
    return pairs, resistance, np.random.default_rng(seed).uniform(size=pairs.shape[1]) < 0.2


# --- with components ----------------------------------------------------------------------------------------------------------


class Port(ac.Connector):
    p = ac.Potential(unit="Pa", start=1e5, nominal=1e5)
    m_flow = ac.Flow(unit="kg/s")


class Node(ac.Component):
    """A place where pipes meet, and something may be drawn."""

    port = Port()
    drawn = ac.Parameter(0.0, unit="kg/s")

    def equations(self):
        yield self.port.m_flow == self.drawn


class Reservoir(ac.Component):
    port = Port()
    p = ac.Parameter(1e5, unit="Pa")

    def equations(self):
        yield self.port.p == self.p


class Pipe(ac.Component):
    a, b = Port(), Port()
    k = ac.Parameter(1e5, unit="Pa.s2/kg2", min=0)
    m = ac.Variable(unit="kg/s", doc="flow from a to b")

    def equations(self):
        yield self.m == self.a.m_flow
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.a.p - self.b.p == self.resistance() * self.m * ac.sqrt(self.m**2 + SMALL**2)

    def resistance(self):
        return self.k


class CheckValve(Pipe):
    """Passes from a to b; backwards its resistance is so many times larger. Smooth, and monotone:
    the resistance falls within a tenth of the laminar range before the flow turns."""

    tightness = ac.Parameter(1e6)

    def resistance(self):
        return self.k * ac.smooth_switch(self.m, self.tightness, 1.0, -0.05 * SMALL, 0.1 * SMALL)


class Pump(ac.Component):
    a, b = Port(), Port()
    head = ac.Parameter(1e5, unit="Pa", doc="pressure rise at no flow")
    m_max = ac.Parameter(2.0, unit="kg/s", doc="flow at no pressure rise")
    m = ac.Variable(unit="kg/s")

    def equations(self):
        yield self.m == self.a.m_flow
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.b.p - self.a.p == self.head * (1 - (self.m / self.m_max) * ac.smooth_abs(self.m / self.m_max, 1e-3))


class Network(ac.Component):
    """Reservoir → pump → first node of a grid; drawn from the last one. Everything else is an array."""

    def __init__(self, side: int, seed: int = 0, flow: float = 0.0, tightness: float = 1e6) -> None:
        pairs, resistance, valve = numbers(side, seed)
        self.pairs, self.valve = pairs, valve
        self.reservoir, self.pump = Reservoir(p=SOURCE - 1e5), Pump(m=ac.start(flow))
        drawn = np.zeros(side**2)
        drawn[-1] = DRAWN
        self.nodes = ac.array(Node, side**2, drawn=drawn)
        self.pipes = ac.array(Pipe, int((~valve).sum()), k=resistance[~valve], m=ac.start(flow))
        self.valves = ac.array(CheckValve, int(valve.sum()), k=resistance[valve], tightness=tightness, m=ac.start(flow))

    def connections(self):
        yield self.reservoir.port, self.pump.a
        yield self.pump.b, self.nodes[0].port
        for parts, (a, b) in ((self.pipes, self.pairs[:, ~self.valve]), (self.valves, self.pairs[:, self.valve])):
            yield parts.a, self.nodes[a].port
            yield parts.b, self.nodes[b].port


# --- in numpy -----------------------------------------------------------------------------------------------------------------


def double(side: int, seed: int = 0, flow: float = 0.0, tightness: float = 1e6) -> SparseProblem:
    """The same without a pump: unknowns are pressures, then flows; a valve's resistance jumps at rest."""
    pairs, resistance, valve = numbers(side, seed)
    nodes, pipes = side**2, pairs.shape[1]
    n, pipe = nodes + pipes, np.arange(pipes)
    rows = np.concatenate([pairs[0], pairs[1], nodes + pipe, nodes + pipe])
    columns = np.concatenate([nodes + pipe, nodes + pipe, pairs[0], pairs[1]])
    data = np.repeat([-1.0, 1.0, 1.0, -1.0], pipes)
    keep = rows != 0
    value = csc_array((data[keep], (rows[keep], columns[keep])), shape=(n, n)) + csc_array(([1.0], ([0], [0])), shape=(n, n))
    constant = np.zeros(n)
    constant[0], constant[nodes - 1] = -SOURCE, -DRAWN

    def factor(m):
        return np.where(valve & (m < 0), tightness, 1.0) * resistance

    def g(y):
        m = y[nodes:]
        return np.concatenate([np.zeros(nodes), -factor(m) * m * np.sqrt(m * m + SMALL**2)])

    def dg(y):
        m = y[nodes:]
        return np.concatenate([np.zeros(nodes), -factor(m) * (2 * m * m + SMALL**2) / np.sqrt(m * m + SMALL**2)])

    nominal = np.concatenate([np.full(nodes, 1e5), np.ones(pipes)])
    start = np.where(nominal == 1e5, 1e5, flow)
    return SparseProblem(value, csc_array(value.shape), g, dg, constant, start=start, nominal=nominal)
