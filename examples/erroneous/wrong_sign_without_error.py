"""The sign of a flow is wrong, and nothing complains.

Wanted: a wall between a room and the outside.
Means: The equations are complete, so there is no error; but heat enters the wall from both sides and is lost. Balances tell.
Do: Write `self.a.Q_flow + self.b.Q_flow == 0`. Look at sums of flows when a result seems odd.
"""

import acausal as ac
from acausal.library.thermal import FixedTemperature, HeatCapacitor, HeatPort

THEME = "Too few and too many equations"
SHOWN = "python wrong_sign_without_error.py"
EXPECT = ["into the wall from both sides", "400"]


class Wall(ac.Component):
    a, b = HeatPort(), HeatPort()

    def equations(self):
        yield self.a.Q_flow == self.b.Q_flow  # <- both are positive into the wall
        yield self.a.Q_flow == 10.0 * (self.a.T - self.b.T)


class House(ac.Component):
    def __init__(self):
        self.room, self.wall, self.outside = HeatCapacitor(C=5e6), Wall(), FixedTemperature(T=273.15)

    def connections(self):
        yield self.room.port, self.wall.a
        yield self.wall.b, self.outside.port


if __name__ == "__main__":
    result = ac.compile(House()).simulate(until=1.0)
    lost = result["wall.a.Q_flow"][0] + result["wall.b.Q_flow"][0]
    print(f"heat flow into the wall from both sides: {lost:.0f} W (a wall that stores nothing: 0 W)")
