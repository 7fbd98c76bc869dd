"""Distributions of uncertain parameters: what a random study draws from.

A distribution is a value: its kind and its numbers, which may be texts with units until the parameter they belong to is known.
Draws are made from equidistributed numbers through the inverse of the cumulative distribution, so that plain random, Latin
hypercube and Sobol points, and correlated ones, all go the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from ..records import dataclass
from .units import quantity

Number = float | str
"""A number in the unit of its parameter, or a text with a unit of its own: `20 degC`."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How likely which values of a parameter are. Made by `ac.uniform`, `ac.normal` and the like."""

    kind: str
    numbers: tuple[Any, ...]
    differences: tuple[int, ...] = ()  # which of the numbers are widths: 2 degC is then 2 K, not 275.15 K

    def in_unit(self, unit: str) -> Distribution:
        """The same with plain numbers, in the unit of the parameter."""
        return replace(self, numbers=tuple(self._plain(k, n, unit) for k, n in enumerate(self.numbers)))

    def _plain(self, place: int, number: Any, unit: str) -> Any:
        if not isinstance(number, str) or self.kind == "choice":
            return number
        return quantity(number, unit) - (quantity(f"0 {_unit_of(number)}", unit) if place in self.differences else 0.0)

    def at(self, share: np.ndarray) -> np.ndarray:
        """The values below which these shares (0 … 1) of all draws lie."""
        return _INVERSES[self.kind](share, *self.numbers)

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.numbers))})"


@checked
def uniform(low: Number, high: Number) -> Distribution:
    """Every value from `low` to `high` is as likely.

    >>> uniform(2.0, 4.0).at(np.array([0.0, 0.5, 1.0]))
    array([2., 3., 4.])
    """
    return _ordered("uniform", low, high)


@checked
def normal(mean: Number, deviation: Number, *, low: Number = -np.inf, high: Number = np.inf) -> Distribution:
    """A normal distribution by its mean and standard deviation, cut off below `low` and above `high`.

    >>> normal(20.0, 2.0).at(np.array([0.5])).tolist()
    [20.0]
    """
    if not isinstance(deviation, str) and not deviation > 0:
        raise UsageError(f"The standard deviation of a normal distribution is positive, got {deviation!r}.")
    return Distribution("normal", (mean, deviation, low, high), differences=(1,))


@checked
def lognormal(median: Number, factor: float) -> Distribution:
    """Two thirds of all values lie between `median / factor` and `median * factor`.

    >>> lognormal(100.0, 2.0).at(np.array([0.5])).round(6).tolist()
    [100.0]
    """
    if not factor > 1:
        raise UsageError(f"The factor of a lognormal distribution is greater than 1, got {factor!r}.")
    return Distribution("lognormal", (median, factor))


@checked
def triangular(low: Number, most_likely: Number, high: Number) -> Distribution:
    """From `low` to `high`, with a peak in between.

    >>> triangular(0.0, 1.0, 2.0).at(np.array([0.0, 0.5, 1.0]))
    array([0., 1., 2.])
    """
    return _ordered("triangular", low, most_likely, high)


def choice(*values: Any) -> Distribution:
    """One of these, each as likely; a list of them will do.

    >>> choice("R134a", "R290").at(np.array([0.1, 0.9])).tolist()
    ['R134a', 'R290']
    """
    if len(values) == 1 and isinstance(values[0], list | tuple | np.ndarray):
        values = tuple(values[0])
    if not values:
        raise UsageError("`ac.choice` takes the values to choose from.", remedy='ac.choice("R134a", "R290")')
    return Distribution("choice", values)


def _ordered(kind: str, *numbers: Number) -> Distribution:
    plain = [float(n) for n in numbers if not isinstance(n, str)]
    if any(not np.isfinite(n) for n in plain) or (len(plain) == len(numbers) and (sorted(plain) != plain or plain[0] == plain[-1])):
        raise UsageError(f"The numbers of ac.{kind}({', '.join(map(str, numbers))}) must be finite and grow from left to right.")
    return Distribution(kind, numbers)


def _unit_of(text: str) -> str:
    from .units import split_quantity

    return split_quantity(text)[1]


# --- inverses of cumulative distributions -----------------------------------------------------------------------------------


def _uniform(u: np.ndarray, low: float, high: float) -> np.ndarray:
    return low + u * (high - low)


def _normal(u: np.ndarray, mean: float, deviation: float, low: float, high: float) -> np.ndarray:
    from scipy.special import ndtr, ndtri

    first, last = ndtr((low - mean) / deviation), ndtr((high - mean) / deviation)
    return mean + deviation * ndtri(first + u * (last - first))


def _lognormal(u: np.ndarray, median: float, factor: float) -> np.ndarray:
    from scipy.special import ndtri

    return median * factor ** ndtri(u)


def _triangular(u: np.ndarray, low: float, peak: float, high: float) -> np.ndarray:
    width, left = high - low, peak - low
    rising = low + np.sqrt(u * width * left)
    falling = high - np.sqrt((1 - u) * width * (high - peak))
    return np.where(u * width < left, rising, falling)


def _choice(u: np.ndarray, *values: Any) -> np.ndarray:
    place = np.minimum((np.asarray(u) * len(values)).astype(int), len(values) - 1)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found[place]


_INVERSES: dict[str, Callable[..., np.ndarray]] = {
    "uniform": _uniform,
    "normal": _normal,
    "lognormal": _lognormal,
    "triangular": _triangular,
    "choice": _choice,
}
