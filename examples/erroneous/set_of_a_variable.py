"""`set` of a variable.

Wanted: to start another run from 350 K.
Means: `set` changes parameters; the temperature of the body is an unknown.
Do: Give the start where the component is made, or start from values by name: `simulate(…, start_from={"body.T": 350.0})`.
"""

import acausal as ac
from acausal.library.thermal import FixedHeatFlow, HeatCapacitor

THEME = "Parameters"
SHOWN = "python set_of_a_variable.py"
EXPECT = ["body.T", "not a parameter", "start", "try"]


class Heated(ac.Component):
    def __init__(self):
        self.body, self.heater = HeatCapacitor(), FixedHeatFlow(Q_flow=500.0)

    def connections(self):
        yield self.body.port, self.heater.port


if __name__ == "__main__":
    model = ac.compile(Heated())
    model.simulate(until=10.0, set={"body.T": 350.0})  # <- T is an unknown
