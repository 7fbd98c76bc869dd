"""The result cannot be written.

Wanted: the result in a folder of its own.
Means: The folder is not there. This is said before the run, so that nobody waits in vain.
Do: Make the folder.
"""

import acausal as ac

THEME = "Running"
SHOWN = "acausal run unwritable_output.py --until 1 --output results/decay.csv"  # <- no such folder
EXPECT = ["results/decay.csv", "results", "mkdir", "try"]


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x
