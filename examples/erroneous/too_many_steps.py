"""The maximum number of steps is reached.

Wanted: a day of a motor whose current vibrates a thousand times a second.
Means: Every vibration needs its own steps, a day has very many of them, and the number was limited.
Do: Simulate a shorter time, raise `max_steps`, or leave out of the model what is faster than anything of interest.
"""

import acausal as ac

THEME = "Running"
SHOWN = "acausal run too_many_steps.py --until 1day --option max_steps=500 --quiet"
EXPECT = ["max_steps", "i", "u", "try"]


class Resonance(ac.Component):
    i = ac.Variable(start=1.0, fixed=True, unit="A")
    u = ac.Variable(start=0.0, fixed=True, unit="V")
    L, C = ac.Parameter(1e-3, unit="H"), ac.Parameter(1e-5, unit="F")

    def equations(self):
        yield self.L * ac.der(self.i) == -self.u  # <- 1.6 kHz
        yield self.C * ac.der(self.u) == self.i
