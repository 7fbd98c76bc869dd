"""Two bodies exchange heat until they are equally warm (Modelica.Thermal.HeatTransfer.Examples.TwoMasses).

Shows: the thermal library, start values, other units, the exact solution beside the computed one.
"""

import numpy as np

import acausal as ac
from acausal.library.thermal import HeatCapacitor, TemperatureSensor, ThermalConductor


class TwoMasses(ac.Component):
    def __init__(self):
        self.mass1 = HeatCapacitor(C=15.0, T=ac.start(373.15))
        self.mass2 = HeatCapacitor(C=15.0, T=ac.start(273.15))
        self.conduction = ThermalConductor(G=10.0)
        self.sensor1, self.sensor2 = TemperatureSensor(), TemperatureSensor()

    def connections(self):
        yield self.mass1.port, self.conduction.a, self.sensor1.port
        yield self.mass2.port, self.conduction.b, self.sensor2.port


def main():
    result = ac.compile(TwoMasses()).simulate(until=4.0)
    exact = 323.15 + 50.0 * np.exp(-2 * 10.0 / 15.0 * result.time)
    print(f"After 1 s the first mass is at {np.interp(1.0, result.time, result.in_unit('mass1.T', 'degC')):.3f} °C.")
    print(f"Largest deviation from the exact solution: {np.abs(result['mass1.T'] - exact).max():.1e} K.")
    result.plot("sensor1.T", "sensor2.T", "conduction.Q_flow", unit={"K": "degC"}, file="two_masses.png")
    return result


if __name__ == "__main__":
    main()
