"""Index reduction on families: differentiated equations are differentiated templates over the same rows.

Pantelides (`structure/pantelides.py`) says how often each row is differentiated and up to which order each unknown's derivatives
then occur. Those derivatives become unknowns of their own: x, x¹ = x', x² = x'', …; the equations are the original rows and their
derivatives, which hold the solution on all constraints, hidden ones included, so that nothing drifts. They are fewer than
the unknowns by the number of states. That many of the x^(k) are *selected* as states, each by a row x^(k)' = x^(k+1) of one more
family: the dummy derivatives of Mattsson and Söderlind (1993) are those without such a row. Another selection is another index
table, so it can change during a run without compiling anything.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import Diagnostic, ModelError
from ..language.expression import Constant, Expression, Slot, transform, walk
from ..structure.incidence import Incidence
from ..structure.pantelides import reduce_index
from .assemble import eliminated_mask, merged_families
from .differentiate import gradient
from .pattern import Pattern
from .plant import ONE, TIME, ZERO
from .system import System
from .template import MINUS, Family

Table = tuple[np.ndarray, np.ndarray]  # slots (slot, row) as signed codes, rows (output, row)
Merged = dict[tuple[Expression, ...], list[Table]]


@dataclass(slots=True, eq=False)
class Derivatives:
    """Which derivatives are unknowns of the reduced system, and which rows are derivatives of which.

    Derivative k of original unknown i is unknown `number[k, i]` (-1: it is not one). `of_unknown` and `order` describe the unknowns
    behind the original ones; `row_of` and `row_order` the rows behind the original ones.
    """

    number: np.ndarray  # (highest order + 1, original unknowns)
    highest: np.ndarray  # per original unknown, 0 where it takes no part
    of_unknown: np.ndarray
    order: np.ndarray
    row_of: np.ndarray
    row_order: np.ndarray
    top_row: np.ndarray  # of each original row, its last derivative's row
    differentiations: np.ndarray  # per original row
    original_rows: int

    @property
    def state_count(self) -> int:
        """How many of the unknowns behind this reduction must be selected as states."""
        return int(self.highest.sum() - self.differentiations.sum())

    def as_unknown(self, size: int) -> np.ndarray:
        """For every unknown the unknown that is its derivative, or -1."""
        found = np.full(size, -1, dtype=np.int64)
        pairs = self.candidates()
        found[pairs[:, 0]] = pairs[:, 1]
        return found

    def candidates(self) -> np.ndarray:
        """(unknown, its derivative's unknown) of everything that can be selected."""
        pairs = [
            np.stack([self.number[k], self.number[k + 1]], axis=1)[(self.number[k] >= 0) & (self.number[k + 1] >= 0)]
            for k in range(len(self.number) - 1)
        ]
        return np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)


def reduce(system: System, pattern: Pattern) -> System:
    """The system with index 1; the same object when there is nothing to do. Its `derivatives` describe what was added."""
    wanted = _wanted(system, pattern)
    if len(wanted):
        with suppress(ModelError):  # a wish that would need the derivative of an input is passed over
            return _reduced(system, pattern, wanted)
    return _reduced(system, pattern, wanted[:0])


def _reduced(system: System, pattern: Pattern, wanted: np.ndarray) -> System:
    """`wanted` unknowns v that nobody differentiates become candidates for states as if an equation `v' == rate` were there.

    Its `rate` occurs nowhere else, so Pantelides always matches the two; what remains without them is v' among the unknowns.
    """
    rows, columns = system.equation_count + np.arange(len(wanted)), system.size + np.arange(len(wanted))
    column = np.concatenate([np.repeat(np.arange(system.size), np.diff(pattern.indptr)), wanted, columns])
    row = np.concatenate([pattern.indices, rows, rows])
    incidence, places = Incidence.with_positions(row, column, system.equation_count + len(wanted), system.size + len(wanted))
    sigma = np.zeros(incidence.size, dtype=np.int32)
    sigma[places] = np.concatenate([pattern.by_slope, np.ones(len(wanted), dtype=bool), np.zeros(len(wanted), dtype=bool)])
    found = reduce_index(incidence, sigma)
    differentiations, orders = found.differentiations[: system.equation_count], found.orders[: system.size]
    if not found.regular or not differentiations.any():
        return system
    raised = differentiations[pattern.indices] > 0
    return _Reducer(system, np.unique(column[: len(raised)][raised]), differentiations, orders).reduced()


def _wanted(system: System, pattern: Pattern) -> np.ndarray:
    """Unknowns that somebody wants as states (`state="always"` or "prefer") and nobody differentiates."""
    chosen = np.zeros(system.size, dtype=bool)
    away = eliminated_mask(system.plant, system.definitions) | system.aliases.known
    for kind in system.plant.kinds:
        for quantity in kind.quantities.values():
            for member in kind.members:
                changed: dict[str, Any] = member._modifications.get(quantity.name, {})
                if changed.get("state", quantity.declaration.state) in ("always", "prefer"):
                    first = quantity.base + member._first * quantity.size
                    numbers = np.arange(first, first + member._count * quantity.size)
                    chosen[system.aliases.index[numbers[~away[numbers]]]] = True
    column = np.repeat(np.arange(system.size), np.diff(pattern.indptr))
    chosen[column[pattern.by_slope]] = False
    return np.flatnonzero(chosen)


class _Reducer:
    """Codes: derivative k of unknown i is `k·n + i`; known cell c is `offset + c`. A minus sign is kept as ~code."""

    def __init__(self, system: System, in_raised: np.ndarray, differentiations: np.ndarray, orders: np.ndarray) -> None:
        """`in_raised`: unknowns that occur in rows to be differentiated."""
        self.system, self.n = system, system.size
        self.differentiations = differentiations
        touched = np.zeros(self.n, dtype=bool)
        touched[in_raised] = True
        touched |= orders > 1
        self.highest = np.where(touched, orders, 0)
        self.levels = int(self.highest.max()) + 1
        self.offset = (self.levels + 1) * self.n
        self.derivatives = self._number()
        self.size = self.n + len(self.derivatives.of_unknown)

    def _number(self) -> Derivatives:
        number = np.full((self.levels, self.n), -1, dtype=np.int64)
        number[0] = np.arange(self.n)
        of_unknown, order, count = [], [], self.n
        for k in range(1, self.levels):
            chosen = np.flatnonzero(self.highest >= k)
            number[k, chosen] = count + np.arange(len(chosen))
            of_unknown.append(chosen)
            order.append(np.full(len(chosen), k))
            count += len(chosen)
        rows, row_order, top, start = [], [], np.arange(self.system.equation_count), self.system.equation_count
        for k in range(1, int(self.differentiations.max()) + 1):
            chosen = np.flatnonzero(self.differentiations >= k)
            rows.append(chosen)
            row_order.append(np.full(len(chosen), k))
            top[chosen] = start + np.arange(len(chosen))
            start += len(chosen)
        number[0, self.highest == 0] = np.arange(self.n)[self.highest == 0]
        return Derivatives(
            number, self.highest, np.concatenate(of_unknown), np.concatenate(order), np.concatenate(rows),
            np.concatenate(row_order), top, self.differentiations, self.system.equation_count,
        )  # fmt: skip

    # --- families -------------------------------------------------------------------------------------------------------
    def reduced(self) -> System:
        merged: Merged = {}
        for family in self.system.families:
            self._place(merged, family.template.outputs, (self._codes(family), family.rows))
        self._differentiate(merged)
        hybrid = None if self.system.hybrid is None else self.system.hybrid.mapped(self._moved)
        differential = np.zeros(self.size, dtype=bool)
        differential[: self.n] = self.system.differential & (self.highest == 0)
        return replace(
            self.system,
            families=merged_families(merged),
            initial_families=self._moved(self.system.initial_families),
            size=self.size,
            equation_count=self.system.equation_count + len(self.derivatives.row_of),
            differential=differential,
            derivatives=self.derivatives,
            hybrid=hybrid,
        )

    def _moved(self, families: list[Family]) -> list[Family]:
        """Families that are not differentiated, over the reduced workspace."""
        merged: Merged = {}
        for family in families:
            self._place(merged, family.template.outputs, (self._codes(family), family.rows))
        return merged_families(merged)

    def _codes(self, family: Family) -> np.ndarray:
        """The family's table in codes; levels 0 and 1 have their workspace indices as codes already."""
        slots = family.slots.astype(np.int64)
        for k, sign in enumerate(family.signs):
            if sign == MINUS:
                slots[k] = ~slots[k]
        plain = np.where(slots < 0, ~slots, slots)
        coded = np.where(plain >= 2 * self.n, plain - 2 * self.n + self.offset, plain)
        return np.where(slots < 0, ~coded, coded)

    def _differentiate(self, merged: Merged) -> None:
        """All derivatives of all rows that Pantelides asks for, order by order."""
        tables: list[tuple[tuple[Expression, ...], np.ndarray, np.ndarray]] = [
            ((o,), codes, rows) for f in self.system.families for o, codes, rows in self._raised(f)
        ]
        next_row = self._row_numbers(1)
        for order in range(1, int(self.differentiations.max()) + 1):
            raised = []
            for outputs, codes, rows in tables:
                keep = self.differentiations[rows] >= order
                if not keep.any():
                    continue
                outputs, codes = self._time_derivative(outputs, codes[:, keep])
                rows = rows[keep]
                raised.append((outputs, codes, rows))
                self._place(merged, outputs, (codes, next_row[rows][None, :]))
            tables, next_row = raised, self._row_numbers(order + 1)

    def _raised(self, family: Family) -> list[tuple[Expression, np.ndarray, np.ndarray]]:
        """Single outputs of a family with the rows that are to be differentiated."""
        found = []
        for k, output in enumerate(family.template.outputs):
            keep = self.differentiations[family.rows[k]] > 0
            if keep.any():
                found.append((output, self._codes(family)[:, keep], family.rows[k][keep]))
        return found

    def _row_numbers(self, order: int) -> np.ndarray:
        """For each original row, the row of its derivative of this order."""
        numbers = np.full(self.system.equation_count, -1, dtype=np.int64)
        chosen = self.derivatives.row_order == order
        numbers[self.derivatives.row_of[chosen]] = self.system.equation_count + np.flatnonzero(chosen)
        return numbers

    def _time_derivative(self, outputs: tuple[Expression, ...], codes: np.ndarray) -> tuple[tuple[Expression, ...], np.ndarray]:
        """d/dt of a template: Σ ∂f/∂slot · slot', where slot' is one more slot (or a number)."""
        (output,) = outputs
        slots = sorted(_slots(output), key=lambda s: s.number)
        columns = [codes[s.number] for s in slots]
        total: Expression = Constant(0.0)
        renumbered: dict[Expression, Expression] = {s: Slot(k, s.kind) for k, s in enumerate(slots)}
        output = transform(output, lambda n: renumbered.get(n))
        for slot, partial in gradient(output, list(renumbered.values())).items():
            assert isinstance(slot, Slot)
            change = self._change(columns[slot.number])
            if isinstance(change, np.ndarray):
                columns.append(change)
                total = total + partial * Slot(len(columns) - 1, "variable")
            else:
                total = total + partial * change
        used = sorted({s.number for s in _slots(total)})
        final: dict[Expression, Expression] = {s: Slot(used.index(s.number), s.kind) for s in _slots(total)}
        table = np.array([columns[k] for k in used], dtype=np.int64).reshape(len(used), codes.shape[1])  # perhaps of no slots
        return (transform(total, lambda n: final.get(n)),), table

    def _change(self, codes: np.ndarray) -> np.ndarray | float:
        """The derivative of what sits in a slot: the next derivative of an unknown, 1 for time, 0 for other knowns."""
        plain = np.where(codes < 0, ~codes, codes)
        known = plain >= self.offset
        cells = plain[known] - self.offset
        self._refuse_inputs(cells)
        if known.all():
            signs = np.where(codes < 0, -1.0, 1.0)
            if (cells == TIME).all() and (signs == signs[0]).all():
                return float(signs[0])
            if not (cells == TIME).any():
                return 0.0
        raised = np.where(known, self.offset + np.where(plain - self.offset == TIME, ONE, ZERO), plain + self.n)
        return np.where(codes < 0, ~raised, raised)

    def _refuse_inputs(self, cells: np.ndarray) -> None:
        varying = np.isin(cells, self.system.plant.input_cells())
        if varying.any():
            name = self.system.plant.name_of(int(cells[varying][0]), "known")
            raise ModelError(
                Diagnostic(
                    f"The derivative of input `{name}` is needed, because it prescribes something that other equations integrate.",
                    remedy="Give the quantity through a filter (a first-order lag of the input), or as an expression of time.",
                )
            )

    def _place(self, merged: Merged, outputs: tuple[Expression, ...], table: Table) -> None:
        """Put rows into families of the reduced workspace; a derivative that became an unknown needs a slot of the other kind."""
        codes, rows = table
        plain = np.where(codes < 0, ~codes, codes)
        index = self._workspace(plain)
        slots = sorted({s for o in outputs for s in _slots(o)}, key=lambda s: s.number)
        as_unknown = np.array([(index[s.number] < self.size) & (s.kind == "derivative") for s in slots], dtype=bool)
        as_unknown = as_unknown.reshape(len(slots), codes.shape[1])
        patterns, which = (
            np.unique(as_unknown.T, axis=0, return_inverse=True)
            if slots
            else (
                np.zeros((1, 0), dtype=bool),
                np.zeros(codes.shape[1], dtype=np.int64),
            )
        )
        patterns = patterns.T
        signed = np.where(codes < 0, ~index, index).astype(np.int32)
        for k in range(patterns.shape[1]):
            changed: dict[Expression, Expression] = {
                s: Slot(s.number, "variable") for s, now in zip(slots, patterns[:, k], strict=True) if now
            }
            keep = which.ravel() == k
            new = tuple(transform(o, lambda n, c=changed: c.get(n)) for o in outputs)  # type: ignore[misc]
            merged.setdefault(new, []).append((signed[:, keep], rows[:, keep].astype(np.int32)))

    def _workspace(self, codes: np.ndarray) -> np.ndarray:
        """Codes to workspace indices [ y | y' | known ] of the reduced system."""
        known = codes >= self.offset
        level, unknown = np.divmod(np.where(known, 0, codes), self.n)
        explicit = np.where(level < self.levels, self.derivatives.number[np.minimum(level, self.levels - 1), unknown], -1)
        slope = (level == 1) & (explicit < 0)
        index = np.where(slope, self.size + unknown, explicit)
        return np.where(known, codes - self.offset + 2 * self.size, index)


def _slots(expression: Expression) -> set[Slot]:
    return {n for n in walk(expression) if isinstance(n, Slot)}


def with_states(system: System, selected: np.ndarray) -> System:
    """The reduced system with rows `x' == x¹` for the selected pairs (unknown, derivative): square, and ready to run."""
    template = Slot(0, "derivative") - Slot(1, "variable")
    slots = np.stack([system.size + selected[:, 0], selected[:, 1]]).astype(np.int32)
    rows = (system.equation_count + np.arange(len(selected)))[None, :].astype(np.int32)
    differential = system.differential.copy()
    differential[selected[:, 0]] = True
    families = [*system.families, *merged_families({(template,): [(slots, rows)]})] if len(selected) else system.families
    count = system.equation_count + len(selected)
    return replace(system, families=families, equation_count=count, differential=differential, selected=selected)
