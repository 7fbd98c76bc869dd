"""A component looks at another one beside it.

Wanted: a controller that reads the temperature of a room.
Means: A component sees its own quantities and those inside it. What lies beside it is joined by the component around both.
Do: Give the controller an `ac.Input` and connect it in the house: `yield self.room.T, self.controller.T`.
"""

import acausal as ac
from acausal.library.thermal import HeatCapacitor

THEME = "Connections"
SHOWN = "acausal check foreign_component.py:House"
EXPECT = ["Controller", "room", "foreign_component.py:23", "try"]


class Controller(ac.Component):
    y = ac.Variable()

    def __init__(self, room):
        self._room = room

    def equations(self):
        yield self.y == 0.5 * (294.15 - self._room.T)  # <- not its own


class House(ac.Component):
    def __init__(self):
        self.room = HeatCapacitor()
        self.controller = Controller(self.room)
