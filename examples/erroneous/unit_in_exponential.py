"""A function of a quantity with a unit.

Wanted: Arrhenius' law.
Means: The exponential of joules per mole means nothing; only a plain number can stand there.
Do: Divide by a quantity of the same kind: `E / (R T)`.
"""

import acausal as ac

THEME = "Units"
SHOWN = "acausal check unit_in_exponential.py"
EXPECT = ["Reaction", "exp", "E/T", "unit_in_exponential.py:21", "try"]


class Reaction(ac.Component):
    T = ac.Parameter(350.0, unit="K")
    E = ac.Parameter(5e4, unit="J/mol")
    k = ac.Variable(unit="1/s")

    def equations(self):
        yield self.k == 1e7 * ac.exp(-self.E / self.T)  # <- J/(mol K)
