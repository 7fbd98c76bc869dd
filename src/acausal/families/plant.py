"""The plant: which kinds of component there are, how many of each, and how quantities are numbered.

A *kind* is a class with its structural choices. All its instances, whether Python objects or elements of arrays, are numbered
0 … m-1, and each declared quantity owns one block of `m · size` numbers. Nothing is created per element: the work here is
proportional to the number of Python objects, not to the number of instances.

A Python object stands for `_count` instances `_first … _first + _count - 1` (more than one if it is the element of an array, or
below one), in row-major order of the arrays around it. So the instances of a descendant, seen from the instances of an ancestor,
are a reshaped range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, NameNotFound, UsageError, near_matches
from ..language.component import Component, ComponentArray
from ..language.connector import Connector
from ..language.declarations import Declaration
from ..language.expression import Expression, Reference, Shape, walk

if TYPE_CHECKING:
    from .path import Located

Path = tuple[tuple[str, int | None], ...]

# The first cells of the known part of the workspace. LIVE: relations are evaluated rather than frozen; INITIAL: the start of a run.
TIME, CONTINUATION, ZERO, ONE, LIVE, INITIAL, FIRST_PARAMETER = range(7)


@dataclass(slots=True, eq=False)
class Quantity:
    """A declared quantity of a kind: `T`, or `port.T`. `base` is its first number among its peers (variables or knowns)."""

    name: str
    declaration: Declaration
    shape: Shape
    connector: Connector | None = None
    base: int = -1
    known_base: int = -1  # for inputs: the cell that holds the value given from outside

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def role(self) -> str:
        return self.declaration.role

    def first(self, role: str) -> int | None:
        """Its first number among the variables (`"variable"`) or the known cells (`"known"`); None if it is not one of them."""
        if role == "known":
            return self.base if self.declaration.is_known else self.known_base if self.role == "input" else None
        return None if self.declaration.is_known else self.base

    @property
    def is_potential(self) -> bool:
        return self.connector is not None and not self.declaration.flow

    @property
    def is_own_unknown(self) -> bool:
        """Whether the component itself owes an equation for it: its own variables and its connectors' flows."""
        return self.role == "variable" and not self.is_potential

    @property
    def flow_sign(self) -> int:
        """+1 or -1 for flows, by the side's sign convention (WinDali 6.1); 0 for everything else."""
        return self.connector.sign if self.connector is not None and self.declaration.flow else 0


@dataclass(slots=True, eq=False)
class Kind:
    """A component class with its structural choices, and all its instances."""

    index: int
    representative: Component
    root: Component
    count: int = 0
    members: list[Component] = field(default_factory=list)
    quantities: dict[str, Quantity] = field(default_factory=dict)
    stated: tuple[str, ...] = ()  # attributes of the representative that its `equations` made
    _numbers: dict[Path, np.ndarray] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return type(self.representative).__name__

    def instances_of(self, owner: Component) -> np.ndarray:
        """Instance numbers of `owner`'s kind, shape (count of this kind, instances of `owner` in each)."""
        if owner is self.representative:
            return np.arange(self.count)[:, None]
        steps = owner._steps_from(self.representative)
        if steps is None:
            raise ModelError(
                f"An equation or connection of {self.name} refers to `{owner._name or type(owner).__name__}` outside it.",
                remedy="A component sees its own quantities and those of its sub-components; "
                "connect others in the component around.",
            )
        path = tuple(steps)
        if path not in self._numbers:
            parts = [_range_of(follow(member, path)).reshape(member._count, -1) for member in self.members]
            self._numbers[path] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._numbers[path]


def _range_of(component: Component) -> np.ndarray:
    return np.arange(component._first, component._first + component._count)


def follow(component: Component, path: Path) -> Component:
    """The descendant at the end of `path` (elements of arrays stand for all of them)."""
    for attribute, position in path:
        child = component.__dict__[attribute]
        if isinstance(child, ComponentArray):
            child = child._element
        component = child if position is None else child[position]
    return component


def children(component: Component) -> Iterator[Component]:
    """Sub-components, in the order in which they were assigned."""
    for value in component.__dict__.values():
        if isinstance(value, Component):
            yield value
        elif isinstance(value, ComponentArray):
            yield value._element
        elif isinstance(value, tuple) and value and isinstance(value[0], Component):
            yield from value


class Plant:
    """All kinds below `root`, with quantities numbered."""

    def __init__(self, root: Component) -> None:
        if not isinstance(root, Component):
            raise ModelError(f"A model is made from a component, got {root!r} of type {type(root).__name__}.")
        self.root = root
        self.kinds: list[Kind] = []
        self._by_signature: dict[Any, Kind] = {}
        self._place(root, 1)
        self.variable_count = 0
        self.known_count = FIRST_PARAMETER
        for kind in self.kinds:
            self._declare(kind)

    # --- kinds ----------------------------------------------------------------------------------------------------------
    def _place(self, component: Component, count: int) -> Any:
        """Give `component` its kind and instance numbers; returns its structural signature."""
        _forget_translation(component)
        shape = component._array_shape
        total = count * int(np.prod(shape)) if shape else count
        signature = self._signature(component, total)
        kind = self._by_signature.get(signature)
        if kind is None:
            kind = self._by_signature[signature] = Kind(len(self.kinds), component, self.root)
            self.kinds.append(kind)
        component._kind, component._first, component._count = kind, kind.count, total
        kind.count += total
        kind.members.append(component)
        return (kind.index, shape)

    def _signature(self, component: Component, count: int) -> Any:
        """Equal signatures have equal equations: the class, its structural choices, and the structure below."""
        own = component.__dict__
        declared = component._declared
        if not own and not declared:
            return type(component)
        parts: list[Any] = [type(component)]
        for name, value in own.items():
            if isinstance(value, Expression):
                parts.append((name, _expression_key(component, value)))
            elif isinstance(value, Component):
                parts.append((name, self._place(value, count)))
            elif isinstance(value, ComponentArray):
                parts.append((name, self._place(value._element, count)))
            elif isinstance(value, tuple) and value and isinstance(value[0], Component):
                parts.append((name, tuple(self._place(v, count) for v in value)))
            else:
                parts.append((name, _frozen(value)))
        for name, found in (declared or {}).items():
            attributes = tuple(getattr(found, a, None) for a in ("sign", "unit", "state", "meaning"))
            parts.append((name, type(found), found.shape, getattr(found, "fixed", False) is False, *attributes))
        return tuple(parts)

    def _declare(self, kind: Kind) -> None:
        for name, found in kind.representative._all_declared().items():
            if isinstance(found, Connector):
                for member, declaration in found.members.items():
                    self.add_quantity(kind, Quantity(f"{name}.{member}", declaration, found.shape + declaration.shape, found))
            else:
                self.add_quantity(kind, Quantity(name, found, found.shape))

    def add_quantity(self, kind: Kind, quantity: Quantity) -> None:
        total = kind.count * quantity.size
        if quantity.declaration.is_known:
            cells = 2 * total if quantity.role == "discrete" else total  # behind the values of discrete ones, those before an event
            quantity.base, self.known_count = self.known_count, self.known_count + cells
        else:
            quantity.base, self.variable_count = self.variable_count, self.variable_count + total
            if quantity.role == "input":
                quantity.known_base, self.known_count = self.known_count, self.known_count + total
        kind.quantities[quantity.name] = quantity

    # --- numbers --------------------------------------------------------------------------------------------------------
    def quantity_of(self, reference: Reference) -> Quantity:
        found: Quantity = reference.owner._kind.quantities[reference.name]
        return found

    def numbers(self, kind: Kind, reference: Reference) -> np.ndarray:
        """Numbers of what `reference` stands for in every instance of `kind`: shape (count, *reference.shape)."""
        self._check_current(reference.owner._kind)
        quantity = self.quantity_of(reference)
        instances = kind.instances_of(reference.owner)
        size = quantity.size
        base = quantity.base if reference.order >= 0 else quantity.base + reference.owner._kind.count * size
        if reference.picked is None:
            flat = instances[:, :, None] * size + np.arange(size)
            return base + flat.reshape((kind.count, *reference.shape))
        inner, element = np.divmod(reference.picked, size)
        return base + instances[:, inner] * size + element

    def input_cells(self) -> np.ndarray:
        """Known cells that hold external inputs."""
        found = [np.zeros(0, dtype=np.int64)]
        for kind in self.kinds:
            for q in kind.quantities.values():
                if q.role == "input":
                    found.append(np.arange(q.known_base, q.known_base + kind.count * q.size))
        return np.concatenate(found)

    def discrete_cells(self) -> np.ndarray:
        """Known cells of discrete values; the cells of their values before an event are `partner_cells`."""
        return self._discrete(0)

    def partner_cells(self) -> np.ndarray:
        """For each of `discrete_cells` the cell of its value before the event."""
        return self._discrete(1)

    def _discrete(self, block: int) -> np.ndarray:
        found = [np.zeros(0, dtype=np.int64)]
        for kind in self.kinds:
            for q in kind.quantities.values():
                if q.role == "discrete":
                    found.append(q.base + block * kind.count * q.size + np.arange(kind.count * q.size))
        return np.concatenate(found)

    def varying_cells(self) -> np.ndarray:
        """Known cells that change during a run, time aside."""
        return np.concatenate([self.input_cells(), self.discrete_cells(), self.partner_cells()])

    # --- names ----------------------------------------------------------------------------------------------------------
    def path_of(self, kind: Kind, instance: int) -> str:
        """The path of one instance, as the user would write it; empty for the root."""
        firsts = [m._first for m in kind.members]
        member = kind.members[int(np.searchsorted(firsts, instance, side="right")) - 1]
        return self._path(member, instance - member._first)

    def _path(self, component: Component, offset: int) -> str:
        parts: list[str] = []
        node: Component | None = component
        while node is not self.root and node is not None and node._parent is not None:
            text = node._name if node._position is None else f"{node._name}[{node._position}]"
            if node._array_shape:
                offset, inner = divmod(offset, int(np.prod(node._array_shape)))
                text += "[" + ", ".join(str(int(k)) for k in np.unravel_index(inner, node._array_shape)) + "]"
            parts.append(text)
            node = node._parent
        return ".".join(reversed(parts))

    def name_of(self, number: int, role: str = "variable") -> str:
        """The name of a numbered variable (or of a known cell: a parameter or an external input)."""
        kind, quantity, base = self.quantity_at(number, role)
        before, offset = divmod(number - base, kind.count * quantity.size)
        instance, element = divmod(offset, quantity.size)
        name = joined(self.path_of(kind, instance), element_name(quantity.name, element, quantity.shape))
        return f"pre({name})" if before else name

    def quantity_at(self, number: int, role: str = "variable") -> tuple[Kind, Quantity, int]:
        """Which quantity a number belongs to, and its first number."""
        for kind in self.kinds:
            for quantity in kind.quantities.values():
                base = quantity.first(role)
                blocks = 2 if quantity.role == "discrete" else 1
                if base is not None and base <= number < base + blocks * kind.count * quantity.size:
                    return kind, quantity, base
        raise IndexError(number)

    def locate(self, path: object) -> Located:
        """What a path names; see `families/path.py`."""
        if not isinstance(path, str):
            raise UsageError(f'A name is a text such as "room.T", got {path!r} of type {type(path).__name__}.')
        from .path import resolve

        located = resolve(self, path)
        self._check_current(located.kind)
        return located

    def _check_current(self, kind: Kind) -> None:
        """A component carries the numbers of the model that it was compiled in last."""
        if kind.root is not self.root:
            raise ModelError(
                f"{kind.name} has meanwhile been compiled as part of another model ({type(kind.root).__name__}), "
                f"so what was computed with {type(self.root).__name__} can no longer be looked at.",
                remedy="Make a new component for each model.",
            )


def joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def element_name(name: str, element: int, shape: Shape) -> str:
    if not shape:
        return name
    return name + "[" + ", ".join(str(int(k)) for k in np.unravel_index(element, shape)) + "]"


def _forget_translation(component: Component) -> None:
    """Take away what an earlier translation left on its representative: named expressions and auxiliary unknowns."""
    earlier: Kind | None = getattr(component, "_kind", None)
    if earlier is None or earlier.representative is not component:
        return
    for name in earlier.stated:
        component.__dict__.pop(name, None)
    if component._declared:
        component._declared = {k: v for k, v in component._declared.items() if not getattr(v, "auxiliary", False)}


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


def _frozen(value: Any) -> Any:
    """A hashable stand-in for a structural choice; what cannot be compared counts as itself only."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, dict):
        return tuple((k, _frozen(v)) for k, v in value.items())
    try:
        hash(value)
    except TypeError:
        return ("identity", id(value))
    return (type(value), value)


def shown_names(component: Component) -> list[str]:
    """What a component declares, without what the translation added."""
    return [name for name, found in component._all_declared().items() if not getattr(found, "auxiliary", False)]


def unknown_path(path: str, part: str, component: Component) -> NameNotFound:
    known = [*shown_names(component), *component.__dict__]
    return NameNotFound(
        f"`{path}` does not exist: {type(component).__name__} has no `{part}`. {near_matches(part, known)}".strip(),
        remedy=f"It has: {', '.join(known[:15])}{', …' if len(known) > 15 else ''}",
    )
