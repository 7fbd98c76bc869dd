"""A store for potatoes in winter: inputs from a file of measured weather, from arrays, as a function of time, as a number.

Shows: `ac.Input`, the four ways to give it a value, steady state. The weather in `data/weather.csv` is synthetic.
"""

import math
from pathlib import Path

import numpy as np

import acausal as ac
from acausal.library import thermal

WEATHER = Path(__file__).parent / "data" / "weather.csv"


class Store(ac.Component):
    """Goods behind insulated panels; the sun on the roof, a door that opens, a heater."""

    T_outdoor = ac.Input(283.15, unit="K", doc="outdoor temperature")
    sun = ac.Input(0.0, unit="W/m^2", doc="solar radiation")
    door = ac.Input(0.0, min=0, max=1, doc="how far the door is open")
    heating = ac.Input(250.0, unit="W", doc="power of the heater")

    Q_roof = ac.Output(unit="W", doc="sun on the roof, what comes through")
    G_door = ac.Output(unit="W/K", doc="conductance of the door")

    def __init__(self):
        self.outdoor = thermal.PrescribedTemperature()
        self.panels = thermal.Wall(8, area=200.0, thickness=0.12, conductivity=0.025, density=40.0, specific_heat=1400.0)
        self.surface, self.opening = thermal.Convection(Gc=200.0 * 15.0), thermal.Convection()
        self.goods = thermal.HeatCapacitor(C=2e6, T=ac.start(277.15))
        self.roof, self.heater = thermal.PrescribedHeatFlow(), thermal.PrescribedHeatFlow()

    def equations(self):
        yield self.Q_roof == 0.5 * 80.0 * self.sun
        yield self.G_door == 5.0 + 60.0 * self.door

    def connections(self):
        yield self.T_outdoor, self.outdoor.T
        yield self.outdoor.port, self.surface.b, self.opening.a
        yield self.surface.a, self.panels.a, self.roof.port
        yield self.panels.b, self.goods.port, self.opening.b, self.heater.port
        yield self.Q_roof, self.roof.Q_flow
        yield self.heating, self.heater.Q_flow
        yield self.G_door, self.opening.Gc


def main():
    model = ac.compile(Store())
    hours = np.arange(73.0)
    open_at_work = np.where((hours % 24 > 7) & (hours % 24 < 17), 0.3, 0.0)
    result = model.simulate(
        until=3 * 86400.0,
        inputs={
            "T_outdoor": (WEATHER, "T"),  # a column of a file
            "sun": (WEATHER, "sun"),
            "door": (hours * 3600.0, open_at_work),  # arrays
            "heating": lambda t: 250.0 - 100.0 * math.sin(2 * math.pi * (t - 8 * 3600) / 86400),  # a function of time
        },
    )
    print(result)
    goods = result.in_unit("goods.T", "degC")
    print(f"The goods are between {goods.min():.2f} and {goods.max():.2f} °C.")
    result.plot("T_outdoor", "goods.T", "Q_roof", "heating", "door", unit={"K": "degC"}, file="measured_input.png")

    rest = model.steady_state(inputs={"T_outdoor": 278.15, "heating": 0.0})
    print(f"Left alone at 5 °C outdoors it settles at {rest.in_unit('goods.T', 'degC')[0]:.2f} °C.")
    return result


if __name__ == "__main__":
    main()
