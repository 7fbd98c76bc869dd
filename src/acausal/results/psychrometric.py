"""The psychrometric diagram: humidity ratio over temperature, with lines of equal relative humidity, enthalpy, wet bulb and
volume, and states of moist air on it, at an instant or over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked
from ..errors import AcausalError, UsageError
from ..language.units import quantity
from . import canvas
from .diagrams import SIZE, File, Isoline, Isolines, instant, moment, together
from .style import COLOURS, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ZERO, GRAM, KILO = 273.15, 1e-3, 1e3
Place = str | tuple[str, str]
GREY = "#999999"
LEAST, MOST = 2e4, 1e6  # Pa, between which air is drawn
_ROUNDING = 1e-6  # K, of degrees Celsius
_FAR = 3.0  # humidities of the picture, beyond which no line comes from saturated air
_WIDE = 0.045  # of the picture, that a mark takes
WATER = 4190.0  # J/(kg K), as in media.moist_air


@checked
def psychrometric_diagram(
    result: Any = None,
    states: Sequence[Place] = (),
    *,
    at: float | Sequence[float] | None = None,
    trace: bool = False,
    p: float | str = 101325.0,
    T: tuple[float | str, float | str] | None = None,
    file: File = None,
    title: str = "",
) -> Figure:
    """Humidity ratio over dry-bulb temperature, with lines of relative humidity, enthalpy, wet bulb and specific volume.

    result, states: a run, and where moist air is: ports of moist air (`"coil.a"`), or pairs of names, of a temperature and of a
        humidity ratio (`("room.T", "room.w")`). A line joins them in their order.
    at: the time of the run, or several; the last one unless given.
    trace: draw each state over the whole run instead.
    p: the pressure for which the lines hold, in Pa or as a text ("0.9 bar").
    T: lowest and highest temperature in K, or as texts ("-5 degC"); unless given, those of a room and what the states need.
    file: where the picture goes; without one it is shown.

    >>> import acausal as ac
    >>> figure = ac.psychrometric_diagram()
    >>> figure.axes[0].get_ylabel()
    'Humidity ratio (g/kg)'
    """
    import matplotlib

    path, p = canvas.checked_path(file), _pressure(p)
    shown = canvas.has_window(matplotlib) if file is None else False
    series = states_over_time(result, states)
    moments: list[Any] = list(at) if isinstance(at, (list, tuple, np.ndarray)) else [at]
    times = [] if result is None or trace else [instant(result, t) for t in moments]
    drawn = series if trace else np.stack([_at(result, series, t) for t in times]) if times else np.zeros((0, 0, 2))
    with matplotlib.rc_context(STYLE):
        figure = canvas.new_figure(SIZE, shown)
        axes = figure.subplots()
        _draw_lines(axes, *window(drawn, T), p)
        for k, name in enumerate(states if trace else ()):
            axes.plot(drawn[:, k, 0], drawn[:, k, 1], color=COLOURS[1 + k % 4], linewidth=1.0, label=_label(name))
        for k, time in enumerate(times):
            _draw_states(axes, drawn[k], states if k == 0 else (), COLOURS[1 + k % 4], moment(result, time))
        if len(times) > 1 or trace:
            axes.legend(loc="upper left")
        axes.set_title(title or (result.title if result is not None else f"Moist air at {p / 1e5:.3f} bar"), pad=16.0)
        canvas.saved(figure, path)
    if shown:
        canvas.show()
    return figure


# --- what is drawn ----------------------------------------------------------------------------------------------------
def states_over_time(result: Any, states: Sequence[Place]) -> np.ndarray:
    """Temperature in °C and humidity ratio in g/kg of all states over time: (times, states, 2)."""
    if result is None:
        return np.zeros((0, 0, 2))
    if not states or isinstance(states, str):
        raise UsageError(
            "No states of moist air are given that could be drawn.",
            remedy='Name ports of moist air, or pairs of temperature and humidity ratio: states=["coil.a", ("room.T", "room.w")].',
        )
    found = [_of_port(result, s) if isinstance(s, str) else _of_pair(result, s) for s in states]
    return np.stack([np.stack([T - ZERO, w / GRAM], axis=1) for T, w in found], axis=1)


def _of_pair(result: Any, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    if len(names) != 2:
        raise UsageError(f"A state is a port of moist air, or a pair of a temperature and a humidity ratio, not {names!r}.")
    T, w = names
    return np.asarray(result.in_unit(T, "K")), np.asarray(result.in_unit(w, "kg/kg"))


def _of_port(result: Any, port: str) -> tuple[np.ndarray, np.ndarray]:
    from ..media import moist_air

    try:
        flow = np.asarray(result[f"{port}.m_flow"])
        ways = [(result[f"{port}.h.{way}"], result[f"{port}.X.{way}"][:, 0]) for way in ("inflow", "outflow")]
    except AcausalError as missing:
        raise UsageError(
            f"`{port}` is no port of moist air.", remedy='Name its temperature and humidity ratio: ("room.T", "room.w").'
        ) from missing
    h, x = (np.where(flow > 0, a, b) for a, b in zip(*ways, strict=True))
    state = moist_air().state(p=np.asarray(result[f"{port}.p"]), h=h, X=[x])
    return np.asarray(state.T), np.asarray(state.w)


def _at(result: Any, series: np.ndarray, time: float) -> np.ndarray:
    return np.array([[np.interp(time, result.time, series[:, k, c]) for c in (0, 1)] for k in range(series.shape[1])])


def _draw_states(axes: Axes, points: np.ndarray, states: Sequence[Place], colour: str, label: str) -> None:
    axes.plot(points[:, 0], points[:, 1], "o-", color=colour, markersize=5, linewidth=2.0, label=label)
    canvas.labels(axes, together([_label(s) for s in states], points[:, 0], points[:, 1]))


def _label(state: Place) -> str:
    return state if isinstance(state, str) else state[0].rsplit(".", 1)[0]


def _pressure(given: Any) -> float:
    p = quantity(given, "Pa") if isinstance(given, str) else given
    if not (isinstance(p, int | float) and LEAST <= p <= MOST):
        raise UsageError(
            f"A psychrometric diagram holds for a pressure of {LEAST:g} to {MOST:g} Pa, got {given!r}.",
            remedy='Give `p="1 atm"` or `p=101325.0`.',
        )
    return float(p)


def _temperatures(T: Any) -> tuple[float, float]:
    from ..media import moist_air

    air, remedy = moist_air(), 'They are in K, or texts: T=("-10 degC", "40 degC").'
    ends = [quantity(t, "K") if isinstance(t, str) else t for t in T] if isinstance(T, tuple | list) else []
    if len(ends) != 2 or not all(isinstance(t, int | float) for t in ends):
        raise UsageError(f"`T` are the lowest and the highest temperature of a diagram in K, got {T!r}.", remedy=remedy)
    low, high = map(float, ends)
    if not low < high:
        raise UsageError(f"The temperatures of a diagram go from low to high, not from {low:g} to {high:g} K.", remedy=remedy)
    if not air.T_min - _ROUNDING <= low < high <= air.T_max + _ROUNDING:
        known = f"{air.T_min:g} to {air.T_max:g} K"
        raise UsageError(f"Moist air is known from {known}: no diagram goes from {low:g} to {high:g} K.", remedy=remedy)
    return max(low, air.T_min), min(high, air.T_max)


# --- the chart --------------------------------------------------------------------------------------------------------
def window(points: np.ndarray, T: Any) -> tuple[tuple[float, float], float]:
    """Temperatures in °C and the highest humidity ratio in g/kg: those of rooms, and what the states need with room around."""
    low, high, top = -10.0, 50.0, 30.0
    if points.size:
        low = min(low, 5 * np.floor(points[..., 0].min() / 5 - 0.2)) if points[..., 0].min() < 5 else 0.0
        high = max(40.0, 5 * np.ceil(points[..., 0].max() / 5 + 0.2))
        top = max(12.0, 2 * np.ceil(0.5 * 1.15 * points[..., 1].max()))
    if T is not None:
        low, high = (t - ZERO for t in _temperatures(T))
    return (float(low), float(high)), float(top)


def _draw_lines(axes: Axes, span: tuple[float, float], top: float, p: float) -> None:
    t, w = np.meshgrid(np.linspace(*span, 200), np.linspace(0.0, top, 120))
    saturated = _humidity(t[0], 1.0, p)
    inside = np.where(w <= saturated, 1.0, np.nan)
    axes.set(xlim=span, ylim=(0.0, top), xlabel="Dry-bulb temperature (°C)", ylabel="Humidity ratio (g/kg)")
    for values, form, levels, colour in _families(t, w, p):
        shown = axes.contour(t, w, values * inside, levels=levels, colors=colour, linewidths=0.6, linestyles="solid", alpha=0.8)
        axes.clabel(shown, fmt=lambda v, form=form: form.format(v), fontsize=6.5)
    _wet_bulbs(axes, span, top, p)
    last = np.inf
    for phi in np.arange(0.1, 0.95, 0.1):
        curve = _humidity(t[0], phi, p)
        axes.plot(t[0], curve, color=COLOURS[0], linewidth=0.6, alpha=0.8)
        last = _mark(axes, t[0], curve, top, f"{100 * phi:.0f} %", last)
    axes.plot(t[0], saturated, color="#222222", linewidth=1.5)


def _humidity(t: np.ndarray, phi: float, p: float) -> np.ndarray:
    """The humidity ratio in g/kg of air at t in °C; without a limit where water boils."""
    from ..media.moist_air import R_AIR, R_VAPOUR, saturation_pressure

    vapour = phi * np.asarray(saturation_pressure(t + ZERO))
    return np.where(vapour < p, R_AIR / R_VAPOUR * vapour / np.maximum(p - vapour, 1e-9) / GRAM, np.inf)


def isolines(span: tuple[float, float], top: float, p: float) -> Isolines:
    """The lines of the diagram as points, for whoever draws them elsewhere: relative humidity and enthalpy."""
    from contourpy import contour_generator

    t, w = np.meshgrid(np.linspace(*span, 160), np.linspace(0.0, top, 100))
    saturated = _humidity(t[0], 1.0, p)
    found = []
    for phi in np.arange(0.1, 0.95, 0.1):
        curve = _humidity(t[0], phi, p)
        inside = curve <= top
        found.append(Isoline("phi", f"{100 * phi:.0f} %", COLOURS[0], t[0][inside], curve[inside]))
    for values, form, levels, colour in _families(t, w, p):
        contours = contour_generator(t, w, np.ma.masked_invalid(values * np.where(w <= saturated, 1.0, np.nan)))
        for level in levels:
            lines = [np.asarray(line).T for line in contours.lines(level)]
            found += [Isoline("h", form.format(level), colour, line[0], line[1]) for line in lines if line.shape[1] > 3]
    inside = saturated <= top
    return Isolines((*span, 0.0, top), found, (t[0][inside], saturated[inside]))


def _families(t: np.ndarray, w: np.ndarray, p: float) -> Iterator[tuple[Any, str, Any, str]]:
    """Values on the grid, format of the label, levels and colour of each family of lines."""
    from ..media import moist_air

    state = moist_air().state(p=p, T=t + ZERO, w=w * GRAM, phase="any")
    yield state.h * (1 + w * GRAM) / KILO, "{:.0f} kJ/kg", np.arange(-20, 400, 10), COLOURS[2]
    yield state.v * (1 + w * GRAM), "{:.2f} m³/kg", np.arange(0.6, 1.6, 0.02), COLOURS[3]


def _wet_bulbs(axes: Axes, span: tuple[float, float], top: float, p: float) -> None:
    """Lines of adiabatic saturation: air at t takes up water of the wet-bulb temperature until it is saturated there."""
    from ..media import moist_air

    air = moist_air()
    for wet in 5 * np.arange(np.ceil(span[0] / 5), span[1] / 5):
        if _humidity(np.array([wet]), 1.0, p)[0] > _FAR * top:
            break
        t = np.linspace(wet, span[1], 40)
        end = air.state(p=p, T=wet + ZERO, phi=1.0)
        little = 0.5 * end.w  # of water: more of it would be ice in the coldest air
        dry, damp = (air.state(p=p, T=t + ZERO, w=w).h * (1 + w) for w in (0.0, little))
        w = (end.h * (1 + end.w) - end.w * WATER * wet - dry) / ((damp - dry) / little - WATER * wet)
        axes.plot(t, w / GRAM, color=GREY, linewidth=0.6, zorder=1.9)
        if wet > span[0] + 0.02 * (span[1] - span[0]):  # else it would stand among the numbers of the axis
            axes.annotate(f"{wet + 0.0:.0f} °C", (wet, end.w / GRAM), xytext=(-2, 2), textcoords="offset points", fontsize=6.5,
                          color="#666666", ha="right", va="bottom", annotation_clip=True)  # fmt: skip


def _mark(axes: Axes, t: np.ndarray, curve: np.ndarray, top: float, text: str, last: float) -> float:
    """The relative humidity outside, where its line leaves the picture, unless that of drier air stands there, at `last`."""
    form: dict[str, Any] = {"fontsize": 6.5, "color": COLOURS[0], "textcoords": "offset points", "annotation_clip": False}
    if curve[-1] < top:
        axes.annotate(text, (t[-1], curve[-1]), xytext=(3, 0), ha="left", va="center", **form)
        return last
    leaves = float(np.interp(top, curve, t))
    if last - leaves < _WIDE * (t[-1] - t[0]):
        return last
    axes.annotate(text, (leaves, top), xytext=(0, 2), ha="center", va="bottom", **form)
    return leaves
