"""An initial equation beside a fixed start.

Wanted: a body that starts at 300 K and at rest.
Means: One state needs one condition. The start value was fixed, so there is none left for the initial equation.
Do: Remove `fixed=True` or the initial equation.
"""

import acausal as ac

THEME = "Starting"
SHOWN = "acausal run contradicting_initial_equation.py --until 10"
EXPECT = ["T", "contradicting_initial_equation.py:24", "try"]


class Body(ac.Component):
    T = ac.Variable(start=300.0, fixed=True, unit="K")  # <- fixed …
    G, C = ac.Parameter(2.0, unit="W/K"), ac.Parameter(500.0, unit="J/K")
    T_out = ac.Parameter(280.0, unit="K")

    def equations(self):
        yield self.C * ac.der(self.T) == -self.G * (self.T - self.T_out)

    def initial_equations(self):
        yield ac.der(self.T) == 0  # <- … and at rest?
