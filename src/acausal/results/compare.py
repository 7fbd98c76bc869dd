"""Two runs compared variable by variable: `ac.compare(before, after)`.

Each variable of `a` is compared with the same one of `b` at all times of both; with measurements, at their times, since nothing is
known of what was between them. A curve that jumps at an event a little earlier in
one run than in the other is not called different for that: what `b` does within `time_tolerance` of a time counts as its value
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from ..readable import count
from ..records import dataclass
from ..runtime.storage import seconds
from . import series
from .between import extremes
from .events import Meaning
from .series import Array, Trajectories, Unit
from .tabular import optional_module
from .viewable import Viewable
from .views import sampled

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

SHOWN = 12


def _percent(share: float) -> str:
    """Two digits, as one says them: 3.9 %, 100 %."""
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one variable of two runs is apart, in `unit`."""

    name: str
    unit: str
    largest: float  # beyond the tolerance in time
    at: float  # the time of the largest difference, in the unit of the runs' time
    rms: float  # root of the mean square over time
    size: float  # what it is measured by: how far the variable moves, or its own size if it does not
    agrees: bool
    time_unit: str = "s"

    @property
    def relative(self) -> float:
        """The largest difference over the variable's size."""
        return self.largest / self.size if self.size else float(self.largest > 0) * np.inf if self.largest else 0.0

    def __str__(self) -> str:
        sign = "≈" if self.agrees else "≠"
        return f"{sign} {self.name}: {self.largest:.3g} {self.unit} at {self.at:.6g} {self.time_unit} ({_percent(self.relative)})"


@final
class Comparison:
    """What `ac.compare` found: `print(it)`, `it["room.T"].largest`, `it.different`, `it.plot("room.T")`; true if all agree."""

    def __init__(
        self, a: Trajectories, b: Trajectories, found: Mapping[str, Difference], only_a: list[str], only_b: list[str]
    ) -> None:
        self._a, self._b, self._found = a, b, dict(found)
        self.only_in_a, self.only_in_b = only_a, only_b

    @property
    def different(self) -> list[Difference]:
        """What is apart by more than the tolerance, the worst first."""
        return sorted((d for d in self._found.values() if not d.agrees), key=lambda d: -d.relative)

    @property
    def agree(self) -> bool:
        return bool(self._found) and not self.different

    def __bool__(self) -> bool:
        return self.agree

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self._found.values())

    def __getitem__(self, name: str) -> Difference:
        if name not in self._found:
            raise UsageError(f"`{name}` was not compared.", remedy="Name it: `ac.compare(a, b, …)`.")
        return self._found[name]

    def __str__(self) -> str:
        worst = self.different
        head = f"{count(len(self._found), 'variable')} compared: " + (
            f"{len(worst)} differ{'' if len(worst) > 1 else 's'}." if worst else "all agree."
        )
        head = head if self._found else "Nothing was compared: the two have no variable in common."
        lines = [head, *(f"  {one}" for one in worst[:SHOWN])]
        lines += [f"  … and {len(worst) - SHOWN} more"] if len(worst) > SHOWN else []
        for which, names in (("first", self.only_in_a), ("second", self.only_in_b)):
            if names:
                lines.append(f"Only in the {which}: {', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(d.name)}</td><td>{d.largest:.4g}</td><td>{escape(d.unit)}</td><td>{d.at:.6g}</td>"
            f"<td>{_percent(d.relative)}</td></tr>"
            for d in self.different[:SHOWN]
        )
        head = escape(str(self).splitlines()[0])
        over = next((d.time_unit for d in self.different), "s")
        titles = (
            f"<tr><th>variable</th><th>largest difference</th><th>unit</th><th>at ({escape(over)})</th><th>of its size</th></tr>"
        )
        return f"<p>{head}</p>" + (f"<table>{titles}{rows}</table>" if rows else "")

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each variable."""
        frames = optional_module("pandas", "A table")
        fields = ("unit", "largest", "at", "rms", "relative", "agrees")
        return frames.DataFrame([{f: getattr(d, f) for f in fields} for d in self], index=[d.name for d in self])

    def plot(self, *names: str, **options: Any) -> Figure:
        """Both runs over one another; those that differ most if none is named. Options are those of `result.plot`."""
        from .plot import plot

        wanted = names or tuple(d.name for d in self.different[:4]) or tuple(self._found)[:4]
        if "unit" not in options and "units" not in options:  # one panel for what is compared: measurements say a unit
            options["unit"] = {n: self._b.unit(n) for n in wanted if n in self._a and n in self._b and self._b.unit(n)}
        return plot(self._a, *wanted, overlay={"the other": self._b}, **options)


@checked
def compare(
    a: Any,
    b: Any,
    *names: str,
    rtol: float = 1e-3,
    atol: float = 0.0,
    time_tolerance: float | str | None = None,
    unit: Unit = None,
) -> Comparison:
    """How two runs differ, variable by variable; or a run and measurements, a pandas DataFrame indexed by seconds.

    names: what is compared, patterns allowed; without any, everything that both have.
    rtol: what counts as different, as a part of how far the variable moves in `a`; and `atol`, in the unit shown.
    time_tolerance: how much earlier or later something may happen; 1e-4 of the run unless said.
    unit: as in `result.plot`.

        comparison = ac.compare(model.simulate(until=10), model.simulate(until=10, rtol=1e-3))
        print(comparison)
        assert comparison.agree
    """
    a, b, clock = _on_one_clock(_as_result(a), _as_result(b))
    begin, end = max(a.time[0], b.time[0]), min(a.time[-1], b.time[-1])
    if not begin <= end:
        raise UsageError(f"The runs have no time in common: one ends at {end:g} {clock}, the other begins at {begin:g} {clock}.")
    shift = 1e-4 * float(end - begin) if time_tolerance is None else float(seconds(time_tolerance, "time_tolerance", clock))
    wanted = series.expand(a, names or None)
    for name in wanted if names else ():
        if name not in b:
            a.unit(name)  # whoever misspells a name is told so, not that all agree
    both = [name for name in wanted if name in b]
    only_measured = isinstance(a, Measured) != isinstance(b, Measured)  # nothing is known between measurements
    times = [r.time for r in (a, b) if isinstance(r, Measured) or not only_measured]
    at = np.unique(np.concatenate([t[(t >= begin) & (t <= end)] for t in times]))
    if not len(at):
        raise UsageError(f"No measurement lies between {begin:g} {clock} and {end:g} {clock}, where the run is.")
    for measured, other in ((a, b), (b, a)):
        if isinstance(measured, Measured):
            measured.adopt_units(other, both)
    chosen = series.units_for(a, both, unit)
    found = {name: _difference(a, b, name, chosen.get(name) or a.unit(name), at, shift, (rtol, atol)) for name in both}
    only_b = [] if names else [name for name in series.expand(b, None) if name not in a]
    return Comparison(a, b, found, [name for name in wanted if name not in b], only_b)


def _difference(
    a: Trajectories, b: Trajectories, name: str, unit: str, at: Array, shift: float, tolerance: tuple[float, float]
) -> Difference:
    """The distance of a's values from what b does around each time."""
    from ..language.units import convert

    for measured in (r for r in (a, b) if isinstance(r, Measured)):
        at = at[np.isin(at, measured.time[~np.isfinite(measured.values_of(name))], invert=True)]  # a gap is no difference
    if not len(at):
        raise UsageError(f"`{name}` has no measured number at a time of the run.")
    mine, direct = (np.asarray(convert(_values(r, name, at), r.unit(name), unit)).reshape(len(at), -1) for r in (a, b))
    theirs = np.asarray(b.in_unit(name, unit)).reshape(len(b.time), -1)
    if mine.shape != direct.shape:
        raise UsageError(f"`{name}` has {mine.shape[1]} elements in one run and {direct.shape[1]} in the other.")
    steps = a.meaning(name).steps
    low, high = extremes(b.time, theirs, np.maximum(at - shift, b.time[0]), np.minimum(at + shift, b.time[-1]), steps)
    low, high = np.fmin(low, direct), np.fmax(high, direct)
    apart = np.nan_to_num(np.maximum(np.maximum(low - mine, mine - high), 0.0), nan=0.0)
    apart = np.where(np.isnan(mine) != np.isnan(direct), np.inf, apart).max(axis=1, initial=0.0)
    worst = int(np.argmax(apart))
    moved = float(np.ptp(mine[np.isfinite(mine)])) if np.isfinite(mine).any() else 0.0
    size = moved or float(np.abs(np.nan_to_num(mine)).max(initial=0.0))
    square = np.nan_to_num(np.abs(mine - direct).max(axis=1, initial=0.0) ** 2, posinf=0.0)
    span = float(at[-1] - at[0])
    rms = float(np.sqrt(np.trapezoid(square, at) / span)) if span else float(np.sqrt(square[0]))
    agrees = bool(apart[worst] <= tolerance[0] * size + tolerance[1])
    return Difference(name, unit, float(apart[worst]), float(at[worst]), rms, size, agrees, a.unit("time") or "s")


def _values(result: Trajectories, name: str, at: Array) -> Array:
    if not isinstance(result, Measured):
        return sampled(result, name, at)
    whole = np.isfinite(result.values_of(name))
    return np.asarray(np.interp(at, result.time[whole], result.values_of(name)[whole]))


def _as_result(given: Any) -> Trajectories:
    if hasattr(given, "columns") and hasattr(given, "index"):
        return Measured(given)
    if isinstance(given, Viewable):
        found: Any = given
        if not len(found.time):
            raise UsageError("A result without a point of time cannot be compared.")
        return found
    raise UsageError(
        f"`ac.compare` takes results, or a pandas DataFrame indexed by time, got {type(given).__name__} {given!r:.40}."
    )


def _on_one_clock(a: Trajectories, b: Trajectories) -> tuple[Trajectories, Trajectories, str]:
    """Both over one quantity: measurements in the unit of the run; runs over years and over metres do not go together."""
    for measured, other in ((a, b), (b, a)):
        if isinstance(measured, Measured) and not isinstance(other, Measured):
            measured.adopt_clock(other.unit("time") or "s")
    mine, theirs = (r.unit("time") or "s" for r in (a, b))
    if mine != theirs:
        raise UsageError(f"One run goes over a quantity in {mine}, the other over one in {theirs}: they cannot be compared.")
    return a, b, mine


class Measured(Viewable):
    """A pandas DataFrame looked at as a result: its index is the time (in the unit of the run unless it is called `time [h]`), a
    header `room.T [degC]` says a unit."""

    statistics: Mapping[str, Any] = {}
    metadata: Mapping[str, str | float] = {}
    outcome: Any = None

    def __init__(self, frame: Any) -> None:
        from ..language.columns import titled

        index = frame.index
        self._clock = titled(str(index.name), "a DataFrame")[1] if index.name is not None else ""
        if hasattr(index, "total_seconds"):
            index, self._clock = index.total_seconds(), "s"
        elif hasattr(index, "tz_localize"):
            index, self._clock = (index - index[0]).total_seconds(), "s"
        try:
            self._time = np.asarray(index, dtype=float)
        except (TypeError, ValueError):
            self._time = np.empty(0)
        if not len(self._time) or not (np.diff(self._time) >= 0).all():
            raise UsageError(
                f"The index of a DataFrame to compare is the time, and must not decrease; got {list(index)[:3]} …",
                remedy='`frame.set_index("time")` makes a column the index.',
            )
        self.title = "measured"
        self._values: dict[str, tuple[Array, str]] = {}
        for header in frame.columns:
            name, unit = titled(str(header), "a DataFrame")
            unit = unit or frame.attrs.get("units", {}).get(header, "")
            try:
                self._values[name] = (np.asarray(frame[header], dtype=float), unit)
            except (TypeError, ValueError) as error:
                raise UsageError(f"The column `{header}` of a DataFrame to compare has no numbers: {error}.") from None

    def adopt_clock(self, unit: str) -> None:
        """Times that say no unit are in that of the run; others are converted."""
        from ..language.units import convert

        self._time = np.asarray(convert(self._time, self._clock, unit)) if self._clock else self._time
        self._clock = unit

    def adopt_units(self, other: Trajectories, names: list[str]) -> None:
        """A column that says no unit is in that of the run, as everywhere where numbers are given."""
        for name in names:
            values, unit = self._values[name]
            self._values[name] = (values, unit or other.unit(name))

    @property
    def time(self) -> Array:
        return self._time

    @property
    def data(self) -> Array:
        return np.zeros((len(self._time), 0))

    def names(self, pattern: str = "*") -> list[str]:
        return [name for name in self._values if series.pattern_of(pattern).fullmatch(name)]

    def values_of(self, name: str) -> Array:
        return self._values[name][0]

    def unit(self, name: str) -> str:
        if name == "time":
            return self._clock or "s"
        if name not in self._values:
            from ..errors import NameNotFound, near_matches

            raise NameNotFound(f"The DataFrame has no column `{name}`.", remedy=near_matches(name, list(self._values)))
        return self._values[name][1]

    def description(self, name: str) -> str:
        return ""

    def meaning(self, name: str) -> Meaning:
        return Meaning()

    def source(self, name: str) -> tuple[str, int, int]:
        self.unit(name)
        return "expression", -1, 1
