"""Degrees Celsius inside the model.

Wanted: temperatures in °C, as on the thermometer.
Means: Inside, numbers are used as they are declared; 20 °C and 293.15 K meet in one equation and differ by 273.15.
Do: Declare K. Give values as `"20 degC"`, read results with `result.in_unit("T", "degC")`.
"""

import acausal as ac

THEME = "Units"
SHOWN = "acausal check degrees_celsius_inside.py"
EXPECT = ["Room", "T_out", "degC", "K", "degrees_celsius_inside.py:21", "try"]


class Room(ac.Component):
    T = ac.Variable(start=293.15, fixed=True, unit="K")
    T_out = ac.Parameter(5.0, unit="degC")  # <- the rest is in K
    G, C = ac.Parameter(200.0, unit="W/K"), ac.Parameter(5e6, unit="J/K")

    def equations(self):
        yield self.C * ac.der(self.T) == -self.G * (self.T - self.T_out)
