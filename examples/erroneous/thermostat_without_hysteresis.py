"""A thermostat that chatters.

Wanted: a heater that is on below 293 K and off above.
Means: On either side of 293 K the room goes back to 293 K at once, so that the heater goes on and off without end.
Do: Switch on and off at two different temperatures; or let the solution slide, `simulate(…, sliding="filippov")`.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal run thermostat_without_hysteresis.py --until 100 --quiet"
EXPECT = ["Chattering", "T < 293", "Room", "thermostat_without_hysteresis.py:19", "hysteresis", "filippov", "try"]


class Room(ac.Component):
    T = ac.Variable(start=290.0, fixed=True)

    def equations(self):
        yield ac.der(self.T) == ac.where(self.T < 293, 1.0, -1.0)  # <- one switching point
