"""The sign of a flow is wrong.

Wanted: a current source that feeds a resistor.
Means: Flows are positive *into* a component, at each of its ports. What goes in on one side comes out of the other with the
opposite sign; `p.i == n.i` says that current enters from both sides and vanishes.
Do: Write `self.p.i + self.n.i == 0`.
"""

import acausal as ac
from acausal.library.electrical import ConstantCurrent, Pin

THEME = "Too few and too many equations"
SHOWN = "acausal check wrong_sign_of_a_flow.py:Circuit"
EXPECT = ["R.p.i", "R.n.i", "wrong_sign_of_a_flow.py:22", "try"]


class Resistor(ac.Component):
    p, n = Pin(), Pin()
    R = ac.Parameter(10.0, unit="ohm")

    def equations(self):
        yield self.p.i == self.n.i  # <- both are positive into the resistor
        yield self.p.v - self.n.v == self.R * self.p.i


class Circuit(ac.Component):
    def __init__(self):
        self.source, self.R = ConstantCurrent(I=1.0), Resistor()

    def connections(self):
        yield self.source.p, self.R.p
        yield self.source.n, self.R.n
