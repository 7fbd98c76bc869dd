"""A class where a component is needed.

Wanted: to compile the model.
Means: A class is the plan of a component; a model is made from a component, with its parameters.
Do: Call the class: `ac.compile(Decay())`.
"""

import acausal as ac

THEME = "Model files"
SHOWN = "python class_instead_of_component.py"
EXPECT = ["ac.compile(Decay())", "class", "try"]


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x


if __name__ == "__main__":
    ac.compile(Decay)  # <- no parentheses
