"""`yield` is forgotten.

Wanted: a tank that runs empty.
Means: An equation that is not yielded is computed by Python and thrown away; the model never hears of it.
Do: Put `yield` in front of every equation.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check forgotten_yield.py"
EXPECT = ["Tank", "equations", "forgotten_yield.py:19", "yield", "try"]


class Tank(ac.Component):
    level = ac.Variable(start=2.0, fixed=True, unit="m")

    def equations(self):
        ac.der(self.level) == -0.1 * self.level  # <- no `yield`
