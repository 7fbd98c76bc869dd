"""Equations that have no solution after an event.

Wanted: a valve that is shut when the pressure is low.
Means: In the new state the equations cannot be met, while the pressure (a state) keeps its value.
Do: Look at the equations named, in the state named; where a state ought to jump, say so with `ac.reinit`.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal run unsolvable_after_an_event.py --until 3 --quiet"
EXPECT = ["at time 1", "mode: open → shut", "unsolvable_after_an_event.py:22", "Tried", "try"]


class Valve(ac.Component):
    mode = ac.States("open", "shut", initial="open")
    m = ac.Variable(start=1.0)
    p = ac.Variable(start=3.0, fixed=True)

    def equations(self):
        yield ac.der(self.p) == -self.m
        yield ac.during(self.mode.open, self.m == 1.0)
        yield ac.during(self.mode.shut, self.m**2 + 1 == 0)  # <- no solution

    def transitions(self):
        yield self.mode.open.to("shut", when=self.p < 2)
