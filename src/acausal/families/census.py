"""The census: a plant (data) is made from the user's components, which are read and not written to.

Who reads components keeps a dictionary from each of them to its `Node`; it lives as long as the translation. Two components are of
one kind if nothing distinguishes them but numbers that are data anyway: class, plain attributes, slots, what was declared in
`__init__`, and the structure below. Objects that a component holds are compared by what is in them, not by their own `__eq__`.
"""

from __future__ import annotations

import datetime
import enum
import fractions
import pathlib
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..errors import Location, ModelError, an
from ..language.alternatives import choices_of, is_left_out, left_out_of
from ..language.component import Component, ComponentArray, View
from ..language.connector import Connector, ConnectorView
from ..language.declarations import Declaration, Modification, Named, Parameter
from ..language.expression import Arithmetic, Expression, Reference, Unbound, as_expression, renamed, transform, walk
from ..language.external import ExternalFunction
from ..language.held import held_by
from ..language.icons import drawing
from ..language.medium import Medium, media_of
from ..language.misuse import refuse_hidden, refuse_lazy, refuse_private, take_lists
from ..language.reading import own_slots, slot_values
from ..language.record import Record
from ..language.states import State, StateView
from ..language.table_sets import is_choosable
from ..records import dataclass
from .plant import ICON, INSTEAD, MEDIA, Kind, Plant, Quantity
from .slips import methods_of
from .surroundings import seen_around
from .tree import NUMERIC, Node, Port, frozen_value, recorded

Trial = Callable[[Component, tuple[str, ...], Component], bool]


@dataclass(slots=True)
class _Alike:
    """Components that differ in plain numbers at most."""

    kinds: dict[tuple[str, ...], Kind]  # by their numbers; of one kind altogether, a single one
    trial: bool = True  # whether numbers may still turn out to be data


class Census:
    """All components below a root: their nodes, their kinds, and the one of each kind whose methods are run.

    `trial` says whether two components state the same equations but for the values of some plain numbers, which then become data:
    a parameter of the kind with a value for each of them. Without it, components that differ in a number are of different kinds.
    """

    def __init__(self, root: Component, trial: Trial | None = None) -> None:
        if not isinstance(root, Component):
            raise ModelError(f"A model is made from a component, got {root!r} of type {type(root).__name__}.")
        self._nodes: dict[int, Node] = {}
        self._moved: dict[Expression, Reference] = {}  # what references to components have become
        self._components: list[Component] = []  # keeps them alive, so that ids stay theirs
        self._by_signature: dict[Any, _Alike] = {}
        self._trial = trial
        self.tables: dict[int, dict[str, list[Any]]] = {}  # of each kind, those of its members by the name of their attribute
        self._classes: dict[type, int] = {}
        self.representatives: list[Component] = []  # of each kind
        self.named: list[dict[str, Expression]] = []  # of each kind, as its representative said it
        self.plant = Plant(self._node(root, None), [])
        self._place(root, None, 1)
        for kind, component in zip(self.plant.kinds, self.representatives, strict=True):
            self._declare(kind, component)
        self._parts = {id(component) for component in self._components}
        self._refuse_left_out(root)
        self._heirs: dict[tuple[int, str], Component] = {}  # of records that are not part of the model: who stands for them
        for component in self._components:
            self._modifications(component, self._nodes[id(component)])
        self.plant.seen = seen_around(self._components, self._nodes)

    def without_parts(self) -> Iterator[tuple[Component, Node]]:
        """Components that have none below them, and their nodes."""
        for component in self._components:
            node = self._nodes[id(component)]
            if not node.children:
                yield component, node

    # --- from components to nodes ---------------------------------------------------------------------------------------------
    def node(self, component: Component) -> Node:
        """The node of a component; one that is not part of the model gets a node that is not part of it either."""
        found = self._nodes.get(id(component))
        return found if found is not None else self._outside(component)

    def _outside(self, component: Component) -> Node:
        node = self._node(component, None)
        node.declared = {name: _member_of(component, name) for name in _names(component)}
        return node

    def _node(self, component: Component, parent: Node | None) -> Node:
        node = self._nodes.get(id(component))
        if node is None:
            node = Node(component._ac_name, component._ac_position, component._ac_array_shape, type(component).__name__, parent)
            self._nodes[id(component)] = node
        return node

    def moved(self, expression: Expression, holder: Node | None = None) -> Expression:
        """An expression over components, over nodes. Names of a class body are those of `holder`."""

        def leaf(node: Expression) -> Expression | None:
            if isinstance(node, Reference):
                return self._reference(node)
            if isinstance(node, State):
                return State(StateView(self._reference(node.variable._reference)), node.number)
            if isinstance(node, Unbound) and holder is not None and holder.kind is not None:
                quantity = holder.kind.quantities.get(node.declaration.name)
                if quantity is None:
                    return self._in_its_place(node.declaration, holder.kind)
                return Reference(holder, holder, quantity.name, quantity.shape)
            return None

        return renamed(expression, leaf) if holder is None else transform(expression, leaf)

    def _refuse_left_out(self, root: Component) -> None:
        """Components that only an object knows which a component holds, so that nobody would ask them for their equations."""
        seen: set[int] = set()
        for component in self._components:
            for name, value in _held_beside_parts(component, seen):
                for path, part, shared in held_by(name, value, (Component, View), seen):
                    element = part if isinstance(part, Component) else part._element
                    if id(element) in self._parts or isinstance(element, Record):
                        continue
                    elsewhere = element._ac_parent is not None and element._steps_from(root) is None  # a part of another plant
                    if not elsewhere and not (shared and _may_be_the_original_of(element, component)):
                        raise _left_out(component, path, element, value)

    def _in_its_place(self, declaration: Declaration, kind: Kind) -> Expression | None:
        """The number that a derived class has in place of what its base declared; what is not there is told."""
        component, name = self.representatives[kind.index], declaration.name
        if is_left_out(component, name):
            raise _not_there(component, name)
        value = getattr(component, name, None)
        if isinstance(value, str):
            from ..language.units import quantity as parsed

            return as_expression(parsed(value, declaration.unit))
        return as_expression(value) if np.asarray(value).dtype.kind in "iuf" else None

    def _reference(self, node: Reference) -> Reference:
        found = self._moved.get(node)
        if found is None:
            if is_left_out(node.owner, node.name):
                raise _not_there(node.owner, node.name)
            owner = self.node(node.owner)
            root = owner if node.root is node.owner else self.node(node.root)
            found = self._moved[node] = Reference(root, owner, node.name, node.shape, node.picked, node.order)
        return found

    def moved_end(self, end: ConnectorView | Reference) -> ConnectorView | Reference:
        """An end of a connection."""
        if isinstance(end, Reference):
            return self._reference(end)
        owner = self.node(end._owner)
        return ConnectorView(self.node(end._root), owner, owner.kind.ports[end._connector.name], end._shape, end._picked)  # type: ignore[arg-type]

    def named_by(self, component: Component, name: str) -> tuple[Expression, Component] | None:
        """What `equations` of a component's kind assigned to an attribute, if they have run already."""
        node = self._nodes.get(id(component))
        if node is None or node.kind is None or node.kind.index >= len(self.named):
            return None
        found = self.named[node.kind.index].get(name)
        return None if found is None else (found, self.representatives[node.kind.index])

    # --- kinds ----------------------------------------------------------------------------------------------------------------
    def _place(self, component: Component, parent: Node | None, count: int) -> Any:
        """Give a component its node, kind and instance numbers; returns its structural signature."""
        node = self._node(component, parent)
        self._components.append(component)
        shape = node.shape
        total = count * int(np.prod(shape)) if shape else count
        kind = self._kind_of(component, node, self._signature(component, node, total))
        node.kind, node.first, node.count = kind, kind.count, total
        kind.count += total
        kind.members.append(node)
        return (kind.index, shape)

    def _kind_of(self, component: Component, node: Node, signature: Any) -> Kind:
        """The kind of all components with this signature; with other numbers in it if they make other equations."""
        numbers = {} if node.children else {n: v for n, v in component.__dict__.items() if _may_differ(v)}
        exact = tuple(_exactly(v) for v in numbers.values())
        alike = self._by_signature.get(signature)
        if alike is None:
            alike = self._by_signature[signature] = _Alike({exact: self._kind(component, node)})
        elif exact not in alike.kinds:
            first = next(iter(alike.kinds.values()))
            if alike.trial and self._joins(first, component, numbers):
                alike.kinds[exact] = first
            else:
                alike.trial = False
                alike.kinds[exact] = self._kind(component, node)
        kind = alike.kinds[exact]
        for name, value in numbers.items():
            number = value if type(value) is float else self._place_of_table(kind, name, value)
            node.modifications[name] = Modification(value=number)
        return kind

    def _place_of_table(self, kind: Kind, name: str, table: Any) -> float:
        """The number of a table among those that members of a kind have under a name."""
        tables = self.tables.setdefault(kind.index, {}).setdefault(name, [])
        if not any(one is table for one in tables):
            tables.append(table)
        return float(next(k for k, one in enumerate(tables) if one is table))

    def _joins(self, kind: Kind, component: Component, numbers: dict[str, Any]) -> bool:
        """Whether a component is of a kind once the numbers in which it differs are data."""
        representative = self.representatives[kind.index]
        differ = [n for n, v in numbers.items() if _exactly(v) != _exactly(representative.__dict__[n])]
        promoted = tuple(dict.fromkeys([*kind.promoted, *differ]))
        if self._trial is None or not self._trial(representative, promoted, component):
            return False
        kind.promoted = promoted
        return True

    def _kind(self, component: Component, node: Node) -> Kind:
        cls = type(component)
        number = self._classes.setdefault(cls, len(self._classes))
        kind = Kind(len(self.plant.kinds), cls.__name__, _own_doc(cls), number, node)
        plain = {n: v for n, v in component.__dict__.items() if not _is_expression(v) and not hasattr(cls, n)}
        kind.attributes = {n: _shown(v) for n, v in plain.items() if n not in node.children}
        media = {name: [medium.name, type(medium).__name__] for name, medium in media_of(component).items()}
        if media:
            kind.attributes[MEDIA] = media
        kind.attributes[ICON] = drawing(cls)
        if instead := left_out_of(component):
            kind.attributes[INSTEAD] = instead
        kind.methods = methods_of(cls, "equations") if not cls._ac_origin else ()
        kind.closed = cls._ac_closed
        self.plant.kinds.append(kind)
        self.representatives.append(component)
        return kind

    def _signature(self, component: Component, node: Node, count: int) -> Any:
        """Equal signatures have equal equations: the class, its structural choices, and the structure below."""
        own, declared, slots = component.__dict__, component._ac_declared, slot_values(component)
        media = media_of(component)
        if not own and not declared and not slots and not media and not component._class_alternatives:
            return type(component)
        parts: list[Any] = [type(component), *sorted(media.items()), choices_of(component)]
        _settle_parts(component)
        for name, value in own.items():
            if name in component._class_media:
                continue  # whoever said it, it is the medium of the circuit
            if isinstance(value, Component) and _is_child(component, name, value):
                parts.append((name, self._place(value, node, count)))
                node.children[name] = self._nodes[id(value)]
            elif isinstance(value, ComponentArray) and _is_child(component, name, value._element):
                parts.append((name, self._place(value._element, node, count)))
                node.children[name] = self._nodes[id(value._element)]
            elif isinstance(value, tuple) and value and isinstance(value[0], Component) and _is_child(component, name, value[0]):
                parts.append((name, tuple(self._place(v, node, count) for v in value)))
                node.children[name] = tuple(self._nodes[id(v)] for v in value)
            elif _may_differ(value) and not node.children:
                parts.append((name, type(value)))  # which one is looked at separately
            else:
                parts.append((name, frozen(value, component)))
        if node.children:
            parts += [(name, frozen(value, component)) for name, value in own.items() if _may_differ(value)]
        parts += [(name, frozen(value, component)) for name, value in slots.items()]
        for name, found in (declared or {}).items():
            attributes = tuple(getattr(found, a, None) for a in ("sign", "unit", "state", "meaning"))
            parts.append((name, type(found), found.shape, getattr(found, "fixed", False) is False, *attributes))
        return tuple(parts)

    # --- declarations ---------------------------------------------------------------------------------------------------------
    def _declare(self, kind: Kind, component: Component) -> None:
        node = kind.representative
        for name, found in component._all_declared().items():
            if isinstance(found, Connector):
                members = {member: recorded(d, _stated_in(type(found), member)) for member, d in found.members.items()}
                where = _declared_in(component, name)
                port = Port(
                    name, type(found).__name__, found.sign, found.shape, found.doc, members, found.location, where, found.lineage()
                )
                port.origin = f"{type(found).__module__}:{type(found).__qualname__}"
                kind.ports[name] = port
                _add_parts(kind, port, found)
                for member, declaration in members.items():
                    self.plant.add_quantity(kind, Quantity(f"{name}.{member}", declaration, port.shape + declaration.shape, port))
            else:
                self.plant.add_quantity(kind, Quantity(name, recorded(found, _declared_in(component, name)), found.shape))
        for name in kind.promoted:
            kind.attributes.pop(name, None)
            made = promoted_parameter(name, self.tables.get(kind.index, {}).get(name))
            self.plant.add_quantity(kind, Quantity(name, recorded(made, kind.name), ()))
        for one in kind.members:
            for name in [n for n in one.modifications if n not in kind.promoted]:
                del one.modifications[name]  # a number that makes no difference
        for quantity in kind.quantities.values():
            self._bind_declared(quantity.declaration, node)
        if component._ac_declared and len(kind.members) > 1:
            self._declared_by_each(kind, component._ac_declared)

    def _declared_by_each(self, kind: Kind, declared: dict[str, Any]) -> None:
        """A quantity declared in `__init__` may say something else in every instance."""
        own = [name for name in kind.quantities if name.partition(".")[0] in declared]
        components = {id(self._nodes[id(c)]): c for c in self._components}
        for member in kind.members:
            for name in own:
                member.declared[name] = _member_of(components[id(member)], name)
                self._bind_declared(member.declared[name], member)

    def _bind_declared(self, declaration: Declaration, holder: Node) -> None:
        for attribute in NUMERIC:
            stated = getattr(declaration, attribute)
            if isinstance(stated, (Arithmetic, Named)):
                setattr(declaration, attribute, self.moved(as_expression(stated), holder))

    def _modifications(self, component: Component, node: Node) -> None:
        for name, said in component._ac_modifications.items():
            modification = self._of_this_model(component, said) if isinstance(component, Record) else said
            if all(type(v) in (float, int, bool, str) for v in modification.values()):
                node.modifications[name] = modification
            else:
                node.modifications[name] = Modification({a: self._stated(v, node) for a, v in modification.items()})

    def _of_this_model(self, record: Component, said: Modification) -> Modification:
        """What a record says that follows one of another plant: the first says what that one says, and the others follow it."""
        leader = said.get("value")
        if not (isinstance(leader, Reference) and isinstance(leader.owner, Record)) or id(leader.owner) in self._parts:
            return said
        heir = self._heirs.setdefault((id(leader.owner), leader.name), record)
        if heir is not record:
            return Modification(value=getattr(heir, leader.name))
        return self._of_this_model(record, leader.owner._ac_modifications.get(leader.name, Modification()))

    def _stated(self, value: Any, node: Node) -> Any:
        if isinstance(value, (Arithmetic, Named)):
            return self.moved(as_expression(value), node.parent)
        return frozen_value(value)


def _held_beside_parts(component: Component, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Attributes that may hold something, those in slots and those of the class; a class is looked at once."""
    for name, value in component.__dict__.items():
        if type(value) not in _PLAIN:
            yield name, value
    yield from slot_values(component).items()
    cls = type(component)
    if id(cls) not in seen:
        seen.add(id(cls))
        of_class: dict[str, Any] = {}
        for base in reversed(cls.__mro__[: cls.__mro__.index(Component)]):
            of_class.update(vars(base))
        for name, value in of_class.items():
            ours = name.startswith(("__", "_class_", "_ac_")) or name in cls._class_children
            if type(value) not in _PLAIN and not ours and not hasattr(type(value), "__get__"):
                yield name, value


def _may_be_the_original_of(other: Component, component: Component) -> bool:
    """Functions are not copied with a component: that of a copy speaks of the original, or of what that was made in."""
    around: Component | None = component
    while around is not None and type(around) is not type(other):
        around = around._ac_parent
    return around is not None


def _left_out(owner: Component, path: str, part: Component, held: Any) -> ModelError:
    cls, name = type(part).__name__, path.rpartition(".")[2].partition("[")[0]
    within = "" if held is part else f" within {an(type(held).__name__)}"
    made = methods_of(type(owner), "__init__")
    remedy = f"Make it a part of the component as well, `self.{name.lstrip('_')} = …`; the object may hold it then, too."
    if held is part:
        remedy = f"Parts are ordinary attributes: assign it as `self.{name.lstrip('_')} = …`, which is no slot and no property."
    return ModelError(
        f"`{path}` of {type(owner).__name__} is {an(cls)}{within} where it is not seen: it is not part of the plant.",
        component=type(owner).__name__,
        location=Location(made[0].file, made[0].first) if made and not type(owner)._ac_origin else None,
        remedy=remedy,
    )


def _not_there(owner: Component, name: str) -> ModelError:
    others = ", ".join(f"`{other}`" for other in choices_of(owner))
    whole = owner
    while whole._ac_parent is not None:
        whole = whole._ac_parent
    path, cls = owner._path_from(whole, name), type(owner).__name__
    return ModelError(
        f"`{path}` is read, but {cls} was given another quantity instead of it: {others}.",
        remedy="Say what is given before others read it.",
    )


def _settle_parts(component: Component) -> None:
    """What was put into lists after the component was made is a part of it; what is held where nobody looks is not, and refused."""
    take_lists(component, Component)
    for name, value in list(component.__dict__.items()):
        if isinstance(value, (Component, ComponentArray)):
            if name.startswith("_"):
                refuse_private(component, name, value)
        elif isinstance(value, _LAZY):
            refuse_lazy(component, name, value, Component)
        elif isinstance(value, (list, dict, set, np.ndarray)) or type(value).__module__.partition(".")[0] not in _WITHOUT_PARTS:
            refuse_hidden(name, value, (Component, ComponentArray), (Connector,), (Declaration,), in_use=True)


def _may_differ(value: Any) -> bool:
    """Whether components of one kind may differ in a plain attribute: in a number, or in a table."""
    return type(value) is float or is_choosable(value)


def _exactly(value: Any) -> Any:
    return value.hex() if type(value) is float else id(value)


def promoted_parameter(name: str, tables: Sequence[Any] | None = None) -> Parameter:
    """What a plain number becomes where it distinguishes components of one kind; a table becomes its number among some."""
    made = Parameter(0.0, doc="a plain attribute")
    if tables is not None:
        made = Parameter(0.0, min=0.0, max=len(tables) - 1.0, doc="which table")
    made.name, made.auxiliary, made.location = name, True, None
    return made


def _add_parts(kind: Kind, port: Port, connector: Connector) -> None:
    """Connectors within a connector can be connected by themselves."""
    for name in connector.parts:
        part = connector.part_of(name)
        members = {m: port.members[f"{name}.{m}"] for m in part.members}
        inner = {m: _without(declaration, connector.parts[name].shape) for m, declaration in members.items()}
        kind.ports[part.name] = Port(
            part.name, type(part).__name__, port.sign, part.shape, part.doc, inner, part.location, port.declared_in, part.lineage()
        )
        _add_parts(kind, kind.ports[part.name], part)


def _without(declaration: Declaration, outer: tuple[int, ...]) -> Declaration:
    """A member of a connector within another, without the axes of that connector."""
    if not outer:
        return declaration
    new = object.__new__(type(declaration))
    new.__dict__.update(declaration.__dict__)
    new.shape = declaration.shape[len(outer) :]
    return new


def _is_child(parent: Component, name: str, child: Component) -> bool:
    return child._ac_parent is parent and child._ac_name == name


def _names(component: Component) -> list[str]:
    found: list[str] = []
    for name, declared in component._all_declared().items():
        found += [f"{name}.{member}" for member in declared.members] if isinstance(declared, Connector) else [name]
    return found


def _member_of(component: Component, name: str) -> Declaration:
    return recorded(component._declaration(name), _declared_in(component, name))


def _declared_in(component: Component, name: str) -> str:
    """The class that declares a quantity or a connector, in its body or in its `__init__`."""
    cls, first = type(component), name.partition(".")[0]
    for base in cls.__mro__:
        if first in vars(base):
            return base.__name__
    place, made = getattr(component._find(first), "location", None), methods_of(cls, "__init__")
    for base in cls.__mro__:
        if place is not None and any(m.class_name == base.__qualname__ and m.has(place) for m in made):
            return base.__name__
    return cls.__name__


def _stated_in(cls: type, name: str) -> str:
    return next((base.__name__ for base in cls.__mro__ if name in vars(base)), cls.__name__)


def _own_doc(cls: type) -> str:
    """The class's documentation; that of `ac.Component` itself says nothing about it."""
    return "" if cls is Component else (vars(cls)["__doc__"] or "").strip()


def _is_expression(value: Any) -> bool:
    return isinstance(value, Expression)


def _shown(value: Any, depth: int = 0) -> Any:
    """A structural choice for a listing; of what is nested deeply, or holds itself, its type."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (list, tuple)) and len(value) <= 100 and depth < _DEEPEST:
        return [_shown(v, depth + 1) for v in value]
    if isinstance(value, np.ndarray) and value.size <= 100:
        return _shown(value.tolist())
    return f"{type(value).__name__}"


# --- what distinguishes two components -----------------------------------------------------------------------------------------
_BY_VALUE = (  # but not what derives from them
    str, bytes, complex, type(None), datetime.date, datetime.datetime, datetime.timedelta, fractions.Fraction,
)  # fmt: skip
_PLAIN = frozenset({bool, int, float, str, type(None)})
_DEEPEST = 4  # levels of lists that a listing shows
_DEEP = 100  # levels of what lies in each other, below which things are told apart by which they are
_LAZY = (GeneratorType, map, filter, zip)
_WITHOUT_PARTS = ("builtins", "numpy", "acausal")  # packages whose objects hold none, but for the containers among them
_BY_IDENTITY = (type, FunctionType, BuiltinFunctionType, ModuleType, enum.Enum, Component, ExternalFunction)


def frozen(value: Any, component: Component, inside: tuple[int, ...] = ()) -> Any:
    """A hashable stand-in for a structural choice: equal ones mean the same to equations, whatever `__eq__` may say."""
    kind = type(value)
    if kind is bool or kind is int:
        return (kind, value)
    if kind is float:
        return (float, value.hex())
    if isinstance(value, _BY_IDENTITY):
        return ("identity", id(value))
    if kind in _BY_VALUE or isinstance(value, (pathlib.PurePath, Medium)):
        return (kind, value, getattr(value, "tzinfo", None))  # one moment has another hour elsewhere
    if isinstance(value, Expression):
        return ("expression", _expression_key(component, value))
    if kind is np.ndarray or isinstance(value, np.generic):
        array = np.asarray(value)
        return (kind, array.shape, str(array.dtype.descr), id(value) if array.dtype.hasobject else array.tobytes())
    if id(value) in inside:
        return ("itself", len(inside) - inside.index(id(value)))
    if len(inside) > _DEEP:
        return ("identity", id(value))
    return _frozen_parts(value, component, (*inside, id(value)))


def _frozen_parts(value: Any, component: Component, inside: tuple[int, ...]) -> Any:
    kind = type(value)
    if isinstance(value, MethodType):
        return (kind, id(value.__func__), frozen(value.__self__, component, inside))
    held = {**getattr(value, "__dict__", {}), **{n: getattr(value, n) for n in _slot_names(kind) if hasattr(value, n)}}
    own = (kind, *((name, frozen(v, component, inside)) for name, v in held.items()))
    if isinstance(value, (list, tuple)):
        return (*own, *(frozen(v, component, inside) for v in value))
    if isinstance(value, dict):
        default = frozen(getattr(value, "default_factory", None), component, inside)
        return (*own, default, *((frozen(k, component, inside), frozen(v, component, inside)) for k, v in value.items()))
    if isinstance(value, (set, frozenset)):
        return (*own, frozenset(frozen(v, component, inside) for v in value))
    outside = vars(object)["__new__"] is not kind.__new__  # made by compiled code, which may keep more than can be seen
    if not hasattr(value, "__dict__") or outside or isinstance(value, (Arithmetic, ConnectorView, StateView)):
        return ("identity", id(value))
    return own


def _slot_names(cls: type) -> tuple[str, ...]:
    return tuple(name for base in cls.__mro__ for name in own_slots(base))


def _expression_key(component: Component, expression: Expression) -> Any:
    """What an expression says, whichever instance says it: equal keys mean the same over an instance's own quantities."""
    numbers: dict[Expression, int] = {}
    parts: list[Any] = []
    for number, node in enumerate(walk(expression)):
        numbers[node] = number
        if isinstance(node, Reference):
            steps = node.owner._steps_from(component)
            owner = id(node.owner) if steps is None else tuple(steps)
            picked = None if node.picked is None else node.picked.tobytes()
            parts.append((owner, node.name, node.shape, picked, node.order))
        elif node.args:
            what = getattr(node, "operator", None) or getattr(node, "function", None) or node.axes  # type: ignore[attr-defined]
            parts.append((what, *(numbers[a] for a in node.args)))
        else:
            parts.append(node)
    return tuple(parts)
