"""What a compiled model is made of, as text and arrays: the structural codec.

`encode` (`encoder.py`) turns a graph of data (shared and cyclic, as trees with links to their parents are) into a list of records
that JSON can hold, and a list of numpy arrays; `decode` makes the same graph again. Only classes that are listed here are written
or made, field by field, so that no text can have anything else made or run. Expressions are written node by node and interned again
on reading.

A record is `[tag, …]`. A value within a record is null, a truth value, a number or a text as it is, `{"f": "inf"}` for a number
that JSON has not, `{"d": {…}}` and `{"m": {…}}` for short dictionaries (a modification is one), and `[k]` for record k. Records of
things that cannot be changed stand behind those of their parts. Components in a list, as far as they differ in numbers only, are
one record with a column for each of these (`columns.py`): `[k, i]` is the i-th of them, `[k, i, j]` in a sequence those from i to
j - 1.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..economy import blake2b
from ..errors import UsageError, an
from ..families import template
from ..families.facts import Entry, Facts
from ..language import declarations, states
from ..language.expression import (
    Call,
    Constant,
    Continuation,
    Derived,
    Expression,
    Literal,
    Mark,
    Operation,
    Reference,
    Slot,
    Sum,
    Time,
)
from ..language.operators import NO_EVENT, OPERATORS, PRE, SAMPLE
from ..records import dataclass, field_names, is_dataclass
from . import columns

if TYPE_CHECKING:
    from ..language.external import ExternalFunction

# Classes that are written by their name alone, and their modules; these are imported when a record asks for them.
_MODULES = {
    "errors": "Location Diagnostic",
    "families.aliases": "Aliases",
    "families.assemble": "Source",
    "families.definitions": "Definition",
    "families.hoist": "DerivedCells",
    "families.hybrid": "Rule RuleBlock Part Hybrid",
    "families.nets": "Level StateTables",
    "families.numbers": "Binding Values Numbers",
    "families.pattern": "Pattern",
    "families.plant": "Quantity Method Kind Plant",
    "families.reduction": "Derivatives",
    "families.surroundings": "Seen",
    "families.system": "RowBlock System",
    "families.template": "Family",
    "families.traced": "TracedEquation TracedConnection TracedGuess Traced",
    "families.tree": "Node Port",
    "language.connector": "ConnectorView",
    "language.declarations": "Declaration Variable Output Input Parameter Constant Discrete Integer Boolean Potential Flow Stream",
    "language.equation": "Equation",
    "language.events": "When Assertion Crossing AfterStep During Assign Reinit Terminate",
    "language.states": "Transition StateView States OutputStates InputStates",
}
_LISTED = {f"acausal.{module}:{name}": name for module, names in _MODULES.items() for name in names.split()}
_MODULE_OF = {name: path.partition(":")[0] for path, name in _LISTED.items()}
CLASSES: dict[str, type] = {}  # those that have been asked for
LISTED = frozenset(_MODULE_OF)
_NAMES: dict[type, str] = {}
_DICTIONARIES: dict[str, type] = {"dict": dict, "Modification": declarations.Modification}
_OPERATORS = {**OPERATORS, "pre": PRE, "no_event": NO_EVENT, "sample": SAMPLE}
_FIXED = (  # records that are made from their parts
    "tuple", "set", "array", "E", "T", "derivative", "Table", "Table2D", "tables", "fluid", "delay", "grid", "outside"
)  # fmt: skip
LEFT_OUT = {"_numbers", "_firsts", "_located", "_inputs", "_solution"}  # memories that fill again


def register(cls: type) -> type:
    """Add a data class to those that are written."""
    CLASSES[cls.__name__] = cls
    _NAMES[cls] = cls.__name__
    return cls


_DATA = re.compile(r"(families|language)\.[a-z_]+:[A-Za-z_]\w*")  # data classes of the translation, by module and name


def name_of(cls: type) -> str:
    """What a class is called in records: listed ones by their name, other data classes of the translation by module and name."""
    found = _NAMES.get(cls)
    if found is None:
        path = f"{cls.__module__}:{cls.__qualname__}"
        found = _LISTED.get(path, path.removeprefix("acausal."))
        if path not in _LISTED and not (_DATA.fullmatch(found) and is_dataclass(cls)):
            raise UsageError(f"{an(cls.__name__, first=True)} is no part of a model that can be written to a file.")
        CLASSES[found], _NAMES[cls] = cls, found
    return found


def class_of(name: str) -> type:
    """The class of that name; only data classes of this program have one."""
    found = CLASSES.get(name)
    if found is None:
        listed = _MODULE_OF.get(name)
        if listed is None and not (isinstance(name, str) and _DATA.fullmatch(name)):
            raise KeyError(name)
        module, _, own = (listed, "", name) if listed is not None else f"acausal.{name}".partition(":")
        found = getattr(importlib.import_module(module), own)
        if not isinstance(found, type) or found.__module__ != module or (listed is None and not is_dataclass(found)):
            raise KeyError(name)
        CLASSES[name], _NAMES[found] = found, name
    return found


def layout(records: Iterable[list[Any]], digest: Callable[[bytes], Any] = blake2b) -> str:
    """A hash over the classes in some records and the names of their fields: equal ones are read alike."""
    known = {*_DICTIONARIES, *_FIXED, "list"}
    names = sorted({"Node" if record[0] == columns.TAG else str(record[0]) for record in records} - known)
    text = ";".join(f"{name}:{','.join(fields_of(class_of(name)) or ['*'])}" for name in names)
    return digest(text.encode()).hexdigest()[:16]


def fields_of(cls: type) -> list[str] | None:
    """Names of what is written of a class; None: whatever an object has."""
    if is_dataclass(cls):
        return [name for name in field_names(cls) if name not in LEFT_OUT]
    slots: Any = vars(cls).get("__slots__")
    return list(slots) if cls.__name__ in ("ConnectorView", "StateView") else None


def is_listed(cls: type) -> bool:
    return cls in _NAMES or f"{cls.__module__}:{cls.__qualname__}" in _LISTED


@dataclass(slots=True)
class Encoded:
    """Records, arrays, and the functions that are neither (user functions, which only a process that has them can call)."""

    records: list[Any]
    arrays: list[np.ndarray]
    root: Any
    outside: list[ExternalFunction]


# --- reading ------------------------------------------------------------------------------------------------------------------
def decode(encoded: Encoded, check: Callable[[Iterable[Any]], None] | None = None) -> Any:
    """The graph again; whatever does not fit together is a ValueError. `check` looks at the objects that were made."""
    try:
        decoder = _Decoder(encoded)
        if check is not None:
            check(decoder.objects())
        return decoder.value(encoded.root)
    except (IndexError, KeyError, ValueError, TypeError, AttributeError, OverflowError, StopIteration, UsageError) as error:
        raise ValueError(f"its parts do not fit together ({type(error).__name__}: {error})") from error


class _Decoder:
    def __init__(self, encoded: Encoded) -> None:
        self.encoded, records = encoded, encoded.records
        self.made: list[Any] = [None] * len(records)
        self._fields: dict[str, list[str] | None] = {}
        self._maker: dict[str, Callable[..., Any]] = {
            "tuple": self._tuple, "set": self._set, "array": self._array, "E": self._expression, "T": self._template,
            "derivative": self._derivative, "Table": self._table, "Table2D": self._table2, "tables": self._tables,
            "fluid": self._fluid, "delay": self._delay, "grid": self._grid, "outside": self._outside,
        }  # fmt: skip
        fixed, objects, in_columns, rest = list[int](), list[int](), list[int](), list[int]()
        made, makers = self.made, self._maker
        for k, record in enumerate(records):
            tag = record[0]
            if tag in makers:
                fixed.append(k)
            elif tag == "list" or tag in _DICTIONARIES:
                rest.append(k)
                made[k] = [] if tag == "list" else _DICTIONARIES[tag]()
            elif tag == columns.TAG:
                in_columns.append(k)
                made[k] = columns.empty(self._column(record[-1]))
            else:
                objects.append(k)
                made[k] = _empty(CLASSES.get(tag) or class_of(tag))
        for k in fixed:
            record = records[k]
            made[k] = makers[record[0]](*record[1:])
        for k in objects:
            self._fill(made[k], records[k])
        for k in in_columns:
            columns.fill(made[k], *map(self.value, records[k][1:]))
        for k in rest:
            self._gather(made[k], records[k])

    def _gather(self, made: Any, record: list[Any]) -> None:
        """The parts of a list or dictionary."""
        if record[0] == "list":
            made.extend(self._values(record[1:]))
        else:
            items = [self.value(p) for p in record[1:]]
            made.update(zip(items[::2], items[1::2], strict=True))

    def objects(self) -> list[Any]:
        """What was made field by field."""
        found: list[Any] = []
        for record, made in zip(self.encoded.records, self.made, strict=True):
            if record[0] == columns.TAG:
                found += made
            elif record[0] in CLASSES:
                found.append(made)
        return found

    def value(self, part: Any) -> Any:
        if type(part) is list:
            number = part[0]
            if number < 0:
                raise IndexError(number)
            found = self.made[number]
            if len(part) == 1:
                return found
            number, place = part
            if not 0 <= place or self.encoded.records[number][0] != columns.TAG:
                raise IndexError(place)
            return found[place]
        if type(part) is dict:
            ((tag, held),) = part.items()
            if tag == "f":
                return float(held)
            kind = declarations.Modification if tag == "m" else {"d": dict}[tag]
            return kind({str(key): self.value(value) for key, value in held.items()})
        return part

    def _fill(self, made: Any, record: list[Any]) -> None:
        name, parts = record[0], record[1:]
        if name not in self._fields:
            self._fields[name] = fields_of(class_of(name))
        fields, put = self._fields[name], object.__setattr__
        if fields is None:
            if name == "Plant":
                made._located, made._inputs = {}, {}
            for key, held in zip(parts[::2], parts[1::2], strict=True):
                if not isinstance(key, str) or not key.isidentifier() or key.startswith("__"):
                    raise KeyError(key)
                made.__dict__[key] = self.value(held)
            return
        value = self.value
        for field, part in zip(fields, parts, strict=True):
            put(made, field, value(part) if type(part) is list or type(part) is dict else part)
        if name == "Kind":
            made._numbers, made._firsts = {}, []
        elif name == "Pattern":
            made._solution = None

    def _values(self, parts: Any) -> list[Any]:
        """What stands in a sequence."""
        found: list[Any] = []
        for part in parts:
            if type(part) is list and len(part) == 3:
                number, start, end = part
                if not 0 <= start < end <= len(self.value([number])) or self.encoded.records[number][0] != columns.TAG:
                    raise IndexError(part)
                found.extend(self.made[number][start:end])
            else:
                found.append(self.value(part))
        return found

    def _column(self, part: Any) -> Any:
        """An array that is needed before all others are made."""
        tag, number = self.encoded.records[part[0]]
        if tag != "array":
            raise KeyError(tag)
        return self._array(number)

    def _tuple(self, *parts: Any) -> Any:
        return tuple(self._values(parts))

    def _set(self, *parts: Any) -> Any:
        return frozenset(map(self.value, parts))

    def _array(self, number: int) -> Any:
        if number < 0:
            raise IndexError(number)
        return self.encoded.arrays[number]

    def _outside(self, number: int) -> Any:
        if number < 0:
            raise IndexError(number)
        return self.encoded.outside[number]

    def _fluid(self, name: str, reach: list[float | None], kind: str, result: int, by: list[int]) -> Any:
        from ..media import fluid  # most models have no fluid

        T_min, T_max, p_max = reach
        function = fluid(name, T_min=T_min, T_max=T_max, p_max=p_max).function(kind)
        if not 0 <= result < len(function.results) or not all(0 <= k < function.differentiated for k in by) or len(by) > 2:
            raise IndexError(result)
        return function.part(result, tuple(by))

    def _template(self, outputs: Any, entries: Any, silent: Any) -> Any:
        made = template.Template.of(self.value(outputs))
        slots, count = {s.number for s in made.slots}, len(made.outputs)
        found = [Entry(int(k), int(s), self.value(v), tuple(map(int, reads))) for k, s, v, reads in entries]
        pairs = [(int(k), int(s)) for k, s in silent]
        named = {s for e in found for s in (e.slot, *e.reads)} | {s for _, s in pairs}
        if not named <= slots or not all(0 <= k < count for k in [*(e.output for e in found), *(k for k, _ in pairs)]):
            raise KeyError("derivatives")
        made.__dict__.setdefault("facts", Facts(tuple(found), tuple(pairs)))
        return made

    def _delay(self, what: str, order: int) -> Any:
        from ..language.delays import DelayFunction  # few models have functions; a reader imports those that it meets

        return DelayFunction(what, order)

    def _derivative(self, table: Any, orders: Any) -> Any:
        from ..language.tables import _derivative_of

        return _derivative_of(self.value(table), self.value(orders))

    def _tables(self, tables: Any, orders: Any) -> Any:
        from ..language.table_sets import TableSet
        from ..language.tables import Table, Table2D

        found = self.value(tables)
        if not found or not all(isinstance(t, (Table, Table2D)) and type(t) is type(found[0]) for t in found):
            raise KeyError("tables")
        return TableSet(found, self.value(orders))

    def _grid(self, axes: Any, values: Any, extrapolation: str, method: str, name: str, by: int) -> Any:
        from ..language.grids import TableND

        return TableND(self.value(axes), self.value(values), extrapolation=extrapolation, method=method, name=name, by=by)

    def _table(self, name: str, method: str, extrapolation: str, x: Any, y: Any) -> Any:
        from ..language.tables import Table

        return Table(self.value(x), self.value(y), name=name, method=method, extrapolation=extrapolation)

    def _table2(self, name: str, method: str, extrapolation: str, x: Any, y: Any, values: Any) -> Any:
        from ..language.tables import Table2D

        arrays = (self.value(x), self.value(y), self.value(values))
        return Table2D(*arrays, name=name, method=method, extrapolation=extrapolation)

    def _expression(self, kind: str, *parts: Any) -> Any:
        value = self.value
        if kind == "Operation":
            return Operation(_OPERATORS[parts[0]], tuple([value(part) for part in parts[1:]]))
        if kind == "Constant":
            return Constant(value(parts[0]))
        if kind == "Reference":
            root, owner, name, shape, picked, order = map(value, parts)
            if type(name) is not str or type(order) is not int:
                raise KeyError(name)
            return Reference(root, owner, name, shape, picked, order)
        if kind == "State":
            return states.State(states.StateView(value(parts[0])), int(parts[1]))
        if kind == "Call":
            function, *args = map(value, parts)
            return Call(function, tuple(args))
        if kind == "Sum":
            return Sum(value(parts[0]), value(parts[1]))
        if kind == "Slot":
            return Slot(parts[0], parts[1])
        return _LEAVES[kind](*map(value, parts))


_LEAVES: dict[str, Callable[..., Expression]] = {
    "Derived": Derived,
    "Literal": Literal,
    "Mark": Mark,
    "Time": Time,
    "Continuation": Continuation,
}


def _empty(cls: type) -> Any:
    return object.__new__(cls)
