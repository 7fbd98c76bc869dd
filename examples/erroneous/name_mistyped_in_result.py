"""A name is mistyped when reading a result.

Wanted: the temperature of the room at the end.
Means: The room has no such quantity; the message lists what it has.
Do: Correct the name.
"""

import acausal as ac
from acausal.library.thermal import FixedTemperature, HeatCapacitor, ThermalConductor

THEME = "Parameters"
SHOWN = "python name_mistyped_in_result.py"
EXPECT = ["room.temp", "HeatCapacitor", "T", "try"]


class House(ac.Component):
    def __init__(self):
        self.room, self.wall, self.outside = HeatCapacitor(), ThermalConductor(), FixedTemperature(T=273.15)

    def connections(self):
        yield self.room.port, self.wall.a
        yield self.wall.b, self.outside.port


if __name__ == "__main__":
    result = ac.compile(House()).simulate(until=100.0)
    print(result["room.temp"][-1])  # <- it is called T
