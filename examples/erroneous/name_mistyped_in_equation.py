"""A name is mistyped in an equation.

Wanted: a heat capacity with a heat loss.
Means: The component declares no such quantity. The message says which name is near.
Do: Correct the name, or declare it.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check name_mistyped_in_equation.py"
EXPECT = ["Room", "temprature", "`temperature`", "name_mistyped_in_equation.py:20", "try"]


class Room(ac.Component):
    temperature = ac.Variable(start=293.15, fixed=True, unit="K")
    C = ac.Parameter(5e6, unit="J/K")

    def equations(self):
        yield self.C * ac.der(self.temprature) == -200.0  # <- temprature
