"""A supermarket: three cold rooms at different temperatures on one rack of compressors, over two hours.

Shows: evaporators in parallel behind pressure regulators, thermostats that open and close valves, and a rack of three compressors
that a sequencer switches by the suction pressure, all of it by input and output states.
"""

import numpy as np

import acausal as ac
from acausal.library import control, fluid, refrigeration, thermal

HOURS, COMPRESSORS = 2, 3
ROOMS = {"meat": (272.15, 1e-4), "dairy": (277.15, 1.5e-5), "fruit": (281.15, 1e-5)}  # K, and m² of the pressure regulator
__studio__ = {"until": f"{HOURS} h", "plots": [[f"{name}.room.T" for name in ROOMS], ["header.p"]]}


class Place(ac.Component):
    """A cold room with its valve, evaporator, pressure regulator and thermostat, between a liquid and a suction line."""

    liquid, suction = ac.FluidPort(), ac.FluidPort()

    def __init__(self, T, regulator):
        self.valve = refrigeration.ThermostaticValve()
        self.evaporator = refrigeration.Evaporator(charge_start=0.08)
        self.superheat, self.regulator = fluid.SuperheatSensor(), fluid.Orifice(A=regulator)
        self.room = refrigeration.ColdRoom(T=ac.modify(start=T + 0.5), T_goods=ac.modify(start=T))
        self.thermostat = refrigeration.Thermostat(T_set=T)

    def connections(self):
        yield self.liquid, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.superheat.a
        yield self.superheat.b, self.regulator.a
        yield self.regulator.b, self.suction
        yield self.superheat.y, self.valve.superheat
        yield self.evaporator.air, self.room.air
        yield self.thermostat.call, self.valve.run

    def equations(self):
        yield self.thermostat.T == self.room.T


class Supermarket(ac.Component):
    medium = ac.AnyMedium("R134a")
    W = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="electricity of the compressors")

    def __init__(self):
        self.meat, self.dairy, self.fruit = (Place(*room) for room in ROOMS.values())
        self.outlet, self.line = fluid.Orifice(A=3e-5), fluid.Volume(4, V=5e-4, p_start=5.717e5, h_start=2.35e5)  # of liquid
        self.header = fluid.Volume(3 + COMPRESSORS, V=2e-2, p_start=3e5, h_start=4.05e5)
        self.compressor = ac.array(refrigeration.Compressor, COMPRESSORS, medium=self.medium, V_displaced=20e-6)
        self.discharge, self.pipe = fluid.Volume(COMPRESSORS + 1, V=1e-3, p_start=5.6e5, h_start=4.3e5), fluid.Orifice(A=2e-4)
        self.condenser = refrigeration.Condenser(V=4e-3, area=3.0, C=6000.0, UA=900.0, m_nominal=0.03, charge_start=1.0)
        self.receiver = refrigeration.Receiver(V=4e-3, charge_start=2.5, m_nominal=0.03)
        self.rack = control.Sequencer(COMPRESSORS, setpoint=1.9e5, band=0.4e5, delay=60.0)
        self.roof = thermal.PrescribedTemperature(T=298.15)

    def connections(self):
        places = (self.meat, self.dairy, self.fruit)
        yield self.receiver.b, self.outlet.a
        yield self.outlet.b, self.line.ports[3]
        for k, place in enumerate(places):
            yield self.line.ports[k], place.liquid
            yield place.suction, self.header.ports[k]
        yield self.header.ports[3:], self.compressor.a
        yield self.compressor.b, self.discharge.ports[:-1]
        yield self.discharge.ports[-1], self.pipe.a
        yield self.pipe.b, self.condenser.a
        yield self.condenser.b, self.receiver.a
        yield self.condenser.air, self.roof.port
        for k in range(COMPRESSORS):
            yield getattr(self.rack, f"stage{k + 1}"), self.compressor[k].run

    def equations(self):
        yield self.rack.measured == self.header.p
        yield ac.der(self.W) == ac.sum(self.compressor.P)
        held = [place.evaporator.charge for place in (self.meat, self.dairy, self.fruit)]
        held += [self.condenser.charge, self.receiver.charge, self.header.M, self.line.M, self.discharge.M]
        self.charge = ac.named(sum(held[1:], held[0]), unit="kg", doc="refrigerant in all of it")


def main():
    result = ac.compile(Supermarket()).simulate(until=HOURS * 3600.0, points=HOURS * 360 + 1)
    for name in ROOMS:
        T, boils = (result.in_unit(f"{name}.{what}", "degC")[-540:] for what in ("room.T", "evaporator.T_saturation"))
        calls = sum(s.state == "on" for s in result.states(f"{name}.thermostat.call"))
        boils = boils[result[f"{name}.valve.m_flow"][-540:] > 1e-3].mean()
        print(f"{name:6} {T.min():5.1f} … {T.max():4.1f} °C, {calls} calls for cooling, its evaporator boils at {boils:5.1f} °C")
    shares = ", ".join(f"{k}: {time / (HOURS * 3600.0):.0%}" for k, time in enumerate(result.time_in("rack.level").values()))
    print(f"Compressors at work, of the time: {shares}; {result['W'][-1] / 3.6e6:.1f} kWh.")
    charge = np.asarray(result["charge"])
    print(f"The charge of {charge[0]:.2f} kg is kept to {np.abs(charge / charge[0] - 1).max():.0e}.")
    temperatures = tuple(f"{n}.room.T" for n in ROOMS)
    units = dict.fromkeys(temperatures, "degC") | {"header.p": "bar"}
    result.plot(*temperatures, "header.p", "rack.level", unit=units, file="supermarket.png")
    return result


if __name__ == "__main__":
    main()
