"""A solution that goes to infinity.

Wanted: a population that grows with its square.
Means: The equation is right as it stands, but its solution becomes infinite at t = 1 s; no solver gets past that.
Do: Look at the variable named, just before the end (everything up to there is kept), and at the law that lets it grow.
"""

import acausal as ac

THEME = "Running"
SHOWN = "acausal run finite_escape_time.py --until 2 --quiet"
EXPECT = ["x:", "infinity", "finite_escape_time.py:20", "try"]


class Population(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    rate = ac.Parameter(1.0)

    def equations(self):
        yield ac.der(self.x) == self.rate * self.x**2  # <- x = 1 / (1 - t)
