"""Heat transfer between lumped and one-dimensional bodies: stores, conductors, boundaries, sensors, a wall, a room.

Potentials are absolute temperatures in K, flows are heat flows in W, positive into the component.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .counts import counted

STEFAN_BOLTZMANN = 5.670374419e-8  # W/(m²·K⁴), CODATA 2018 (exact in the SI of 2019)


class HeatPort(ac.Connector):
    """A surface: its temperature T and the heat flow Q_flow into the component."""

    T = ac.Potential(unit="K", start=293.15, nominal=300.0, min=0.0, doc="temperature")
    Q_flow = ac.Flow(unit="W", nominal=100.0, doc="heat flow into the component")


class TwoPort(ac.Component):
    """Base of what heat passes through without being stored: ``Q_flow = a.Q_flow = -b.Q_flow``. A subclass adds the law."""

    a, b = HeatPort(), HeatPort()
    Q_flow = ac.Variable(unit="W", nominal=100.0, doc="heat flow from a to b")

    def equations(self) -> Iterator[Any]:
        yield self.a.Q_flow + self.b.Q_flow == 0
        yield self.Q_flow == self.a.Q_flow


# --- stores and conductors --------------------------------------------------------------------------------------------


class HeatCapacitor(ac.Component):
    """A body of one temperature: ``C·dT/dt = port.Q_flow``. State: T."""

    port = HeatPort()
    C = ac.Parameter(1000.0, unit="J/K", min=0, doc="heat capacity")
    T = ac.Variable(unit="K", start=293.15, nominal=300.0, min=0.0, doc="temperature")

    def equations(self) -> Iterator[Any]:
        yield self.T == self.port.T
        yield self.C * ac.der(self.T) == self.port.Q_flow


class ThermalConductor(TwoPort):
    """``Q_flow = G·(a.T - b.T)``."""

    G = ac.Parameter(1.0, unit="W/K", min=0, doc="conductance")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.Q_flow == self.G * (self.a.T - self.b.T)


class ThermalResistor(TwoPort):
    """``a.T - b.T = R·Q_flow``."""

    R = ac.Parameter(1.0, unit="K/W", min=0, doc="resistance")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.a.T - self.b.T == self.R * self.Q_flow


class Convection(TwoPort):
    """``Q_flow = Gc·(a.T - b.T)`` from the solid at a to the fluid at b. Gc = h·A is an input: connect it, or give a number."""

    Gc = ac.Input(10.0, unit="W/K", min=0, doc="heat transfer coefficient times area")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.Q_flow == self.Gc * (self.a.T - self.b.T)


class BodyRadiation(TwoPort):
    """``Q_flow = Gr·σ·(a.T⁴ - b.T⁴)``. Gr is the area times emissivity and view factor."""

    Gr = ac.Parameter(1.0, unit="m^2", min=0, doc="net radiation conductance")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.Q_flow == self.Gr * STEFAN_BOLTZMANN * (self.a.T**4 - self.b.T**4)


class ThermalCollector(ac.Component):
    """Joins `count` ports a[…] to one port b: all temperatures are equal, ``b.Q_flow = -sum(a.Q_flow)``."""

    a: Any
    b = HeatPort()

    def __init__(self, count: int = 2) -> None:
        self.a = HeatPort(shape=counted(count, 1, "A collector joins one port or more"))

    def equations(self) -> Iterator[Any]:
        yield self.a.T == self.b.T
        yield ac.sum(self.a.Q_flow) + self.b.Q_flow == 0


# --- boundaries -------------------------------------------------------------------------------------------------------


class FixedTemperature(ac.Component):
    """``port.T = T``, whatever the heat flow."""

    port = HeatPort()
    T = ac.Parameter(293.15, unit="K", min=0, doc="temperature")

    def equations(self) -> Iterator[Any]:
        yield self.port.T == self.T


class PrescribedTemperature(ac.Component):
    """``port.T = T`` with the input T."""

    port = HeatPort()
    T = ac.Input(293.15, unit="K", min=0, doc="temperature")

    def equations(self) -> Iterator[Any]:
        yield self.port.T == self.T


class FixedHeatFlow(ac.Component):
    """A heat source: ``port.Q_flow = -Q_flow·(1 + alpha·(port.T - T_ref))``, which goes into what is connected."""

    port = HeatPort()
    Q_flow = ac.Parameter(0.0, unit="W", doc="heat flow into what is connected")
    T_ref = ac.Parameter(293.15, unit="K", min=0, doc="temperature at which Q_flow holds")
    alpha = ac.Parameter(0.0, unit="1/K", doc="temperature coefficient")

    def equations(self) -> Iterator[Any]:
        yield self.port.Q_flow == -self.Q_flow * (1 + self.alpha * (self.port.T - self.T_ref))


class PrescribedHeatFlow(ac.Component):
    """A heat source: ``port.Q_flow = -Q_flow``, the input Q_flow goes into what is connected."""

    port = HeatPort()
    Q_flow = ac.Input(0.0, unit="W", doc="heat flow into what is connected")

    def equations(self) -> Iterator[Any]:
        yield self.port.Q_flow == -self.Q_flow


# --- sensors ----------------------------------------------------------------------------------------------------------


class TemperatureSensor(ac.Component):
    """``T = port.T``, without taking heat."""

    port = HeatPort()
    T = ac.Output(unit="K", nominal=300.0, doc="temperature")

    def equations(self) -> Iterator[Any]:
        yield self.T == self.port.T
        yield self.port.Q_flow == 0


class RelativeTemperatureSensor(ac.Component):
    """``T_rel = a.T - b.T``, without taking heat."""

    a, b = HeatPort(), HeatPort()
    T_rel = ac.Output(unit="K", doc="temperature of a over b")

    def equations(self) -> Iterator[Any]:
        yield self.T_rel == self.a.T - self.b.T
        yield self.a.Q_flow == 0
        yield self.b.Q_flow == 0


class HeatFlowSensor(ac.Component):
    """``Q_flow = a.Q_flow``, put between two ports: their temperatures are equal."""

    a, b = HeatPort(), HeatPort()
    Q_flow = ac.Output(unit="W", nominal=100.0, doc="heat flow from a to b")

    def equations(self) -> Iterator[Any]:
        yield self.a.T == self.b.T
        yield self.a.Q_flow + self.b.Q_flow == 0
        yield self.Q_flow == self.a.Q_flow


# --- control ----------------------------------------------------------------------------------------------------------


class Thermostat(ac.Component):
    """Heats with `Q_on` from the moment the port is colder than ``T_set - band/2`` until it is warmer than ``T_set + band/2``.

    A negative `Q_on` cools: it works from above ``T_set + band/2`` until below ``T_set - band/2``. ``port.Q_flow = -Q_on`` while it
    works, else nothing.
    """

    port = HeatPort(doc="what is heated or cooled, and measured")
    T_set = ac.Input(293.15, unit="K", min=0, doc="temperature that is wanted")
    band = ac.Parameter(1.0, unit="K", min=0, doc="between switching on and off")
    Q_on = ac.Parameter(1000.0, unit="W", doc="heat flow into what is connected while it is on; negative for cooling")
    on = ac.Boolean(start=False, doc="whether it is on; its start is what holds within the band at first")

    def equations(self) -> Iterator[Any]:
        low, high = self.T_set - self.band / 2, self.T_set + self.band / 2
        heats = (self.port.T < low) | (ac.pre(self.on) & (self.port.T <= high))
        cools = (self.port.T > high) | (ac.pre(self.on) & (self.port.T >= low))
        yield self.on == ac.where(self.Q_on >= 0, heats, cools)
        yield self.port.Q_flow == -ac.where(self.on, self.Q_on, 0.0)


# --- buildings and plates ---------------------------------------------------------------------------------------------


class Wall(ac.Component):
    """One-dimensional conduction through a layer of one material, in `cells` control volumes of equal thickness.

    ``rho·c·A·dx·dT[k]/dt = q[k] - q[k+1]`` with ``q = lambda·A·(difference of T)/dx`` between the middles of neighbouring cells and
    over half a cell at the two surfaces. The temperatures converge with the square of dx. States: T. Layers of different
    materials are walls in a row; `LayeredWall` joins them.
    """

    a, b = HeatPort(doc="left surface"), HeatPort(doc="right surface")
    area = ac.Parameter(1.0, unit="m^2", min=0, doc="area")
    thickness = ac.Parameter(0.2, unit="m", min=1e-9, doc="thickness of the layer")
    conductivity = ac.Parameter(1.0, unit="W/(m*K)", min=0, doc="heat conductivity")
    density = ac.Parameter(2000.0, unit="kg/m^3", min=0, doc="density")
    specific_heat = ac.Parameter(1000.0, unit="J/(kg*K)", min=0, doc="specific heat capacity")
    T: Any

    def __init__(self, cells: int = 10) -> None:
        self.cells = counted(cells, 1, "A wall has one cell or more", "`ThermalConductor` is a wall that stores nothing.")
        self.T = ac.Variable(shape=cells, unit="K", start=293.15, nominal=300.0, min=0.0, doc="temperatures, from a to b")

    def equations(self) -> Iterator[Any]:
        T, dx = self.T, self.thickness / self.cells
        G = self.conductivity * self.area / dx
        C = self.density * self.specific_heat * self.area * dx
        yield self.a.Q_flow == 2 * G * (self.a.T - T[0])
        yield self.b.Q_flow == 2 * G * (self.b.T - T[-1])
        if self.cells == 1:
            yield C * ac.der(T[0]) == self.a.Q_flow + self.b.Q_flow
            return
        yield C * ac.der(T[0]) == self.a.Q_flow + G * (T[1] - T[0])
        yield C * ac.der(T[1:-1]) == G * (T[:-2] - 2 * T[1:-1] + T[2:])
        yield C * ac.der(T[-1]) == self.b.Q_flow + G * (T[-2] - T[-1])


class LayeredWall(ac.Component):
    """Layers of different materials from a to b: an array of walls. Each material property is one number per layer.

    ``rho·c·dT/dt = lambda·d²T/dx²`` in each, as in `Wall`; where two meet, temperature and heat flow are the same. `layer[k].T` are
    the temperatures of layer k.
    """

    a, b = HeatPort(doc="left surface"), HeatPort(doc="right surface")
    area = ac.Parameter(1.0, unit="m^2", min=0, doc="area")
    thickness: Any
    conductivity: Any
    density: Any
    specific_heat: Any
    layer: Any

    def __init__(self, layers: int = 3, cells: int = 4) -> None:
        counted(layers, 1, "A layered wall has one layer or more", "`Wall` is a single layer.")
        self.thickness = ac.Parameter(0.1, shape=layers, unit="m", min=1e-9, doc="thickness of each layer")
        self.conductivity = ac.Parameter(1.0, shape=layers, unit="W/(m*K)", min=0, doc="heat conductivity of each layer")
        self.density = ac.Parameter(2000.0, shape=layers, unit="kg/m^3", min=0, doc="density of each layer")
        self.specific_heat = ac.Parameter(1000.0, shape=layers, unit="J/(kg*K)", min=0, doc="specific heat capacity of each layer")
        self.layer = ac.array(
            Wall,
            layers,
            cells,
            area=self.area,
            thickness=self.thickness,
            conductivity=self.conductivity,
            density=self.density,
            specific_heat=self.specific_heat,
        )

    def connections(self) -> Iterator[Any]:
        yield self.a, self.layer[0].a
        yield self.layer[:-1].b, self.layer[1:].a
        yield self.layer[-1].b, self.b


class Room(ac.Component):
    """Well-mixed air of a room with ventilation and internal gains: ``C·dT/dt = port.Q_flow + gain + V·n·rho·cp·(T_supply - T)``.

    C is the heat capacity of the air times `furniture`, for what warms up together with it. State: T.
    """

    port = HeatPort(doc="everything the air touches")
    V = ac.Parameter(50.0, unit="m^3", min=0, doc="volume of air")
    furniture = ac.Parameter(5.0, min=1, doc="heat capacity of air and furniture over that of the air")
    density = ac.Parameter(1.2, unit="kg/m^3", min=0, doc="density of air")
    specific_heat = ac.Parameter(1006.0, unit="J/(kg*K)", min=0, doc="specific heat capacity of air")
    air_change = ac.Input(0.5 / 3600, unit="1/s", min=0, doc="volumes of air exchanged per time")
    T_supply = ac.Input(293.15, unit="K", min=0, doc="temperature of the air that comes in")
    gain = ac.Input(0.0, unit="W", doc="heat from people and appliances")
    T = ac.Variable(unit="K", start=293.15, nominal=300.0, min=0.0, doc="temperature of the air")

    def equations(self) -> Iterator[Any]:
        air = self.V * self.density * self.specific_heat
        self.Q_ventilation = ac.named(air * self.air_change * (self.T_supply - self.T), unit="W", doc="heat with the exchanged air")
        yield self.T == self.port.T
        yield self.furniture * air * ac.der(self.T) == self.port.Q_flow + self.gain + self.Q_ventilation
