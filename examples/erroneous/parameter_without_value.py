"""A parameter has no value.

Wanted: a spring; its stiffness was to be given later.
Means: The class leaves the value open (`ac.Parameter()`), so each component must give one.
Do: Give it where the component is made.
"""

import acausal as ac

THEME = "Parameters"
SHOWN = "acausal check parameter_without_value.py:Scale"
EXPECT = ["spring.c", "Spring", "Spring(c=…)", "try"]


class Spring(ac.Component):
    c = ac.Parameter(unit="N/m")
    x = ac.Variable(unit="m")

    def equations(self):
        yield self.c * self.x == 10.0


class Scale(ac.Component):
    def __init__(self):
        self.spring = Spring()  # <- Spring(c=…)
