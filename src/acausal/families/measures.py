"""Measures: what the numbers of an expression mean, and what a plain number may stand for. The algebra behind `unit_check.py`."""

from __future__ import annotations

import functools
import math
from enum import IntEnum
from fractions import Fraction
from operator import add
from typing import NamedTuple

import numpy as np

from ..language.units import Dimension, describe, dimension, how_turns_count, respelled, to_si


class Number(IntEnum):
    """What a plain number may stand for; an expression of numbers is as uncertain as the worst of them."""

    ZERO = 0  # zero in any unit
    PURE = 1  # certainly without a unit, when a factor
    PURE_OR_CONVERSION = 2  # without a dimension, but perhaps a conversion (24 h, 2π rad) between scales
    ANYTHING = 3  # a physical constant, a conversion, a fit: may carry any unit


class Measure(NamedTuple):
    """What the numbers of an expression mean. None for `scale` or `zero`: not known."""

    dimension: Dimension
    scale: float | None = 1.0  # value in SI = scale · number + zero
    zero: float | None = 0.0
    declared: bool = True  # follows from a declaration, not from mathematics and time alone
    soft: bool = False  # perhaps of another dimension: a plain number in it may carry any; if it is of this one, the scale counts
    scaled: bool = False  # a plain number is a factor in it: beside another number in a sum, it may be part of a fit
    offset: bool = False  # a plain number stands beside it in a sum: as a whole, `T - 273.15` is a number of degrees
    referred: bool = False  # a plain number is a factor in it that may be one over a reference value: `(T - 300)/3`
    turns: str = ""  # of a rate or what it adds up to: "angle" (rad/s, rpm), "times" (Hz), or nobody says
    summed: float | None = None  # the zeros of levels that were added, times the number before them: half of two is a mean


Known = Measure | Number | None  # None: unknown

PLAIN = Measure(dimension("1"), declared=False)  # a plain number; rad counts as one
TIME = Measure(dimension("s"), declared=False)
KELVIN = Measure(dimension("K"))
_RATE = Measure(dimension("1/s"))


@functools.lru_cache(maxsize=4096)
def measure(unit: str) -> Measure:
    """What a declared unit says.

    >>> measure("kJ/kg").scale, measure("degC").zero
    (1000.0, 273.15)
    """
    text = respelled(unit)
    zero = to_si(0.0, text)
    return Measure(dimension(text), to_si(1.0, text) - zero, zero, turns=how_turns_count(text))


@functools.lru_cache(maxsize=4096)
def number_of(value: float) -> Number:
    """What a literal number may stand for: see the rules in `unit_check.py`.

    >>> number_of(0.5), number_of(4 / 3 * math.pi).name, number_of(9.81).name
    (<Number.PURE: 1>, 'PURE_OR_CONVERSION', 'ANYTHING')
    """
    size = abs(value)
    if size == 0.0:
        return Number.ZERO
    if not math.isfinite(size):
        return Number.ANYTHING
    found = _geometrical(size)
    if found is None:
        return Number.ANYTHING
    return Number.PURE if _POWERS[found] == 0 and 1 / 12 <= size <= 12 else Number.PURE_OR_CONVERSION


def is_geometry(value: float, scale: float | None) -> bool:
    """Whether a number with π in it is a factor as geometry has it, beside a unit that π cannot convert: that of an area, but of no
    angle.

    >>> is_geometry(math.pi / 4, 1e-6), is_geometry(2 * math.pi, math.pi / 180), is_geometry(24.0, 3600.0)
    (True, False, False)
    """
    found = _geometrical(abs(value)) if value and math.isfinite(value) else None
    if found is None or _POWERS[found] == 0 or not scale:
        return False
    large = max(scale, 1 / scale)
    return math.isclose(large, Fraction(large).limit_denominator(10_000), rel_tol=1e-12)


def _geometrical(size: float) -> int | None:
    """Which of the choices below a number is, if any."""
    twos = _ROOTS * math.log2(size) - _LOGARITHMS
    small = np.flatnonzero((np.abs(twos) <= 12.5) & (np.abs(twos - np.rint(twos)) < 1e-9))
    return int(small[0]) if len(small) else None


# A number is pure if it, or its square (√2, √3 in effective values and triangles), is π^p · 3^b · 2^a, with a moderate a.
_CHOICES = np.array([(p, root, b) for p in range(-2, 5) for root in (1, 2) for b in range(-3, 4)])
_POWERS, _ROOTS = _CHOICES[:, 0], _CHOICES[:, 1]
_LOGARITHMS = _ROOTS * _POWERS * math.log2(math.pi) + _CHOICES[:, 2] * math.log2(3.0)


_ZEROS = [(m.scale, m.zero) for m in map(measure, ("degC", "degF")) if m.scale is not None and m.zero is not None]


# --- algebra of measures ------------------------------------------------------------------------------------------------


def times(a: Measure, b: Measure) -> Measure:
    scale = None if a.scale is None or b.scale is None else a.scale * b.scale
    zero = 0.0 if a.zero == b.zero == 0.0 else None
    exponents = tuple(map(add, a.dimension, b.dimension))
    referred = a.referred or b.referred
    made = Measure(exponents, scale, zero, a.declared or b.declared, a.soft or b.soft, a.scaled or b.scaled, referred=referred)
    return made._replace(turns=_turns_of_product(a, b)) if a.turns or b.turns else made


def _turns_of_product(a: Measure, b: Measure) -> str:
    """A rate times a time, or a share, counts as it did; with anything else it may be a speed, or a power."""
    rate, other = (a, b) if a.turns else (b, a)
    neutral = not other.turns and (same_dimension(other, PLAIN) or same_dimension(other, TIME) or same_dimension(other, _RATE))
    return rate.turns if neutral else ""


def power(a: Measure, exponent: float) -> Measure:
    scale = None if a.scale is None else a.scale**exponent
    zero = 0.0 if a.zero == 0.0 else None
    return Measure(tuple([e * exponent for e in a.dimension]), scale, zero, a.declared, a.soft, a.scaled, referred=a.referred)


def over(a: Measure, b: Measure) -> Measure:
    return times(a, power(b, -1.0))


def same_dimension(a: Measure, b: Measure) -> bool:
    if a.dimension == b.dimension:
        return True
    return all(abs(x - y) < 1e-6 for x, y in zip(a.dimension, b.dimension, strict=True))  # cube roots


def same_scale(a: Measure, b: Measure) -> bool:
    if a.scale is None or b.scale is None or a.scale == b.scale:
        return True
    return math.isclose(a.scale, b.scale, rel_tol=1e-9)


def is_plain(a: Measure) -> bool:
    return same_dimension(a, PLAIN) and same_scale(a, PLAIN)


def is_si(a: Measure) -> bool:
    return a.zero == 0.0 and a.scale is not None and math.isclose(a.scale, 1.0, rel_tol=1e-9)


def with_factor(a: Measure, number: Number, bare: bool = False, referred: bool = False) -> Measure | None:
    """A quantity times a plain number; `bare` where that is 1, or what a function gives, and the quantity as good as alone;
    `referred` where it may be one over a reference value."""
    if number is Number.ANYTHING:
        return None
    scale = a.scale if number is not Number.PURE_OR_CONVERSION or a.scale == 1.0 else None
    zero = 0.0 if a.zero == 0.0 else None
    turns = a.turns if number is Number.PURE else ""  # 2π makes an angle of a turn
    scaled = a.scaled or not bare
    return a._replace(
        scale=scale, zero=zero, scaled=scaled, offset=False, referred=a.referred or referred, turns=turns, summed=None
    )


def weighed(a: Measure, level: Measure, factor: float) -> Measure:
    """What `with_factor` made of some levels of temperature: half of the sum of two is one again.

    >>> both = measure("degC")._replace(zero=None, summed=2 * 273.15)
    >>> weighed(both._replace(summed=None), both, 0.5).zero, weighed(both._replace(summed=None), both, 0.4).zero
    (273.15, None)
    """
    before = level.zero or level.summed
    return a if before is None else summed_up(a, before * factor)


def summed_up(a: Measure, zeros: float) -> Measure:
    """A sum of levels, whose zeros add up to those of one, or to none at all, or to neither."""
    one = next((zero for scale, zero in _ZEROS if a.scale is not None and math.isclose(a.scale, scale)), None)
    if one is not None and math.isclose(zeros, one):
        return a._replace(zero=one, summed=None)
    return a._replace(zero=0.0, summed=None) if abs(zeros) < 1e-9 else a._replace(zero=None, summed=zeros)


def may_be_a_reference(factor: float) -> bool:
    """Whether a number as factor may be one over a reference value: any but ±1, and the multiples of π that geometry makes.

    >>> may_be_a_reference(1 / 3), may_be_a_reference(0.07), may_be_a_reference(-1.0), may_be_a_reference(2 * math.pi)
    (True, True, False, False)
    """
    size = abs(factor)
    if size in (0.0, 1.0) or not math.isfinite(size):
        return False
    found = _geometrical(size)
    return found is None or int(_POWERS[found]) == 0


def beside_a_number(a: Measure, added: float | None = None) -> Measure:
    """A quantity plus or minus a plain number, which is in its unit; with a factor it may be a fit, and of another dimension.

    A level of temperature to which less than 100 K are `added` is a level with the same zero; what is taken away from one may
    be a level, too, and 273.15 makes another zero of it.

    >>> beside_a_number(measure("K")).soft, beside_a_number(with_factor(measure("K"), Number.PURE)).soft
    (False, True)
    >>> beside_a_number(measure("degC"), 1.0).zero, beside_a_number(measure("degC"), 273.15).zero
    (273.15, None)
    """
    stays = a.zero and a.scale and added is not None and 0.0 < added * a.scale < 100.0
    return a._replace(zero=a.zero if stays else None, soft=a.soft or a.scaled, offset=True)


# --- words ----------------------------------------------------------------------------------------------------------------


@functools.cache
def names_of_dimensions() -> dict[Dimension, str]:
    symbols = ("N", "Pa", "J", "W", "V", "ohm", "S", "F", "H", "C", "T", "Wb", "W/K", "J/K", "J/kg", "J/(kg*K)", "W/m^2", "W/(m*K)")
    return {dimension(s): s for s in symbols}


def shown(a: Measure) -> str:
    """A measure in words: SI base units, the name of the unit they make, the scale.

    >>> shown(measure("kW")), shown(measure("m/s")), shown(measure("degC"))
    ('m^2 kg s^-3 (W) times 1000', 'm s^-1', 'K from 273.15')
    """
    exact = tuple(round(e, 6) + 0.0 for e in a.dimension)
    text = describe(exact)
    name = names_of_dimensions().get(exact)
    text += f" ({name})" if name else ""
    text += "" if a.scale is None or math.isclose(a.scale, 1.0, rel_tol=1e-9) else f" times {a.scale:.6g}"
    return text + (f" from {a.zero:g}" if a.zero else "")
