"""One component in two places.

Wanted: two equal walls.
Means: `left` and `right` would be one and the same wall, with one temperature and one heat flow.
Do: Make two: `Wall(…), Wall(…)`, or an array: `ac.array(Wall, 2)`.
"""

import acausal as ac
from acausal.library.thermal import ThermalConductor

THEME = "Connections"
SHOWN = "acausal check component_used_twice.py"
EXPECT = ["left", "right", "ThermalConductor", "component_used_twice.py:19", "try"]


class House(ac.Component):
    def __init__(self):
        wall = ThermalConductor(G=100.0)
        self.left, self.right = wall, wall  # <- the same object
