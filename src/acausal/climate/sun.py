"""Where the sun stands, and what of its light falls on a tilted surface.

Position: the low-precision formulae of the Astronomical Almanac and of Meeus, Astronomical Algorithms, chapter 25, as the solar
calculator of NOAA uses them; within 0.01° of NREL's algorithm. Refraction is left out: it matters below 2° only.

Sky: diffuse light from a uniform sky ("isotropic"), with the share around the sun that Hay and Davies give, or by Perez, Ineichen,
Seals, Michalsky and Stewart, Solar Energy 44 (1990) 271, table 6. Angles are
radians here; azimuths are counted from north over east.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError

Floats = NDArray[np.float64]
Sky = Literal["perez", "hay-davies", "isotropic"]

SOLAR_CONSTANT = 1361.0  # W/m², Kopp and Lean (2011)
_DAY = 86400.0
_EDGES = np.array([1.065, 1.23, 1.5, 1.95, 2.8, 4.5, 6.2])  # of the sky's clearness ε
_PEREZ = np.array(  # F11, F12, F13, F21, F22, F23 for each class of clearness, overcast to clear
    [
        [-0.008, 0.588, -0.062, -0.060, 0.072, -0.022],
        [0.130, 0.683, -0.151, -0.019, 0.066, -0.029],
        [0.330, 0.487, -0.221, 0.055, -0.064, -0.026],
        [0.568, 0.187, -0.295, 0.109, -0.152, -0.014],
        [0.873, -0.392, -0.362, 0.226, -0.462, 0.001],
        [1.132, -1.237, -0.412, 0.288, -0.823, 0.056],
        [1.060, -1.600, -0.359, 0.264, -1.127, 0.131],
        [0.678, -0.327, -0.250, 0.156, -1.377, 0.251],
    ]
)


class Position(NamedTuple):
    """Height above the horizon and direction from north over east, in radians."""

    altitude: Floats
    azimuth: Floats


def position(time: Floats, latitude: float, longitude: float, zone: float, year: int) -> Position:
    """The sun at `time` seconds of local standard time since the year began; latitude and longitude in degrees, zone in hours."""
    days = np.asarray(time, dtype=float) / _DAY - zone / 24.0 + _days_since_2000(year)
    declination, ascension = _equatorial(days)
    sidereal = np.radians((280.46061837 + 360.98564736629 * days + longitude) % 360.0)
    hour = sidereal - ascension
    phi = np.radians(latitude)
    sine = np.sin(phi) * np.sin(declination) + np.cos(phi) * np.cos(declination) * np.cos(hour)
    east, north = (
        -np.cos(declination) * np.sin(hour),
        np.sin(declination) * np.cos(phi) - np.cos(declination) * np.cos(hour) * np.sin(phi),
    )
    return Position(np.arcsin(np.clip(sine, -1.0, 1.0)), np.arctan2(east, north) % (2 * np.pi))


def _days_since_2000(year: int) -> float:
    """From noon of 1 January 2000 to midnight of 1 January of a year (Gregorian)."""
    from datetime import date

    return float((date(year, 1, 1) - date(2000, 1, 1)).days) - 0.5


def _equatorial(days: Floats) -> tuple[Floats, Floats]:
    """Declination and right ascension of the apparent sun."""
    centuries = days / 36525.0
    mean_longitude = 280.46646 + centuries * (36000.76983 + 0.0003032 * centuries)
    anomaly = np.radians(357.52911 + centuries * (35999.05029 - 0.0001537 * centuries))
    centre = (
        (1.914602 - centuries * (0.004817 + 0.000014 * centuries)) * np.sin(anomaly)
        + (0.019993 - 0.000101 * centuries) * np.sin(2 * anomaly)
        + 0.000289 * np.sin(3 * anomaly)
    )
    node = np.radians(125.04 - 1934.136 * centuries)
    longitude = np.radians(mean_longitude + centre - 0.00569 - 0.00478 * np.sin(node))
    obliquity = np.radians(23.439291 - 0.0130042 * centuries + 0.00256 * np.cos(node))
    declination = np.arcsin(np.sin(obliquity) * np.sin(longitude))
    return declination, np.arctan2(np.cos(obliquity) * np.sin(longitude), np.cos(longitude))


def extraterrestrial(time: Floats) -> Floats:
    """Light on a surface towards the sun outside of the atmosphere, W/m²; Spencer (1971), Search 2 (5) 172."""
    angle = 2 * np.pi * np.asarray(time) / (365.0 * _DAY)
    factor = (
        1.00011 + 0.034221 * np.cos(angle) + 0.00128 * np.sin(angle) + 0.000719 * np.cos(2 * angle) + 0.000077 * np.sin(2 * angle)
    )
    return np.asarray(SOLAR_CONSTANT * factor)


def incidence(sun: Position, tilt: float, azimuth: float) -> Floats:
    """Cosine of the angle between the sun and the normal of a surface; negative from behind. tilt 0 lies flat, π/2 is a wall."""
    return np.asarray(np.sin(sun.altitude) * np.cos(tilt) + np.cos(sun.altitude) * np.sin(tilt) * np.cos(sun.azimuth - azimuth))


def sky_light(diffuse: Floats, direct: Floats, sun: Position, cosine: Floats, tilt: float, time: Floats, sky: Sky) -> Floats:
    """Diffuse light of the sky on a tilted surface, W/m²: from what falls on a flat one and what comes straight from the sun."""
    if sky not in get_args(Sky):
        raise UsageError(f"`sky` is one of {', '.join(map(repr, get_args(Sky)))}, got {sky!r}.")
    seen = 0.5 * (1.0 + np.cos(tilt))
    if sky == "isotropic":
        return np.asarray(diffuse * seen)
    outside = extraterrestrial(time)
    turned = np.maximum(cosine, 0.0) / np.maximum(np.sin(sun.altitude), np.cos(np.radians(85.0)))
    if sky == "hay-davies":
        around = np.clip(direct / outside, 0.0, 1.0) * (sun.altitude > 0)
        return np.asarray(diffuse * ((1.0 - around) * seen + around * turned))
    around, horizon = _perez(diffuse, direct, sun, outside)
    return np.asarray(np.maximum(diffuse * ((1.0 - around) * seen + around * turned + horizon * np.sin(tilt)), 0.0))


def _perez(diffuse: Floats, direct: Floats, sun: Position, outside: Floats) -> tuple[Floats, Floats]:
    """How bright it is around the sun and at the horizon: F1 and F2."""
    zenith = np.minimum(0.5 * np.pi - sun.altitude, np.radians(89.9))
    degrees = np.degrees(zenith)
    mass = 1.0 / (np.cos(zenith) + 0.50572 * (96.07995 - degrees) ** -1.6364)  # Kasten and Young (1989)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(diffuse > 0, (diffuse + direct) / np.maximum(diffuse, 1e-9), 1.0)
    clearness = (ratio + 1.041 * zenith**3) / (1.0 + 1.041 * zenith**3)
    brightness = diffuse * mass / outside
    f = _PEREZ[np.searchsorted(_EDGES, clearness, side="right")]
    around = np.maximum(f[..., 0] + f[..., 1] * brightness + f[..., 2] * zenith, 0.0)
    return around, f[..., 3] + f[..., 4] * brightness + f[..., 5] * zenith
