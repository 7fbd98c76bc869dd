"""Too many initial conditions.

Wanted: a tank whose level and outflow both start at chosen values.
Means: The outflow follows from the level; it cannot be chosen as well, unless the two agree.
Do: Free one of the starts (leave `fixed=True` out), so that it is only a first guess.
"""

import acausal as ac

THEME = "Starting"
SHOWN = "acausal run too_many_initial_conditions.py --until 10"
EXPECT = ["level", "outflow", "too_many_initial_conditions.py", "try"]


class Tank(ac.Component):
    level = ac.Variable(start=2.0, fixed=True, unit="m")
    outflow = ac.Variable(start=0.5, fixed=True, unit="m/s")  # <- follows from the level

    def equations(self):
        yield ac.der(self.level) == -self.outflow
        yield self.outflow == 0.1 * self.level
