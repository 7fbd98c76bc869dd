"""The logarithm of a negative number at the start.

Wanted: the mean temperature difference of a heat exchanger.
Means: With these start values the ratio of the differences is negative; its logarithm does not exist.
Do: Give start values for which it does.
"""

import acausal as ac

THEME = "Starting"
SHOWN = "acausal run logarithm_at_start.py --until 10"
EXPECT = ["Exchanger", "logarithm", "logarithm_at_start.py:20", "T = 350", "try"]


class Exchanger(ac.Component):
    T = ac.Variable(start=350.0, fixed=True, unit="K")  # <- above 330 K
    rate = ac.Variable(unit="K/s")

    def equations(self):
        yield self.rate == 2.0 * ac.log((330.0 - self.T) / 10.0) - 0.1 * self.rate
        yield ac.der(self.T) == self.rate
