"""Pictures of trajectories: one panel for each unit, above one another on a common time axis.

matplotlib is imported when the first picture is drawn, and its global settings are left as they are. Without a display nothing
tries to open a window.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..container import whole_file
from ..errors import ModelError, UsageError
from . import bands, series
from .events import Meaning
from .series import Array, Trajectories
from .states import Pieces
from .tabular import optional_module

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Kind = Literal["lines", "map"] | None

MAP_ABOVE = 12  # more curves of one array than this become a heat map
FAMILY_NAMED = 6  # up to this many curves of one array are named in the legend, more by a colour bar
LEGEND_INSIDE = 1  # more entries than this stand beside the panel
LEGEND_MOST = 24
EVENT_LINES = 80
ENDINGS = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".eps", ".webp")

# Okabe and Ito's colours, told apart by readers with any kind of colour vision; without their yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
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


@dataclass(frozen=True, slots=True)
class _Drawn:
    """One name with its values, (time,) or (time, element)."""

    name: str
    values: Array
    unit: str
    description: str
    shape: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    meaning: Meaning = field(default_factory=Meaning)

    @property
    def has_states(self) -> bool:
        """Whether its axis has names on it, not numbers."""
        return bool(self.meaning.values)

    @property
    def width(self) -> int:
        return self.values.shape[1] if self.shape else 1


@dataclass(slots=True)
class _Panel:
    """What shares one vertical axis; a map stands alone."""

    unit: str
    drawn: list[_Drawn] = field(default_factory=list)
    is_map: bool = False

    @property
    def has_states(self) -> bool:
        return self.drawn[0].has_states

    @property
    def lines(self) -> int:
        return sum(one.width for one in self.drawn)

    @property
    def height(self) -> float:
        """Inches, where there are several."""
        if self.is_map:
            return 2.9
        return bands.steps_height(self.drawn[0].meaning) if self.has_states else 2.3


def plot(
    result: Trajectories,
    *names: str,
    unit: str | Mapping[str, str] | None = None,
    title: str | None = None,
    file: str | os.PathLike[str] | None = None,
    show: bool | None = None,
    states: str | Sequence[str] = (),
    events: bool | Sequence[float] = (),
    kind: Kind = None,
    size: tuple[float, float] | None = None,
) -> Figure:
    """Draw variables over time and give the figure back.

    Every day:
        names: variables, arrays (`wall.T`) or patterns (`*.m_flow`). Variables of one unit share a panel.
        unit: a unit for whatever can be given in it (`"degC"`), or by name or by declared unit: `{"K": "degC", "pump.p": "bar"}`.
        file: save as well; the ending chooses `.png`, `.svg`, `.pdf`, …
        title: instead of the result's own; "" for none.
        states: discrete variables whose states are shown as coloured strips below the curves; of a single one that does not
            change too often, as bands behind them too.
    The rest:
        show: open a window. None: when there is a display and no `file`.
        events: True marks the events of the run by thin lines; or times to mark, in seconds.
        kind: how arrays are drawn, `"lines"` or `"map"` (a heat map). None: lines up to 12 of them, else a map.
        size: width and height in inches.
    """
    matplotlib = optional_module("matplotlib", "A plot", remedy="`pip install matplotlib`.")
    path = _checked_path(file)
    panels = _panels(_evaluate(result, names, unit), kind)
    strips = bands.checked(result, states)
    marked = _event_times(result, events)
    window = _has_window(matplotlib) if show is None and file is None else bool(show)
    with matplotlib.rc_context(STYLE):
        figure = _new_figure(size or _size(panels, len(strips)), window)
        _draw(figure, panels, np.asarray(result.time), marked, strips)
        heading = result.title if title is None else title
        if heading:
            figure.axes[0].set_title(heading)
        if path is not None:
            with whole_file(path) as place, open(place, "wb") as stream:
                figure.savefig(stream, format=path.suffix[1:].lower(), dpi=160)
    if window:
        _show()
    return figure


# ---------------------------------------------------------------- what to draw


def _event_times(result: Trajectories, events: bool | Sequence[float]) -> Array:
    if isinstance(events, bool):
        return result.history.times if events and result.history is not None else np.empty(0)
    return np.asarray(events, dtype=np.float64)


def _evaluate(result: Trajectories, names: Sequence[str], unit: str | Mapping[str, str] | None) -> list[_Drawn]:
    if not names:
        raise UsageError("Nothing was named to be drawn.", remedy='name variables: `result.plot("wall.T")`.')
    if not len(result.time):
        raise UsageError(f"The result has no point of time to draw. {result.outcome.value}")
    found = [_one(result, name, unit) for name in series.expand(result, names)]
    if isinstance(unit, str) and all(one.unit != unit for one in found):
        own = ", ".join(sorted({one.unit or "1" for one in found}))
        raise UsageError(f"None of the variables can be given in `{unit}`; their units are {own}.")
    return found


def _one(result: Trajectories, name: str, unit: str | Mapping[str, str] | None) -> _Drawn:
    own = result.unit(name)
    if isinstance(unit, str):
        try:
            values, shown = result.in_unit(name, unit), unit
        except ModelError:  # another quantity: it keeps its own unit
            values, shown = result[name], own
    else:
        shown = (unit or {}).get(name) or (unit or {}).get(own) or own
        values = result[name] if shown == own else result.in_unit(name, shown)
    shape, meaning = values.shape[1:], result.meaning(name)
    if not shape:
        return _Drawn(name, values, shown, result.description(name), meaning=meaning)
    flat = values.reshape(len(values), -1)
    labels = tuple(column.label for column in series.columns(result, name)) if flat.shape[1] <= FAMILY_NAMED else ()
    return _Drawn(name, flat, shown, result.description(name), shape, labels, meaning)


def _panels(found: Sequence[_Drawn], kind: Kind) -> list[_Panel]:
    """One panel for each unit in the order of the names, and one for each map and each variable with states."""
    if kind not in (None, "lines", "map"):
        raise UsageError(f'`kind` is "lines" or "map", not {kind!r}.')
    panels: list[_Panel] = []
    shared: dict[tuple[str, str], _Panel] = {}
    for one in found:
        states_at_once = one.has_states and kind is None  # as lines they would lie upon one another
        if one.shape and (kind == "map" or states_at_once or (kind is None and one.width > MAP_ABOVE)):
            panels.append(_Panel(one.unit, [one], is_map=True))
            continue
        alike = (one.unit, one.name if one.has_states else one.meaning.type)
        if alike not in shared:
            shared[alike] = _Panel(one.unit)
            panels.append(shared[alike])
        shared[alike].drawn.append(one)
    return panels


# ---------------------------------------------------------------- drawing


def _draw(figure: Figure, panels: Sequence[_Panel], time: Array, events: Array, strips: Mapping[str, Pieces]) -> None:
    heights = [panel.height for panel in panels] + ([bands.strip_height(len(strips))] if strips else [])
    if not any(panel.has_states for panel in panels) and not strips:
        heights = [1.0] * len(panels)
    all_axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    scale, symbol = _time_axis(all_axes[-1], time)
    colours = bands.StateColours()
    for axes, panel in zip(all_axes, panels, strict=False):
        _draw_panel(figure, axes, panel, time / scale, colours)
        _mark_events(axes, events / scale, panel.is_map)
        if len(strips) == 1 and not panel.is_map:
            bands.shade(axes, next(iter(strips.values())), scale, colours)
    if strips:
        bands.draw_strips(all_axes[-1], dict(strips), scale, colours)
    colours.legend(figure)
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.08, h_pad=0.06)
    all_axes[-1].set_xlabel(f"Time ({symbol})")
    if len(time) > 1 and time[-1] > time[0]:
        all_axes[-1].set_xlim(time[0] / scale, time[-1] / scale)
    figure.align_ylabels(list(all_axes[: len(panels)]))


def _draw_panel(figure: Figure, axes: Axes, panel: _Panel, time: Array, colours: bands.StateColours) -> None:
    one = panel.drawn[0]
    if not panel.is_map:
        _draw_lines(figure, axes, panel, time)
    elif one.has_states:
        bands.draw_state_map(axes, time, one.values, one.meaning, colours)
        axes.set_ylabel(f"{one.name}, element")
    else:
        _draw_map(figure, axes, panel, time)


def _time_axis(axes: Axes, time: Array) -> tuple[float, str]:
    from matplotlib.ticker import MaxNLocator

    span = float(time[-1] - time[0])
    scale, symbol, steps = next((unit[1:] for unit in _TIME_UNITS if span > 0 and span >= unit[0]), (1.0, "s", (1, 2, 5, 10)))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=9, steps=list(steps)))
    return scale, symbol


def _draw_lines(figure: Figure, axes: Axes, panel: _Panel, time: Array) -> None:
    from matplotlib.ticker import MaxNLocator

    marker = "o" if len(time) == 1 else ""
    singles = [one for one in panel.drawn if not one.shape]
    for k, one in enumerate(singles):
        hides = any(np.array_equal(one.values, earlier.values) for earlier in singles[max(0, k - len(COLOURS)) : k])
        dashes: Any = DASHES[(k // len(COLOURS) + hides) % len(DASHES)]  # of two equal curves the lower one shows through
        colour: str = COLOURS[k % len(COLOURS)]
        style = {"color": colour, "linestyle": dashes, "marker": marker, "drawstyle": _drawstyle(one)}
        axes.plot(time, one.values, label=one.name, linewidth=_width(one), **style)
    for k, one in enumerate(one for one in panel.drawn if one.shape):
        _draw_family(figure, axes, one, time, k)
    if panel.has_states:
        axes.set_title(panel.drawn[0].name, loc="right", fontsize=9.5, fontweight="normal", pad=4)  # no room at the side
        bands.label_steps(axes, panel.drawn[0].meaning)
    else:
        axes.set_ylabel(_axis_label(panel))
        _calm_limits(axes, panel)
    if any(one.meaning.type == "integer" for one in panel.drawn):
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    if not panel.has_states:
        _legend(axes, panel, len(time))


def _width(one: _Drawn) -> float:
    """Thinner where very many jumps stand side by side."""
    many = one.has_states and np.count_nonzero(np.diff(one.values)) > 100
    return 0.7 if many else float(STYLE["lines.linewidth"])


def _drawstyle(one: _Drawn) -> str:
    """Between two points what is discrete does not change; at an event there are two points of one time, whoever they are of."""
    return "steps-post" if one.meaning.steps else "default"


def _draw_family(figure: Figure, axes: Axes, one: _Drawn, time: Array, number: int) -> None:
    """The elements of an array as one family of curves; more than a few are named by a colour bar instead of a legend."""
    from matplotlib import colormaps
    from matplotlib.colors import BoundaryNorm, ListedColormap

    shades = colormaps[FAMILY_MAPS[number % len(FAMILY_MAPS)]](np.linspace(0.05, 0.88, one.width))
    named = one.width <= FAMILY_NAMED
    dashes: Any = DASHES[number % len(DASHES)]
    for element in range(one.width):
        label = one.labels[element] if named else "_"
        style = {"linestyle": dashes, "linewidth": 1.4, "drawstyle": _drawstyle(one)}
        axes.plot(time, one.values[:, element], color=shades[element], label=label, **style)
    if not named:
        from matplotlib.cm import ScalarMappable

        scale = ScalarMappable(BoundaryNorm(np.arange(one.width + 1) - 0.5, one.width), ListedColormap(shades))
        _colour_bar(figure, axes, scale, f"{one.name}, element", ticks=_index_ticks(one.width))


def _index_ticks(count: int) -> list[int]:
    """First, last and some round ones between, never two so close that they touch."""
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**4, 10**5, 10**6, 10**9) if count / s <= 10)
    return [*range(0, max(1, count - step // 2), step)]


def _draw_map(figure: Figure, axes: Axes, panel: _Panel, time: Array) -> None:
    """Time to the right, elements upwards, values as colours; diverging colours when zero lies well inside."""
    from matplotlib.ticker import MaxNLocator

    one = panel.drawn[0]
    finite = one.values[np.isfinite(one.values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    diverging = low < 0 < high and min(-low, high) > 0.2 * max(-low, high)
    if diverging:
        low, high = -max(-low, high), max(-low, high)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        low, high = low - 0.05 * (abs(low) or 1.0), high + 0.05 * (abs(high) or 1.0)
    colours = "RdBu_r" if diverging else "viridis"
    time, values = bands.for_map(time, one.values)
    edges = np.concatenate([time[:1], 0.5 * (time[1:] + time[:-1]), time[-1:]])
    rows = np.arange(one.width + 1) - 0.5
    mesh = axes.pcolormesh(edges, rows, values.T, cmap=colours, vmin=low, vmax=high, rasterized=True)
    axes.grid(False)
    axes.set_ylabel(f"{one.name}, element")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    _colour_bar(figure, axes, mesh, _axis_label(panel))


def _colour_bar(figure: Figure, axes: Axes, mappable: Any, label: str, ticks: list[int] | None = None) -> None:
    bar = figure.colorbar(mappable, ax=axes, pad=0.015, fraction=0.05, aspect=24, ticks=ticks)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=2, which="both")
    bar.ax.minorticks_off()
    bar.set_label(label)


def _mark_events(axes: Axes, events: Array, on_map: bool) -> None:
    """Lines from bottom to top; very many become short ones at the bottom, so that the curves can be seen."""
    times = np.unique(events)
    many = len(times) > EVENT_LINES
    if not times.size or (many and on_map):  # where they would hide the values
        return
    style: dict[str, Any] = {"colors": "white" if on_map else "#777777", "linestyles": "-" if many else ":"}
    across = axes.get_xaxis_transform()
    axes.vlines(times, 0, 0.05 if many else 1, transform=across, linewidth=0.5 if many else 0.8, zorder=1.5, **style)


def _calm_limits(axes: Axes, panel: _Panel) -> None:
    """A quantity that does not move is drawn flat, not as its rounding errors over the full height."""
    every = np.concatenate([one.values[np.isfinite(one.values)].ravel() for one in panel.drawn])
    axes.margins(y=0.08)
    if every.size and np.ptp(every) <= 1e-9 * np.abs(every).max():
        middle = float(every.mean())
        reach = 0.1 * abs(middle) or 1.0
        axes.set_ylim(middle - reach, middle + reach)


def _legend(axes: Axes, panel: _Panel, times: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if not handles or (len(handles) == 1 and axes.get_ylabel().startswith(labels[0])):
        return
    if len(handles) > LEGEND_MOST:
        rest = len(handles) - LEGEND_MOST + 1
        handles, labels = handles[: LEGEND_MOST - 1], labels[: LEGEND_MOST - 1]
        handles.append(axes.plot([], [], alpha=0)[0])
        labels.append(f"… and {rest} more")
    if len(handles) > LEGEND_INSIDE or times * panel.lines >= 50_000:  # where nothing can be hidden behind it
        columns = 1 + (len(handles) > LEGEND_MOST // 2)
        axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, ncols=columns, borderaxespad=0)
    else:
        axes.legend(handles, labels, loc="best")


# ---------------------------------------------------------------- words


def _axis_label(panel: _Panel) -> str:
    """What the axis shows: the description when all agree on one, else the quantity of the unit, with the unit."""
    descriptions = {one.description for one in panel.drawn}
    own = descriptions.pop() if len(descriptions) == 1 else ""
    single = panel.drawn[0].name if len(panel.drawn) == 1 else ""
    quantity = (own[:1].upper() + own[1:]) or _quantity(panel.unit) or single
    unit = pretty_unit(panel.unit)
    return fill(f"{quantity} ({unit})" if quantity and unit else quantity or unit or "Dimensionless", 30)


def _quantity(unit: str) -> str:
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


# ---------------------------------------------------------------- figure, window and file


def _checked_path(file: str | os.PathLike[str] | None) -> Path | None:
    if file is None:
        return None
    path = Path(file)
    if not path.suffix:
        path = path.with_name(f"{path.name}.png")
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"`{path}` cannot be drawn: `{path.suffix}` is no kind of picture.", remedy=f"use {', '.join(ENDINGS)}.")
    return path


def _size(panels: Sequence[_Panel], strips: int = 0) -> tuple[float, float]:
    """Wide enough for a legend beside it; one panel is taller than each of several."""
    beside = any((panel.is_map and not panel.has_states) or panel.lines > LEGEND_INSIDE for panel in panels)
    alone = len(panels) == 1 and not panels[0].has_states
    height = 4.3 if alone else 0.7 + sum(panel.height for panel in panels)
    return (9.2 if beside or strips else 8.0), height + (bands.strip_height(strips) + 0.4 if strips else 0.0)


def _has_window(matplotlib: Any) -> bool:
    """Whether somebody sits before a screen; a notebook shows the figure by itself."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    backend = str(matplotlib.get_backend()).lower()
    return backend not in ("agg", "svg", "pdf", "ps", "cairo", "template") and "inline" not in backend


def _new_figure(size: tuple[float, float], window: bool) -> Figure:
    """Outside pyplot unless a window is wanted, so that figures are freed and may be made in any thread."""
    if window:
        import matplotlib.pyplot

        return matplotlib.pyplot.figure(figsize=size, layout="constrained")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that a notebook shows as what it is, with or without `%matplotlib inline`."""

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png", dpi=110)
            return stream.getvalue()

    figure = Picture(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _show() -> None:
    import matplotlib.pyplot

    matplotlib.pyplot.show()
