"""A cold store over a day: R134a, moving-boundary exchangers, thermostatic valve, thermostat, door, frost and defrost.

Shows: fluids and streams, states that connect, the account of charge and energy, a cycle that starts and stops eighty times a day.
"""

import numpy as np

import acausal as ac
from acausal.library import fluid, refrigeration, thermal

DAY = 86400.0


class ColdStore(ac.Component):
    """A room for meat at -1 °C in a hall of 25 °C, with the plant that keeps it cold, and meters of energy."""

    W = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="electricity of compressor and heater")
    Q_cold = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="heat taken out of the room")
    E_in = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="all energy that came in, less what went out")

    medium = ac.AnyMedium("R134a")

    def __init__(self):
        warm = {"T_start": 293.15}
        self.compressor = refrigeration.Compressor(medium=self.medium)
        self.condenser = refrigeration.Condenser(UA=300.0, charge_start=0.35, **warm)
        self.receiver = refrigeration.Receiver(charge_start=0.5, **warm)
        self.valve = refrigeration.ThermostaticValve()
        self.evaporator = refrigeration.Evaporator(charge_start=0.15, **warm)
        self.superheat = fluid.SuperheatSensor()
        self.hall = thermal.PrescribedTemperature(T=298.15)
        self.room, self.coil, self.door = refrigeration.ColdRoom(), refrigeration.FrostedCoil(), refrigeration.Door()
        self.thermostat, self.defrost = refrigeration.Thermostat(), refrigeration.DefrostClock()

    def connections(self):
        yield self.compressor.b, self.condenser.a
        yield self.condenser.b, self.receiver.a
        yield self.receiver.b, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.superheat.a
        yield self.superheat.b, self.compressor.a
        yield self.superheat.y, self.valve.superheat
        yield self.condenser.air, self.hall.port
        yield self.evaporator.air, self.room.air
        yield self.thermostat.call, self.compressor.run
        yield self.defrost.allow, self.compressor.run
        yield self.thermostat.call, self.valve.run
        yield self.defrost.allow, self.valve.run
        yield self.defrost.allow, self.coil.fans
        yield self.defrost.heat, self.coil.heater
        yield self.room.w, self.coil.w
        yield self.coil.UA, self.evaporator.UA
        yield self.coil.Q, self.evaporator.Q_wall
        yield self.coil.moisture, self.room.moisture
        yield self.door.exchange, self.room.exchange

    def equations(self):
        yield self.thermostat.T == self.room.T
        yield self.coil.T_coil == self.evaporator.T_wall
        yield self.defrost.coil == self.evaporator.T_wall
        yield ac.der(self.W) == self.compressor.P + self.coil.P
        yield ac.der(self.Q_cold) == self.evaporator.air.Q_flow
        yield ac.der(self.E_in) == self.compressor.P + self.coil.Q + self.room.Q_in + self.condenser.air.Q_flow
        parts = (self.condenser, self.receiver, self.evaporator)
        self.charge = ac.named(sum(p.charge for p in parts), unit="kg", doc="refrigerant in the plant")
        self.energy = ac.named(sum(p.energy for p in parts) + self.room.energy, unit="J", doc="energy of everything")


def accounts(result):
    """How much charge is lost, as a share, and how much energy is unaccounted for, as a share of what went through."""
    charge, stored = result["charge"], result["energy"] - result["energy"][0]
    drift = np.abs(charge / charge[0] - 1).max()
    return drift, np.abs(stored - result["E_in"]).max() / result["Q_cold"][-1]


def main():
    model = ac.compile(ColdStore())
    result = model.simulate(until=DAY, points=2881)
    starts = sum(s.state == "on" for s in result.states("compressor.run"))
    room, goods = (result.in_unit(name, "degC") for name in ("room.T", "room.T_goods"))
    drift, gap = accounts(result)
    print(f"The compressor starts {starts} times; the room stays between {room.min():.1f} and {room.max():.1f} °C.")
    print(f"Goods between {goods.min():.2f} and {goods.max():.2f} °C; {result['W'][-1] / 3.6e6:.1f} kWh of electricity.")
    print(f"Charge drifts by {drift:.0e}, energy is unaccounted for to {gap:.0e}.")
    return result


if __name__ == "__main__":
    main()
