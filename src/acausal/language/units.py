"""Units of measurement: dimensions, conversion, quantities written as text.

Inside the program everything is in SI base units; units are read at the edge. Common ones are understood here, without pint, whose
import would double the time a small model takes to load. Anything else is left to pint.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import UsageError, near_matches
from ..records import dataclass

Dimension = tuple[float, ...]

BASE = ("m", "kg", "s", "A", "K", "mol", "cd")  # the order of the exponents in a dimension
OWN_BASES = 8  # behind them, exponents of what users count in besides: persons, euros
_own: dict[str, Unit] = {}  # units that users defined
_own_bases: list[str] = []
_PINT_BASE = ("[length]", "[mass]", "[time]", "[current]", "[temperature]", "[substance]", "[luminosity]")
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Unit:
    """value in SI = factor · value + offset"""

    dimension: Dimension
    factor: float = 1.0
    offset: float = 0.0

    def __mul__(self, other: Unit) -> Unit:
        return Unit(tuple(a + b for a, b in zip(self.dimension, other.dimension, strict=True)), self.factor * other.factor)

    def __pow__(self, exponent: float) -> Unit:
        return Unit(tuple(_exponent(a * exponent) for a in self.dimension), self.factor**exponent)


def dimension(unit: str) -> Dimension:
    """The exponents of m, kg, s, A, K, mol, cd that a unit is made of.

    >>> dimension("W/K") == dimension("kg*m**2/s**3/K"), dimension("Pa")[:7]
    (True, (-1, 1, -2, 0, 0, 0, 0))
    """
    return _resolve(unit).dimension


def compatible(a: str, b: str) -> bool:
    """Whether values in one unit can be converted to the other.

    >>> compatible("bar", "Pa"), compatible("bar", "K")
    (True, False)
    """
    return a == b or dimension(a) == dimension(b)


def convert(values: Any, from_unit: str, to_unit: str) -> Any:
    """Numbers in one unit, expressed in another.

    >>> round(convert(20.0, "degC", "K"), 6), convert(3.6, "km/h", "m/s"), convert([1.0, 2.0], "bar", "kPa")
    (293.15, 1.0, array([100., 200.]))
    """
    if from_unit == to_unit:
        return values
    source, target = _resolve(from_unit), _resolve(to_unit)
    if source.dimension != target.dimension:
        kinds = f"one is {describe(source.dimension)}, the other {describe(target.dimension)}"
        source_name, target_name = (f"`{unit}`" if unit else "a plain number" for unit in (from_unit, to_unit))
        raise UsageError(f"{source_name[:1].upper()}{source_name[1:]} cannot be converted to {target_name}: {kinds}.")
    if source.dimension == _RATE and _may_mean_turns(from_unit, to_unit):
        raise UsageError(
            f"`{from_unit}` cannot be converted to `{to_unit}`: one is an angle a second, the other a number of times a second "
            "or a minute; a turn is 2π of one and 1 of the other.",
            remedy="Say what is meant: 3000 rpm are 50 turns a second (50 Hz), or 314.16 rad/s.",
        )
    numbers = values if isinstance(values, (int, float)) else np.asarray(values, dtype=float)
    if source.offset == target.offset == 0.0:
        return numbers * (source.factor / target.factor)
    return (numbers * source.factor + (source.offset - target.offset)) / target.factor


def to_si(value: Any, unit: str = "") -> Any:
    """A value in SI base units: a number or array in `unit`, or a text with its own unit, which must then be compatible.

    >>> to_si(1.5, "bar"), to_si("1.5 bar", "Pa"), to_si("3 kJ/kg", "J/kg")
    (150000.0, 150000.0, 3000.0)
    """
    if isinstance(value, str):
        value = quantity(value, unit)
    found = _resolve(unit)
    numbers = value if isinstance(value, (int, float)) else np.asarray(value, dtype=float)
    return numbers * found.factor + found.offset


def quantity(text: str, unit: str = "") -> float:
    """The number that a text such as `20 degC` means in `unit`; a number without a unit is in `unit` already.

    >>> round(quantity("20 degC", "K"), 6), quantity("5", "K")
    (293.15, 5.0)
    """
    number, written = split_quantity(text)
    return float(number if not written else convert(number, written, unit))


def split_quantity(text: str) -> tuple[float, str]:
    """A quantity's number and unit.

    >>> split_quantity("3 kJ/kg")
    (3.0, 'kJ/kg')
    """
    match = _NUMBER.match(text)
    if not match:
        raise UsageError(f"Expected a number with a unit, such as `20 degC`, got {text!r}.")
    return float(match[1]), match[2]


def describe(dimension: Dimension) -> str:
    """A dimension in SI base units, for messages.

    >>> describe((1, 0, -2, 0, 0, 0, 0))
    'm s^-2'
    """
    bases = (*BASE, *_own_bases)
    parts = [
        base if exponent == 1 else f"{base}^{exponent:g}" for base, exponent in zip(bases, dimension, strict=False) if exponent
    ]
    return " ".join(parts) or "dimensionless"


def respelled(unit: str) -> str:
    """Spellings of other programs and of tables of properties: a unit is not wrong because of its typography.

    >>> respelled("W/(m2.K)"), respelled("kg m-3"), respelled("-"), respelled("Ohm")
    ('W/(m^2*K)', 'kg*m^-3', '1', 'ohm')
    """
    if unit.strip() == "-":
        return "1"
    unit = unit.replace("²", "^2").replace("³", "^3").replace("⁻¹", "^-1").replace("⋅", "*").replace("×", "*")
    text = re.sub(r"(?<=[^\W\d])(-?\d+)(?!\w)", r"^\1", unit.strip())
    text = re.sub(r"(?<=[\w)])[.\s]+(?=[^\W\d]|\()", "*", text)
    return re.sub(r"\b(Ohm|rev)\b", lambda found: {"Ohm": "ohm", "rev": "turn"}[found[0]], text)


# --- units of users ---------------------------------------------------------------------------------------------------


@checked
def define_unit(name: str, means: str | None = None) -> str:
    """A unit of your own: `ac.define_unit("EUR")` is a new kind of quantity, `ac.define_unit("cent", "0.01 EUR")` a multiple.

    Units are known to the whole process from then on, in declarations, checks and conversions. Saying the same twice is allowed.

    >>> define_unit("ton_of_refrigeration", "3516.85 W")
    'ton_of_refrigeration'
    >>> convert(2.0, "ton_of_refrigeration", "kW")
    7.0337
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise UsageError(f"The name of a unit is one word, such as `EUR`, got {name!r}.")
    if name in _own:
        if _own[name] != (Unit(_base(name)) if means is None and name in _own_bases else _meant(means)):
            raise UsageError(f"The unit `{name}` was already defined, and means something else.")
        return name
    if name in _known():
        raise UsageError(f"`{name}` is a unit already: {describe(_known()[name].dimension)}.", remedy="Choose another name.")
    if means is None:
        if len(_own_bases) == OWN_BASES:
            raise UsageError(f"There is room for {OWN_BASES} kinds of quantities of your own: {', '.join(_own_bases)}.")
        _own_bases.append(name)
    _own[name] = Unit(_base(name)) if means is None else _meant(means)
    _resolve.cache_clear()
    return name


def _base(name: str) -> Dimension:
    place = len(BASE) + _own_bases.index(name)
    return tuple(float(k == place) if k == place else 0 for k in range(len(BASE) + OWN_BASES))


def _meant(means: str | None) -> Unit:
    if means is None:
        return Unit(_NONE, float("nan"))
    if not isinstance(means, str):
        raise UsageError(f"A unit means so much of another, got {means!r} of type {type(means).__name__}.", remedy='means="3 m"')
    number, unit = split_quantity(means)
    found = _resolve(unit)
    if not 0.0 < number < float("inf") or found.offset:
        raise UsageError(
            f"A unit cannot mean {means!r}: it is a positive number of a unit that counts from zero.", remedy='means="100 kg"'
        )
    return Unit(found.dimension, number * found.factor)


def _unit_named(name: str) -> Unit | None:
    return _own.get(name) or _known().get(name)


# --- units known here -------------------------------------------------------------------------------------------------


def _exponent(value: float) -> float:
    """Integers stay integers, so that dimensions compare and print well."""
    return round(value) if abs(value - round(value)) < 1e-9 else round(float(value), 9)


def _si(m: float = 0, kg: float = 0, s: float = 0, A: float = 0, K: float = 0, mol: float = 0, cd: float = 0) -> Dimension:
    return (m, kg, s, A, K, mol, cd, *(0,) * OWN_BASES)


_NONE, _LENGTH, _ENERGY, _PRESSURE, _POWER = _si(), _si(m=1), _si(2, 1, -2), _si(-1, 1, -2), _si(2, 1, -3)
_VOLTAGE, _RESISTANCE = _si(2, 1, -3, -1), _si(2, 1, -3, -2)
_PREFIXES = {"G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9, "p": 1e-12}
_PREFIXED: dict[str, tuple[Unit, str]] = {  # the symbol, and the prefixes that are in use with it
    "m": (Unit(_LENGTH), "kdcmuµn"),
    "g": (Unit(_si(kg=1), 1e-3), "kmuµ"),
    "s": (Unit(_si(s=1)), "muµn"),
    "A": (Unit(_si(A=1)), "kmuµn"),
    "K": (Unit(_si(K=1)), "m"),
    "mol": (Unit(_si(mol=1)), "km"),
    "cd": (Unit(_si(cd=1)), ""),
    "N": (Unit(_si(1, 1, -2)), "Mkm"),
    "Pa": (Unit(_PRESSURE), "GMkhm"),
    "bar": (Unit(_PRESSURE, 1e5), "m"),
    "J": (Unit(_ENERGY), "GMkm"),
    "W": (Unit(_POWER), "GMkmuµ"),
    "Hz": (Unit(_si(s=-1)), "GMk"),
    "V": (Unit(_VOLTAGE), "Mkmuµ"),
    "ohm": (Unit(_RESISTANCE), "Mkm"),
    "Ω": (Unit(_RESISTANCE), "Mkm"),
    "S": (Unit(_si(-2, -1, 3, 2)), "m"),
    "F": (Unit(_si(-2, -1, 4, 2)), "muµnp"),
    "H": (Unit(_si(2, 1, -2, -2)), "muµ"),
    "C": (Unit(_si(s=1, A=1)), "m"),
    "T": (Unit(_si(kg=1, s=-2, A=-1)), "m"),
    "Wb": (Unit(_si(2, 1, -2, -1)), "m"),
    "rad": (Unit(_NONE), "m"),
    "l": (Unit(_si(m=3), 1e-3), "m"),
    "L": (Unit(_si(m=3), 1e-3), "m"),
    "Wh": (Unit(_ENERGY, 3600.0), "GMk"),
}
_OTHERS: dict[str, Unit] = {
    "": Unit(_NONE),
    "1": Unit(_NONE),
    "%": Unit(_NONE, 0.01),
    "deg": Unit(_NONE, float(np.pi / 180)),
    "rpm": Unit(_si(s=-1), float(np.pi / 30)),
    "min": Unit(_si(s=1), 60.0),
    "h": Unit(_si(s=1), 3600.0),
    "d": Unit(_si(s=1), 86400.0),
    "day": Unit(_si(s=1), 86400.0),
    "t": Unit(_si(kg=1), 1000.0),
    "atm": Unit(_PRESSURE, 101325.0),
    "Ah": Unit(_si(s=1, A=1), 3600.0),
    "Nm": Unit(_ENERGY),
    "degC": Unit(_si(K=1), 1.0, 273.15),
    "°C": Unit(_si(K=1), 1.0, 273.15),
    "degF": Unit(_si(K=1), 5 / 9, 459.67 * 5 / 9),
}
_EXTRA: dict[str, Unit] = {  # that people write at the end of names; pint knows them too
    "in": Unit(_LENGTH, 0.0254),
    "ft": Unit(_LENGTH, 0.3048),
    "psi": Unit(_PRESSURE, 6894.757293168361),
    "mmHg": Unit(_PRESSURE, 133.322387415),
    "at": Unit(_PRESSURE, 98066.5),
    "lb": Unit(_si(kg=1), 0.45359237),
    "hp": Unit(_POWER, 745.6998715822702),
    "percent": Unit(_NONE, 0.01),
}


@functools.cache
def _known() -> dict[str, Unit]:
    units = dict(_OTHERS)
    for symbol, (unit, prefixes) in _PREFIXED.items():
        units[symbol] = unit
        units |= {p + symbol: Unit(unit.dimension, _PREFIXES[p] * unit.factor) for p in prefixes}
    units["kg"] = Unit(_si(kg=1))  # exactly
    return units


@functools.lru_cache(maxsize=4096)
def _resolve(unit: str) -> Unit:
    if not isinstance(unit, str):
        raise UsageError(f"A unit is a text such as `kg/s`, got {unit!r} of type {type(unit).__name__}.")
    text = unit.strip()
    found = _unit_named(text)
    if found is None:
        found = _composed(text)
    return _from_pint(text) if found is None else found


def common(text: str) -> Unit | None:
    """One of the usual units, or a product of them; None for what only pint's dictionary has, in which nearly every word is one.

    >>> common("kWh") is not None, common("cfm")
    (True, None)
    """
    return _unit_named(text) or _composed(text) or _EXTRA.get(text)


def _composed(text: str) -> Unit | None:
    """Products, quotients and powers of known units, with Python's precedence (which pint has too); None: ask pint."""
    try:
        tree = ast.parse(text.replace("^", "**").replace("·", "*"), mode="eval")
        return _of_node(tree.body)
    except (SyntaxError, ValueError, KeyError, OverflowError):
        return None


def _of_node(node: ast.expr) -> Unit:
    if isinstance(node, ast.Name):
        unit = _unit_named(node.id)
        if unit is None:
            raise KeyError
        if unit.offset:
            raise ValueError  # a temperature scale with an offset has no products
        return unit
    if isinstance(node, ast.Constant) and node.value == 1:
        return Unit(_NONE)
    if isinstance(node, ast.BinOp):
        left = _of_node(node.left)
        if isinstance(node.op, ast.Pow):
            return left ** float(ast.literal_eval(node.right))
        if isinstance(node.op, (ast.Mult, ast.Div)):
            right = _of_node(node.right)
            return left * (right if isinstance(node.op, ast.Mult) else right**-1.0)
    raise ValueError


# --- turns ------------------------------------------------------------------------------------------------------------

_RATE = _si(s=-1)
_ANGLES = {"rad", "mrad", "radian", "radians", "deg", "degree", "degrees", "°"}
_WHOLE_TURNS = {"rpm", "rps", "revolutions_per_minute", "revolutions_per_second", "turn", "turns", "rev", "revolution", "cycle"}
_TIMES = {"mHz", "Hz", "kHz", "MHz", "GHz", "hertz", "Hertz"}
_TURNS_AND_NOT = ({"angle", "times"}, {"turns", "times"}, {"turns", ""})  # 1/s may be rad/s, and whoever says Hz or rpm means turns


def _turns(unit: str) -> str:
    """How a unit of a rate counts turns: as "angle" or "turns" (both in radians), as "times", or not at all."""
    names = set(re.findall(r"[^\W\d]+|°", unit))
    return "turns" if names & _WHOLE_TURNS else "angle" if names & _ANGLES else "times" if names & _TIMES else ""


def _may_mean_turns(one: str, other: str) -> bool:
    """Whether one of two rates counts turns and the other angles, or may: 1/s may be rad/s; of 1/min it is turns."""
    counted = _turns(one), _turns(other)
    if set(counted) in _TURNS_AND_NOT:
        return True
    return set(counted) == {"angle", ""} and _resolve(one if not counted[0] else other).factor != 1.0


def how_turns_count(unit: str) -> str:
    """Whether a rate, or what it adds up to, is an angle (a turn is 2π of it) or a number of times; nothing where nobody says.

    >>> how_turns_count("rad/s"), how_turns_count("rpm"), how_turns_count("kHz"), how_turns_count("1/s"), how_turns_count("N*m/rad")
    ('angle', 'angle', 'times', '', '')
    """
    if not (counted := _turns(unit)) or dimension(unit) not in (_RATE, _NONE):
        return ""
    return "times" if counted == "times" else "angle"


def has_scaled_share(unit: str) -> bool:
    """Whether a part of a unit is an angle or a share that is not counted in ones.

    >>> has_scaled_share("deg/s"), has_scaled_share("ppm/h"), has_scaled_share("rad/s"), has_scaled_share("°C")
    (True, True, False, False)
    """
    return any(_is_scaled_share(part) for part in re.findall(r"°?[^\W\d]+|[%°‰]", unit))


@functools.lru_cache(maxsize=4096)
def _is_scaled_share(name: str) -> bool:
    try:
        found = _resolve(name)
    except UsageError:  # a piece of a name that pint has, such as inH2O
        return False
    return found.dimension == _NONE and found.factor != 1.0


# --- everything else --------------------------------------------------------------------------------------------------


@functools.cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()


_ABOVE = re.compile(r"([kMmh]?(?:bar|Pa)|psi)(?:\s*_?\(?(g|gauge|ü|Ü|a|abs|absolute)\)?)")  # barg, psi(a), kPa abs


def _from_pint(text: str) -> Unit:
    pressure = _ABOVE.fullmatch(text)
    if pressure is not None and pressure[2].startswith("a"):
        return _resolve(pressure[1])
    if pressure is not None:
        raise UsageError(
            f"`{text}` counts from the pressure of the surroundings, as no unit does here.",
            remedy=f"Give the absolute pressure in {pressure[1]}: 2 bar above surroundings at 1.013 bar are 3.013 bar.",
        )
    registry = _registry()
    try:
        parsed = registry.parse_units(text)
        zero, one, two = (registry.Quantity(v, parsed).to_base_units().magnitude for v in (0.0, 1.0, 2.0))
    except Exception:  # its own errors, and whatever its tokeniser raises
        raise _unknown(text) from None
    foreign = [name for name in parsed.dimensionality if name not in _PINT_BASE]
    if foreign or abs((two - one) - (one - zero)) > 1e-9 * abs(two - one):
        raise UsageError(f"`{text}` cannot be used as a unit: it is not a multiple of SI units.")
    exponents = tuple(_exponent(parsed.dimensionality.get(name, 0)) for name in _PINT_BASE)
    return Unit((*exponents, *(0,) * OWN_BASES), one - zero if zero else one, zero)


def _unknown(text: str) -> UsageError:
    names = re.findall(r"[^\W\d]+", text)
    known = {*_own, *_known(), *_registry()._units}
    wrong = [n for n in names if n not in known] or names[:1]
    remedy = " ".join(filter(None, (near_matches(n, known) for n in wrong)))
    return UsageError(f"The unit `{text}` is unknown.", remedy=remedy)
