"""An equation too many.

Wanted: a capacitor; the charge balance is stated twice, in two forms.
Means: There are more equations than unknowns; one of those listed must go.
Do: Remove the one that says the same again.
"""

import acausal as ac

THEME = "Too few and too many equations"
SHOWN = "acausal check doubled_equation.py"
EXPECT = ["Charged", "doubled_equation.py:22", "doubled_equation.py:23", "ac.der(self.q) == -self.u / self.R", "try"]


class Charged(ac.Component):
    u = ac.Variable(start=5.0, fixed=True, unit="V")
    q = ac.Variable(unit="C")
    C, R = ac.Parameter(1e-3, unit="F"), ac.Parameter(100.0, unit="ohm")

    def equations(self):
        yield self.q == self.C * self.u
        yield ac.der(self.q) == -self.u / self.R  # <- this …
        yield self.C * ac.der(self.u) == -self.u / self.R  # <- … and this are the same law
