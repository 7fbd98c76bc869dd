"""Weather of a year from files: EnergyPlus weather (`.epw`) and TMY3 (`.csv`), in SI units.

In both an hour is named by its end. Temperature, pressure and wind are those of that moment, radiation is what fell during the
hour.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import UsageError
from .sun import Floats

RADIATION = ("global_horizontal", "direct_normal", "diffuse_horizontal", "sky_infrared")


@dataclass(frozen=True)
class Site:
    """Where the weather was: degrees north and east, hours ahead of Greenwich, metres above the sea."""

    name: str
    latitude: float
    longitude: float
    zone: float
    elevation: float


# name: column (of EPW, from 0), value from which on it is missing, conversion to SI
_EPW: dict[str, tuple[int, float, Callable[[Floats], Floats]]] = {
    "temperature": (6, 99.9, lambda x: x + 273.15),
    "dew_point": (7, 99.9, lambda x: x + 273.15),
    "relative_humidity": (8, 999.0, lambda x: x / 100.0),
    "pressure": (9, 999999.0, lambda x: x),
    "sky_infrared": (12, 9999.0, lambda x: x),
    "global_horizontal": (13, 9999.0, lambda x: x),
    "direct_normal": (14, 9999.0, lambda x: x),
    "diffuse_horizontal": (15, 9999.0, lambda x: x),
    "wind_direction": (20, 999.0, np.radians),
    "wind_speed": (21, 999.0, lambda x: x),
    "cloud_cover": (22, 99.0, lambda x: x / 10.0),
}
_TMY: dict[str, tuple[str, float, Callable[[Floats], Floats]]] = {
    "temperature": ("Dry-bulb (C)", -9900.0, lambda x: x + 273.15),
    "dew_point": ("Dew-point (C)", -9900.0, lambda x: x + 273.15),
    "relative_humidity": ("RHum (%)", -9900.0, lambda x: x / 100.0),
    "pressure": ("Pressure (mbar)", -9900.0, lambda x: x * 100.0),
    "global_horizontal": ("GHI (W/m^2)", -9900.0, lambda x: x),
    "direct_normal": ("DNI (W/m^2)", -9900.0, lambda x: x),
    "diffuse_horizontal": ("DHI (W/m^2)", -9900.0, lambda x: x),
    "wind_direction": ("Wdir (degrees)", -9900.0, np.radians),
    "wind_speed": ("Wspd (m/s)", -9900.0, lambda x: x),
    "cloud_cover": ("TotCld (tenths)", -9900.0, lambda x: x / 10.0),
}
UNITS = {
    **dict.fromkeys(("temperature", "dew_point"), "K"),
    **dict.fromkeys(("relative_humidity", "cloud_cover"), ""),
    "pressure": "Pa",
    **dict.fromkeys(RADIATION, "W/m^2"),
    "wind_direction": "rad",
    "wind_speed": "m/s",
}


def read(path: str | os.PathLike[str]) -> tuple[Site, dict[str, Floats]]:
    """The place and the columns of a file, hour by hour; what is missing is not a number."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(
            f"Weather is read from a file, got {path!r} of type {type(path).__name__}.", remedy='ac.weather("Hamburg.epw")'
        )
    place = Path(path)
    try:
        lines = place.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise UsageError(f"The weather in `{place}` cannot be read: {error.strerror or error}.") from None
    if lines and lines[0].upper().startswith("LOCATION,"):
        return _epw(place, list(csv.reader(lines)))
    if len(lines) > 1 and "Dry-bulb (C)" in lines[1]:
        return _tmy(place, list(csv.reader(lines)))
    raise UsageError(
        f"`{place}` is no weather file: it begins with `{(lines or [''])[0][:40]}`.",
        remedy="EPW files begin with `LOCATION,`; TMY3 files have a line with the site and one with `Dry-bulb (C)`. Other "
        'data are inputs as they are: `ac.data("file.csv", "T [degC]")`.',
    )


def _epw(path: Path, rows: list[list[str]]) -> tuple[Site, dict[str, Floats]]:
    head = rows[0]
    try:
        site = Site(", ".join(part for part in head[1:4] if part), *(float(head[k]) for k in (6, 7, 8, 9)))
    except (ValueError, IndexError):
        raise UsageError(
            f"`{path}`: the line LOCATION has no latitude, longitude, time zone and elevation: {','.join(head)}"
        ) from None
    data = [(number, row) for number, row in enumerate(rows, 1) if number > 8 and row]
    return site, {name: _column(path, data, *about) for name, about in _EPW.items()}


def _tmy(path: Path, rows: list[list[str]]) -> tuple[Site, dict[str, Floats]]:
    code, name, state, *numbers = rows[0]
    try:
        zone, latitude, longitude, elevation = map(float, numbers[:4])
    except ValueError:
        raise UsageError(
            f"`{path}`: the first line has no time zone, latitude, longitude and elevation: {','.join(rows[0])}"
        ) from None
    data = [(number, row) for number, row in enumerate(rows, 1) if number > 2 and row]
    titles = {title.strip(): k for k, title in enumerate(rows[1])}
    known = {n: (titles[title], gone, si) for n, (title, gone, si) in _TMY.items() if title in titles}
    return Site(f"{name}, {state}".strip(", ") or code, latitude, longitude, zone, elevation), {
        n: _column(path, data, *about) for n, about in known.items()
    }


def _column(path: Path, rows: list[tuple[int, list[str]]], column: int, gone: float, si: Callable[[Floats], Floats]) -> Floats:
    if len(rows) not in (8760, 8784):
        raise UsageError(f"`{path}` has {len(rows)} hours of weather; a year has 8760 (or 8784).", remedy="Is the file cut off?")
    values = np.empty(len(rows))
    for k, (number, row) in enumerate(rows):
        try:
            values[k] = float(row[column])
        except (ValueError, IndexError):
            raise UsageError(f"`{path}`, line {number}: column {column + 1} is no number: {row[column : column + 1]}.") from None
    missing = values <= gone if gone < 0 else values >= gone
    return si(np.where(missing, np.nan, values))
