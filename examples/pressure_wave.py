"""A pressure wave: a pipe full of carbon dioxide is opened at one end, and the wave runs to the closed end and back.

Shows: a pipe in cells with the inertia of its fluid, a map over place and time, and a comparison with acoustics: speed of sound,
flow behind the wave, reflections (Tummescheit 2002, figure 2.4).
"""

import numpy as np

import acausal as ac
from acausal.library import fluid

LENGTH, P, P_LOW = 100.0, 10e5, 9.9e5  # m, Pa
GAS = ac.media.fluid("R744")
AT_REST = GAS.state(p=P, T=293.15)


class Tube(ac.Component):
    """Closed at a, and from the beginning open at b to a slightly lower pressure."""

    def __init__(self, cells=80):
        self.end = fluid.Closed()
        self.pipe = fluid.DistributedPipe(
            cells, "dynamic", medium=GAS, length=LENGTH, diameter=1.0, roughness=1e-6, p_start=P, h_start=AT_REST.h
        )
        self.opening, self.outside = fluid.Orifice(A=8.0), fluid.PressureBoundary(p=P_LOW, h=AT_REST.h)

    def connections(self):
        yield self.end.port, self.pipe.a
        yield self.pipe.b, self.opening.a
        yield self.opening.b, self.outside.port


def arrival(time, p, level):
    """When a pressure falls below a level, between the points of the output."""
    k = int(np.argmax(p < level))
    return time[k - 1] + (p[k - 1] - level) / (p[k - 1] - p[k]) * (time[k] - time[k - 1])


def main():
    result = ac.compile(Tube()).simulate(until=1.0, points=1001, rtol=1e-5)
    p, m = np.asarray(result["pipe.p"]), np.asarray(result["pipe.m"])
    c = float(AT_REST.speed_of_sound)
    quarter, three = (arrival(result.time, p[:, k], P - 0.25 * (P - P_LOW)) for k in (60, 20))
    print(f"Speed of the wave {0.5 * LENGTH / (three - quarter):.1f} m/s, of sound {c:.1f} m/s.")
    k = int(np.searchsorted(result.time, 0.5 * LENGTH / c))
    flow, acoustic = m[k, -5], np.pi / 4 * 1.0**2 * (P - p[k, -5]) / c
    print(f"Behind it flow {flow:.3f} kg/s; acoustics says A·dp/c = {acoustic:.3f} kg/s.")
    k = int(np.searchsorted(result.time, 1.5 * LENGTH / c))
    print(f"At the closed end the pressure falls by {P - p[k, 0]:.0f} Pa, twice the {P - P_LOW:.0f} Pa of the wave.")
    result.plot("pipe.p", kind="map", unit="bar", title="Pressure from the closed to the open end", file="pressure_wave.png")
    return result


if __name__ == "__main__":
    main()
