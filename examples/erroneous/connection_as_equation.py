"""Two ports are equated.

Wanted: to connect two bodies.
Means: Connecting is more than equating: potentials become equal, flows sum to zero.
Do: In `connections`, write a comma instead of `==`.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor, ThermalConductor

THEME = "Connections"
SHOWN = "acausal check connection_as_equation.py"
EXPECT = ["body.port", "wall.a", "connection_as_equation.py:21", "try"]


class House(ac.Component):
    def __init__(self):
        self.body, self.wall = HeatCapacitor(), ThermalConductor()

    def connections(self):
        yield self.body.port == self.wall.a  # <- `==`
