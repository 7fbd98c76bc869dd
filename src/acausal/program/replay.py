"""Component classes from data: what a class once contributed to a translation is stated again, without its source.

A `Source` holds a component tree as nodes, the declarations of each kind, and what its methods said as expressions over nodes.
Here each kind becomes a class whose methods say the same over its own components. So a component that came in a file is connected,
modified, put into arrays and translated like any other: nobody else needs to know.
"""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from ..errors import Location
from ..families.assemble import Source
from ..families.plant import ICON, Kind
from ..families.trace import ACTIONS, STATEMENTS
from ..families.traced import Traced, TracedEquation
from ..families.tree import NUMERIC, Node, Port
from ..language.component import Component, ComponentArray, ComponentType, _prepare
from ..language.connector import Connector, ConnectorView
from ..language.declarations import Declaration, Modification, Stream, named
from ..language.equation import Equation
from ..language.expression import Constant, Expression, Reference, transform
from ..language.states import State, StateView, Transition


class Packed(Component):
    """A component whose equations came in a file."""

    _recording: ClassVar[Recording]

    def __init__(self) -> None:
        self._recording.furnish(self)

    def equations(self) -> Iterator[Any]:
        return self._recording.equations(self)

    def initial_equations(self) -> Iterator[Any]:
        return self._recording.initial(self)

    def connections(self) -> Iterator[Any]:
        return self._recording.connections(self)

    def events(self) -> Iterator[Any]:
        return self._recording.events(self)

    def transitions(self) -> Iterator[Any]:
        return self._recording.transitions(self)

    def on_state_change(self) -> Iterator[Any]:
        return self._recording.guesses(self)


class Recordings:
    """The classes of one source: one for each of its kinds."""

    def __init__(self, source: Source, title: str, shown: bool, media: dict[str, str]) -> None:
        self.source, self.title, self.shown = source, title, shown
        self.classes = [self._class(kind, traced) for kind, traced in zip(source.plant.kinds, source.traced, strict=True)]
        if not all(type(name) is str and type(said) is str for name, said in media.items()):
            raise ValueError("its media have no names")
        self.root._ac_media = media

    @property
    def root(self) -> type[Packed]:
        """The class of the whole."""
        return self.classes[self.source.plant.root.kind.index]

    def _class(self, kind: Kind, traced: Traced) -> type[Packed]:
        held: dict[str, Any] = {"__doc__": kind.doc or None, "__module__": f"acausal.packed.{self.title}"}
        held["icon"] = kind.attributes.get(ICON)
        for name, port in kind.ports.items():
            if "." not in name:  # connectors within connectors come with those
                held[name] = _connector(port, kind.ports)
        for name, quantity in self.source.quantities[kind.index].items():
            if quantity.connector is None:
                held[name] = _plain(quantity.declaration)
        made: type[Packed] = ComponentType(kind.name, (Packed,), held)  # type: ignore[assignment]
        made._recording = Recording(self, kind, traced)
        made._ac_origin, made._ac_closed = f"{self.title}:{kind.name}", not self.shown
        return made


class Recording:
    """What one kind says, to be said again about a component of its class."""

    def __init__(self, book: Recordings, kind: Kind, traced: Traced) -> None:
        self.book, self.kind, self.traced = book, kind, traced

    # --- making components ------------------------------------------------------------------------------------------------------
    def furnish(self, component: Packed) -> None:
        """Give a component its parts and the numbers that the author gave it."""
        node = self.kind.representative
        places: dict[int, Component] = {}
        self._attach(component, node, places)
        for place, part in _below(node, places):
            _modify(part, place, places)

    def _attach(self, component: Component, node: Node, places: dict[int, Component]) -> None:
        places[id(node)] = component
        for name, child in node.children.items():
            if isinstance(child, tuple):
                setattr(component, name, [self._made(c, places) for c in child])
            elif child.shape:
                element = self._made(child, places)
                object.__setattr__(element, "_ac_array_shape", child.shape)
                setattr(component, name, ComponentArray(element, element, child.shape, None))
            else:
                setattr(component, name, self._made(child, places))

    def _made(self, node: Node, places: dict[int, Component]) -> Component:
        component: Component = object.__new__(self.book.classes[node.kind.index])
        _prepare(component)
        self._attach(component, node, places)
        return component

    # --- saying what was said ---------------------------------------------------------------------------------------------------
    def equations(self, component: Component) -> Iterator[Any]:
        for name, expression in self.kind.named.items():
            unit, doc = self.kind.units_of_named.get(name, ("", ""))
            setattr(component, name, named(self._moved(expression, component), unit=unit, doc=doc))
        for number, equation in enumerate(self.traced.equations):
            yield self._equation(equation, component, f"equation {number + 1}")
        for number, (target, value, text, where) in enumerate(self.traced.assigned):
            stated = Equation(self._moved(target, component), self._moved(value, component), self._place(where, number), "")
            yield replace(stated, name=text) if self.book.shown else stated

    def initial(self, component: Component) -> Iterator[Any]:
        for number, equation in enumerate(self.traced.initial):
            yield self._equation(equation, component, f"initial equation {number + 1}")

    def _equation(self, equation: TracedEquation, component: Component, otherwise: str) -> tuple[str, Equation]:
        text = equation.text if self.book.shown else equation.name or f"{otherwise} of {self.kind.name}"
        return text, Equation(self._moved(equation.residual, component), Constant(0.0), self._place(equation.location, 0))

    def connections(self, component: Component) -> Iterator[Any]:
        for connection in [*self.traced.connections, *self.traced.state_connections]:
            yield tuple(self._end(end, component) for end in connection.ends)

    def events(self, component: Component) -> Iterator[Any]:
        for statement in self.traced.statements:
            yield self._statement(statement, component)

    def transitions(self, component: Component) -> Iterator[Any]:
        for transition in self.traced.transitions:
            yield self._statement(transition, component)

    def guesses(self, component: Component) -> Iterator[Any]:
        for guess in self.traced.guesses:
            yield tuple(self._moved(part, component) for part in (guess.target, guess.condition, guess.value))

    def _statement(self, item: Any, component: Component) -> Any:
        """A statement with all the expressions in it."""
        if isinstance(item, StateView):
            return StateView(self._moved(item._reference, component))  # type: ignore[arg-type]
        if isinstance(item, Expression):
            return self._moved(item, component)
        if isinstance(item, Location):
            return self._place(item, 0)
        if isinstance(item, tuple):
            return tuple(self._statement(part, component) for part in item)
        if isinstance(item, (Equation, Transition, *STATEMENTS, *ACTIONS)):
            return replace(item, **{f.name: self._statement(getattr(item, f.name), component) for f in fields(item)})
        return item

    def _place(self, location: Location | None, number: int) -> Location | None:
        return location if self.book.shown else Location(f"{self.book.title}:{self.kind.name}", number)

    def _end(self, end: ConnectorView | Reference, component: Component) -> ConnectorView | Reference:
        if isinstance(end, Reference):
            return self._reference(end, component)
        owner = self._component(end._owner, component)
        first, *inner = end._connector.name.split(".")
        connector = owner._find(first)
        assert isinstance(connector, Connector)
        for part in inner:  # a connector within a connector
            connector = connector.part_of(part)
        return ConnectorView(self._component(end._root, component), owner, connector, end._shape, end._picked)

    def _moved(self, expression: Expression, component: Component) -> Expression:
        """An expression over nodes, over components."""

        def leaf(node: Expression) -> Expression | None:
            if isinstance(node, Reference):
                return self._reference(node, component)
            if isinstance(node, State):
                return State(StateView(self._reference(node.variable._reference, component)), node.number)
            return None

        return transform(expression, leaf)

    def _reference(self, node: Reference, component: Component) -> Reference:
        root, owner = self._component(node.root, component), self._component(node.owner, component)
        return Reference(root, owner, node.name, node.shape, node.picked, node.order)

    def _component(self, node: Node, component: Component) -> Component:
        steps = node._steps_from(self.kind.representative)
        if steps is None:
            raise ValueError("an equation speaks of something outside its component")
        for name, position in steps:
            child = component.__dict__[name]
            part = child._element if isinstance(child, ComponentArray) else child
            component = part if position is None else part[position]
        return component


def _below(node: Node, places: dict[int, Component]) -> Iterator[tuple[Node, Component]]:
    yield node, places[id(node)]
    for part in node.parts():
        yield from _below(part, places)


def _modify(component: Component, node: Node, places: dict[int, Component]) -> None:
    """What the author said of this instance: defaults that are expressions, then what was modified."""
    for name, quantity in node.kind.quantities.items():
        declaration = node.declared.get(name) or quantity.declaration
        own = name in node.declared
        bound = {a: getattr(declaration, a) for a in NUMERIC if own or isinstance(getattr(declaration, a), Expression)}
        _put(component, name, {a: v for a, v in bound.items() if v is not None}, places)
    for name, modification in node.modifications.items():
        _put(component, name, modification, places)


def _put(component: Component, name: str, attributes: dict[str, Any], places: dict[int, Component]) -> None:
    if attributes:
        earlier: dict[str, Any] = component._ac_modifications.get(name) or {}
        new = {a: _seen(v, places) if isinstance(v, Expression) else v for a, v in attributes.items()}
        component._ac_modifications[name] = Modification({**earlier, **new})


def _seen(expression: Expression, places: dict[int, Component]) -> Expression:
    def leaf(node: Expression) -> Expression | None:
        if isinstance(node, Reference):
            root, owner = places[id(node.root)], places[id(node.owner)]
            return Reference(root, owner, node.name, node.shape, node.picked, node.order)
        return None

    return transform(expression, leaf)


def _plain(declaration: Declaration) -> Declaration:
    """A declaration for a class body: what is an expression there is said of each instance."""
    new = copy.copy(declaration)
    for attribute in NUMERIC:
        if isinstance(getattr(new, attribute), Expression):
            setattr(new, attribute, False if attribute == "fixed" else None)
    return new


# --- what an author keeps -------------------------------------------------------------------------------------------------------
def without_source(source: Source) -> Source:
    """Take out of a source what was written: texts of equations, files and lines. Names stay."""
    for kind in source.plant.kinds:
        kind.methods = ()
        for port in kind.ports.values():
            port.location = None
        for quantity in kind.quantities.values():
            quantity.declaration.location = None
        for member in kind.members:
            for declaration in member.declared.values():
                declaration.location = None
    for traced in source.traced:
        for equation in [*traced.equations, *traced.initial]:
            equation.text, equation.location = equation.name, None
        for connection in [*traced.connections, *traced.state_connections]:
            connection.location = None
        for guess in traced.guesses:
            guess.location = None
        traced.assigned = [(target, value, "", None) for target, value, _, _ in traced.assigned]
        traced.statements = [_unplaced(s) for s in traced.statements]
        traced.transitions = [_unplaced(t) for t in traced.transitions]
    return source


def _unplaced(item: Any) -> Any:
    if isinstance(item, Location):
        return Location("", 0)
    if isinstance(item, tuple):
        return tuple(map(_unplaced, item))
    if isinstance(item, (Equation, Transition, *STATEMENTS, *ACTIONS)):
        return replace(item, **{f.name: _unplaced(getattr(item, f.name)) for f in fields(item)})
    return item


# --- connectors -----------------------------------------------------------------------------------------------------------------
_made: WeakValueDictionary[Any, type[Connector]] = WeakValueDictionary()  # two files with one connector connect


def _connector(port: Port, ports: dict[str, Port]) -> Connector:
    new = connector_class(port, ports)(positive="in" if port.sign > 0 else "out", shape=port.shape, doc=port.doc)
    new.name = port.name
    return new


def connector_class(port: Port, ports: dict[str, Port]) -> type[Connector]:
    """The class of a connector: the one that is here already under its name, else one made from what was recorded.

    `ports` are all of its kind: connectors within this one are among them, under longer names.
    """
    members = tuple((name, type(d).__name__, d.unit, d.shape) for name, d in port.members.items())
    found = _known_here(port.origin)
    if found is not None and members == tuple((n, type(d).__name__, d.unit, d.shape) for n, d in found.members.items()):
        return found
    key = (port.lineage, members)
    if key not in _made:
        _made[key] = _connector_made(port, port.members, ports)
    return _made[key]


def _connector_made(port: Port, members: dict[str, Declaration], ports: dict[str, Port]) -> type[Connector]:
    """A connector class with these members: streams and connectors within it are told by their longer names (`h.outflow`)."""
    held: dict[str, Any] = {}
    within: dict[str, dict[str, Declaration]] = {}
    for path, declaration in members.items():
        first, _, rest = path.partition(".")
        if rest:
            within.setdefault(first, {})[rest] = declaration
        else:
            held[first] = _plain(declaration)
    for first, inner in within.items():
        if set(inner) == {"outflow", "inflow"}:
            out = inner["outflow"]
            held[first] = Stream(with_=out.with_, unit=out.unit, doc=out.doc, shape=out.shape)
        else:
            prefix = f"{first}."
            bare = {n: _without_prefix(d, prefix) for n, d in inner.items()}
            inside = ports[f"{port.name}.{first}"]
            held[first] = _connector_made(inside, bare, ports)(shape=inside.shape[len(port.shape) :])
    held["lineage"] = classmethod(lambda cls: port.lineage)
    made: type[Connector] = type(port.class_name, (Connector,), held)
    return made


def _without_prefix(declaration: Declaration, prefix: str) -> Declaration:
    new = copy.copy(declaration)
    new.with_ = new.with_.removeprefix(prefix)
    return new


def _known_here(origin: str) -> type[Connector] | None:
    """A connector of acausal's own library, or of a module that is imported already. Nothing else is imported."""
    module, _, path = origin.partition(":")
    if module.startswith("acausal.library"):
        try:
            importlib.import_module(module)
        except ImportError:
            return None
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return found if isinstance(found, type) and issubclass(found, Connector) else None
