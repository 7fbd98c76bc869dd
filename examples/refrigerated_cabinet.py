"""A freezer cabinet of a supermarket over a day: thermostat, defrost, door openings, frost, an alarm.

Shows: states that connect (AND and OR over what wants to stop the compressor), sequences with their own clock, doors that open at
exact times, energy bookkeeping, state bands in a plot. `docs/cabinet.md` tells how it is built up, step by step.
"""

import numpy as np

import acausal as ac
from acausal.library.thermal import HeatPort

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
ZERO = 273.15  # K
H_SUBLIMATION, H_MELTING = 2.83e6, 3.34e5  # J/kg


class Interior(ac.Component):
    """Air with shelves and goods, behind glass doors; moisture that comes in with the air of the shop."""

    air = HeatPort()
    exchange = ac.Input(0.5e-3, unit="kg/s", doc="air exchanged with the shop")
    moisture = ac.Output(unit="kg/s", nominal=1e-5, doc="water vapour that comes in")
    C_air = ac.Parameter(40e3, unit="J/K", doc="air, shelves and lining")
    C_goods = ac.Parameter(280e3, unit="J/K", doc="150 kg of frozen food")
    G_goods = ac.Parameter(40.0, unit="W/K", doc="goods to air")
    G_wall = ac.Parameter(10.0, unit="W/K", doc="walls and doors")
    T_shop = ac.Input(298.15, unit="K", doc="air of the shop")
    x_shop = ac.Input(0.0119, unit="kg/kg", doc="its humidity ratio: 60 % at 25 °C")
    x_air = ac.Parameter(0.0006, unit="kg/kg", doc="humidity ratio inside: saturated at -20 °C")
    cp = ac.Parameter(1006.0, unit="J/(kg*K)")
    lights = ac.Parameter(100.0, unit="W", doc="lights and heated glass")
    T = ac.Variable(start=253.15, unit="K", nominal=250.0, fixed=True, doc="air")
    T_goods = ac.Variable(start=253.15, unit="K", nominal=250.0, fixed=True, doc="goods")

    def equations(self):
        self.Q_goods = ac.named(self.G_goods * (self.T - self.T_goods), unit="W", doc="air to goods")
        loss = (self.G_wall + self.exchange * self.cp) * (self.T_shop - self.T)
        self.Q_in = ac.named(loss + self.lights, unit="W", doc="heat that comes in")
        yield self.T == self.air.T
        yield self.C_air * ac.der(self.T) == self.Q_in - self.Q_goods + self.air.Q_flow
        yield self.C_goods * ac.der(self.T_goods) == self.Q_goods
        yield self.moisture == self.exchange * (self.x_shop - self.x_air)


class Thermostat(ac.Component):
    """Calls for cooling above the dead band, until it is left below; never again before `rest` is over."""

    sensor = HeatPort()
    T_set = ac.Parameter(253.15, unit="K")
    band = ac.Parameter(4.0, unit="K", min=0, doc="dead band")
    rest = ac.Parameter(3 * MINUTE, unit="s", doc="shortest time off")
    call = ac.OutputStates("on", "off", initial="off")

    def equations(self):
        yield self.sensor.Q_flow == 0

    def transitions(self):
        yield self.call.off.to("on", when=self.sensor.T > self.T_set + self.band / 2, after=self.rest)
        yield self.call.on.to("off", when=self.sensor.T < self.T_set - self.band / 2)


class Defrost(ac.Component):
    """Every `interval`: heat until the coil is warm (or for too long), let it drip, go on."""

    coil = ac.Input(unit="K", doc="temperature of the coil")
    first, interval = ac.Parameter(3 * HOUR, unit="s"), ac.Parameter(6 * HOUR, unit="s")
    T_end = ac.Parameter(ZERO + 8.0, unit="K", doc="where heating ends")
    longest = ac.Parameter(40 * MINUTE, unit="s", doc="where it ends in any case")
    drip = ac.Parameter(4 * MINUTE, unit="s", doc="time to drip")
    phase = ac.States("cooling", "heating", "dripping", initial="cooling")
    allow = ac.OutputStates(on="cooling", off=("heating", "dripping"), of="phase")
    heat = ac.OutputStates(on="heating", off=("cooling", "dripping"), of="phase")

    def transitions(self):
        yield self.phase.cooling.to("heating", when=ac.sample(self.first, self.interval))
        yield self.phase.heating.to("dripping", when=self.coil > self.T_end)
        yield self.phase.heating.to("dripping", after=self.longest)
        yield self.phase.dripping.to("cooling", after=self.drip)


class Evaporator(ac.Component):
    """A finned coil with fans and a defrost heater, and the compressor behind it. Frost grows on it and melts."""

    air = HeatPort()
    run = ac.InputStates(on="all", off="any")
    fans, heater = ac.InputStates("on", "off"), ac.InputStates("on", "off")
    moisture = ac.Input(unit="kg/s", doc="water vapour that comes to the coil")
    T_coil = ac.Output(start=253.15, unit="K", nominal=250.0, fixed=True, doc="coil")
    frost = ac.Variable(start=0.05, unit="kg", nominal=0.1, fixed=True, doc="frost on the coil")
    C = ac.Parameter(20e3, unit="J/K", doc="coil and drain pan")
    G_fans = ac.Parameter(150.0, unit="W/K", doc="clean coil to air")
    G_still = ac.Parameter(4.0, unit="W/K", doc="without fans")
    G_melt = ac.Parameter(300.0, unit="W/K", doc="coil to melting frost")
    half = ac.Parameter(1.5, unit="kg", doc="frost that halves the heat transfer")
    capacity = ac.Parameter(1200.0, unit="W", doc="cooling with the coil at T_nominal")
    T_nominal, slope = ac.Parameter(243.15, unit="K"), ac.Parameter(0.035, unit="1/K")
    P_compressor, P_heater = ac.Parameter(800.0, unit="W"), ac.Parameter(1500.0, unit="W")
    starts = ac.Integer(0, doc="compressor starts")

    def equations(self):
        cold, wet = self.T_coil < ZERO, (self.T_coil > ZERO) & (self.frost > 0)
        growth = ac.where(cold, self.moisture, 0.0)
        melting = ac.where(wet, self.G_melt * (self.T_coil - ZERO) / H_MELTING, 0.0)
        G = ac.match(self.fans, on=self.G_fans / (1 + self.frost / self.half), off=self.G_still)
        full = self.capacity * ac.min(1 + self.slope * (self.T_coil - self.T_nominal), 1.5)  # the valve limits the pressure
        self.Q_cold = ac.named(ac.match(self.run, on=full, off=0.0), unit="W", doc="cooling capacity")
        self.P = ac.named(
            ac.match(self.run, on=self.P_compressor, off=0.0) + ac.match(self.heater, on=self.P_heater, off=0.0),
            unit="W",
            doc="electric power",
        )
        self.Q_heater = ac.match(self.heater, on=self.P_heater, off=0.0)
        self.Q_water = ac.named(H_SUBLIMATION * growth - H_MELTING * melting, unit="W", doc="heat of frost")
        yield self.air.Q_flow == G * (self.air.T - self.T_coil)
        yield self.C * ac.der(self.T_coil) == self.air.Q_flow + self.Q_heater + self.Q_water - self.Q_cold
        yield ac.der(self.frost) == growth - melting

    def events(self):
        yield ac.when(self.run.on, ac.assign(self.starts, ac.pre(self.starts) + 1))


class Customers(ac.Component):
    """While the shop is open somebody opens a door every so often."""

    opening, closing = ac.Parameter(8 * HOUR, unit="s"), ac.Parameter(20 * HOUR, unit="s")
    every, lasting = ac.Parameter(6 * MINUTE, unit="s"), ac.Parameter(15.0, unit="s")
    leak = ac.Parameter(0.5e-3, unit="kg/s", doc="exchange of air through seals")
    gust = ac.Parameter(30e-3, unit="kg/s", doc="exchange of air through an open door")
    exchange = ac.Output(unit="kg/s", nominal=1e-3)
    shop = ac.States("day", "night", initial="night")
    door = ac.OutputStates("open", "closed", initial="closed")

    def equations(self):
        yield self.exchange == self.leak + ac.match(self.door, open=self.gust, closed=0.0)

    def transitions(self):
        yield self.shop.night.to("day", when=ac.sample(self.opening, DAY))
        yield self.shop.day.to("night", when=ac.sample(self.closing, DAY))
        yield self.door.closed.to("open", when=ac.sample(0.0, self.every) & self.shop.day)
        yield self.door.open.to("closed", after=self.lasting)


class Alarm(ac.Component):
    """Rings when the air has been too warm for too long; the run ends when the goods thaw."""

    T, T_goods = ac.Input(unit="K"), ac.Input(unit="K")
    limit = ac.Parameter(ZERO - 12.0, unit="K", doc="of the air")
    patience = ac.Parameter(30 * MINUTE, unit="s")
    bell = ac.States("quiet", "waiting", "ringing", initial="quiet")

    def transitions(self):
        yield self.bell.quiet.to("waiting", when=self.T > self.limit)
        yield self.bell.waiting.to("quiet", when=self.T < self.limit)
        yield self.bell.waiting.to("ringing", after=self.patience)

    def events(self):
        yield ac.assert_(self.T_goods < ZERO - 15.0, "The goods are warmer than -15 °C.", level="warning")
        yield ac.when(self.T_goods > ZERO - 10.0, ac.terminate("The goods begin to thaw."))


class Cabinet(ac.Component):
    """All of it, with meters: electricity, and heat for the balance."""

    E = ac.Variable(start=0.0, unit="J", nominal=1e6, fixed=True, doc="electricity of compressor and heater")
    E_net = ac.Variable(start=0.0, unit="J", nominal=1e6, fixed=True, doc="heat that came in and stayed")

    def __init__(self):
        self.interior, self.thermostat, self.evaporator = Interior(), Thermostat(), Evaporator()
        self.defrost, self.customers, self.alarm = Defrost(), Customers(), Alarm()

    def connections(self):
        yield self.interior.air, self.evaporator.air, self.thermostat.sensor
        yield self.interior.moisture, self.evaporator.moisture
        yield self.evaporator.T_coil, self.defrost.coil
        yield self.thermostat.call, self.evaporator.run
        yield self.defrost.allow, self.evaporator.run
        yield self.defrost.allow, self.evaporator.fans
        yield self.defrost.heat, self.evaporator.heater
        yield self.customers.exchange, self.interior.exchange

    def equations(self):
        evaporator = self.evaporator
        yield self.alarm.T == self.interior.T
        yield self.alarm.T_goods == self.interior.T_goods
        yield ac.der(self.E) == evaporator.P
        yield ac.der(self.E_net) == self.interior.Q_in + evaporator.Q_heater + evaporator.Q_water - evaporator.Q_cold


def imbalance(result):
    """How much heat is unaccounted for: what came in and stayed, less what the temperatures say, in J."""
    stores = {"interior.T": "interior.C_air", "interior.T_goods": "interior.C_goods", "evaporator.T_coil": "evaporator.C"}
    stored = sum(result[C] * (result[T] - result[T][0]) for T, C in stores.items())
    return np.abs(result["E_net"] - stored).max()


def pictures(result):
    """The whole day; and the hours around a defrost, cut out of the same picture."""
    curves = "evaporator.T_coil", "interior.T", "interior.T_goods", "evaporator.frost"
    strips = ["thermostat.call", "defrost.phase", "evaporator.run"]
    day = {"unit": "degC", "states": [*strips, "customers.door"]}
    result.plot(*curves, **day, title="A freezer cabinet over a day", file="cabinet_day.png")
    hours = {"unit": "degC", "states": [*strips, "customers.door"]}
    figure = result.plot(*curves, **hours, title="Around the second defrost", show=False)
    figure.axes[0].set_xlim(8.25, 10.25)
    figure.savefig("cabinet_defrost.png", dpi=160)


def main():
    model = ac.compile(Cabinet())
    result = model.simulate(until=DAY, points=2881)
    print(f"{len(result.events)} events in a day; the heat balance is off by {imbalance(result):.1g} J.")
    goods = result.in_unit("interior.T_goods", "degC")
    print(f"Goods between {goods.min():.1f} and {goods.max():.1f} °C with {result['E'][-1] / 3.6e6:.1f} kWh of electricity.")
    running = result.time_in("evaporator.run")["on"] / DAY
    print(f"The compressor starts {result['evaporator.starts'][-1]:.0f} times and runs {running:.0%} of the day.")
    print(*result.states("defrost.phase"), sep="\n")
    pictures(result)

    broken = model.simulate(until=DAY, set={"evaporator.capacity": 0.0})  # a compressor that does not cool
    ringing = broken.states("alarm.bell")[-1]
    print(f"Without cooling the bell rings after {ringing.start / HOUR:.1f} h; {broken.diagnostics[-1].what}")
    return result


if __name__ == "__main__":
    main()
