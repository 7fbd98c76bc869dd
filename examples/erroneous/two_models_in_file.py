"""Two models in one file.

Wanted: to simulate one of them.
Means: Either could be meant; acausal does not guess.
Do: Name it after a colon, or say once in the file which is the model.
"""

import acausal as ac

THEME = "Model files"
SHOWN = "acausal run two_models_in_file.py --until 5"
EXPECT = ["two_models_in_file.py:Decay", "two_models_in_file.py:Growth", "__model__", "try"]


class Decay(ac.Component):  # <- a model
    """Becomes less."""

    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x


class Growth(ac.Component):  # <- another
    """Becomes more."""

    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.x
