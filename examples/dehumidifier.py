"""A dehumidifier in a damp cellar: one stream of air passes a cold coil, where its water freezes or drips off, and a warm one.

Shows: moist air and refrigerant in one model, coils of fins and tubes with condensation and frost, a fan, superheat control, where
the energy of the compressor goes, the way of the air on a psychrometric diagram.
"""

import acausal as ac
from acausal.library import air, control, fluid, refrigeration

HOURS = 3


class Dehumidifier(ac.Component):
    medium = ac.AnyMedium("R134a")
    water = ac.Variable(start=0.0, fixed=True, unit="kg", doc="water that dripped into the tray")
    W = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="electricity of compressor and fan")
    gained = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="enthalpy that the cellar gained with the air")
    drained = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e5, doc="enthalpy of the water in the tray")

    def __init__(self):
        self.compressor = refrigeration.Compressor(medium=self.medium, V_displaced=8e-6)
        self.condenser = refrigeration.Condenser(V=6e-4, area=0.4, C=800.0, m_nominal=3e-3, charge_start=0.12)
        self.receiver = refrigeration.Receiver(V=4e-4, charge_start=0.15, m_nominal=3e-3)
        self.valve = refrigeration.ElectronicValve(A=1.5e-7)
        self.evaporator = refrigeration.Evaporator(V=6e-4, area=0.4, C=800.0, m_nominal=3e-3, charge_start=0.02)
        self.superheat, self.control = fluid.SuperheatSensor(), control.SuperheatController()
        size = {"area": 3.0, "area_free": 0.03, "m_nominal": 0.08, "dp_nominal": 20.0, "gap": 2e-3}
        self.cellar, self.back = air.Surroundings(T=288.15, phi=0.8), air.Surroundings(T=288.15, phi=0.8)
        self.fan = air.Fan(dp_nominal=45.0, V_nominal=0.06)
        self.cold, self.warm = air.FinAndTube(**size), air.FinAndTube(**size)

    def connections(self):
        yield self.compressor.b, self.condenser.a
        yield self.condenser.b, self.receiver.a
        yield self.receiver.b, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.superheat.a
        yield self.superheat.b, self.compressor.a
        yield self.superheat.y, self.control.measured
        yield self.control.y, self.valve.opening
        yield self.cellar.port, self.fan.a
        yield self.fan.b, self.cold.a
        yield self.cold.b, self.warm.a
        yield self.warm.b, self.back.port
        for coil, exchanger in ((self.cold, self.evaporator), (self.warm, self.condenser)):
            yield coil.air, exchanger.air
            yield coil.UA, exchanger.UA
            yield coil.Q, exchanger.Q_wall

    def equations(self):
        yield self.cold.T_coil == self.evaporator.T_wall
        yield self.warm.T_coil == self.condenser.T_wall
        yield ac.der(self.water) == self.cold.drained
        yield ac.der(self.W) == self.compressor.P + self.fan.P
        yield ac.der(self.drained) == self.cold.drops
        ends = [port.m_flow * port.h.actual for port in (self.cellar.port, self.back.port)]
        yield ac.der(self.gained) == ends[0] + ends[1]
        plant = self.condenser.energy + self.receiver.energy + self.evaporator.energy
        self.energy = ac.named(plant - 333.4e3 * self.cold.frost, unit="J", doc="energy of refrigerant, walls and frost")


def main():
    model = ac.compile(Dehumidifier())
    result = model.simulate(until=HOURS * 3600.0, points=HOURS * 120 + 1)
    water, kWh = result["water"][-1], result["W"][-1] / 3.6e6
    print(f"{water / HOURS:.2f} l/h of water with {kWh / HOURS:.2f} kW: {water / kWh:.1f} l/kWh.")
    stored = result["energy"][-1] - result["energy"][0]
    gap = stored + result["gained"][-1] + result["drained"][-1] - result["W"][-1]
    print(f"The account of energy closes to {abs(gap / result['W'][-1]):.0e} of the electricity.")
    cold = model.simulate(until=HOURS * 3600.0, points=HOURS * 120 + 1, inputs={"cellar.T": 278.15})
    print(f"At 5 °C in the cellar {cold['cold.frost'][-1]:.2f} kg freeze to the coil; the flow of air falls by "
          f"{1 - cold['fan.m_flow'][-1] / cold['fan.m_flow'][0]:.0%}.")  # fmt: skip
    ac.psychrometric_diagram(result, ["cellar.port", "cold.b", "warm.b"], file="dehumidifier.png", T=(270.0, 320.0))
    return result, cold


if __name__ == "__main__":
    main()
