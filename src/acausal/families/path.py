"""Paths: `racks[2].cells[0].T[1:3]` → which instances and elements of which quantity. Names are resolved on demand."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import normalize

import numpy as np

from ..errors import NameNotFound
from ..language.expression import Shape
from ..records import dataclass
from .plant import Kind, Plant, unknown_path
from .tree import Node

_PART = re.compile(r"([^\W\d]\w*)((?:\[[^\]]*\])*)")
_KEY = re.compile(r"\[([^\]]*)\]")


@dataclass(slots=True, eq=False)
class Located:
    """A quantity (or named expression) `name` of `kind`, in the instances `instances` (any shape), elements still to be picked.

    For a quantity, `flat` are numbers `instance·size + element` of the final shape. For a named expression, `instances` says
    where, and `key` is applied to its value's own axes.
    """

    kind: Kind
    name: str
    instances: np.ndarray
    flat: np.ndarray | None
    key: Any = ()
    order: int = 0

    @property
    def shape(self) -> Shape:
        return self.flat.shape if self.flat is not None else self.instances.shape


def spelt(path: str) -> str:
    """A name as Python writes it: of letters that mean the same (φ and ϕ) Python knows one.

    >>> spelt("tank.\u03d5") == "tank.\u03c6"
    True
    """
    return path if path.isascii() else normalize("NFKC", path)


def split(path: str) -> list[tuple[str, list[Any]]]:
    """`a[1].b[2:, 0]` as [("a", [1]), ("b", [slice, 0])]."""
    parts: list[tuple[str, list[Any]]] = []
    position = 0
    text = spelt(path.replace(" ", ""))
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise NameNotFound(f"`{path}` is not a name: it is written like `room.wall.T[3]`.")
        keys = [k for group in _KEY.findall(match.group(2)) for k in _keys(group, path)]
        parts.append((match.group(1), keys))
        position = match.end()
        if position < len(text):
            if text[position] != ".":
                raise NameNotFound(f"`{path}` is not a name: unexpected `{text[position]}`.")
            position += 1
    return parts


def _keys(text: str, path: str) -> list[Any]:
    keys: list[Any] = []
    for part in text.split(","):
        try:
            if ":" in part:
                bounds = [int(b) if b else None for b in part.split(":")]
                keys.append(slice(*bounds))
            else:
                keys.append(int(part))
        except (ValueError, TypeError):
            raise NameNotFound(f"`{path}`: `[{text}]` is not an index.") from None
        if isinstance(keys[-1], slice) and keys[-1].step == 0:
            raise NameNotFound(f"`{path}`: `[{text}]` is not an index, since its step is zero.")
    return keys


def resolve(plant: Plant, path: str) -> Located:
    """Find what a path names, or say where it goes wrong and what is near."""
    text = path.strip()
    order = 0
    if text.startswith("der(") and text.endswith(")"):
        text, order = text[4:-1], 1
    parts = split(text)
    node = plant.root
    instances = np.zeros((), dtype=np.int64)  # counted within the node
    for depth, (name, keys) in enumerate(parts):
        child = node.children.get(name)
        if child is None:
            return _quantity(path, node, instances, name, keys, parts[depth + 1 :], order)
        if isinstance(child, tuple):
            node = _element_of(path, name, child, keys)
        elif child.shape:
            instances = _picked(path, name, _offset(instances, child.shape), instances.ndim, keys)
            node = child
        else:
            _no_keys(path, name, keys)
            node = child
    raise NameNotFound(f"`{path}` is a component ({node.class_name}), not a quantity.", remedy=_listing(node))


def described(plant: Plant, located: Located) -> tuple[str, str]:
    """The unit and the documentation of what was located."""
    if located.flat is None:
        return located.kind.units_of_named.get(located.name, ("", ""))
    if not located.instances.size:  # an array without elements
        declared = located.kind.quantities[located.name].declaration
        return declared.unit, declared.doc
    member = located.kind.member_of(int(located.instances.ravel()[0]))
    declaration = member._declaration(located.name)
    changed: dict[str, Any] = member.modifications.get(located.name) or {}
    unit, doc = changed.get("unit", declaration.unit), changed.get("doc", declaration.doc)
    return plant.rate(unit, located.order), doc


def _offset(instances: np.ndarray, shape: Shape) -> np.ndarray:
    """Instance numbers relative to an array's node, from those relative to its parent's."""
    size = int(np.prod(shape))
    inner = np.arange(size).reshape(shape)
    return instances.reshape(instances.shape + (1,) * len(shape)) * size + inner


def _picked(path: str, name: str, numbers: np.ndarray, outer: int, keys: list[Any]) -> np.ndarray:
    if not keys:
        return numbers
    try:
        return np.asarray(numbers[(slice(None),) * outer + tuple(keys)])
    except IndexError:
        raise NameNotFound(f"`{path}`: `{name}` has shape {numbers.shape}, so {_index_text(keys)} is outside of it.") from None


def _index_text(keys: list[Any]) -> str:
    return "[" + ", ".join(f"{k.start or ''}:{k.stop or ''}" if isinstance(k, slice) else str(k) for k in keys) + "]"


def _element_of(path: str, name: str, child: tuple[Node, ...], keys: list[Any]) -> Node:
    if len(keys) != 1 or not isinstance(keys[0], int) or not -len(child) <= keys[0] < len(child):
        raise NameNotFound(
            f"`{path}`: `{name}` is a list of {len(child)} components; pick one: `{name}[0]` … `{name}[{len(child) - 1}]`."
        )
    return child[keys[0]]


def _no_keys(path: str, name: str, keys: list[Any]) -> None:
    if keys:
        raise NameNotFound(f"`{path}`: `{name}` is a single component and takes no index.")


def _quantity(
    path: str,
    node: Node,
    instances: np.ndarray,
    name: str,
    keys: list[Any],
    rest: list[tuple[str, list[Any]]],
    order: int,
) -> Located:
    kind, where = node.kind, node.first + instances
    port = kind.ports.get(name)
    if port is not None:
        member = ".".join(part for part, _ in rest)
        if member not in port.members:
            raise NameNotFound(f"`{path}`: {port.class_name} `{name}` has {', '.join(port.members)}, not `{member}`.")
        return _elements(path, kind, f"{name}.{member}", where, keys + [key for _, more in rest for key in more], order)
    if name in kind.named and not rest:
        return Located(kind, name, where, None, tuple(keys), order)
    if name in kind.quantities and not rest:
        return _elements(path, kind, name, where, keys, order)
    if name in kind.quantities or name in kind.named:
        raise NameNotFound(
            f"`{path}` does not exist: `{name}` of {kind.name} is a quantity, which has no `{rest[0][0]}`.",
            remedy=f"Its value is `{name}`; what else is known of it: `model.explain({name!r})`.",
        )
    raise unknown_path(path, name, kind)


def _elements(path: str, kind: Kind, name: str, where: np.ndarray, keys: list[Any], order: int) -> Located:
    quantity = kind.quantities[name]
    elements = np.arange(quantity.size).reshape(quantity.shape)
    if keys:
        try:
            elements = np.asarray(elements[tuple(keys)])
        except IndexError:
            raise NameNotFound(f"`{path}`: `{name}` has shape {quantity.shape}, so {_index_text(keys)} is outside of it.") from None
    flat = where.reshape(where.shape + (1,) * elements.ndim) * quantity.size + elements
    return Located(kind, name, where, flat, (), order)


def _listing(node: Node) -> str:
    known = node.kind.shown_names()
    return f"It has: {', '.join(known[:15])}{', …' if len(known) > 15 else ''}"
