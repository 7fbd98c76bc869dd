"""An assertion that does not hold.

Wanted: a tank that never overflows.
Means: The model itself says what must hold, and the run ends where it does not.
Do: Look at the variables in the condition just before that time: the model is used outside what it was made for, or is wrong.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal run assertion_that_fails.py --until 30 --quiet"
EXPECT = ["at time 20", "the tank overflows", "Tank", "assertion_that_fails.py:22", "try"]


class Tank(ac.Component):
    h = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.h) == 0.1

    def events(self):
        yield ac.assert_(self.h < 2.0, "the tank overflows")  # <- after 20 s
