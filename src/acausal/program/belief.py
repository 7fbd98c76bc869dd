"""What is looked at before a model from a file is believed: its fields are of their types, and its numbers point at something.

A file carries a hash over its contents, which says that it is whole, not that it is right: whoever writes another content writes
another hash. Translation makes sizes, indices and names agree with each other, and everything behind it relies on that, machine
code above all. Here it is looked at once more, in time proportional to the tables. What does not agree is a ValueError.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cache
from inspect import get_annotations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError, an
from ..families.plant import FIRST_PARAMETER
from ..families.system import eliminated_mask
from ..families.template import MIXED

if TYPE_CHECKING:
    from ..families.hybrid import Hybrid
    from ..families.numbers import Values
    from ..families.plant import Plant
    from ..families.system import RowBlock, System
    from ..families.template import Family
    from .program import Program

# Classes whose fields are compared with their annotations: those that hold what names, sizes and indices are made of.
TYPED = frozenset((
    "Aliases", "Binding", "Definition", "DerivedCells", "Family", "Hybrid", "Kind", "Location", "Node", "Numbers", "Part",
    "Pattern", "Port", "Program", "Quantity", "RowBlock", "Rule", "RuleBlock", "System", "TracedEquation", "Values",
))  # fmt: skip
_SHAPES = {"Shape": "tuple[int, ...]"}
_LARGEST = 2**31 - 1  # of a count: more instances are in no file


def check_fields(objects: Iterable[Any]) -> None:
    """Every field of these objects is of the type that its class states."""
    for one in objects:
        cls: type = type(one)
        missing = _own_names(cls) - getattr(one, "__dict__", {}).keys()
        if missing:
            raise ValueError(f"{an(type(one).__name__)} lacks `{min(missing)}`")
        for name, fits in _fields_of(cls):
            if not fits(getattr(one, name)):
                raise ValueError(f"`{name}` of {an(type(one).__name__)} is not what it should be: {getattr(one, name)!r:.60}")


@cache
def _own_names(cls: type) -> frozenset[str]:
    """What every declaration of a class has of its own, and not from its class."""
    if "Declaration" not in _names_of(cls):
        return frozenset()
    try:
        return frozenset(name for name in vars(cls()) if not hasattr(cls, name))
    except (TypeError, UsageError):  # it is not made without arguments
        return frozenset()


@cache
def _fields_of(cls: type) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    if cls.__name__ not in TYPED:
        return ()
    stated = {name: text for base in reversed(cls.__mro__) for name, text in get_annotations(base).items()}
    found = [(name, _fitting(text)) for name, text in stated.items() if isinstance(text, str) and not name.startswith("_")]
    return tuple((name, fits) for name, fits in found if fits is not None)


@cache
def _fitting(annotation: str) -> Callable[[Any], bool] | None:
    """Whether a value is of a type, given as a text; None for a type of which nothing is known here."""
    return _compiled(ast.parse(_SHAPES.get(annotation, annotation), mode="eval").body)


def _compiled(node: ast.expr) -> Callable[[Any], bool] | None:
    if isinstance(node, ast.BinOp):
        parts = [_compiled(node.left), _compiled(node.right)]
        known = [part for part in parts if part is not None]
        return None if len(known) < 2 else lambda v: known[0](v) or known[1](v)
    if isinstance(node, ast.Constant):
        return (lambda v: v is None) if node.value is None else None
    if isinstance(node, ast.Attribute):
        return (lambda v: isinstance(v, np.ndarray)) if node.attr == "ndarray" else None
    if isinstance(node, ast.Subscript):
        return _container(node)
    return _named(node.id) if isinstance(node, ast.Name) else None


def _container(node: ast.Subscript) -> Callable[[Any], bool] | None:
    outer = _compiled(node.value)
    if outer is None:
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    inner = [_compiled(part) for part in parts if not (isinstance(part, ast.Constant) and part.value is ...)]
    if any(part is None for part in inner):
        return outer
    if name == "dict" and len(inner) == 2:
        key, value = inner
        return lambda v: outer(v) and all(key(k) and value(one) for k, one in v.items())  # type: ignore[misc]
    if name in ("list", "tuple", "frozenset") and len(inner) == 1:
        each = inner[0]
        return lambda v: outer(v) and all(map(each, v))  # type: ignore[arg-type]
    return outer


_PLAIN: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float, int), "str": (str,), "bool": (bool,),
    "list": (list,), "dict": (dict,), "tuple": (tuple,), "frozenset": (frozenset,),
}  # fmt: skip


def _named(name: str) -> Callable[[Any], bool] | None:
    if name in _PLAIN:
        kinds = _PLAIN[name]
        return lambda v: type(v) in kinds
    if name not in TYPED and name not in ("Declaration", "Expression", "Reference"):
        return None

    def is_one(value: Any) -> bool:
        cls: type = type(value)
        return name in _names_of(cls)

    return is_one


@cache
def _names_of(cls: type) -> frozenset[str]:
    return frozenset(base.__name__ for base in cls.__mro__)


# --- numbers ------------------------------------------------------------------------------------------------------------------
def check_program(program: Program) -> None:
    """Sizes agree, and every index points at something."""
    system, pattern = program.system, program.pattern
    _check_plant(system.plant)
    _check_aliases(system)
    variables, cells = system.plant.variable_count, system.known_count
    numbers = program.numbers
    for values in (numbers.value, numbers.low, numbers.high):
        _check_values(values, cells, cells)
    for values in (numbers.start, numbers.fixed, numbers.nominal, numbers.minimum, numbers.maximum):
        _check_values(values, variables, cells)
    _require(bool(np.isfinite(numbers.value.cells[:FIRST_PARAMETER]).all()), "a number of the model itself is not finite")
    check_tables(system)
    _check_blocks(system.blocks, system.equation_count if system.derivatives is None else system.derivatives.original_rows, system)
    _check_blocks(system.initial_blocks, system.initial_count, system)
    for derived in system.derived:
        _check_range(derived.cells, cells, "cells that follow parameters")
    if system.hybrid is not None:
        _check_hybrid(system.hybrid, system)
    count = len(pattern.indices)
    ends = np.asarray(pattern.indptr)
    ordered = ends.shape == (system.size + 1,) and ends[0] == 0 and ends[-1] == count and bool((np.diff(ends) >= 0).all())
    _require(ordered and len(pattern.positions) == len(system.families), "the pattern of its Jacobian is broken")
    _check_range(pattern.indices, system.equation_count, "rows of the Jacobian")
    for family, places in zip(system.families, pattern.positions, strict=True):
        _require(places.shape == (len(family.template.entries), family.count), "the pattern of its Jacobian is broken")
        _check_range(places, count + 1, "places in the Jacobian")
    _require(len(pattern.by_value) == len(pattern.by_slope) == count, "the pattern of its Jacobian is broken")


def check_numbers(found: dict[str, Any]) -> None:
    """What somebody set: as many numbers as the model has, and names with values."""
    count = found["program"].system.known_count
    cells, overridden = (np.asarray(found.get(name)) for name in ("cells", "overridden"))
    _require(cells.shape == overridden.shape == (count,), "the numbers that were set are not as many as they should be")
    _require(cells.dtype == np.float64 and overridden.dtype == np.bool_, "the numbers that were set are none")
    _require(bool(np.isfinite(cells[:FIRST_PARAMETER]).all()), "a number of the model itself is not finite")
    for name in ("starts", "changes"):
        given = found.get(name)
        _require(isinstance(given, dict) and all(isinstance(path, str) for path in given), f"`{name}` has no names")


def _require(fact: bool, what: str) -> None:
    if not fact:
        raise ValueError(what)


def _check_range(index: np.ndarray, end: int, what: str) -> None:
    found = np.asarray(index)
    whole = found.dtype.kind in "iu" and (not found.size or (found.min() >= 0 and found.max() < end))
    _require(bool(whole), f"{what} point outside of the model")


def _check_plant(plant: Plant) -> None:
    ends = {"variable": plant.variable_count, "known": plant.known_count}
    _require(all(type(end) is int and 0 <= end <= _LARGEST for end in ends.values()), "its counts are none")
    for kind in plant.kinds:
        _require(0 <= kind.count <= _LARGEST and sum(node.count for node in kind.members) == kind.count, "its counts do not agree")
        for name, quantity in kind.quantities.items():
            _require(quantity.name == name, f"`{quantity.name}` of {kind.name} stands under another name")
            for role, end in ends.items():
                first = quantity.first(role)
                if first is not None:
                    size = quantity.blocks(role) * kind.count * quantity.size
                    _require(min((0, *quantity.shape)) >= 0, f"`{name}` of {kind.name} has no shape")
                    _require(0 <= first and first + size <= end, f"`{name}` of {kind.name} points outside of the model")


def _check_aliases(system: System) -> None:
    aliases, variables = system.aliases, system.plant.variable_count
    lengths = {len(aliases.index), len(aliases.sign), len(aliases.known)}
    _require(lengths == {variables} and aliases.known.dtype == np.bool_, "its variables are not as many as they should be")
    originals = len(aliases.representative)
    _require(
        originals == len(aliases.label) == aliases.unknown_count <= system.size, "its unknowns are not as many as they should be"
    )
    _require(len(system.differential) == system.size, "its unknowns are not as many as they should be")
    _check_range(aliases.index[aliases.known], system.known_count, "variables that are known")
    replaced = eliminated_mask(system.plant, system.definitions) & ~aliases.known  # by definitions: these live nowhere
    _check_range(aliases.index[~aliases.known & ~replaced], aliases.unknown_count, "variables")
    for table in (aliases.representative, aliases.label, system.open_flows):
        _check_range(table, variables, "names of unknowns")


def _check_values(values: Values, length: int, cells: int) -> None:
    _require(values.cells.shape == values.given.shape == (length,), "its numbers are not as many as they should be")
    for binding in values.bindings:
        _check_range(binding.cells, length, "numbers that are bound to others")
        _check_range(binding.instances, binding.kind.count, "numbers that are bound to others")


def _check_blocks(blocks: list[RowBlock], rows: int, system: System) -> None:
    end = 0
    for block in blocks:
        _require(block.start == end and 0 <= block.count <= _LARGEST, "its equations are not as many as they should be")
        end += block.count
        if block.picked is not None:
            _require(len(block.picked) == block.count, "its equations are not as many as they should be")
        if block.nodes is not None:
            _require(len(block.nodes) == block.count, "its equations are not as many as they should be")
            _check_range(block.nodes, system.plant.variable_count, "flows")
        _require(block.nodes is not None or (block.equation is not None and block.kind is not None), "an equation is missing")
    _require(end == rows, "its equations are not as many as they should be")


def _check_hybrid(hybrid: Hybrid, system: System) -> None:
    from ..families.hybrid import ROLES  # many models have no events

    _require(len(hybrid.cells) == len(hybrid.partners), "discrete values and those before an event are not as many")
    for table in (hybrid.cells, hybrid.partners):
        _check_range(table, system.known_count, "discrete values")
    discrete = set(hybrid.cells.tolist())
    _require(set(hybrid.parts) == set(ROLES), "what it says about events is incomplete")
    for role, part in hybrid.parts.items():
        end = 0
        for block in part.blocks:
            _require(block.start == end and 0 <= block.count <= _LARGEST, f"rules ({role}) are not as many as they should be")
            end += block.count
        _require(part.signs.shape == part.targets.shape and len(part.targets) in (0, end), f"rules ({role}) lack their targets")
        _require(len(part.bands) in (0, end), f"rules ({role}) lack their bands")
        _check_range(part.targets, system.size if role == "reinit" else system.known_count, f"targets of rules ({role})")
        _check_range(part.bands, system.known_count, f"bands of rules ({role})")
        if role in ("relation", "timed", "update"):
            _require(discrete.issuperset(part.targets.tolist()), f"targets of rules ({role}) are no discrete values")


def check_tables(system: System) -> None:
    """Machine code believes the index tables: every index is within the workspace, every row a row."""
    cells, parts = 2 * system.size + system.known_count, system.hybrid.parts.values() if system.hybrid is not None else ()
    groups = [(system.families, system.equation_count), (system.initial_families, system.initial_count)]
    for families, rows in [*groups, *((part.families, part.count) for part in parts)]:
        for family in families:
            _check_family(family, cells, rows)


def _check_family(family: Family, cells: int, rows: int) -> None:
    slots, places = np.asarray(family.slots), np.asarray(family.rows)
    fits = slots.ndim == places.ndim == 2 and slots.shape[0] == len(family.template.slots) == len(family.signs)
    fits = fits and slots.dtype == places.dtype == np.int32 and places.shape[0] == len(family.template.outputs)
    fits = fits and (slots.shape[0] == 0 or slots.shape[1] == places.shape[1])
    fits = fits and not any(sign != MIXED and row.size and row.min() < 0 for sign, row in zip(family.signs, slots, strict=True))
    index = np.where(slots < 0, ~slots, slots)
    if not fits or (index.size and index.max() >= cells) or (places.size and (places.min() < 0 or places.max() >= rows)):
        raise ValueError("its index tables point outside of the model")
