"""A parameter is not a number.

Wanted: an insulated wall.
Means: A parameter is a number, a text with a number and a unit, or an expression of parameters. `None` and words are none of these.
Do: Give a number; here `G=0`.
"""

import acausal as ac
from acausal.library.thermal import FixedTemperature, HeatCapacitor, ThermalConductor

THEME = "Parameters"
SHOWN = "acausal check parameter_of_wrong_type.py"
EXPECT = ["wall.G", "'insulated'", "W/K", "try"]


class House(ac.Component):
    def __init__(self):
        self.room, self.wall = HeatCapacitor(), ThermalConductor(G="insulated")  # <- a word
        self.outside = FixedTemperature(T=273.15)

    def connections(self):
        yield self.room.port, self.wall.a
        yield self.wall.b, self.outside.port
