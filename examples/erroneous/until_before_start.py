"""The end lies before the start.

Wanted: to begin at ten o'clock and simulate one hour.
Means: `until` is the time at which the run ends, not how long it takes.
Do: `--start 10h --until 11h`.
"""

import acausal as ac

THEME = "Running"
SHOWN = "acausal run until_before_start.py --start 10h --until 1h"  # <- ends before it begins
EXPECT = ["until", "start", "36000", "3600", "try"]


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x
