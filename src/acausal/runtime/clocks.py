"""Sampled clocks on one base clock, so that it is integers that decide which of them tick together (Nikoukhah and Furic).

Given clocks i with ticks at o_i + k T_i, k = 0, 1, …. Wanted: the first tick from a time on, and *all* clocks that tick then, at
the same double, however many ticks ago they started. Doubles cannot tell: 3 · 0.1 is not 0.3. So

1. offsets and periods become rational numbers, those the user most likely meant (`rationals`);
2. the base B is the greatest common divisor of the periods and of the differences of the offsets: every tick is o + m B, where o is
   the first offset and m an integer; the overall period is the least common multiple of the periods;
3. a tick's time is the double nearest to o + m B, rounded once. Two ticks coincide if they have the same double; that is the same
   m, unless B is smaller than what doubles can tell apart at that time.

Periods that have nothing to do with each other (1 and sqrt(2)) need no other method. Doubles are rational, so there is a base, only
a tiny one (about 1e-16), and ticks coincide where their doubles do. The integers then outgrow 64 bits and are Python's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import UsageError

Integers = NDArray[np.int64]

SHORT = 12  # digits: a decimal of no more was written by somebody
DIGITS = 15  # a decimal of no more survives the way through a double; by chance, though, one quotient in ten looks like one
SIMPLE = 10**12  # fractions p/q lie about 1/(p·q) apart: with p·q below this, one within a few roundings (1e-15) is no accident
ROUNDINGS = 4
MOST_UNITS = 4
MOST_BITS = 256  # of the common denominator: more, and exact integers would cost more than they are worth
LONGEST_PATTERN = 1_000_000
FITS = 2**62
EXACT = 2**53  # below it, integers and the quotient of two of them are doubles, rounded once


def rationals(values: Sequence[float]) -> list[Fraction]:
    """The rational number meant by each double.

    - a short decimal: 0.1 is 1/10, 86400.0 is 86400;
    - else a simple fraction within rounding: 1/3 is 1/3, and 0.1 + 0.2 is 3/10;
    - else a longer decimal, of up to 15 digits;
    - else a simple multiple of another value that is none of these, so that clocks of pi and pi/3 do meet; the smallest of them is
      what the double holds.

    >>> [str(r) for r in rationals([0.35, 1 / 3, 0.1 + 0.2])]
    ['7/20', '1/3', '3/10']
    """
    units: list[tuple[float, Fraction]] = []
    meant: dict[float, Fraction] = {}
    for x in sorted(set(values), key=abs):
        found = _written(x)
        if found is None:
            found = next((u * s for unit, u in units if (s := _simple(x / unit)) is not None), None)
        if found is None:
            found = Fraction(x)
            units = [*units, (x, found)][:MOST_UNITS]
        meant[x] = found
    if math.lcm(*(f.denominator for f in meant.values())).bit_length() > MOST_BITS:  # many fractions, each of its own kind
        meant = {x: _decimal(x, DIGITS) or Fraction(x) for x in meant}
    return [meant[x] for x in values]


def _written(x: float) -> Fraction | None:
    for found in (_decimal(x, SHORT), _simple(x), _decimal(x, DIGITS)):
        if found is not None:
            return found
    return None


def _decimal(x: float, most: int) -> Fraction | None:
    text = repr(x)
    digits = text.lstrip("-").split("e")[0].replace(".", "").strip("0")
    return Fraction(text) if len(digits) <= most else None


def _simple(x: float) -> Fraction | None:
    """p/q with p·q ≤ SIMPLE that is x but for a few roundings; the product treats x and 1/x alike."""
    size = abs(x)
    if not 1e-12 < size < 1e12:
        return None
    near = Fraction(x).limit_denominator(max(1, math.isqrt(int(SIMPLE / size))))
    return near if abs(float(near) - x) <= ROUNDINGS * math.ulp(x) else None


class Clocks:
    """Clock i ticks at `offsets[i] + k periods[i]`, k = 0, 1, …

    >>> clocks = Clocks([0.0, 0.0], [2.0, 3.0])
    >>> clocks.base, clocks.period, clocks.pattern()
    (1.0, 6.0, [(0, (0, 1)), (2, (0,)), (3, (1,)), (4, (0,))])
    >>> time, ticking = clocks.next(4.0, inclusive=False)
    >>> time, ticking.tolist()
    (6.0, [0, 1])
    """

    def __init__(self, offsets: ArrayLike, periods: ArrayLike, unit: str = "s") -> None:
        starts, steps = _checked(offsets, periods, unit)
        self.unit = unit
        self.size = len(starts)
        exact = rationals([*starts, *steps])
        o, p = exact[: self.size], exact[self.size :]
        first = min(o, default=Fraction(0))
        # Everything over the common denominator: a tick's time is then one division of integers, which Python rounds correctly.
        self._denominator = math.lcm(*(f.denominator for f in exact))
        scaled = [int((f - first) * self._denominator) for f in o] + [int(f * self._denominator) for f in p]
        self._base = math.gcd(*scaled) or self._denominator
        self._first = int(first * self._denominator)
        integers = [m // self._base for m in scaled]
        self._offsets, self._periods = integers[: self.size], integers[self.size :]
        self._most = max(integers, default=0)

    @property
    def origin(self) -> float:
        """The time of base tick 0: the smallest offset."""
        return self._first / self._denominator

    @property
    def base(self) -> float:
        """How far apart two ticks of the base clock are."""
        return self._base / self._denominator

    @property
    def period(self) -> float:
        """After so long the pattern of ticks repeats itself; infinite if no double is large enough."""
        try:
            return self._period * self._base / self._denominator
        except OverflowError:
            return math.inf

    @cached_property
    def _period(self) -> int:
        return math.lcm(*self._periods)

    def pattern(self) -> list[tuple[int, tuple[int, ...]]]:
        """The base ticks of one overall period at which clocks tick, and which ones do, once all have started.

        Base tick m is at `origin + m base`, modulo the period.
        """
        count = sum(self._period // p for p in self._periods)
        if count > LONGEST_PATTERN:
            raise UsageError(
                f"The clocks have a common base of {self.base:g} {self.unit} and tick {float(count):.3g} times before their "
                f"pattern repeats itself; that is too long a list.",
                remedy="choose periods that are small multiples of one another",
            )
        ticking: dict[int, list[int]] = {}
        for clock, (offset, step) in enumerate(zip(self._offsets, self._periods, strict=True)):
            for m in range(offset % step, self._period, step):
                ticking.setdefault(m, []).append(clock)
        return [(m, tuple(ticking[m])) for m in sorted(ticking)]

    def coincide(self, i: int, j: int) -> bool:
        """Whether clocks i and j ever tick together. Clauses whose clocks never do cannot be in an algebraic loop.

        >>> clocks = Clocks([0.0, 0.5, 0.0], [1.0, 1.0, 0.5])
        >>> clocks.coincide(0, 1), clocks.coincide(1, 2)
        (False, True)
        """
        return (self._offsets[i] - self._offsets[j]) % math.gcd(self._periods[i], self._periods[j]) == 0

    def next(self, t: float, inclusive: bool) -> tuple[float, Integers]:
        """The first tick at or after `t` (or, not `inclusive`, after it), and the clocks that tick then, ascending.

        Whatever ticks at the same double is given together. Without clocks the time is infinite.
        """
        earliest = t if inclusive else math.nextafter(t, math.inf)
        if not self.size or earliest == math.inf:
            return math.inf, np.zeros(0, np.int64)
        ticks = self._from(self._lower(earliest))
        m = int(ticks.min())
        time = self._time(m)
        if self.base < math.ulp(time):
            together = ticks < self._lower(math.nextafter(time, math.inf))
        else:
            together = ticks == m
        return time, np.flatnonzero(together)

    def whole(self, t: float, end: float) -> tuple[list[int], list[int], int, int, int] | None:
        """The clocks in integers: the first base tick of each after `t`, the periods, and what a base tick's time is made of.

        Base tick m is at `(first + m base) / denominator`. None if these are not exact in doubles until `end`.
        """
        if self._small is None or not self.size:
            return None
        last = max(self._ceiling(*float(end).as_integer_ratio()), 0) + self._most
        if abs(self._first) + last * self._base >= EXACT or self._denominator >= EXACT:
            return None
        ticks = self._from(self._lower(math.nextafter(t, math.inf)))
        return ticks.tolist(), list(self._periods), self._first, self._base, self._denominator

    def _time(self, m: int) -> float:
        return (self._first + m * self._base) / self._denominator

    def _lower(self, t: float) -> int:
        """The first base tick whose double is at least t, not before tick 0. Rounding keeps order, so there is one."""
        if t <= self.origin:
            return 0
        m = self._ceiling(*t.as_integer_ratio())
        if self._time(m - 1) < t:
            return m
        # The ticks from halfway to the double before are rounded up to t; halfway itself goes either way.
        (n, d), (before, by) = t.as_integer_ratio(), math.nextafter(t, -math.inf).as_integer_ratio()
        m = self._ceiling(n * by + before * d, 2 * d * by)
        return m if self._time(m) >= t else m + 1

    def _ceiling(self, n: int, d: int) -> int:
        """The first base tick at or after n/d, exactly."""
        return -((self._first * d - n * self._denominator) // (self._base * d))

    def _from(self, m: int) -> NDArray:
        """Of each clock the first tick at base tick m or later."""
        offsets, periods = self._small if self._small is not None and m < FITS else self._large
        return offsets + np.maximum(-((offsets - m) // periods), 0) * periods

    @cached_property
    def _small(self) -> tuple[Integers, Integers] | None:
        if self._most >= FITS // 2:
            return None
        return np.array(self._offsets, dtype=np.int64), np.array(self._periods, dtype=np.int64)

    @cached_property
    def _large(self) -> tuple[NDArray, NDArray]:
        return np.array(self._offsets, dtype=object), np.array(self._periods, dtype=object)


def _checked(offsets: ArrayLike, periods: ArrayLike, unit: str) -> tuple[list[float], list[float]]:
    o, p = np.asarray(offsets, dtype=float), np.asarray(periods, dtype=float)
    if o.ndim != 1 or o.shape != p.shape:
        raise UsageError(f"Each clock has one offset and one period; {o.shape} offsets and {p.shape} periods were given.")
    for value in o[~np.isfinite(o)]:
        raise UsageError(
            f"A clock cannot start at {value} {unit}.", remedy=f"give `sample(start, period)` a finite start in {unit}"
        )
    for value in p[~(np.isfinite(p) & (p > 0))]:
        raise UsageError(
            f"A clock cannot have the period {value} {unit}.",
            remedy=f"give `sample(start, period)` a finite period above zero, in {unit}",
        )
    return o.tolist(), p.tolist()
