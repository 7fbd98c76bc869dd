"""A port is connected to a variable.

Wanted: a sensor that reads the temperature of a body.
Means: A port is more than one quantity: a potential and a flow. A variable is one.
Do: Connect port with port (`sensor.port`), or state an equation between the variables: `self.sensor.T == self.body.T`.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor, TemperatureSensor

THEME = "Connections"
SHOWN = "acausal check port_to_variable.py"
EXPECT = ["sensor.port", "body.T", "port_to_variable.py:21", "try"]


class Measured(ac.Component):
    def __init__(self):
        self.body, self.sensor = HeatCapacitor(), TemperatureSensor()

    def connections(self):
        yield self.sensor.port, self.body.T  # <- a port and a variable
