"""A hot-water network: a ring main with a pump, four houses on it, and valves that close until nothing flows anywhere.

Shows: loops of pipes, flow that turns in a section of the ring, zero flow, arrays of components, inputs that change over time. A
section is a pipe with friction; its water stands in the nodes at its ends.
"""

import numpy as np

import acausal as ac
from acausal.library import control, fluid, thermal

HOUSES = 4
LENGTH = np.array([120.0, 80.0, 150.0, 60.0, 140.0])  # m, of the sections of the ring; the last one leads back to the boiler house
HOUR = 3600.0


class House(ac.Component):
    """A valve and the water of the radiators, which give their heat to a room of 20 °C."""

    supply, back = ac.FluidPort(), ac.FluidPort()
    opening = ac.Input(1.0, min=0, max=1, doc="of the valve")

    def __init__(self):
        self.valve = fluid.Valve("equal percentage", A=1.2e-4)
        self.water = fluid.LiquidVolume(2, V=0.2, p_start=3e5, h_start=2.1e5)
        self.radiators, self.room = thermal.ThermalConductor(G=1500.0), thermal.FixedTemperature(T=293.15)
        self.outlet = fluid.Orifice(A=6e-4, dp_small=50.0)

    def connections(self):
        yield self.supply, self.valve.a
        yield self.valve.b, self.water.ports[0]
        yield self.water.ports[1], self.outlet.a
        yield self.outlet.b, self.back
        yield self.water.heat, self.radiators.a
        yield self.radiators.b, self.room.port
        yield self.opening, self.valve.opening


class Network(ac.Component):
    """A boiler house at one corner of the ring; flow and return are two rings beside each other."""

    medium = ac.AnyMedium("water")
    pump_speed = ac.Input(1.0, min=0, doc="of the pump, over that of its design point")

    def __init__(self):
        bore = {"diameter": 0.05, "roughness": 5e-5}
        self.flow = ac.array(fluid.Pipe, HOUSES + 1, length=LENGTH, **bore)
        self.back = ac.array(fluid.Pipe, HOUSES + 1, length=LENGTH, **bore)
        self.house = ac.array(House, HOUSES)
        content = np.pi / 4 * 0.05**2 * (LENGTH + np.roll(LENGTH, 1)) / 2  # node k is where section k begins
        self.warm = ac.array(fluid.LiquidVolume, HOUSES + 1, 3, V=content, p_start=3e5, h_start=2.1e5)
        self.cool = ac.array(fluid.LiquidVolume, HOUSES + 1, 4, V=content, p_start=3e5, h_start=2.1e5)
        self.boiler = fluid.LiquidVolume(2, medium=self.medium, V=0.5, p_start=3e5, h_start=3.0e5)
        self.outlet, self.hose = (fluid.Orifice(A=1e-3, dp_small=50.0) for _ in range(2))
        self.pump = fluid.Pump(dp_nominal=1.2e5, V_nominal=4e-3)
        self.vessel = fluid.PressureBoundary(p=3e5, h=2.1e5)  # the expansion vessel
        self.burner, self.control = thermal.PrescribedHeatFlow(), control.LimitedPID(setpoint=353.15, k=2e4, Ti=300.0, y_max=6e5)

    def connections(self):
        for node, pipe in ((self.warm, self.flow), (self.cool, self.back)):
            yield node.ports[:, 0], pipe.a
            yield node.ports[1:, 1], pipe[:-1].b
            yield node.ports[0, 1], pipe[-1].b
        yield self.house.supply, self.warm.ports[1:, 2]
        yield self.house.back, self.cool.ports[1:, 2]
        yield self.cool.ports[0, 2], self.pump.a
        yield self.cool.ports[0, 3], self.hose.a
        yield self.hose.b, self.vessel.port
        yield self.pump.b, self.boiler.ports[0]
        yield self.boiler.ports[1], self.outlet.a
        yield self.outlet.b, self.warm.ports[0, 2]
        yield self.boiler.heat, self.burner.port
        yield self.control.y, self.burner.Q_flow
        yield self.pump_speed, self.pump.speed

    def equations(self):
        yield self.control.measured == self.boiler.T
        self.delivered = ac.named(ac.sum(self.house.radiators.Q_flow), unit="W", doc="heat of all radiators")


def schedule():
    """The pump runs up. The third house shuts its valve after an hour and opens it again; after two and a half hours all shut."""
    night = [(2.5, 1.0), (2.52, 0.0), (3.2, 0.0), (3.22, 1.0)]
    third = [(0.0, 1.0), (1.0, 1.0), (1.02, 0.0), (1.5, 0.0), (1.52, 1.0)]
    inputs = {"pump_speed": ac.data([0.0, 30.0], [0.0, 1.0], ends="hold")}
    for k in range(HOUSES):
        hours, opening = zip(*((third if k == 2 else [(0.0, 1.0)]) + night), strict=True)
        inputs[f"house[{k}].opening"] = ac.data(HOUR * np.array(hours), opening, ends="hold")
    return inputs


def main():
    result = ac.compile(Network()).simulate(until=4 * HOUR, inputs=schedule(), points=481)
    flows = np.asarray(result["house.valve.m_flow"])
    for name, hour in (("all open", 0.95), ("third house shut", 1.45), ("all shut", 3.1), ("open again", 3.95)):
        k = int(np.searchsorted(result.time, hour * HOUR))
        ring = ", ".join(f"{m:5.2f}" for m in np.asarray(result["flow.m_flow"])[k])
        houses = ", ".join(f"{m:4.2f}" for m in flows[k] + 0.0)
        print(f"{name:16}: ring {ring} kg/s; houses {houses} kg/s; {result['delivered'][k] / 1e3:5.0f} kW")
    result.plot("flow.m_flow", "house.valve.m_flow", "boiler.T", "delivered", unit={"K": "degC", "W": "kW"},
                file="hot_water_network.png")  # fmt: skip
    return result


if __name__ == "__main__":
    main()
