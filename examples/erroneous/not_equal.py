"""`!=` in an equation.

Wanted: a pump that runs unless the level is zero.
Means: `!=` states no equation. As a condition it is no use either: a computed level is never *exactly* zero.
Do: Compare with `<` or `>` inside `ac.where`.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check not_equal.py"
EXPECT = ["Sump", "not_equal.py:20", "ac.where", "try"]


class Sump(ac.Component):
    level = ac.Variable(start=1.0, fixed=True, unit="m")
    pump = ac.Variable()

    def equations(self):
        yield self.pump == ac.where(self.level != 0, 1.0, 0.0)  # <- `!=`
        yield ac.der(self.level) == -0.1 * self.pump
