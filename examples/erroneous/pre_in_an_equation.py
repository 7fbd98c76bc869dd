"""`pre` of a continuous variable in an equation.

Wanted: a filter that follows the value a moment ago.
Means: `ac.pre(x)` is the value just before an event. Between events there is no such value.
Do: Use the variable itself; for a delayed value, let a clock keep it in a discrete variable.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check pre_in_an_equation.py"
EXPECT = ["`pre(x)`", "Filter", "pre_in_an_equation.py:21", "try"]


class Filter(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)
    y = ac.Variable()

    def equations(self):
        yield ac.der(self.x) == ac.sin(ac.time) - self.x
        yield self.y == 0.5 * (self.x + ac.pre(self.x))  # <- between events
