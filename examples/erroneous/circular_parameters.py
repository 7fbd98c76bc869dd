"""Parameters are defined in a circle.

Wanted: area and diameter, each from the other, so that either may be given.
Means: Each waits for the other; none has a value.
Do: Give one of them a number in the class.
"""

import acausal as ac

THEME = "Parameters"
SHOWN = "acausal check circular_parameters.py"
EXPECT = ["area", "diameter", "circle", "try"]


class Pipe(ac.Component):
    area = ac.Parameter(unit="m^2")
    diameter = ac.Parameter((4 * area / ac.pi) ** 0.5, unit="m")  # <- from the area
    w = ac.Variable(unit="m/s")

    def equations(self):
        yield self.area * self.w == 0.01

    def __init__(self):
        self.area = ac.pi / 4 * self.diameter**2  # <- from the diameter
