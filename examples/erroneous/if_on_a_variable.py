"""`if` decides on a variable.

Wanted: a heater that is on below 20 °C.
Means: `equations` runs once, before anything is computed; the temperature has no value then, and `if` cannot look at it.
Do: Use `ac.where(condition, a, b)`: it decides during the simulation. `if` is right for what is known beforehand, such as a number of cells.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check if_on_a_variable.py"
EXPECT = ["Room", "T < 293.15", "if_on_a_variable.py:20", "ac.where", "try"]


class Room(ac.Component):
    T = ac.Variable(start=290.0, fixed=True, unit="K")
    Q = ac.Variable(unit="W")

    def equations(self):
        if self.T < 293.15:  # <- has no value yet
            yield self.Q == 2000.0
        else:
            yield self.Q == 0.0
        yield 5e6 * ac.der(self.T) == self.Q - 150.0
