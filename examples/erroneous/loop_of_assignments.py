"""Assignments that need each other.

Wanted: two counters that follow each other.
Means: Both clocks tick at the same instants, and what happens at one instant happens at once: each value needs the other.
Do: Use the value before the tick, `ac.pre(…)`, in one of them, or let the clocks tick at different times.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal run loop_of_assignments.py --until 3 --quiet"
EXPECT = ["loop", "loop_of_assignments.py:20", "loop_of_assignments.py:21", "ac.pre", "try"]


class Counters(ac.Component):
    a = ac.Discrete(start=0.0)
    b = ac.Discrete(start=0.0)

    def events(self):
        yield ac.when(ac.sample(0, 1), ac.assign(self.b, self.a))  # <- b needs a
        yield ac.when(ac.sample(0, 1), ac.assign(self.a, self.b + 1))  # <- and a needs b
