"""Diagrams of thermodynamics: log p-h and T-s with isolines, a cycle on them at an instant or over time, and its table of
states.

A cycle is a list of ports in the order in which the medium passes them: `["compressor.a", "compressor.b", "condenser.b",
"valve.b"]`. Without one, every part that the medium passes is a line from the state at one of its ports to that at the other.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arguments import checked, refuse_other_than
from ..errors import UsageError
from ..program.catalogue import described
from ..records import dataclass
from ..runtime.storage import seconds
from . import canvas
from .circuits import Circuit, circuits_of
from .parts import checked_ports
from .style import COLOURS, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..media.fluid import Fluid
    from .result import Result

BAR, KILO, ZERO = 1e5, 1e3, 273.15
GRID = 260  # points of the grid on which isolines are found, each way
BETWEEN = 400  # points drawn from one state of a cycle to the next: so many that corners at saturation are seen as such
SIZE = (8.0, 5.6)  # inch
File = str | os.PathLike[str] | None


@dataclass(frozen=True, slots=True)
class StatePoint:
    """The medium at a port at an instant: what passes there, or would leave."""

    name: str
    p: float
    h: float
    T: float
    s: float
    rho: float
    x: float
    m_flow: float


@dataclass(frozen=True, slots=True)
class Isoline:
    """Places of one value: `family` is its letter, `label` what is written at it."""

    family: str
    label: str
    colour: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, slots=True)
class Isolines:
    """A chart without a cycle: its window (left, right, bottom, top), its lines, and where the two phases end."""

    window: tuple[float, float, float, float]
    lines: list[Isoline]
    saturated: tuple[np.ndarray, np.ndarray]


class StatePoints(list[StatePoint]):
    """States in a row. Printed it is a table in bar, °C and kJ; `to_pandas` gives it in SI units."""

    def __str__(self) -> str:
        wide = max([len(point.name) for point in self], default=0)
        head = f"{'':{wide}}   p, bar     T, °C  h, kJ/kg  s, kJ/(kg K)  rho, kg/m³       x  m_flow, g/s"
        return "\n".join([head, *(_row(point, wide) for point in self)])

    def to_pandas(self) -> Any:
        """A pandas table with a row for each port."""
        from .tabular import optional_module

        names = [n for n in StatePoint.__dataclass_fields__ if n != "name"]
        columns = {n: [getattr(point, n) for point in self] for n in names}
        return optional_module("pandas", "a table of states").DataFrame(columns, index=[point.name for point in self])


def _row(point: StatePoint, wide: int) -> str:
    quality = f"{point.x:8.3f}" if 0 <= point.x <= 1 else f"{'–':>8}"
    return (
        f"{point.name:{wide}} {point.p / BAR:8.3f} {point.T - ZERO:9.2f} {point.h / KILO:9.2f} {point.s / KILO:13.4f} "
        f"{point.rho:11.3f} {quality} {round(point.m_flow * 1e3, 3) + 0.0:12.3f}"
    )


@checked
def state_points(result: Any, ports: Sequence[str] = (), medium: Fluid | str | None = None, at: float | None = None) -> StatePoints:
    """The states at some ports at a time (the last one unless given), in the order given; of all that the medium passes by default.

    >>> import acausal as ac
    >>> from acausal.library import fluid
    >>> class Line(ac.Component):
    ...     def __init__(self):
    ...         self.source, self.hole = fluid.PressureBoundary(p=8e5, h=2.4e5), fluid.Orifice(medium="R134a")
    ...         self.sink = fluid.PressureBoundary(p=2e5)
    ...     def connections(self):
    ...         yield self.source.port, self.hole.a
    ...         yield self.hole.b, self.sink.port
    >>> print(ac.state_points(ac.compile(Line()).simulate(until=1.0), ["hole.a", "hole.b"], "R134a"))
              p, bar     T, °C  h, kJ/kg  s, kJ/(kg K)  rho, kg/m³       x  m_flow, g/s
    hole.a    8.000     28.81    240.00        1.1377    1192.482        –       24.588
    hole.b    2.000    -10.08    240.00        1.1533      37.811    0.259      -24.588
    """
    refuse_other_than("a result", result)
    fluid, time = of_run(result if medium is None else medium, result)[0], instant(result, at)
    found = StatePoints()
    for port in checked_ports(result, fluid.name, ports) or circuit_of(result, fluid.name).ports:
        p, h, flow = (float(np.interp(time, result.time, v)) for v in passing(result, port))
        state = fluid.state(p=p, h=h)
        found.append(StatePoint(port, p, h, state.T, state.s, state.rho, float(state.x), flow))
    return found


@checked
def ph_diagram(
    medium: Fluid | str | Result,
    result: Any = None,
    cycle: Sequence[str] = (),
    *,
    at: float | Sequence[float] | None = None,
    file: File = None,
    title: str = "",
) -> Figure:
    """Pressure, logarithmically, over enthalpy, with lines of equal temperature, entropy, density and quality.

    medium: a fluid or its name; or the run itself, `ac.ph_diagram(result)`, where it has one fluid with liquid and vapour.
    result, cycle: a run and the ports that the medium passes, in their order; the line through them is closed. Without ports all
        parts that it passes are drawn.
    at: the time of the run, or several; the last one unless given.
    file: where the picture goes; without one it is shown.

    >>> import acausal as ac
    >>> figure = ac.ph_diagram("R134a")
    >>> figure.axes[0].get_ylabel()
    'Pressure (bar)'
    """
    fluid, run = of_run(medium, result)
    return _diagram(PressureEnthalpy(fluid), run, cycle, at, file, title)


@checked
def ts_diagram(
    medium: Fluid | str | Result,
    result: Any = None,
    cycle: Sequence[str] = (),
    *,
    at: float | Sequence[float] | None = None,
    file: File = None,
    title: str = "",
) -> Figure:
    """Temperature over entropy, with lines of equal pressure, enthalpy and quality. Arguments as those of `ph_diagram`.

    >>> import acausal as ac
    >>> ac.ts_diagram("R134a").axes[0].get_ylabel()
    'Temperature (°C)'
    """
    fluid, run = of_run(medium, result)
    return _diagram(TemperatureEntropy(fluid), run, cycle, at, file, title)


# --- charts -----------------------------------------------------------------------------------------------------------
class Chart(ABC):
    """A diagram of one fluid: where a state stands on it, and its isolines."""

    meanings: ClassVar[dict[str, str]]  # of the families of isolines, as they are told below the diagram

    def __init__(self, fluid: Fluid) -> None:
        self.fluid = fluid

    @abstractmethod
    def place(self, p: Any, h: Any) -> tuple[Any, Any]:
        """Where states stand: abscissa and ordinate."""

    @abstractmethod
    def lines(self) -> Iterator[tuple[str, str, Any, str]]:
        """Name, format of the label, levels and colour of each family of isolines."""

    @abstractmethod
    def label(self, axes: Axes) -> None:
        """Names of the axes, and their scales."""

    def closed(self, p: np.ndarray, h: np.ndarray) -> tuple[Any, Any]:
        """The line through states and back to the first, straight in ln p and h between them."""
        share = np.arange(BETWEEN) / BETWEEN
        logs, around = np.log(p), np.arange(len(p)) + 1
        along = [v[:, None] + share * (v[around % len(v)] - v)[:, None] for v in (logs, h)]
        return self.place(np.append(np.exp(along[0].ravel()), p[0]), np.append(along[1].ravel(), h[0]))

    def along(self, p: np.ndarray, h: np.ndarray, legs: Sequence[tuple[int, int]]) -> tuple[Any, Any]:
        """The lines from one state to another, with a gap between two of them."""
        share, (a, b), logs = np.linspace(0.0, 1.0, BETWEEN), np.array(legs, dtype=int).T, np.log(p)
        x, y = self.place(np.exp(logs[a, None] + share * (logs[b] - logs[a])[:, None]), h[a, None] + share * (h[b] - h[a])[:, None])
        gap = np.full((len(legs), 1), np.nan)
        return np.hstack([x, gap]).ravel(), np.hstack([y, gap]).ravel()

    def isolines(self, p: np.ndarray, h: np.ndarray) -> Isolines:
        """All lines as points, for whoever draws them elsewhere."""
        from contourpy import contour_generator
        from matplotlib.ticker import MaxNLocator

        pressures, (left, right) = self._window(p, h)
        grid_p, grid_h = np.meshgrid(np.geomspace(pressures[0], pressures[1], GRID // 2), np.linspace(left, right, GRID // 2))
        values, (x, y) = self._grid(grid_p, grid_h), self.place(grid_p, grid_h)
        found = []
        for name, form, levels, colour in self.lines():
            masked = np.ma.masked_invalid(values[name])
            at = MaxNLocator(levels + 1).tick_values(masked.min(), masked.max()) if isinstance(levels, int) else levels
            contours = contour_generator(x, y, masked)
            for level in at:
                lines = [np.asarray(line).T for line in contours.lines(level)]
                found += [Isoline(name, form.format(level), colour, line[0], line[1]) for line in lines if line.shape[1] > 3]
        return Isolines(self.limits(x, y, p, h, pressures), found, self.saturated(pressures))

    def draw(self, axes: Axes, p: np.ndarray, h: np.ndarray) -> None:
        pressures, (left, right) = self._window(p, h)
        grid_p, grid_h = np.meshgrid(np.geomspace(pressures[0], pressures[1], GRID), np.linspace(left, right, GRID))
        values = self._grid(grid_p, grid_h)
        x, y = self.place(grid_p, grid_h)
        self.label(axes)  # before the isolines: their labels are as wide as they are on these axes
        left, right, bottom, top = self.limits(x, y, p, h, pressures)
        axes.set_xlim(left, right)
        axes.set_ylim(bottom, top)
        for name, form, levels, colour in self.lines():
            drawn = axes.contour(x, y, values[name], levels=levels, colors=colour, linewidths=0.6, linestyles="solid", alpha=0.8)
            axes.clabel(drawn, fmt=lambda v, form=form: form.format(v), fontsize=6.5)
        axes.plot(*self.saturated(pressures), color="#222222", linewidth=1.5)
        self._explain(axes)

    def _explain(self, axes: Axes) -> None:
        """What the colours of the isolines are, beside the name of the lower axis."""
        from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea

        texts: list[Any] = [
            TextArea(self.meanings[name], textprops={"color": colour, "fontsize": 7}) for name, _, _, colour in self.lines()
        ]
        row = HPacker(children=texts, sep=8, pad=0)
        place: dict[str, Any] = {"bbox_to_anchor": (1.0, -0.085), "bbox_transform": axes.transAxes}
        axes.add_artist(AnchoredOffsetbox("center right", child=row, pad=0, borderpad=0, frameon=False, **place))

    def limits(
        self, x: np.ndarray, y: np.ndarray, p: np.ndarray, h: np.ndarray, pressures: tuple[float, float]
    ) -> tuple[float, float, float, float]:
        """What is shown of a grid: left, right, bottom, top."""
        return float(np.nanmin(x)), float(np.nanmax(x)), float(np.nanmin(y)), float(np.nanmax(y))

    def _window(self, p: np.ndarray, h: np.ndarray) -> tuple[tuple[float, float], tuple[float, float]]:
        """The part of the table that is drawn: all that an engineer looks at, and the cycle with room around it."""
        fluid = self.fluid
        low, high = 0.02 * fluid.p_critical, 1.5 * fluid.p_critical
        if len(p):
            low, high = min(low, 0.6 * float(np.min(p))), max(high, 1.4 * float(np.max(p)))
        low, high = max(low, fluid.p_min), min(high, fluid.p_max)
        ends = fluid.saturation(p=np.array([low, 0.7 * fluid.p_critical]))
        wide = float(ends.vapour.h[0] - ends.liquid.h[0])
        left, right = float(ends.liquid.h[0]) - 0.2 * wide, float(np.max(ends.vapour.h)) + 0.6 * wide
        if len(h):
            left, right = min(left, float(np.min(h)) - 0.1 * wide), max(right, float(np.max(h)) + 0.1 * wide)
        return (low, high), (max(left, fluid.h_min), right)

    def _grid(self, p: np.ndarray, h: np.ndarray) -> dict[str, np.ndarray]:
        found = self.fluid.function("state").evaluate(p, h, np.full_like(p, 2.0))
        T, rho, s = found[..., 0], found[..., 1], found[..., 2]
        T = np.where((T < self.fluid.T_min) | (T > self.fluid.T_max), np.nan, T)
        ends = self.fluid.saturation(p=np.minimum(p, 0.9999 * self.fluid.p_critical))
        x = (h - ends.liquid.h) / (ends.vapour.h - ends.liquid.h)
        inside = (x >= 0) & (x <= 1) & (p < 0.999 * self.fluid.p_critical)
        values = {"T": T - ZERO, "s": s / KILO, "rho": rho, "h": h / KILO, "p": p / BAR}
        return {k: np.where(np.isnan(T), np.nan, v) for k, v in values.items()} | {"x": np.where(inside, x, np.nan)}

    def saturated(self, pressures: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
        """Boiling liquid and condensing vapour: one line over the critical point."""
        p = np.exp(np.linspace(np.log(pressures[0]), np.log(0.99999 * self.fluid.p_critical), 400))
        ends = self.fluid.saturation(p=p)
        left, right = self.place(p, ends.liquid.h), self.place(p, ends.vapour.h)
        x, y = (np.concatenate([a, b[::-1]]) for a, b in zip(left, right, strict=True))
        return x, y


class PressureEnthalpy(Chart):
    meanings: ClassVar = {"T": "T", "s": "s in kJ/(kg K)", "rho": "ρ in kg/m³", "x": "x"}

    def place(self, p: Any, h: Any) -> tuple[Any, Any]:
        return h / KILO, p / BAR

    def lines(self) -> Iterator[tuple[str, str, Any, str]]:
        span = (np.ceil((self.fluid.T_min - ZERO) / 20) * 20, self.fluid.T_max - ZERO)
        step = 20 if span[1] - span[0] < 500 else 50
        yield "T", "{:.0f} °C", np.arange(*span, step), COLOURS[0]
        yield "s", "{:.2f}", 18, COLOURS[2]
        yield "rho", "{:g}", np.sort(np.outer([1, 2, 5], 10.0 ** np.arange(-2, 4)).ravel()), COLOURS[3]
        yield "x", "{:.1f}", np.arange(0.1, 0.95, 0.1), "#999999"

    def label(self, axes: Axes) -> None:
        from matplotlib.ticker import FuncFormatter

        axes.set_yscale("log")
        for axis in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            axis(FuncFormatter(lambda v, _: f"{v:g}" if f"{v:e}"[0] in "125" else ""))
        axes.set_xlabel("Specific enthalpy (kJ/kg)")
        axes.set_ylabel("Pressure (bar)")


class TemperatureEntropy(Chart):
    meanings: ClassVar = {"p": "p", "h": "h in kJ/kg", "x": "x"}

    def place(self, p: Any, h: Any) -> tuple[Any, Any]:
        found = self.fluid.function("state").evaluate(np.asarray(p), np.asarray(h), np.full_like(np.asarray(p), 2.0))
        return found[..., 2] / KILO, found[..., 0] - ZERO

    def lines(self) -> Iterator[tuple[str, str, Any, str]]:
        yield "p", "{:g} bar", np.sort(np.outer([1, 2, 5], 10.0 ** np.arange(-3, 4)).ravel()), COLOURS[0]
        yield "h", "{:.0f}", 16, COLOURS[2]
        yield "x", "{:.1f}", np.arange(0.1, 0.95, 0.1), "#999999"

    def limits(
        self, x: np.ndarray, y: np.ndarray, p: np.ndarray, h: np.ndarray, pressures: tuple[float, float]
    ) -> tuple[float, float, float, float]:
        """Not the liquid below the lowest pressure: all of it lies on one line, far down."""
        _, right, lowest, top = super().limits(x, y, p, h, pressures)
        coldest = min([float(self.fluid.saturation(p=pressures[0]).T) - ZERO, *np.ravel(self.place(p, h)[1])])
        bottom = max(lowest, coldest - 0.03 * (top - coldest))
        with np.errstate(invalid="ignore"):
            return float(np.nanmin(np.where(y >= bottom, x, np.nan))), right, bottom, top

    def label(self, axes: Axes) -> None:
        axes.set_xlabel("Specific entropy (kJ/(kg K))")
        axes.set_ylabel("Temperature (°C)")


def _diagram(chart: Chart, result: Any, cycle: Sequence[str], at: Any, file: File, title: str) -> Figure:
    import matplotlib

    path = canvas.checked_path(file)
    window = canvas.has_window(matplotlib) if file is None else False
    route = None if result is None else Route(result, chart.fluid.name, cycle)
    times = [] if result is None else [instant(result, t) for t in (at if isinstance(at, (list, tuple, np.ndarray)) else [at])]
    states = [] if route is None else [route.at(t) for t in times]
    with matplotlib.rc_context(STYLE):
        figure = canvas.new_figure(SIZE, window)
        axes = figure.subplots()
        chart.draw(axes, *(np.concatenate([s[k] for s in states]) if states else np.zeros(0) for k in (0, 1)))
        for number, (time, state) in enumerate(zip(times, states, strict=True)):
            _draw_cycle(axes, chart, route, state, number, moment(result, time))
        axes.set_title(title or (f"{result.title}: {chart.fluid.name}" if result is not None else chart.fluid.name))
        if len(times) > 1:
            axes.legend()
        canvas.saved(figure, path)
    if window:
        canvas.show()
    return figure


def _draw_cycle(axes: Axes, chart: Chart, route: Any, state: Any, number: int, label: str) -> None:
    """The lines and states at one of several times; the first has the names of the ports."""
    colour, (x, y) = COLOURS[1 + number % 4], chart.place(*state)
    axes.plot(*route.line(chart, state), color=colour, linewidth=2.0, label=label)
    axes.plot(x, y, "o", color=colour, markersize=5)
    if number == 0:
        canvas.labels(axes, together(route.ports, x, y))


def together(cycle: Sequence[str], x: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, float, float]]:
    """Names of points; those that stand at one place share a label."""
    left, near = list(range(len(cycle))), [0.03 * max(float(np.ptp(v)), 1e-9) for v in (x, y)]
    while left:
        k = left[0]
        here = [i for i in left if abs(x[i] - x[k]) < near[0] and abs(y[i] - y[k]) < near[1]]
        yield ", ".join(cycle[i] for i in here), float(x[k]), float(y[k])
        left = [i for i in left if i not in here]


# --- values of a run --------------------------------------------------------------------------------------------------
def of_run(medium: Any, result: Any) -> tuple[Any, Any]:
    """The fluid and the run of a diagram; a run alone says its fluid."""
    if not hasattr(medium, "time"):
        return drawable(medium), result
    if result is not None and result is not medium:
        raise UsageError(f"A run alone says its fluid; no second one follows, but {result!r}.", remedy="The ports are `cycle=…`.")
    _check_knows_parts(medium)
    fluids = [c.medium for c in circuits_of(described(medium.program.system, "", medium._stored.known)) if "ph" in c.charts]
    if len(fluids) != 1:
        has = f"{' and '.join(fluids)} flow" if fluids else "no fluid with liquid and vapour flows"
        raise UsageError(
            f"A diagram is of one fluid: in {medium.title} {has}.",
            remedy=f'Say which: `ac.ph_diagram("{fluids[0] if fluids else "R134a"}", result)`.',
        )
    return drawable(fluids[0]), medium


def _check_knows_parts(result: Any) -> None:
    if not hasattr(result, "program"):
        raise UsageError(
            f"{result!r} has values, but not the parts that a fluid passes: the result of a run has.",
            remedy='Name the fluid and its ports: `ac.ph_diagram("R134a", result, ["compressor.a", "compressor.b"])`.',
        )


def circuit_of(result: Any, medium: str) -> Circuit:
    """All parts of a plant that a medium passes."""
    _check_knows_parts(result)
    found = {c.medium: c for c in circuits_of(described(result.program.system, "", result._stored.known))}
    if medium not in found:
        here = f"there flow {', '.join(found)}" if found else "no fluid flows there"
        raise UsageError(f"No {medium} flows in {result.title}: {here}.")
    return found[medium]


def drawable(medium: Fluid | str) -> Any:
    from ..media import fluid

    found = fluid(medium) if isinstance(medium, str) else medium
    if not hasattr(found, "p_critical"):
        raise UsageError(f"A diagram is drawn of a fluid with liquid and vapour, not of {getattr(medium, 'name', medium)!r}.")
    return found


def passing(result: Any, port: str) -> tuple[Any, Any, Any]:
    flow = np.asarray(result[f"{port}.m_flow"])
    h = np.where(flow > 0, result[f"{port}.h.inflow"], result[f"{port}.h.outflow"])
    return np.asarray(result[f"{port}.p"]), h, flow


class Route:
    """The ports whose states are drawn, and the lines between them: round the cycle given, or along every part of the circuit."""

    def __init__(self, result: Any, medium: str, cycle: Sequence[str] = ()) -> None:
        self.ports = checked_ports(result, medium, cycle)
        self.legs: list[tuple[int, int]] | None = None
        if not cycle:
            circuit = circuit_of(result, medium)
            self.ports, self.legs = circuit.ports, [(leg.a, leg.b) for leg in circuit.legs]
        found = [passing(result, port) for port in self.ports]
        if not found:
            raise UsageError(f"{medium} flows in {result.title}, but through no part with a port of its own that could be drawn.")
        self.time = result.time
        self.p, self.h = (np.stack([values[k] for values in found], axis=1) for k in (0, 1))

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Pressures and enthalpies at a time."""
        p, h = (np.array([np.interp(time, self.time, column) for column in v.T]) for v in (self.p, self.h))
        return p, h

    def line(self, chart: Chart, state: tuple[np.ndarray, np.ndarray]) -> tuple[Any, Any]:
        """Where the lines through some states go on a chart."""
        return chart.closed(*state) if self.legs is None else chart.along(*state, self.legs)


def moment(result: Any, time: float, form: str = "g") -> str:
    """A time of a run as it is said: `120 s`, or `3 m` where it is a height."""
    return f"{time:{form}} {result.unit('time') or 's'}"


def instant(result: Any, at: Any) -> float:
    """A time of a run: the last one unless given, as a number in the run's unit or as a text with a unit ("2 h")."""
    first, last = float(result.time[0]), float(result.time[-1])
    if at is None:
        return last
    at = seconds(at, "at", result.unit("time") or "s")
    if not first <= at <= last:
        raise UsageError(
            f"The run goes from {first:g} to {moment(result, last)}: there is nothing to draw at {moment(result, at)}."
        )
    return float(at)
