"""A discrete variable without a value.

Wanted: the mean of what was measured so far.
Means: At the event the value to be assigned is not a number: a division by zero, here.
Do: Look at what it is computed from, at that time; everything until then is kept.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal run division_by_zero_at_an_event.py --until 3 --quiet"
EXPECT = ["not finite", "at time 1", "Meter", "division_by_zero_at_an_event.py:24", "try"]


class Meter(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)
    mean = ac.Discrete(start=0.0)
    count = ac.Integer(start=0)

    def equations(self):
        yield ac.der(self.x) == 1.0

    def events(self):
        yield ac.when(self.x > 1, ac.assign(self.mean, self.x / self.count))  # <- nothing was counted
