"""A difference instead of an equation.

Wanted: that x and y are equal.
Means: `self.x - self.y` is only an expression; nothing says what it is equal to.
Do: Write `yield self.x == self.y`, or `yield self.x - self.y == 0`.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check difference_instead_of_equation.py"
EXPECT = ["Follower", "x - y", "difference_instead_of_equation.py:21", "== 0", "try"]


class Follower(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    y = ac.Variable()

    def equations(self):
        yield ac.der(self.x) == -self.x
        yield self.x - self.y  # <- no `==`
