"""`reinit` of something that is not a state.

Wanted: a tank that is emptied when its pressure gets too high.
Means: Only a state can jump: a variable whose derivative is in the equations. The pressure is computed from the level at all times.
Do: Let the state jump that the variable is computed from.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check reinit_of_an_algebraic_variable.py"
EXPECT = ["`p`", "not a state", "reinit_of_an_algebraic_variable.py:24", "try"]


class Tank(ac.Component):
    h = ac.Variable(start=0.0, fixed=True, doc="level")
    p = ac.Variable(doc="pressure")

    def equations(self):
        yield ac.der(self.h) == 0.1
        yield self.p == 9810.0 * self.h

    def events(self):
        yield ac.when(self.p > 1000.0, ac.reinit(self.p, 0.0))  # <- not `h`
