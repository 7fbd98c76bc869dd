"""An equation is missing.

Wanted: a heated tank of water.
Means: There are fewer equations than unknowns. The class that does not balance is named, with the variable in no equation.
Do: State the missing law, here for the heat loss.
"""

import acausal as ac

THEME = "Too few and too many equations"
SHOWN = "acausal check missing_equation.py"
EXPECT = ["Tank", "Q_loss", "missing_equation.py:21", "try"]


class Tank(ac.Component):
    T = ac.Variable(start=293.15, fixed=True, unit="K")
    Q_loss = ac.Variable(unit="W")  # <- in no law of its own
    C = ac.Parameter(4e5, unit="J/K")

    def equations(self):
        yield self.C * ac.der(self.T) == 2000.0 - self.Q_loss
