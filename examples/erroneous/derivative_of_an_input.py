"""The derivative of an input is needed.

Wanted: a body whose temperature is prescribed by measured data.
Means: A heat capacity whose temperature is given needs a heat flow in proportion to its *change*; data between points has none.
Do: Let the input act through a resistance, or smooth it: `T_f' == (T_in - T_f) / tau`.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor, PrescribedTemperature

THEME = "Starting"
SHOWN = "acausal check derivative_of_an_input.py"
EXPECT = ["outside.T", "derivative", "body", "try"]


class Exposed(ac.Component):
    def __init__(self):
        self.body, self.outside = HeatCapacitor(), PrescribedTemperature()

    def connections(self):
        yield self.body.port, self.outside.port  # <- a store at a given temperature
