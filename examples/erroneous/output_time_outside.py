"""An output time outside the run.

Wanted: values at three times.
Means: The last of them lies after the end of the run.
Do: Simulate longer, or ask for an earlier time.
"""

import acausal as ac

THEME = "Running"
SHOWN = "python output_time_outside.py"
EXPECT = ["20", "10", "end", "try"]


class Decay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.x


if __name__ == "__main__":
    ac.compile(Decay()).simulate(until=10.0, at=[1.0, 5.0, 20.0])  # <- 20 s
