"""A variable is given two values.

Wanted: a wall whose one side is at 20 °C.
Means: Two fixed temperatures are connected to the same point; it cannot have both.
Do: Remove one of them, or put a resistance between them.
"""

import acausal as ac
from acausal.library.thermal import FixedTemperature, HeatCapacitor, ThermalConductor

THEME = "Too few and too many equations"
SHOWN = "acausal check variable_given_twice.py"
EXPECT = ["inside.port.T", "sun.port.T", "inside.T, sun.T", "try"]


class House(ac.Component):
    def __init__(self):
        self.inside, self.sun = FixedTemperature(T=293.15), FixedTemperature(T=320.0)
        self.wall, self.mass = ThermalConductor(G=10.0), HeatCapacitor()

    def connections(self):
        yield self.inside.port, self.wall.a, self.sun.port  # <- two fixed temperatures at one point
        yield self.wall.b, self.mass.port
