"""Accounts of a circuit: the charge by component, work and heat, exergy and where it is destroyed, temperature differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked, refuse_other_than
from ..errors import UsageError
from ..language.units import quantity
from . import canvas
from .diagrams import File, instant, moment
from .parts import (
    HEAT_GIVEN,
    Part,
    all_parts,
    end_temperatures,
    flows,
    fluid_parts,
    heat_in,
    heat_of_side,
    one_fluid,
    total,
    work_in,
)  # fmt: skip
from .style import COLOURS, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ZERO = 273.15
RESTING = 1e-5  # of the heat: less work than that goes into no plant that runs
ALONG = 60  # points along an exchanger at which temperatures are compared


@dataclass(frozen=True, slots=True)
class Held:
    """How much of the medium is in a component."""

    name: str
    kind: str
    mass: float
    share: float


class Inventory(list[Held]):
    """What each component holds. Printed it is a table."""

    def __str__(self) -> str:
        wide = max([len(row.name) for row in self], default=4)
        rows = [f"{row.name:{wide}} {row.mass:10.4f} kg {row.share:7.1%}" for row in self]
        return "\n".join([*rows, f"{'all':{wide}} {self.mass:10.4f} kg"])

    @property
    def mass(self) -> float:
        """All of it, in kg."""
        return float(sum(row.mass for row in self))


def inventory(result: Any, medium: Any = None, *, at: Any = None) -> Inventory:
    """How much of a medium each component holds at a time (the last one unless given), the most first.

    Counted is the `charge` of components that have one, otherwise their mass `M`. `medium` may be left out where only one boils.

    >>> import acausal as ac
    >>> from acausal.library.refrigeration import ColdStore
    >>> held = ac.inventory(ac.compile(ColdStore()).simulate(until="10 min", points=11))
    >>> [row.name for row in held], round(held.mass, 6)
    (['receiver', 'condenser', 'evaporator'], 1.0)
    """
    refuse_other_than("a result", result)
    name, time = one_fluid(result, medium).name, instant(result, at)
    found = []
    for part in fluid_parts(result):
        quantity = next((q for q in ("charge", "M") if part.has(q, "kg")), None)
        if quantity is not None and part.passed_by(name):
            mass = float(np.interp(time, result.time, total(result, part.name(quantity))))
            found.append((part, mass))
    whole = sum(mass for _, mass in found) or 1.0
    rows = [Held(part.path, part.class_name, mass, mass / whole) for part, mass in found]
    return Inventory(sorted(rows, key=lambda row: -row.mass))


# --- work and heat ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Performance:
    """Mean work and heat of a circuit over a time, in W, and their ratios. Printed it is a table."""

    power: float
    heat_in: float
    heat_out: float
    by_part: dict[str, tuple[float, float]]  # power and heat into each component

    @property
    def cooling(self) -> float:
        """Heat taken up over work: the COP of a refrigerator; not a number where no work goes in."""
        return self.heat_in / self.power if self.works else float("nan")

    @property
    def heating(self) -> float:
        """Heat given over work: the COP of a heat pump; not a number where no work goes in."""
        return self.heat_out / self.power if self.works else float("nan")

    @property
    def works(self) -> bool:
        """Whether work goes in. What leaks through the valves of a machine at rest takes up microwatts, or gives some."""
        return self.power > RESTING * max(self.heat_in, self.heat_out)

    def __str__(self) -> str:
        wide = max([len(name) for name in self.by_part], default=4)
        rows = [f"{'':{wide}} {'work, W':>12} {'heat, W':>12}"]
        rows += [f"{name:{wide}} {_watts(power)} {_watts(heat)}" for name, (power, heat) in self.by_part.items()]
        balance = f"{'all':{wide}} {_watts(self.power)} {_watts(self.heat_in - self.heat_out)}"
        return "\n".join([*rows, balance, self._ratios()])

    def _ratios(self) -> str:
        if self.works:
            return f"COP {self.cooling:.3f} cooling, {self.heating:.3f} heating"
        gives = self.power < -RESTING * max(self.heat_in, self.heat_out)
        return f"no COP: {'the circuit gives work' if gives else 'no work goes in, it is at rest'}"


def _watts(value: float) -> str:
    return f"{round(value, 1) + 0.0:12.1f}"  # what leaks at rest is 0, not -0


def performance(result: Any, medium: Any = None, *, at: Any = None) -> Performance:
    """Work, heat and COP of a circuit: at a time (the last one unless given), or as a mean from one time to another.

    Work is the `P` of the components that the medium passes (less that of turbines, which give it), heat what comes in through
    their heat ports, with other media (the water of an exchanger), and by `Q_wall`: of moisture that condenses or freezes on a
    coil, and of the heater that defrosts it. What passes within an exchanger from the circuit to itself is not counted.
    """
    refuse_other_than("a result", result)
    name = one_fluid(result, medium).name
    of_cells = {part.path for part in all_parts(result) if part.sides and part.is_composite}
    sums: dict[str, tuple[float, float]] = {}
    for part in fluid_parts(result):
        if part.passed_by(name):
            path = next((whole for whole in of_cells if part.path.startswith(f"{whole}.")), part.path)
            power, heat = sums.get(path, (0.0, 0.0))
            power += _mean(result, work_in(result, part), at)
            sums[path] = power, heat + _mean(result, heat_in(result, part, name), at)
    found = {path: both for path, both in sums.items() if any(both)}
    heats = [heat for _, heat in found.values()]
    return Performance(
        sum(power for power, _ in found.values()), sum(h for h in heats if h > 0), -sum(h for h in heats if h < 0), found
    )


def _mean(result: Any, values: np.ndarray, at: Any) -> float:
    if not isinstance(at, tuple | list):
        return float(np.interp(instant(result, at), result.time, values))
    if len(at) != 2:
        raise UsageError(f"A mean is taken from a time to a later one, got {at!r}.", remedy='at=("1 h", "2 h")')
    begin, end = (instant(result, t) for t in at)
    if not begin < end:
        raise UsageError(f"A mean is taken from a time to a later one, not from {begin:g} to {moment(result, end)}.")
    inside = (result.time > begin) & (result.time < end)
    times = np.concatenate([[begin], result.time[inside], [end]])
    sampled = np.concatenate([[np.interp(begin, result.time, values)], values[inside], [np.interp(end, result.time, values)]])
    return float(np.trapezoid(sampled, times) / (end - begin))


# --- exergy -----------------------------------------------------------------------------------------------------------
class ExergyAccount:
    """Where the exergy that comes in as work goes: arrays over time, in W, for each component.

    `destroyed` is what a component destroys, ``sum(m·e) + sum((1 - T0/T)·Q) + P`` with the exergy ``e = h - h0 - T0·(s - s0)`` of
    what flows. Of components that hold fluid it contains what they store meanwhile: take a mean over whole cycles of the plant.
    `given` is the exergy that heat carries out of each component, at the temperature of its heat ports (that of the first one for
    what comes by `Q_wall`: of moisture that condenses or freezes, of a heater); what flows into a boundary; and what an exchanger
    hands to another medium: one that does not boil (brine, air) gets its heat at the logarithmic mean of its temperatures, and what
    its friction destroys is left out. Components that another medium passes of which no temperatures are known are in `unknown`:
    what they destroy cannot be told apart from what they hand over.
    """

    def __init__(self, result: Any, medium: Any, T0: float, p0: float) -> None:
        self.result, self.time, self.T0, self.p0 = result, np.asarray(result.time), T0, p0
        self.medium = one_fluid(result, medium)
        self.destroyed: dict[str, np.ndarray] = {}
        self.given: dict[str, np.ndarray] = {}
        self.power: dict[str, np.ndarray] = {}
        self.unknown: list[str] = []
        for part in fluid_parts(result):
            if part.passed_by(self.medium.name):
                self._account(part)

    def _account(self, part: Part) -> None:
        from ..media import fluid

        through, handed = self._carried(part, self.medium), np.zeros(len(self.time))
        for name, cls in dict.fromkeys(part.fluid_ports.values()):
            if name == self.medium.name:
                continue
            if cls == "Fluid":
                handed -= self._carried(part, fluid(name))
                continue
            numbers = [number for number in "12" if part.sides and part.fluid_ports[f"a{number}"][0] == name]
            if not numbers or not all(part.tells(number) for number in numbers):
                self.unknown.append(part.path)
                return
            for number in numbers:
                handed -= self._at_mean_temperature(part, number)
        for Q, port in self._heats(part):
            T = np.asarray(self.result[f"{part.name(port)}.T"]).reshape(len(self.time), -1)
            handed -= ((1 - self.T0 / T) * Q).sum(axis=1) / (1 if Q.shape == T.shape else T.shape[1])
        power = work_in(self.result, part)
        if part.is_boundary:
            if through.any():
                self.given[part.path] = through
            return
        self.destroyed[part.path] = through - handed + power
        if part.heat_ports or handed.any():
            self.given[part.path] = handed
        if part.has("P", "W"):
            self.power[part.path] = power

    def _heats(self, part: Part) -> Iterator[tuple[np.ndarray, str]]:
        """The heats that come into a component over time, each with the heat port at whose temperature it does so."""
        names = [(f"{port}.Q_flow", port) for port in part.heat_ports]
        names += [(name, part.heat_ports[0]) for name in HEAT_GIVEN if part.heat_ports and part.has(name, "W")]
        for name, port in names:
            yield np.asarray(self.result[part.name(name)]).reshape(len(self.time), -1), port

    def _at_mean_temperature(self, part: Part, number: str) -> np.ndarray:
        """The exergy of the heat that a fluid on one side of an exchanger gives it, ``(1 - T0·ds/dh)·Q`` of a constant capacity."""
        first, last = end_temperatures(self.result, part, number)
        apart = np.abs(last - first) > 1e-6
        entropy = np.where(apart, np.log(last / first) / np.where(apart, last - first, 1.0), 1 / first)
        return (1 - self.T0 * entropy) * heat_of_side(self.result, part, number)

    def _carried(self, part: Part, medium: Any) -> np.ndarray:
        """The exergy that the flows of a medium bring into a component."""
        dead, through = medium.state(p=self.p0, T=self.T0), np.zeros(len(self.time))
        for port in part.passed_by(medium.name).values():
            for p, h, m in flows(self.result, port):
                state = medium.state(p=p, h=h)
                through += m * (h - dead.h - self.T0 * (np.asarray(state.s) - dead.s))
        return through

    def mean(self, at: Any = None) -> dict[str, float]:
        """What each component destroys, in W: at a time, or as a mean from one time to another; the most first."""
        found = {name: _mean(self.result, values, at) for name, values in self.destroyed.items()}
        return dict(sorted(found.items(), key=lambda row: -abs(row[1])))

    def plot(self, *, at: Any = None, file: File = None, title: str = "") -> Figure:
        """Bars of what components destroy, at a time or as a mean from one time to another."""
        import matplotlib

        path, shown = canvas.checked_path(file), {k: v for k, v in self.mean(at).items() if abs(v) > 1e-3}
        with matplotlib.rc_context(STYLE):
            figure = canvas.new_figure((7.0, 1.2 + 0.35 * max(len(shown), 1)), False)
            axes = figure.subplots()
            axes.barh(list(shown)[::-1], list(shown.values())[::-1], color=COLOURS[0])
            axes.set_xlabel("Exergy destroyed (W)")
            axes.set_title(title or self.result.title)
            canvas.saved(figure, path)
        return figure


@checked
def exergy(result: Any, medium: Any = None, *, T0: float | str = 298.15, p0: float | str = 101325.0) -> ExergyAccount:
    """The exergy account of a circuit against surroundings of T0 and p0, in K and Pa or as texts; see `ExergyAccount`."""
    refuse_other_than("a result", result)
    return ExergyAccount(result, medium, _temperature_around(T0), _pressure_around(p0))


_COLD, _HOT = 150.0, 400.0  # K; surroundings are warmer and colder than that, anywhere on earth


def _temperature_around(T0: float | str) -> float:
    found = quantity(T0, "K") if isinstance(T0, str) else T0
    if not (isinstance(found, (int, float)) and _COLD <= found <= _HOT):
        celsius = isinstance(found, (int, float)) and not isinstance(T0, str) and _COLD <= found + 273.15 <= _HOT
        raise UsageError(
            f"T0 is the absolute temperature of the surroundings in K, got {T0!r}.",
            remedy=f'For {T0:g} °C give `T0="{T0:g} degC"`.' if celsius else 'Give `T0="20 degC"` or `T0=293.15`.',
        )
    return float(found)


def _pressure_around(p0: float | str) -> float:
    found = quantity(p0, "Pa") if isinstance(p0, str) else p0
    if not (isinstance(found, (int, float)) and 0 < found < float("inf")):
        raise UsageError(f"p0 is the pressure of the surroundings in Pa, got {p0!r}.", remedy='Give `p0="1 atm"` or `p0=101325.0`.')
    return float(found)


# --- temperature differences ------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Pinch:
    """An exchanger at an instant: its heat in W, smallest temperature difference in K, and the UA in W/K that it amounts to.

    `T_in` and `T_out` are those of the medium, `T_other` that of the other side, where it comes in.
    """

    name: str
    Q_flow: float
    difference: float
    UA: float
    T_in: float
    T_out: float
    T_other: float


class Pinches(list[Pinch]):
    """Exchangers, one a row. Printed it is a table. `unknown` are those with another fluid whose temperatures are not known."""

    def __init__(self) -> None:
        super().__init__()
        self.unknown: list[str] = []

    def __str__(self) -> str:
        wide = max([len(row.name) for row in self], default=4)
        rows = [f"{'':{wide}} {'heat, W':>10} {'pinch, K':>9} {'UA, W/K':>9} {'in, °C':>8} {'out, °C':>8} {'other, °C':>9}"]
        for row in self:
            T = f"{row.T_in - 273.15:8.2f} {row.T_out - 273.15:8.2f} {row.T_other - 273.15:9.2f}"
            rows.append(f"{row.name:{wide}} {row.Q_flow:10.1f} {row.difference:9.2f} {row.UA:9.1f} {T}")
        return "\n".join([*rows, *(f"{name}: {NOT_TOLD}" for name in self.unknown)])


NOT_TOLD = "its pinch is not told, as temperatures along its way are not known: cross flow, or a gas"


def pinches(result: Any, medium: Any = None, *, at: Any = None) -> Pinches:
    """All exchangers between a medium and one temperature (of air, of a room) or a second fluid: heat, pinch, effective UA.

    The medium is followed from inlet to outlet, pressure and enthalpy on straight lines: ``UA = sum(dQ/(T_other - T))``. So is the
    second fluid of an exchanger with the ports a1, b1, a2 and b2, the other way, or along with it where its `arrangement` is "co";
    of one that works within the circuit the first side is told. A fluid that does not boil (brine, air) is on a straight line
    between the temperatures at its ends.
    """
    refuse_other_than("a result", result)
    meant, time = one_fluid(result, medium), instant(result, at)
    found = Pinches()
    for part in all_parts(result):
        own = list(part.passed_by(meant.name).values())
        if part.sides and own:
            if part.way is None or not all(part.tells(number) for number in "12"):
                found.unknown.append(part.path)
            else:
                found += _between_two(result, meant, part, time)
        elif len(own) == 2 and part.at_one_temperature:
            found += _with_one_temperature(result, meant, part, own, time)
    return found


@dataclass(frozen=True, slots=True)
class _Side:
    """A fluid along an exchanger, from one port to the other: its temperatures, mass flow, and the heat that it takes up."""

    T: np.ndarray
    m_flow: float
    heat: float

    @property
    def ends(self) -> tuple[float, float]:
        """The temperatures with which it comes and leaves."""
        first, last = float(self.T[0]), float(self.T[-1])
        return (first, last) if self.m_flow > 0 else (last, first)


def _side(result: Any, medium: Any, ports: Sequence[str], time: float) -> _Side:
    (p1, h1, m1), (p2, h2, m2) = ([float(np.interp(time, result.time, v)) for v in flows(result, port)[0]] for port in ports)
    T = np.asarray(medium.state(p=np.linspace(p1, p2, ALONG), h=np.linspace(h1, h2, ALONG)).T)
    return _Side(T, m1, -(m1 * h1 + m2 * h2))


def _straight_side(result: Any, part: Part, number: str, time: float) -> _Side:
    """The side of a fluid that does not boil, by the temperatures at its ends."""
    first, last = (float(np.interp(time, result.time, T)) for T in end_temperatures(result, part, number))
    m_flow = float(np.interp(time, result.time, np.asarray(result[part.name(f"a{number}.m_flow")])))
    heat = float(np.interp(time, result.time, -heat_of_side(result, part, number)))
    return _Side(np.linspace(first, last, ALONG), m_flow, heat)


def _with_one_temperature(result: Any, medium: Any, part: Part, ports: Sequence[str], time: float) -> list[Pinch]:
    side = _side(result, medium, ports, time)
    T_other = float(np.interp(time, result.time, np.asarray(result[part.name(f"{part.heat_ports[0]}.T")])))
    Q = float(np.interp(time, result.time, heat_in(result, part, medium.name)))
    return _compared(part, Q, side, np.full(ALONG, T_other), T_other)


def _between_two(result: Any, medium: Any, part: Part, time: float) -> list[Pinch]:
    from ..media import fluid

    sides = []
    for number in "12":
        (name, cls), ports = part.fluid_ports[f"a{number}"], [part.name(f"{end}{number}") for end in "ab"]
        if cls == "Fluid":
            side = _side(result, medium if name == medium.name else fluid(name), ports, time)
        else:
            side = _straight_side(result, part, number, time)
        sides.append((name == medium.name, side))
    (_, own), (_, other) = sides if sides[0][0] else sides[::-1]
    facing = other.T[::-1] if part.way == "counter" else other.T
    return _compared(part, own.heat, own, facing, other.ends[0]) if other.m_flow else []


def _compared(part: Part, Q: float, own: _Side, other: np.ndarray, T_other: float) -> list[Pinch]:
    """A row, unless next to nothing passes."""
    if own.m_flow == 0 or abs(Q) < 1e-3:
        return []
    apart = (other - own.T) * (1.0 if Q > 0 else -1.0)
    middle = np.maximum((apart[1:] + apart[:-1]) / 2, 1e-6)
    UA = abs(Q) / (ALONG - 1) * float(np.sum(1 / middle)) if apart.min() > 0 else float("nan")
    return [Pinch(part.path, Q, float(apart.min()), UA, *own.ends, T_other)]
