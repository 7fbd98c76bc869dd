"""An equation between numbers.

Wanted: to state that two areas are the same.
Means: Both sides are plain Python numbers, so Python compares them at once and yields True or False.
Do: Leave it out, or declare what may change as a variable or a parameter and refer to it by `self.`.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check equation_between_numbers.py"
EXPECT = ["Pipe", "bool", "equation_between_numbers.py:23", "try"]

AREA = 0.02


class Pipe(ac.Component):
    w = ac.Variable(unit="m/s")
    V_flow = ac.Parameter(0.1, unit="m^3/s")

    def equations(self):
        yield self.w * AREA == self.V_flow
        yield AREA == 0.02  # <- two numbers
