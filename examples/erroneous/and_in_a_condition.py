"""`and` combines conditions.

Wanted: a valve that is open between 1 s and 2 s.
Means: Python's `and`, `or`, `not` ask for the truth of a condition at once, before the simulation runs.
Do: Use `&`, `|`, `~`, with each comparison in parentheses.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check and_in_a_condition.py"
EXPECT = ["Valve", "and_in_a_condition.py:20", "&", "try"]


class Valve(ac.Component):
    V = ac.Variable(start=0.0, fixed=True, unit="m^3")
    opening = ac.Variable()

    def equations(self):
        yield self.opening == ac.where(ac.time > 1 and ac.time < 2, 1.0, 0.0)  # <- `and`
        yield ac.der(self.V) == 0.01 * self.opening
