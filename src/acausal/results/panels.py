"""The panels of a picture: what shares one vertical axis, and how it is drawn."""

from __future__ import annotations

from dataclasses import field
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import dataclass
from . import bands
from .events import Array, Meaning
from .style import DASHES, FAMILY_MAPS, colours, is_dark, pretty_unit, quantity_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAMILY_NAMED = 6  # up to this many curves of one array are named in the legend, more by a colour bar
LEGEND_INSIDE = 1  # more entries than this stand beside the panel
LEGEND_MOST = 24
EVENT_LINES = 80


@dataclass(frozen=True, slots=True)
class Drawn:
    """One name of one run with its values, (time,) or (time, element), over `across`: the time, or another variable."""

    name: str
    values: Array
    unit: str
    description: str
    across: Array
    shape: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    meaning: Meaning = field(default_factory=Meaning)
    run: int = 0  # 0 is the result that is drawn, others lie over it
    of: str = ""  # the run's name, where there are several

    @property
    def has_states(self) -> bool:
        """Whether its axis has names on it, not numbers."""
        return bool(self.meaning.values)

    @property
    def width(self) -> int:
        return self.values.shape[1] if self.shape else 1

    @property
    def label(self) -> str:
        return f"{self.name} · {self.of}" if self.of else self.name


@dataclass(slots=True)
class Panel:
    """What shares one vertical axis, and a second one at the right; a map stands alone."""

    unit: str
    drawn: list[Drawn] = field(default_factory=list)
    right: list[Drawn] = field(default_factory=list)
    is_map: bool = False

    @property
    def has_states(self) -> bool:
        return self.drawn[0].has_states

    @property
    def lines(self) -> int:
        return sum(one.width for one in [*self.drawn, *self.right])

    @property
    def height(self) -> float:
        """Inches, where there are several."""
        if self.is_map:
            return 2.9
        return bands.steps_height(self.drawn[0].meaning) if self.has_states else 2.3


def draw_panel(figure: Figure, axes: Axes, panel: Panel, states: bands.StateColours, log: bool) -> None:
    """One panel with its curves, axis and legend."""
    one = panel.drawn[0]
    if not panel.is_map:
        _draw_lines(figure, axes, panel, log)
    elif one.has_states:
        bands.draw_state_map(axes, one.across, one.values, one.meaning, states)
        axes.set_ylabel(f"{one.name}, element")
    else:
        _draw_map(figure, axes, panel)


def _draw_lines(figure: Figure, axes: Axes, panel: Panel, log: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    _curves(figure, axes, panel.drawn, 0)
    if log and not panel.has_states:
        axes.set_yscale("log", nonpositive="mask")
    second = _draw_right(figure, axes, panel, log) if panel.right else None
    if panel.has_states:
        axes.set_title(panel.drawn[0].name, loc="right", fontsize=9.5, fontweight="normal", pad=4)  # no room at the side
        bands.label_steps(axes, panel.drawn[0].meaning)
    else:
        axes.set_ylabel(axis_label(panel.drawn))
        if not log:
            _calm_limits(axes, panel.drawn)
    if any(one.meaning.type == "integer" for one in panel.drawn):
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    if not panel.has_states or any(one.run for one in panel.drawn):
        _legend(axes, panel, second)


def _draw_right(figure: Figure, axes: Axes, panel: Panel, log: bool) -> Axes:
    """A second axis at the right; its curves go on with the colours."""
    second = axes.twinx()
    second.grid(False)
    second.spines["right"].set_visible(True)
    _curves(figure, second, panel.right, len({one.name for one in panel.drawn}))
    if log:
        second.set_yscale("log", nonpositive="mask")
    else:
        _calm_limits(second, panel.right)
    second.set_ylabel(axis_label(panel.right))
    return second


def _curves(figure: Figure, axes: Axes, drawn: list[Drawn], first: int) -> None:
    """One colour for each name; runs that lie over one another have the same colour and other dashes."""
    palette = colours()
    singles = [one for one in drawn if not one.shape]
    names = list(dict.fromkeys(one.name for one in singles))
    for k, one in enumerate(singles):
        number = first + names.index(one.name)
        hides = any(np.array_equal(one.values, earlier.values) for earlier in singles[max(0, k - len(palette)) : k])
        dash = number // len(palette) + (one.run or int(hides))  # of two equal curves the lower one shows through
        style = {"linestyle": DASHES[dash % len(DASHES)], "marker": "o" if len(one.across) == 1 else ""}
        colour: Any = palette[number % len(palette)]
        axes.plot(one.across, one.values, label=one.label, color=colour, linewidth=_width(one), drawstyle=_drawstyle(one), **style)
    for k, one in enumerate(one for one in drawn if one.shape):
        _draw_family(figure, axes, one, k)


def _width(one: Drawn) -> float:
    """Thinner where very many jumps stand side by side."""
    from matplotlib import rcParams

    many = one.has_states and np.count_nonzero(np.diff(one.values)) > 100
    return 0.7 if many else float(rcParams["lines.linewidth"])


def _drawstyle(one: Drawn) -> str:
    """Between two points what is discrete does not change; at an event there are two points of one time, whoever they are of."""
    return "steps-post" if one.meaning.steps else "default"


def _draw_family(figure: Figure, axes: Axes, one: Drawn, number: int) -> None:
    """The elements of an array as one family of curves; more than a few are named by a colour bar instead of a legend."""
    from matplotlib import colormaps
    from matplotlib.colors import BoundaryNorm, ListedColormap

    shades = colormaps[FAMILY_MAPS[number % len(FAMILY_MAPS)]](np.linspace(0.05, 0.88, one.width))
    named = one.width <= FAMILY_NAMED
    dashes = DASHES[(number + one.run) % len(DASHES)]
    for element in range(one.width):
        label = one.labels[element] if named else "_"
        style = {"linestyle": dashes, "linewidth": 1.4, "drawstyle": _drawstyle(one)}
        axes.plot(one.across, one.values[:, element], color=shades[element], label=label, **style)
    if not named:
        from matplotlib.cm import ScalarMappable

        scale = ScalarMappable(BoundaryNorm(np.arange(one.width + 1) - 0.5, one.width), ListedColormap(shades))
        _colour_bar(figure, axes, scale, f"{one.name}, element", ticks=_index_ticks(one.width))


def _index_ticks(count: int) -> list[int]:
    """First, last and some round ones between, never two so close that they touch."""
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**4, 10**5, 10**6, 10**9) if count / s <= 10)
    return [*range(0, max(1, count - step // 2), step)]


def _draw_map(figure: Figure, axes: Axes, panel: Panel) -> None:
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
    time, values = bands.for_map(one.across, one.values)
    edges = np.concatenate([time[:1], 0.5 * (time[1:] + time[:-1]), time[-1:]])
    rows = np.arange(one.width + 1) - 0.5
    mesh = axes.pcolormesh(edges, rows, values.T, cmap=colours, vmin=low, vmax=high, rasterized=True)
    axes.grid(False)
    axes.set_ylabel(f"{one.name}, element")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    _colour_bar(figure, axes, mesh, axis_label(panel.drawn))


def _colour_bar(figure: Figure, axes: Axes, mappable: Any, label: str, ticks: list[int] | None = None) -> None:
    bar = figure.colorbar(mappable, ax=axes, pad=0.015, fraction=0.05, aspect=24, ticks=ticks)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=2, which="both")
    bar.ax.minorticks_off()
    bar.set_label(label)


def mark_events(axes: Axes, events: Array, on_map: bool) -> None:
    """Lines from bottom to top; very many become short ones at the bottom, so that the curves can be seen."""
    times = np.unique(events)
    many = len(times) > EVENT_LINES
    if not times.size or (many and on_map):  # where they would hide the values
        return
    grey = "#8A919A" if is_dark() else "#777777"
    style: dict[str, Any] = {"colors": "white" if on_map else grey, "linestyles": "-" if many else ":"}
    across = axes.get_xaxis_transform()
    axes.vlines(times, 0, 0.05 if many else 1, transform=across, linewidth=0.5 if many else 0.8, zorder=1.5, **style)


def _calm_limits(axes: Axes, drawn: list[Drawn]) -> None:
    """A quantity that does not move is drawn flat, not as its rounding errors over the full height."""
    every = np.concatenate([one.values[np.isfinite(one.values)].ravel() for one in drawn])
    axes.margins(y=0.08)
    if every.size and np.ptp(every) <= 1e-9 * np.abs(every).max():
        middle = float(every.mean())
        reach = 0.1 * abs(middle) or 1.0
        axes.set_ylim(middle - reach, middle + reach)


def _legend(axes: Axes, panel: Panel, second: Axes | None = None) -> None:
    handles, labels = axes.get_legend_handles_labels()
    for one in () if second is None else zip(*second.get_legend_handles_labels(), strict=True):
        handles.append(one[0])
        labels.append(one[1])
    if not handles or (len(handles) == 1 and axes.get_ylabel().startswith(labels[0])):
        return
    if len(handles) > LEGEND_MOST:
        rest = len(handles) - LEGEND_MOST + 1
        handles, labels = handles[: LEGEND_MOST - 1], labels[: LEGEND_MOST - 1]
        handles.append(axes.plot([], [], alpha=0)[0])
        labels.append(f"… and {rest} more")
    points = sum(len(one.across) * one.width for one in [*panel.drawn, *panel.right])
    if panel.right:  # beside it stands the second axis
        axes.legend(handles, labels, loc="lower right", bbox_to_anchor=(1, 1), frameon=False, ncols=4, borderaxespad=0.2)
    elif len(handles) > LEGEND_INSIDE or points >= 50_000:  # where nothing can be hidden behind it
        columns = 1 + (len(handles) > LEGEND_MOST // 2)
        axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, ncols=columns, borderaxespad=0)
    else:
        axes.legend(handles, labels, loc="best")


def axis_label(drawn: list[Drawn]) -> str:
    """What the axis shows: the description when all agree on one, else the quantity of the unit, with the unit."""
    descriptions = {one.description for one in drawn}
    own = descriptions.pop() if len(descriptions) == 1 else ""
    single = drawn[0].name if len({one.name for one in drawn}) == 1 else ""
    quantity = (own[:1].upper() + own[1:]) or quantity_of(drawn[0].unit) or single
    unit = pretty_unit(drawn[0].unit)
    return fill(f"{quantity} ({unit})" if quantity and unit else quantity or unit or "Dimensionless", 30)
