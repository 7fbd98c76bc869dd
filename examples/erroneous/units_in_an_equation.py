"""The units of an equation do not agree.

Wanted: the heat balance of a tank.
Means: One side is a power, the other an energy: dimensions tell that something is missing.
Do: Follow the hint in the message; here it is `ac.der(self.T)`.
"""

import acausal as ac

THEME = "Units"
SHOWN = "acausal check units_in_an_equation.py"
EXPECT = ["Tank", "units_in_an_equation.py:21", "W", "J", "ac.der", "try"]


class Tank(ac.Component):
    T = ac.Variable(start=293.15, unit="K")
    C = ac.Parameter(4e5, unit="J/K")
    Q = ac.Parameter(2000.0, unit="W")

    def equations(self):
        yield self.C * self.T == self.Q  # <- energy == power
