"""Maximum matching: which equation determines which unknown.

A matching of an incidence (E, U, A) is a set M ⊆ A in which no equation and no unknown occurs twice; it is maximum when no other
has more pairs. A square system is structurally regular when |M| = |E| = |U|. An *alternating path* leaves equations through any
occurrence and unknowns through M; M is maximum just when no alternating path joins an unmatched equation to an unmatched unknown
(Berge).

With ranks the matching is, besides being maximum, *greedy*: among the unknowns of rank ≤ r as many are matched as any matching
could, for every r. Both hold at once since an augmenting path never frees an unknown (the sets of unknowns that can be matched
together form a matroid).

Natively O(√n · size), and linear on what models look like: see `Matcher` in native/graph.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import native
from .incidence import Incidence, Mask, Numbers, numbers_below

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Matching(NamedTuple):
    """Partners by number; -1 where there is none."""

    unknown_of_equation: Numbers
    equation_of_unknown: Numbers

    def fitting(self, incidence: Incidence) -> Matching:
        """Itself, if it can be a matching of `incidence`: native code trusts that."""
        shape = len(self.unknown_of_equation), len(self.equation_of_unknown)
        if shape != incidence.shape:
            m, n = incidence.shape
            raise ValueError(f"a matching of {shape[0]} equations × {shape[1]} unknowns was given for an incidence of {m} × {n}")
        return self

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.unknown_of_equation >= 0))

    @property
    def unmatched_equations(self) -> Numbers:
        return np.flatnonzero(self.unknown_of_equation < 0).astype(np.int32)

    @property
    def unmatched_unknowns(self) -> Numbers:
        return np.flatnonzero(self.equation_of_unknown < 0).astype(np.int32)


def match(incidence: Incidence, *, last: ArrayLike | None = None, start: Matching | None = None) -> Matching:
    """A maximum matching.

    `last` marks unknowns to be matched only if needed; integers instead of a mask are ranks, the lowest matched first.
    `start` is a matching of `incidence` to grow from: the unknowns it matches stay matched, and the work is that of the rest.

    >>> a = Incidence.from_pairs([0, 0, 1], [0, 1, 0], 2, 2)
    >>> match(a).unknown_of_equation.tolist()
    [1, 0]
    >>> one = Incidence.from_pairs([0, 0], [0, 1], 1, 2)
    >>> match(one, last=[True, False]).unknown_of_equation.tolist()
    [1]
    """
    rank = None if last is None else _ranks(last, incidence.n_unknowns)
    begin = None if start is None else start.fitting(incidence).unknown_of_equation
    found = native.find("graph_match")
    if found is not None:
        of_equation, of_unknown, _ = found(incidence.indptr, incidence.indices, incidence.n_unknowns, rank, begin)
        return Matching(of_equation, of_unknown)
    return _match(incidence, rank, start)


def reach(incidence: Incidence, matching: Matching, equations: ArrayLike) -> tuple[Mask, Mask]:
    """Masks of the equations and unknowns on alternating paths from `equations`, these included.

    >>> a = Incidence.from_pairs([0, 1, 2, 2], [0, 0, 1, 0], 3, 2)
    >>> pairs = match(a)
    >>> [mask.tolist() for mask in reach(a, pairs, pairs.unmatched_equations)]
    [[True, True, False], [True, False]]
    """
    begin = numbers_below(equations, incidence.n_equations, "equation")
    of_unknown = matching.fitting(incidence).equation_of_unknown
    found = native.find("graph_reach")
    if found is None:
        return _reach(incidence, of_unknown, begin)
    rows, columns = found(incidence.indptr, incidence.indices, of_unknown, begin)
    return rows.view(bool), columns.view(bool)


def _ranks(last: ArrayLike, n_unknowns: int) -> Numbers:
    rank = np.ascontiguousarray(last, dtype=np.int32)
    if rank.shape != (n_unknowns,):
        raise ValueError(f"`last` has shape {rank.shape}; one entry per unknown is needed: ({n_unknowns},)")
    return rank


def _match(incidence: Incidence, rank: Numbers | None, start: Matching | None) -> Matching:
    """In plain Python: scipy's `maximum_bipartite_matching` cannot start from a matching, and was seen not to finish in 100 s on a
    shuffled five-point grid of 20 000 equations."""
    of_equation = [-1] * incidence.n_equations if start is None else start.unknown_of_equation.tolist()
    of_unknown = [-1] * incidence.n_unknowns if start is None else start.equation_of_unknown.tolist()
    if rank is None:
        _grow(incidence, of_equation, of_unknown)
    else:
        for limit in np.unique(rank):
            _grow(incidence.keep(rank[incidence.indices] <= limit), of_equation, of_unknown)
    return Matching(np.array(of_equation, dtype=np.int32), np.array(of_unknown, dtype=np.int32))


def _grow(incidence: Incidence, of_equation: list[int], of_unknown: list[int]) -> None:
    """Phases of disjoint depth-first searches (Pothen and Fan 1990), which read the rows forwards and backwards in turn: a search
    misled by the order of a row is not misled again in the next phase."""
    forwards = (incidence.indptr[:-1].tolist(), incidence.indptr[1:].tolist(), incidence.indices.tolist())
    mirrored = incidence.size - incidence.indptr
    backwards = (mirrored[1:].tolist(), mirrored[:-1].tolist(), incidence.indices[::-1].tolist())
    look = list(forwards[0])
    free = [e for e, u in enumerate(of_equation) if u < 0]
    found = True
    while free and found:
        search = _Search(*forwards, look, of_equation, of_unknown)
        found = sum(map(search.augment, free)) > 0
        free = [e for e in free if of_equation[e] < 0]
        forwards, backwards = backwards, forwards
        look = list(forwards[0])


class _Search:
    """One phase: no equation is visited twice."""

    __slots__ = ("first", "last", "look", "of_equation", "of_unknown", "seen", "unknowns")

    def __init__(
        self, first: list[int], last: list[int], unknowns: list[int], look: list[int], of_equation: list[int], of_unknown: list[int]
    ) -> None:
        self.first, self.last, self.unknowns, self.look = list(first), last, unknowns, look
        self.of_equation, self.of_unknown = of_equation, of_unknown
        self.seen = bytearray(len(of_equation))

    def augment(self, root: int) -> bool:
        """Find an augmenting path from `root`, equations first, and flip it."""
        of_unknown, unknowns, first, last, seen = self.of_unknown, self.unknowns, self.first, self.last, self.seen
        if seen[root]:
            return False
        seen[root] = 1
        path = [root]
        while path:
            e = path[-1]
            if (free := self.free_unknown(e)) >= 0:
                self.flip(path, free)
                return True
            for place in range(first[e], last[e]):
                owner = of_unknown[unknowns[place]]
                if not seen[owner]:
                    first[e] = place + 1
                    seen[owner] = 1
                    path.append(owner)
                    break
            else:
                path.pop()
        return False

    def free_unknown(self, e: int) -> int:
        """`look` only moves forward, as an unknown once matched stays matched."""
        unknowns, of_unknown = self.unknowns, self.of_unknown
        for place in range(self.look[e], self.last[e]):
            if of_unknown[unknowns[place]] < 0:
                self.look[e] = place
                return unknowns[place]
        self.look[e] = self.last[e]
        return -1

    def flip(self, path: list[int], unknown: int) -> None:
        for e in reversed(path):
            before = self.of_equation[e]
            self.of_equation[e] = unknown
            self.of_unknown[unknown] = e
            unknown = before


def _reach(incidence: Incidence, equation_of_unknown: Numbers, begin: Numbers) -> tuple[Mask, Mask]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    m = incidence.n_equations
    equations = np.zeros(m + 1, dtype=bool)
    steps = incidence.keep(equation_of_unknown[incidence.indices] >= 0)
    targets = np.concatenate((equation_of_unknown[steps.indices], begin))  # node m leads to all of `begin`
    indptr = np.append(steps.indptr, len(targets))
    graph = csr_array((np.ones(len(targets), dtype=np.int8), targets, indptr.astype(np.int32)), shape=(m + 1, m + 1))
    equations[breadth_first_order(graph, m, return_predecessors=False)] = True
    unknowns = np.zeros(incidence.n_unknowns, dtype=bool)
    unknowns[incidence.indices[equations[incidence.owners]]] = True
    return equations[:m], unknowns
