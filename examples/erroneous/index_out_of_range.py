"""An index is out of range.

Wanted: the last of five temperatures.
Means: Elements are counted from 0, so the last of five is `T[4]`.
Do: Use `T[4]`, or `T[-1]`.
"""

import acausal as ac

THEME = "Arrays"
SHOWN = "acausal check index_out_of_range.py"
EXPECT = ["Rod", "T", "5", "index_out_of_range.py:20", "try"]


class Rod(ac.Component):
    T = ac.Variable(shape=5, start=300.0, unit="K")

    def equations(self):
        yield self.T[:4] == 300.0
        yield self.T[5] == 350.0  # <- there is no element 5
