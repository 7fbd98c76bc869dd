"""Equations that no numbers fulfil.

Wanted: the operating point of a pump and a pipe.
Means: There are as many equations as unknowns, but the curves do not meet: at the best point found, residuals remain.
Do: Look at the worst residual and at the parameters in it; here the pump is too weak for the static head.
"""

import acausal as ac

THEME = "Starting"
SHOWN = "acausal run no_solution_at_start.py --until 10"
EXPECT = ["V", "no_solution_at_start.py:21", "start", "try"]


class Pumping(ac.Component):
    V = ac.Variable(start=1.0, unit="m^3/s")
    head = ac.Variable(start=20.0, unit="m")

    def equations(self):
        yield self.head == 10.0 - 0.5 * self.V**2
        yield self.head == 15.0 + 2.0 * self.V**2  # <- always above the line before
