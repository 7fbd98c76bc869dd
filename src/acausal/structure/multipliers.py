"""Multipliers: which rows of a sparse matrix depend on each other.

Given entries (row, column, value) of a matrix A, wanted is a basis of { u : uᵀ A = 0 }: the combinations of rows in which
everything cancels. Nothing structural shows them: a loop of three voltages `a - b`, `b - c`, `c - a` has an entry for every row
and every column, and still its rows sum to zero.

Each column says Σ a_k u_k = 0 about the multipliers u. A column with one entry says that u is zero; one with two entries ±a says
that two multipliers are equal up to their sign. So most columns of a plant, where rows are differences and sums, are signed unions
(`unions.py`), and what they leave is united again until nothing changes: linear in the entries. Only what then still holds three
multipliers or more is eliminated: exactly where the entries are integers, else by singular values, part by part.

Numbers that somebody chose (values of parameters) may be far apart in size: a leak of 1e-12 beside a conductance of 1 is there. Of
these (`chosen`) only what cancels to rounding is found, column by column, however rows and columns are scaled.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..records import dataclass
from .unions import components, signed_components

_ROUNDS = 60  # of unions, each over all entries, before elimination takes what is left
_ROUNDING = 1e-13  # a sum this small beside its terms is zero

_LARGEST_INTEGER = 1e6
_SMALL_PART = 30  # classes of a part that is solved at once
_LARGEST_PART = 1500  # classes of a part that is looked at densely, when its entries are not integers
_DEPENDENT = 1e-10  # relative to the largest singular value
_CANCELLED = 1e-13  # of numbers that somebody chose: what is left of a column, beside its terms
_LARGEST_CHOSEN = 500  # classes of a part that is looked at densely, when its entries were chosen
_REFINED = 1e-3  # of a weight: by no more is it corrected
_SURELY = 1e-10  # reciprocal condition of a part that is regular, whatever its estimate is worth

Number = Fraction | float
Vector = dict[int, Number]


@dataclass(frozen=True, slots=True, eq=False)
class Combinations:
    """Combination `number[k]` takes row `row[k]` times `weight[k]`; numbers ascend, and `pivot[number]` is a row of its own.

    The pivot of a combination stands in no later one, so that rows can be replaced by combinations one after the other without
    losing anything; among the rows of a combination it is of the lowest `order`.
    """

    number: NDArray[np.int64]
    row: NDArray[np.int64]
    weight: NDArray[np.float64]
    pivot: NDArray[np.int64]

    @property
    def count(self) -> int:
        return len(self.pivot)


def dependent_rows(row: ArrayLike, column: ArrayLike, value: ArrayLike, order: ArrayLike, chosen: bool = False) -> Combinations:
    """A basis of the combinations that cancel; `order[r]` says which rows make better pivots (low ones). `chosen`: by numbers that
    somebody chose.

    >>> found = dependent_rows([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 0], [1, -1, 1, -1, 1, -1], [0, 0, 0])
    >>> found.row.tolist(), found.weight.tolist(), found.pivot.tolist()
    ([0, 1, 2], [1.0, 1.0, 1.0], [0])
    """
    rows, columns = np.asarray(row, dtype=np.int64), np.asarray(column, dtype=np.int64)
    values, orders = np.asarray(value, dtype=float), np.asarray(order, dtype=np.int64)
    if chosen:
        return _of_chosen(rows, columns, values, orders)
    united = _United(rows, columns, values, len(orders))
    return _joined(united.simple(orders), _eliminated(united, orders, False))


class _United:
    """Multipliers united as far as columns of one or two allow; `entry_*` are the columns that are left."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, count: int) -> None:
        self.count, zero = count, count
        first, second, signs = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for _ in range(_ROUNDS):
            found = signed_components(count + 1, np.concatenate(first), np.concatenate(second), np.concatenate(signs))
            dead = found.conflict | (found.representative == found.representative[zero])
            keep = ~dead[rows]
            c, k, v = _summed(columns[keep], found.representative[rows[keep]], values[keep] * found.sign[rows[keep]])
            a, b, s = _unions(c, k, v, zero)
            if not len(a):
                break
            first.append(a)
            second.append(b)
            signs.append(s)
        self.representative, self.sign, self.dead = found.representative[:count], found.sign[:count], dead[:count]
        self.entry_column, self.entry_class, self.entry_value = c, k, v

    def simple(self, order: np.ndarray) -> Combinations:
        """Classes that no column restrains any more: their members, each with its sign, cancel."""
        bound = np.zeros(self.count, dtype=bool)
        bound[self.entry_class] = True
        members = np.flatnonzero(~self.dead & ~bound[self.representative])
        number_of = np.full(self.count, -1, dtype=np.int64)
        leads = np.unique(self.representative[members])
        number_of[leads] = np.arange(len(leads))
        number = number_of[self.representative[members]]
        by = np.lexsort((order[members], number))
        first = np.searchsorted(number[by], np.arange(len(leads)))
        return Combinations(number[by], members[by], self.sign[members[by]].astype(float), members[by][first])


def _summed(column: np.ndarray, kind: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries at one place added up; those that cancel are left out."""
    by = np.lexsort((kind, column))
    column, kind, value = column[by], kind[by], value[by]
    starts = np.flatnonzero(np.r_[True, (np.diff(column) != 0) | (np.diff(kind) != 0)])[: len(column)]
    total, size = np.add.reduceat(value, starts), np.add.reduceat(np.abs(value), starts)
    keep = np.abs(total) > _ROUNDING * size
    return column[starts][keep], kind[starts][keep], total[keep]


def _unions(column: np.ndarray, kind: np.ndarray, value: np.ndarray, zero: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What columns with one entry, or with two of the same size, say about multipliers."""
    starts = np.flatnonzero(np.r_[True, np.diff(column) != 0])[: len(column)]
    length = np.diff(np.append(starts, len(column)))
    one, two = starts[length == 1], starts[length == 2]
    two = two[np.abs(value[two]) == np.abs(value[two + 1])]
    sign = -np.sign(value[two] * value[two + 1])
    a = np.concatenate([kind[one], kind[two]])
    b = np.concatenate([np.full(len(one), zero), kind[two + 1]])
    return a, b, np.concatenate([np.ones(len(one)), sign]).astype(np.int64)


def _of_chosen(row: np.ndarray, column: np.ndarray, value: np.ndarray, order: np.ndarray) -> Combinations:
    """The same of numbers that somebody chose: rows and columns are brought to one size first."""
    keep = value != 0
    row, column, value = row[keep], column[keep], value[keep]
    sizes = _sizes(row, column, value, len(order))
    scaled = value / (sizes[0][row] * sizes[1][column])
    if len(np.unique(row)) == len(order) and _surely_independent(row, column, scaled):
        return _as_arrays([], [])
    if _are_whole(value):  # exactly as they are: what is left of rounding would hide what follows from these combinations
        sizes, scaled = (np.ones_like(sizes[0]), sizes[1]), value
    united = _United(row, column, scaled, len(order))
    found = _joined(united.simple(order), _eliminated(united, order, True))
    if not found.count:
        return found
    weight = found.weight / sizes[0][found.row]
    largest = np.zeros(found.count)
    np.maximum.at(largest, found.number, np.abs(weight))
    weight /= largest[found.number]
    found = Combinations(found.number, found.row, weight, found.pivot)
    return _cancelling(_refined(found, row, column, value), row, column, value)


def _refined(found: Combinations, row: np.ndarray, column: np.ndarray, value: np.ndarray) -> Combinations:
    """The same combinations, each as exact in its small weights as in its large ones: a correction of every weight, in units of its
    own, with all columns of one size."""
    weight, by_row = found.weight.copy(), np.argsort(row, kind="stable")
    first = np.searchsorted(row[by_row], np.arange(2 + int(max(row.max(initial=0), found.row.max()))))
    members = np.argsort(found.number, kind="stable")
    for own in np.split(members, np.flatnonzero(np.diff(found.number[members])) + 1):
        if len(own) > _LARGEST_CHOSEN:
            continue
        entries = [by_row[first[r] : first[r + 1]] for r in found.row[own].tolist()]
        of, here = np.repeat(np.arange(len(own)), [len(e) for e in entries]), np.concatenate(entries)
        columns, which = np.unique(column[here], return_inverse=True)
        terms = np.zeros((len(columns), len(own)))
        np.add.at(terms, (which, of), value[here] * weight[own[of]])
        size = np.abs(terms).sum(axis=1)
        terms = terms[size > 0] / size[size > 0, None]
        left = terms.sum(axis=1)
        if np.abs(left).max(initial=0.0) <= _CANCELLED:
            continue
        change = np.linalg.lstsq(terms, left)[0]
        if np.abs(change).max() < _REFINED:
            weight[own] *= 1.0 - change
    return Combinations(found.number, found.row, weight, found.pivot)


def _sizes(row: np.ndarray, column: np.ndarray, value: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Powers of two by which rows and columns are divided, so that their entries come near 1 without being rounded (Ruiz 2001)."""
    sizes = np.ones(rows), np.ones(1 + int(column.max(initial=-1)))
    for _ in range(8):
        scaled = np.abs(value) / (sizes[0][row] * sizes[1][column])
        for each, size in ((row, sizes[0]), (column, sizes[1])):
            largest = np.zeros(len(size))
            np.maximum.at(largest, each, scaled)
            size *= np.exp2(np.round(np.log2(np.where(largest > 0, largest, 1.0)) / 2))
    return sizes


def _cancelling(found: Combinations, row: np.ndarray, column: np.ndarray, value: np.ndarray) -> Combinations:
    """Those combinations in which every column cancels but for rounding."""
    from scipy.sparse import coo_array

    shape = found.count, int(max(found.row.max(), row.max(initial=0))) + 1
    weights = coo_array((found.weight, (found.number, found.row)), shape=shape).tocsr()
    matrix = coo_array((value, (row, column)), shape=(shape[1], int(column.max(initial=0)) + 1)).tocsr()
    terms = abs(weights) @ coo_array((np.abs(value), (row, column)), shape=matrix.shape).tocsr()
    there = (abs(weights @ matrix) - _CANCELLED * terms).tocoo()
    good = np.ones(found.count, dtype=bool)
    good[there.row[there.data > 0]] = False
    keep = good[found.number]
    return Combinations((np.cumsum(good) - 1)[found.number[keep]], found.row[keep], found.weight[keep], found.pivot[good])


def _eliminated(united: _United, order: np.ndarray, chosen: bool) -> Combinations:
    """What the columns left say about the classes in them, solved part by part."""
    columns, which = np.unique(united.entry_column, return_inverse=True)
    if not len(columns):
        return _as_arrays([], [])
    kinds, kind = np.unique(united.entry_class, return_inverse=True)
    label = components(len(columns) + len(kinds), which, len(columns) + kind)
    part_of_entry = label[which]
    by = np.argsort(part_of_entry, kind="stable")
    found = []
    for entries in np.split(by, np.flatnonzero(np.diff(part_of_entry[by])) + 1):
        found += _part(which[entries], kinds[kind[entries]], united.entry_value[entries], chosen)
    members = np.argsort(united.representative, kind="stable")
    ordered = united.representative[members]
    expanded = []
    for vector in found:
        whole: Vector = {}
        for lead, factor in vector.items():
            alike = members[np.searchsorted(ordered, lead) : np.searchsorted(ordered, lead, side="right")]
            whole |= {m: factor * s for m, s in zip(alike.tolist(), united.sign[alike].tolist(), strict=True)}
        expanded.append(whole)
    return _as_arrays(*_echelon(expanded, order))


def _part(column: np.ndarray, kind: np.ndarray, value: np.ndarray, chosen: bool) -> list[Vector]:
    """Combinations of the classes of one part: in fractions if its entries are integers, else in floating point."""
    kinds, row = np.unique(kind, return_inverse=True)
    number = np.unique(column, return_inverse=True)[1]
    by_row, by_column = _sizes(row, number, value, len(kinds))  # equations and unknowns have units of their own
    scaled = value / (by_row[row] * by_column[number])
    if not chosen and len(kinds) > _SMALL_PART and _surely_independent(row, number, scaled):
        return []
    if _are_whole(value):
        equations: dict[int, Vector] = {}
        for c, k, v in zip(column.tolist(), kind.tolist(), value.tolist(), strict=True):
            equations.setdefault(c, {})[k] = Fraction(int(v))
        return null_vectors(list(equations.values()))
    if len(kinds) > (_LARGEST_CHOSEN if chosen else _LARGEST_PART):
        return []
    matrix = np.zeros((len(kinds), len(by_column)))
    matrix[row, number] = scaled
    found = _null_vectors_of(matrix, kinds, _CANCELLED * len(matrix) if chosen else _DEPENDENT)
    size = dict(zip(kinds.tolist(), by_row.tolist(), strict=True))
    return [{k: v / size[k] for k, v in vector.items()} for vector in found]


def _are_whole(value: np.ndarray) -> bool:
    return bool((value == np.round(value)).all() and np.abs(value).max(initial=0.0) < _LARGEST_INTEGER)


def _null_vectors_of(matrix: np.ndarray, kinds: np.ndarray, smallest: float) -> list[Vector]:
    """Null vectors of numbers of one size."""
    left, singular, _ = np.linalg.svd(matrix)
    rank = int((singular > smallest * max(singular[0], np.finfo(float).tiny)).sum())
    vectors = left[:, rank:].T
    return [{int(k): float(v) for k, v in zip(kinds, u, strict=True) if abs(v) > _DEPENDENT * np.abs(u).max()} for u in vectors]


def _surely_independent(row: np.ndarray, column: np.ndarray, value: np.ndarray) -> bool:
    """Whether rows are far from depending on each other: what nearly all values give, in linear time where a plant is sparse."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import LinearOperator, onenormest, splu

    rows, row = np.unique(row, return_inverse=True)
    columns, column = np.unique(column, return_inverse=True)
    count = len(rows)
    if not count or count > len(columns):
        return False
    matrix = coo_array((value, (row, column)), shape=(count, len(columns))).tocsc()
    square = matrix if count == len(columns) else (matrix @ matrix.T).tocsc()
    try:
        factor = splu(square)
    except RuntimeError:  # exactly singular
        return False
    back = LinearOperator((count, count), matvec=factor.solve, rmatvec=lambda b: factor.solve(b, trans="T"), dtype=float)
    return bool(onenormest(back) * abs(square).sum(axis=0).max() < 1.0 / _SURELY)


def null_vectors(equations: list[Vector]) -> list[Vector]:
    """A basis of the solutions of homogeneous equations Σ coefficient · x = 0, over the unknowns that occur in them.

    >>> null_vectors([{0: Fraction(1), 1: Fraction(2), 2: Fraction(1)}, {0: Fraction(1), 1: Fraction(-1)}])
    [{2: Fraction(-3, 1), 1: Fraction(1, 1), 0: Fraction(1, 1)}]
    """
    solved: dict[int, Vector] = {}  # x = Σ coefficient · others
    used: dict[int, set[int]] = {}  # in whose definitions an unknown stands
    for equation in sorted(equations, key=len):
        reduced = _substituted(equation, solved)
        if not reduced:
            continue
        pivot = min(reduced, key=lambda k: (len(used.get(k, ())), k))
        factor = reduced.pop(pivot)
        definition = {k: -v / factor for k, v in reduced.items()}
        for other in used.pop(pivot, set()):
            solved[other] = _substituted(solved[other], {pivot: definition})
            for k in solved[other]:
                used.setdefault(k, set()).add(other)
        solved[pivot] = definition
        for k in definition:
            used.setdefault(k, set()).add(pivot)
    free = sorted({k for e in equations for k in e} - solved.keys())
    vectors: dict[int, Vector] = {k: {k: Fraction(1)} for k in free}
    for unknown, definition in solved.items():
        for k, v in definition.items():
            vectors[k][unknown] = v
    return [dict(sorted(v.items(), reverse=True)) for v in vectors.values()]


def _substituted(equation: Vector, solved: dict[int, Vector]) -> Vector:
    total: Vector = {}
    for k, v in equation.items():
        for other, factor in solved.get(k, {k: Fraction(1)}).items():
            total[other] = total.get(other, Fraction(0)) + v * factor
    return {k: v for k, v in total.items() if v}


def _pivot(vector: Vector, order: np.ndarray) -> int:
    """Of the rows of the lowest order the one with the largest weight; of several the first."""
    lowest = min(int(order[k]) for k in vector)
    rows = [k for k in vector if order[k] == lowest]
    return min(rows, key=lambda k: (-abs(float(vector[k])) if isinstance(vector[k], float) else 0.0, k))


def _echelon(vectors: list[Vector], order: np.ndarray) -> tuple[list[Vector], list[int]]:
    """The same span; the pivot of each vector is a row of its lowest order, and stands in no later vector."""
    done: list[Vector] = []
    pivots: list[int] = []
    left = [dict(v) for v in vectors]
    while left:
        lowest = [_pivot(v, order) for v in left]
        at = min(range(len(left)), key=lambda i: (int(order[lowest[i]]), lowest[i]))
        vector, pivot = left.pop(at), lowest[at]
        done.append(vector)
        pivots.append(pivot)
        left = [_without(other, vector, pivot) if pivot in other else other for other in left]
        left = [v for v in left if v]
    return done, pivots


def _without(other: Vector, vector: Vector, pivot: int) -> Vector:
    factor = other[pivot] / vector[pivot]
    changed: Vector = {}
    for k in (other.keys() | vector.keys()) - {pivot}:
        before, taken = other.get(k, 0), factor * vector.get(k, 0)
        left = before - taken
        if abs(left) > _DEPENDENT * (abs(float(before)) + abs(float(taken))) if isinstance(left, float) else left:
            changed[k] = left
    return changed


def _as_arrays(vectors: list[Vector], pivots: list[int]) -> Combinations:
    number = [n for n, v in enumerate(vectors) for _ in v]
    row = [k for v in vectors for k in v]
    weight = [w for v in vectors for w in _integers(list(v.values()))]
    as_ints = np.array(number, dtype=np.int64), np.array(row, dtype=np.int64)
    return Combinations(*as_ints, np.array(weight, dtype=float), np.array(pivots, dtype=np.int64))


def _integers(values: list[Number]) -> list[float]:
    """The same ratios, in the smallest whole numbers; or such that the largest is one."""
    if any(isinstance(v, float) for v in values):
        largest = max(abs(float(v)) for v in values)
        return [float(v) / largest for v in values]
    exact = [Fraction(v) for v in values]
    denominator = lcm(*(v.denominator for v in exact))
    whole = [int(v * denominator) for v in exact]
    common = gcd(*whole)
    return [float(Fraction(w, common)) for w in whole]


def _joined(a: Combinations, b: Combinations) -> Combinations:
    number = np.concatenate([a.number, a.count + b.number])
    return Combinations(number, np.r_[a.row, b.row], np.r_[a.weight, b.weight], np.r_[a.pivot, b.pivot])
