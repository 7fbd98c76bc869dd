"""Models exchanged for others while they run: a wind turbine in two levels of detail, and a ball that is removed and put back.

Shows: `ac.Phases` with a quasi-static model (no states at all) for calm weather and a dynamic one (four states) for gusts; a part
of a plant that is not there for a while; `carry` with names, numbers and functions.
"""

import numpy as np

import acausal as ac


class Turbine(ac.Component):
    """Wind, aerodynamic torque and generator: what both levels of detail have. All torques are those at the slow shaft."""

    R = ac.Parameter(35.0, unit="m", doc="of the rotor")
    rho = ac.Parameter(1.2, unit="kg/m^3")
    gear = ac.Parameter(76.0)
    w_grid = ac.Parameter(157.08, unit="rad/s", doc="synchronous speed")
    M_max = ac.Parameter(12e3, unit="N*m", doc="breakdown torque of the generator")
    s_max = ac.Parameter(0.08, doc="breakdown slip")
    wind = ac.Variable(unit="m/s", nominal=10.0)
    change = ac.Variable(unit="m/s^2", doc="of the wind")
    w = ac.Variable(start=2.07, nominal=2.0, unit="rad/s", doc="speed of the rotor")
    M_wind = ac.Variable(start=3e5, nominal=3e5, unit="N*m")
    M_gen = ac.Variable(start=3e5, nominal=3e5, unit="N*m")
    P = ac.Variable(unit="W", nominal=1e6, doc="electrical power")

    def gusts(self):
        """Wind over time, with gusts at 30 s and at 80 s."""
        return 8.0 + sum(a * ac.tanh((ac.time - t) / 1.5) for t, a in ((30.0, 1.5), (34.0, -1.0), (80.0, -1.0), (85.0, 0.8)))

    def shared(self):
        gusts = self.gusts()
        power = 0.5 * self.rho * ac.pi * self.R**2 * self.wind**3
        tip = self.w * self.R / self.wind
        yield self.wind == gusts
        yield self.change == ac.der(gusts)
        yield self.M_wind * self.w == power * (0.45 - 0.012 * (tip - 8.0) ** 2)

    def kloss(self, w):
        """Torque of the generator by Kloss's formula, from the speed of the shaft."""
        slip = (self.gear * w - self.w_grid) / self.w_grid
        return 2 * self.gear * self.M_max * slip * self.s_max / (slip**2 + self.s_max**2)


class QuasiStatic(Turbine):
    """The rotor always turns as fast as its torques balance: no states."""

    def equations(self):
        yield from self.shared()
        yield self.M_gen == self.kloss(self.w)
        yield self.M_wind == self.M_gen
        yield self.P == self.M_gen * self.w


class Dynamic(Turbine):
    """Rotor and generator as masses on an elastic shaft; the generator's torque follows its slip with a delay."""

    J_rotor = ac.Parameter(6e6, unit="kg*m^2")
    J_gen = ac.Parameter(3.5e5, unit="kg*m^2")
    k = ac.Parameter(1e8, unit="N*m/rad")
    d = ac.Parameter(1e6, unit="N*m*s/rad")
    T = ac.Parameter(0.05, unit="s")
    w_gen = ac.Variable(start=2.07, nominal=2.0, unit="rad/s")
    twist = ac.Variable(nominal=1e-2, unit="rad")
    M_shaft = ac.Variable(nominal=3e5, unit="N*m")

    def equations(self):
        yield from self.shared()
        yield self.M_shaft == self.k * self.twist + self.d * (self.w - self.w_gen)
        yield self.J_rotor * ac.der(self.w) == self.M_wind - self.M_shaft
        yield self.J_gen * ac.der(self.w_gen) == self.M_shaft - self.M_gen
        yield ac.der(self.twist) == self.w - self.w_gen
        yield self.T * ac.der(self.M_gen) == self.kloss(self.w_gen) - self.M_gen
        yield self.P == self.M_gen * self.w_gen


def wind_turbine():
    plant = ac.Phases(calm=QuasiStatic(), gusty=Dynamic(), initial="calm")
    plant.switch(
        "calm",
        "gusty",
        when=lambda m: ac.abs(m.change) > 0.01,
        carry={"w_gen": "w", "twist": lambda old: old["M_gen"] / 1e8},  # w and M_gen have the same names in both
    )
    plant.switch(
        "gusty",
        "calm",
        when=lambda m: (ac.abs(m.change) < 0.002) & (ac.abs(m.M_wind - m.M_gen) < 100.0),
    )
    return plant


class Ball(ac.Component):
    """A ball that rolls and slows down."""

    m = ac.Parameter(0.2, unit="kg")
    f = ac.Parameter(0.05, unit="kg/s")
    x = ac.Variable(start=0.0, unit="m", fixed=True)
    v = ac.Variable(start=0.0, unit="m/s", fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.v
        yield self.m * ac.der(self.v) == -self.f * self.v


class TwoBalls(ac.Component):
    def __init__(self):
        self.white = Ball(x=ac.start(1.0), v=ac.start(-0.6))
        self.red = Ball(x=ac.start(1.2), v=ac.start(0.2))


class RedAlone(ac.Component):
    since = ac.Discrete(0.0, unit="s")

    def __init__(self):
        self.red = Ball()


def billiard():
    """The white ball falls into the hole at 0 and is put back 1 s later; the red one does not notice."""
    plant = ac.Phases(both=TwoBalls(), red_alone=RedAlone(), initial="both")
    plant.switch("both", "red_alone", when=lambda m: m.white.x < 0, carry={"since": lambda old: old.time})
    plant.switch(
        "red_alone", "both", when=lambda m: ac.time >= m.since + 1.0, carry={"white.x": 1.27 / 2, "white.v": -0.3}
    )  # fmt: skip
    return plant


def energy(result):
    """What the turbine gave, in kWh."""
    return np.sum(0.5 * (result["P"][1:] + result["P"][:-1]) * np.diff(result.time)) / 3.6e6


def main():
    result = wind_turbine().simulate(until=120.0)
    print(*result.phases, sep="\n")
    whole = ac.compile(Dynamic()).simulate(until=120.0, initial="steady")
    print(f"Energy {energy(result):.4f} kWh; {energy(whole):.4f} kWh with the dynamic model all the time.")
    result.plot("wind", "P", "w", "twist", file="model_exchange.png")
    balls = billiard().simulate(until=8.0)
    print(*balls.phases, sep="\n")
    balls.plot("white.x", "red.x", file="balls.png")
    return result, balls


if __name__ == "__main__":
    main()
