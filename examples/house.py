"""A house in winter with a heat pump, a stratified tank and two controllers: the plant of `acausal demo`.

Shows: a plant of some size, tables of two arguments, weather from a file, bookkeeping of energy. The model itself is in
`acausal/library/demo.py`. Another file of weather (columns time, T, sun) may be given: `python house.py my_weather.csv`.
"""

import sys

import acausal as ac
from acausal.library.demo import DAY, HeatedHouse


def main(weather=None):
    model = ac.compile(HeatedHouse(weather))
    result = model.simulate(until=3 * DAY, points=865)
    print(result)
    heat, electricity = result["E_heat"][-1] / 3.6e6, result["E_electric"][-1] / 3.6e6
    print(f"Heat from the heat pump: {heat:.0f} kWh, from {electricity:.0f} kWh of electricity: {heat / electricity:.2f} to 1.")
    room = result.in_unit("room.T", "degC")
    print(f"The room was between {room.min():.1f} and {room.max():.1f} °C.")
    celsius = {"K": "degC", "W": "kW"}
    names = (
        "weather.T",
        "room.T",
        "floor.T",
        "heat_pump.T_supply",
        "heat_pump.P",
        "heat_pump.Q_flow",
        "Q_sun",
        "room.Q_ventilation",
    )
    result.plot(*names, unit=celsius, file="house.png")
    result.plot("tank.T", kind="map", unit=celsius, title="Tank, from the top down", file="house_tank.png")

    warmer = model.simulate(until=3 * DAY, set={"set_point": "23 degC"})  # nothing is compiled again
    print(f"With the room at 23 °C: {warmer['E_electric'][-1] / 3.6e6:.0f} kWh of electricity.")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:2])
