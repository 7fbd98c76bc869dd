"""`==` in a condition.

Wanted: something to happen when the level is one metre.
Means: `==` states an equation. Two numbers that change continuously are never exactly equal anyway.
Do: Compare with `<`, `<=`, `>`, `>=`: the event is where the relation changes.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check equation_as_condition.py"
EXPECT = ["not a condition", "Tank", "equation_as_condition.py:22", "try"]


class Tank(ac.Component):
    h = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.h) == 0.1

    def events(self):
        yield ac.when(self.h == 1.0, ac.terminate("full"))  # <- `==`
