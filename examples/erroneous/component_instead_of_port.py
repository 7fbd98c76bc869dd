"""A component is connected instead of its port.

Wanted: a body that is in contact with a wall.
Means: A component may have many ports; which one is meant must be said.
Do: Write `self.body.port`.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor, ThermalConductor

THEME = "Connections"
SHOWN = "acausal check component_instead_of_port.py"
EXPECT = ["body", "HeatCapacitor", "self.body.port", "component_instead_of_port.py:21", "try"]


class House(ac.Component):
    def __init__(self):
        self.body, self.wall = HeatCapacitor(), ThermalConductor()

    def connections(self):
        yield self.body, self.wall.a  # <- which port of the body?
