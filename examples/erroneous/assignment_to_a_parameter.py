"""A parameter that is assigned.

Wanted: a valve that is half shut when the tank is full.
Means: A parameter is constant during a run. What changes at events is a discrete variable.
Do: Declare it with `ac.Discrete(start=…)`, `ac.Integer` or `ac.Boolean`.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check assignment_to_a_parameter.py"
EXPECT = ["`opening`", "ac.Discrete", "assignment_to_a_parameter.py:23", "try"]


class Tank(ac.Component):
    h = ac.Variable(start=0.0, fixed=True)
    opening = ac.Parameter(1.0)

    def equations(self):
        yield ac.der(self.h) == 0.1 * self.opening

    def events(self):
        yield ac.when(self.h > 1.0, ac.assign(self.opening, 0.5))  # <- a parameter
