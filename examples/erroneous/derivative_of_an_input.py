"""The derivative of an input is needed, and the input is a function.

Wanted: a body whose temperature is prescribed.
Means: A heat capacity whose temperature is given needs a heat flow in proportion to its *change*. That of a table or a number is known; a Python function can only be asked for values.
Do: Give a table: `(times, values)`; or let the input act through a resistance, or smooth it: `T_f' == (T_in - T_f) / tau`.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor, PrescribedTemperature

THEME = "Starting"
SHOWN = "python derivative_of_an_input.py"
EXPECT = ["outside.T", "derivative", "Python function", "table", "try"]


class Exposed(ac.Component):
    def __init__(self):
        self.body, self.outside = HeatCapacitor(), PrescribedTemperature()

    def connections(self):
        yield self.body.port, self.outside.port  # a store at a given temperature


if __name__ == "__main__":
    ac.compile(Exposed()).simulate(until=100.0, inputs={"outside.T": lambda t: 273.15 + 0.01 * t})  # <- a function
