"""A Python list of expressions as an array.

Wanted: three flows in one equation.
Means: A list of single variables is not an array.
Do: Declare one variable with `shape=3`, or state three equations in a loop.
"""

import acausal as ac

THEME = "Arrays"
SHOWN = "acausal check list_of_expressions.py"
EXPECT = ["Header", "list", "list_of_expressions.py:20", "shape=", "try"]


class Header(ac.Component):
    a, b, c = ac.Variable(), ac.Variable(), ac.Variable()
    m = ac.Variable(shape=3)

    def equations(self):
        yield self.m == [self.a, self.b, self.c]  # <- a list
