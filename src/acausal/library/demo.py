"""The plants of `acausal demo`: a cold store (`refrigeration.ColdStore`); and here a house in winter, with a heat pump and a tank.

    weather ──► walls, window, ventilation ──► room ◄── floor ◄── heating circuit ◄── tank ◄── heat pump ◄── weather

Small but real: layered walls with conduction in arrays, solar and internal gains, hot water drawn in the morning and in the
evening, a heat pump whose coefficient of performance is a table of source and sink temperature (and whose sink temperature depends
on its own heat: an algebraic loop), two PI controllers with limits. Index 1, some thirty states.
"""

# mypy: disable-error-code="call-arg"
# Keyword arguments that a component's `__init__` does not name are modifications, which a type checker does not know.

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import as_file, files
from math import pi
from typing import Any

import acausal as ac

from .refrigeration import ColdStore
from .signal import Add, LimitedPI
from .thermal import (
    Convection,
    HeatCapacitor,
    HeatPort,
    LayeredWall,
    PrescribedTemperature,
    Room,
    TemperatureSensor,
    ThermalConductor,
)

__all__ = ["ColdStore", "HeatedHouse"]

DAY = 86400.0
WATER = 4186.0  # J/(kg·K)

# Coefficient of performance over outdoor and supply temperature in K: round numbers of the size that makers of such machines state.
COP = ac.Table2D(
    [258.15, 266.15, 275.15, 280.15, 285.15, 293.15],
    [298.15, 308.15, 318.15, 328.15],
    [[3.0, 2.5, 2.0, 1.7], [3.6, 2.9, 2.4, 2.0],
     [4.3, 3.5, 2.8, 2.3], [5.1, 4.1, 3.2, 2.6], [5.8, 4.6, 3.6, 2.9], [6.8, 5.4, 4.2, 3.4]],
    name="COP",
)  # fmt: skip


class Weather(ac.Component):
    """Outdoor temperature and solar radiation from a CSV file with the columns time, T and sun; three synthetic days by default."""

    T = ac.Output(unit="K", start=273.15, nominal=300.0, doc="outdoor temperature")
    sun = ac.Output(unit="W/m^2", nominal=100.0, doc="solar radiation on the window")

    def __init__(self, file: str | os.PathLike[str] | None = None) -> None:
        with as_file(files("acausal.library.data") / "weather.csv") as shipped:
            path = shipped if file is None else file
            self.T_table = ac.Table.from_csv(path, "time", "T", name="outdoor_temperature")
            self.sun_table = ac.Table.from_csv(path, "time", "sun", name="sun")

    def equations(self) -> Iterator[Any]:
        yield self.T == self.T_table(ac.time)
        yield self.sun == self.sun_table(ac.time)


class HeatPump(ac.Component):
    """Warms water: ``P = speed·P_nominal``, ``Q = COP(T_source, T_supply)·P``, ``Q = m_flow·c·(T_supply - T_in)``."""

    speed = ac.Input(1.0, min=0, max=1, doc="share of the full speed")
    T_source = ac.Input(275.15, unit="K", doc="temperature of the outdoor air")
    T_in = ac.Input(303.15, unit="K", doc="temperature of the water that comes in")
    P_nominal = ac.Parameter(1300.0, unit="W", min=0, doc="electric power at full speed")
    m_nominal = ac.Parameter(0.15, unit="kg/s", min=0, doc="water flow at full speed")
    m_flow = ac.Output(unit="kg/s", start=0.1, nominal=0.1, doc="water flow")
    T_supply = ac.Output(unit="K", start=308.15, nominal=300.0, doc="temperature of the water that goes out")
    P = ac.Output(unit="W", nominal=1000.0, doc="electric power")
    Q_flow = ac.Output(unit="W", nominal=1000.0, doc="heat given to the water")

    def equations(self) -> Iterator[Any]:
        self.performance = ac.named(COP(self.T_source, self.T_supply), doc="coefficient of performance")
        yield self.P == self.speed * self.P_nominal
        yield self.Q_flow == self.performance * self.P
        yield self.m_flow == self.m_nominal * ac.max(self.speed, 0.05)  # the pump never stands quite still
        yield self.Q_flow == self.m_flow * WATER * (self.T_supply - self.T_in)


class Tank(ac.Component):
    """Hot water in `layers` layers, T[0] at the top. States: T.

    The charging flow enters at the top and leaves at the bottom; each of the `uses` leaves at the top and comes back (or is
    replaced by cold water) at the bottom. In each layer: what flows through it, conduction to its neighbours, loss to `surface`.
    """

    surface = HeatPort(doc="where the losses go")
    volume = ac.Parameter(0.5, unit="m^3", min=0, doc="volume of water")
    height = ac.Parameter(1.6, unit="m", min=0, doc="height")
    conductivity = ac.Parameter(1.5, unit="W/(m*K)", min=0, doc="conductivity of water, mixing and steel together")
    UA = ac.Parameter(3.0, unit="W/K", min=0, doc="conductance of the insulation")
    m_charge = ac.Input(0.0, unit="kg/s", doc="charging flow")
    T_charge = ac.Input(308.15, unit="K", doc="its temperature")
    T_top = ac.Output(unit="K", nominal=300.0, doc="temperature at the top")
    T_bottom = ac.Output(unit="K", nominal=300.0, doc="temperature at the bottom")
    m_use: Any
    T_return: Any
    T: Any

    def __init__(self, layers: int = 10, uses: int = 2) -> None:
        self.m_use = ac.Input(0.0, shape=uses, unit="kg/s", doc="flows that are used")
        self.T_return = ac.Input(293.15, shape=uses, unit="K", doc="temperatures at which they are replaced")
        self.T = ac.Variable(shape=layers, unit="K", start=308.15, nominal=300.0, min=0.0, doc="temperatures, from the top down")

    def equations(self) -> Iterator[Any]:
        T, count = self.T, self.T.size
        charge, use = self.m_charge * WATER, ac.sum(self.m_use) * WATER
        G = self.conductivity * self.volume / self.height / (self.height / count)
        C = 1000.0 * self.volume * WATER / count
        loss = self.UA / count * (self.surface.T - T)
        yield C * ac.der(T[0]) == charge * (self.T_charge - T[0]) + (use + G) * (T[1] - T[0]) + loss[0]
        yield C * ac.der(T[1:-1]) == (charge + G) * (T[:-2] - T[1:-1]) + (use + G) * (T[2:] - T[1:-1]) + loss[1:-1]
        back = WATER * ac.dot(self.m_use, self.T_return - T[-1])
        yield C * ac.der(T[-1]) == (charge + G) * (T[-2] - T[-1]) + back + loss[-1]
        yield self.surface.Q_flow == ac.sum(loss)
        yield self.T_top == T[0]
        yield self.T_bottom == T[-1]


class HeatingCircuit(ac.Component):
    """A pump with a mixing valve and a heat exchanger of constant effectiveness: water from the tank heats the floor at `port`."""

    port = HeatPort(doc="the floor")
    opening = ac.Input(0.0, min=0, max=1, doc="opening of the valve")
    T_in = ac.Input(308.15, unit="K", doc="temperature of the water from the tank")
    m_nominal = ac.Parameter(0.2, unit="kg/s", min=0, doc="flow with the valve open")
    effectiveness = ac.Parameter(0.7, min=0, max=1, doc="share of the temperature difference that is given off")
    m_flow = ac.Output(unit="kg/s", nominal=0.1, doc="water flow")
    T_return = ac.Output(unit="K", nominal=300.0, doc="temperature of the water that goes back")

    def equations(self) -> Iterator[Any]:
        yield self.m_flow == self.m_nominal * self.opening
        yield self.T_return == self.T_in - self.effectiveness * (self.T_in - self.port.T)
        yield self.port.Q_flow == -self.m_flow * WATER * (self.T_in - self.T_return)


class HotWater(ac.Component):
    """Hot water drawn every day around two hours of the day; cold water comes in its place."""

    daily = ac.Parameter(120.0, unit="kg", min=0, doc="water drawn in a day")
    morning, evening = ac.Parameter(7 * 3600.0, unit="s", doc="first peak"), ac.Parameter(19 * 3600.0, unit="s", doc="second peak")
    T_cold = ac.Parameter(283.15, unit="K", min=0, doc="temperature of the cold water")
    m_flow = ac.Output(unit="kg/s", nominal=0.01, doc="water drawn")
    T_return = ac.Output(unit="K", nominal=300.0, doc="temperature of the water that replaces it")

    def equations(self) -> Iterator[Any]:
        def peak(hour: Any) -> Any:  # a smooth bump once a day, two hours wide; 14.124 = exp(32)/I0(32) makes its mean 1
            return 14.124 * ac.exp(32.0 * (ac.cos(2 * pi * (ac.time - hour) / DAY) - 1.0))

        yield self.m_flow == self.daily / DAY * 0.5 * (peak(self.morning) + peak(self.evening))
        yield self.T_return == self.T_cold


class HeatedHouse(ac.Component):
    """The house: see the module's text. `weather` is a CSV file, `layers` the number of layers of the tank."""

    set_point = ac.Parameter(294.15, unit="K", doc="room temperature that is wanted")
    window_area = ac.Parameter(18.0, unit="m^2", min=0, doc="area of the windows")
    g_value = ac.Parameter(0.5, min=0, max=1, doc="share of the sun's radiation that comes in")
    people = ac.Parameter(250.0, unit="W", min=0, doc="mean heat of people and appliances")
    curve_base = ac.Parameter(308.15, unit="K", doc="tank temperature that is wanted at 293.15 K outdoors")
    curve_slope = ac.Parameter(0.25, min=0, doc="how much more for each degree that it is colder")
    gain = ac.Output(unit="W", nominal=100.0, doc="heat of the sun, people and appliances")
    T_tank = ac.Output(unit="K", nominal=300.0, doc="tank temperature that is wanted")
    E_electric = ac.Variable(unit="J", start=0.0, fixed=True, nominal=1e7, doc="electricity used")
    E_heat = ac.Variable(unit="J", start=0.0, fixed=True, nominal=1e7, doc="heat given to the tank")

    def __init__(self, weather: str | os.PathLike[str] | None = None, layers: int = 10) -> None:
        self.weather, self.outdoor = Weather(weather), PrescribedTemperature()
        self.wall = LayeredWall(  # plaster, brick, insulation
            3,
            4,
            area=140.0,
            thickness=[0.015, 0.20, 0.14],
            conductivity=[0.7, 0.5, 0.04],
            density=[1400.0, 1200.0, 30.0],
            specific_heat=[1000.0, 1000.0, 1400.0],
            **{"layer.T": ac.start([[293.0] * 4, [291.0] * 4, [287.0, 283.0, 279.0, 275.0]])},
        )
        self.inside, self.outside = Convection(Gc=8.0 * 140.0), Convection(Gc=20.0 * 140.0)
        self.window = ThermalConductor(G=1.1 * self.window_area)
        self.room = Room(V=350.0, air_change=0.4 / 3600)
        self.floor = HeatCapacitor(C=1.2e7, T=ac.start(297.15))
        self.floor_surface = Convection(Gc=8.0 * 110.0)
        self.tank, self.heat_pump, self.circuit, self.hot_water = Tank(layers), HeatPump(), HeatingCircuit(), HotWater()
        self.thermometer = TemperatureSensor()
        self.room_error, self.tank_error = Add(u1=self.set_point, k2=-1.0), Add(k2=-1.0)
        self.room_control = LimitedPI(k=0.3, T=2 * 3600.0, x=ac.start(1.0))
        self.tank_control = LimitedPI(k=0.1, T=1800.0, x=ac.start(4.0))

    def equations(self) -> Iterator[Any]:
        self.Q_sun = ac.named(self.g_value * self.window_area * self.weather.sun, unit="W", doc="sun through the windows")
        self.Q_people = ac.named(
            self.people * (1 + 0.6 * ac.sin(2 * pi * (ac.time - 11 * 3600) / DAY)), unit="W", doc="internal gains"
        )
        yield self.gain == self.Q_sun + self.Q_people
        yield self.T_tank == self.curve_base + self.curve_slope * (293.15 - self.weather.T)
        yield ac.der(self.E_electric) == self.heat_pump.P
        yield ac.der(self.E_heat) == self.heat_pump.Q_flow

    def connections(self) -> Iterator[Any]:
        yield self.weather.T, self.outdoor.T, self.room.T_supply, self.heat_pump.T_source
        yield self.outdoor.port, self.outside.b, self.window.b
        yield self.outside.a, self.wall.b
        yield self.wall.a, self.inside.a
        yield self.room.port, self.inside.b, self.window.a, self.floor_surface.b, self.tank.surface, self.thermometer.port
        yield self.floor.port, self.floor_surface.a, self.circuit.port
        yield self.gain, self.room.gain
        yield self.T_tank, self.tank_error.u1
        yield self.heat_pump.m_flow, self.tank.m_charge
        yield self.heat_pump.T_supply, self.tank.T_charge
        yield self.tank.T_bottom, self.heat_pump.T_in
        yield self.tank.T_top, self.circuit.T_in, self.tank_error.u2
        yield self.circuit.m_flow, self.tank.m_use[0]
        yield self.circuit.T_return, self.tank.T_return[0]
        yield self.hot_water.m_flow, self.tank.m_use[1]
        yield self.hot_water.T_return, self.tank.T_return[1]
        yield self.thermometer.T, self.room_error.u2
        yield self.room_error.y, self.room_control.u
        yield self.room_control.y, self.circuit.opening
        yield self.tank_error.y, self.tank_control.u
        yield self.tank_control.y, self.heat_pump.speed
