"""A steady state that does not exist.

Wanted: the temperature that a heated body settles at.
Means: Nothing takes the heat away, so the temperature rises for ever; no value of it makes the derivative zero.
Do: Add the loss that is missing, here a conductor to the outside.
"""

import acausal as ac
from acausal.library.thermal import FixedHeatFlow, HeatCapacitor

THEME = "Starting"
SHOWN = "acausal run no_steady_state.py --steady"
EXPECT = ["body", "steady state", "try"]


class Heated(ac.Component):
    def __init__(self):
        self.body, self.heater = HeatCapacitor(), FixedHeatFlow(Q_flow=500.0)

    def connections(self):
        yield self.body.port, self.heater.port  # <- the heat has nowhere to go
