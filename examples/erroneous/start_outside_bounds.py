"""A start value outside its bounds.

Wanted: a body at 20 °C, forgotten that temperatures are in K.
Means: The variable says between which values it lies; its start does not.
Do: Give the start in the declared unit, or with its own: `ac.start("20 degC")`.
"""

import acausal as ac
from acausal.library.thermal import FixedHeatFlow, HeatCapacitor

THEME = "Starting"
SHOWN = "acausal run start_outside_bounds.py --until 10"
EXPECT = ["body", "T", "-5", "bounds", "try"]


class Heated(ac.Component):
    def __init__(self):
        self.body, self.heater = HeatCapacitor(T=ac.start(-5.0)), FixedHeatFlow(Q_flow=500.0)  # <- -5 K

    def connections(self):
        yield self.body.port, self.heater.port
