"""A component is not connected at all.

Wanted: two walls of a room; the second was added, and its connections forgotten.
Means: No heat flows through the second wall, so both its sides are equally warm; but nothing says how warm.
Do: Connect both its ports.
"""

import acausal as ac
from acausal.library.thermal import FixedTemperature, HeatCapacitor, ThermalConductor

THEME = "Too few and too many equations"
SHOWN = "acausal check unconnected_component.py"
EXPECT = ["north.a", "not connected", "try"]


class House(ac.Component):
    def __init__(self):
        self.room, self.outside = HeatCapacitor(C=5e6), FixedTemperature(T=273.15)
        self.south, self.north = ThermalConductor(G=200.0), ThermalConductor(G=150.0)

    def connections(self):
        yield self.room.port, self.south.a  # <- and the north wall?
        yield self.south.b, self.outside.port
