"""Two clauses that assign one variable.

Wanted: a heater that goes on when it is cold and off when it is warm.
Means: If both conditions became true at the same instant, nobody could say which assignment counts.
Do: Join them to one clause with `.elsewhen(…)`: the first branch that applies counts.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check two_clauses_for_one_variable.py"
EXPECT = ["`on`", "two statements", "two_clauses_for_one_variable.py:24", "two_clauses_for_one_variable.py:23", "elsewhen", "try"]


class Heater(ac.Component):
    T = ac.Variable(start=290.0, fixed=True)
    on = ac.Boolean(start=False)

    def equations(self):
        yield ac.der(self.T) == ac.where(self.on, 0.1, -0.1)

    def events(self):
        yield ac.when(self.T < 290.0, ac.assign(self.on, True))
        yield ac.when(self.T > 295.0, ac.assign(self.on, False))  # <- a second clause for `on`
