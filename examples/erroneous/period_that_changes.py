"""A clock whose period changes.

Wanted: a controller that samples faster when the error is large.
Means: All clocks share one base clock, which is made before the run begins.
Do: Let a discrete variable hold the time of the next sample.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check period_that_changes.py"
EXPECT = ["`x`", "changes during a run", "period_that_changes.py:23", "try"]


class Controller(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    u = ac.Discrete(start=0.0)

    def equations(self):
        yield ac.der(self.x) == self.u - self.x

    def events(self):
        yield ac.when(ac.sample(0, 0.1 + self.x), ac.assign(self.u, -self.x))  # <- depends on `x`
