"""The plant: which kinds of component there are, how many of each, and how quantities are numbered.

A *kind* is a class with its structural choices. All its instances, whether Python objects or elements of arrays, are numbered
0 … m-1, and each declared quantity owns one block of `m · size` numbers. Nothing is created per element: the work here is
proportional to the number of Python objects, not to the number of instances.

A Python object stands for instances `first … first + count - 1` (more than one if it is the element of an array, or below one), in
row-major order of the arrays around it (`tree.py`). So the instances of a descendant, seen from the instances of an ancestor, are
a reshaped range. A plant is data; `census.py` makes it from components.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Location, ModelError, NameNotFound, UsageError, near_matches
from ..language.declarations import Declaration
from ..language.expression import Expression, Reference, Shape
from ..records import dataclass
from .tree import Node, Path, Port

if TYPE_CHECKING:
    from .path import Located
    from .surroundings import Seen

_MOST_LOCATED = 50_000

# The first cells of the known part of the workspace. LIVE: relations are evaluated rather than frozen; INITIAL: the start of a run.
TIME, CONTINUATION, ZERO, ONE, LIVE, INITIAL, FIRST_PARAMETER = range(7)
DERIVATIVES = 2  # of inputs that have cells: a prescribed position has a velocity and an acceleration


@dataclass(slots=True, eq=False)
class Quantity:
    """A declared quantity of a kind: `T`, or `port.T`. `base` is its first number among its peers (variables or knowns)."""

    name: str
    declaration: Declaration
    shape: Shape
    connector: Port | None = None
    base: int = -1
    known_base: int = -1  # for inputs: the cell that holds the value given from outside

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def role(self) -> str:
        return self.declaration.role

    def first(self, role: str) -> int | None:
        """Its first number among the variables (`"variable"`) or the known cells (`"known"`); None if it is not one of them."""
        if role == "known":
            return self.base if self.declaration.is_known else self.known_base if self.role == "input" else None
        return None if self.declaration.is_known else self.base

    def blocks(self, role: str) -> int:
        """How many cells there are for each of its numbers: with the value before an event, with derivatives."""
        return 2 if self.role == "discrete" else 1 + DERIVATIVES if self.role == "input" and role == "known" else 1

    @property
    def is_potential(self) -> bool:
        return self.connector is not None and not self.declaration.flow and not self.declaration.stream

    @property
    def is_own_unknown(self) -> bool:
        """Whether the component itself owes an equation for it: its own variables, its connectors' flows, and what leaves there."""
        return self.role == "variable" and not self.is_potential and self.declaration.stream in ("", "outflow")

    @property
    def flow_sign(self) -> int:
        """+1 or -1 for flows, by the side's sign convention (WinDali 6.1); 0 for everything else."""
        return self.connector.sign if self.connector is not None and self.declaration.flow else 0


@dataclass(frozen=True, slots=True)
class Method:
    """Where a class of the user's states its equations: for messages."""

    class_name: str
    file: str
    first: int
    last: int

    def has(self, place: Location) -> bool:
        return place.file == self.file and self.first <= place.line <= self.last


# Among a kind's attributes: no attribute of the user's can have these names.
MEDIA, ICON, INSTEAD = "media of its ports", "its icon", "what is there instead"


@dataclass(slots=True, eq=False)
class Kind:
    """A component class with its structural choices, and all its instances."""

    index: int
    name: str  # of the class
    doc: str
    class_number: int  # kinds of one class share it
    representative: Node
    count: int = 0
    members: list[Node] = field(default_factory=list)
    quantities: dict[str, Quantity] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)  # plain attributes, structural choices: values as JSON, or texts
    promoted: tuple[str, ...] = ()  # plain attributes whose values differ among its members, and are data
    named: dict[str, Expression] = field(default_factory=dict)  # expressions that are attributes
    stated: tuple[str, ...] = ()  # those of them that `equations` made
    units_of_named: dict[str, tuple[str, str]] = field(default_factory=dict)  # unit and documentation of those that have one
    methods: tuple[Method, ...] = ()  # that state equations, the one that runs first
    closed: bool = False  # its equations are shown by name only
    _numbers: dict[Path, np.ndarray] = field(default_factory=dict)
    _firsts: list[int] = field(default_factory=list)

    def instances_of(self, owner: Node) -> np.ndarray:
        """Instance numbers of `owner`'s kind, shape (count of this kind, instances of `owner` in each)."""
        if owner is self.representative:
            return np.arange(self.count)[:, None]
        steps = owner._steps_from(self.representative)
        if steps is None:
            raise ModelError(
                f"An equation or connection of {self.name} refers to `{owner.name or owner.class_name}` outside it.",
                remedy="A component sees its own quantities and those of its sub-components; "
                "connect others in the component around.",
            )
        path = tuple(steps)
        if path not in self._numbers:
            parts = [member.follow(path).instances.reshape(member.count, -1) for member in self.members]
            self._numbers[path] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._numbers[path]

    def member_of(self, instance: int) -> Node:
        """The node that an instance belongs to."""
        if len(self._firsts) != len(self.members):
            self._firsts = [m.first for m in self.members]
        return self.members[bisect_right(self._firsts, instance) - 1]

    def free_name(self, stem: str) -> str:
        """A name that nothing has yet: `sum1`, `sum2`, …"""
        taken = {*self.quantities, *self.ports, *self.attributes, *self.named, *self.representative.children}
        return next(f"{stem}{k}" for k in range(1, len(taken) + 2) if f"{stem}{k}" not in taken)

    def shown_names(self) -> list[str]:
        """What it declares, its connectors and parts, without what the translation added."""
        declared = dict.fromkeys(q.name.partition(".")[0] for q in self.quantities.values() if not q.declaration.auxiliary)
        return [*declared, *self.representative.children, *(n for n in self.named if n not in declared)]


class Plant:
    """All kinds below `root`, with quantities numbered."""

    independent: tuple[str, str, str] = ("time", "s", "time")  # the name, unit and documentation of what is integrated over

    def __init__(self, root: Node, kinds: list[Kind]) -> None:
        self.root, self.kinds = root, kinds
        self.variable_count = 0
        self.known_count = FIRST_PARAMETER
        self._inputs: dict[int, np.ndarray] = {}  # cells of inputs, by the order of the derivative
        self._located: dict[str, Located] = {}  # names that were asked for; who lists a result asks for each several times
        self.seen: Seen | None = None  # what components see of those around them

    def moment(self, value: float, form: str = ".6g") -> str:
        """A value of the independent variable as messages say it: `12.5 s`, or `3 m` where a model is integrated over a height."""
        return f"{value:{form}} {self.independent[1]}"

    def rate(self, unit: str, order: int) -> str:
        """The unit of the derivative of something: `K/s`, of the second order `K/s/s`; what has no unit keeps none."""
        over = self.independent[1]
        return unit + order * f"/{over if over.isalpha() else f'({over})'}" if unit else unit

    def add_quantity(self, kind: Kind, quantity: Quantity) -> None:
        total = kind.count * quantity.size
        if quantity.declaration.is_known:
            cells = 2 * total if quantity.role == "discrete" else total  # behind the values of discrete ones, those before an event
            quantity.base, self.known_count = self.known_count, self.known_count + cells
        else:
            quantity.base, self.variable_count = self.variable_count, self.variable_count + total
            if quantity.role == "input":  # behind what is given, its derivatives
                self._inputs.clear()
                quantity.known_base, self.known_count = self.known_count, self.known_count + (1 + DERIVATIVES) * total
        kind.quantities[quantity.name] = quantity

    # --- numbers --------------------------------------------------------------------------------------------------------
    def quantity_of(self, reference: Reference) -> Quantity:
        found: Quantity = reference.owner.kind.quantities[reference.name]
        return found

    def numbers(self, kind: Kind, reference: Reference) -> np.ndarray:
        """Numbers of what `reference` stands for in every instance of `kind`: shape (count, *reference.shape)."""
        quantity = self.quantity_of(reference)
        size = quantity.size
        if size == 1 and reference.owner is kind.representative and not reference.shape and reference.order >= 0:
            return np.arange(quantity.base, quantity.base + kind.count)
        instances = kind.instances_of(reference.owner)
        if reference.root is not kind.representative and reference.root.count != kind.representative.count:
            name = reference.owner._path_from(kind.representative, reference.name)
            raise ModelError(
                f"{kind.name} reads `{name}` of a single element of an array, without saying of which.",
                component=kind.name,
                remedy="Read it through the array, as an attribute of its elements: `self.cells.loss`, `self.cells[0].loss`.",
            )
        base = quantity.base if reference.order >= 0 else quantity.base + reference.owner.kind.count * size
        if reference.picked is None:
            flat = instances[:, :, None] * size + np.arange(size)
            return base + flat.reshape((kind.count, *reference.shape))
        if instances.shape[1] == 1:
            return (base + instances * size).reshape(-1, *(1,) * reference.picked.ndim) + reference.picked
        inner, element = np.divmod(reference.picked, size)
        return base + instances[:, inner] * size + element

    def input_cells(self, order: int = 0) -> np.ndarray:
        """Known cells that hold external inputs, or their derivatives of an order."""
        if order not in self._inputs:
            found = [np.zeros(0, dtype=np.int64)]
            for kind in self.kinds:
                for q in kind.quantities.values():
                    if q.role == "input":
                        found.append(q.known_base + order * kind.count * q.size + np.arange(kind.count * q.size))
            self._inputs[order] = np.concatenate(found)
        return self._inputs[order]

    def rates(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which known cells are inputs or derivatives of inputs, and the cells of one order more."""
        found, rates = np.zeros(len(cells), dtype=bool), cells.copy()
        if not len(self.input_cells()):
            return found, rates
        for order in range(DERIVATIVES):
            now, more = self.input_cells(order), self.input_cells(order + 1)
            here = np.isin(cells, now)
            if here.any():
                by = np.argsort(now)
                rates[here] = more[by[np.searchsorted(now[by], cells[here])]]
                found |= here
        beyond = np.isin(cells, self.input_cells(DERIVATIVES))
        if beyond.any():
            name = self.name_of(int(cells[beyond][0]), "known")
            raise ModelError(
                f"The derivative of `{name}` is needed, because the input prescribes something that other equations integrate: "
                f"more than {DERIVATIVES} derivatives of an input cannot be had.",
                remedy="Give the quantity through a filter (a first-order lag of the input), or as an expression of time.",
            )
        return found, rates

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
        inputs = [self.input_cells(order) for order in range(1 + DERIVATIVES)]
        return np.concatenate([*inputs, self.discrete_cells(), self.partner_cells()])

    # --- names ----------------------------------------------------------------------------------------------------------
    def path_of(self, kind: Kind, instance: int) -> str:
        """The path of one instance, as the user would write it; empty for the root."""
        member = kind.member_of(instance)
        return self.path_within(member, instance - member.first)

    def path_within(self, member: Node, offset: int) -> str:
        """The path of one of the instances that a node stands for."""
        parts: list[str] = []
        node: Node | None = member
        while node is not self.root and node is not None and node.parent is not None:
            text = node.name if node.position is None else f"{node.name}[{node.position}]"
            if node.shape:
                offset, inner = divmod(offset, int(np.prod(node.shape)))
                text += "[" + ", ".join(str(int(k)) for k in np.unravel_index(inner, node.shape)) + "]"
            parts.append(text)
            node = node.parent
        return ".".join(reversed(parts))

    def name_of(self, number: int, role: str = "variable") -> str:
        """The name of a numbered variable (or of a known cell: a parameter or an external input)."""
        kind, quantity, base = self.quantity_at(number, role)
        before, offset = divmod(number - base, kind.count * quantity.size)
        instance, element = divmod(offset, quantity.size)
        name = joined(self.path_of(kind, instance), element_name(quantity.name, element, quantity.shape))
        if quantity.role == "discrete":
            return f"pre({name})" if before else name
        return "der(" * before + name + ")" * before

    def quantity_at(self, number: int, role: str = "variable") -> tuple[Kind, Quantity, int]:
        """Which quantity a number belongs to, and its first number."""
        for kind in self.kinds:
            for quantity in kind.quantities.values():
                base = quantity.first(role)
                blocks = quantity.blocks(role)
                if base is not None and base <= number < base + blocks * kind.count * quantity.size:
                    return kind, quantity, base
        raise IndexError(number)

    def locate(self, path: object) -> Located:
        """What a path names; see `families/path.py`."""
        if not isinstance(path, str):
            raise UsageError(f'A name is a text such as "room.T", got {path!r} of type {type(path).__name__}.')
        found = self._located.get(path)
        if found is None:
            from .path import resolve

            if len(self._located) >= _MOST_LOCATED:
                self._located.clear()
            found = self._located[path] = resolve(self, path)
        return found


def joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def element_name(name: str, element: int, shape: Shape) -> str:
    if not shape:
        return name
    return name + "[" + ", ".join(str(int(k)) for k in np.unravel_index(element, shape)) + "]"


def unknown_path(path: str, part: str, kind: Kind) -> NameNotFound:
    known = kind.shown_names()
    if part in kind.attributes:
        return NameNotFound(
            f"`{path}` is not a quantity: `{part}` of {kind.name} is a plain attribute, read once, when the model is compiled.",
            remedy=f"Declare it, `{part} = ac.Parameter(…)`, to give it other values later and to look at it. "
            f"If it is an argument of the class, `ac.study({kind.name}, …)` compiles a variant for each value.",
        )
    there = kind.attributes.get(INSTEAD, {}).get(part)
    if there is not None:
        return NameNotFound(
            f"`{path}` is not there: {kind.name} has `{there}` here, and `{part}` would take its place.",
            remedy=f"Give it where the component is made, {kind.name}({part}=…); then it can be set as well.",
        )
    return NameNotFound(
        f"`{path}` does not exist: {kind.name} has no `{part}`. {near_matches(part, known)}".strip(),
        remedy=f"It has: {', '.join(known[:15])}{', …' if len(known) > 15 else ''}",
    )
