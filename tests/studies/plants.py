"""Small models with closed forms, for studies."""

from __future__ import annotations

import acausal as ac


class Decay(ac.Component):
    """x' = -k (x - u), x(0) = 1."""

    k = ac.Parameter(1.0, unit="1/s", min=0.0, max=100.0)
    u = ac.Input(0.0)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.k * (self.x - self.u)


class Fragile(ac.Component):
    """x' = r x², x(0) = 1, goes to infinity at t = 1/r."""

    r = ac.Parameter(0.1)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.r * self.x**2
