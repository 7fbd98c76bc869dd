"""Rows over derivatives of any order: what index reduction works on between a system's workspace and the next one's.

A *code* stands for what sits in a slot: derivative k of unknown i is `k·n + i`, known cell c is `KNOWN + c`, and a minus sign is
kept as ~code. Differentiating a row is then a template and a table again: the derivative of `f($0, $1)` is
`∂f/∂$0 · $2 + ∂f/∂$1 · $3`, with codes one order higher in the new slots.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..language.expression import Constant, Expression, Slot, walk
from ..records import dataclass
from .differentiate import gradient
from .evaluate import evaluate_arrays
from .forms import over_used_slots
from .plant import ONE, TIME, ZERO, Plant
from .template import MINUS, Family, Template

KNOWN = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A template over codes: `codes` has shape (slot, row), `rows` (output, row)."""

    outputs: tuple[Expression, ...]
    codes: np.ndarray
    rows: np.ndarray

    def part(self, columns: np.ndarray) -> Coded:
        return Coded(self.outputs, self.codes[:, columns], self.rows[:, columns])

    def alone(self, output: int) -> Coded:
        """One of the outputs, with the slots that it needs."""
        return compact(self.outputs[output], self.codes, self.rows[output])


@dataclass(frozen=True, slots=True, eq=False)
class Literals:
    """The known cells whose values count as numbers, from cell `first` on; nan where one does not. They are the literals in
    equations, which never change, or all that a run cannot change (see `coincidence.py`)."""

    first: int
    values: np.ndarray

    def has(self, cells: np.ndarray) -> np.ndarray:
        """Which of these cells have a value that counts."""
        there = cells >= self.first
        return there & ~np.isnan(self.values[np.where(there, cells - self.first, 0)]) if there.any() else there

    def entry(self, template: Template, number: int, table: Coded) -> np.ndarray:
        """The same of a derivative of a template, which is formed only where it may be a literal."""
        _, _, value, reads = template.entries[number]
        if value is not None:
            return np.full(table.codes.shape[1], value)
        if not all(self.has(plain(table.codes[slot]) - KNOWN).any() for slot in reads):
            return np.full(table.codes.shape[1], np.nan)
        return self.value(template.jacobian[number][2], table)

    def value(self, expression: Expression, table: Coded) -> np.ndarray:
        """What an expression over slots is, row by row; nan where anything but literals takes part."""
        count = table.codes.shape[1]
        if isinstance(expression, Constant):
            return np.full(count, expression.value)
        slots = slots_of(expression)
        if not slots or any(s.kind != "known" for s in slots):
            return np.full(count, np.nan)
        cells = {s.number: plain(table.codes[s.number]) - KNOWN for s in slots}
        constant = np.logical_and.reduce([self.has(c) for c in cells.values()])
        if not constant.any():
            return np.full(count, np.nan)

        def leaf(slot: Expression) -> np.ndarray:
            assert isinstance(slot, Slot)
            found = self.values[np.where(constant, cells[slot.number] - self.first, 0)]
            return np.where(table.codes[slot.number] < 0, -found, found)

        return np.where(constant, evaluate_arrays(expression, leaf, batch=1), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Where unknowns stand: derivative `order[k]` of unknown `unknown[k]` in row `row[k]`, with a literal factor or nan."""

    row: np.ndarray
    unknown: np.ndarray
    order: np.ndarray
    factor: np.ndarray


def coded(family: Family, size: int) -> Coded:
    """A family of a system with `size` unknowns; levels 0 and 1 have their workspace indices as codes already."""
    slots = family.slots.astype(np.int64)
    for k, sign in enumerate(family.signs):
        if sign == MINUS:
            slots[k] = ~slots[k]
    unsigned = plain(slots)
    codes = np.where(unsigned >= 2 * size, unsigned - 2 * size + KNOWN, unsigned)
    return Coded(family.template.outputs, np.where(slots < 0, ~codes, codes), family.rows)


def plain(codes: np.ndarray) -> np.ndarray:
    """Codes without their signs."""
    return np.where(codes < 0, ~codes, codes)


def slots_of(*expressions: Expression) -> list[Slot]:
    return sorted({n for n in walk(*expressions) if isinstance(n, Slot)}, key=lambda s: s.number)


def compact(output: Expression, codes: np.ndarray, rows: np.ndarray) -> Coded:
    """A single output over the slots that it uses, numbered anew."""
    outputs, used = over_used_slots((output,), len(codes))
    return Coded(outputs, codes if used is None else codes[used], rows.reshape(1, -1))


def occurrences(tables: Iterable[Coded], size: int, literals: Literals) -> Occurrences:
    """Every entry of every row, as often as it is written."""
    empty = np.zeros(0, dtype=np.int64)
    rows, unknowns, orders, factors = [empty], [empty], [empty], [np.zeros(0)]
    for table in tables:
        template = Template.of(table.outputs)
        for k, (output, slot, _, _) in enumerate(template.entries):
            codes = table.codes[slot]
            unsigned = plain(codes)
            keep = unsigned < KNOWN
            order, unknown = np.divmod(unsigned[keep], size)
            rows.append(table.rows[output][keep])
            unknowns.append(unknown)
            orders.append(order)
            value = literals.entry(template, k, table)[keep]
            factors.append(np.where(codes[keep] < 0, -value, value))
    return Occurrences(np.concatenate(rows), np.concatenate(unknowns), np.concatenate(orders), np.concatenate(factors))


def time_derivative(table: Coded, size: int, plant: Plant) -> Coded:
    """d/dt of a template of one output: Σ ∂f/∂slot · slot', where slot' is one more slot (or a number)."""
    single = compact(table.outputs[0], table.codes, table.rows)
    (output,), columns = single.outputs, list(single.codes)
    total: Expression = Constant(0.0)
    for slot, partial in gradient(output, slots_of(output)).items():
        assert isinstance(slot, Slot)
        change = _change(columns[slot.number], size, plant)
        if isinstance(change, np.ndarray):
            columns.append(change)
            first = plain(change)
            order_one = bool(((first >= size) & (first < 2 * size)).any())
            total = total + partial * Slot(len(columns) - 1, "derivative" if order_one else "variable")
        else:
            total = total + partial * change
    codes = np.array(columns, dtype=np.int64).reshape(len(columns), table.codes.shape[1])  # perhaps of no slots
    return compact(total, codes, table.rows)


def _change(codes: np.ndarray, size: int, plant: Plant) -> np.ndarray | float:
    """The derivative of what sits in a slot: the next derivative of an unknown or an input, 1 for time, 0 for other knowns."""
    unsigned = plain(codes)
    known = unsigned >= KNOWN
    cells = unsigned[known] - KNOWN
    given, rates = plant.rates(cells)
    if known.all() and not given.any():
        signs = np.where(codes < 0, -1.0, 1.0)
        if (cells == TIME).all() and (signs == signs[0]).all():
            return float(signs[0])
        if not (cells == TIME).any():
            return 0.0
    raised = unsigned + size
    raised[known] = KNOWN + np.where(given, rates, np.where(cells == TIME, ONE, ZERO))
    return np.where(codes < 0, ~raised, raised)
