"""A connection joins different units.

Wanted: a sensor in °C that is connected to a controller in K.
Means: Connected quantities are the same number; nothing is converted inside a model.
Do: Declare both in K, and read results in °C: `result.in_unit("sensor.y", "degC")`.
"""

import acausal as ac

THEME = "Connections"
SHOWN = "acausal check units_in_a_connection.py:Loop"
EXPECT = ["sensor.y", "degC", "controller.u", "K", "units_in_a_connection.py:35", "try"]


class Sensor(ac.Component):
    y = ac.Output(unit="degC")

    def equations(self):
        yield self.y == 20.0 + ac.sin(ac.time)


class Controller(ac.Component):
    u = ac.Input(unit="K")
    valve = ac.Output()

    def equations(self):
        yield self.valve == 0.1 * (self.u - 293.15)


class Loop(ac.Component):
    def __init__(self):
        self.sensor, self.controller = Sensor(), Controller()

    def connections(self):
        yield self.sensor.y, self.controller.u  # <- degC and K
