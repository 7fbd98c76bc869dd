"""Index reduction on families: differentiated equations are differentiated templates over the same rows.

Pantelides (`structure/pantelides.py`) says how often each row is differentiated and up to which order each unknown's derivatives
then occur. Those derivatives become unknowns of their own: x, x¹ = x', x² = x'', …; the equations are the original rows and their
derivatives, which hold the solution on all constraints, hidden ones included, so that nothing drifts. They are fewer than
the unknowns by the number of states. That many of the x^(k) are *selected* as states, each by a row x^(k)' = x^(k+1) of one more
family: the dummy derivatives of Mattsson and Söderlind (1993) are those without such a row. Another selection is another index
table, so it can change during a run without compiling anything.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ModelError
from ..language.expression import Expression, Slot, transform
from ..records import dataclass
from ..structure.blocks import block_form
from ..structure.incidence import Incidence
from ..structure.pantelides import reduce_index
from .coincidence import parameter_cells, values_in, watched
from .combinations import Blocks, Combiner, find
from .explicit import unfolded
from .orders import KNOWN, Coded, Literals, coded, occurrences, plain, slots_of, time_derivative
from .pattern import Pattern, jacobian_pattern
from .system import System, eliminated_mask
from .template import Family, merged_families

Merged = dict[tuple[Expression, ...], list[tuple[np.ndarray, np.ndarray]]]


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

    def determines(self, size: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Whether a row that computes an unknown computes its derivative too, by its own derivative; for what has none, yes."""
        has_derivative = self.as_unknown(size) >= 0
        differentiated = np.zeros(self.original_rows + len(self.row_of), dtype=bool)
        differentiated[: self.original_rows] = self.differentiations > 0
        differentiated[self.original_rows :] = self.differentiations[self.row_of] > self.row_order

        def fits(unknowns: np.ndarray, rows: np.ndarray) -> np.ndarray:
            inside = rows < len(differentiated)  # the rows of states are behind
            return ~has_derivative[unknowns] | (inside & differentiated[np.minimum(rows, len(differentiated) - 1)])

        return fits

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
    if not len(wanted) and _stays_as_it_is(system, pattern):
        return system
    rows = _rows(system, pattern, wanted)
    if not rows.found.regular:
        return system
    return _combined(system, wanted, rows) or _raised(system, None, rows)


def _rows(system: System, pattern: Pattern, wanted: np.ndarray) -> _Rows:
    if not len(wanted):
        return _Rows.as_they_are(system, pattern)
    column = np.repeat(np.arange(system.size), np.diff(pattern.indptr))
    return _Rows.of(system, wanted, pattern.indices, column, pattern.by_slope)


def reduce_with(system: System, known: np.ndarray, freedoms: int) -> System | None:
    """The system that holds for these values of parameters, where they make rows depend on each other (see `coincidence`).

    None if they do not: as many initial values can be chosen as without them, `freedoms`. None also where nothing can be made of
    it, because what is left does not determine the unknowns, or an input would have to be differentiated."""
    pattern = jacobian_pattern(system.families, system.equation_count, system.size)
    values, wanted = values_in(system, known), _wanted(system, pattern)
    for wishes in (wanted, wanted[:0]) if len(wanted) else (wanted,):
        with suppress(ModelError):
            rows = _rows(system, pattern, wishes)
            found = _combined(system, wishes, rows, values)
            return None if found is None or found.dependent or found.freedoms == freedoms else found
    return None


def _stays_as_it_is(system: System, pattern: Pattern) -> bool:
    """Whether rows determine all slopes and all other unknowns as they are: most models, and for these one matching is enough.

    If so, the system is given what is to be looked at when parameters change (`coincidence`)."""
    form = pattern.solution(system.equation_count, system.differential)
    if form is None:
        return False
    c, d = np.zeros(system.equation_count, dtype=np.int64), system.differential.astype(np.int64)
    blocks = Blocks.of(form, c, d)
    constant = _with_constants(system, blocks)
    if find(_touched(system), system.size, _literals(system), blocks, constant.copy()) is not None:
        return False
    system.coincidence = watched(system, _touched(system), Blocks.of(form, c, d, 1), constant)
    return True


def _with_constants(system: System, blocks: Blocks) -> np.ndarray:
    """Rows that share a block with others and have nothing in it but what unknowns cannot change, as far as templates tell."""
    of_row, of_unknown = blocks.of_row, blocks.of_unknown
    literal, n = of_row >= 0, system.size
    if not literal.any():
        return literal
    block = np.full(2 * n + system.known_count, -2, dtype=np.int32)  # in which what a slot may hold is solved for
    block[np.arange(n) + np.where(system.differential, n, 0)] = np.where(of_unknown < 0, -2, of_unknown)
    for family in system.families:
        own = of_row.take(family.rows)
        shared = np.asarray((own >= 0).any(axis=1))
        for output, slot in family.template.changing_places:
            if shared[output]:
                literal[family.rows[output][own[output] == block.take(unfolded(family, slot))]] = False
    return literal


def _literals(system: System) -> Literals:
    values = system.aliases.literals
    return Literals(system.known_count - len(values), values)


def _touched(system: System) -> Callable[[np.ndarray], list[Coded]]:
    return lambda rows: [coded(f, system.size) for f in system.families if rows[f.rows].any()]


def _combined(system: System, wanted: np.ndarray, rows: _Rows, values: Literals | None = None) -> System | None:
    """The reduced system if combinations of rows are needed (see `combinations`); None if not. `values`: of parameters, for which
    the system is to hold.

    Where combinations leave no matching at all, the equations depend on each other: as they stand, rounding may hide it.
    """
    chosen, smallest = values is not None, 2 if values is None else 1
    literals = _literals(system) if values is None else values
    here = find(_touched(system), system.size, literals, rows.blocks(smallest), chosen=chosen)
    if here is None:
        system.coincidence = watched(system, _touched(system), rows.blocks(1)) if not chosen else None
        return None
    tables = [coded(f, system.size) for f in system.families]
    combiner, as_written = Combiner(system.size, literals, system.plant, chosen), rows
    while here is not None:
        tables = combiner.applied(tables, here, rows.found)
        at = occurrences(tables, system.size, combiner.literals)
        rows = _Rows.of(system, wanted, at.row, at.unknown, at.order)
        if not rows.found.regular:
            return _raised(replace(system, dependent=True), None, as_written)
        touching = lambda r, t=tables: [one for one in t if r[one.rows].any()]  # noqa: E731
        here = find(touching, system.size, combiner.literals, rows.blocks(smallest), chosen=chosen)
    slopes = np.zeros(system.size, dtype=bool)
    slopes[at.unknown[at.order > 0]] = True
    changed = replace(
        system,
        aliases=replace(system.aliases, literals=combiner.literals.values[_literals(system).first - literals.first :]),
        known_count=literals.first + len(combiner.literals.values),
        differential=slopes,
        combined=combiner.replaced,
        frozen=None if values is None else _read(system, combiner, values),
    )
    changed.coincidence = watched(changed, touching, rows.blocks(1))
    return _raised(changed, tables, rows)


def _read(system: System, combiner: Combiner, values: Literals) -> tuple[np.ndarray, np.ndarray]:
    """The parameters that combined rows read, and their values."""
    cells = combiner.read[combiner.read < system.known_count]
    cells = cells[parameter_cells(system)[cells]]
    found = values.values[cells - values.first]
    return cells[~np.isnan(found)], found[~np.isnan(found)]


def _raised(system: System, tables: list[Coded] | None, rows: _Rows) -> System:
    """The system with what differentiation adds; `tables`: its families, if combinations changed them."""
    c, orders = rows.found.differentiations[: system.equation_count], rows.found.orders[: system.size]
    if not c.any() and (orders <= 1).all():
        return replace(system, families=_as_families(tables, system.size)) if tables is not None and system.combined else system
    tables = [coded(f, system.size) for f in system.families] if tables is None else tables
    unknown = rows.incidence.indices[c[np.minimum(rows.incidence.owners, len(c) - 1)] > 0]
    return _Reducer(system, tables, np.unique(unknown[unknown < system.size]), c, orders).reduced()


def _as_families(tables: list[Coded], size: int) -> list[Family]:
    """Families of a system with the same unknowns; nothing is differentiated more than once."""
    merged: Merged = {}
    for table in tables:
        codes = plain(table.codes)
        index = np.where(codes >= KNOWN, codes - KNOWN + 2 * size, codes)
        signed = np.where(table.codes < 0, ~index, index).astype(np.int32)
        merged.setdefault(table.outputs, []).append((signed, table.rows.astype(np.int32)))
    return merged_families(merged)


class _Rows:
    """Which derivatives of which unknowns stand in which rows, and what Pantelides makes of it."""

    def __init__(self, incidence: Incidence, sigma: np.ndarray) -> None:
        self.incidence, self.sigma = incidence, sigma
        self.found = reduce_index(incidence, sigma)

    def blocks(self, smallest: int = 2) -> Blocks:
        """Blocks of highest derivatives, of so many rows at least."""
        c, d = self.found.differentiations, self.found.orders
        active = self.incidence.keep(self.sigma + c[self.incidence.owners] == d[self.incidence.indices])
        return Blocks.of(block_form(active, self.found.matching), c.astype(np.int64), d.astype(np.int64), smallest)

    @staticmethod
    def as_they_are(system: System, pattern: Pattern) -> _Rows:
        incidence, places = pattern.by_rows(system.equation_count)
        sigma = np.empty(incidence.size, dtype=np.int32)
        sigma[places] = pattern.by_slope
        return _Rows(incidence, sigma)

    @staticmethod
    def of(system: System, wanted: np.ndarray, row: np.ndarray, unknown: np.ndarray, order: np.ndarray) -> _Rows:
        extra, rates = system.equation_count + np.arange(len(wanted)), system.size + np.arange(len(wanted))
        row, unknown = np.concatenate([row, extra, extra]), np.concatenate([unknown, wanted, rates])
        orders = np.concatenate([order, np.ones(len(wanted)), np.zeros(len(wanted))]).astype(np.int32)
        shape = system.equation_count + len(wanted), system.size + len(wanted)
        incidence, places = Incidence.with_positions(row, unknown, *shape)
        sigma = np.zeros(incidence.size, dtype=np.int32)
        np.maximum.at(sigma, places, orders)
        return _Rows(incidence, sigma)


def _wanted(system: System, pattern: Pattern) -> np.ndarray:
    """Unknowns that somebody wants as states (`state="always"` or "prefer") and nobody differentiates."""
    chosen = np.zeros(system.size, dtype=bool)
    away = eliminated_mask(system.plant, system.definitions) | system.aliases.known
    for kind in system.plant.kinds:
        for quantity in kind.quantities.values():
            for member in kind.members:
                changed: dict[str, Any] = member.modifications.get(quantity.name, {})
                if changed.get("state", quantity.declaration.state) in ("always", "prefer"):
                    first = quantity.base + member.first * quantity.size
                    numbers = np.arange(first, first + member.count * quantity.size)
                    chosen[system.aliases.index[numbers[~away[numbers]]]] = True
    chosen[_with_slopes(system, pattern)] = False
    return np.flatnonzero(chosen)


def _with_slopes(system: System, pattern: Pattern) -> np.ndarray:
    """Which unknowns have a slope in the pattern: all that are differentiated, if these can be solved for."""
    if pattern.solution(system.equation_count, system.differential) is not None:
        return system.differential
    slopes = np.concatenate([[0], np.cumsum(pattern.by_slope)])[pattern.indptr]
    return np.asarray(slopes[1:] > slopes[:-1])


class _Reducer:
    """Differentiates rows and gives every derivative that takes part a number in the next workspace."""

    def __init__(
        self, system: System, tables: list[Coded], in_raised: np.ndarray, differentiations: np.ndarray, orders: np.ndarray
    ) -> None:
        """`in_raised`: unknowns that occur in rows to be differentiated."""
        self.system, self.tables, self.n = system, tables, system.size
        self.differentiations = differentiations
        touched = np.zeros(self.n, dtype=bool)
        touched[in_raised] = True
        touched |= orders > 1
        self.highest = np.where(touched, orders, 0)
        self.levels = int(self.highest.max()) + 1
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
        none = np.zeros(0, dtype=np.int64)
        rows, row_order, top, start = [none], [none], np.arange(self.system.equation_count), self.system.equation_count
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
        for table in self.tables:
            self._place(merged, table)
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
            self._place(merged, coded(family, self.n))
        return merged_families(merged)

    def _differentiate(self, merged: Merged) -> None:
        """All derivatives of all rows that Pantelides asks for, order by order."""
        tables = [t.alone(k) for t in self.tables for k in range(len(t.outputs)) if (self.differentiations[t.rows[k]] > 0).any()]
        for order in range(1, int(self.differentiations.max()) + 1):
            next_row, raised = self._row_numbers(order), []
            for table in tables:
                keep = self.differentiations[table.rows[0]] >= order
                if keep.any():
                    derived = time_derivative(table.part(keep), self.n, self.system.plant)
                    raised.append(derived)
                    self._place(merged, Coded(derived.outputs, derived.codes, next_row[derived.rows]))
            tables = raised

    def _row_numbers(self, order: int) -> np.ndarray:
        """For each original row, the row of its derivative of this order."""
        numbers = np.full(self.system.equation_count, -1, dtype=np.int64)
        chosen = self.derivatives.row_order == order
        numbers[self.derivatives.row_of[chosen]] = self.system.equation_count + np.flatnonzero(chosen)
        return numbers

    def _place(self, merged: Merged, table: Coded) -> None:
        """Put rows into families of the reduced workspace; a derivative that became an unknown needs a slot of the other kind."""
        outputs, codes, rows = table.outputs, table.codes, table.rows
        index = self._workspace(plain(codes))
        slots = slots_of(*outputs)
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
        known = codes >= KNOWN
        level, unknown = np.divmod(np.where(known, 0, codes), self.n)
        explicit = np.where(level < self.levels, self.derivatives.number[np.minimum(level, self.levels - 1), unknown], -1)
        slope = (level == 1) & (explicit < 0)
        index = np.where(slope, self.size + unknown, explicit)
        return np.where(known, codes - KNOWN + 2 * self.size, index)


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
