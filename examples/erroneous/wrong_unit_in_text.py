"""A value with a unit of the wrong kind.

Wanted: a conductance of 5 W/K, written with its unit.
Means: The text is understood, but kelvins per watt cannot be turned into watts per kelvin.
Do: Give the value in a unit of the right kind.
"""

import acausal as ac
from acausal.library.thermal import FixedTemperature, HeatCapacitor, ThermalConductor

THEME = "Parameters"
SHOWN = "acausal check wrong_unit_in_text.py"
EXPECT = ["wall.G", "K/W", "W/K", "try"]


class House(ac.Component):
    def __init__(self):
        self.room, self.wall = HeatCapacitor(), ThermalConductor(G="5 K/W")  # <- upside down
        self.outside = FixedTemperature(T="0 degC")

    def connections(self):
        yield self.room.port, self.wall.a
        yield self.wall.b, self.outside.port
