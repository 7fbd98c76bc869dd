"""What components see of those around them (`ac.outer`), as pairs of numbers: an alias of a variable, or of a known cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError, an
from ..records import dataclass
from .tree import Node

if TYPE_CHECKING:
    from ..language.component import Component
    from ..language.outer import Outer


@dataclass(slots=True, eq=False)
class Seen:
    """(k, 2) pairs: variables that are equal, and variables with the known cells that they are equal to."""

    equal: np.ndarray
    known: np.ndarray
    looked_at: np.ndarray  # variables that somebody else sees, external inputs aside


def seen_around(components: list[Component], nodes: dict[int, Node]) -> Seen:
    """For everything that a component sees of one around it, in all instances, what that is."""
    from ..language.outer import Outer

    none = np.zeros((0, 2), dtype=np.int64)
    pairs: dict[bool, list[np.ndarray]] = {False: [none], True: [none]}
    looked_at = [np.zeros(0, dtype=np.int64)]
    for component in components:
        for name, view in component._all_declared().items():
            if isinstance(view, Outer):
                looked_at += _add(pairs, nodes[id(component)], name, view, nodes[id(_nearest(component, view, nodes))])
    return Seen(np.concatenate(pairs[False]), np.concatenate(pairs[True]), np.concatenate(looked_at))


def _add(pairs: dict[bool, list[np.ndarray]], node: Node, name: str, view: Outer, world: Node) -> list[np.ndarray]:
    """Add the pairs of one view; returns the variables that are seen and see."""
    looked_at: list[np.ndarray] = []
    own = node.instances
    there = world.first + np.arange(node.count) // (node.count // world.count)  # row-major: the innermost arrays count fastest
    for member in view.members:
        seen, target = node.kind.quantities[f"{name}.{member}"], world.kind.quantities[member]
        elements = np.arange(seen.size)
        here = seen.base + own[:, None] * seen.size + elements
        found = target.base + there[:, None] * target.size + elements
        pairs[target.declaration.is_known].append(np.stack([here.ravel(), found.ravel()], axis=1))
        looked_at += [here.ravel(), found.ravel()] if target.role == "variable" else [here.ravel()]
    return looked_at


def _nearest(component: Component, view: Outer, nodes: dict[int, Node]) -> Component:
    """The component of that class that one around has as a part, or is itself."""
    around = component._ac_parent
    while around is not None and id(around) in nodes:
        if isinstance(around, view.world):
            return around
        parts = [p for p in around.__dict__.values() if isinstance(p, view.world) and p is not component]
        if len(parts) > 1:
            raise ModelError(
                f"{type(around).__name__} has {len(parts)} of {view.world.__name__}, and `{component._ac_name}` "
                f"({type(component).__name__}) cannot tell which is around it.",
                details=tuple(f"there is:  {p._ac_name}" for p in parts),
                remedy="Keep one, or put each into a component of its own, together with what it surrounds.",
            )
        if parts:
            return parts[0]
        around = around._ac_parent
    place = component._ac_name or "the model"
    raise ModelError(
        f"`{place}` ({type(component).__name__}) needs {an(view.world.__name__)} around it, and there is none.",
        component=type(component).__name__,
        remedy=f"Add one to a component around it: `self.{view.name} = {view.world.__name__}()`.",
    )
