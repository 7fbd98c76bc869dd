"""An option that the solver does not have.

Wanted: to limit the number of steps.
Means: Options are those of the solver; this one is spelt differently.
Do: Take the name that is offered.
"""

import acausal as ac

THEME = "Running"
SHOWN = "python unknown_option.py"
EXPECT = ["maxsteps", "`max_steps`", "ida", "try"]


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x


if __name__ == "__main__":
    ac.compile(Decay()).simulate(until=1.0, solver="ida", maxsteps=100)  # <- maxsteps
