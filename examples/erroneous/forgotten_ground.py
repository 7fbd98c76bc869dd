"""A circuit without a ground.

Wanted: a capacitor that is charged through a resistor.
Means: Only differences of voltages are determined; the level of the whole circuit may be anything.
Do: Connect a `Ground` to one node.
"""

import acausal as ac
from acausal.library.electrical import Capacitor, ConstantVoltage, Resistor

THEME = "Too few and too many equations"
SHOWN = "acausal check forgotten_ground.py"
EXPECT = ["source", "ground", "level", "try"]


class Circuit(ac.Component):
    def __init__(self):
        self.source, self.R, self.C = ConstantVoltage(V=5.0), Resistor(R=100.0), Capacitor(C=1e-3)

    def connections(self):
        yield self.source.p, self.R.p
        yield self.R.n, self.C.p
        yield self.C.n, self.source.n  # <- no ground here
