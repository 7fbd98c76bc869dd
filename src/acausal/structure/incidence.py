"""Which unknowns occur in which equations.

An incidence is a bipartite graph (E, U, A): equations E = 0 … m-1, unknowns U = 0 … n-1, and A ⊆ E × U with (e, u) in A when
unknown u occurs in equation e. It is kept as compressed rows: the unknowns of e are `indices[indptr[e] : indptr[e + 1]]`,
ascending and distinct. What an equation says, and what an unknown is called, is nobody's business here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..records import dataclass
from . import native

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int32]  # of equations, of unknowns, of nodes; -1: none
    Pointers = NDArray[np.int64]
    Mask = NDArray[np.bool_]
else:  # importing `numpy.typing` takes longer than many a model
    Numbers = Pointers = Mask = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Incidence:
    """Equations × unknowns as compressed rows.

    >>> a = Incidence.from_pairs([0, 1, 1, 1], [0, 1, 0, 1], n_equations=2, n_unknowns=3)
    >>> a.shape, a.unknowns_of(0).tolist(), a.unknowns_of(1).tolist()
    ((2, 3), [0], [0, 1])
    """

    indptr: Pointers
    indices: Numbers
    n_unknowns: int

    @staticmethod
    def from_pairs(equations: ArrayLike, unknowns: ArrayLike, n_equations: int, n_unknowns: int) -> Incidence:
        """From pairs (equation, unknown) in any order; a pair may come more than once."""
        return Incidence.with_positions(equations, unknowns, n_equations, n_unknowns)[0]

    @staticmethod
    def with_positions(
        equations: ArrayLike, unknowns: ArrayLike, n_equations: int, n_unknowns: int
    ) -> tuple[Incidence, NDArray[np.int64]]:
        """The same, and for every pair its place in `indices`, so that data given pair by pair can follow.

        >>> a, places = Incidence.with_positions([1, 0, 1], [2, 0, 2], 2, 3)
        >>> a.indices.tolist(), places.tolist()
        ([0, 2], [1, 0, 1])
        """
        e, u = numbers_below(equations, n_equations, "equation"), numbers_below(unknowns, n_unknowns, "unknown")
        if len(e) != len(u):
            raise ValueError(f"{len(e)} equation numbers were paired with {len(u)} unknown numbers")
        compress = native.find("graph_compress") or _compress
        indptr, indices, places = compress(e, u, n_equations, n_unknowns)
        return Incidence(indptr, indices, n_unknowns), places

    @staticmethod
    def from_rows(indptr: ArrayLike, indices: ArrayLike, n_unknowns: int) -> Incidence:
        """From compressed rows as they come, say from a sparsity pattern; sorted and made distinct where they are not."""
        pointers = np.ascontiguousarray(indptr, dtype=np.int64)
        columns = numbers_below(indices, n_unknowns, "unknown")
        if len(pointers) == 0 or pointers[0] != 0 or pointers[-1] != len(columns) or (np.diff(pointers) < 0).any():
            raise ValueError("`indptr` must rise from 0 to the length of `indices`")
        rows = np.repeat(np.arange(len(pointers) - 1, dtype=np.int32), np.diff(pointers))
        if ((columns[1:] <= columns[:-1]) & (rows[1:] == rows[:-1])).any():
            return Incidence.from_pairs(rows, columns, len(pointers) - 1, n_unknowns)
        return Incidence(pointers, columns, n_unknowns)

    @property
    def n_equations(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_equations, self.n_unknowns

    @property
    def size(self) -> int:
        """Number of occurrences."""
        return len(self.indices)

    @property
    def owners(self) -> Numbers:
        """The equation of every occurrence, in the order of `indices`."""
        return np.repeat(np.arange(self.n_equations, dtype=np.int32), np.diff(self.indptr))

    def unknowns_of(self, equation: int) -> Numbers:
        return self.indices[self.indptr[equation] : self.indptr[equation + 1]]

    def transpose(self) -> Incidence:
        """Unknowns × equations.

        >>> Incidence.from_pairs([0, 1, 1], [0, 0, 1], 2, 2).transpose().unknowns_of(0).tolist()
        [0, 1]
        """
        swap = native.find("graph_transpose") or _transpose
        indptr, indices = swap(self.indptr, self.indices, self.n_unknowns)
        return Incidence(indptr, indices, self.n_equations)

    def turned(self) -> tuple[Incidence, Numbers]:
        """The transpose, and for every occurrence its place there, so that data given for each can follow.

        >>> turned, places = Incidence.from_pairs([0, 0, 1], [0, 1, 0], 2, 2).turned()
        >>> turned.indices.tolist(), places.tolist()
        ([0, 1, 0], [0, 2, 1])
        """
        turn = native.find("graph_turn") or _turn
        indptr, indices, places = turn(self.indptr, self.indices, self.n_unknowns)
        return Incidence(indptr, indices, self.n_equations), places

    def keep(self, occurrences: Mask) -> Incidence:
        """The same equations and unknowns, with only the occurrences marked."""
        kept = np.concatenate(([0], np.cumsum(occurrences, dtype=np.int64)))
        return Incidence(kept[self.indptr], self.indices[occurrences], self.n_unknowns)

    def restrict(self, equations: Mask | None = None, unknowns: Mask | None = None) -> Restriction:
        """Only the equations and unknowns marked (None: all), numbered anew.

        >>> part = Incidence.from_pairs([0, 1, 1], [0, 0, 1], 2, 2).restrict(equations=np.array([False, True]))
        >>> part.incidence.shape, part.equations.tolist(), part.unknowns.tolist()
        ((1, 2), [1], [0, 1])
        """
        rows = np.ones(self.n_equations, dtype=bool) if equations is None else np.asarray(equations, dtype=bool)
        columns = np.ones(self.n_unknowns, dtype=bool) if unknowns is None else np.asarray(unknowns, dtype=bool)
        kept = np.repeat(rows, np.diff(self.indptr)) & columns[self.indices]
        thinned = self.keep(kept)
        lengths = np.diff(thinned.indptr)[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        renumbered = (np.cumsum(columns, dtype=np.int32) - np.int32(1))[thinned.indices]
        part = Incidence(indptr, renumbered, int(columns.sum()))
        return Restriction(part, np.flatnonzero(rows).astype(np.int32), np.flatnonzero(columns).astype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Restriction:
    """A part of an incidence, and the numbers its equations and unknowns have in the whole."""

    incidence: Incidence
    equations: Numbers
    unknowns: Numbers


def numbers_below(values: ArrayLike, limit: int, what: str) -> Numbers:
    """`values` as int32, all of them in 0 … limit-1: native code trusts that."""
    given = np.asarray(values)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise TypeError(f"{what} numbers must be integers, not {given.dtype}")
    if limit > np.iinfo(np.int32).max:
        raise OverflowError(f"{limit} {what}s cannot be numbered in 32 bits")
    if given.size and (given.min() < 0 or given.max() >= limit):
        raise IndexError(f"{what} numbers reach from {given.min()} to {given.max()}, but must lie in 0 … {limit - 1}")
    return np.ascontiguousarray(given, dtype=np.int32).reshape(-1)


def _compress(e: Numbers, u: Numbers, n_equations: int, n_unknowns: int) -> tuple[Pointers, Numbers, NDArray[np.int64]]:
    key = e.astype(np.int64) * max(n_unknowns, 1) + u
    distinct, places = np.unique(key, return_inverse=True)
    lengths = np.bincount(distinct // max(n_unknowns, 1), minlength=n_equations)
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return indptr, (distinct % max(n_unknowns, 1)).astype(np.int32), places.astype(np.int64).reshape(-1)


def _transpose(indptr: Pointers, indices: Numbers, n_unknowns: int) -> tuple[Pointers, Numbers]:
    return _turn(indptr, indices, n_unknowns)[:2]


def _turn(indptr: Pointers, indices: Numbers, n_unknowns: int) -> tuple[Pointers, Numbers, Numbers]:
    owners = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
    lengths = np.bincount(indices, minlength=n_unknowns)
    order = np.argsort(indices, kind="stable")
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))), owners[order], places
