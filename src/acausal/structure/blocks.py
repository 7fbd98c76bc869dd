"""Block lower triangular form: the order in which a matched system can be solved.

Let M be a matching and let equation e *depend* on equation f when the unknown matched with f occurs in e. The blocks are the
strongly connected components of that digraph. In an order in which every block comes after those it depends on, the incidence,
with equations and their partners permuted alike, is block lower triangular, has no zero on its diagonal, and no block can be split
further. For a perfect matching the blocks do not depend on which one is taken. Unmatched equations are left out; unmatched
unknowns count as given.

Natively Tarjan's algorithm, O(equations + size).
"""

from __future__ import annotations

import numpy as np

from ..records import dataclass
from . import native
from .incidence import Incidence, Numbers
from .matching import Matching, match


@dataclass(frozen=True, slots=True, eq=False)
class BlockForm:
    """Block k solves `equations[pointers[k]:pointers[k + 1]]` for `unknowns[…]` of the same places; partners stand side by side."""

    pointers: Numbers
    equations: Numbers
    unknowns: Numbers

    @property
    def count(self) -> int:
        return len(self.pointers) - 1

    @property
    def sizes(self) -> Numbers:
        return np.diff(self.pointers)

    @property
    def simultaneous(self) -> Numbers:
        """Sizes of the blocks of more than one equation, largest first: what is solved by iteration together."""
        sizes = self.sizes
        return np.sort(sizes[sizes > 1])[::-1]

    def block(self, k: int) -> tuple[Numbers, Numbers]:
        """Equations and unknowns of block k."""
        place = slice(self.pointers[k], self.pointers[k + 1])
        return self.equations[place], self.unknowns[place]

    def block_of_equation(self, n_equations: int) -> Numbers:
        """The block of every equation; -1 where it is in none."""
        found = np.full(n_equations, -1, dtype=np.int32)
        found[self.equations] = np.repeat(np.arange(self.count, dtype=np.int32), self.sizes)
        return found


def block_form(incidence: Incidence, matching: Matching | None = None) -> BlockForm:
    """Blocks in evaluation order; equations ascend within a block.

    >>> form = block_form(Incidence.from_pairs([0, 0, 1, 2, 2], [0, 1, 1, 0, 2], 3, 3))
    >>> form.equations.tolist(), form.unknowns.tolist(), form.sizes.tolist()
    ([1, 0, 2], [1, 0, 2], [1, 1, 1])
    """
    pairs = match(incidence) if matching is None else matching.fitting(incidence)
    found = native.find("graph_blocks")
    if found is None:
        pointers, order = _blocks(incidence, pairs)
    else:
        pointers, order = found(incidence.indptr, incidence.indices, pairs.unknown_of_equation, pairs.equation_of_unknown)
    return BlockForm(pointers, order, pairs.unknown_of_equation[order])


def _blocks(incidence: Incidence, matching: Matching) -> tuple[Numbers, Numbers]:
    """scipy numbers strong components as it completes them, dependencies first. It does not promise to, so that is checked."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    m = incidence.n_equations
    solved = matching.unknown_of_equation >= 0
    source, target = incidence.owners, matching.equation_of_unknown[incidence.indices]
    kept = (target >= 0) & solved[source]
    source, target = source[kept], target[kept]
    if m == 0:
        return np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.int32)
    graph = coo_array((np.ones(len(source), dtype=np.int8), (source, target)), shape=(m, m)).tocsr()
    _, label = connected_components(graph, directed=True, connection="strong")
    if (label[source] < label[target]).any():
        raise RuntimeError("scipy numbered strong components in an unexpected order; the native extension is needed")
    order = np.argsort(label, kind="stable").astype(np.int32)
    order = order[solved[order]]
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return np.append(starts, len(order)).astype(np.int32), order
