"""Explicit variables: which algebraic unknowns can be computed from the others before the residuals, instead of being solved for.

Let the states be given. In the block triangular form of the equations for algebraic unknowns and derivatives, a block of one row
and one algebraic unknown, in which the row is linear in it with a coefficient of literals and parameters, is an assignment: the
current of a resistor, the heat flow through a wall. The solver never sees these unknowns: it integrates the rest, and the
assignments are kernels that fill cells of the workspace before the residual kernels read them. Their values are exact at output
points, and the systems that are factorised are smaller. Assignments may use one another, as long as that is acyclic.

A variable stays an unknown where computing it would spoil the sparsity (it depends on many unknowns and many rows depend on it),
where the user fixed or bounded it, where initial equations name it, and beyond a small depth of assignments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..records import dataclass
from ..structure import native
from ..structure.blocks import block_form
from ..structure.incidence import Incidence
from .pattern import Pattern, distinct
from .plant import FIRST_PARAMETER
from .system import System
from .template import MINUS, MIXED, Family, Template

Determines = Callable[[np.ndarray, np.ndarray], np.ndarray]  # mask over pairs of unknowns and rows

Silent = tuple[np.ndarray, np.ndarray]  # rows, and unknowns that they read without a derivative

_DEEPEST = 12  # assignments that use assignments that use …
_MOST_COLUMNS = 8  # unknowns that an explicit variable may depend on


@dataclass(slots=True, eq=False)
class Explicit:
    """Assignments in order: `unknown[k]` is computed by `row[k]`, with `level[k]` ascending."""

    unknown: np.ndarray
    row: np.ndarray
    level: np.ndarray


def choose_explicit(system: System, pattern: Pattern, keep: np.ndarray, fit: Determines | None = None) -> Explicit:
    """Find what can be assigned; `keep` marks unknowns that must stay, `fit` tells which rows may compute which unknowns."""
    silent = _silent_entries(system)
    row_of = _candidates(system, pattern, keep, silent)
    if fit is not None:
        unknowns = np.flatnonzero(row_of >= 0)
        row_of[unknowns[~fit(unknowns, row_of[unknowns])]] = -1
    rows = np.flatnonzero(row_of >= 0)
    if len(rows) == 0:
        return Explicit(rows, rows, rows)
    return _natively(system, pattern, row_of, silent) or _Levels(system, pattern, row_of, silent).chosen()


def _natively(system: System, pattern: Pattern, row_of: np.ndarray, silent: Silent) -> Explicit | None:
    """What `_Levels` finds, by the core; None without one."""
    found = native.find("graph_levels")
    if found is None:
        return None
    read = (part.astype(np.int32) for part in silent)
    rows, limits = system.equation_count, (_DEEPEST, _MOST_COLUMNS)
    level = found(pattern.indptr, pattern.indices, row_of.astype(np.int32), rows, *read, *limits)
    by_level = [np.flatnonzero(level == k) for k in range(1, int(level.max(initial=0)) + 1)]
    unknown = np.concatenate([np.zeros(0, dtype=np.int64), *by_level])
    return Explicit(unknown, row_of.take(unknown), np.repeat(np.arange(1, len(by_level) + 1), [len(u) for u in by_level]))


def _candidates(system: System, pattern: Pattern, keep: np.ndarray, silent: Silent) -> np.ndarray:
    """For each unknown the row that could compute it, or -1."""
    form = None if len(silent[0]) else pattern.solution(system.equation_count, system.differential)
    form = block_form(_active(system, pattern, silent)) if form is None else form
    single = form.pointers[:-1][form.sizes == 1]
    rows, unknowns = form.equations.take(single), form.unknowns.take(single)
    free = ~(system.differential | keep).take(unknowns)
    wanted = np.full(system.equation_count, -1, dtype=np.int32)
    wanted[rows[free].astype(np.intp)] = unknowns[free]
    _add_mixtures(system, keep, wanted)
    found = np.full(system.size, -1, dtype=np.int64)
    linear = np.flatnonzero(linear_rows(system, wanted))
    found[wanted[linear]] = linear
    return found


def _active(system: System, pattern: Pattern, silent: Silent) -> Incidence:
    """What stands in which row, states given: slopes of these, values of the others, read with a derivative or without."""
    read_row, read = silent
    if len(read):
        active = np.where(np.repeat(system.differential, np.diff(pattern.indptr)), pattern.by_slope, pattern.by_value)
        column = np.repeat(np.arange(system.size, dtype=np.int32), np.diff(pattern.indptr))
        rows, columns = np.concatenate([pattern.indices[active], read_row]), np.concatenate([column[active], read])
        return Incidence.from_pairs(rows, columns, system.equation_count, system.size)
    return pattern.active(system.equation_count, system.differential)


def _add_mixtures(system: System, keep: np.ndarray, wanted: np.ndarray) -> None:
    """What enters where streams meet is computed from flows and what leaves, in algebraic loops too (`_Levels` takes those that do
    not need one another). Then balances hold the mixture itself, and what they lose to one another they lose to rounding; an
    unknown would be the mixture up to the tolerance of an iteration, and so would be the sum of what is held."""
    assigned = np.zeros(system.size, dtype=bool)
    assigned[wanted[wanted >= 0]] = True
    for block in system.blocks:
        if not block.mixes or block.nodes is None:
            continue
        rows = block.start + np.arange(block.count)
        unknown = np.where(system.aliases.known[block.nodes], -1, system.aliases.index[block.nodes])
        free = (unknown >= 0) & (wanted[rows] < 0)
        free[free] &= ~(system.differential | keep | assigned)[unknown[free]]
        wanted[rows[free]] = unknown[free]


def linear_rows(system: System, wanted: np.ndarray) -> np.ndarray:
    """Rows that contain the wanted unknown in one slot, linearly, with a coefficient that only parameters can change.

    A row to which several families or rows contribute must have a literal coefficient, so that each contributes its part alone.
    """
    found = [np.zeros(0, dtype=np.int32)]  # rows, as often as the unknown stands in them
    literal, constant, silent = np.zeros((3, len(wanted)), dtype=bool)
    varying = np.zeros(system.known_count, dtype=bool)
    varying[system.plant.varying_cells()] = True
    for family in system.families:
        for output, slot in silent_slots(family.template):
            rows = family.rows[output]
            silent[rows[unfolded(family, slot) == wanted.take(rows)]] = True
        for k, here in places_of(family, wanted):
            output, _, value, reads = family.template.entries[k]
            rows = family.rows[output]
            found.append(rows[here])
            if value is not None:
                literal[rows[here]] = True
            else:
                steady = here & _only_parameters(system, family, reads, varying)
                constant[rows[steady]] = True
    if constant.any():
        constant &= np.bincount(np.concatenate([f.rows.ravel() for f in system.families]), minlength=len(wanted)) == 1
    return (np.bincount(np.concatenate(found), minlength=len(wanted)) == 1) & ~silent & (literal | constant)


def silent_slots(template: Template) -> tuple[tuple[int, int], ...]:
    """(output, slot) where a residual reads a slot without a derivative: within `sign`, or in the condition of `where`.

    The Jacobian does not show these, but who computes a value must know that it is read.
    """
    return template.silent_slots


def _silent_entries(system: System) -> Silent:
    """(row, unknown) of everything that is read without a derivative alone; of a state its value is given, its slope is not."""
    rows, read = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    for family in system.families:
        for output, slot in family.template.unseen_slots:
            index, n = unfolded(family, slot), system.size
            unknown = np.where(index < n, index, index - n)
            active = (index < 2 * n) & (system.differential[np.minimum(unknown, n - 1)] == (index >= n))
            rows.append(family.rows[output][active])
            read.append(unknown[active])
    return np.concatenate(rows), np.concatenate(read)


def _only_parameters(system: System, family: Family, reads: tuple[int, ...], varying: np.ndarray) -> np.ndarray:
    """For each row of the family, whether a derivative that reads some slots contains parameters and literals only."""
    steady = np.ones(family.count, dtype=bool)
    for slot in reads:
        cell = unfolded(family, slot) - 2 * system.size
        steady &= (cell >= FIRST_PARAMETER) & ~varying.take(np.maximum(cell, 0))
    return steady


def places_of(family: Family, wanted: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Derivatives of a family by what its rows want: the number of each, and a mask over the family's rows."""
    unknown = wanted.take(family.rows)
    some = np.asarray((unknown >= 0).any(axis=1))
    for k, (output, slot) in enumerate(zip(*family.template.entry_places, strict=True)):
        if some[output]:
            here = unfolded(family, slot) == unknown[output]
            if here.any():
                yield k, here


def unsigned(family: Family, slots: np.ndarray) -> np.ndarray:
    """Workspace indices of several slots without their signs."""
    index = family.slots[slots]
    return np.where(index < 0, ~index, index) if MIXED in family.signs else index


def unfolded(family: Family, slot: int) -> np.ndarray:
    """Workspace indices of a slot without their signs."""
    index = family.slots[slot]
    return np.where(index < 0, ~index, index) if family.signs[slot] == MIXED else index


def negative(family: Family, slot: int) -> np.ndarray:
    """Rows in which a slot carries a minus sign."""
    if family.signs[slot] == MIXED:
        return family.slots[slot] < 0
    return np.full(family.count, family.signs[slot] == MINUS)


class _Levels:
    """Decides candidate by candidate, those first that need no undecided one."""

    def __init__(self, system: System, pattern: Pattern, row_of: np.ndarray, silent: Silent) -> None:
        self.n, self.row_of = system.size, row_of
        column = np.repeat(np.arange(system.size, dtype=np.int32), np.diff(pattern.indptr))
        owner = np.full(system.equation_count, -1, dtype=np.int32)
        candidates = np.flatnonzero(row_of >= 0)
        owner[row_of[candidates]] = candidates
        read_row, read = silent
        self.target = owner[np.concatenate([pattern.indices, read_row])]  # target is computed from source
        self.source = np.concatenate([column, read])
        keep = (self.target >= 0) & (self.target != self.source)
        self.target, self.source = self.target[keep], self.source[keep]
        self.consumers = np.diff(pattern.indptr) - 1
        self.undecided = row_of >= 0
        self.taken = np.zeros(system.size, dtype=bool)
        self.level = np.zeros(system.size, dtype=np.int64)
        self.columns: dict[str, np.ndarray] = {"start": np.zeros(self.n, dtype=np.int64), "count": np.zeros(self.n, dtype=np.int64)}
        self.pool, self.pool_size = np.zeros(0, dtype=np.int64), 0

    def chosen(self) -> Explicit:
        """Round by round those whose sources are decided; levels count assignments that use assignments."""
        inner = self.undecided[self.source]
        order = np.argsort(self.source[inner], kind="stable")
        targets, starts = self.target[inner][order], np.searchsorted(self.source[inner][order], np.arange(self.n + 1))
        by_target = np.argsort(self.target, kind="stable")
        self.target, self.source = self.target[by_target], self.source[by_target]
        self.first = np.searchsorted(self.target, np.arange(self.n + 1))
        waits_for = np.bincount(targets, minlength=self.n)
        ready = np.flatnonzero(self.undecided & (waits_for == 0))
        while len(ready):
            self._decide(ready)
            freed = targets[ranges(starts[ready], starts[ready + 1] - starts[ready])]
            np.subtract.at(waits_for, freed, 1)
            ready = distinct(freed[waits_for[freed] == 0])
        unknown = np.flatnonzero(self.taken)
        unknown = unknown[np.argsort(self.level[unknown], kind="stable")]
        return Explicit(unknown, self.row_of[unknown], self.level[unknown])

    def _decide(self, ready: np.ndarray) -> None:
        """Take those of the ready ones whose dependence on kept unknowns stays small, and which are not too deep."""
        counts = self.first[ready + 1] - self.first[ready]
        entries = ranges(self.first[ready], counts)
        source, place = self.source[entries], np.repeat(np.arange(len(ready)), counts)
        through = self.taken[source]
        level = np.ones(len(ready), dtype=np.int64)
        np.maximum.at(level, place[through], self.level[source[through]] + 1)
        direct, expanded = place[~through] * self.n + source[~through], self._expanded(place[through], source[through])
        keys = distinct(np.concatenate([direct, expanded]))
        owner = keys // self.n
        count, consumers = np.bincount(owner, minlength=len(ready)), self.consumers[ready]
        small = (count <= _MOST_COLUMNS) & (count * consumers <= 3 * (count + consumers) + 8) & (level <= _DEEPEST)
        self.undecided[ready] = False
        good = ready[small]
        self.taken[good] = True
        self.level[good] = level[small]
        kept = small[owner]
        self.columns["start"][good] = self.pool_size + np.searchsorted(owner[kept], np.flatnonzero(small))
        self.columns["count"][good] = count[small]
        self._append((keys % self.n)[kept])

    def _append(self, columns: np.ndarray) -> None:
        """To the pool, which doubles when it is full: there may be as many rounds as variables."""
        needed = self.pool_size + len(columns)
        if needed > len(self.pool):
            self.pool = np.concatenate([self.pool, np.zeros(max(needed, len(self.pool)), dtype=np.int64)])
        self.pool[self.pool_size : needed] = columns
        self.pool_size = needed

    def _expanded(self, target: np.ndarray, source: np.ndarray) -> np.ndarray:
        count = self.columns["count"][source]
        return np.repeat(target, count) * self.n + self.pool[ranges(self.columns["start"][source], count)]


def ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """start, start + 1, … (count of them) for each pair, one after the other."""
    total = int(counts.sum())
    if total == 0:
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(counts)
    return np.arange(total) - np.repeat(ends - counts, counts) + np.repeat(starts, counts)
