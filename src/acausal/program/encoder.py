"""Writing the records of `codec.py`: a graph of data as text and arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..economy import blake2b
from ..errors import UsageError
from ..families import template, tree
from ..language import declarations, states
from ..language.delays import DelayFunction
from ..language.expression import (
    Call,
    Constant,
    Derived,
    Expression,
    Literal,
    Mark,
    Operation,
    Reference,
    Slot,
    Sum,
    Unbound,
    walk,
)
from ..language.external import ExternalFunction
from ..language.grids import TableND
from ..language.several import Part
from ..language.table_sets import TableSet
from ..language.tables import SplineFunction, Table, TableDerivative
from ..records import is_dataclass
from . import columns
from .codec import LEFT_OUT, Encoded, fields_of, is_listed, name_of


def _is_data(cls: type) -> bool:
    return is_dataclass(cls) and not issubclass(cls, template.Template)


def _is_short(value: dict[Any, Any]) -> bool:
    """Whether a dictionary has texts for keys, and numbers, texts or dictionaries like that for values: it is written in place."""
    return len(value) <= 8 and all(type(key) is str for key in value) and all(_is_plain(part) for part in value.values())


def _is_plain(part: Any) -> bool:
    if type(part) is dict or type(part) is declarations.Modification:
        return _is_short(part)
    return part is None or type(part) in (bool, int, float, str)


def digest_of(data: Any) -> str:
    """A hash of a graph of data: what was copied, pickled or kept in a file has that of the original."""
    encoded = encode(data)
    found = blake2b(json.dumps([encoded.root, encoded.records, [a.shape for a in encoded.arrays]]).encode(), digest_size=20)
    for array in encoded.arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def encode(value: Any) -> Encoded:
    """The records and arrays of a graph of data.

    >>> from acausal.program.codec import decode
    >>> encoded = encode({"a": (1, 2.5)})
    >>> decode(encoded)
    {'a': (1, 2.5)}
    """
    encoder = _Encoder()
    root = encoder.value(value)
    encoder.finish()
    return Encoded(encoder.records, encoder.arrays, root, encoder.outside)


class _Encoder:
    def __init__(self) -> None:
        self.records: list[Any] = []
        self.arrays: list[np.ndarray] = []
        self.outside: list[ExternalFunction] = []
        self._numbers: dict[int, int | tuple[int, int]] = {}  # id → record, or record and place in it
        self._kept: list[Any] = []  # so that ids stay those of what was written
        self._looked_at: dict[int, Any] = {}  # lists of components that were written as columns
        self._equal: dict[Any, int] = {}  # short tuples by what is in them
        self._left: list[tuple[int, Any]] = []  # objects whose fields are yet to be written
        self._fields: dict[type, list[str] | None] = {}

    def finish(self) -> None:
        while self._left:
            number, value = self._left.pop()
            self.records[number] = self._contents(value)

    def value(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is int or kind is str:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"f": repr(value)}
        found = self._numbers.get(id(value))
        if found is not None:
            return [found] if type(found) is int else [*found]  # type: ignore[misc]
        if kind is tree.Node and value.position is not None and self._in_columns(value):
            return self.value(value)
        if kind is dict or kind is declarations.Modification:
            if _is_short(value):
                return {"d" if kind is dict else "m": {key: self.value(part) for key, part in value.items()}}
        elif kind is not list and not is_listed(kind) and not _is_data(kind):
            return self._fixed(value)
        number = self._new(value, None)
        self._left.append((number[0], value))
        return number

    def _fixed(self, value: Any) -> Any:
        """Things whose parts are written before them."""
        if isinstance(value, np.generic):
            return self.value(value.item())
        if isinstance(value, Expression):
            return self._expression(value)
        if type(value) is tuple:
            return self._tuple(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, (set, frozenset)):
            return self._new(value, ["set", *map(self.value, sorted(value, key=repr))])
        if isinstance(value, template.Template):
            return self._template(value)
        if isinstance(value, ExternalFunction):
            return self._function(value)
        raise UsageError(f"{value!r} of type {type(value).__name__} is no part of a model that can be written to a file.")

    def _new(self, value: Any, record: Any) -> list[int]:
        self.records.append(record)
        self._kept.append(value)
        self._numbers[id(value)] = len(self.records) - 1
        return [len(self.records) - 1]

    def _in_columns(self, node: tree.Node) -> bool:
        """Write a component and those like it in its list; false if it is alone in its way."""
        siblings = None if node.parent is None else node.parent.children.get(node.name)
        if not isinstance(siblings, tuple) or id(siblings) in self._looked_at:
            return False
        self._looked_at[id(siblings)] = siblings
        for group in columns.groups(siblings):
            number = len(self.records)
            self.records.append(None)
            self._numbers.update({id(one): (number, k) for k, one in enumerate(group)})
            first, shared, numbers = columns.written(group)
            parts = [self.value(part) for part in (first.name, first.shape, first.class_name, first.parent, first.kind)]
            self.records[number] = [columns.TAG, *parts, self.value(shared), *(self.value(column) for column in numbers)]
        return id(node) in self._numbers

    def _sequence(self, values: Any) -> list[Any]:
        """The parts of a list or tuple; components that stand in columns one after the other are one part."""
        parts: list[Any] = []
        for value in values:
            part = self.value(value)
            last = parts[-1] if parts else None
            if type(part) is list and len(part) == 2 and type(last) is list and last[0] == part[0] and last[-1] == part[1]:
                last[-1] += 1
            else:
                parts.append([part[0], part[1], part[1] + 1] if type(part) is list and len(part) == 2 else part)
        return parts

    def _tuple(self, value: tuple[Any, ...]) -> list[int]:
        plain = all(type(v) is int or type(v) is str for v in value)
        if plain and value in self._equal:
            return [self._equal[value]]
        number = self._new(value, ["tuple", *self._sequence(value)])
        if plain:
            self._equal[value] = number[0]
        return number

    def _array(self, value: np.ndarray) -> list[int]:
        if value.dtype.kind not in "biuf":
            raise UsageError(f"An array of {value.dtype} cannot be written: {value!r}.")
        self.arrays.append(value)
        return self._new(value, ["array", len(self.arrays) - 1])

    def _contents(self, value: Any) -> Any:
        kind = type(value)
        if kind is list:
            return ["list", *self._sequence(value)]
        if isinstance(value, dict):
            name = "Modification" if isinstance(value, declarations.Modification) else "dict"
            return [name, *(self.value(part) for item in value.items() for part in item)]
        name = name_of(kind)
        if kind not in self._fields:
            self._fields[kind] = fields_of(kind)
        fields = self._fields[kind]
        if fields is not None:
            return [name, *[self.value(getattr(value, field)) for field in fields]]
        held = {key: part for key, part in vars(value).items() if key not in LEFT_OUT}
        return [name, *(entry for key, part in held.items() for entry in (key, self.value(part)))]

    def _expression(self, value: Expression) -> list[int]:
        for node in walk(value):
            if id(node) not in self._numbers:
                self._new(node, ["E", type(node).__name__, *self._node(node)])
        return [self._numbers[id(value)]]  # type: ignore[list-item]

    def _node(self, node: Expression) -> Iterable[Any]:
        if isinstance(node, Constant):
            return [self.value(node.value)]
        if isinstance(node, Reference):
            return [self.value(v) for v in (node.root, node.owner, node.name, node.shape, node.picked, node.order)]
        if isinstance(node, states.State):
            return [self.value(node.args[0]), node.number]
        if isinstance(node, Operation):
            return [node.operator.name, *(self.value(a) for a in node.args)]
        if isinstance(node, Call):
            return [self.value(node.function), *(self.value(a) for a in node.args)]
        if isinstance(node, Sum):
            return [self.value(node.args[0]), self.value(node.axes)]
        if isinstance(node, Slot):
            return [node.number, node.kind]
        if isinstance(node, Derived):
            return [self.value(node.expression)]
        if isinstance(node, Literal):
            return [self.value(node.values)]
        if isinstance(node, Unbound):
            raise UsageError(f"`{node}` stands for a declaration of a class and is no part of a model that can be written.")
        return [node.name] if isinstance(node, Mark) else []

    def _template(self, value: template.Template) -> list[int]:
        """What is known of its derivatives is written too: whoever reads it differentiates nothing, unless code is made."""
        entries, silent, _ = value.facts
        known = [[[k, s, self.value(v), list(reads)] for k, s, v, reads in entries], [list(pair) for pair in silent]]
        return self._new(value, ["T", self.value(value.outputs), *known])

    def _function(self, value: ExternalFunction) -> list[int]:
        if isinstance(value, TableSet):
            return self._new(value, ["tables", self.value(value.tables), self.value(value.orders)])
        if isinstance(value, DelayFunction):
            return self._new(value, ["delay", value.what, value.order])
        if isinstance(value, TableND):
            return self._new(value, ["grid", *map(self.value, value.__reduce__()[1])])
        if isinstance(value, TableDerivative):
            return self._new(value, ["derivative", self.value(value._table), self.value(value.orders)])
        if isinstance(value, SplineFunction):
            arrays = (value.x, value.y) if isinstance(value, Table) else (value.x, value.y, value.values)  # type: ignore[attr-defined]
            options = [value.name, value.method, value.extrapolation]
            return self._new(value, [type(value).__name__, *options, *map(self.value, arrays)])
        if isinstance(value, Part) and hasattr(value.several, "fluid"):  # its table is made again where the file is read
            function: Any = value.several
            name, *reach = function.fluid._key
            return self._new(value, ["fluid", name, reach, function.kind, value.result, list(value.by)])
        self.outside.append(value)
        return self._new(value, ["outside", len(self.outside) - 1])
