"""An attemperator: water is sprayed into steam between two superheaters, which keeps its temperature whatever the flue gas does.

Shows: exchangers between two media (steam and flue gas), mixing of water and steam in a volume, a PID controller with limits, a
disturbance (Tummescheit 2002, section 5.6).
"""

import numpy as np

import acausal as ac
from acausal.library import control, fluid

WATER = ac.media.fluid("water")
FLUE_GAS = ac.media.ideal_gas(["N2", "CO2", "H2O", "O2"], mole=[0.73, 0.09, 0.13, 0.05])
P = 60e5  # Pa
WET, SPRAY, WARM = (WATER.state(p=P, T=T).h for T in (570.0, 400.0, 700.0))


class Attemperator(ac.Component):
    """Steam of 25 kg/s from the drum; flue gas passes the second superheater first."""

    T_gas = ac.Input(1150.0, unit="K", doc="temperature of the flue gas")
    opening = ac.Input(0.0, min=0, max=1, doc="of the spray valve, unless the controller is at work")

    def __init__(self, controlled=True):
        self.controlled = controlled
        start = {"p_start": P, "h_start": WARM}
        self.drum, self.turbine = fluid.FlowSource(medium=WATER, m_flow=25.0, h=WET), fluid.PressureBoundary(p=55e5, h=WARM)
        self.first = fluid.HeatExchanger("counter", UA=22e3, m_nominal=25.0, dp_nominal=1e5)
        self.second = fluid.HeatExchanger("counter", UA=28e3, m_nominal=25.0, dp_nominal=1e5)
        self.inlet, self.mixer, self.outlet = (fluid.Volume(n, V=1.0, **start) for n in (2, 3, 2))
        self.stop = fluid.Orifice(A=9e-3)
        self.feed, self.spray = fluid.PressureBoundary(p=90e5, h=SPRAY), fluid.Valve(A=6e-5)
        self.furnace, self.stack = fluid.FlowSource(medium=FLUE_GAS, m_flow=40.0), fluid.PressureBoundary(p=1e5, h=-2e6)
        self.sensor = fluid.TemperatureSensor()
        self.control = control.LimitedPID(setpoint=773.15, k=-0.02, Ti=20.0, Td=5.0, x=ac.modify(start=-15.0))

    def connections(self):
        yield self.drum.port, self.inlet.ports[0]
        yield self.inlet.ports[1], self.first.a1
        yield self.first.b1, self.mixer.ports[0]
        yield self.feed.port, self.spray.a
        yield self.spray.b, self.mixer.ports[2]
        yield self.mixer.ports[1], self.second.a1
        yield self.second.b1, self.outlet.ports[0]
        yield self.outlet.ports[1], self.sensor.a
        yield self.sensor.b, self.stop.a
        yield self.stop.b, self.turbine.port
        yield self.furnace.port, self.second.a2
        yield self.second.b2, self.first.a2
        yield self.first.b2, self.stack.port
        yield self.sensor.y, self.control.measured
        if self.controlled:
            yield self.control.y, self.spray.opening
        else:
            yield self.opening, self.spray.opening

    def equations(self):
        yield self.furnace.h == FLUE_GAS.state(p=1e5, T=self.T_gas).h


def main():
    gas = ac.data([0.0, 600.0, 620.0, 1200.0, 1220.0], [1150.0, 1150.0, 1230.0, 1230.0, 1130.0], ends="hold")
    result = ac.compile(Attemperator()).simulate(until=1800.0, inputs={"T_gas": gas}, points=901)
    settled = float(result["control.y"][int(np.searchsorted(result.time, 590.0))])
    fixed = ac.compile(Attemperator(controlled=False))
    alone = fixed.simulate(until=1800.0, inputs={"T_gas": gas, "opening": settled}, points=901)
    later = result.time > 590.0
    for name, run in (("With", result), ("Without", alone)):
        T = run.in_unit("sensor.y", "degC")[later]
        print(f"{name:7} control steam leaves at {T.min():.1f} … {T.max():.1f} °C, wanted 500 °C.")
    spray = np.asarray(result["spray.m_flow"])
    print(f"Spray water: {spray[later].min():.2f} … {spray[later].max():.2f} kg/s of 25 kg/s of steam.")
    celsius = dict.fromkeys(("T_gas", "sensor.y", "mixer.T"), "degC")
    result.plot("T_gas", "sensor.y", "mixer.T", "spray.m_flow", unit=celsius, file="attemperator.png")
    return result, alone


if __name__ == "__main__":
    main()
