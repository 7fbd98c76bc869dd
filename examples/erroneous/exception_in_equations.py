"""`equations` itself raises an exception.

Wanted: layers of a wall from a dictionary of materials.
Means: `equations` is ordinary Python; here it stopped with a KeyError of its own.
Do: Mend the line that is named.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check exception_in_equations.py"
EXPECT = ["Wall", "KeyError", "'brik'", "exception_in_equations.py:22", "try"]

CONDUCTIVITY = {"brick": 0.6, "wood": 0.13}


class Wall(ac.Component):
    Q = ac.Variable(unit="W")
    dT = ac.Parameter(20.0, unit="K")

    def equations(self):
        yield self.Q == CONDUCTIVITY["brik"] * self.dT  # <- brik
