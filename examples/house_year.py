"""A house over a year in one run, with a weather file: walls in layers, windows to the south and west, heating, shading.

Shows: EnergyPlus weather as inputs (`python house_year.py Hamburg.epw`), sun on tilted surfaces, a year by the hour, monthly sums,
an energy account. Without a file the weather is made up, by the sun at 53.5° north and fronts that come and go.
"""

import sys
from pathlib import Path

import numpy as np

import acausal as ac
from acausal.climate.sun import position
from acausal.library import control, thermal

YEAR, KWH = 365 * 86400.0, 3.6e6
LAYERS = {"thickness": [0.02, 0.16, 0.24], "conductivity": [0.9, 0.035, 0.5], "density": [1800.0, 30.0, 1400.0],
          "specific_heat": [1000.0, 1400.0, 1000.0]}  # fmt: skip  # render, insulation, bricks, from outside
U_WALL = 1 / (1 / 25 + sum(d / k for d, k in zip(LAYERS["thickness"], LAYERS["conductivity"], strict=True)) + 1 / 7.7)  # W/(m² K)
WALL, ROOF, SOUTH, WEST = 180.0, 90.0, 12.0, 6.0  # m², the last two of windows


class House(ac.Component):
    """Walls in layers, a light roof and windows; blinds close when it becomes warm; radiators by a PI controller."""

    T_out = ac.Input(283.15, unit="K", doc="outside")
    sun_south, sun_west = ac.Input(0.0, unit="W/m^2", doc="on the south side"), ac.Input(0.0, unit="W/m^2", doc="on the west side")
    g = ac.Parameter(0.55, min=0, max=1, doc="share of the sun that passes the glass")
    U_roof, U_glass = ac.Parameter(0.18, unit="W/(m^2*K)"), ac.Parameter(1.1, unit="W/(m^2*K)")
    P_max = ac.Parameter(6000.0, unit="W", doc="radiators")
    E_heat = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e9, doc="heat of the radiators")
    E_sun = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e9, doc="sun through the windows")
    E_lost = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e9, doc="through walls, roof, windows and with the air")

    def __init__(self):
        self.wall = thermal.LayeredWall(3, 5, area=WALL, **LAYERS)
        self.outside, self.room = thermal.PrescribedTemperature(), thermal.Room(V=400.0, furniture=30.0, gain=400.0)
        self.film_out, self.film_in = thermal.ThermalConductor(G=25.0 * WALL), thermal.ThermalConductor(G=7.7 * WALL)
        self.light = thermal.Convection()  # roof and windows
        self.heating = thermal.PrescribedHeatFlow()
        self.control = control.LimitedPID(setpoint=293.15, k=0.5, Ti=3600.0)

    def connections(self):
        yield self.outside.port, self.film_out.a, self.light.b
        yield self.film_out.b, self.wall.a
        yield self.wall.b, self.film_in.a
        yield self.film_in.b, self.room.port, self.light.a, self.heating.port

    def equations(self):
        shade = 1 - 0.75 * ac.smooth_step(self.room.T, 297.15, 2.0)
        sun = self.g * shade * (SOUTH * self.sun_south + WEST * self.sun_west)
        radiators = self.P_max * self.control.y
        self.Q_sun = ac.named(sun, unit="W", doc="sun through the windows")
        self.Q_heat = ac.named(radiators, unit="W", doc="heat of the radiators")
        airing = 0.4 / 3600 * (1 + 3 * ac.smooth_step(self.room.T, 298.15, 2.0))  # windows are opened when it is warm
        yield self.outside.T == self.T_out
        yield self.room.T_supply == self.T_out
        yield self.room.air_change == airing
        yield self.light.Gc == self.U_roof * ROOF + self.U_glass * (SOUTH + WEST)
        yield self.control.measured == self.room.T
        yield self.heating.Q_flow == radiators + sun
        yield ac.der(self.E_heat) == radiators
        yield ac.der(self.E_sun) == sun
        yield ac.der(self.E_lost) == -self.film_out.Q_flow + self.light.Q_flow - self.room.Q_ventilation


def made_up_year(path):
    """A year of weather as an EnergyPlus file: seasons, days, fronts that last some days, clouds that belong to them."""
    random, hours = np.random.default_rng(7), np.arange(1, 8761)
    fronts = np.convolve(random.normal(size=8760 + 96), np.hanning(97), mode="valid") / 6.0
    sun = position(3600.0 * (hours - 0.5), 53.5, 10.0, 1.0, 2001)
    up = np.maximum(np.sin(sun.altitude), 0.0)
    clear = np.clip(0.55 + 0.45 * fronts, 0.05, 1.0)
    T = 9.0 - 9.5 * np.cos(2 * np.pi * (hours - 480) / 8760) + 3.0 * clear * np.cos(2 * np.pi * (hours - 15) / 24) + 3.0 * fronts
    direct, diffuse = 850.0 * clear**2 * up**0.3 * (up > 0), 110.0 * up + 250.0 * (1 - clear) * up
    rows = ["LOCATION,Made up,-,-,made up,0,53.5,10.0,1.0,14.0"] + ["-,0"] * 7
    for hour, *values in zip((hours - 1) % 24 + 1, T, direct, diffuse, strict=True):
        rows.append("2001,1,1,{},60,?,{:.2f},5.0,80,101325,0,0,300,0,{:.1f},{:.1f},0,0,0,0,180,3,5,5,10".format(hour, *values))
    Path(path).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def simulate(file=None, points=8761):
    site = ac.weather(file or made_up_year("made_up_year.epw"), interpolation="monotone")
    sun = {f"sun_{side}": site.tilted("90 deg", azimuth) for side, azimuth in (("south", "180 deg"), ("west", "270 deg"))}
    return ac.compile(House()).simulate(until=YEAR, inputs={"T_out": site["temperature"], **sun}, points=points, rtol=1e-5)


def main(file=None):
    result = simulate(file)
    room = result.in_unit("room.T", "degC")
    print(f"Room {room.min():.1f} … {room.max():.1f} °C; above 26 °C for {np.mean(room > 26) * 8760:.0f} h.")
    ends = np.linspace(0, YEAR, 13)
    monthly = np.diff(np.interp(ends, result.time, result["E_heat"])) / KWH
    print("Heat by month, kWh: " + ", ".join(f"{e:.0f}" for e in monthly))
    heat, sun, lost = (result[n][-1] / KWH for n in ("E_heat", "E_sun", "E_lost"))
    print(f"{heat:.0f} kWh of heat, {sun:.0f} of sun, {400 * 8.76:.0f} of people and appliances; {lost:.0f} kWh lost.")
    print(f"{result.statistics['steps']} steps for the year.")
    units = {"T_out": "degC", "room.T": "degC", "W": "kW"}
    result.plot(panels=[["T_out", "room.T"], ["Q_heat"], ["Q_sun"]], unit=units, file="house_year.png")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:2])
