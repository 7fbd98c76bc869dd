"""A connection stands in `equations`.

Wanted: to connect two components where their equations are.
Means: `equations` holds equations; a pair of ports is none.
Do: Move the line to the method `connections`.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor, ThermalConductor

THEME = "Connections"
SHOWN = "acausal check connection_among_equations.py"
EXPECT = ["House", "self.body.port, self.wall.a", "connections", "connection_among_equations.py:21", "try"]


class House(ac.Component):
    def __init__(self):
        self.body, self.wall = HeatCapacitor(), ThermalConductor()

    def equations(self):
        yield self.body.port, self.wall.a  # <- a connection
