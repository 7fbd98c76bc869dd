"""The file is not valid Python.

Wanted: a decay.
Means: Python could not read the file; nothing of acausal has run yet.
Do: Look at the line, and at the one above it: a bracket or a colon is missing.
"""

import acausal as ac

THEME = "Model files"
SHOWN = "acausal check syntax_error.py"
EXPECT = ["syntax_error.py:18", "try"]


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self)  # <- no colon
        yield ac.der(self.x) == -self.x
