"""Arrays of different length in an equation.

Wanted: heat conduction along a rod of five cells.
Means: `T[1:]` has four elements and `T[:-2]` three; element by element they do not match.
Do: Compare the slices: `T[1:] - T[:-1]`.
"""

import acausal as ac

THEME = "Arrays"
SHOWN = "acausal check arrays_of_different_length.py"
EXPECT = ["Rod", "(4,)", "(3,)", "arrays_of_different_length.py:20", "try"]


class Rod(ac.Component):
    T = ac.Variable(shape=5, start=300.0, unit="K")
    Q = ac.Variable(shape=4, unit="W")

    def equations(self):
        yield self.Q == 10.0 * (self.T[:-2] - self.T[1:])  # <- 3 and 4
