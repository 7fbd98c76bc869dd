"""Structure that only the values of parameters reveal.

`combinations.py` finds rows whose highest derivatives cancel whatever the parameters are. Others cancel because of their values:
the charges `q1 == a*(u1 - u2)` and `q2 == b*(u2 - u1)` of a floating capacitor for any a and b, but with multipliers b and a; two
gyrators, and levers, where a product is 1; and a capacitance of zero leaves its charge nothing to determine. With such values J
(see there) is singular, and no step, no start and no choice of states makes it regular. So the values are taken for literals, rows
are replaced by what follows, and the index is reduced once more: another system, for these values.

Whether that is so must be known for every run, and costs it next to nothing. What is kept of a system are the rows that may ever
take part: those of blocks of several rows whose entries in their block nothing but parameters change, and, of blocks of one row,
the parameters that stand there as a factor. With other values these alone are looked at. A system for certain values says which
cells it has read and with what values (`System.frozen`); with others there it does not hold, with others elsewhere it is looked at
like any system.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import UsageError
from ..language.expression import Constant
from ..records import dataclass
from .combinations import Blocks, find, known_cells
from .differentiate import gradient
from .monomials import ONE_SYMBOL, Symbols, polynomial, terms
from .orders import KNOWN, Coded, Literals, plain
from .plant import ONE, ZERO
from .system import System
from .template import Template


@dataclass(frozen=True, slots=True, eq=False)
class Coincidence:
    """Rows that depend on each other with some values of parameters, and what is read to know it."""

    tables: list[Coded]  # of the rows that may take part
    size: int  # of the system that the codes are about
    blocks: Blocks | None  # none where there are no such rows
    rows: np.ndarray
    read: np.ndarray  # every parameter on which it depends whether they do
    factors: np.ndarray  # parameters that should not be zero

    def has_zero(self, known: np.ndarray) -> bool:
        """Whether a factor is zero with these values of all known cells."""
        return bool((known[self.factors] == 0).any())

    def arises(self, values: Literals) -> bool:
        """Whether these rows depend on each other with these values of parameters."""
        if self.blocks is None:
            return False
        mask = np.zeros(len(self.blocks.of_row), dtype=bool)
        mask[self.rows] = True
        return find(lambda _: self.tables, self.size, values, self.blocks, mask, chosen=True) is not None


def no_derivatives(what: str) -> UsageError:
    """What is told where derivatives by parameters or around a point are asked for, and values decide what the equations are."""
    return UsageError(
        f"{what}: values of parameters make equations depend on each other here, and with others the equations would be others.",
        remedy="Write the factors that make them depend on each other as numbers in the equations, or give them other values.",
    )


def values_in(system: System, known: np.ndarray) -> Literals:
    """The known cells of a system that no run changes, as numbers."""
    return Literals(0, np.where(constant_cells(system), known[: system.known_count], np.nan))


def constant_cells(system: System) -> np.ndarray:
    """A mask over known cells: parameters, what follows from them alone, and numbers in equations."""
    found = parameter_cells(system)
    found[[ZERO, ONE]] = True
    found[system.known_count - len(system.aliases.literals) :] = True
    return found


def parameter_cells(system: System) -> np.ndarray:
    """The same without numbers in equations; what follows from parameters stands among those."""
    found = np.zeros(system.known_count, dtype=bool)
    for kind in system.plant.kinds:
        for q in kind.quantities.values():
            if q.role == "parameter":
                found[q.base : q.base + kind.count * q.size] = True
    for derived in system.derived:
        found[derived.cells] = True
    return found


def watched(
    system: System, touching: Callable[[np.ndarray], list[Coded]], every: Blocks, constant: np.ndarray | None = None
) -> Coincidence | None:
    """What is to be looked at when parameters change; None if they cannot make rows depend on each other.

    `touching` gives the tables that contribute to rows of a mask. `every`: all blocks, of one row and of several. `constant`: rows
    that nothing but knowns changes, where others are known not to be such."""
    chosen = parameter_cells(system)
    sizes = np.bincount(every.of_row[every.of_row >= 0], minlength=1)
    mask = (every.of_row >= 0) & (sizes[every.of_row] > 1)
    factors, sums = _factors(touching(~mask), system.size, every, chosen)
    mask = (mask if constant is None else mask & constant) | sums
    tables, rows = _changing(system, touching, every, mask, chosen) if mask.any() else ([], np.zeros(0, dtype=np.int64))
    if not len(rows) and not len(factors):
        return None
    if not len(rows):
        return Coincidence([], system.size, None, rows, factors, factors)
    cells = known_cells(tables)
    return Coincidence(tables, system.size, every, rows, np.union1d(cells[chosen[cells]], factors), factors)


def _changing(
    system: System, touching: Callable[[np.ndarray], list[Coded]], every: Blocks, mask: np.ndarray, chosen: np.ndarray
) -> tuple[list[Coded], np.ndarray]:
    """Rows whose entries in their block nothing but parameters change, of blocks where some do; and what contributes to them."""
    of_row, of_unknown, c, d = every.of_row, every.of_unknown, every.c, every.d
    drawn, tables = np.random.default_rng(1), touching(mask)
    at = terms(tables, system.size, values_in(system, drawn.uniform(1.0, 2.0, system.known_count)), Symbols())
    inside = (of_row[at.row] == of_unknown[at.unknown]) & (at.order + c[at.row] == d[at.unknown]) & mask[at.row]
    mask = mask.copy()
    mask[at.row[inside & (np.isnan(at.factor) | (at.symbol != ONE_SYMBOL))]] = False
    moved = np.zeros_like(mask)
    for table in tables:
        for output, slot, value, reads in Template.of(table.outputs).entries:
            code, row = plain(table.codes[slot]), table.rows[output]
            order, unknown = np.divmod(np.where(code < KNOWN, code, 0), system.size)
            here = (code < KNOWN) & (of_row[row] == of_unknown[unknown]) & (order + c[row] == d[unknown])
            for read in reads if value is None and here.any() else ():
                cell = plain(table.codes[read]) - KNOWN
                moved[row[here & (cell >= 0) & chosen[np.maximum(cell, 0)]]] = True
    rows = np.flatnonzero(mask & np.isin(of_row, of_row[mask & moved]))
    mask[:] = False
    mask[rows] = True
    parts = ((table, np.asarray(mask[table.rows].any(axis=0))) for table in tables)
    return [table if here.all() else table.part(here) for table, here in parts if here.any()], rows


def _factors(tables: list[Coded], size: int, every: Blocks, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parameters that are read by the factor of an unknown that its row alone determines, where nothing else is; and a mask of rows
    in which that factor is a sum: of terms of the row, or in one of them."""
    alone, found, often = _alone(every, size), np.zeros_like(chosen), np.zeros(len(every.of_row), dtype=np.int32)
    for table in tables:
        template = Template.of(table.outputs)
        known = {s.number for s in template.slots if s.kind == "known"}
        for output, slot, value, reads in template.entries:
            rows = table.rows[output]
            own = plain(table.codes[slot]) == alone.take(rows)
            if not own.any():
                continue
            if value is not None or not known.issuperset(reads):
                often[rows[own]] += 1
            elif _is_product(template, output, slot):
                often[rows[own]] += 1
                for read in reads:
                    found[plain(table.codes[read])[own] - KNOWN] = True
            else:
                often[rows[own]] += 2
    return np.flatnonzero(found & chosen), often > 1


def _is_product(template: Template, output: int, slot: int) -> bool:
    """Whether a factor is zero only where one of the numbers in it is."""
    place = next(s for s in template.slots if s.number == slot)
    found = polynomial(gradient(template.outputs[output], [place]).get(place, Constant(0.0)))
    return found is not None and len(found) == 1


def _alone(every: Blocks, size: int) -> np.ndarray:
    """Of each row that determines an unknown alone, the code of that unknown's highest derivative in it; -1 for others."""
    found = np.full(len(every.of_row), -1, dtype=np.int64)
    sizes = np.bincount(every.of_row[every.of_row >= 0])
    if not len(sizes):
        return found
    partner = np.zeros(len(sizes), dtype=np.int64)
    inside = np.flatnonzero(every.of_unknown >= 0)
    partner[every.of_unknown[inside]] = inside
    rows = np.flatnonzero((every.of_row >= 0) & (sizes[every.of_row] == 1))
    unknown = partner[every.of_row[rows]]
    found[rows] = (every.d[unknown] - every.c[rows]) * size + unknown
    return found
