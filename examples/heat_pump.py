"""An air-to-water heat pump heats a house over a winter day: refrigerant circuit, frost and its defrost, tank, controls.

Shows: the components of the cold store turned round, weather measured by the hour as an input, an electronic valve under superheat
control, a heat pump that stops to defrost, its coefficient of performance over the day.
"""

from pathlib import Path

import numpy as np

import acausal as ac
from acausal.library import control, fluid, refrigeration, thermal

DAY, KWH = 86400.0, 3.6e6
WEATHER = Path(__file__).parent / "data" / "winter_day.csv"
__studio__ = {"until": "1 day", "plots": [["tank.T", "room.T"], ["compressor.P"], ["coil.frost"]]}


class OutdoorAir(ac.Component):
    """Air of the weather's temperature and relative humidity; `w` is its humidity ratio."""

    port = thermal.HeatPort()
    T = ac.Input(275.15, unit="K", doc="outdoor temperature")
    phi = ac.Input(0.85, min=0, max=1, doc="relative humidity")
    w = ac.Output(unit="kg/kg", nominal=0.005, doc="humidity ratio")

    def equations(self):
        yield self.port.T == self.T
        yield self.w == self.phi * refrigeration.rooms.saturated_humidity(self.T)


class HeatPumpHouse(ac.Component):
    medium = ac.AnyMedium("R134a")
    W = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="electricity of compressor and defrost")
    Q = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="heat into the tank")

    def __init__(self):
        self.compressor = refrigeration.Compressor(medium=self.medium, V_displaced=120e-6)
        self.condenser = refrigeration.Condenser(
            V=3e-3, area=3.0, C=4000.0, UA=1200.0, m_nominal=0.03, charge_start=1.2, T_start=303.15
        )
        self.receiver = refrigeration.Receiver(V=3e-3, charge_start=1.6, T_start=303.15, m_nominal=0.03)
        self.valve = refrigeration.ElectronicValve(A=2.5e-6)
        self.evaporator = refrigeration.Evaporator(V=4e-3, area=6.0, C=8000.0, m_nominal=0.03, charge_start=0.12, T_start=278.15)
        self.superheat = fluid.SuperheatSensor()
        self.accumulator = refrigeration.Accumulator(V=4e-3, charge_start=0.03, T_start=278.15, m_nominal=0.03)
        self.control = control.LimitedPID(setpoint=8.0, k=-0.02, Ti=60.0, y_min=0.05, x=ac.modify(start=-20.0))
        self.coil = refrigeration.FrostedCoil(UA_clean=1500.0, half=6.0, P_heater=6000.0, G_melt=2000.0)
        self.defrost = refrigeration.DefrostClock(first=3 * 3600.0, interval=4 * 3600.0)
        self.outdoors = OutdoorAir()
        self.tank, self.floor = (
            thermal.HeatCapacitor(C=4186.0 * 300.0, T=ac.modify(start=308.15)),
            thermal.ThermalConductor(G=350.0),
        )
        self.room, self.walls = thermal.Room(V=300.0, furniture=20.0, gain=300.0), thermal.ThermalConductor(G=150.0)
        self.thermostat = refrigeration.Thermostat(T_set=308.15, band=4.0, rest=300.0)

    def connections(self):
        yield self.compressor.b, self.condenser.a
        yield self.condenser.b, self.receiver.a
        yield self.receiver.b, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.superheat.a
        yield self.superheat.b, self.accumulator.a
        yield self.accumulator.b, self.compressor.a
        yield self.superheat.y, self.control.measured
        yield self.control.y, self.valve.opening
        yield self.condenser.air, self.tank.port, self.floor.a
        yield self.floor.b, self.room.port, self.walls.a
        yield self.walls.b, self.evaporator.air, self.outdoors.port
        yield self.thermostat.call, self.compressor.run
        yield self.defrost.allow, self.compressor.run
        yield self.defrost.allow, self.coil.fans
        yield self.defrost.heat, self.coil.heater
        yield self.outdoors.w, self.coil.w
        yield self.coil.UA, self.evaporator.UA
        yield self.coil.Q, self.evaporator.Q_wall

    def equations(self):
        yield self.thermostat.T == 616.3 - self.tank.T  # a thermostat for cooling, turned round: it calls while the tank is cold
        yield self.coil.T_coil == self.evaporator.T_wall
        yield self.defrost.coil == self.evaporator.T_wall
        yield ac.der(self.W) == self.compressor.P + self.coil.P
        yield ac.der(self.Q) == -self.condenser.air.Q_flow


def main():
    model = ac.compile(HeatPumpHouse())
    result = model.simulate(until=DAY, inputs={f"outdoors.{n}": (WEATHER, n) for n in ("T", "phi")}, points=1441)
    outdoor, room, tank = (result.in_unit(n, "degC") for n in ("outdoors.T", "room.T", "tank.T"))
    print(f"Outdoors {outdoor.min():.0f} … {outdoor.max():.0f} °C, room {room.min():.1f} … {room.max():.1f} °C,")
    print(f"tank {tank.min():.1f} … {tank.max():.1f} °C.")
    Q, W = result["Q"][-1], result["W"][-1]
    print(f"{Q / KWH:.0f} kWh of heat from {W / KWH:.0f} kWh of electricity: {Q / W:.2f} for one.")
    defrosts = sum(s.state == "heating" for s in result.states("defrost.phase"))
    starts = sum(s.state == "on" for s in result.states("compressor.run"))
    print(f"{starts} starts, {defrosts} defrosts of up to {np.asarray(result['coil.frost']).max():.1f} kg of frost.")
    kelvin = ("outdoors.T", "room.T", "tank.T", "evaporator.T_saturation")
    result.plot(*kelvin, "superheat.y", "coil.frost", unit=dict.fromkeys(kelvin, "degC"), file="heat_pump.png")
    return result


if __name__ == "__main__":
    main()
