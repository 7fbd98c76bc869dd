"""A ball that bounces ever faster.

Wanted: a ball that bounces until it lies on the ground.
Means: Each flight is a little shorter than the one before; infinitely many of them fit into a finite time (Zeno).
Do: Add a state in which the ball rests, entered when it is slow; or end the run there.
"""

import acausal as ac

THEME = "Events"
SHOWN = "acausal run ball_that_never_rests.py --until 5 --quiet"
EXPECT = ["pile up", "h <= 0", "Ball", "ball_that_never_rests.py:24", "rest", "try"]


class Ball(ac.Component):
    h = ac.Variable(start=1.0, fixed=True)
    v = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == -9.81

    def events(self):
        yield ac.when(self.h <= 0, ac.reinit(self.v, -0.7 * ac.pre(self.v)))  # <- also when it is nearly at rest
