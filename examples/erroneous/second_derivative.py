"""The derivative of a derivative.

Wanted: Newton's law, mass times acceleration.
Means: Equations contain first derivatives only.
Do: Give the velocity a name and an equation of its own; then accelerate the velocity.
"""

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check second_derivative.py"
EXPECT = ["Ball", "`x`", "second_derivative.py:19", "ac.der(self.", "try"]


class Ball(ac.Component):
    x = ac.Variable(start=10.0, fixed=True, unit="m")

    def equations(self):
        yield ac.der(ac.der(self.x)) == -9.81  # <- second derivative
