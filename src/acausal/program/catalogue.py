"""The catalogue: a description of a model as data, for listings, forms and diagrams; whatever is in it can be JSON.

What a class says stands once for each kind (declarations, connectors, connections, structural choices); the tree has one node for
each Python object, an array of components being one. So the catalogue of nine thousand resistors in an array is as short as that
of one. `model.catalogue()` makes it; its layout is described in `docs/catalogue.md`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Location
from ..families.assemble import read
from ..families.numbers import Attributes
from ..families.plant import ICON, INSTEAD, MEDIA, Kind, Plant, Quantity
from ..families.system import System
from ..families.traced import Traced, TracedConnection
from ..families.tree import NUMERIC, Node
from ..language.component import Component
from ..language.connector import ConnectorView
from ..language.declarations import Constant, Declaration, Output
from ..language.expression import Expression, Reference
from ..language.icons import is_drawing
from ..language.states import StateDeclaration
from .program import Program

NUMBER = 1  # of the layout
Json = dict[str, Any]


def catalogue(program: Program, known: np.ndarray) -> Json:
    """Everything a program declares, with the values that `known` cells have now."""
    return described(program.system, program.title, known)


def described(system: System, title: str, known: np.ndarray) -> Json:
    """The catalogue of what a translation made; a result has it, too."""
    writer = _Writer(system.plant, known, _differentiated(system))
    return {
        "format": "acausal catalogue",
        "format number": NUMBER,
        "title": title,
        "unknowns": system.size,
        "independent": list(system.plant.independent[:2]),
        "kinds": [writer.kind(kind, traced) for kind, traced in zip(system.plant.kinds, system.traced, strict=True)],
        "tree": writer.node(system.plant.root),
    }


def sketch(component: Component) -> Json:
    """The catalogue of a component that need not be a whole model: what its classes declare and connect, before any of it is
    checked for having a solution. Nobody knows yet what is differentiated, nor what bound parameters come to."""
    source = read(component)
    plant = source.plant
    known = Attributes(plant).read("value", "known", plant.known_count).cells
    writer = _Writer(plant, known, np.zeros(plant.variable_count, dtype=bool))
    return {
        "format": "acausal catalogue",
        "format number": NUMBER,
        "title": plant.root.class_name,
        "unknowns": 0,
        "independent": list(plant.independent[:2]),
        "kinds": [writer.kind(kind, traced) for kind, traced in zip(plant.kinds, source.traced, strict=True)],
        "tree": writer.node(plant.root),
    }


def _differentiated(system: System) -> np.ndarray:
    """Which variables of the plant are differentiated somewhere."""
    found = np.zeros(system.plant.variable_count, dtype=bool)
    taking_part = system.differential.copy()
    if system.derivatives is not None:
        taking_part[: len(system.derivatives.highest)] |= system.derivatives.highest > 0
    free = np.flatnonzero(~system.aliases.known)
    free = free[system.aliases.index[free] < len(taking_part)]
    found[free] = taking_part[system.aliases.index[free]]
    return found


class _Writer:
    def __init__(self, plant: Plant, known: np.ndarray, differentiated: np.ndarray) -> None:
        self.plant, self.known, self.differentiated = plant, known, differentiated

    # --- classes --------------------------------------------------------------------------------------------------------------
    def kind(self, kind: Kind, traced: Traced) -> Json:
        shown = [q for q in kind.quantities.values() if not q.declaration.auxiliary]
        return {
            "number": kind.index,
            "class": kind.name,
            "documentation": kind.doc,
            "icon": icon if is_drawing(icon := kind.attributes.get(ICON)) else "",  # it may come from a file
            "instances": kind.count,
            "connectors": [self._connector(kind, name) for name in kind.ports],
            "quantities": [self._quantity(kind, q) for q in shown if q.connector is None],
            "expressions": [self._expression(kind, name, e) for name, e in kind.named.items()],
            "structural": {name: value for name, value in kind.attributes.items() if name not in (ICON, INSTEAD, MEDIA)},
            "connections": [self._connection(c) for c in [*traced.connections, *traced.state_connections]],
        }

    def _connector(self, kind: Kind, name: str) -> Json:
        port, medium = kind.ports[name], kind.attributes.get(MEDIA, {}).get(name)
        return {
            "name": name,
            "class": port.class_name,
            "documentation": port.doc,
            "positive": "in" if port.sign > 0 else "out",
            **({"medium": medium[0], "medium class": medium[1]} if medium else {}),
            "shape": list(port.shape),
            "declared in": port.declared_in,
            "location": _place(port.location),
            "quantities": [self._quantity(kind, kind.quantities[f"{name}.{member}"]) for member in port.members],
        }

    def _quantity(self, kind: Kind, quantity: Quantity) -> Json:
        declared = quantity.declaration
        found: Json = {
            "name": quantity.name,
            "role": _role(declared),
            "unit": declared.unit,
            "documentation": declared.doc,
            "shape": list(quantity.shape),
            "group": declared.group,
            "declared in": declared.declared_in,
            "location": _place(declared.location),
        }
        found |= {name: _stated(getattr(declared, name)) for name in NUMERIC if getattr(declared, name, None) is not None}
        if quantity.role == "discrete":
            found["type"] = getattr(declared, "type", "real")
        if isinstance(declared, StateDeclaration):
            found["states"] = list(declared.states)
            found["of"] = type(declared).__name__
        if quantity.role == "variable":
            found["state"] = bool(self.differentiated[quantity.base : quantity.base + kind.count * quantity.size].any())
            found["flow"] = declared.flow
        return found

    def _expression(self, kind: Kind, name: str, expression: Expression) -> Json:
        unit, doc = kind.units_of_named.get(name, ("", ""))
        return {"name": name, "unit": unit, "documentation": doc, "shape": list(expression.shape)}

    def _connection(self, connection: TracedConnection) -> Json:
        what = "states" if connection.of_states else "signals" if isinstance(connection.ends[0], Reference) else "connectors"
        ends = [self._end(connection, end) for end in connection.ends]
        return {"joins": what, "ends": ends, "location": _place(connection.location)}

    def _end(self, connection: TracedConnection, end: ConnectorView | Reference) -> Json:
        """An end as the component that connects sees it; `elements` are flat numbers among all there are, null for all of them."""
        if isinstance(end, Reference):
            owner, name, picked, shape = end.owner, end.name, end.picked, end.shape
        else:
            owner, name, picked, shape = end._owner, end._connector.name, end._picked, end._shape
        part = owner._path_from(connection.component)
        elements = None if picked is None else picked.ravel().tolist()
        return {"part": part, "name": name, "shape": list(shape), "elements": elements}

    # --- the tree -------------------------------------------------------------------------------------------------------------
    def node(self, node: Node) -> Json:
        found: Json = {"name": node.name, "kind": node.kind.index, "instances": node.count}
        if node.position is not None:
            found["position"] = node.position
        if node.shape:
            found["shape"] = list(node.shape)
        values = {q.name: self._values(node, q) for q in node.kind.quantities.values() if self._has_value(q)}
        if values:
            found["values"] = values
        changed = {name: {a: _stated(v) for a, v in said.items()} for name, said in node.modifications.items()}
        if changed:
            found["modifications"] = changed
        if node.children:
            found["parts"] = [self.node(part) for part in node.parts()]
        if node is self.plant.root:
            found["name"] = ""
        return found

    def _has_value(self, quantity: Quantity) -> bool:
        return quantity.first("known") is not None and not quantity.declaration.auxiliary

    def _values(self, node: Node, quantity: Quantity) -> Any:
        """The values of all instances of a node: one number where they are equal, else one for each element in order."""
        base = quantity.first("known")
        assert base is not None
        cells = self.known[base + node.first * quantity.size : base + (node.first + node.count) * quantity.size]
        declared = quantity.declaration
        if isinstance(declared, StateDeclaration):
            names = [declared.states[int(v)] for v in cells]
            return names[0] if len(set(names)) == 1 else names
        return _number(cells[0]) if len(cells) and (cells == cells[0]).all() else [_number(v) for v in cells]


def _role(declared: Declaration) -> str:
    if isinstance(declared, Constant):
        return "constant"
    return "output" if isinstance(declared, Output) else declared.role


def _stated(value: Any) -> Any:
    """A number, a text, or what an expression says."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float, np.generic)):
        return _number(value)
    if isinstance(value, (np.ndarray, list, tuple)):
        return [_stated(v) for v in value]
    return {"expression": str(value)}


def _number(value: Any) -> Any:
    """A number that JSON has; infinity is a text."""
    number = value.item() if isinstance(value, np.generic) else value
    return number if not isinstance(number, float) or np.isfinite(number) else str(number)


def _place(location: Location | None) -> Any:
    return None if location is None else {"file": location.file, "line": location.line}
