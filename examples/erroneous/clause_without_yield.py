"""A clause without `yield`.

Wanted: a run that ends when the tank is full, and a count of the times at which it was half full.
Means: The clause is made and forgotten.
Do: Write `yield` before it.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check clause_without_yield.py"
EXPECT = ["`ac.when` is not yielded", "Tank", "clause_without_yield.py:24", "try"]


class Tank(ac.Component):
    h = ac.Variable(start=0.0, fixed=True)
    half = ac.Integer(start=0)

    def equations(self):
        yield ac.der(self.h) == 0.1

    def events(self):
        yield ac.when(self.h > 0.5, ac.assign(self.half, ac.pre(self.half) + 1))
        ac.when(self.h > 1.0, ac.terminate("full"))  # <- no `yield`
