"""Warm water enters a cold, insulated pipe: advection and diffusion of heat along one axis.

Shows: an array variable with slices (numpy's rules), a family of equations in one line, a map of space and time. The front is
compared with the exact solution for a long pipe (Ogata and Banks).
"""

import math

import numpy as np

import acausal as ac


class Pipe(ac.Component):
    """``dT/dt + u·dT/dx = a·d²T/dx²`` in n cells, upwind; the inlet temperature is an input, the outlet is open."""

    length = ac.Parameter(10.0, unit="m", min=0, doc="length")
    u = ac.Parameter(0.05, unit="m/s", min=0, doc="velocity")
    a = ac.Parameter(0.02, unit="m^2/s", min=0, doc="diffusivity of heat, mixing included")
    T_in = ac.Input(330.0, unit="K", doc="temperature at the inlet")

    def __init__(self, n=200):
        self.n = n
        self.T = ac.Variable(shape=n, unit="K", start=290.0, nominal=300.0, doc="temperature of the cells")

    def equations(self):
        T, dx = self.T, self.length / self.n
        wave, spread = self.u / (2 * dx), self.a / dx**2  # central differences: the cells are small enough for them
        yield ac.der(T[0]) == -wave * (T[0] + T[1] - 2 * self.T_in) + spread * (2 * (self.T_in - T[0]) + T[1] - T[0])
        yield ac.der(T[1:-1]) == -wave * (T[2:] - T[:-2]) + spread * (T[2:] - 2 * T[1:-1] + T[:-2])
        yield ac.der(T[-1]) == -2 * wave * (T[-1] - T[-2]) + spread * (T[-2] - T[-1])
        self.stored = ac.named(ac.mean(T) - 290.0, unit="K", doc="mean warming")


def exact(x, t, u, a):
    """Ogata and Banks: (T - 290)/40 in a half-infinite pipe whose inlet is warm from t = 0 on."""
    root = 2 * math.sqrt(a * t)
    return np.array([0.5 * (math.erfc((p - u * t) / root) + math.exp(u * p / a) * math.erfc((p + u * t) / root)) for p in x])


def main(n=200):
    result = ac.compile(Pipe(n)).simulate(until=100.0, points=101)
    print(result)
    x = (np.arange(n) + 0.5) * 10.0 / n
    error = np.abs(result["T"][-1] - 290.0 - 40.0 * exact(x, 100.0, 0.05, 0.02)).max()
    print(f"After 100 s the profile is within {error:.3f} K of the exact one.")
    result.plot("T", kind="map", unit="degC", title="Temperature along the pipe", file="pipe_heat.png")
    return result


if __name__ == "__main__":
    main()
