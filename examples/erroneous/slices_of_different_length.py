"""A connection of slices of different length.

Wanted: a chain of three bodies with conductors between them.
Means: Slices are connected element by element; three ports do not match two.
Do: Leave the last body out: `self.body[:-1].port`.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor, ThermalConductor

THEME = "Arrays"
SHOWN = "acausal check slices_of_different_length.py"
EXPECT = ["body.port, link.a", "3", "2", "slices_of_different_length.py:21", "try"]


class Chain(ac.Component):
    def __init__(self):
        self.body, self.link = ac.array(HeatCapacitor, 3), ac.array(ThermalConductor, 2)

    def connections(self):
        yield self.body.port, self.link.a  # <- 3 and 2
        yield self.link.b, self.body[1:].port
