"""The equations of the base class are forgotten.

Wanted: an own resistor that inherits pins, voltage and current from `TwoPin`.
Means: Python replaces the inherited `equations`; those of `TwoPin` (voltage of the pins, sum of the currents) are gone.
Do: Begin with `yield from super().equations()`.
"""

import acausal as ac
from acausal.library.electrical import ConstantVoltage, Ground, TwoPin

THEME = "Equations in Python"
SHOWN = "acausal check forgotten_super.py"
EXPECT = ["Heater", "forgotten_super.py", "super().equations()", "try"]


class Heater(TwoPin):
    R = ac.Parameter(50.0, unit="ohm")

    def equations(self):
        yield self.v == self.R * self.i  # <- those of TwoPin are missing


class Circuit(ac.Component):
    def __init__(self):
        self.source, self.heater, self.ground = ConstantVoltage(V=230.0), Heater(), Ground()

    def connections(self):
        yield self.source.p, self.heater.p
        yield self.source.n, self.heater.n, self.ground.p
