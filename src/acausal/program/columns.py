"""Components in a list as columns: those that differ in numbers only are written as one record, whatever their number.

A record has what all of them share (name, class, parent, kind), which quantities are modified in which attributes, and a column of
numbers for each of these; then positions in the list, first instances, and how many instances each stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..families.tree import Node
from ..language.declarations import Modification

TAG = "nodes"
FEWEST = 8  # components that are worth a record of this kind

Attribute = tuple[str, bool, Any]  # its name, whether it has a column, and otherwise what it is in all of them
Shared = tuple[tuple[str, tuple[Attribute, ...]], ...]  # what is modified, quantity by quantity

_ALIKE = (bool, int, str, type(None))  # values by which components are told apart


def groups(siblings: Sequence[Node]) -> list[list[Node]]:
    """Those of a list of components that can be written together."""
    found: dict[Any, list[Node]] = {}
    for node in siblings:
        if node.children or node.declared or node.position is None:
            continue
        shared = _shared(node)
        if shared is not None:
            found.setdefault((node.class_name, id(node.kind), node.shape, shared), []).append(node)
    return [group for group in found.values() if len(group) >= FEWEST]


def _shared(node: Node) -> Shared | None:
    """What a component has in common with others of its group; None if it has something that is neither a number nor a word."""
    found = []
    for name, said in node.modifications.items():
        parts: list[Attribute] = []
        for attribute, value in said.items():
            if type(value) is float:
                parts.append((attribute, True, None))
            elif type(value) in _ALIKE:
                parts.append((attribute, False, value))
            else:
                return None
        found.append((name, tuple(parts)))
    return tuple(found)


def written(group: Sequence[Node]) -> tuple[Node, Shared, list[np.ndarray]]:
    """The first of a group, what is modified in all of them, and the columns."""
    first, shared = group[0], _shared(group[0])
    assert shared is not None
    columns = [
        np.array([node.modifications[name][attribute] for node in group], dtype=float)
        for name, attributes in shared
        for attribute, varies, _ in attributes
        if varies
    ]
    places = [[node.position for node in group], [node.first for node in group], [node.count for node in group]]
    return first, shared, [*columns, *(np.array(place, dtype=np.int64) for place in places)]


def empty(column: np.ndarray) -> list[Node]:
    """As many nodes as a column has numbers, yet to be filled."""
    if column.ndim != 1:
        raise KeyError(column.shape)
    return [object.__new__(Node) for _ in range(len(column))]


def fill(
    nodes: list[Node], name: str, shape: Any, class_name: str, parent: Any, kind: Any, shared: Shared, *columns: np.ndarray
) -> None:
    """Give nodes what was written of them."""
    *numbers, positions, firsts, counts = (_as_list(column, len(nodes)) for column in columns)
    said = list(_modifications(shared, numbers, len(nodes)))
    for node, position, first, count, modified in zip(nodes, positions, firsts, counts, said, strict=True):
        node.name, node.position, node.shape, node.class_name = name, position, shape, class_name
        node.parent, node.kind, node.first, node.count = parent, kind, first, count
        node.modifications, node.declared, node.children = modified, {}, {}


def _as_list(column: np.ndarray, length: int) -> list[Any]:
    if column.shape != (length,):
        raise KeyError(column.shape)
    found: list[Any] = column.tolist()
    return found


def _modifications(shared: Shared, numbers: list[list[Any]], count: int) -> Iterable[dict[str, Modification]]:
    if not shared:
        return [{} for _ in range(count)]
    left, columns = iter(numbers), []
    for _, attributes in shared:
        own = [next(left) if varies else [value] * count for _, varies, value in attributes]
        names = [attribute for attribute, _, _ in attributes]
        rows = zip(*own, strict=True) if own else iter([()] * count)
        columns.append([Modification(zip(names, row, strict=True)) for row in rows])
    if next(left, None) is not None:
        raise KeyError(shared)
    quantities = [name for name, _ in shared]
    return [dict(zip(quantities, said, strict=True)) for said in zip(*columns, strict=True)]
