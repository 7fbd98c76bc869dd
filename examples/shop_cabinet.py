"""An open display cabinet in a shop over a day and a night: air curtain, night blind, superheat control, frost and defrost.

Shows: what the blind saves, and a controller that asks for more superheat while the valve is wide open.
"""

import acausal as ac
from acausal.library import control, fluid, refrigeration, thermal

DAY = 86400.0


class OpeningHours(ac.Component):
    """The shop is open from 8 to 20 h: then lights are on, and the blind is up."""

    shop = ac.States("open", "closed", initial="closed", doc="the shop")
    lit = ac.OutputStates(yes="open", no="closed", of="shop", doc="whether lights are on")
    covered = ac.OutputStates(yes="closed", no="open", of="shop", doc="whether the blind is down")

    def transitions(self):
        yield self.shop.closed.to("open", when=ac.sample(8 * 3600.0, DAY))
        yield self.shop.open.to("closed", when=ac.sample(20 * 3600.0, DAY))


class ShopCabinet(ac.Component):
    medium = ac.AnyMedium("R134a")
    W = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="electricity")

    def __init__(self, blind=True):
        self.blind = blind
        self.compressor = refrigeration.Compressor(medium=self.medium, V_displaced=30e-6)
        self.condenser, self.receiver = (
            refrigeration.Condenser(UA=450.0, charge_start=0.35),
            refrigeration.Receiver(charge_start=0.6),
        )
        self.valve, self.evaporator = refrigeration.ElectronicValve(A=6e-7), refrigeration.Evaporator(charge_start=0.05)
        self.superheat, self.control = fluid.SuperheatSensor(), control.SuperheatController()
        self.cabinet = refrigeration.DisplayCabinet(T=ac.modify(start=278.15), T_goods=ac.modify(start=277.15))
        self.coil, self.thermostat = (
            refrigeration.FrostedCoil(UA_clean=350.0),
            refrigeration.Thermostat(T_set=276.15, band=3.0, rest=180.0),
        )
        self.defrost, self.hours = refrigeration.DefrostClock(interval=6 * 3600.0), OpeningHours()
        self.roof = thermal.PrescribedTemperature(T=298.15)

    def connections(self):
        yield self.compressor.b, self.condenser.a
        yield self.condenser.b, self.receiver.a
        yield self.receiver.b, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.superheat.a
        yield self.superheat.b, self.compressor.a
        yield self.superheat.y, self.control.measured
        yield self.control.y, self.valve.opening
        yield self.condenser.air, self.roof.port
        yield self.evaporator.air, self.cabinet.air
        for run in (self.compressor.run, self.control.run):
            yield self.thermostat.call, run
            yield self.defrost.allow, run
        yield self.defrost.heat, self.coil.heater
        yield self.coil.UA, self.evaporator.UA
        yield self.coil.Q, self.evaporator.Q_wall
        yield self.coil.moisture, self.cabinet.moisture
        yield self.cabinet.w, self.coil.w
        yield self.hours.lit, self.cabinet.lit
        if self.blind:
            yield self.hours.covered, self.cabinet.covered

    def equations(self):
        yield self.thermostat.T == self.cabinet.T
        yield self.coil.T_coil == self.evaporator.T_wall
        yield self.defrost.coil == self.evaporator.T_wall
        yield ac.der(self.W) == self.compressor.P + self.coil.P + self.cabinet.P
        held = self.condenser.charge + self.receiver.charge + self.evaporator.charge
        self.charge = ac.named(held, unit="kg", doc="refrigerant in all of it")


def main():
    runs = {blind: ac.compile(ShopCabinet(blind)).simulate(until=DAY, points=1441) for blind in (True, False)}
    for blind, result in runs.items():
        goods, energy = result.in_unit("cabinet.T_goods", "degC"), result["W"][-1] / 3.6e6
        name = "with" if blind else "without"
        print(f"{name} a blind at night: {energy:.1f} kWh a day, goods {goods.min():.1f} … {goods.max():.1f} °C")
    saved = 1 - runs[True]["W"][-1] / runs[False]["W"][-1]
    print(
        f"The blind saves {saved:.0%}. The charge is kept to {abs(runs[True]['charge'] / runs[True]['charge'][0] - 1).max():.0e}."
    )
    curves = ("cabinet.T", "cabinet.T_goods")
    runs[True].plot(*curves, "control.setpoint", "superheat.y", "coil.frost", unit=dict.fromkeys(curves, "degC"),
                    window=("7 h", "10.5 h"), file="shop_cabinet.png")  # fmt: skip
    return runs


if __name__ == "__main__":
    main()
