"""Two current sources in series.

Wanted: two pumps of charge, one behind the other.
Means: Each prescribes the current; they are in one loop, so there is one current and two values.
Do: Give one of them a resistance in parallel, or remove it.
"""

import acausal as ac
from acausal.library.electrical import ConstantCurrent, Ground

THEME = "Too few and too many equations"
SHOWN = "acausal check sources_in_series.py"
EXPECT = ["a.I", "b.I", "two values", "try"]


class Circuit(ac.Component):
    def __init__(self):
        self.a, self.b, self.ground = ConstantCurrent(I=1.0), ConstantCurrent(I=2.0), Ground()

    def connections(self):
        yield self.a.n, self.b.p  # <- one current, two values
        yield self.b.n, self.a.p, self.ground.p
