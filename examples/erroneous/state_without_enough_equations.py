"""A state with too few equations.

Wanted: a valve that is open or shut.
Means: While it is shut, both the flow and the opening stand in the equation, and one equation does not determine two variables.
Do: State as many equations in each state as there are variables in them; a variable that stands in none of them rests.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check state_without_enough_equations.py"
EXPECT = ["Valve", "mode is shut", "1 fewer", "state_without_enough_equations.py:23", "try"]


class Valve(ac.Component):
    mode = ac.States("open", "shut", initial="open")
    p = ac.Variable(start=3.0, fixed=True)
    m, opening = ac.Variable(), ac.Variable()

    def equations(self):
        yield ac.der(self.p) == -self.m
        yield ac.during(self.mode.open, self.m == self.opening * self.p, self.opening == 1)
        yield ac.during(self.mode.shut, self.m == self.opening * self.p)  # <- what is the opening?

    def transitions(self):
        yield self.mode.open.to("shut", when=self.p < 1)
