"""Differences of temperature: `dT="5 degC"` would be 278.15 K. Nothing but its name says that a quantity in K is one."""

from __future__ import annotations

import re
from typing import Any

from ..errors import UsageError
from .units import convert, dimension, split_quantity

_NAMES = re.compile(
    r"(d|delta|diff|Δ)_?T(_\w*|[a-z]?)|.*(diff|delta)"
    r"|(?!T_).*(difference|superheat|superheating|subcooling|undercooling|hysteresis|pinch)",
    re.IGNORECASE,
)


def is_difference(name: str) -> bool:
    """Whether what has this name is, of all that is in K, a difference.

    >>> [is_difference(name) for name in ("dT", "dT_min", "T_diff", "superheat", "T_superheat", "duct", "diffusivity")]
    [True, True, True, True, False, False, False]
    """
    return _NAMES.fullmatch(name) is not None


def refuse_level(path: str, given: Any, declared: str, unit: str = "") -> None:
    """A difference that is given in degC, as a text or as a number in that `unit`."""
    if not isinstance(given, str) and not unit:
        return
    name = path.rpartition(".")[2].partition("[")[0]
    if not declared or not is_difference(name) or dimension(declared) != dimension("K"):
        return
    try:
        written = unit or split_quantity(given)[1]
        level = convert(0.0, written, declared) if written else 0.0
    except UsageError:  # told by who reads it
        return
    if not level:
        return
    number = split_quantity(given)[0] if isinstance(given, str) else given
    shown = f"{number:g}" if isinstance(number, (int, float)) else "…"
    raise UsageError(
        f"`{path}` is a difference of temperatures, and {shown} {written} is a temperature, {level:g} {declared} away from none.",
        remedy=f'Write "{shown} {"K" if "C" in written else "delta_degF"}".',
    )
