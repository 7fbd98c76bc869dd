"""Connectors that look alike.

Wanted: a tap that feeds a water pipe.
Means: The two classes happen to have members of the same names, but one is for water and the other for a refrigerant.
Do: Use one connector class for what may flow into each other; a class derived from it connects as well.
"""

import acausal as ac

THEME = "Connections"
SHOWN = "acausal check alike_but_not_the_same.py"
EXPECT = ["Water", "Refrigerant", "tap.port", "pipe.port", "does not make them the same"]


class Water(ac.Connector):
    p, m_flow = ac.Potential(unit="Pa"), ac.Flow(unit="kg/s")


class Refrigerant(ac.Connector):
    p, m_flow = ac.Potential(unit="Pa"), ac.Flow(unit="kg/s")


class Tap(ac.Component):
    port = Water()
    p = ac.Parameter(3e5, unit="Pa")

    def equations(self):
        yield self.port.p == self.p


class Pipe(ac.Component):
    port = Refrigerant()  # <- not for water
    k, p_out = ac.Parameter(1e-6, unit="kg/(s*Pa)"), ac.Parameter(1e5, unit="Pa")

    def equations(self):
        yield self.port.m_flow == self.k * (self.port.p - self.p_out)


class Garden(ac.Component):
    def __init__(self):
        self.tap, self.pipe = Tap(), Pipe()

    def connections(self):
        yield self.tap.port, self.pipe.port
