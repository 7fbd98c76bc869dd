"""A parameter has the wrong number of elements.

Wanted: three layers of a wall, with their conductances.
Means: The parameter is declared with three elements, and two were given.
Do: Give one number for each element, or a single number for all.
"""

import acausal as ac

THEME = "Parameters"
SHOWN = "acausal check parameter_of_wrong_shape.py:House"
EXPECT = ["wall.G", "(2,)", "(3,)", "try"]


class Layers(ac.Component):
    G = ac.Parameter(1.0, shape=3, unit="W/K")
    Q = ac.Variable(shape=3, unit="W")
    dT = ac.Parameter(10.0, unit="K")

    def equations(self):
        yield self.Q == self.G * self.dT


class House(ac.Component):
    def __init__(self):
        self.wall = Layers(G=[2.0, 0.3])  # <- two of three
