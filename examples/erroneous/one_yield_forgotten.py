"""One `yield` of several is forgotten.

Wanted: a spring with a mass.
Means: The other equations are there, so this looks like a missing equation: the variable in the forgotten one is left over.
Do: Look at the component named first; each of its equations needs its own `yield`.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check one_yield_forgotten.py"
EXPECT = ["Oscillator", "one_yield_forgotten.py:24", "f", "yield", "try"]


class Oscillator(ac.Component):
    x = ac.Variable(start=0.1, fixed=True, unit="m")
    v = ac.Variable(start=0.0, fixed=True, unit="m/s")
    f = ac.Variable(unit="N")
    m, c = ac.Parameter(2.0, unit="kg"), ac.Parameter(8.0, unit="N/m")

    def equations(self):
        yield ac.der(self.x) == self.v
        yield self.m * ac.der(self.v) == self.f
        self.f == -self.c * self.x  # <- no `yield`
