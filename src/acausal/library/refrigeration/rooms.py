"""Cold rooms: air, goods, doors, moisture and frost; the thermostat and the defrost clock that control them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac
from acausal.language.functions import is_symbolic

from ..fluid.passages import root_of_difference
from ..fluid.pipes import GRAVITY
from ..thermal import HeatPort

ZERO = 273.15  # K
H_CONDENSATION, H_MELTING = 2.501e6, 3.336e5  # J/kg, of water and ice at 0 °C
CP_AIR, R_RATIO = 1006.0, 0.62198  # J/(kg K); molar mass of water over that of air
R_AIR = 287.05  # J/(kg K)
LITTLE = 1e-4  # difference of densities, as a share: below it what passes a door is in proportion to it


def saturated_humidity(T: Any, p: Any = 101325.0) -> Any:
    """Humidity ratio over ice and, above 0 °C, over water, kg of vapour a kg of dry air, by Magnus' formula (Sonntag 1990: 6.112
    hPa; 22.46, 272.62 °C over ice; 17.62, 243.12 °C over water)."""
    t = T - ZERO
    stable = ac.min(22.46 * t / (t + 272.62), 17.62 * t / (t + 243.12))  # the phase over which there is less vapour
    vapour = 611.2 * ac.exp(ac.no_event(stable) if is_symbolic(stable) else stable)
    return R_RATIO * vapour / (p - vapour)


class ColdRoom(ac.Component):
    """Well-mixed air with goods behind insulated walls and a door.

    ``C·dT/dt = UA·(T_out - T) + exchange·cp·(T_out - T) + G_goods·(T_goods - T) + gain + air.Q_flow``; the goods follow the
    air; the humidity ratio w follows what comes in with the air and what the coil takes, ``M_air·dw/dt = exchange·(w_out - w) -
    moisture``.
    """

    air = HeatPort(doc="the air: coil and other surfaces")
    T_out = ac.Input(298.15, unit="K", min=0, doc="temperature outside")
    w_out = ac.Input(0.010, unit="kg/kg", min=0, doc="humidity ratio outside")
    exchange = ac.Input(1e-3, unit="kg/s", min=0, doc="air that is exchanged through door and leaks")
    gain = ac.Input(50.0, unit="W", doc="lights, fans, people")
    moisture = ac.Input(0.0, unit="kg/s", doc="water that the coil takes out of the air")
    C = ac.Parameter(1.35e5, unit="J/K", min=1e-9, doc="air, shelves and lining")
    M_air = ac.Parameter(25.0, unit="kg", min=1e-9, doc="air")
    UA = ac.Parameter(25.0, unit="W/K", min=0, doc="walls")
    C_goods = ac.Parameter(1.5e6, unit="J/K", min=1e-9, doc="goods")
    G_goods = ac.Parameter(40.0, unit="W/K", min=0, doc="goods to air")
    T = ac.Variable(unit="K", nominal=300.0, start=273.15, fixed=True, doc="temperature of the air")
    T_goods = ac.Variable(unit="K", nominal=300.0, start=272.15, fixed=True, doc="temperature of the goods")
    w = ac.Output(unit="kg/kg", nominal=0.005, start=0.003, fixed=True, doc="humidity ratio of the air")

    def equations(self) -> Iterator[Any]:
        to_goods = self.G_goods * (self.T - self.T_goods)
        walls = self.UA * (self.T_out - self.T)
        through_door = self.exchange * CP_AIR * (self.T_out - self.T)
        self.Q_in = ac.named(walls + through_door + self.gain, unit="W", doc="heat that comes in, but moisture's")
        self.energy = ac.named(self.C * self.T + self.C_goods * self.T_goods, unit="J", doc="energy of air and goods")
        yield self.air.T == self.T
        yield self.C * ac.der(self.T) == self.Q_in - to_goods + self.air.Q_flow
        yield self.C_goods * ac.der(self.T_goods) == to_goods
        yield self.M_air * ac.der(self.w) == self.exchange * (self.w_out - self.w) - self.moisture


class FrostedCoil(ac.Component):
    """The air side of a cooler: fans, frost that grows and melts, a heater for defrosting. It sets UA and heats an
    `Evaporator`.

    Vapour comes to the coil by the analogy of heat and mass transfer (Lewis number 1): ``moisture = UA/cp·(w - w_sat(T_coil))``,
    never back. Below 0 °C it stays as frost, ``d(frost)/dt = growth - melting``, above it drips off (within ±0.5 K there is some
    of both). Frost halves the heat transfer at `half`, ``UA = UA_clean/(1 + frost/half)``; above 0 °C it melts with the heat
    ``G_melt·(T_coil - 0 °C)``, less where it does not cover the coil any more. Into the coil goes ``Q = P +
    h_condensation·moisture + h_melting·(growth - melting)``. States: frost, and the speed of the fans, which follows within
    `tau`.
    """

    fans = ac.InputStates("on", "off", default="on", doc="whether the fans run")
    heater = ac.InputStates("on", "off", default="off", doc="whether the heater is on")
    T_coil = ac.Input(263.15, unit="K", doc="temperature of the coil")
    w = ac.Input(0.004, unit="kg/kg", doc="humidity ratio of the air")
    UA_clean = ac.Parameter(250.0, unit="W/K", min=0, doc="clean coil with fans")
    UA_still = ac.Parameter(10.0, unit="W/K", min=0, doc="without fans")
    half = ac.Parameter(3.0, unit="kg", min=1e-9, doc="frost that halves the heat transfer")
    thin = ac.Parameter(0.05, unit="kg", min=1e-6, doc="frost that covers only half of the coil")
    G_melt = ac.Parameter(400.0, unit="W/K", min=0, doc="coil to melting frost")
    P_heater = ac.Parameter(1500.0, unit="W", min=0, doc="power of the heater")
    tau = ac.Parameter(5.0, unit="s", min=1e-3, doc="time constant of the fans")
    UA = ac.Output(unit="W/K", nominal=100.0, start=250.0, doc="coil to air")
    Q = ac.Output(unit="W", nominal=100.0, start=0.0, doc="heat of heater and frost into the coil")
    moisture = ac.Output(unit="kg/s", nominal=1e-4, start=0.0, doc="water taken out of the air")
    frost = ac.Variable(unit="kg", nominal=0.1, start=0.0, fixed=True, doc="frost on the coil")
    blowing = ac.Variable(start=1.0, fixed=True, doc="speed of the fans")

    def equations(self) -> Iterator[Any]:
        clean = self.UA_still + self.blowing * (self.UA_clean - self.UA_still)
        warm, covered = ac.smooth_step(self.T_coil, ZERO, 0.5), self.frost / (self.frost + self.thin)
        melting = self.G_melt * covered * ac.no_event(ac.max(self.T_coil - ZERO, 0.0)) / H_MELTING
        growth = (1 - warm) * self.moisture
        drying = self.UA / CP_AIR * (self.w - saturated_humidity(self.T_coil))
        self.melting = ac.named(melting, unit="kg/s", doc="frost that melts")
        self.P = ac.named(ac.match(self.heater, on=self.P_heater, off=0.0), unit="W", doc="power of the heater")
        self.Q_frost = ac.named(H_CONDENSATION * self.moisture + H_MELTING * (growth - melting), unit="W", doc="heat of frost")
        yield self.tau * ac.der(self.blowing) == ac.match(self.fans, on=1.0, off=0.0) - self.blowing
        yield self.UA == clean / (1 + self.frost / self.half)
        yield self.moisture == ac.no_event(ac.max(drying, 0.0))
        yield ac.der(self.frost) == growth - melting
        yield self.Q == self.P + self.Q_frost


class Thermostat(ac.Component):
    """Calls for cooling when ``T > T_set + band/2``, until ``T < T_set - band/2``; `rest` is the shortest time off."""

    T = ac.Input(272.15, unit="K", doc="what it measures")
    T_set = ac.Parameter(272.15, unit="K", min=0, doc="temperature that is wanted")
    band = ac.Parameter(2.0, unit="K", min=0, doc="between on and off")
    rest = ac.Parameter(60.0, unit="s", min=0, doc="shortest time off")
    call = ac.OutputStates("on", "off", initial="off", doc="whether it calls for cooling")

    def transitions(self) -> Iterator[Any]:
        yield self.call.off.to("on", when=self.T > self.T_set + self.band / 2, after=self.rest)
        yield self.call.on.to("off", when=self.T < self.T_set - self.band / 2)


class DefrostClock(ac.Component):
    """Every `interval` it heats until the coil is warm, ``coil > T_end`` (or for longer than `longest`), lets it drip for `drip`,
    and goes on.
    """

    coil = ac.Input(263.15, unit="K", doc="temperature of the coil")
    first = ac.Parameter(4 * 3600.0, unit="s", doc="when it begins for the first time")
    interval = ac.Parameter(8 * 3600.0, unit="s", min=1, doc="from one to the next")
    T_end = ac.Parameter(ZERO + 8.0, unit="K", doc="where heating ends")
    longest = ac.Parameter(1800.0, unit="s", doc="where it ends in any case")
    drip = ac.Parameter(240.0, unit="s", doc="time to drip")
    phase = ac.States("cooling", "heating", "dripping", initial="cooling", doc="what it does")
    allow = ac.OutputStates(on="cooling", off=("heating", "dripping"), of="phase", doc="whether there may be cooling")
    heat = ac.OutputStates(on="heating", off=("cooling", "dripping"), of="phase", doc="whether there is heating")

    def transitions(self) -> Iterator[Any]:
        yield self.phase.cooling.to("heating", when=ac.sample(self.first, self.interval))
        yield self.phase.heating.to("dripping", when=self.coil > self.T_end)
        yield self.phase.heating.to("dripping", after=self.longest)
        yield self.phase.dripping.to("cooling", after=self.drip)


class Door(ac.Component):
    """Opens every so often while there is work; `exchange` is the air that passes, through the open door or through its leaks.

    ``exchange = leak + gust`` while it is open, for `lasting` from each of the times ``t = k·every`` between `opening`
    and `closing` of a day of 24 h; else ``exchange = leak``.
    """

    opening = ac.Parameter(8 * 3600.0, unit="s", doc="when work begins")
    closing = ac.Parameter(18 * 3600.0, unit="s", doc="when it ends")
    every = ac.Parameter(1800.0, unit="s", min=1, doc="from one opening to the next")
    lasting = ac.Parameter(40.0, unit="s", min=0, doc="how long it stays open")
    leak = ac.Parameter(1e-3, unit="kg/s", min=0, doc="air through a closed door")
    gust = ac.Parameter(0.08, unit="kg/s", min=0, doc="more air through an open one")
    exchange = ac.Output(unit="kg/s", nominal=1e-3, start=1e-3, doc="air that is exchanged")
    work = ac.States("yes", "no", initial="no", doc="whether there is work")
    door = ac.States("open", "closed", initial="closed", doc="the door")

    def equations(self) -> Iterator[Any]:
        yield self.exchange == self.leak + ac.match(self.door, open=self.gust, closed=0.0)

    def transitions(self) -> Iterator[Any]:
        # a run may begin in the middle of a day
        hour, beginning, end = (t - 86400.0 * ac.floor(t / 86400.0) for t in (ac.time, self.opening, self.closing))
        since, length = hour - beginning, end - beginning
        under_way = ac.where(length > 0, (since >= 0) & (hour < end), (since >= 0) | (hour < end))
        yield self.work.no.to("yes", when=ac.sample(self.opening, 86400.0) | (ac.initial() & under_way))
        yield self.work.yes.to("no", when=ac.sample(self.closing, 86400.0))
        yield self.door.closed.to("open", when=ac.sample(0.0, self.every) & self.work.yes)
        yield self.door.open.to("closed", after=self.lasting)


class Doorway(Door):
    """A `Door` of some size: how much air passes while it is open follows from what is on its two sides, the heavier below.

    ``gust = flow_factor·(1 - protection)·0.221·width·height·rho·sqrt((1 - r)·g·height)·(2/(1 + r^(-1/3)))^1.5`` with the density
    rho of the colder air and the ratio ``r = T_cold/T_warm`` of the densities (Gosney and Olama 1975; ASHRAE Handbook,
    Refrigeration Load). Moisture in the densities is left out. Where both sides are nearly as warm the root is linear.
    """

    T_room = ac.Input(273.15, unit="K", min=100, doc="temperature of the room")
    T_out = ac.Input(298.15, unit="K", min=100, doc="temperature outside")
    gust = ac.Variable(unit="kg/s", nominal=0.1, start=0.5, doc="more air through an open one")
    width = ac.Parameter(1.2, unit="m", min=0, doc="of the opening")
    height = ac.Parameter(2.1, unit="m", min=0, doc="of the opening")
    flow_factor = ac.Parameter(0.8, min=0, max=1.2, doc="share of the full flow that is there: it takes seconds to begin")
    protection = ac.Parameter(0.0, min=0, max=1, doc="share kept back: a strip curtain 0.8 to 0.95, an air curtain 0.5 to 0.8")
    p = ac.Parameter(101325.0, unit="Pa", min=1e3, doc="pressure")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        cold = ac.no_event(ac.min(self.T_room, self.T_out))
        ratio = cold / ac.no_event(ac.max(self.T_room, self.T_out))
        driving = ac.sqrt(GRAVITY * self.height) * root_of_difference(1 - ratio, LITTLE)
        mixing = (2 / (1 + ratio ** (-1 / 3))) ** 1.5
        flow = 0.221 * self.width * self.height * self.p / (R_AIR * cold) * driving * mixing
        yield self.gust == self.flow_factor * (1 - self.protection) * flow
