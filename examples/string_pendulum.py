"""A mass on a string: on the circle while the string is taut, flying while it is slack; two models that are exchanged.

Shows: `ac.Phases` with models of different states (angle and angular velocity; position and velocity), values carried from one
to the other, phases in plots. In flight the energy is conserved; when the string becomes taut, the radial velocity is lost.
"""

import itertools

import numpy as np

import acausal as ac


class Mass(ac.Component):
    """What both modes have."""

    L = ac.Parameter(1.0, unit="m", doc="length of the string")
    g = ac.Parameter(9.81, unit="m/s^2")
    m = ac.Parameter(1.0, unit="kg")
    x = ac.Variable(unit="m", doc="to the right")
    y = ac.Variable(unit="m", doc="upwards, from where the string is fixed")
    u = ac.Variable(unit="m/s")
    v = ac.Variable(unit="m/s")

    def energies(self):
        self.energy = ac.named(self.m / 2 * (self.u**2 + self.v**2) + self.m * self.g * self.y, unit="J")


class Taut(Mass):
    """On the circle: two states, and the force in the string."""

    phi = ac.Variable(unit="rad", start=0.0, fixed=True, doc="from hanging down")
    w = ac.Variable(unit="rad/s", start=6.5, fixed=True)
    F = ac.Variable(unit="N", doc="force in the string")

    def equations(self):
        sin, cos = ac.sin(self.phi), ac.cos(self.phi)
        yield ac.der(self.phi) == self.w
        yield self.L * ac.der(self.w) == -self.g * sin
        yield self.x == self.L * sin
        yield self.y == -self.L * cos
        yield self.u == self.L * self.w * cos
        yield self.v == self.L * self.w * sin
        yield self.F == self.m * (self.L * self.w**2 + self.g * cos)
        self.energies()


class Slack(Mass):
    """In flight: four states."""

    def equations(self):
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == 0
        yield ac.der(self.v) == -self.g
        self.energies()


def pendulum():
    plant = ac.Phases(taut=Taut(), slack=Slack(), initial="taut")
    plant.switch("taut", "slack", when=lambda m: m.F < 0)  # position and velocity have the same names in both
    plant.switch(
        "slack",
        "taut",
        when=lambda m: (m.x**2 + m.y**2 > m.L**2) & (m.x * m.u + m.y * m.v > 1e-3),  # a flight begins along the circle
        carry={
            "phi": lambda old: np.arctan2(old["x"], -old["y"]),
            "w": lambda old: (old["x"] * old["v"] - old["y"] * old["u"]) / old["L"] ** 2,  # only what is tangential survives
        },
    )
    return plant


def main():
    result = pendulum().simulate(until=6.0, rtol=1e-9)
    print(*result.phases, sep="\n")
    for before, after in itertools.pairwise(result.parts):
        lost = before["energy"][-1] - after["energy"][0]
        print(f"At {after.time[0]:.6f} s the energy falls by {max(lost, 0.0):.6f} J.")
    result.plot("x", "y", "energy", "F", file="string_pendulum.png")
    return result


if __name__ == "__main__":
    main()
