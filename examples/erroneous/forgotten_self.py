"""`self.` is forgotten.

Wanted: a room that cools down.
Means: Names declared in the class body belong to the component. Inside `equations` Python knows them only as `self.T`, `self.G`.
Do: Put `self.` in front of every quantity of the component.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check forgotten_self.py"
EXPECT = ["Room", "self.T", "forgotten_self.py:21", "try"]


class Room(ac.Component):
    T = ac.Variable(start=293.15, unit="K")
    C = ac.Parameter(5e6, unit="J/K")
    G = ac.Parameter(200.0, unit="W/K")

    def equations(self):
        yield self.C * ac.der(T) == -self.G * (self.T - 273.15)  # <- T is not a name that Python knows here
