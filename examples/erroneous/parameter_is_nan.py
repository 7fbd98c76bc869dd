"""A parameter is not a number: NaN.

Wanted: a heat capacity from a table of measured data with a gap.
Means: NaN came out of a computation before the model was made; every result would be NaN as well.
Do: Find where the value comes from; here, fill the gap in the data.
"""

import acausal as ac
from acausal.library.thermal import FixedHeatFlow, HeatCapacitor

THEME = "Parameters"
SHOWN = "acausal check parameter_is_nan.py"
EXPECT = ["body.C", "nan", "HeatCapacitor", "try"]

measured = [900.0, float("nan"), 910.0]


class Probe(ac.Component):
    def __init__(self):
        self.body, self.heater = HeatCapacitor(C=sum(measured) / 3), FixedHeatFlow(Q_flow=100.0)  # <- NaN

    def connections(self):
        yield self.body.port, self.heater.port
