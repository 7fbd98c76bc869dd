"""Two fixed starts for one unknown.

Wanted: two bodies in contact, one warm and one cold.
Means: What is connected has one temperature; both starts were said to hold exactly.
Do: Fix one of them only, or put a resistance between the bodies.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor

THEME = "Starting"
SHOWN = "acausal run conflicting_fixed_starts.py --until 10"
EXPECT = ["warm", "cold", "300", "350", "fix", "try"]


class Contact(ac.Component):
    def __init__(self):
        self.warm = HeatCapacitor(T=ac.start(350.0, fixed=True))
        self.cold = HeatCapacitor(T=ac.start(300.0, fixed=True))

    def connections(self):
        yield self.warm.port, self.cold.port  # <- one temperature from now on
