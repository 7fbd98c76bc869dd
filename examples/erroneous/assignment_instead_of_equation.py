"""`=` instead of `==`.

Wanted: that the heat flow follows the temperature difference.
Means: `=` is Python's assignment. Between variables of a model stands `==`, and `yield` in front of it.
Do: Write `yield self.Q == …`. (An assignment to a *new* name is allowed: it names an expression, so that it can be plotted.)
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check assignment_instead_of_equation.py"
EXPECT = ["Room.Q", "assignment_instead_of_equation.py:20", "yield self.Q ==", "try"]


class Room(ac.Component):
    T = ac.Variable(start=293.15, fixed=True, unit="K")
    Q = ac.Variable(unit="W")

    def equations(self):
        self.Q = 200.0 * (self.T - 273.15)  # <- an assignment
        yield 5e6 * ac.der(self.T) == -self.Q
