"""How pictures look and what stands on their axes: one style, light or dark, and the words for units and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..errors import UsageError
from .events import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Theme = Literal["light", "dark"]
Size = tuple[float, float] | Literal["column", "page"] | None

# Okabe and Ito's colours, told apart by readers with any kind of colour vision; without their yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
FAMILY_MAPS = ("viridis", "plasma", "cividis")

STYLE: dict[Any, Any] = {
    "axes.edgecolor": "#666666",
    "axes.labelcolor": "#222222",
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-4, 6),
    "axes.formatter.use_mathtext": True,
    "axes.formatter.useoffset": False,
    "axes.labelsize": 10,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlepad": 10,
    "font.size": 9.5,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "legend.edgecolor": "#DDDDDD",
    "legend.fancybox": False,
    "legend.framealpha": 0.92,
    "legend.fontsize": 9,
    "lines.linewidth": 1.7,
    "lines.solid_capstyle": "round",
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "xtick.color": "#666666",
    "xtick.labelcolor": "#333333",
    "ytick.color": "#666666",
    "ytick.labelcolor": "#333333",
}

# The same hues, lighter: they stand on a dark ground.
DARK_COLOURS = ("#56B4E9", "#FF8F4C", "#2CC295", "#E79AC6", "#F0C23C", "#8FD3FF", "#C9CDD2")
DARK: dict[Any, Any] = {
    "figure.facecolor": "#16191D",
    "axes.facecolor": "#16191D",
    "axes.edgecolor": "#8A919A",
    "axes.labelcolor": "#E2E5E9",
    "axes.titlecolor": "#F2F4F6",
    "text.color": "#E2E5E9",
    "grid.color": "#2E343B",
    "legend.edgecolor": "#3A424B",
    "legend.facecolor": "#1D2126",
    "xtick.color": "#8A919A",
    "xtick.labelcolor": "#C9CDD2",
    "ytick.color": "#8A919A",
    "ytick.labelcolor": "#C9CDD2",
}

# Printed widths of a column and of a page, in inches, with letters that are readable in print.
PRINTED: dict[str, tuple[float, dict[Any, Any]]] = {
    "column": (3.5, {"font.size": 7.5, "axes.labelsize": 8, "axes.titlesize": 8.5, "legend.fontsize": 7, "lines.linewidth": 1.2}),
    "page": (7.2, {"font.size": 8, "axes.labelsize": 8.5, "axes.titlesize": 9.5, "legend.fontsize": 7.5, "lines.linewidth": 1.3}),
}


def settings(theme: Theme = "light", size: Size = None) -> dict[Any, Any]:
    """matplotlib's settings for one picture."""
    from cycler import cycler

    if theme not in get_args(Theme):
        raise UsageError(f'`theme` is "light" or "dark", not {theme!r}.')
    if isinstance(size, str) and size not in PRINTED:
        raise UsageError(f'`size` is (width, height) in inches, "column" or "page", not {size!r}.')
    colours = COLOURS if theme == "light" else DARK_COLOURS
    printed = PRINTED[size][1] if isinstance(size, str) else {}
    return {**STYLE, **(DARK if theme == "dark" else {}), **printed, "axes.prop_cycle": cycler(color=colours)}


def colours() -> list[str]:
    """Those of the picture that is being drawn."""
    from matplotlib import rcParams

    return list(rcParams["axes.prop_cycle"].by_key()["color"])


def is_dark() -> bool:
    """Whether the picture that is being drawn has a dark ground."""
    from matplotlib import rcParams

    return bool(rcParams["axes.facecolor"] == DARK["axes.facecolor"])


QUANTITIES = {
    "K": "Temperature",
    "degC": "Temperature",
    "Pa": "Pressure",
    "bar": "Pressure",
    "V": "Voltage",
    "A": "Current",
    "ohm": "Resistance",
    "F": "Capacitance",
    "C": "Charge",
    "W": "Power",
    "J": "Energy",
    "N": "Force",
    "kg": "Mass",
    "kg/s": "Mass flow",
    "m^3/s": "Volume flow",
    "m": "Length",
    "m/s": "Velocity",
    "m/s^2": "Acceleration",
    "rad": "Angle",
    "rad/s": "Angular velocity",
    "Hz": "Frequency",
    "kg/m^3": "Density",
    "J/kg": "Specific enthalpy",
    "J/(kg*K)": "Specific entropy",
    "W/m^2": "Heat flux",
    "N*m": "Torque",
}
_PRETTY = {"degC": "°C", "degF": "°F", "ohm": "Ω", "deg": "°", "percent": "%", "delta_degC": "K"}
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

# The time axis: shown in the first unit whose span is reached, with steps people count in.
_TIME_UNITS: tuple[tuple[float, float, str, tuple[float, ...]], ...] = (
    (3 * 86400.0, 86400.0, "d", (1, 2, 5, 7, 10)),
    (3 * 3600.0, 3600.0, "h", (1, 2, 3, 4, 6, 10)),
    (1200.0, 60.0, "min", (1, 1.5, 2, 3, 5, 6, 10)),
    (0.1, 1.0, "s", (1, 2, 2.5, 5, 10)),
    (1e-4, 1e-3, "ms", (1, 2, 2.5, 5, 10)),
    (0.0, 1e-6, "µs", (1, 2, 2.5, 5, 10)),
)


def time_axis(axes: Axes, time: Array, unit: str | None = None, own: str = "s") -> tuple[float, str]:
    """How much of the time's `own` unit is one of the axis, and its symbol; ticks at steps that people count in."""
    from matplotlib.ticker import MaxNLocator

    from ..language.units import convert

    if unit is not None:
        scale, symbol = float(convert(np.array(1.0), unit, own)), unit
        steps = next((known[3] for known in _TIME_UNITS if known[1] == scale), (1.0, 2.0, 2.5, 5.0, 10.0))
    elif own != "s":
        scale, symbol, steps = 1.0, own, (1.0, 2.0, 2.5, 5.0, 10.0)
    else:
        span = float(time[-1] - time[0])
        scale, symbol, steps = next((k[1:] for k in _TIME_UNITS if span > 0 and span >= k[0]), (1.0, "s", (1, 2, 5, 10)))
    figure: Any = axes.get_figure()
    most = max(3, min(9, int(figure.get_size_inches()[0] / 0.75)))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=most, steps=list(steps)))
    return scale, symbol


def quantity_of(unit: str) -> str:
    """What is measured in a unit: also in its multiples, so that kW is a power as W is."""
    plain = _plain_unit(unit)
    for prefix in ("", "k", "M", "G", "m", "u", "n"):
        found = QUANTITIES.get(plain.removeprefix(prefix)) if plain.startswith(prefix) else None
        if found:
            return found
    return ""


def _plain_unit(unit: str) -> str:
    return unit.replace("**", "^").replace(" ", "")


def pretty_unit(unit: str) -> str:
    """`kg/m**3` → `kg/m³`, `degC` → `°C`; nothing for a pure number."""
    plain = _plain_unit(unit)
    if plain in ("", "1", "dimensionless"):
        return ""
    out, rest = "", _PRETTY.get(plain, plain)
    while "^" in rest:
        before, _, after = rest.partition("^")
        digits = len(after) - len(after.lstrip("-0123456789"))
        out += before + after[:digits].translate(_RAISED)
        rest = after[digits:]
    return (out + rest).replace("*", "·")
