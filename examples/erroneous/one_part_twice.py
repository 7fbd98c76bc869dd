"""One component twice in a list.

Wanted: two bodies, one heated.
Means: `[HeatCapacitor()] * 2` is a list with one body in both places.
Do: Make one for each place, `[HeatCapacitor() for _ in range(2)]`, or an array.
"""

import acausal as ac
from acausal.library.thermal import FixedHeatFlow, HeatCapacitor

THEME = "Connections"
SHOWN = "acausal check one_part_twice.py"
EXPECT = ["bodies[0]", "bodies[1]", "one and the same", "ac.array"]


class Heated(ac.Component):
    def __init__(self):
        self.bodies, self.heater = [HeatCapacitor()] * 2, FixedHeatFlow(Q_flow=500.0)  # <- one body

    def connections(self):
        yield self.bodies[0].port, self.heater.port
