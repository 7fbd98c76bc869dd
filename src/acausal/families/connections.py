"""Connections: potentials become equal, flows sum to zero; both as integer arrays.

A flow belongs to up to two nodes: one outside its component, and, for the connector of a composite, one inside it, where it
counts with the opposite sign. So the elements of nodes are pairs (flow, side), numbered `2·flow + side`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from ..errors import Diagnostic, ModelError, an
from ..language.connector import ConnectorView
from ..language.declarations import Declaration
from ..language.expression import Reference
from ..language.units import compatible
from ..records import dataclass
from ..structure.unions import components
from .plant import Kind, Plant
from .streams import Meetings, Mixing, meeting_streams
from .traced import Traced, TracedConnection
from .tree import Port

OUTER, INNER = 0, 1


@dataclass(slots=True)
class Pairs:
    """Growing lists of integer pairs; scalars come one by one from Python objects, arrays from slices."""

    single: list[int] = field(default_factory=list)  # flat: a, b, a, b, …
    arrays: list[np.ndarray] = field(default_factory=list)  # each (k, 2)

    def add(self, a: np.ndarray, b: np.ndarray) -> None:
        self.arrays.append(np.stack([a.ravel(), b.ravel()], axis=1))

    def all(self) -> np.ndarray:
        singles = np.array(self.single, dtype=np.int64).reshape(-1, 2)
        return np.concatenate([singles, *self.arrays])


@dataclass(slots=True)
class Nodes:
    """What the connections of the whole plant mean."""

    equal: np.ndarray  # (k, 2) variables that are equal
    zero: np.ndarray  # flows with nothing connected
    opposed: np.ndarray  # (k, 2) flows at nodes of two …
    opposed_sign: np.ndarray  # … equal up to this sign
    sum_node: np.ndarray  # summands of larger nodes: the node's number 0, 1, …
    sum_flow: np.ndarray  # … the flow
    sum_sign: np.ndarray  # … and its sign
    connected: np.ndarray  # mask of variables that occur in a connection
    stated: np.ndarray  # mask of inputs that equations of their surroundings state
    mixed: list[Mixing] = field(default_factory=list)  # what enters where three or more meet

    @property
    def sum_count(self) -> int:
        return int(self.sum_node.max()) + 1 if len(self.sum_node) else 0


class Joints:
    """Collects the pairs of all kinds' connections."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.equal, self.flows = Pairs(), Pairs()
        self._members: dict[tuple[int, str], list[tuple[bool, int, int, bool]]] = {}
        self._checked: set[tuple[Any, ...]] = set()

    def add(self, traced: Traced) -> None:
        kind = traced.kind
        for connection in traced.connections:
            first = connection.ends[0]
            for other in connection.ends[1:]:
                self._check(kind, connection, first, other)
                if kind.count == 1 and _is_scalar(first) and _is_scalar(other) and self._join_scalars(kind, first, other):
                    continue
                self._join_arrays(kind, connection, first, other)

    def _join_scalars(self, kind: Kind, a: Any, b: Any) -> bool:
        """Two single connectors of single objects: plain integers, since a model may have very many of these."""
        if isinstance(a, Reference):
            return False
        inner_a, inner_b = int(a._owner is kind.representative), int(b._owner is kind.representative)
        left, right = self._numbers(a), self._numbers(b)
        if left is None or right is None:
            return False
        for (flow, number_a), (_, number_b) in zip(left, right, strict=True):
            if flow:
                self.flows.single += (2 * number_a + inner_a, 2 * number_b + inner_b)
            else:
                self.equal.single += (number_a, number_b)
        return True

    def _numbers(self, end: ConnectorView) -> list[tuple[bool, int]] | None:
        owner, connector = end._owner, end._connector
        key = (owner.kind.index, connector.name)
        members = self._members.get(key)
        if members is None:
            found = [(m, owner.kind.quantities[f"{connector.name}.{m}"]) for m in sorted(connector.members)]
            found = [(m, q) for m, q in found if not q.declaration.stream]
            members = [(q.declaration.flow, q.base, q.size, connector.members[m].shape == ()) for m, q in found]
            self._members[key] = members
        picked = 0 if end._picked is None else int(end._picked)
        if not all(scalar for _, _, _, scalar in members):
            return None
        return [(flow, base + owner.first * size + picked) for flow, base, size, _ in members]

    def _join_arrays(self, kind: Kind, connection: TracedConnection, a: Any, b: Any) -> None:
        if isinstance(a, Reference):
            self._equal_arrays(kind, connection, a, b)
            return
        for name, member in a._connector.members.items():
            if member.stream:
                continue  # what enters and leaves follows from who meets: `streams.py`
            left, right = getattr(a, name), getattr(b, name)
            if member.flow:
                first, second = joined_numbers(self.plant, kind, connection, left, right)
                side_a, side_b = int(a._owner is kind.representative), int(b._owner is kind.representative)
                self.flows.add(2 * first + side_a, 2 * second + side_b)
            else:
                self._equal_arrays(kind, connection, left, right)

    def _equal_arrays(self, kind: Kind, connection: TracedConnection, a: Reference, b: Reference) -> None:
        self.equal.add(*joined_numbers(self.plant, kind, connection, a, b))

    # --- compatibility ----------------------------------------------------------------------------------------------
    def _check(self, kind: Kind, connection: TracedConnection, a: Any, b: Any) -> None:
        key = (_kind_of_end(a), _kind_of_end(b))
        if key in self._checked:
            return
        problem = _incompatible(a, b, connection.name_of(a), connection.name_of(b))
        if problem:
            what, remedy = problem
            raise ModelError(
                Diagnostic(what, component=kind.name, equation=str(connection), location=connection.location, remedy=remedy)
            )
        self._checked.add(key)

    # --- nodes ------------------------------------------------------------------------------------------------------
    def nodes(self) -> Nodes:
        plant = self.plant
        equal, pairs = self.equal.all(), self.flows.all()
        flow, sign = self._all_flows()
        place = np.full(plant.variable_count, -1, dtype=np.int64)
        place[flow] = np.arange(len(flow))
        # elements: every flow outside its component, and those flows inside that some connection names
        inside = np.unique(pairs[(pairs & 1) == INNER])
        inner_place = np.full(len(flow), -1, dtype=np.int64)
        inner_place[place[inside >> 1]] = len(flow) + np.arange(len(inside))
        ends = np.where(pairs & 1, inner_place[place[pairs >> 1]], place[pairs >> 1])
        label = components(len(flow) + len(inside), ends[:, 0], ends[:, 1])
        variable = np.concatenate([flow, inside >> 1])
        signs = np.concatenate([sign, -sign[place[inside >> 1]]])
        connected = np.zeros(plant.variable_count, dtype=bool)
        connected[equal.ravel()] = True
        connected[pairs.ravel() >> 1] = True
        meetings = Meetings(label, variable, signs, np.arange(len(variable)) >= len(flow))
        mixed, carried = meeting_streams(plant, meetings, connected)
        seen = np.zeros((0, 2), dtype=np.int64) if plant.seen is None else plant.seen.equal
        if plant.seen is not None:
            connected[plant.seen.looked_at] = True
        found = _sorted_nodes(np.concatenate([equal, carried, seen]), label, variable, signs, connected)
        found.mixed = mixed
        return found

    def _all_flows(self) -> tuple[np.ndarray, np.ndarray]:
        numbers, signs = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for kind in self.plant.kinds:
            for q in kind.quantities.values():
                if q.flow_sign:
                    numbers.append(np.arange(q.base, q.base + kind.count * q.size))
                    signs.append(np.full(kind.count * q.size, q.flow_sign))
        return np.concatenate(numbers), np.concatenate(signs)


def joined_numbers(
    plant: Plant, kind: Kind, connection: TracedConnection, a: Reference, b: Reference
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of two ends in every instance of a kind, element by element."""
    left, right = plant.numbers(kind, a), plant.numbers(kind, b)
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise ModelError(
            f"A connection joins arrays of different length: {_lengths(connection)}.",
            component=kind.name,
            equation=str(connection),
            location=connection.location,
            remedy="Slices connect element by element and must be equally long; a single connector joins them all.",
        ) from None
    wide = (kind.count, *shape)
    left = left.reshape((kind.count, *(1,) * (len(shape) - len(a.shape)), *a.shape))
    right = right.reshape((kind.count, *(1,) * (len(shape) - len(b.shape)), *b.shape))
    return np.broadcast_to(left, wide), np.broadcast_to(right, wide)


def _sorted_nodes(equal: np.ndarray, label: np.ndarray, variable: np.ndarray, sign: np.ndarray, connected: np.ndarray) -> Nodes:
    sizes = np.bincount(label) if len(label) else np.zeros(0, dtype=np.int64)
    size = sizes[label] if len(label) else sizes
    order = np.argsort(label, kind="stable")
    pair = order[size[order] == 2].reshape(-1, 2)
    many = order[size[order] > 2]
    renumber = np.cumsum(sizes > 2) - 1
    return Nodes(
        equal=equal,
        zero=variable[size == 1],
        opposed=variable[pair],
        opposed_sign=-sign[pair[:, 0]] * sign[pair[:, 1]],
        sum_node=renumber[label[many]] if len(many) else many,
        sum_flow=variable[many],
        sum_sign=sign[many],
        connected=connected,
        stated=np.zeros(len(connected), dtype=bool),
    )


def connected_variables(plant: Plant, traced: list[Traced]) -> np.ndarray:
    """Mask of the variables that some connection names; for messages, after `Joints` is gone."""
    found = np.zeros(plant.variable_count, dtype=bool)
    for one in traced:
        for end in (e for c in one.connections for e in c.ends):
            members = [end] if isinstance(end, Reference) else [getattr(end, name) for name in end._connector.members]
            for member in members:
                found[plant.numbers(one.kind, member).ravel()] = True
    return found


def _lengths(connection: TracedConnection) -> str:
    shapes = [end.shape if isinstance(end, Reference) else end._shape for end in connection.ends]
    return ", ".join(f"`{connection.name_of(end)}` has shape {shape}" for end, shape in zip(connection.ends, shapes, strict=True))


def _is_scalar(end: Any) -> bool:
    return (end.shape if isinstance(end, Reference) else end._shape) == ()


def _kind_of_end(end: Any) -> Any:
    return (end.owner.kind.index, end.name) if isinstance(end, Reference) else (end._owner.kind.index, end._connector.name)


def _incompatible(a: Any, b: Any, name_a: str, name_b: str) -> tuple[str, str] | None:
    """What is wrong with joining two ends, and what to do; None if they fit."""
    if isinstance(a, Reference) != isinstance(b, Reference):
        kind = (a if isinstance(a, Reference) else b).owner.kind
        ports = f"{kind.name} has the connectors {', '.join(kind.ports)}. " if kind.ports else ""
        return f"A connector is connected to a variable: `{name_a}` to `{name_b}`.", (
            f"{ports}Connect two connectors, or two variables; single variables may also be equated in `equations`."
        )
    if isinstance(a, Reference):
        return _units_differ(name_a, a.declaration, name_b, b.declaration)
    first, second = a._connector, b._connector
    related = first.lineage[0] in second.lineage or second.lineage[0] in first.lineage
    if not related or _roles(first) != _roles(second):
        return (
            f"Connectors of different kinds are connected: `{name_a}` is {an(first.class_name)} ({_listed(first)}), "
            f"`{name_b}` is {an(second.class_name)} ({_listed(second)}).",
            "Connect connectors of one class, or of one derived from it"
            + (": that members have the same names does not make them the same thing." if _roles(first) == _roles(second) else "")
            + ("" if _roles(first) == _roles(second) else ", or put a component between them that turns one into the other."),
        )
    for name in first.members:
        one, other = first.members[name], second.members[name]
        problem = _units_differ(f"{name_a}.{name}", one, f"{name_b}.{name}", other)
        if problem:
            return problem
        if one.stream and one.shape != other.shape:
            return (
                f"A connection joins streams of different length: `{name_a}.{name}` has shape {one.shape}, "
                f"`{name_b}.{name}` has shape {other.shape}.",
                "What leaves one connector enters the other: declare both with the same shape.",
            )
    return None


def _units_differ(name_a: str, a: Declaration, name_b: str, b: Declaration) -> tuple[str, str] | None:
    if not a.unit or not b.unit or a.unit == b.unit:
        return None
    if not compatible(a.unit, b.unit):
        return (
            f"A connection joins `{name_a}` in {a.unit} with `{name_b}` in {b.unit}.",
            "Connect quantities of the same dimension.",
        )
    return (
        f"A connection joins `{name_a}` in {a.unit} with `{name_b}` in {b.unit}.",
        "Declare both in the same unit (SI inside the model).",
    )


def _roles(connector: Port) -> dict[str, str]:
    return {name: _role(member) for name, member in connector.members.items()}


def _role(member: Declaration) -> str:
    return "flow" if member.flow else "stream" if member.stream else "potential"


def _listed(connector: Port) -> str:
    named = {name.rpartition(".")[0] if member.stream else name: _role(member) for name, member in connector.members.items()}
    return ", ".join(f"{name}: {role}" for name, role in named.items())
