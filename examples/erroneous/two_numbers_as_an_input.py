"""Two numbers as an input.

Wanted: an outdoor temperature that rises from 280 K to 285 K.
Means: a list of two numbers is neither one value nor values at times.
Do: Say when: `([0.0, 3600.0], [280.0, 285.0])`, times first, or pairs `[(0.0, 280.0), (3600.0, 285.0)]`.
"""

import acausal as ac

THEME = "Running"
SHOWN = "python two_numbers_as_an_input.py"
EXPECT = ["T_out", "Two numbers", "times and values"]


class Room(ac.Component):
    T_out = ac.Input(280.0, unit="K")
    T = ac.Variable(start=293.15, unit="K")
    tau = ac.Parameter(3600.0, unit="s")

    def equations(self):
        yield self.tau * ac.der(self.T) == self.T_out - self.T


if __name__ == "__main__":
    model = ac.compile(Room())
    model.simulate(until="1 h", inputs={"T_out": [280.0, 285.0]})  # <- when?
