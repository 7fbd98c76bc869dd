"""A port is not connected.

Wanted: heat that flows from a warm body to the outside.
Means: Nothing flows through a port that is not connected, and nothing says how warm it is there.
Do: Connect the port, here `wall.b` with `outside.port`.
"""

import acausal as ac
from acausal.library.thermal import FixedTemperature, HeatCapacitor, ThermalConductor

THEME = "Too few and too many equations"
SHOWN = "acausal check unconnected_port.py"
EXPECT = ["wall.b", "not connected", "try"]


class House(ac.Component):
    def __init__(self):
        self.room, self.wall, self.outside = HeatCapacitor(C=5e6), ThermalConductor(G=200.0), FixedTemperature(T=273.15)

    def connections(self):
        yield self.room.port, self.wall.a  # <- and `self.wall.b, self.outside.port`?
