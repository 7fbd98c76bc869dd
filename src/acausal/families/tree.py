"""The component tree as data: what a translation keeps of the user's components.

A translation reads components once and writes nothing into them. Of each Python object a `Node` is left: its name and place, the
array it stands for, what was changed for it; the class's declarations and connectors go to its kind (`plant.py`). From then on
everything speaks of nodes, expressions too, so that a compiled model knows no component and no class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Location
from ..language.declarations import (
    Boolean,
    Constant,
    Declaration,
    Discrete,
    Flow,
    Input,
    Integer,
    Modification,
    Named,
    Output,
    Parameter,
    Potential,
    Stream,
    Variable,
)
from ..language.distributions import Distribution
from ..language.expression import Arithmetic, Shape
from ..language.states import InputStates, OutputStates, StateDeclaration, States
from ..records import dataclass

if TYPE_CHECKING:
    from .plant import Kind

Path = tuple[tuple[str, int | None], ...]


@dataclass(slots=True, eq=False)
class Node:
    """One Python object of the user's, or one array of components: instances `first … first + count - 1` of its kind, in row-major
    order of the arrays around it."""

    name: str
    position: int | None  # within a list of components
    shape: Shape  # of the array whose element it is
    class_name: str
    parent: Node | None
    kind: Kind = None  # type: ignore[assignment]  # set as soon as it is known
    first: int = 0
    count: int = 0
    modifications: dict[str, Modification] = field(default_factory=dict)
    declared: dict[str, Declaration] = field(default_factory=dict)  # quantities of its own that were declared in `__init__`
    children: dict[str, Node | tuple[Node, ...]] = field(default_factory=dict)

    # --- what an expression asks of the owner of a quantity (a component answers the same while equations are stated) ---
    def _declaration(self, name: str) -> Declaration:
        return self.declared.get(name) or self.kind.quantities[name].declaration

    def _steps_from(self, root: Node) -> list[tuple[str, int | None]] | None:
        """How to get here from `root`: attribute and position; None when this is not below `root`."""
        steps: list[tuple[str, int | None]] = []
        node: Node | None = self
        while node is not root:
            if node is None:
                return None
            steps.append((node.name, node.position))
            node = node.parent
        return steps[::-1]

    def _path_from(self, root: Node, name: str = "") -> str:
        steps = self._steps_from(root)
        parts = [n if p is None else f"{n}[{p}]" for n, p in steps] if steps is not None else ["?"]
        return ".".join([*parts, name] if name else parts)

    # --- places ---------------------------------------------------------------------------------------------------------------
    @property
    def instances(self) -> np.ndarray:
        return np.arange(self.first, self.first + self.count)

    def parts(self) -> Iterator[Node]:
        """Sub-components, in the order in which they were assigned; an array is one."""
        for child in self.children.values():
            if isinstance(child, tuple):
                yield from child
            else:
                yield child

    def follow(self, path: Path) -> Node:
        """The descendant at the end of `path` (elements of arrays stand for all of them)."""
        node = self
        for name, position in path:
            child = node.children[name]
            node = child[position or 0] if isinstance(child, tuple) else child
        return node

    def __repr__(self) -> str:
        return f"<{self.class_name}{f' {self.name}' if self.name else ''}>"


@dataclass(slots=True, eq=False)
class Port:
    """A connector of a kind: what was declared, as data."""

    name: str
    class_name: str
    sign: int
    shape: Shape
    doc: str
    members: dict[str, Declaration]
    location: Location | None = None
    declared_in: str = ""  # the class
    lineage: tuple[str, ...] = ()  # the connector classes it is derived from, its own first
    origin: str = ""  # module and name of the connector's class


# --- declarations -------------------------------------------------------------------------------------------------------------
_CLASSES = (
    InputStates, OutputStates, States, Boolean, Integer, Discrete, Constant, Parameter, Input, Output, Variable, Potential, Flow,
    Stream, Declaration,
)  # fmt: skip
NUMERIC = ("value", "start", "fixed", "nominal", "min", "max")
_CLASS_LEVEL = ("role", "flow", "type", "states", "carried", "auxiliary")  # what a subclass of the user's may say otherwise


_HELD = (
    type(None), bool, int, float, str, tuple, list, dict, np.ndarray, np.generic, Location, Arithmetic, Named, Distribution,
)  # fmt: skip


_NUMBERS = (type(None), float, bool, int)


def recorded(declaration: Declaration, declared_in: str) -> Declaration:
    """A declaration of the translation's own, of one of the language's classes, whoever derived others from them."""
    base: type[Declaration] = _base_of(type(declaration))  # type: ignore[arg-type]  # classes are hashable
    new = object.__new__(base)
    new.__dict__.update({name: held for name, held in vars(declaration).items() if isinstance(held, _HELD)})
    new.declared_in = declared_in
    if isinstance(declaration, StateDeclaration):
        assert isinstance(new, StateDeclaration)
        new.source = str(getattr(declaration.source, "name", declaration.source))
        new.initial = frozen_value(declaration.initial)
    for name in NUMERIC:
        held = getattr(declaration, name, None)
        new.__dict__[name] = held if type(held) in _NUMBERS else frozen_value(held)
    for name in _CLASS_LEVEL if base is not type(declaration) else ():
        said = getattr(declaration, name, None)
        if said != getattr(new, name, None):
            setattr(new, name, said)
    return new


@cache
def _base_of(cls: type[Declaration]) -> type[Declaration]:
    return next(base for base in _CLASSES if issubclass(cls, base))


def frozen_value(value: Any) -> Any:
    """A number as it is now, whatever becomes of the array it was given in."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.dtype.kind in "biuf" else value.tolist()  # names of states
    return list(value) if isinstance(value, list) else value
