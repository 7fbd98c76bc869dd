"""A district-heating pipe of 2 km: how long hot water is on its way, and how warm it arrives.

Shows: a pipe in cells with heat losses, an input that changes in steps, and a comparison with plug
flow, which is exact but for mixing.
"""

import numpy as np

import acausal as ac
from acausal.library import fluid, thermal

LENGTH, DIAMETER, FLOW = 2000.0, 0.1, 6.0  # m, m, kg/s
LOSS = 0.4  # W/(m K), of the insulation


class Line(ac.Component):
    """A supply of which the temperature is given, the pipe in the ground, and consumers who take the water at 4 bar."""

    T_supply = ac.Input(343.15, unit="K", doc="temperature of the supply")
    p = ac.Parameter(4e5, unit="Pa", doc="pressure at which the enthalpy of the supply is taken")

    def __init__(self, cells=200):
        cold = ac.media.fluid("water").state(p=4e5, T=343.15).h
        alpha = LOSS / (np.pi * DIAMETER)
        self.supply, self.ground = fluid.FlowSource(m_flow=FLOW), thermal.FixedTemperature(T=281.15)
        self.pipe = fluid.DistributedPipe(
            cells, medium="water", length=LENGTH, diameter=DIAMETER, alpha=alpha, p_start=4e5, h_start=cold
        )
        self.outlet, self.consumers = fluid.Orifice(A=1e-3), fluid.PressureBoundary(p=4e5, h=cold)

    def connections(self):
        yield self.supply.port, self.pipe.a
        yield self.pipe.b, self.outlet.a
        yield self.outlet.b, self.consumers.port
        yield self.pipe.heat, self.ground.port

    def equations(self):
        yield self.supply.h == self.pipe.medium.state(p=self.p, T=self.T_supply).h


def plug_flow(time, T_supply, rho=977.0, cp=4190.0):
    """What leaves a pipe without mixing: the supply of a while ago, cooled exponentially."""
    delay = rho * np.pi / 4 * DIAMETER**2 * LENGTH / FLOW
    cooled = np.exp(-LOSS * LENGTH / (FLOW * cp))
    return 281.15 + cooled * (T_supply(time - delay) - 281.15), delay


def main():
    times, values = np.array([0.0, 7200.0, 7260.0, 21600.0]), np.array([343.15, 343.15, 358.15, 358.15])
    result = ac.compile(Line()).simulate(until=21600.0, inputs={"T_supply": (times, values)}, points=721)
    leaves = np.asarray(result["pipe.T"])[:, -1]
    exact, delay = plug_flow(result.time, lambda t: np.interp(t, times, values))
    half = result.time[np.argmax(leaves > (exact[-1] + leaves[200]) / 2)] - 7230.0
    print(f"Water of {FLOW} kg/s is on its way for {delay / 60:.1f} min; half of the step arrives after {half / 60:.1f} min.")
    print(f"It arrives at {leaves[-1] - 273.15:.2f} °C; plug flow says {exact[-1] - 273.15:.2f} °C.")
    result.plot("pipe.T[0]", "pipe.T[-1]", unit="degC", file="district_heating.png")
    return result


if __name__ == "__main__":
    main()
