"""Circuits: which medium flows where, from what components say of it and from how they are connected.

*Problem.* Vertices are the places for media and the fluid ports of all components (an array of components counts as one). Edges
are connections, and the belonging of a port to a place of its component. Some vertices say a medium. A circuit is a connected part
of this graph; all that its vertices say has to be one medium, which then all of them have. It is found before the equations are
stated, for they depend on it; connections do not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import field, replace
from typing import Any

from ..errors import Diagnostic, Location, ModelError, UsageError
from ..language.component import Component, ComponentArray
from ..language.connector import Connector, ConnectorView
from ..language.medium import PLACE, AnyMedium, FluidPort, Known, Medium, UnknownMedium, fluid_paths, part_at
from ..language.reading import undone
from ..records import dataclass
from .census import Census
from .plant import Kind
from .trace import stated_connections
from .tree import Node

_SHOWN = 12  # steps of a path
Vertex = tuple[int, str]  # a component's number, and a place or port of it


@dataclass(frozen=True, slots=True)
class Edge:
    """Two vertices with one medium, by a connection or within a component."""

    to: Vertex
    connection: str = ""
    location: Location | None = None


@dataclass(slots=True)
class Circuits:
    """The graph, and what is said in it."""

    nodes: list[Node]
    edges: dict[Vertex, list[Edge]] = field(default_factory=dict)
    said: dict[Vertex, Any] = field(default_factory=dict)
    defaults: dict[Vertex, Any] = field(default_factory=dict)
    around: dict[int, Vertex] = field(default_factory=dict)  # by a node's id: what holds everywhere below it
    plain: dict[Vertex, Medium | str] = field(default_factory=dict)  # what holds below a component without a place for it

    def join(self, a: Vertex, b: Vertex, connection: str = "", location: Location | None = None) -> None:
        self.edges.setdefault(a, []).append(Edge(b, connection, location))
        self.edges.setdefault(b, []).append(Edge(a, connection, location))

    def circuits(self) -> Iterator[dict[Vertex, tuple[Vertex, Edge] | None]]:
        """Each circuit: its vertices, and whence a search from the first of them came to each."""
        seen: set[Vertex] = set()
        for vertex in self.edges:
            if vertex not in seen:
                found = self.reached_from(vertex)
                seen |= found.keys()
                yield found

    def reached_from(self, start: Vertex) -> dict[Vertex, tuple[Vertex, Edge] | None]:
        reached: dict[Vertex, tuple[Vertex, Edge] | None] = {start: None}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for edge in self.edges[here]:
                if edge.to not in reached:
                    reached[edge.to] = (here, edge)
                    queue.append(edge.to)
        return reached

    def name(self, vertex: Vertex) -> str:
        node: Node | None = self.nodes[vertex[0]]
        parts: list[str] = [vertex[1]]
        while node is not None and node.parent is not None:
            parts.append(node.name if node.position is None else f"{node.name}[{node.position}]")
            node = node.parent
        return ".".join(reversed(parts))


def media_in(root: object) -> Known:
    """The media of all places and ports below `root`; nothing where there are none."""
    if not isinstance(root, Component):
        return {}  # the census says what is wrong
    carrying = [c for c in _all(root) if c._class_media or any(_is_fluid(d) for d in c._all_declared().values())]
    if not carrying:
        return {}
    plain = [(c, said) for c in _all(root) if PLACE not in c._class_media and (said := _said_plainly(c)) is not None]
    census = Census(root, None)
    numbers: dict[int, int] = {}
    circuits = Circuits([])
    for component in _all(root):
        node = census.node(component)
        numbers[id(node)] = len(circuits.nodes)
        circuits.nodes.append(node)
    inside = _connect(circuits, census, numbers)
    for component in carrying:
        _belong(circuits, census, numbers, component, inside)
    for component in carrying:
        _hold_below(circuits, numbers[id(census.node(component))], component)
    for component, said in plain:
        own = numbers[id(census.node(component))]
        circuits.around.setdefault(id(circuits.nodes[own]), (own, PLACE))
        circuits.plain[own, PLACE] = said
    found = _solved(circuits, {numbers[id(census.node(c))]: id(c) for c in carrying})
    wrong = [d for c in carrying for d in _of_another(circuits, numbers[id(census.node(c))], c, found.get(id(c), {}))]
    if wrong:
        raise ModelError(*wrong)
    return found


def spelt(medium: Medium) -> str:
    """A medium by its kind and name and what tells it from others of that name, as files of components have it:
    `IdealGas N2 + O2 (0.767, 0.233)`."""
    more = medium.particulars()
    return f"{type(medium).__name__} {medium.name}" + (f" ({more})" if more else "")


def _told_apart(one: str, other: str) -> tuple[str, str]:
    """Two media in the words in which they differ: their names, or more."""
    brief = one.rpartition(" (")[0] or one, other.rpartition(" (")[0] or other
    return brief if brief[0] != brief[1] else (one, other)


def _of_another(circuits: Circuits, own: int, component: Component, media: dict[str, Medium]) -> Iterator[Diagnostic]:
    """Ports of a component that came in a file which carry another medium than its equations were made for."""
    for name, said in component._ac_media.items():
        if name in media and _is_fluid(component._all_declared().get(name.partition(".")[0])) and spelt(media[name]) != said:
            cls, (packed_for, carried) = type(component).__name__, _told_apart(said, spelt(media[name]))
            yield Diagnostic(
                f"{cls} was packed for {packed_for}, and `{circuits.name((own, name))}` carries {carried}.",
                component=cls,
                remedy=f"Connect it to a circuit of {packed_for}, or ask its author for a file with {cls} for the other medium.",
            )
            return  # its other ports are of the same circuit, or told the next time


def _all(root: Component) -> Iterator[Component]:
    """All components, an array's element once."""
    stack = [root]
    while stack:
        component = stack.pop()
        yield component
        for value in component.__dict__.values():
            if isinstance(value, Component) and value._ac_parent is component:
                stack.append(value)
            elif isinstance(value, ComponentArray):
                stack.append(value._element)
            elif isinstance(value, tuple) and value and isinstance(value[0], Component):
                stack += [v for v in value if v._ac_parent is component]


def _is_fluid(declared: Any) -> bool:
    return isinstance(declared, Connector) and declared.fluid


# --- the graph ------------------------------------------------------------------------------------------------------------------
def _connect(circuits: Circuits, census: Census, numbers: dict[int, int]) -> set[Vertex]:
    """Join what connections join; returns the ports that are connected inside their component."""
    inside: set[Vertex] = set()
    for kind, component in zip(census.plant.kinds, census.representatives, strict=True):
        if type(component).connections is Component.connections:
            continue
        with undone(component, census.named_by):
            stated = list(stated_connections(kind, component))
        for ends, where in stated:
            fluid_ends = [e for e in ends if isinstance(e, ConnectorView) and e._connector.fluid]
            for other in fluid_ends[1:]:
                for path in fluid_paths(fluid_ends[0]._connector):
                    if path in fluid_paths(other._connector):
                        _join(circuits, numbers, kind, component, (fluid_ends[0], other), path, where, inside)
    return inside


def _join(
    circuits: Circuits,
    numbers: dict[int, int],
    kind: Kind,
    component: Component,
    ends: tuple[ConnectorView, ConnectorView],
    path: str,
    where: Location | None,
    inside: set[Vertex],
) -> None:
    """A connection, in each of the components that are alike."""
    steps = [tuple(end._owner._steps_from(component) or ()) for end in ends]
    names = [f"{end._connector.name}.{path}".rstrip(".") for end in ends]
    text = ", ".join(repr(end) for end in ends)
    for member in kind.members:
        a, b = ((numbers[id(member.follow(s))], name) for s, name in zip(steps, names, strict=True))
        circuits.join(a, b, text, where)
        inside |= {v for v, s in zip((a, b), steps, strict=True) if not s}


def _belong(circuits: Circuits, census: Census, numbers: dict[int, int], component: Component, inside: set[Vertex]) -> None:
    """What a component says of its own places and ports."""
    own = numbers[id(census.node(component))]

    def take(vertex: Vertex, said: Any) -> None:
        circuits.edges.setdefault(vertex, [])
        if isinstance(said, AnyMedium):
            circuits.join(vertex, (own, said.name))
        elif isinstance(said, UnknownMedium):
            other = numbers.get(id(census.node(said.component)))
            if other is not None:
                circuits.join(vertex, (other, said.place))
        elif said is not None:
            circuits.said[vertex] = _made(said, circuits, vertex)

    for name, connector in component._all_declared().items():
        if not isinstance(connector, Connector):
            continue
        for path in fluid_paths(connector):
            port = part_at(connector, path)
            vertex = (own, f"{name}.{path}".rstrip("."))
            if isinstance(port, FluidPort) and port.said is not None:
                take(vertex, port.said)
            elif vertex not in inside:
                circuits.join(vertex, (own, PLACE))
    for name, place in component._class_media.items():
        vertex, said = (own, name), component.__dict__.get(name)
        if place.is_implied and vertex not in circuits.edges:
            if said is not None:
                raise ModelError(_of_no_port(circuits, vertex, component))
            continue
        take(vertex, said)
        if place.everywhere:
            node = circuits.nodes[own]
            circuits.around[id(node.parent or node)] = vertex
        if place.default is not None:
            circuits.defaults[vertex] = _made(place.default, circuits, vertex)


def _hold_below(circuits: Circuits, own: int, component: Component) -> None:
    """A medium that a component says and that none of its ports has, nor a part it was handed to, is that of the circuits in it."""
    for name, place in component._class_media.items():
        vertex = (own, name)
        if not place.everywhere and not circuits.edges.get(vertex) and (vertex in circuits.said or vertex in circuits.defaults):
            circuits.around.setdefault(id(circuits.nodes[own]), vertex)


def _said_plainly(component: Component) -> Medium | str | None:
    """`medium = "water"` in the body or the `__init__` of a plant without fluid ports of its own."""
    found = component.__dict__.get(PLACE, getattr(type(component), PLACE, None))
    return found if isinstance(found, (Medium, str)) else None


def _of_no_port(circuits: Circuits, vertex: Vertex, component: Component) -> Diagnostic:
    cls = type(component).__name__
    return Diagnostic(
        f"`{circuits.name(vertex)}` is said, but no port of {cls} belongs to it: they are all connected inside.",
        component=cls,
        remedy=f"Say it of a part of {cls}. To hand it on, {cls} declares `medium = ac.AnyMedium()` and gives `medium=self.medium` "
        "to a part in `__init__`.",
    )


def _made(said: Medium | str, circuits: Circuits, vertex: Vertex) -> Medium:
    if isinstance(said, Medium):
        return said
    from ..media import fluid  # most plants have no fluid

    try:
        return fluid(said)
    except UsageError as error:
        place = f"`{circuits.name(vertex)}` of {circuits.nodes[vertex[0]].class_name}"
        raise type(error)(*(replace(d, component=place) for d in error.diagnostics)) from None


# --- its solution ---------------------------------------------------------------------------------------------------------------
def _solved(circuits: Circuits, component_of: dict[int, int]) -> dict[int, dict[str, Medium]]:
    found: dict[int, dict[str, Medium]] = {}
    wrong: list[Diagnostic] = []
    for circuit in circuits.circuits():
        medium = _medium_of(circuits, circuit, wrong)
        for number, name in circuit if medium is not None else ():
            if number in component_of:
                found.setdefault(component_of[number], {})[name] = medium  # type: ignore[assignment]
    if wrong:
        raise ModelError(*wrong)
    return found


def _medium_of(circuits: Circuits, circuit: Collection[Vertex], wrong: list[Diagnostic]) -> Medium | None:
    for said in (circuits.said, circuits.defaults):
        speaking = [v for v in circuit if v in said]
        other = next((v for v in speaking if said[v] != said[speaking[0]]), None)
        if other is not None:
            wrong.append(_two_media(circuits, said, speaking[0], other))
            return None
        if speaking:
            return said[speaking[0]]
    around = _around(circuits, next(iter(circuit)))
    if around in circuits.plain:
        return _made(circuits.plain[around], circuits, around)
    if around is not None and around not in circuit:
        return _medium_of(circuits, circuits.reached_from(around), wrong)
    wrong.append(_no_medium(circuits, list(circuit)))
    return None


def _around(circuits: Circuits, vertex: Vertex) -> Vertex | None:
    """The nearest place around a vertex whose medium holds everywhere."""
    node: Node | None = circuits.nodes[vertex[0]]
    while node is not None:
        if id(node) in circuits.around:
            return circuits.around[id(node)]
        node = node.parent
    return None


def _two_media(circuits: Circuits, said: dict[Vertex, Any], one: Vertex, other: Vertex) -> Diagnostic:
    first, second = said[one].name, said[other].name
    between = "" if first != second else " with other properties"
    return Diagnostic(
        f"Two media are in one circuit: `{circuits.name(one)}` is {first}, and `{circuits.name(other)}` is {second}{between}.",
        details=tuple(_path(circuits, one, other)),
        remedy=_apart(circuits, one, other),
    )


def _apart(circuits: Circuits, one: Vertex, other: Vertex) -> str:
    reached, here = circuits.reached_from(one), other
    while (came := reached[here]) is not None:
        node = circuits.nodes[here[0]]
        if node.shape:
            return (
                f"Say the medium of a circuit once. All elements of an array have one medium: make `{node.name}` an array for each."
            )
        here = came[0]
    return "Say the medium of a circuit once; where two meet, a component with a place for each (`ac.AnyMedium`) keeps them apart."


def _path(circuits: Circuits, one: Vertex, other: Vertex) -> list[str]:
    """How one vertex is connected to another, step by step."""
    reached = circuits.reached_from(one)
    steps: list[str] = []
    here = other
    while (came := reached[here]) is not None:
        before, edge = came
        if edge.connection:
            at = f"  ({edge.location})" if edge.location else ""
            steps.append(f"joined:    `{circuits.name(before)}` to `{circuits.name(here)}`{at}")
        elif circuits.nodes[before[0]] is circuits.nodes[here[0]]:
            component = circuits.name((before[0], "")).rstrip(".") or circuits.nodes[before[0]].class_name
            steps.append(f"within:    `{component}`, from `{before[1]}` to `{here[1]}`")
        else:
            steps.append(f"given:     `{circuits.name(before)}` and `{circuits.name(here)}` as one")
        here = before
    steps.reverse()
    middle = len(steps) - _SHOWN
    return steps if middle <= 0 else [*steps[: _SHOWN // 2], f"… {middle} more …", *steps[-_SHOWN // 2 :]]


def _no_medium(circuits: Circuits, circuit: list[Vertex]) -> Diagnostic:
    names = [circuits.name(v) for v in circuit]
    joined = [
        f"joined:    `{circuits.name(v)}` to `{circuits.name(e.to)}`" + (f"  ({e.location})" if e.location else "")
        for v in circuit
        for e in circuits.edges[v]
        if e.connection and v < e.to
    ]
    more = [f"… {len(joined) - _SHOWN} more …"] if len(joined) > _SHOWN else []
    place = next((v for v in circuit if v[1] == PLACE), circuit[0])
    said = f'{circuits.nodes[place[0]].class_name}({place[1].partition(".")[0]}="water")'
    return Diagnostic(
        f"No medium is said in the circuit of `{names[0]}`" + (f" and `{names[-1]}`." if len(names) > 1 else "."),
        details=(*joined[:_SHOWN], *more),
        remedy=f"Say it once, in any of its components: `{said}`.",
    )
