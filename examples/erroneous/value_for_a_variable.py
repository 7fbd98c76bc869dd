"""A variable is given a value.

Wanted: a room that starts at 18 °C.
Means: The temperature is an unknown: the equations say what it is. Only its start can be given.
Do: Write `T=ac.start(291.15)`; with `fixed=True` if it must hold exactly.
"""

import acausal as ac
from acausal.library.thermal import FixedHeatFlow, HeatCapacitor

THEME = "Parameters"
SHOWN = "acausal check value_for_a_variable.py"
EXPECT = ["HeatCapacitor.T", "ac.start(291.15)", "value_for_a_variable.py:18", "try"]


class Room(ac.Component):
    def __init__(self):
        self.air, self.heater = HeatCapacitor(T=291.15), FixedHeatFlow(Q_flow=500.0)  # <- T is an unknown

    def connections(self):
        yield self.air.port, self.heater.port
