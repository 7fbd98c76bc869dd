"""Dulmage–Mendelsohn: where there are too many equations, where too few.

Let M be a maximum matching. The *over-determined* part is what alternating paths from unmatched equations reach: its unknowns are
all matched within it, and its equations contain no others, so it holds more equations than unknowns (Hall's violation). The
*under-determined* part is the mirror image, from unmatched unknowns: more unknowns than equations, and these unknowns occur
nowhere else. The rest is *square* and structurally regular. The three parts are the same for every maximum matching.
"""

from __future__ import annotations

import numpy as np

from ..records import dataclass
from .incidence import Incidence, Mask, Numbers
from .matching import Matching, match, reach
from .unions import components


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A set of equations and a set of unknowns, as masks."""

    equations: Mask
    unknowns: Mask

    @property
    def empty(self) -> bool:
        return not (self.equations.any() or self.unknowns.any())


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A connected piece of a part, by numbers (ascending)."""

    equations: Numbers
    unknowns: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """The three parts, and the matching they were found with."""

    over: Part
    square: Part
    under: Part
    matching: Matching

    @property
    def regular(self) -> bool:
        """Every equation determines one unknown, and every unknown is determined."""
        return self.over.empty and self.under.empty


def decompose(incidence: Incidence, matching: Matching | None = None) -> Decomposition:
    """The coarse decomposition. `matching`, if given, must be maximum.

    >>> found = decompose(Incidence.from_pairs([0, 1, 2, 2], [0, 0, 1, 2], 3, 3))
    >>> found.over.equations.tolist(), found.over.unknowns.tolist(), found.under.unknowns.tolist()
    ([True, True, False], [True, False, False], [False, True, True])
    """
    pairs = match(incidence) if matching is None else matching
    over = _over(incidence, pairs)
    under = Part(np.zeros(incidence.n_equations, dtype=bool), np.zeros(incidence.n_unknowns, dtype=bool))
    if len(pairs.unmatched_unknowns):
        mirrored = _over(incidence.transpose(), _mirror(pairs))
        under = Part(mirrored.unknowns, mirrored.equations)
    square = Part(~(over.equations | under.equations), ~(over.unknowns | under.unknowns))
    return Decomposition(over, square, under, pairs)


def pieces(incidence: Incidence, part: Part) -> list[Piece]:
    """The connected pieces of a part, by their first equation: each can be told, and mended, on its own.

    >>> a = Incidence.from_pairs([0, 1, 2, 3], [0, 0, 1, 1], 4, 2)
    >>> [(p.equations.tolist(), p.unknowns.tolist()) for p in pieces(a, decompose(a).over)]
    [([0, 1], [0]), ([2, 3], [1])]
    """
    inner = incidence.restrict(part.equations, part.unknowns)
    m, n = inner.incidence.shape
    label = components(m + n, inner.incidence.owners, m + inner.incidence.indices)
    count = int(label.max(initial=-1)) + 1
    equations = _split(inner.equations, label[:m], count)
    unknowns = _split(inner.unknowns, label[m:], count)
    return [Piece(e, u) for e, u in zip(equations, unknowns, strict=True)]


def conflict(incidence: Incidence, matching: Matching, equation: int) -> Piece:
    """The smallest set of equations that is over-determined on account of one unmatched equation.

    It has one equation more than unknowns, and taking away any one of its equations, not only the one given, mends it. `matching`
    must be maximum.

    >>> a = Incidence.from_pairs([0, 0, 1, 2, 2, 3, 4], [0, 1, 1, 0, 1, 2, 3], 5, 4)
    >>> pairs = match(a)
    >>> found = conflict(a, pairs, int(pairs.unmatched_equations[0]))
    >>> found.equations.tolist(), found.unknowns.tolist()
    ([0, 1, 2], [0, 1])
    """
    equations, unknowns = reach(incidence, matching, [equation])
    return Piece(np.flatnonzero(equations).astype(np.int32), np.flatnonzero(unknowns).astype(np.int32))


def freedom(incidence: Incidence, matching: Matching, unknown: int) -> Piece:
    """The unknowns any one of which, if it were given, would determine one unmatched unknown, and the equations between them.

    >>> a = Incidence.from_pairs([0, 0, 1, 1], [0, 1, 1, 2], 2, 4)
    >>> freedom(a, match(a), 3).unknowns.tolist()
    [3]
    """
    found = conflict(incidence.transpose(), _mirror(matching), unknown)
    return Piece(found.unknowns, found.equations)


def _mirror(matching: Matching) -> Matching:
    return Matching(matching.equation_of_unknown, matching.unknown_of_equation)


def _over(incidence: Incidence, matching: Matching) -> Part:
    unmatched = matching.unmatched_equations
    if not len(unmatched):
        return Part(np.zeros(incidence.n_equations, dtype=bool), np.zeros(incidence.n_unknowns, dtype=bool))
    return Part(*reach(incidence, matching, unmatched))


def _split(numbers: Numbers, label: Numbers, count: int) -> list[Numbers]:
    """`numbers` by label 0 … count-1."""
    order = np.argsort(label, kind="stable")
    return np.split(numbers[order], np.cumsum(np.bincount(label, minlength=count))[:-1]) if count else []
