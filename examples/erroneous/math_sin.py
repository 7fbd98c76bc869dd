"""`math.sin` of a variable.

Wanted: a pendulum.
Means: Functions of `math` take numbers only. In an equation an angle is a symbol that stands for all its later values.
Do: Use `ac.sin` (numpy's `np.sin` works as well).
"""

import math

import acausal as ac

THEME = "Equations in Python"
SHOWN = "acausal check math_sin.py"
EXPECT = ["Pendulum", "phi", "math_sin.py:23", "ac.sin", "try"]


class Pendulum(ac.Component):
    phi = ac.Variable(start=0.5, fixed=True, unit="rad")
    w = ac.Variable(start=0.0, fixed=True, unit="rad/s")

    def equations(self):
        yield ac.der(self.phi) == self.w
        yield ac.der(self.w) == -9.81 * math.sin(self.phi)  # <- math
