"""Two switches that switch each other.

Wanted: a pump that runs when the tank is full, and a valve that shuts when the pump runs.
Means: At one instant the pump starts the valve, the valve stops the pump, and so on: no set of values agrees with itself.
Do: Break the circle: let one of the two switch at another level (hysteresis), or after some time.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal run events_that_cycle.py --until 3 --quiet"
EXPECT = ["does not come to rest", "pump", "valve", "at time 1", "try"]


class Tank(ac.Component):
    h = ac.Variable(start=0.0, fixed=True, unit="m")
    pump = ac.Boolean(start=False)
    valve = ac.Boolean(start=False)

    def equations(self):
        yield ac.der(self.h) == ac.where(self.pump, -1.0, 1.0)
        yield self.pump == (self.h > 1) & ~ac.pre(self.valve)  # <- stops when the valve shuts
        yield self.valve == ac.pre(self.pump)  # <- shuts when the pump runs
