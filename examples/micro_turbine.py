"""A micro gas turbine of 80 kW takes a pulse of load: compressor, recuperator, combustor, turbine, shaft, generator, speed control.

Shows: turbomachines on a shaft, an ideal gas as a medium, a recuperator that closes a loop, a controller with limits, a load that
jumps; the balance of the shaft and of the whole plant.
"""

import numpy as np

import acausal as ac
from acausal.library import control, fluid, mechanics, thermal

AIR = ac.media.ideal_gas(["N2", "O2", "Ar"], mole=[0.781, 0.21, 0.009])
P0, T0 = 101325.0, 288.15
RPM = np.pi / 30


class Generator(ac.Component):
    """Brakes the shaft with the power that is taken over its efficiency."""

    flange = mechanics.rotational.Flange()
    P = ac.Input(60e3, unit="W", doc="electric power that is taken")
    eta = ac.Parameter(0.94, min=0.1, max=1, doc="of generator and electronics")

    def equations(self):
        yield self.flange.tau * ac.der(self.flange.phi) * self.eta == self.P


class MicroTurbine(ac.Component):
    """Air from the surroundings and back; the heat of the fuel goes into the combustor, its mass does not count."""

    medium = ac.AnyMedium(AIR)

    def __init__(self):
        start = {"p_start": 3.4e5}
        self.inlet = fluid.PressureBoundary(p=P0, h=AIR.state(p=P0, T=T0).h)
        self.compressor = fluid.TurboCompressor(medium=self.medium, diameter=0.125, phi=0.0865, psi=0.78, bend=0.12, eta=0.79)
        self.plenum = fluid.Volume(2, V=0.02, h_start=AIR.state(p=P0, T=440.0).h, **start)
        self.recuperator = fluid.HeatExchanger("counter", UA=5500.0, m_nominal=0.7, dp_nominal=8e3)
        self.combustor = fluid.Volume(2, V=0.03, h_start=AIR.state(p=P0, T=1150.0).h, **start)
        self.fuel = thermal.PrescribedHeatFlow()
        self.turbine = fluid.ShaftTurbine(K=1.16e-3, diameter=0.14, eta=0.84)
        self.exhaust = fluid.Volume(2, V=0.05, p_start=1.08e5, h_start=AIR.state(p=P0, T=900.0).h)
        self.stack = fluid.PressureBoundary(p=P0, h=AIR.state(p=P0, T=500.0).h)
        self.shaft = mechanics.rotational.Inertia(J=0.004, w=ac.start(65000 * RPM, fixed=True), phi=ac.start(0.0, fixed=True))
        self.generator = Generator()
        self.control = control.LimitedPID(setpoint=1.0, k=4.0, Ti=2.0, y_min=0.02, y_max=1.0, x=ac.modify(start=0.15))

    def connections(self):
        yield self.inlet.port, self.compressor.a
        yield self.compressor.b, self.plenum.ports[0]
        yield self.plenum.ports[1], self.recuperator.a1
        yield self.recuperator.b1, self.combustor.ports[0]
        yield self.combustor.ports[1], self.turbine.a
        yield self.turbine.b, self.exhaust.ports[0]
        yield self.exhaust.ports[1], self.recuperator.a2
        yield self.recuperator.b2, self.stack.port
        yield self.combustor.heat, self.fuel.port
        yield self.compressor.flange, self.shaft.a
        yield self.turbine.flange, self.generator.flange, self.shaft.b

    def equations(self):
        yield self.control.measured == self.shaft.w / (65000 * RPM)
        yield self.fuel.Q_flow == 450e3 * self.control.y
        self.TOT = ac.named(self.exhaust.T, unit="K", doc="temperature after the turbine")
        self.TIT = ac.named(self.combustor.T, unit="K", doc="temperature before the turbine")
        self.efficiency = ac.named(self.generator.P / self.fuel.Q_flow, doc="electric power over heat of the fuel")
        self.speed = ac.named(self.shaft.w / RPM, doc="speed, rpm")


def main():
    pulse = ac.data([0.0, 60.0, 60.1, 120.0, 120.1], [60e3, 60e3, 85e3, 85e3, 60e3], ends="hold")
    result = ac.compile(MicroTurbine()).simulate(until=180.0, inputs={"generator.P": pulse}, points=721)
    for name, at in (("before", 59.0), ("during", 119.0), ("after", 179.0)):
        k = int(np.searchsorted(result.time, at))
        TIT, TOT = (result[n][k] - 273.15 for n in ("TIT", "TOT"))
        shown = f"{TIT:.0f} °C before and {TOT:.0f} °C after the turbine, efficiency {result['efficiency'][k]:.1%}"
        print(f"{name} the pulse: {result['speed'][k]:.0f} rpm, {result['compressor.m_flow'][k]:.2f} kg/s, {shown}")
    speed = np.asarray(result["speed"])[result.time > 55.0]
    print(f"The speed stays between {speed.min():.0f} and {speed.max():.0f} rpm, TOT below {result['TOT'].max() - 273.15:.0f} °C.")
    celsius = {"TIT": "degC", "TOT": "degC"}
    result.plot("generator.P", "fuel.Q_flow", "speed", "TIT", "TOT", unit=celsius, file="micro_turbine.png")
    return result


if __name__ == "__main__":
    main()
