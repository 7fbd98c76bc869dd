"""Division by zero at the start.

Wanted: a draining tank; its level starts empty.
Means: At the start values an equation has no value. The message shows the operation, its numbers and where they come from.
Do: Start where the equation has a value, or write it in a form that always has one (`ac.regularised_sqrt`, a product instead of a quotient).
"""

import acausal as ac

THEME = "Starting"
SHOWN = "acausal run division_by_zero_at_start.py --until 10"
EXPECT = ["Tank", "division by zero", "division_by_zero_at_start.py:21", "level = 0", "try"]


class Tank(ac.Component):
    level = ac.Variable(start=0.0, fixed=True, unit="m")
    residence = ac.Variable(unit="s")

    def equations(self):
        yield ac.der(self.level) == 0.1 - 1e-3 * self.residence
        yield self.residence == 0.5 / self.level + 0.1 * self.residence  # <- level is 0
