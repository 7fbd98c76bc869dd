"""Weather as inputs: `site = ac.weather("Hamburg.epw")`, the sun above it, and its light on any surface."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import checked
from ..errors import UsageError, near_matches
from ..language.units import quantity
from ..runtime.given import Data, data
from ..runtime.inputs import Interpolation
from . import files, sun
from .files import RADIATION, Site
from .sun import Floats, Position, Sky

if TYPE_CHECKING:
    import pandas

__all__ = ["Position", "Site", "Weather", "weather"]

_HOUR = 3600.0
_WITHIN = 10  # moments of an hour at which the sun is looked at
_YEAR, _LEAP_YEAR = 2001, 2000  # typical years are made of many; any that is as long serves


@dataclass(frozen=True)
class Weather:
    """The weather of a year at a site. Time counts in seconds of local standard time from the beginning of the year.

    site = ac.weather("Hamburg.epw")
    model.simulate(until="365 day", inputs={
        "outside.T": site["temperature"],
        "window.sun": site.tilted(tilt="90 deg", azimuth="180 deg"),
    })

    Columns are given as data that repeat after the year: "temperature", "dew_point", "relative_humidity", "pressure", "wind_speed",
    "wind_direction", "cloud_cover", "global_horizontal", "direct_normal", "diffuse_horizontal", "sky_infrared" (EPW).
    """

    site: Site
    columns: dict[str, Floats]
    year: int = _YEAR
    interpolation: Interpolation = "linear"

    def __repr__(self) -> str:
        s = self.site
        return (
            f"<Weather of {s.name}: {abs(s.latitude):.2f}° {'NS'[s.latitude < 0]}, {abs(s.longitude):.2f}° {'EW'[s.longitude < 0]}>"
        )

    def __getitem__(self, name: str) -> Data:
        values = self.values(name)
        if name == "wind_direction" and self.interpolation != "hold":
            values = _going_on(values)
        return self._data(self.times(name), values, files.UNITS[name])

    def _data(self, times: Floats, values: Floats, unit: str) -> Data:
        period = self.hours * _HOUR
        return data(times, values, ends="repeat", period=period, interpolation=self.interpolation, unit=unit, time_unit="s")

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    @property
    def hours(self) -> int:
        return len(next(iter(self.columns.values())))

    def times(self, name: str = "temperature") -> Floats:
        """When the values of a column hold: at the end of each hour; of radiation, in the middle."""
        later = 0.5 if name in RADIATION else 1.0
        return np.asarray(_HOUR * (np.arange(self.hours, dtype=np.float64) + later), dtype=np.float64)

    def values(self, name: str) -> Floats:
        """A column in SI units."""
        if name not in self.columns:
            listed = ", ".join(self.columns)
            raise UsageError(f"The weather has no `{name}`; it has {listed}.", remedy=near_matches(name, self.columns))
        found = self.columns[name]
        gone = np.flatnonzero(np.isnan(found))
        if len(gone):
            raise UsageError(
                f"The weather of {self.site.name} lacks `{name}` in {len(gone)} hours, first in hour {gone[0] + 1} of the year.",
                remedy="Fill the gaps in the file, or take the numbers that are there (`site.to_pandas()`) to `ac.data(…)`.",
            )
        return found

    def sun(self, time: float | str | Floats) -> Position:
        """Height and direction (from north over east) of the sun, in radians, at times of the year."""
        when = np.asarray(quantity(time, "s") if isinstance(time, str) else time, dtype=float)
        s = self.site
        return sun.position(when, s.latitude, s.longitude, s.zone, self.year)

    def tilted(self, tilt: float | str, azimuth: float | str = 0.0, *, albedo: float = 0.2, sky: Sky = "perez") -> Data:
        """Light on a tilted surface, W/m², from sun, sky and ground, as an input.

        tilt: from flat, in radians or as a text ("30 deg"); a wall has 90 deg. azimuth: where it faces, from north over east: south
        is 180 deg. albedo: the share of light that the ground returns. sky: "perez", "hay-davies" or "isotropic".
        """
        values = self.light(tilt, azimuth, albedo=albedo, sky=sky)
        return self._data(self.times("direct_normal"), values, "W/m^2")

    def light(self, tilt: float | str, azimuth: float | str = 0.0, *, albedo: float = 0.2, sky: Sky = "perez") -> Floats:
        """The same as numbers, one for each hour."""
        lean, facing = _angle(tilt, "tilt"), _angle(azimuth, "azimuth")
        if not 0.0 <= lean <= np.pi or not 0.0 <= albedo <= 1.0:
            raise UsageError(
                f"`tilt` is 0 … 180 deg and `albedo` 0 … 1, got {tilt!r} and {albedo!r}.",
                remedy='Numbers are radians; degrees are a text: tilt="30 deg".',
            )
        if abs(facing) > 2 * np.pi * (1 + 1e-9):
            raise UsageError(
                f"`azimuth` is -360 … 360 deg, got {azimuth!r}.",
                remedy='Numbers are radians; degrees are a text: azimuth="180 deg" is south.',
            )
        direct, diffuse = self.values("direct_normal"), self.values("diffuse_horizontal")
        time = self.times("direct_normal")
        where, up, cosine = self._within_hours(lean, facing)
        beam = direct * cosine
        return np.asarray(
            beam
            + sun.sky_light(diffuse, direct, where, cosine, lean, time, sky)
            + albedo * (direct * up + diffuse) * 0.5 * (1.0 - np.cos(lean))
        )

    def _within_hours(self, tilt: float, azimuth: float) -> tuple[Position, Floats, Floats]:
        """Means over the part of each hour in which the sun is up: position, sine of its height, cosine of incidence.

        Sunrise and sunset fall within hours; the middle of such an hour may be night.
        """
        moments = self.times("direct_normal")[:, None] + _HOUR * ((np.arange(_WITHIN) + 0.5) / _WITHIN - 0.5)
        at = self.sun(moments)
        shines = at.altitude > 0
        count = np.maximum(shines.sum(axis=1), 1)

        def mean(values: Floats) -> Floats:
            return np.asarray(np.where(shines, values, 0.0).sum(axis=1) / count)

        middle = self.sun(self.times("direct_normal"))
        some = shines.any(axis=1)
        altitude = np.where(some, np.arcsin(np.clip(mean(np.sin(at.altitude)), -1, 1)), middle.altitude)
        up, cosine = mean(np.sin(at.altitude)), mean(np.maximum(sun.incidence(at, tilt, azimuth), 0.0))
        return Position(altitude, middle.azimuth), up, cosine

    def to_pandas(self) -> pandas.DataFrame:
        """All columns, indexed by the end of each hour in seconds."""
        import pandas

        frame = pandas.DataFrame(self.columns, index=pandas.Index(self.times(), name="time"))
        frame.attrs["units"] = {name: files.UNITS[name] for name in self.columns}
        return frame


def _going_on(directions: Floats) -> Floats:
    """Directions that can be interpolated: between 350° and 10° lies north, which is 360°, and not south.

    The year repeats, so that whole turns have to come to nothing: they are taken back at the hours in which the direction changes
    most, where one way round is as good as the other.
    """
    steps = (np.diff(directions, append=directions[0]) + np.pi) % (2 * np.pi) - np.pi
    turns = round(float(steps.sum()) / (2 * np.pi))
    back = np.argsort(-np.sign(turns) * steps, kind="stable")[: abs(turns)]
    steps[back] -= np.sign(turns) * 2 * np.pi
    return np.asarray(directions[0] + np.append(0.0, np.cumsum(steps[:-1])))


def _angle(given: float | str, what: str) -> float:
    try:
        return float(quantity(given, "rad") if isinstance(given, str) else given)
    except (TypeError, ValueError):
        raise UsageError(f'`{what}` is an angle in radians or a text such as "30 deg", got {given!r}.') from None


@checked
def weather(path: str | os.PathLike[str], *, interpolation: Interpolation = "linear") -> Weather:
    """The weather of a year from an EnergyPlus file (`.epw`) or a TMY3 file (`.csv`).

    interpolation: between the hours, as `ac.data` has it. "linear" has a corner at every hour, at which a solver begins anew;
        "monotone" has none and never leaves the range of the data, and a year of a house takes a tenth of the time.

    site = ac.weather("Hamburg.epw", interpolation="monotone")
    site["temperature"], site.tilted(tilt="30 deg", azimuth="180 deg")
    """
    site, columns = files.read(path)
    hours = len(next(iter(columns.values())))
    return Weather(site, columns, _LEAP_YEAR if hours == 8784 else _YEAR, interpolation)
