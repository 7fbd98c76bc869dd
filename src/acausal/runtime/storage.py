"""What a run keeps: all unknowns, or those that the asked-for quantities are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from ..families.plant import Kind
from ..families.system import System
from ..language.derivative import der
from ..language.expression import Expression, Reference, walk
from ..records import dataclass

if TYPE_CHECKING:
    from ..families.path import Located

DEFAULT_POINTS = 501
MOST_POINTS = 50_000_000
_FINE = 256  # rows of a run whose integrals are asked for, at least
_MOST_BYTES = 2**30  # of a run whose number of output points was not chosen
_MOST_DERIVATIVE_BYTES = 2**20  # derivatives are interpolated too, which costs as much as the values


@dataclass(slots=True, eq=False)
class Choice:
    """`gather` are the workspace cells stored, in order; `column` and `slope_column` say where each unknown went, or -1."""

    gather: np.ndarray
    column: np.ndarray
    slope_column: np.ndarray


def seconds(given: Any, what: str, unit: str = "s") -> Any:
    """A time in seconds (or in the unit of the independent variable): a number as it is, a text with a unit ("2 h"), a duration of
    Python, numpy or pandas."""
    if type(given) is float and isfinite(given):
        return given
    if isinstance(given, str):
        return _from_text(given, what, unit)
    if unit != "s" and isinstance(given, (timedelta, np.timedelta64)):
        return _from_text(f"{float(seconds(given, what))!r} s", what, unit)
    if isinstance(given, timedelta):  # pandas' are such, too
        return given.total_seconds()
    if isinstance(given, np.timedelta64):
        return float(given / np.timedelta64(1, "ns")) * 1e-9 if _fine(given) else float(given / np.timedelta64(1, "s"))
    if not is_number(given):
        raise UsageError(
            f"`{what}` is a time, got {given!r} of type {type(given).__name__}.",
            remedy='A time is a finite number of seconds, a text such as "2 h", or a timedelta.'
            + (" A run has two of them: simulate(until=10.0, start=0.0)." if isinstance(given, (tuple, list)) else ""),
        )
    return given


def _fine(given: np.timedelta64) -> bool:
    return np.datetime_data(given.dtype)[0] in ("ns", "ps", "fs", "as")


def _from_text(given: str, what: str, unit: str = "s") -> float:
    from ..language.units import quantity

    try:
        return quantity(given, unit)
    except UsageError as error:
        remedy = 'A time is a number of seconds, or a text such as "2 h".'
        raise UsageError(
            f"`{what}` cannot be {given!r}: {error.diagnostics[0].what}",
            remedy=remedy
            if unit == "s"
            else f'The model is integrated over a quantity in {unit}: a number, or a text such as "2 {unit}".',
        ) from None


def output_times(
    start: float,
    until: float,
    points: int | None,
    at: Iterable[float | str] | str | None,
    size: int,
    every: float | str | None = None,
    unit: str = "s",
) -> np.ndarray:
    """Where output is wanted. A very large plant gets fewer points unless the user chooses."""
    if not (is_number(start) and is_number(until)) or until <= start:
        raise UsageError(
            f"A simulation runs forward: `until` ({until!r}) must be later than `start` ({start!r}).",
            remedy=f"`until` is the time at which the run ends, in {'seconds' if unit == 's' else unit}, not how long it takes.",
        )
    if (points is not None) + (at is not None) + (every is not None) > 1:
        raise UsageError("Output times are given by one of `points`, `at` and `every`.")
    if at is not None:
        return _chosen_times(start, until, at, unit)
    if every is not None:
        return _times_every(start, until, every, unit)
    if points is None:
        points = int(min(DEFAULT_POINTS, max(11, _MOST_BYTES // (8 * max(size, 1)))))
    if not isinstance(points, (int, np.integer)) or points < 2:
        raise UsageError(f"`points` is a whole number of at least 2, got {points!r}.")
    if points > MOST_POINTS:
        raise UsageError(f"`points` is the number of output points, {MOST_POINTS} at most; got {points!r}.")
    times = np.arange(int(points), dtype=float)  # as `np.linspace`, in a third of the time
    times *= (until - start) / (len(times) - 1)
    if start:
        times += start
    times[-1] = until
    return times


def times_to_integrate(until: Any, size: int, options: Mapping[str, Any], unit: str = "s") -> np.ndarray:
    """Output times as `simulate` would have them, and more in between where they are few: for integrals and extremes over a run."""
    begin, end = seconds(options.get("start", 0.0), "start", unit), seconds(until, "until", unit)
    times = output_times(begin, end, options.get("points"), options.get("at"), size, options.get("every"), unit)
    parts = -(-_FINE // max(len(times) - 1, 1))
    if parts == 1 or 16 * size * _FINE > _MOST_BYTES:
        return times
    shares = np.arange(parts) / parts
    return np.append((times[:-1, None] + np.diff(times)[:, None] * shares).ravel(), times[-1])


def _times_every(start: float, until: float, every: float | str, unit: str) -> np.ndarray:
    """Equidistant times from the start; the end is one, too, so that the whole run is kept."""
    step = seconds(every, "every", unit)
    if not is_number(step) or step <= 0 or (until - start) / step > MOST_POINTS or not np.isfinite(float(step)):
        raise UsageError(f'`every` is the time from one output point to the next, such as "1 h"; got {every!r}.')
    step = float(step)
    count = int(np.floor((until - start) / step * (1 + 1e-12)))
    times = np.minimum(start + step * np.arange(count + 1), until)
    return times if until - times[-1] <= 1e-9 * step else np.append(times, until)


def is_number(value: Any) -> bool:
    """A finite number; a truth value is none, and neither is what a float cannot hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _chosen_times(start: float, until: float, at: Iterable[float | str] | str, unit: str) -> np.ndarray:
    try:
        if isinstance(at, np.ndarray) and at.dtype.kind in "fiu":
            times = at.astype(float)
        else:
            times = np.asarray([seconds(t, "at", unit) for t in ([at] if isinstance(at, str) else list(at))], dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"`at` is a list of output times, got {at!r} of type {type(at).__name__}.") from None
    if times.ndim != 1 or len(times) == 0:
        raise UsageError("`at` is a list of output times; it is empty.")
    if not np.isfinite(times).all():
        raise UsageError(f"The output times in `at` must be finite, got {times[~np.isfinite(times)][0]}.")
    if (np.diff(times) < 0).any():
        raise UsageError("The output times in `at` must not decrease.")
    if times[0] < start:
        raise UsageError(
            f"The output time {times[0]:g} lies before the start at {start:g}.", remedy="Start earlier, or ask for later times."
        )
    if times[-1] > until:
        raise UsageError(
            f"The output time {times[-1]:g} lies after the end at {until:g}.", remedy="Simulate longer, or ask for earlier times."
        )
    return times


def choose(system: System, store: Iterable[str] | None, derivatives: bool | None, count: int) -> Choice:
    """Columns for everything, or for what the given paths need."""
    if isinstance(store, str):
        store = [store]
    values, slopes = np.ones(system.size, dtype=bool), system.differential.copy()
    derivative = np.arange(system.size) * 0 - 1 if system.derivatives is None else system.derivatives.as_unknown(system.size)
    if store is not None:
        values[:], slopes[:] = False, False
        for path in store:
            _need(system, system.plant.locate(path), values, slopes)
    elif derivatives is None:
        slopes &= 8 * count * int(slopes.sum()) <= _MOST_DERIVATIVE_BYTES
    if store is None and derivatives is False:
        slopes[:] = False
    explicit = slopes & (derivative >= 0)  # this derivative is an unknown itself
    values[derivative[explicit]] = True
    kept, kept_slopes = np.flatnonzero(values), np.flatnonzero(slopes & ~explicit)
    column, slope_column = np.full(system.size, -1), np.full(system.size, -1)
    column[kept] = np.arange(len(kept))
    slope_column[kept_slopes] = len(kept) + np.arange(len(kept_slopes))
    with_unknown = np.flatnonzero(derivative >= 0)
    slope_column[with_unknown] = column[derivative[with_unknown]]
    gather = np.concatenate([kept, system.size + kept_slopes]).astype(np.int32)
    return Choice(gather, column, slope_column)


def needed_unknowns(system: System, path: str) -> np.ndarray:
    """Numbers of the unknowns that a quantity is made of."""
    values, slopes = np.zeros(system.size, dtype=bool), np.zeros(system.size, dtype=bool)
    _need(system, system.plant.locate(path), values, slopes)
    return np.flatnonzero(values | slopes)


def _need(system: System, located: Located, values: np.ndarray, slopes: np.ndarray) -> None:
    if located.flat is None:
        expression = located.kind.named[located.name]
        _need_expression(system, located.kind, expression, np.unique(located.instances), values, slopes)
    else:
        _need_quantity(system, located.kind, located.name, located.flat, located.order, values, slopes)


def _need_quantity(
    system: System, kind: Kind, name: str, flat: np.ndarray, order: int, values: np.ndarray, slopes: np.ndarray
) -> None:
    quantity = kind.quantities[name]
    definition = system.definitions.get((kind.index, name))
    if quantity.declaration.is_known:
        return
    if definition is not None:
        expression = der(definition.expression) if order else definition.expression
        _need_expression(system, kind, expression, np.unique(flat // quantity.size), values, slopes)
        return
    numbers = quantity.base + flat.ravel()
    numbers = numbers[~system.aliases.known[numbers]]
    (slopes if order else values)[system.aliases.index[numbers]] = True


def _need_expression(
    system: System, kind: Kind, expression: Expression, instances: np.ndarray, values: np.ndarray, slopes: np.ndarray
) -> None:
    for node in walk(expression):
        if isinstance(node, Reference):
            owner: Kind = node.owner.kind
            quantity = owner.quantities[node.name]
            base = quantity.base if node.order >= 0 else quantity.base + owner.count * quantity.size
            flat = system.plant.numbers(kind, node)[instances] - base
            _need_quantity(system, owner, node.name, flat, max(node.order, 0), values, slopes)
