"""Charts of media, with what flows through the plant on them: isolines once, the paths of the parts over time."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UsageError
from ..results import psychrometric
from ..results.circuits import Circuit, Leg
from ..results.diagrams import ZERO, Isolines, PressureEnthalpy, TemperatureEntropy, drawable, passing
from .protocol import Chart, ChartLine

_BETWEEN = 12  # points from one end of a leg to the other where it is curved
_TIMES = 400

KINDS = {"ph": (PressureEnthalpy, "h (kJ/kg)", "p (bar)"), "Ts": (TemperatureEntropy, "s (kJ/(kg K))", "T (°C)")}
ATMOSPHERE = 101325.0  # Pa, for the lines of moist air
COLUMNS = ("p", "T", "h", "s", "x", "m_flow")


# --- a chart -----------------------------------------------------------------------------------------------------------------


def chart(result: Any, circuit: Circuit, kind: str) -> tuple[Chart, dict[str, np.ndarray]]:
    """What the page draws: the chart with its labels, and numbers by name (`path x` and `path y` are leg by leg, time by time)."""
    if kind not in circuit.charts:
        raise UsageError(f"There is no chart {kind!r} of {circuit.medium}.", remedy=f"Ask for {' or '.join(circuit.charts)}.")
    if kind == "Tw":
        return _moist_air(result, circuit)
    fluid = drawable(circuit.medium)
    made, x_label, y_label = KINDS[kind]
    drawn = made(fluid)
    rows = _some(len(result.time))
    p, h, flow = _states(result, circuit.ports, rows)
    lines = isolines(circuit.medium, kind, _window(p, h))
    x, y = _paths(drawn, p, h, circuit.legs, curved=kind != "ph")
    along = lines.lines
    told = _told(circuit, kind, (x_label, y_label), lines, x.shape[1], COLUMNS)
    numbers = {
        "times": np.asarray(result.time)[rows],
        "line x": np.concatenate([line.x for line in along]),
        "line y": np.concatenate([line.y for line in along]),
        "dome x": lines.saturated[0],
        "dome y": lines.saturated[1],
        "path x": x,
        "path y": y,
        "table": _table(fluid, p, h, flow),
    }
    return told, {name: np.ascontiguousarray(values, dtype="<f8").ravel() for name, values in numbers.items()}


def _told(circuit: Circuit, kind: str, labels: tuple[str, str], lines: Isolines, between: int, columns: Sequence[str]) -> Chart:
    ends = np.cumsum([0, *(len(line.x) for line in lines.lines)]).tolist()
    places = zip(lines.lines, ends[:-1], ends[1:], strict=True)
    about = [ChartLine(line.family, line.label, line.colour, a, b) for line, a, b in places]
    window = [float(v) for v in lines.window]
    return Chart(circuit.medium, kind, *labels, kind == "ph", window, about, circuit.ports, circuit.legs, between, list(columns))


def _moist_air(result: Any, circuit: Circuit) -> tuple[Chart, dict[str, np.ndarray]]:
    """Humidity ratio over temperature; between its ports a part is a straight line."""
    rows = _some(len(result.time))
    states = psychrometric.states_over_time(result, circuit.ports)[rows].transpose(1, 2, 0)  # port, (T in °C, w in g/kg), time
    lines = psychrometric.isolines(*psychrometric.window(states.transpose(2, 0, 1), None), ATMOSPHERE)
    flow = np.stack([np.asarray(result[f"{port}.m_flow"])[rows] for port in circuit.ports])
    a, b = (np.array([getattr(leg, end) for leg in circuit.legs], dtype=int) for end in ("a", "b"))
    paths = np.stack([states[a], states[b]], axis=1)  # leg, end, coordinate, time
    numbers = {
        "times": np.asarray(result.time)[rows],
        "line x": np.concatenate([line.x for line in lines.lines]),
        "line y": np.concatenate([line.y for line in lines.lines]),
        "dome x": lines.saturated[0],
        "dome y": lines.saturated[1],
        "path x": paths[:, :, 0],
        "path y": paths[:, :, 1],
        "table": np.stack([states[:, 0] + ZERO, states[:, 1], flow], axis=1),
    }
    told = _told(circuit, "Tw", ("T (°C)", "w (g/kg)"), lines, 2, ("T", "w", "m_flow"))
    return told, {name: np.ascontiguousarray(values, dtype="<f8").ravel() for name, values in numbers.items()}


def _some(total: int) -> np.ndarray:
    return np.unique(np.linspace(0, total - 1, min(_TIMES, total)).round().astype(int))


def _states(result: Any, ports: Sequence[str], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pressure, enthalpy and flow at each port, port by port."""
    found = [[np.asarray(v)[rows] for v in passing(result, port)] for port in ports]
    p, h, flow = (np.array([states[k] for states in found]) for k in range(3))
    return p, h, flow


def _window(p: np.ndarray, h: np.ndarray) -> tuple[float, float, float, float]:
    """Rounded, so that the lines of one run serve the next one."""
    low, high = np.floor(8 * np.log10(p.min())) / 8, np.ceil(8 * np.log10(p.max())) / 8
    return float(10**low), float(10**high), float(np.floor(h.min() / 2e4) * 2e4), float(np.ceil(h.max() / 2e4) * 2e4)


@functools.lru_cache(8)
def isolines(medium: str, kind: str, window: tuple[float, float, float, float]) -> Any:
    """The lines of a chart that shows at least this window of pressures and enthalpies."""
    return KINDS[kind][0](drawable(medium)).isolines(np.array(window[:2]), np.array(window[2:]))


def _paths(drawn: Any, p: np.ndarray, h: np.ndarray, legs: Sequence[Leg], *, curved: bool) -> tuple[np.ndarray, np.ndarray]:
    """Points of all legs: (leg, point, time). Between its ends a leg is straight in ln p and h."""
    a, b = np.array([leg.a for leg in legs], dtype=int), np.array([leg.b for leg in legs], dtype=int)
    share = np.linspace(0.0, 1.0, _BETWEEN if curved else 2)[None, :, None]
    logs = np.log(p)
    along_p = np.exp(logs[a][:, None] + share * (logs[b] - logs[a])[:, None])
    x, y = drawn.place(along_p, h[a][:, None] + share * (h[b] - h[a])[:, None])
    return np.asarray(x), np.asarray(y)


def _table(fluid: Any, p: np.ndarray, h: np.ndarray, flow: np.ndarray) -> np.ndarray:
    """What stands beside the chart: (port, column, time); quality is no number outside the two phases."""
    found = fluid.function("state").evaluate(p, h, np.full_like(p, 2.0))
    ends = fluid.saturation(p=np.minimum(p, 0.9999 * fluid.p_critical))
    x = (h - ends.liquid.h) / (ends.vapour.h - ends.liquid.h)
    x = np.where((x >= 0) & (x <= 1) & (p < fluid.p_critical), x, np.nan)
    return np.stack([p, found[..., 0], h, found[..., 2], x, flow], axis=1)
