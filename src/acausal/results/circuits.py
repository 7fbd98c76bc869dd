"""Which media flow through a plant, and where, from its catalogue.

A part with two ports is a *leg*: the line from the state at one port to that at the other. All legs of a circuit together are its
cycle, however it branches; nobody has to say in which order the medium passes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from ..records import dataclass

_PORTS = 400  # ports of one medium that are drawn
CHARTS = {"Fluid": ["ph", "Ts"], "MoistAir": ["Tw"]}  # by the class of a medium


@dataclass(slots=True)
class Leg:
    """A part that a medium passes, from one of its ports to another: places in the circuit's list."""

    part: str
    a: int
    b: int


@dataclass(slots=True)
class Circuit:
    """Everything through which one medium flows."""

    medium: str
    ports: list[str]
    legs: list[Leg]
    charts: list[str]  # kinds of charts that there are of it


def circuits_of(catalogue: Mapping[str, Any]) -> list[Circuit]:
    """Which media that there are charts of flow through the plant, and through which parts."""
    found: dict[str, Circuit] = {}
    for path, kind in _leaves(catalogue, catalogue["tree"], ""):
        for medium, charts in {c["medium"]: CHARTS[c["medium class"]] for c in _ports(kind)}.items():
            circuit = found.setdefault(medium, Circuit(medium, [], [], charts))
            names = [f"{path}.{c['name']}" for c in _ports(kind) if c["medium"] == medium]
            if len(circuit.ports) + len(names) > _PORTS:
                continue
            first = len(circuit.ports)
            circuit.ports += names
            pairs = [(a, b) for b in range(len(names)) for a in range(b)] or [(0, 0)]  # one port alone is a point
            circuit.legs += [Leg(path, first + a, first + b) for a, b in pairs]
    return list(found.values())


def _leaves(catalogue: Mapping[str, Any], node: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Parts that have ports for fluids and nothing inside that has: a composite's ports are those of its parts."""
    inside = [
        found
        for child in node.get("parts", [])
        for element in _elements(child)
        for found in _leaves(catalogue, child, f"{path}.{element}" if path else element)
    ]
    yield from inside
    kind = catalogue["kinds"][node["kind"]]
    if not inside and path and _ports(kind):
        yield path, kind


def _elements(node: dict[str, Any]) -> Iterator[str]:
    shape = node.get("shape", [])
    for k in product(*map(range, shape)):
        yield labelled(node) + (f"[{','.join(map(str, k))}]" if shape else "")


def _ports(kind: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for c in kind["connectors"] if c.get("medium class") in CHARTS and not c["shape"]]


def labelled(node: Mapping[str, Any]) -> str:
    """A part's name among its siblings; of a list of components with its place there."""
    return f"{node['name']}[{node['position']}]" if "position" in node else node["name"]
