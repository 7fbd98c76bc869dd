"""Structure that only numbers reveal: rows whose highest derivatives cancel in a combination of them.

Let Pantelides have found how often row f_k is differentiated, c_k times, and let J be the matrix of the rows f_k^(c_k) by the
highest derivatives of the unknowns. Where J is singular, structure has promised too much: three capacitors in a loop, v1 = a - b,
v2 = b - c, v3 = c - a, have an equation for each potential, but they sum to v1 + v2 + v3 = 0, which is a constraint between states.
With uᵀ J = 0 on a block of J, u constant and c = min c_k over the rows with u_k ≠ 0, the row

    Σ u_k f_k^(c_k - c)

holds as well and does not contain the block's highest derivatives. It replaces one of the rows with c_k = c; nothing is lost. After
that Pantelides sees the constraint (Tan, Nedialkov and Pryce 2017: the linear combination method), and so on until no block is
singular. Each replacement lowers what any matching can promise, so that this ends.

Here blocks are those of the block triangular form, and only rows whose entries in their block are literals, or sums of products of
parameters (`monomials.py`), take part: the sums and differences that connections and loops are made of, and balances in node
voltages. u is made of literals, so that it cancels whatever the parameters are; `structure/multipliers.py` finds it in linear time.
Blocks of one equation, and that is all there is in most plants, cost nothing. What only the values of parameters make cancel is
found by the same functions with these values for literals (`coincidence.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..language.expression import Constant, Expression, Slot, transform
from ..records import dataclass
from ..structure.blocks import BlockForm
from ..structure.multipliers import Combinations, dependent_rows
from ..structure.pantelides import Reduction
from .explicit import ranges
from .monomials import Symbols, terms
from .orders import KNOWN, Coded, Literals, compact, plain, time_derivative
from .plant import ZERO, Plant
from .template import Template

_ROUNDING = 1e-10  # a sum this small beside its terms has cancelled …
_CANCELLED = 1e-12  # … or this small, where numbers are values that somebody chose


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Combinations by row number, and the block of every row and every unknown."""

    combinations: Combinations
    block_of_row: np.ndarray
    block_of_unknown: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The blocks of J of more than one row: of each row and of each unknown its block, -1 if it has one to itself. Row k is
    differentiated c_k times, unknown i up to d_i times."""

    of_row: np.ndarray
    of_unknown: np.ndarray
    c: np.ndarray
    d: np.ndarray

    @staticmethod
    def of(form: BlockForm, c: np.ndarray, d: np.ndarray, smallest: int = 2) -> Blocks:
        """`smallest`: of 1, blocks of one row count, too."""
        of_row, of_unknown = np.full(len(c), -1, dtype=np.int32), np.full(len(d), -1, dtype=np.int32)
        sizes = form.sizes
        shared = np.flatnonzero(sizes >= smallest).astype(np.int32)
        number, inside = np.repeat(shared, sizes[shared]), np.repeat(sizes >= smallest, sizes)
        for blocks, members in ((of_row, form.equations), (of_unknown, form.unknowns)):
            blocks[members[inside].astype(np.intp)] = number
        return Blocks(of_row, of_unknown, c, d)


def find(
    touching: Callable[[np.ndarray], list[Coded]],
    size: int,
    literals: Literals,
    blocks: Blocks,
    literal: np.ndarray | None = None,
    chosen: bool = False,
) -> Found | None:
    """Combinations of rows in which the highest derivatives of a block cancel; None if there are none.

    `touching` gives the tables that contribute to rows of a mask; most models have no block for which they are asked. `literal`:
    rows that may take part, where some are known not to. `chosen`: `literals` are values that somebody chose."""
    of_row, of_unknown, c, d = blocks.of_row, blocks.of_unknown, blocks.c, blocks.d
    literal = of_row >= 0 if literal is None else literal
    if not literal.any():
        return None
    symbols = Symbols()
    at = terms(touching(literal), size, literals, symbols)
    inside = (of_row[at.row] >= 0) & (of_row[at.row] == of_unknown[at.unknown]) & (at.order + c[at.row] == d[at.unknown])
    literal[at.row[inside & np.isnan(at.factor)]] = False
    inside &= literal[at.row]
    rows = np.flatnonzero(literal)
    place = np.full(len(of_row), -1)
    place[rows] = np.arange(len(rows))
    column = at.unknown[inside] * len(symbols.cells) + at.symbol[inside]
    combinations = dependent_rows(place[at.row[inside]], column, at.factor[inside], c[rows], chosen)
    if not combinations.count:
        return None
    named = replace(combinations, row=rows[combinations.row], pivot=rows[combinations.pivot])
    return Found(named, of_row, of_unknown)


class Combiner:
    """Replaces rows by combinations. New numbers become known cells behind those there are; `literals` are their values, `read` the
    known cells of the rows that were combined."""

    def __init__(self, size: int, literals: Literals, plant: Plant, chosen: bool = False) -> None:
        self.size, self.plant = size, plant
        self.rounding, self.read = _CANCELLED if chosen else _ROUNDING, np.zeros(0, dtype=np.int64)
        self.literals, self.symbols = literals, Symbols()
        self.replaced: dict[int, np.ndarray] = {}  # row: the rows that it combines

    def applied(self, tables: list[Coded], found: Found, reduction: Reduction) -> list[Coded]:
        """The tables with each pivot row replaced by its combination."""
        these, c, d = found.combinations, reduction.differentiations, reduction.orders
        lowest = c[these.pivot][these.number]
        joined = _Joined(these, c[these.row] - lowest)
        for number, pivot in enumerate(these.pivot.tolist()):
            self.replaced[pivot] = these.row[these.number == number]

        def cancels(rows: np.ndarray, unknown: np.ndarray, order: np.ndarray) -> np.ndarray:
            """What was combined in order to vanish, and does so but for rounding."""
            return (found.block_of_row[rows] == found.block_of_unknown[unknown]) & (order + c[rows] == d[unknown])

        new = [n for table in tables for k in range(len(table.outputs)) for n in self._contributions(table, k, joined)]
        return [*self._without(tables, these.pivot), *self._summed(new, cancels)]

    def _without(self, tables: list[Coded], pivots: np.ndarray) -> list[Coded]:
        """The tables without some rows; outputs that share a template with one of these stand alone from now on."""
        kept: list[Coded] = []
        for table in tables:
            gone = np.isin(table.rows, pivots)
            whole = np.asarray(~gone.any(axis=0))
            if whole.all():
                kept.append(table)
                continue
            if whole.any():
                kept.append(table.part(whole))
            if len(table.outputs) > 1:
                for k in range(len(table.outputs)):
                    columns = ~whole & ~gone[k]
                    if columns.any():
                        kept.append(table.part(columns).alone(k))
        return kept

    def _contributions(self, table: Coded, output: int, joined: _Joined) -> list[tuple[Coded, np.ndarray]]:
        """What a table's rows add to combinations, each with its weights."""
        column, entry = joined.of(table.rows[output])
        if not len(column):
            return []
        parts = []
        for order in np.unique(joined.order[entry]):
            here = joined.order[entry] == order
            part = table.part(column[here]).alone(output)
            self.read = np.union1d(self.read, known_cells([part]))
            for _ in range(int(order)):
                part = time_derivative(part, self.size, self.plant)
            part = Coded(part.outputs, part.codes, joined.target[entry[here]][None, :])
            parts.append((part, joined.weight[entry[here]]))
        return parts

    def _summed(self, parts: list[tuple[Coded, np.ndarray]], cancels: Callable[..., np.ndarray]) -> list[Coded]:
        """Linear terms with literal or known factors added up, so that what cancels is gone; the rest as it is, weighted."""
        terms: list[_Term] = []
        tables: list[Coded] = []
        for part, weight in parts:
            found = {slot: list(self.symbols.terms(p, part, self.literals)) for _, slot, p in Template.of(part.outputs).jacobian}
            mask = np.array([~np.isnan(v[0][1]) for v in found.values()], dtype=bool).reshape(len(found), part.rows.shape[1])
            patterns, which = np.unique(mask, axis=1, return_inverse=True)
            for k, pattern in enumerate(patterns.T):
                here = which.reshape(-1) == k
                linear = {slot for slot, one in zip(found, pattern, strict=True) if one}
                for slot in linear:
                    code = part.codes[slot][here]
                    signed = np.where(code < 0, -weight[here], weight[here])
                    terms += [_Term(part.rows[0][here], plain(code), s[here], v[here] * signed) for s, v in found[slot]]
                gone = lambda n, taken=linear: Constant(0.0) if isinstance(n, Slot) and n.number in taken else None  # noqa: E731
                rest = transform(part.outputs[0], gone)
                if not (isinstance(rest, Constant) and rest.value == 0):
                    tables += self._weighted(compact(rest, part.codes[:, here], part.rows[:, here]), weight[here])
        return [*tables, *self._terms(_Term.joined(terms), cancels)]

    def _weighted(self, table: Coded, weight: np.ndarray) -> list[Coded]:
        found = []
        for value in (1.0, -1.0):
            if (weight == value).any():
                here = table.part(weight == value)
                found.append(Coded((here.outputs[0] if value > 0 else -here.outputs[0],), here.codes, here.rows))
        other = np.abs(weight) != 1.0
        if other.any():
            here, slot = table.part(other), Slot(len(table.codes), "known")
            codes = np.concatenate([here.codes, KNOWN + self._cells(weight[other])[None, :]])
            found.append(Coded((slot * here.outputs[0],), codes, here.rows))
        return found

    def _terms(self, all_terms: _Term, cancels: Callable[..., np.ndarray]) -> list[Coded]:
        rows, codes, symbols, factors = all_terms.rows, all_terms.codes, all_terms.symbols, all_terms.factors
        by = np.lexsort((symbols, codes, rows))
        rows, codes, symbols, factors = rows[by], codes[by], symbols[by], factors[by]
        starts = np.flatnonzero(np.r_[True, (np.diff(rows) != 0) | (np.diff(codes) != 0) | (np.diff(symbols) != 0)])[: len(rows)]
        total, largest = np.add.reduceat(factors, starts), np.maximum.reduceat(np.abs(factors), starts)
        rows, codes, symbols = rows[starts], codes[starts], symbols[starts]
        known = codes >= KNOWN
        order, unknown = np.divmod(np.where(known, 0, codes), self.size)
        keep = (np.abs(total) > self.rounding * largest) & (codes != KNOWN + ZERO) & (known | ~cancels(rows, unknown, order))
        length = np.array([len(cells) for cells in self.symbols.cells])[symbols]
        found: list[Coded] = []
        for slope in (False, True):
            for cells in np.unique(length[keep]).tolist():
                here = keep & ((order == 1) == slope) & (length == cells)
                table = _Term(rows[here], codes[here], symbols[here], total[here])
                found += self._linear(table, cells, "derivative" if slope else "variable")
        return found

    def _linear(self, terms: _Term, cells: int, kind: str) -> list[Coded]:
        """Σ factor · symbol · unknown, of symbols with so many cells: signs where the factors are ±1, else known cells."""
        found, unit = [], np.abs(terms.factors) == 1.0
        known = [self.symbols.cells[s] for s in terms.symbols.tolist()]
        factors = KNOWN + np.array(known, dtype=np.int64).reshape(len(known), cells).T
        product: Expression = Slot(cells, kind)
        for k in range(cells):
            product = Slot(k, "known") * product
        if unit.any():
            signed = np.where(terms.factors[unit] < 0, ~terms.codes[unit], terms.codes[unit])
            found.append(Coded((product,), np.vstack([factors[:, unit], signed]), terms.rows[unit][None, :]))
        if not unit.all():
            number = KNOWN + self._cells(terms.factors[~unit])
            table = np.vstack([factors[:, ~unit], terms.codes[~unit], number])
            found.append(Coded((Slot(cells + 1, "known") * product,), table, terms.rows[~unit][None, :]))
        return found

    def _cells(self, values: np.ndarray) -> np.ndarray:
        """Known cells that hold these values."""
        distinct, which = np.unique(values, return_inverse=True)
        first = self.literals.first + len(self.literals.values)
        self.literals = Literals(self.literals.first, np.append(self.literals.values, distinct))
        return first + which.reshape(-1)


def known_cells(tables: list[Coded]) -> np.ndarray:
    """The known cells that tables read."""
    codes = [plain(table.codes).ravel() for table in tables]
    every = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *codes]))
    return every[every >= KNOWN] - KNOWN


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """Terms factor · symbol · (what a code stands for), each in a row."""

    rows: np.ndarray
    codes: np.ndarray
    symbols: np.ndarray
    factors: np.ndarray

    @classmethod
    def joined(cls, terms: list[_Term]) -> _Term:
        empty = np.zeros(0, dtype=np.int64)
        all_terms = [cls(empty, empty, empty, np.zeros(0)), *terms]
        return cls(*(np.concatenate([getattr(t, name) for t in all_terms]) for name in ("rows", "codes", "symbols", "factors")))


class _Joined:
    """For every row the combinations that it is part of."""

    def __init__(self, combinations: Combinations, order: np.ndarray) -> None:
        by = np.argsort(combinations.row, kind="stable")
        self.row, self.weight, self.order = combinations.row[by], combinations.weight[by], order[by]
        self.target = combinations.pivot[combinations.number[by]]

    def of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(position in `rows`, entry here) of every pair."""
        first = np.searchsorted(self.row, rows)
        count = np.searchsorted(self.row, rows, side="right") - first
        return np.repeat(np.arange(len(rows)), count), ranges(first, count)
