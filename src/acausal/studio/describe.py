"""A catalogue as the forms, trees and diagrams of a page. Nothing here knows a component class by name.

A path has a star for every index of an array (`wall.layer[*].T[*]`); the page asks for elements by putting numbers in their places.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import AcausalError
from ..language.units import compatible, convert
from ..results.circuits import labelled
from .protocol import Part, Quantity, Unit

Json = dict[str, Any]

# What engineers read a quantity in, first the usual one; whoever wants another writes it into the field with the number.
_CUSTOMARY = (
    ("°C", "K", "degF"),
    ("bar", "kPa", "Pa", "MPa"),
    ("h", "min", "s", "day"),
    ("kW", "W", "MW"),
    ("kWh", "J", "kJ", "MJ"),
    ("kg/s", "g/s", "kg/h"),
    ("kJ/kg", "J/kg"),
    ("m", "cm", "mm", "km"),
    ("m^2", "cm^2", "mm^2"),
    ("m^3", "l", "cm^3"),
    ("m^3/s", "m^3/h", "l/min", "l/s"),
    ("m/s", "km/h"),
    ("kg", "g", "t"),
    ("rad/s", "rpm"),
    ("rad", "deg"),
    ("ohm", "kohm", "mohm"),
    ("A", "mA", "kA"),
    ("V", "mV", "kV"),
    ("F", "uF", "nF"),
    ("H", "mH"),
    ("1", "%"),
    ("W/K", "kW/K"),
    ("J/K", "kJ/K", "MJ/K"),
)
# Those that are shown from the start although declarations are in another one: nobody thinks in kelvin.
_PREFERRED = {"K": "°C"}
_COLDEST = 100.0  # kelvin: the lowest temperature that plants have; differences are smaller


def parts_of(catalogue: Json) -> list[Part]:
    """The tree, parents before their children; each part with its quantities."""
    return list(_parts(catalogue, catalogue["tree"], "", "", -1, [], set(), [0]))


def _parts(
    found: Json, node: Json, path: str, name: str, parent: int, shape: list[int], driven: set[str], counter: list[int]
) -> Iterator[Part]:
    kind = found["kinds"][node["kind"]]
    own = counter[0]
    counter[0] += 1
    quantities = [_quantity(kind, node, q, path, shape, q["name"] in driven) for q in _declared(kind)]
    quantities += [_expression(e, path, shape) for e in kind["expressions"]]
    children = node.get("parts", [])
    yield Part(path, name, kind["class"], kind["documentation"], parent, node.get("shape", []), bool(children), quantities)
    joined = _driven(kind)
    for child in children:
        label = labelled(child)
        stars = f"{label}{starred(child.get('shape', []))}"
        below = f"{path}.{stars}" if path else stars
        inner = {name.removeprefix(f"{label}.") for name in joined if name.startswith(f"{label}.")}
        inner |= {name.removeprefix(f"{label}.") for name in driven if name.startswith(f"{label}.")}
        yield from _parts(found, child, below, label, own, [*shape, *child.get("shape", [])], inner, counter)


def starred(shape: list[int]) -> str:
    return f"[{','.join('*' * len(shape))}]" if shape else ""


def _declared(kind: Json) -> Iterator[Json]:
    yield from kind["quantities"]
    for connector in kind["connectors"]:
        yield from connector["quantities"]


def _driven(kind: Json) -> set[str]:
    """Quantities that a connection of signals or states of this class joins: an input among them is given from elsewhere."""
    found = set()
    for connection in kind["connections"]:
        if connection["joins"] != "connectors":
            found |= {f"{end['part']}.{end['name']}" if end["part"] else end["name"] for end in connection["ends"]}
    return found


def _quantity(kind: Json, node: Json, declared: Json, path: str, shape: list[int], connected: bool) -> Quantity:
    name = declared["name"]
    said = node.get("modifications", {}).get(name, {})
    stated = {**declared, **said}
    value = node.get("values", {}).get(name)
    bound = stated.get("value")
    return Quantity(
        path=f"{path}.{name}{starred(declared['shape'])}" if path else f"{name}{starred(declared['shape'])}",
        name=name,
        role=declared["role"],
        unit=declared["unit"],
        doc=declared["documentation"],
        shape=[*shape, *declared["shape"]],
        group=declared["group"],
        value=value,
        start=_plain(stated.get("start")),
        minimum=_number(stated.get("min")),
        maximum=_number(stated.get("max")),
        bound=bound["expression"] if isinstance(bound, dict) else "",
        connected=connected or (declared["role"] == "input" and isinstance(bound, dict)),
        fixed=stated.get("fixed") is True,
        state=bool(declared.get("state")),
        flow=bool(declared.get("flow")),
        difference=is_difference({**stated, "value": value if value is not None else bound}),
        states=list(declared.get("states", [])),
        place=_place(declared["location"]),
    )


def _expression(said: Json, path: str, shape: list[int]) -> Quantity:
    name = f"{said['name']}{starred(said['shape'])}"
    full = f"{path}.{name}" if path else name
    shapes = [*shape, *said["shape"]]
    return Quantity(full, said["name"], "expression", said["unit"], said["documentation"], shapes, difference=said["unit"] == "K")


def is_difference(stated: Json) -> bool:
    """Whether a quantity in kelvin is a difference (a band, a superheat): nothing that is said of it is as large as a temperature.

    In doubt it is one: a temperature that is shown in kelvin is no lie, a difference in degrees Celsius is.
    """
    if stated["unit"] != "K":
        return False
    said = [stated.get(name) for name in ("value", "start", "nominal")]
    numbers = [np.ravel(np.asarray(v))[:1] for v in said if _is_number(v)]
    return not any(len(n) and float(n[0]) > _COLDEST for n in numbers)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, list) and bool(value) and not isinstance(value[0], (str, dict)))


def _plain(value: Any) -> Any:
    return None if isinstance(value, dict) else value


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _place(location: Json | None) -> str:
    return "" if location is None else f"{location['file']}:{location['line']}"


# --- units -------------------------------------------------------------------------------------------------------------------


def units_of(parts: list[Part]) -> dict[str, list[Unit]]:
    """For each unit that declarations use: those it can be shown in, first the one that is shown unless another is chosen."""
    return {unit: alternatives(unit) for unit in sorted({q.unit for part in parts for q in part.quantities})}


@functools.cache
def alternatives(unit: str) -> list[Unit]:
    """Units in which values of another one can be shown.

    >>> [u.symbol for u in alternatives("K")], [u.symbol for u in alternatives("W/K")]
    (['°C', 'K', 'degF'], ['W/K', 'kW/K'])
    """
    own = Unit(unit, 1.0, 0.0)
    if not unit:
        return [own]
    for group in _CUSTOMARY:
        try:
            if not compatible(unit, group[-1]):
                continue
            others = [_between(unit, symbol) for symbol in group if symbol != unit]
        except AcausalError:
            continue
        if unit in group or _is_plain(unit, group):
            found = [own, *others]
            return sorted(found, key=lambda u: u.symbol != _PREFERRED.get(unit, unit))
    return [own]


def _is_plain(unit: str, group: tuple[str, ...]) -> bool:
    """Whether a unit is one of a group in another spelling; a torque in N m is no energy, so only its own family is offered."""
    return any(convert(1.0, unit, symbol) == 1.0 and unit.replace("degC", "°C") == symbol for symbol in group)


def _between(unit: str, symbol: str) -> Unit:
    zero, one = float(convert(0.0, unit, symbol)), float(convert(1.0, unit, symbol))
    return Unit(symbol, one - zero, zero)
