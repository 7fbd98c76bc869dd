"""`yield super().equations()` without `from`.

Wanted: an own resistor that inherits from `TwoPin`.
Means: This yields the whole bundle of equations as if it were one.
Do: Write `yield from super().equations()`.
"""

import acausal as ac
from acausal.library.electrical import TwoPin

THEME = "Equations in Python"
SHOWN = "acausal check yield_without_from.py:Heater"
EXPECT = ["Heater", "yield_without_from.py:20", "yield from", "try"]


class Heater(TwoPin):
    R = ac.Parameter(50.0, unit="ohm")

    def equations(self):
        yield super().equations()  # <- no `from`
        yield self.v == self.R * self.i
