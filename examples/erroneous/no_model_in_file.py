"""A file without a model.

Wanted: a model; the class does not inherit from `ac.Component`.
Means: `acausal` looks for classes that inherit from `ac.Component`; this file has none.
Do: Write `class Decay(ac.Component):`.
"""

import acausal as ac

THEME = "Model files"
SHOWN = "acausal check no_model_in_file.py"
EXPECT = ["no_model_in_file.py", "Decay", "ac.Component", "try"]


class Decay:  # <- not a component
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x
