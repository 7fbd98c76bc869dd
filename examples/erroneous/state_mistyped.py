"""A state that does not exist.

Wanted: a thermostat that goes off.
Means: The state variable has no state of that name.
Do: Look at the names it has; the nearest one is offered.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal check state_mistyped.py"
EXPECT = ["no state `of`", "Did you mean `off`", "state_mistyped.py:23", "try"]


class Thermostat(ac.Component):
    cooling = ac.States("on", "off", initial="on")
    T = ac.Variable(start=280.0, fixed=True)

    def equations(self):
        yield ac.der(self.T) == ac.match(self.cooling, on=-1.0, off=1.0)

    def transitions(self):
        yield self.cooling.on.to("of", when=self.T < 275)  # <- `of`
