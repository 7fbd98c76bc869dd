"""A name is mistyped where a component is made.

Wanted: a heavier body.
Means: The class declares no such parameter. The message offers what is near and lists what there is.
Do: Correct the name.
"""

import acausal as ac

THEME = "Parameters"
SHOWN = "acausal check name_mistyped_in_modification.py:Plant"
EXPECT = ["Pipe", "lenght", "`length`", "name_mistyped_in_modification.py:26", "try"]


class Pipe(ac.Component):
    length = ac.Parameter(1.0, unit="m")
    diameter = ac.Parameter(0.05, unit="m")
    V = ac.Variable(unit="m^3")

    def equations(self):
        yield self.V == ac.pi / 4 * self.diameter**2 * self.length


class Plant(ac.Component):
    def __init__(self):
        self.pipe = Pipe(lenght=12.0)  # <- lenght
