"""A start value in a unit of another dimension.

Wanted: to start another run from a warm body.
Means: `set` gives parameters values and variables start values; a text says its unit, and bar is not one of a temperature.
Do: Give the start in kelvin, or in any unit of a temperature: `"77 degC"`.
"""

import acausal as ac
from acausal.library.thermal import FixedHeatFlow, HeatCapacitor

THEME = "Starting"
SHOWN = "python start_in_another_dimension.py"
EXPECT = ["body.T", "20 bar", "cannot be converted", "`K`"]


class Heated(ac.Component):
    def __init__(self):
        self.body, self.heater = HeatCapacitor(), FixedHeatFlow(Q_flow=500.0)

    def connections(self):
        yield self.body.port, self.heater.port


if __name__ == "__main__":
    model = ac.compile(Heated())
    model.simulate(until=10.0, set={"body.T": "20 bar"})  # <- not a temperature
