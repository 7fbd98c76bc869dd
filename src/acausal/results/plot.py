"""Pictures of trajectories: one panel for each unit, above one another on a common axis.

matplotlib is imported when the first picture is drawn, and its global settings are left as they are. Without a display nothing
tries to open a window.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..arguments import checked, is_one_of
from ..errors import UsageError
from ..records import dataclass
from . import bands, series
from .between import means
from .canvas import ENDINGS, checked_path, has_window, new_figure, saved, show
from .events import Meaning
from .panels import FAMILY_NAMED, LEGEND_INSIDE, Drawn, Panel, axis_label, draw_panel, mark_events
from .series import Array, Trajectories, Unit
from .states import Pieces
from .style import COLOURS, PRINTED, STYLE, Size, Theme, pretty_unit, settings, time_axis
from .tabular import optional_module

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .views import Window

__all__ = ["COLOURS", "ENDINGS", "STYLE", "plot", "pretty_unit"]

Kind = Literal["lines", "map"] | None
Log = Literal["", "x", "y", "xy"]
Overlay = Trajectories | Sequence[Trajectories] | Mapping[str, Trajectories] | None

MAP_ABOVE = 12  # more curves of one array than this become a heat map
DUTY_ABOVE = 400  # more switches than this would be a solid block: their share of time is drawn instead
DUTY_POINTS = 250


@checked
def plot(
    result: Trajectories,
    *names: str | Iterable[str],
    unit: Unit = None,
    file: str | os.PathLike[str] | None = None,
    title: str | None = None,
    states: str | Sequence[str] | None = None,
    window: Window = None,
    overlay: Overlay = None,
    x: str | None = None,
    right: str | Sequence[str] = (),
    panels: Sequence[str | Sequence[str]] | None = None,
    log: Log = "",
    time_unit: str | None = None,
    events: bool | Sequence[float] = (),
    duty: bool | float | str | None = None,
    kind: Kind = None,
    theme: Theme = "light",
    size: Size = None,
    show: bool | None = None,
    units: Unit = None,
) -> Figure:
    """Draw variables over time, or over another variable, and give the figure back.

    Every day:
        names: variables, arrays (`wall.T`) or patterns (`*.m_flow`). Variables of one unit share a panel.
        unit: a unit for whatever can be given in it (`"degC"`), or by name, pattern, declared unit: `{"K": "degC", "*.p": "bar"}`.
        file: save as well; the ending chooses `.png`, `.svg`, `.pdf`, …
        title: instead of the result's own; "" for none.
        states: discrete variables whose states are shown as coloured strips below the curves; of a single one that does not
            change too often, as bands behind them too.
        window: only from one time to another: `("1 h", "2 h")`; None at either end is that of the run.
        overlay: other runs, drawn with other dashes: a result, several, or by name: `{"before": earlier}`.
    The rest:
        x: draw over this variable instead of time (a phase portrait, a characteristic); a dot marks the beginning.
        right: variables on a second axis at the right; all others must have one unit.
        panels: which variables stand together: `[["a", "b"], ["c"]]`. In a panel of two units, the second is at the right.
        log: logarithmic axes: "y", "x" or "xy".
        time_unit: of the time axis, "h"; None: one that suits its length.
        events: True marks the events of the run by thin lines; or times to mark, in seconds.
        duty: what switches very often is drawn as its share of time. True, or the time over which it is averaged ("1 ms"); False
            for the switching itself; None: from 400 switches on.
        kind: how arrays are drawn, `"lines"` or `"map"` (a heat map). None: lines up to 12 of them, else a map.
        theme: "light" or "dark".
        size: width and height in inches; or "column", "page": for print.
        show: open a window. None: when there is a display and no `file`.
        units: the same as `unit`.
    """
    matplotlib = optional_module("matplotlib", "A plot", remedy="`pip install matplotlib`.")
    path, shown = checked_path(file), series.either_unit(unit, units)
    how = _How(shown, window, x, kind, duty, log)
    runs = _runs(result, overlay, window)
    drawn = _arranged(runs, names, right, panels, how)
    strips = bands.checked(runs[0].result, runs[0].result.shown_states if states is None else states)
    marked = _event_times(result, events)
    opens = has_window(matplotlib) if show is None and file is None else bool(show)
    with matplotlib.rc_context(settings(theme, size)):
        figure = new_figure(_size(drawn, len(strips), size), opens)
        _draw(figure, drawn, _Axis(runs[0].result.time, how, runs[0].result, time_unit), marked, strips)
        heading = result.title if title is None else title
        if heading:
            figure.axes[0].set_title(heading)
        saved(figure, path)
    if opens:
        _show()
    return figure


_show = show  # the argument of the same name hides it


@dataclass(frozen=True, slots=True)
class _How:
    """What was said about all variables of a picture."""

    unit: Unit
    window: Window
    x: str | None
    kind: Kind
    duty: bool | float | str | None
    log: Log

    def __post_init__(self) -> None:
        if not is_one_of(self.kind, (None, "lines", "map")):
            raise UsageError(f'`kind` is "lines" or "map", not {self.kind!r}.')
        if not is_one_of(self.log, ("", "x", "y", "xy")):
            raise UsageError(f'`log` is "x", "y" or "xy", not {self.log!r}.')


@dataclass(frozen=True, slots=True)
class _Run:
    """A result that takes part in a picture: the one that is drawn, or one that lies over it."""

    result: Trajectories
    number: int = 0
    name: str = ""


# ---------------------------------------------------------------- what to draw


def _runs(result: Trajectories, overlay: Overlay, window: Window) -> list[_Run]:
    from .views import windowed

    if overlay is None:
        return [_Run(windowed(result, window))]
    if isinstance(overlay, Mapping):
        others = dict(overlay)
    else:
        given: list[Any] = list(overlay) if isinstance(overlay, list | tuple) else [overlay]
        titles = [getattr(other, "title", result.title) for other in given]
        others = {f"run {k}" if t == result.title else t: other for k, (t, other) in enumerate(zip(titles, given, strict=True), 2)}
    for name, other in others.items():
        if not hasattr(other, "unit") or not hasattr(other, "time"):
            raise UsageError(f"`overlay` takes results, and `{name}` is {type(other).__name__} {other!r:.40}.")
    first = "this run" if isinstance(overlay, Mapping) else "run 1"
    return [_Run(windowed(r, window), k, name) for k, (name, r) in enumerate([(first, result), *others.items()])]


def _event_times(result: Trajectories, events: bool | Sequence[float]) -> Array:
    if isinstance(events, bool):
        return result.history.times if events and result.history is not None else np.empty(0)
    return np.asarray(events, dtype=np.float64)


def _arranged(
    runs: Sequence[_Run],
    names: Sequence[Any],
    right: str | Sequence[str],
    panels: Sequence[str | Sequence[str]] | None,
    how: _How,
) -> list[Panel]:
    """The panels of a picture, from whichever way the user grouped the variables."""
    given = series.given_names(names)
    if panels is not None:
        if given or right:
            raise UsageError("`panels` names all variables; name none besides it.")
        if not len(panels):
            raise UsageError("`panels` is empty: there is nothing to draw.", remedy='panels=[["room.T"], ["pump.P"]]')
        return [_grouped(_evaluate(runs, series.listed(group), how)) for group in panels]
    if not right:
        return _panels(_evaluate(runs, given, how), how.kind)
    other = set(series.expand(runs[0].result, series.listed(right)))  # a variable that is named at both sides is drawn at the right
    found = _evaluate(runs, [name for name in series.expand(runs[0].result, given) if name not in other], how)
    if len({one.unit for one in found}) > 1:
        listed = ", ".join(sorted({one.unit or "1" for one in found}))
        raise UsageError(f"With `right`, the variables at the left must have one unit; they have {listed}.")
    at_right = _evaluate(runs, series.listed(right), how)
    if len({one.unit for one in at_right}) > 1:
        raise UsageError("The variables of `right` must have one unit.", remedy="Draw them in panels of their own: `panels=[…]`.")
    return [Panel(found[0].unit, found, at_right)]


def _grouped(found: list[Drawn]) -> Panel:
    units = list(dict.fromkeys(one.unit for one in found))
    if len(units) > 2:
        named = " and ".join(one.name for one in found)
        raise UsageError(f"A panel has two axes, and {named} have {len(units)} units: {', '.join(u or '1' for u in units)}.")
    left = [one for one in found if one.unit == units[0]]
    return Panel(units[0], left, [one for one in found if one.unit != units[0]])


def _evaluate(runs: Sequence[_Run], names: series.Names, how: _How) -> list[Drawn]:
    if not names:
        raise UsageError("Nothing was named to be drawn.", remedy='name variables: `result.plot("wall.T")`.')
    if not len(runs[0].result.time):
        raise UsageError(f"The result has no point of time to draw. {runs[0].result.outcome.value}")
    found: list[Drawn] = []
    expanded = series.expand(runs[0].result, names)
    units = _units(runs[0].result, expanded, how.unit)
    for name in expanded:
        found += [_one(run, name, units.get(name), how) for run in runs if name in run.result or not run.number]
    return found


def _units(result: Trajectories, names: list[str], unit: Unit) -> dict[str, str]:
    """As everywhere; but one mapping may speak of variables in several panels, so keys that are not here do no harm."""
    if isinstance(unit, Mapping):
        own = {result.unit(name) for name in names}
        unit = {key: u for key, u in unit.items() if key in own or any(_speaks_of(key, name) for name in names)}
    return series.units_for(result, names, unit)


def _speaks_of(key: str, name: str) -> bool:
    return key == name or bool(series.pattern_of(key).fullmatch(name))


def _one(run: _Run, name: str, unit: str | None, how: _How) -> Drawn:
    result, own = run.result, run.result.unit(name)
    shown = unit or own
    values = np.asarray(result[name] if shown == own else result.in_unit(name, shown))
    across = np.asarray(result.time if how.x is None else _across(result, how))
    meaning = result.meaning(name)
    plain = Drawn(name, values, shown, result.description(name), across, meaning=meaning, run=run.number, of=run.name)
    if not values.shape[1:]:
        return _as_duty(plain, result, how) if meaning.steps and how.x is None else plain
    flat = values.reshape(len(values), -1)
    labels = tuple(c.label for c in series.columns(result, name)) if flat.shape[1] <= FAMILY_NAMED else ()
    return Drawn(name, flat, shown, plain.description, across, values.shape[1:], labels, meaning, run.number, run.name)


def _across(result: Trajectories, how: _How) -> Array:
    assert how.x is not None
    unit = series.units_for(result, [how.x], how.unit if isinstance(how.unit, Mapping) and how.x in how.unit else None).get(how.x)
    values = np.asarray(result.in_unit(how.x, unit) if unit else result[how.x])
    if values.ndim > 1:
        raise UsageError(f"`x` is one variable, and `{how.x}` stands for {values[0].size}.", remedy="Choose one of its elements.")
    return values


def _as_duty(one: Drawn, result: Trajectories, how: _How) -> Drawn:
    """The share of time that each state has, over a while; the variable itself where it switches seldom."""
    switches, time = int(np.count_nonzero(np.diff(one.values))), result.time
    if how.duty is False or one.meaning.type not in ("boolean", "states") or len(time) < 2 or not time[-1] > time[0]:
        return one
    if how.duty is None and switches <= DUTY_ABOVE:
        return one
    edges = _duty_edges(time, how.duty, result.unit("time") or "s")
    texts = one.meaning.values
    chosen = [k for k in range(len(texts)) if len(texts) > 2 or texts[k].lower() not in bands.OFF] or [len(texts) - 1]
    chosen = chosen if len(texts) > 2 else chosen[-1:]
    shares = 100.0 * np.stack([means(time, (one.values == k).astype(float), edges, steps=True) for k in chosen], axis=1)
    middle = 0.5 * (edges[1:] + edges[:-1])
    label = f"duty of {one.name}"
    if len(chosen) == 1:
        return Drawn(label, shares[:, 0], "%", "share of time", middle, meaning=Meaning(), run=one.run, of=one.of)
    labels = tuple(f"{label}: {texts[k]}" for k in chosen)
    return Drawn(label, shares, "%", "share of time", middle, (len(chosen),), labels, Meaning(), one.run, one.of)


def _duty_edges(time: Array, duty: bool | float | str | None, unit: str) -> Array:
    from ..runtime.storage import seconds

    begin, end = float(time[0]), float(time[-1])
    if duty is None or isinstance(duty, bool):
        return np.linspace(begin, end, DUTY_POINTS + 1)
    step = float(seconds(duty, "duty", unit))
    if not 0 < step <= end - begin:
        raise UsageError(f"`duty` is the time over which is averaged, shorter than the run, got {duty!r}.")
    return np.linspace(begin, end, max(2, int(np.ceil((end - begin) / step * (1 - 1e-12))) + 1))


def _panels(found: Sequence[Drawn], kind: Kind) -> list[Panel]:
    """One panel for each unit in the order of the names, and one for each map and each variable with states."""
    panels: list[Panel] = []
    shared: dict[tuple[str, str], Panel] = {}
    for one in found:
        states_at_once = one.has_states and kind is None  # as lines they would lie upon one another
        if one.shape and (kind == "map" or states_at_once or (kind is None and one.width > MAP_ABOVE)):
            panels.append(Panel(one.unit, [one], is_map=True))
            continue
        alike = (one.unit, one.name if one.has_states else one.meaning.type)
        if alike not in shared:
            shared[alike] = Panel(one.unit)
            panels.append(shared[alike])
        shared[alike].drawn.append(one)
    return panels


# ---------------------------------------------------------------- drawing


@dataclass(frozen=True, slots=True)
class _Axis:
    """The horizontal axis: time, or a variable."""

    time: Array
    how: _How
    result: Trajectories
    unit: str | None

    def prepare(self, axes: Axes) -> float:
        """Labels and limits; how many of its seconds are one of the axis."""
        x, log = self.how.x, "x" in self.how.log
        scale, label = 1.0, ""
        if x is None:
            own = self.result.unit("time") or "s"
            scale, symbol = time_axis(axes, self.time, self.unit, own)
            said = self.result.description("time") or "time"
            label = f"{said[:1].upper()}{said[1:]} ({symbol})"
            if len(self.time) > 1 and self.time[-1] > self.time[0] and not log:
                axes.set_xlim(self.time[0] / scale, self.time[-1] / scale)
        else:
            wanted = self.how.unit if isinstance(self.how.unit, Mapping) else None
            unit = (wanted or {}).get(x) or self.result.unit(x)
            about = Drawn(x, self.time, unit, self.result.description(x), self.time)
            label = axis_label([about]) if about.description or not unit else f"{x} ({pretty_unit(unit)})"
        if log:
            axes.set_xscale("log", nonpositive="mask")
        axes.set_xlabel(label)
        return scale


def _draw(figure: Figure, panels: list[Panel], axis: _Axis, events: Array, strips: Mapping[str, Pieces]) -> None:
    heights = [panel.height for panel in panels] + ([bands.strip_height(len(strips))] if strips else [])
    if not any(panel.has_states for panel in panels) and not strips:
        heights = [1.0] * len(panels)
    all_axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    scale = axis.prepare(all_axes[-1])
    over_time = axis.how.x is None
    colours = bands.StateColours()
    inside = events[(events >= axis.time[0]) & (events <= axis.time[-1])]
    for axes, panel in zip(all_axes, panels, strict=False):
        draw_panel(figure, axes, _scaled(panel, scale), colours, "y" in axis.how.log)
        if not over_time:
            _mark_beginnings(axes, panel)
            continue
        mark_events(axes, inside / scale, panel.is_map)
        if len(strips) == 1 and not panel.is_map:
            bands.shade(axes, next(iter(strips.values())), scale, colours)
    if strips:
        bands.draw_strips(all_axes[-1], dict(strips), scale, colours)
    colours.legend(figure)
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.08, h_pad=0.06)
    figure.align_ylabels(list(all_axes[: len(panels)]))


def _scaled(panel: Panel, scale: float) -> Panel:
    from dataclasses import replace

    left, right = ([replace(one, across=one.across / scale) for one in side] for side in (panel.drawn, panel.right))
    return Panel(panel.unit, left, right, panel.is_map)


def _mark_beginnings(axes: Axes, panel: Panel) -> None:
    for line in list(axes.get_lines()):
        across, up = line.get_data()
        axes.plot(across[:1], up[:1], "o", color=line.get_color(), markersize=4, label="_", zorder=3)  # type: ignore[index]


def _size(panels: Sequence[Panel], strips: int, size: Size) -> tuple[float, float]:
    """Wide enough for a legend beside it; one panel is taller than each of several."""
    if isinstance(size, tuple | list):
        return float(size[0]), float(size[1])
    beside = any((panel.is_map and not panel.has_states) or panel.lines > LEGEND_INSIDE for panel in panels)
    alone = len(panels) == 1 and not panels[0].has_states
    height = 4.3 if alone else 0.7 + sum(panel.height for panel in panels)
    width = 9.2 if beside or strips else 8.0
    height += bands.strip_height(strips) + 0.4 if strips else 0.0
    if size is None:
        return width, height
    printed = PRINTED[size][0]
    return printed, printed / width * height * (1.25 if size == "column" else 1.0)
