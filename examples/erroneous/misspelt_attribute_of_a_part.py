"""A misspelt attribute of a part.

Wanted: a heavier body.
Means: Python would accept any attribute; this one is declared by nobody, so that nothing would read it.
Do: Mind capital letters: the heat capacity is `C`.
"""

import acausal as ac
from acausal.library.thermal import FixedHeatFlow, HeatCapacitor

THEME = "Parameters"
SHOWN = "acausal check misspelt_attribute_of_a_part.py"
EXPECT = ["HeatCapacitor", "`c`", "Did you mean `C`"]


class Heated(ac.Component):
    def __init__(self):
        self.body, self.heater = HeatCapacitor(), FixedHeatFlow(Q_flow=500.0)
        self.body.c = 5000.0  # <- it is called C

    def connections(self):
        yield self.body.port, self.heater.port
