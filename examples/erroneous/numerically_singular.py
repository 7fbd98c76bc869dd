"""Equations that say the same twice, with these numbers.

Wanted: the currents of two meshes; a parameter makes the second equation a multiple of the first.
Means: The structure is fine, the numbers are not: with k = 2 both lines are one condition, so x and y are not determined.
Do: Look at the coefficients of the equations that are named.
"""

import acausal as ac

THEME = "Starting"
SHOWN = "acausal run numerically_singular.py --until 10"
EXPECT = ["x", "y", "numerically_singular.py", "singular", "try"]


class Meshes(ac.Component):
    x, y = ac.Variable(unit="A"), ac.Variable(unit="A")
    k = ac.Parameter(2.0)

    def equations(self):
        yield self.x + 2 * self.y == ac.sin(ac.time)
        yield self.k * self.x + 4 * self.y == 1.0  # <- twice the line before, if k is 2
