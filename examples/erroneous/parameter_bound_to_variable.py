"""A parameter depends on a variable.

Wanted: a conductivity that grows with the temperature.
Means: A parameter keeps its value during a run; what changes is a variable with an equation.
Do: Declare an `ac.Variable` and state the law in `equations`, or name the expression there: `self.k = …`.
"""

import acausal as ac

THEME = "Parameters"
SHOWN = "acausal check parameter_bound_to_variable.py"
EXPECT = ["Rod", "`k`", "`T`", "try"]


class Rod(ac.Component):
    T = ac.Variable(start=350.0, fixed=True, unit="K")
    k = ac.Parameter(0.5 * (1 + 0.002 * (T - 300.0)), unit="W/K")  # <- T changes

    def equations(self):
        yield 100.0 * ac.der(self.T) == -self.k * (self.T - 300.0)
