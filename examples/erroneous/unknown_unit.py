"""A unit that nobody knows.

Wanted: a flow in litres per second.
Means: The unit cannot be read, so nothing could be checked or converted.
Do: Take the one that is offered, or a product of SI units.
"""

import acausal as ac

THEME = "Units"
SHOWN = "acausal check unknown_unit.py"
EXPECT = ["V_flow", "Pump", "l/sek", "try"]


class Pump(ac.Component):
    V_flow = ac.Variable(unit="l/sek")  # <- sek

    def equations(self):
        yield self.V_flow == 3.0
