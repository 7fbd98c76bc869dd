"""Units at the end of a column's name: `T_degC`, `p_bar`, `flow_m3_h`, `time_h`, `T °C`, `Pressure, bar`, `t in h`.

Nobody says that such an ending is a unit: `T_in` is at an inlet, and not in inches. It is read where it cannot mean anything else,
that is where it is longer than an index and has the dimension of what the column is for. Where it may be a unit, the numbers are
taken as they are, and a warning says how to put it beyond doubt. What the column is for may itself be called `p_bar`: then it is a
name, and no unit. A share has no dimension to tell by: `opening_percent` is read of what is called `opening`.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple

from ..errors import ModelWarning, level_of_caller
from .units import common, convert, dimension, respelled

_INDICES = ("in", "min", "at", "pt", "as", "us", "ns")  # units that are parts of names as well
_SPELLED = {
    **dict.fromkeys(("celsius", "Celsius", "degc", "DegC", "deg_C", "deg_c", "°C", "°_C", "℃", "ºC"), "degC"),
    **dict.fromkeys(("fahrenheit", "Fahrenheit", "degf", "DegF", "deg_F", "deg_f", "°F", "°_F", "℉", "ºF"), "degF"),
    **dict.fromkeys(("kelvin", "Kelvin"), "K"),
    **dict.fromkeys(("sec", "second", "seconds"), "s"),
    **dict.fromkeys(("minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    "days": "day",
    **dict.fromkeys(("Sekunde", "Sekunden"), "s"),
    **dict.fromkeys(("Minute", "Minuten"), "min"),
    **dict.fromkeys(("Stunde", "Stunden"), "h"),
    **dict.fromkeys(("Tag", "Tage", "Tagen"), "day"),
}
_TEMPERATURES = {"C": "degC", "c": "degC", "F": "degF", "f": "degF"}  # as people write them, although they are other units
_DIFFERENCE = re.compile(r"(d|D|delta|Delta|diff|Δ)_?T|.*(diff|delta)", re.IGNORECASE)
_ENDING = re.compile(r"(?:[\s,;:|(){}<>]+in\s+|[_\s,;:|./(){}<>-]+)")  # `t in h` as `t_h`, and `T/degC` of ISO 80000
_CLOSING = "(){}<>"


class Suffix(NamedTuple):
    """What the end of a name may mean."""

    name: str  # without it
    unit: str
    text: str  # as it stands there
    sure: bool


def suffixes(title: str) -> list[Suffix]:
    """Units that may stand at the end of a name, the longest ending first.

    >>> [(s.name, s.unit, s.sure) for s in suffixes("flow_m3_h")]
    [('flow', 'm^3/h', True), ('flow_m3', 'h', False)]
    >>> suffixes("m_dot"), suffixes("T_1"), [s.sure for s in suffixes("T_in")]
    ([], [], [False])
    """
    title = title.strip().rstrip(_CLOSING)
    parts = _ENDING.split(title)
    found = []
    for count in (3, 2, 1):
        if len(parts) <= count or not parts[0]:
            continue
        unit = _unit("_".join(parts[-count:]))
        if unit:
            begin = _begin_of_ending(title, count)
            written = _ENDING.sub("", title[begin:], count=1)
            units = parts[-count:] if "/" not in written else [written]  # a quotient is no index
            found.append(Suffix(title[:begin], unit, "_".join(parts[-count:]), _is_sure(title[:begin], units, unit)))
    return found


def suffix_for(title: str, wanted: str, called: str = "") -> Suffix | None:
    """The unit at the end of a name that has the dimension of what is wanted, and is another one; of what has no dimension only
    behind the name that it is `called`."""
    plain = not wanted or respelled(wanted) == "1"
    for suffix in suffixes(title):
        if plain and suffix.name not in names_of(called):
            continue
        unit = _TEMPERATURES.get(suffix.text, suffix.unit) if dimension(wanted) == dimension("K") else suffix.unit
        if dimension(unit) == dimension(wanted) and not is_same(unit, wanted):
            return suffix._replace(unit=unit)
    return None


def as_temperature(unit: str, wanted: str) -> str:
    """What is meant by `C` or `F` of a temperature: the unit that people write so, which is one of charge or of capacitance."""
    return _TEMPERATURES.get(unit, "") if wanted and dimension(wanted) == dimension("K") else ""


def clock_at_end(title: str, names: tuple[str, ...]) -> str:
    """The unit of time at the end of a column that is called the time: `h` of `time_h`."""
    for suffix in suffixes(title):
        if dimension(suffix.unit) == dimension("s") and (suffix.name.casefold() in names or suffix.name == "t"):
            return suffix.unit
    return ""


def in_unit_of_suffix(values: Any, title: str, unit: str, place: str, called: str = "") -> Any:
    """Numbers of a column that says no unit but for the end of its name, in the unit that is wanted. What they are for is `called`
    so: an ending that is part of its own name is none."""
    suffix = suffix_for(title, unit, called)
    if suffix is None or title.strip() in names_of(called):
        return values
    if suffix.sure:
        return convert(values, suffix.unit, respelled(unit))
    warnings.warn(
        f"The numbers of the column `{title}` of {place} are taken to be in {unit}; the end of its name may mean {suffix.unit}.\n"
        f'  try:       Call it `{suffix.name} [{suffix.unit}]`, or `{title} [{unit}]`, or say it: `ac.data(…, unit="{unit}")`.',
        ModelWarning,
        stacklevel=level_of_caller(),
    )
    return values


def names_of(called: str) -> tuple[str, ...]:
    """What something is called in a header: by its path, or by its last part."""
    return (called, called.rsplit(".", 1)[-1].partition("[")[0]) if called else ()


def spelled(text: str) -> str:
    """A unit as tables of measurements write it, in acausal's spelling; other texts as they are.

    >>> spelled("deg C"), spelled("in °C"), spelled("Stunden"), spelled("kg/s")
    ('degC', 'degC', 'h', 'kg/s')
    """
    short = re.sub(r"^in\s+", "", text.strip())
    return _SPELLED.get(re.sub(r"\s+", "_", short), short)


def _unit(text: str) -> str:
    """The unit that an ending means, or nothing; `kg_h` is a quotient, and so are `kg_per_h` and `kg/h`."""
    if text in _SPELLED:
        return _SPELLED[text]
    mark = next((m for m in ("_per_", "/") if m in text), "_")
    above, _, below = text.partition(mark)
    if not below:
        return respelled(above) if _is_common(above) else ""
    if "_" in below or not (_is_common(above) and _is_common(below)):
        return ""
    return f"{respelled(above)}/{respelled(below)}"


def _is_common(text: str) -> bool:
    """Whether it is one of the usual units, perhaps with a power: words in which a dictionary of all units finds one are none."""
    return bool(re.fullmatch(r"[^\W\d_]+[23²³]?|%", text)) and common(respelled(text)) is not None


def _is_sure(name: str, parts: list[str], unit: str) -> bool:
    if unit in ("degC", "degF") and _DIFFERENCE.fullmatch(name):
        return False  # of a difference nobody adds 273.15
    return any((len(part) > 1 and part not in _INDICES) or not part.isascii() for part in parts)


def is_same(unit: str, wanted: str) -> bool:
    """Whether numbers are the same in both.

    >>> is_same("°C", "degC"), is_same("bar", "Pa"), is_same("bar", "K")
    (True, False, False)
    """
    unit = respelled(unit)
    return dimension(unit) == dimension(respelled(wanted)) and bool(
        convert(1.0, unit, respelled(wanted)) == 1.0 and convert(0.0, unit, respelled(wanted)) == 0.0
    )


def _begin_of_ending(title: str, count: int) -> int:
    return list(_ENDING.finditer(title))[-count].start()
