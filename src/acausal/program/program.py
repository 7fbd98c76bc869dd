"""The program: a compiled model as an immutable value, without numbers that a user may change.

It has the equations as templates and index tables, what was declared as data, names and their resolver, and the numbers that
declarations and modifications give. It knows no component, no class and no function but those that equations call; so it can be
pickled, copied, written to a file and read without the source. `model/model.py` puts numbers to it and runs it.
"""

from __future__ import annotations

import copyreg
from collections.abc import Collection
from dataclasses import field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..economy import uncollected
from ..errors import ModelError, UsageError
from ..families.numbers import Attributes, Numbers
from ..families.pattern import Pattern, jacobian_pattern
from ..families.plant import CONTINUATION, DERIVATIVES, FIRST_PARAMETER, LIVE, ONE, Plant
from ..families.system import System
from ..records import dataclass
from .codec import Encoded, decode, register

if TYPE_CHECKING:
    from ..families.assemble import Source
    from ..language.component import Component
    from ..language.tables import SplineFunction


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A compiled model: equations, declarations and names as data. Nobody changes it."""

    title: str
    system: System
    pattern: Pattern
    numbers: Numbers
    units: bool = True
    sliding: frozenset[tuple[int, str]] = frozenset()
    seconds: dict[str, float] = field(default_factory=dict)  # that its translation took
    source: Source | None = None  # what classes contribute, to translate it in another way; of models with events
    before: System | None = None  # index reduction, where it goes another way with some values of parameters

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: Any) -> Program:
        return self

    def __reduce__(self) -> Any:
        return _reduced(self)


register(Program)


def _reduced(data: Program | System | Plant) -> Any:
    """For pickle: records and arrays; functions of the user's by reference, as pickle does it."""
    from .encoder import encode

    encoded = encode(data)
    return _restored, (encoded.records, encoded.arrays, encoded.root, encoded.outside)


def _restored(records: list[Any], arrays: list[np.ndarray], root: Any, outside: list[Any]) -> Any:
    return decode(Encoded(records, arrays, root, outside))


copyreg.pickle(System, _reduced)
copyreg.pickle(Plant, _reduced)


def translate(component: Component, *, units: bool = True, sliding: Collection[tuple[int, str]] = ()) -> Program:
    """The program of a component with everything in it; the component is read, not changed."""
    from ..language.component import Component

    if isinstance(component, type) and issubclass(component, Component):
        raise UsageError(
            f"`ac.compile` takes a component, not a class such as {component.__name__}.",
            remedy=f"Make one of it: ac.compile({component.__name__}()).",
        )
    from ..families.assemble import read  # whoever reads a model from a file translates nothing

    begin = perf_counter()
    with uncollected():
        return _assembled(read(component), begin, units, sliding)


def sliding_along(program: Program, surfaces: Collection[tuple[int, str]]) -> Program:
    """The program translated once more, such that its solution can slide along some surfaces."""
    from .encoder import encode

    begin = perf_counter()
    encoded = encode(program.source)
    source: Source = decode(encoded)
    return _assembled(source.pristine(), begin, program.units, program.sliding | frozenset(surfaces))


def with_values(program: Program, known: np.ndarray) -> Program | None:
    """The program that holds for these values of parameters, where they make equations depend on each other; None if they do
    not, or if nothing can be made of it."""
    from ..families.pieces import broken_tables
    from ..families.reduction import reduce_with

    begin, before = perf_counter(), program.before
    if before is None:
        return None
    system = reduce_with(before, known, program.system.freedoms)
    if system is None or (broken_tables(system) and not broken_tables(program.system)):
        return None
    pattern = jacobian_pattern(system.families, system.equation_count, system.size)
    seconds = {"families": 0.0, "structure": perf_counter() - begin}
    return Program(program.title, system, pattern, _numbers(system), program.units, program.sliding, seconds)


def _assembled(
    source: Source, begin: float, units: bool, sliding: Collection[tuple[int, str]], broken: frozenset[SplineFunction] = frozenset()
) -> Program:
    from ..families.assemble import assemble
    from ..families.balance import check_structure
    from ..families.pieces import broken_tables
    from ..families.reduction import reduce

    system = assemble(source, units=units, sliding=sliding, broken=broken)
    assembled = perf_counter()
    pattern = jacobian_pattern(system.families, system.equation_count, system.size)
    check_structure(system, pattern)
    reduced = reduce(system, pattern)
    if not broken and (broken := broken_tables(reduced)):  # what is differentiated how often stays as it was
        return _assembled(source.pristine(), begin, units, sliding, broken)
    if reduced is not system:
        pattern = jacobian_pattern(reduced.families, reduced.equation_count, reduced.size)
    seconds = {"families": assembled - begin, "structure": perf_counter() - assembled}
    kept = source if reduced.hybrid is not None else None
    title = source.plant.root.class_name
    before = system if reduced.coincidence is not None else None
    return Program(title, reduced, pattern, _numbers(reduced), units, frozenset(sliding), seconds, kept, before)


def _numbers(system: System) -> Numbers:
    attributes = Attributes(system.plant)
    size, count = system.known_count, system.plant.variable_count
    value = attributes.read("value", "known", size)
    value.take_room()
    attributes.missing(value)
    value.cells[:FIRST_PARAMETER] = 0.0
    value.cells[[CONTINUATION, ONE, LIVE]] = 1.0
    value.cells[system.plant.partner_cells()] = 0.0
    for order in range(1, 1 + DERIVATIVES):
        value.cells[system.plant.input_cells(order)] = 0.0
    literals = system.aliases.literals
    value.cells[size - len(literals) :] = literals
    found = Numbers(
        value=value,
        low=attributes.read("min", "known", size, -np.inf),
        high=attributes.read("max", "known", size, np.inf),
        start=attributes.read("start", "variable", count, 0.0),
        fixed=attributes.read("fixed", "variable", count, 0.0),
        nominal=attributes.read("nominal", "variable", count, 1.0),
        minimum=attributes.read("min", "variable", count, -np.inf),
        maximum=attributes.read("max", "variable", count, np.inf),
    )
    if attributes.problems:
        raise ModelError(*attributes.problems)
    return found
