"""How much heat passes between two fluids: by the number of transfer units, and section by section where a phase changes.

Given are two ways (what comes, and how its enthalpy rises with the heat it takes up) and a conductance UA. Wanted is the heat Q
that needs it: ``UA = sum(Q_k/log_mean(dT_k, dT_k+1))`` over the sections, which end where a phase changes. As an equation for Q
this is nearly flat where a fluid is gas, and a wall where it boils a little warmer than the other comes: iterations do not settle.

Solved is ``Q == passed(Q)`` instead. From the end where one fluid comes in, with the temperatures that follow from Q, each section
passes all its heat if the conductance that is left is as much as it needs; where less is left, it passes what the `effectiveness`
says, and what is behind passes nothing. The more Q, the nearer are the temperatures and the more each section needs, so that
``Q - passed(Q)`` rises with Q; of constant properties, and where the fluid from whose end it begins is the one to change its phase,
it does so as Q does. From the other end it may be steep where temperatures come near to each other. Both have one root, and what is
nearer to it is taken. Where both fluids change their phase at one temperature, to a thousandth of a kelvin, neither is even.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from .passages import state_at

ARRANGEMENTS = ("counter", "co", "cross")
OPPOSITE = ("counter", "co")  # one becomes the other where one of both flows turns
LEAST_APART = 1e-9  # K
LEAST_SLOPE = 1e-10  # K/W, of what boils: a flow of capacity without end
SHARES = (0.25, 0.5, 0.75)  # of the heat, where temperatures are looked at within sections
ALIKE = 1e-2  # relative difference below which a logarithmic mean is a series


def effectiveness(units: Any, ratio: Any, arrangement: str = "counter") -> Any:
    """How much of the possible heat passes, over the number of transfer units and the ratio of the heat capacity flows.

    "counter": ``(1 - e)/(1 - R·e)``, ``e = exp(-N·(1 - R))``; "co": ``(1 - exp(-N·(1 + R)))/(1 + R)``; "cross" (neither side
    mixed, an approximation for R up to 1): ``1 - exp((exp(-R·N^0.78) - 1)·N^0.22/R)``. Kays and London 1984; Incropera table
    11.3.

    >>> round(float(effectiveness(1.0, 1.0)), 4), round(float(effectiveness(2.0, 0.5, "co")), 4)
    (0.5, 0.6335)
    """
    if arrangement == "counter":
        balanced = 1 - ratio + 1e-7  # R = 1 is the limit N/(1 + N), to which this comes as near as 1e-7
        rest = ac.exp(-units * balanced)
        return (1 - rest) / (1 - (1 - balanced) * rest)
    if arrangement == "co":
        return (1 - ac.exp(-units * (1 + ratio))) / (1 + ratio)
    if arrangement == "cross":
        R = ratio + 1e-6
        return 1 - ac.exp((ac.exp(-R * units**0.78) - 1) * units**0.22 / R)
    raise UsageError(f"The arrangement of an exchanger is one of {', '.join(ARRANGEMENTS)}, not {arrangement!r}.")


@dataclass(frozen=True)
class Way:
    """A fluid that comes with the enthalpy h at one pressure, and gains `rise` by each W that passes."""

    medium: Any
    p: Any
    h: Any
    X: Any
    rise: Any

    def T(self, heat: Any) -> Any:
        """Where so much heat has passed."""
        return state_at(self.medium, self.p, self.h + heat * self.rise, self.X).T

    def borders(self) -> list[Any]:
        """The heat after which its phase changes; below zero where it began so."""
        if not self.medium.evaporates:
            return []
        ends = self.medium.saturation(p=self.p)
        return [(end.h - self.h) / self.rise for end in (ends.liquid, ends.vapour)]

    def within(self, place: Any, heat: Any) -> Any:
        """A place from its inlet to where the heat leads, or to where its phase changes last."""
        return ac.no_event(
            ac.max(ac.min(place, ac.max(heat, *self.borders())) if self.medium.evaporates else ac.min(place, heat), 0.0)
        )


@dataclass(frozen=True)
class Section:
    """A part of both ways: where it begins and ends, how much of that lies within the exchanger, the differences of temperature
    there, how steeply both temperatures change with the heat, and the difference with which the fluids come."""

    start: Any
    end: Any
    width: Any
    apart: tuple[Any, Any]
    slopes: tuple[Any, Any]
    comes: Any

    def passes(self, UA: Any, arrangement: str) -> Any:
        """The heat that a conductance lets pass, if the section were as long as that."""
        least, most = (ac.no_event(choice(*self.slopes)) for choice in (ac.min, ac.max))
        return effectiveness(UA * most, least / most, arrangement) / most * self.comes

    def needs(self) -> Any:
        """The conductance with which its heat passes."""
        return self.width * over_log_mean(*self.apart)


@dataclass(frozen=True)
class Exchange:
    """A conductance between two ways that lie in "counter" or "co" flow. `towards` is 1 where the first one is the warmer, else -1;
    over a heat of `step` temperatures are linear, and `capacity`, in W/K, makes heat of differences of the wrong sign."""

    UA: Any
    arrangement: str
    towards: Any
    step: Any
    capacity: Any

    def passed(self, one: Way, two: Way, heat: Any) -> Any:
        """The heat that passes between temperatures that follow from `heat`; the same only where it is the right one."""
        sections = list(self._sections(one, two, heat))
        passed = self._spent([(s, s.end, s.start) for s in sections])
        if self.arrangement == "counter":
            back = self._spent([(s, heat - s.start, heat - s.end) for s in reversed(sections)])
            passed = ac.no_event(ac.where(ac.abs(heat - passed) < ac.abs(heat - back), passed, back))
        return ac.no_event(ac.min(passed, *(heat + self.capacity * apart for apart in self._within(one, two, heat))))

    def _within(self, one: Way, two: Way, heat: Any) -> Iterator[Any]:
        """How far from crossing temperatures are within: the capacity of what can boil changes where its phase does not."""
        for share in SHARES:
            facing = 1 - share if self.arrangement == "counter" else share
            yield self.towards * (one.T(share * heat) - two.T(facing * heat)) + LEAST_APART

    def _spent(self, sections: list[tuple[Section, Any, Any]]) -> Any:
        """The heat that passes until the conductance is spent, section by section and how far each reaches from the end where the
        first begins. The last one is as long as it needs to be."""
        passed: Any = 0.0
        left = self.UA
        for section, far, near in sections[:-1]:
            whole, passes = ac.no_event(ac.max(far, 0.0) - ac.max(near, 0.0)), section.passes(left, self.arrangement)
            passed = passed + ac.no_event(ac.min(whole, passes))
            left = ac.no_event(ac.where(passes < whole, 0.0, ac.max(left - section.needs(), 0.0)))
        return passed + sections[-1][0].passes(left, self.arrangement)

    def _sections(self, one: Way, two: Way, heat: Any) -> Iterator[Section]:
        """Cut where a phase changes."""
        facing = [heat - y if self.arrangement == "counter" else y for y in two.borders()]
        for start, end in pairwise([None, *ordered([*one.borders(), *facing]), None]):
            yield self._section(one, two, heat, 0.0 if start is None else start, heat if end is None else end)

    def _section(self, one: Way, two: Way, heat: Any, start: Any, end: Any) -> Section:
        low, high = (ac.no_event(ac.max(ac.min(x, heat), 0.0)) for x in (start, end))
        step = ac.no_event(ac.max(high - low, self.step))
        counter = self.arrangement == "counter"
        x, y = one.within(start, heat), two.within(heat - end if counter else start, heat)
        T1, T2 = (one.T(x), one.T(x + step)), (two.T(y), two.T(y + step))
        slopes = [ac.no_event(ac.max(change * self.towards / step, LEAST_SLOPE)) for change in (T1[0] - T1[1], T2[1] - T2[0])]
        facing = T2[::-1] if counter else T2
        near, far, comes = (
            ac.no_event(ac.max(self.towards * (a - b), LEAST_APART)) for a, b in (*zip(T1, facing, strict=True), (T1[0], T2[0]))
        )
        return Section(start, end, high - low, (near, far), (slopes[0], slopes[1]), comes)


def over_log_mean(a: Any, b: Any) -> Any:
    """``ln(a/b)/(a - b)``, 1/a where both are the same."""
    r = (a - b) / (a + b)
    alike = ac.abs(r) < ALIKE
    series = 1 + r**2 / 3 + r**4 / 5 + r**6 / 7  # artanh(r)/r, and ln(a/b) = 2·artanh(r)
    return ac.no_event(ac.where(alike, series, 0.5 * ac.log(a / b) / ac.where(alike, 1.0, r))) * 2 / (a + b)


def ordered(values: list[Any]) -> list[Any]:
    """From the least to the largest."""
    values = list(values)
    for end in range(len(values) - 1, 0, -1):
        for k in range(end):
            pair = values[k : k + 2]
            values[k], values[k + 1] = ac.no_event(ac.min(*pair)), ac.no_event(ac.max(*pair))
    return values
