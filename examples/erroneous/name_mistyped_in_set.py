"""A name is mistyped on the command line.

Wanted: another conductance for one run.
Means: The path leads nowhere; the message says where it goes wrong and what is there.
Do: Correct the path. `acausal info` lists components.
"""

import acausal as ac
from acausal.library.thermal import FixedTemperature, HeatCapacitor, ThermalConductor

THEME = "Parameters"
SHOWN = "acausal run name_mistyped_in_set.py --until 100 --set wal.G=5"  # <- wal
EXPECT = ["wal.G", "`wall`", "House", "try"]


class House(ac.Component):
    def __init__(self):
        self.room, self.wall, self.outside = HeatCapacitor(), ThermalConductor(), FixedTemperature(T=273.15)

    def connections(self):
        yield self.room.port, self.wall.a
        yield self.wall.b, self.outside.port
