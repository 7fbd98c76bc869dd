"""Degrees Celsius inside the model.

Wanted: the temperature of the air in °C, as on the thermometer.
Means: Inside, numbers are used as they are declared: 5 (°C) and 278.15 (K) would have to be equal.
Do: Declare K. Give values as `"5 degC"`, read results with `result.in_unit("air.T", "degC")`.
"""

import acausal as ac
from acausal.library.thermal import HeatPort

THEME = "Units"
SHOWN = "acausal check degrees_celsius_inside.py"
EXPECT = ["Weather", "`T`", "degC", "K", "degrees_celsius_inside.py:21", "try"]


class Weather(ac.Component):
    port = HeatPort()
    T = ac.Parameter(5.0, unit="degC")  # <- the port is in K

    def equations(self):
        yield self.port.T == self.T
