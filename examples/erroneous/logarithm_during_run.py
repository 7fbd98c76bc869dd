"""The logarithm of a negative number during the run.

Wanted: the concentration of a reactant that is used up at a constant rate.
Means: The concentration became zero and the logarithm ceased to exist. Everything up to there is kept.
Do: Let the rate vanish with the concentration (`rate * c`), or end the run earlier.
"""

import acausal as ac

THEME = "Running"
SHOWN = "acausal run logarithm_during_run.py --until 3 --quiet"
EXPECT = ["Reactor", "logarithm", "logarithm_during_run.py:21", "time", "try"]


class Reactor(ac.Component):
    c = ac.Variable(start=1.0, fixed=True)
    mu = ac.Variable()

    def equations(self):
        yield ac.der(self.c) == -1.0 + 1e-6 * self.mu  # <- goes on when nothing is left
        yield self.mu == ac.log(self.c) - 0.1 * self.mu
