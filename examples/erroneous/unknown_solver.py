"""A solver that does not exist.

Wanted: the solver that is called DASSL elsewhere.
Means: There is no solver of that name. `acausal solvers` lists those that there are.
Do: Leave it out: the default is meant for all models.
"""

import acausal as ac

THEME = "Running"
SHOWN = "acausal run unknown_solver.py --until 1 --solver dassl"  # <- dassl
EXPECT = ["dassl", "ida", "try"]


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x
