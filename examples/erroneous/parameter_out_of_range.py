"""A parameter is out of its range.

Wanted: a capacitor of 10 µF; a sign slipped in.
Means: The class says which values make sense (`min`, `max`); this one lies outside.
Do: Give a value inside the range, or widen it where the range is wrong.
"""

import acausal as ac
from acausal.library.electrical import Capacitor, Ground, Resistor

THEME = "Parameters"
SHOWN = "acausal check parameter_out_of_range.py"
EXPECT = ["C.C", "-1e-05 F", "≥ 0 F", "try"]


class Circuit(ac.Component):
    def __init__(self):
        self.C, self.R, self.ground = Capacitor(C=-10e-6), Resistor(), Ground()  # <- negative

    def connections(self):
        yield self.C.p, self.R.p
        yield self.C.n, self.R.n, self.ground.p
