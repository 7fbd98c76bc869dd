"""Liquid oxygen cools a warm transfer line down: film boiling first, then the wall is wetted, and steel is under stress.

Shows: two phases in cells against a wall in two dimensions, arrays of components, a liquid that boils as the wall lets it, what
stresses the pipe and when (after Tummescheit, Tuszynski and Arnold 2008: 10 m of DN 150, a wall of 8 mm, oxygen of 91 K at 5 bar).
"""

import numpy as np

import acausal as ac
from acausal.library import fluid
from acausal.library.thermal import HeatPort, TwoPort

CELLS, LAYERS = 20, 10
LENGTH, DIAMETER, WALL = 10.0, 0.15, 0.008  # m
DENSITY, YOUNG, EXPANSION, POISSON = 7900.0, 2.0e11, 1.3e-5, 0.29  # of steel: kg/m³, Pa, 1/K
CONDUCTIVITY = (-1.4087, 1.3982, 0.2543, -0.6260, 0.2334, 0.4256, -0.4658, 0.1650, -0.0199)  # NIST, stainless steel 304, 4 to 300 K
HEAT = (22.0061, -127.5528, 303.647, -381.0098, 274.0328, -112.9212, 24.7593, -2.239153, 0.0)


def of_steel(T, coefficients):
    """NIST's form: the logarithm is a polynomial of the logarithm of the temperature in K."""
    x = ac.log(T) / np.log(10.0)
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return ac.exp(np.log(10.0) * total)


class SteelWall(ac.Component):
    """The wall of a pipe, cell by cell along it and in layers from the inside to the outside, which is insulated.

    ``rho·cp(T)·V·dT/dt = conduction``, k and cp of 304 over temperature. The stress of a layer, along and around the pipe, is
    ``E·a/(1 - nu)·(T_mean - T)``.
    """

    kelvin = ac.Constant(1.0, unit="K", doc="what temperatures are counted in")

    def __init__(self, cells, layers):
        self.n, self.m = cells, layers
        self.inside = HeatPort(shape=cells, doc="inner surface")
        self.T = ac.Variable(shape=(cells, layers), unit="K", start=318.0, fixed=True, nominal=100.0, doc="temperatures")
        self.stress = ac.Variable(shape=cells, unit="Pa", nominal=1e8, doc="at the inner surface; positive is tension")

    def equations(self):
        T, dr, dx = self.T, WALL / self.m, LENGTH / self.n
        radius = DIAMETER / 2 + dr * (np.arange(self.m) + 0.5)
        volume = 2 * np.pi * radius * dr * dx
        between = of_steel((T[:, :-1] + T[:, 1:]) / 2 / self.kelvin, CONDUCTIVITY) * (2 * np.pi * dx * (radius[:-1] + dr / 2) / dr)
        flow = between * (T[:, :-1] - T[:, 1:])
        surface = of_steel(T[:, 0] / self.kelvin, CONDUCTIVITY) * (np.pi * DIAMETER * dx / (dr / 2)) * (self.inside.T - T[:, 0])
        C = DENSITY * volume * of_steel(T / self.kelvin, HEAT)
        yield self.inside.Q_flow == surface
        yield C[:, 0] * ac.der(T[:, 0]) == surface - flow[:, 0]
        yield C[:, 1:-1] * ac.der(T[:, 1:-1]) == flow[:, :-1] - flow[:, 1:]
        yield C[:, -1] * ac.der(T[:, -1]) == flow[:, -1]
        mean = ac.sum(T * volume, axis=1) / volume.sum()
        yield self.stress == YOUNG * EXPANSION / (1 - POISSON) * (mean - self.inside.T)


class Contact(TwoPort):
    """From the inner surface (a) to the fluid (b): a film of vapour keeps the liquid off a hot wall; a cold one it wets.

    ``q = alpha·A·dT``, alpha from `film` to `wetted` as dT falls through `leidenfrost`.
    """

    film = ac.Parameter(250.0, unit="W/(m^2*K)", doc="heat transfer through vapour")
    wetted = ac.Parameter(4000.0, unit="W/(m^2*K)", doc="heat transfer to boiling liquid on the wall")
    leidenfrost = ac.Parameter(60.0, unit="K", doc="difference of temperature in the middle of the change")
    area = ac.Parameter(np.pi * DIAMETER * LENGTH / CELLS, unit="m^2", doc="area")

    def equations(self):
        yield from super().equations()
        dT = self.a.T - self.b.T
        alpha = self.wetted + (self.film - self.wetted) * ac.smooth_step(dT, self.leidenfrost, 50.0)
        yield self.Q_flow == alpha * self.area * dT


class TransferLine(ac.Component):
    opens = ac.Parameter(2.0, unit="s", doc="time within which the valve opens")
    vented = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e7, doc="enthalpy that left, less what came in")

    def __init__(self, medium="oxygen"):
        oxygen = ac.media.fluid(medium)
        cold, warm = oxygen.state(p=5e5, T=91.0).h, oxygen.state(p=1.1e5, T=318.0).h
        self.tank, self.valve = fluid.PressureBoundary(p=5e5, h=cold), fluid.Valve(medium=oxygen, A=5.6e-5)
        self.pipe = fluid.DistributedPipe(CELLS, length=LENGTH, diameter=DIAMETER, alpha=2e4, p_start=1.1e5, h_start=warm)
        self.contact, self.wall = ac.array(Contact, CELLS), SteelWall(CELLS, LAYERS)
        self.vent, self.sky = fluid.Orifice(A=6e-3), fluid.PressureBoundary(p=1.013e5, h=warm)

    def connections(self):
        yield self.tank.port, self.valve.a
        yield self.valve.b, self.pipe.a
        yield self.pipe.b, self.vent.a
        yield self.vent.b, self.sky.port
        yield self.wall.inside, self.contact.a
        yield self.contact.b, self.pipe.heat

    def equations(self):
        yield self.valve.opening == ac.min(ac.time / self.opens, 1.0)
        leaves = -self.pipe.b.m_flow * self.pipe.b.h.actual
        yield ac.der(self.vented) == leaves - self.pipe.a.m_flow * self.pipe.a.h.actual
        self.fluid_energy = ac.named(ac.sum(self.pipe.U), unit="J", doc="energy of the oxygen in the pipe")


def steel_energy(T):
    """Energy of the wall's layers, over time: the integral of cp."""
    grid = np.linspace(60.0, 330.0, 2701)
    cp = np.asarray(of_steel(grid, HEAT))
    heat = np.concatenate([[0.0], np.cumsum((cp[1:] + cp[:-1]) / 2 * np.diff(grid))])
    dr, dx = WALL / LAYERS, LENGTH / CELLS
    mass = DENSITY * 2 * np.pi * (DIAMETER / 2 + dr * (np.arange(LAYERS) + 0.5)) * dr * dx
    return (np.interp(T, grid, heat) * mass).sum(axis=(1, 2))


def main():
    result = ac.compile(TransferLine()).simulate(until=300.0, points=1201)
    T, stress = np.asarray(result["wall.T"]), np.asarray(result["wall.stress"])
    cold = [float(result.time[np.argmax(T[:, k, -1] < 120.0)]) for k in range(CELLS)]
    at, cell = np.unravel_index(stress.argmax(), stress.shape)
    flow = np.abs(result["valve.m_flow"]).max()
    print(f"{flow:.2f} kg/s of oxygen; the wall is below 120 K after {max(cold):.0f} s, first at cell {np.argmin(cold)}.")
    place = (cell + 0.5) * LENGTH / CELLS
    print(f"The largest stress is {stress.max() / 1e6:.0f} MPa, {place:.2f} m from the valve after {result.time[at]:.0f} s.")
    lost = steel_energy(T)[0] - steel_energy(T)[-1]
    gap = lost - result["vented"][-1] - (result["fluid_energy"][-1] - result["fluid_energy"][0])
    print(f"The wall gave {lost / 1e6:.1f} MJ; the account closes to {abs(gap) / lost:.0e}.")
    result.plot("wall.T[:, 0]", "wall.stress", "valve.m_flow", unit={"wall.stress": "MPa"}, file="cryogenic_cooldown.png")
    return result


if __name__ == "__main__":
    main()
