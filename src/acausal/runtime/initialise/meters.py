"""Meters: integrators that nothing reads. They take no part in the search for a state of rest.

An energy meter `der(E) == Q` rests only where Q is zero, but nobody minds that it counts on. Let a run's structure say which row
computes which algebraic unknown or derivative, the states being given. A state that takes part in no derivative, directly or
through algebraic unknowns, is a meter; so is one that takes part in the derivatives of meters alone (a free body's speed, beside
its position). One that takes part in its own derivative is not: it comes to rest by itself.
"""

from __future__ import annotations

import numpy as np

from ...structure import Incidence, match
from .equations import Stack
from .types import Mask


def meters(stack: Stack, incidence: Incidence) -> Mask:
    """Which unknowns are meters; `incidence` is that of the stack, columns being values and then derivatives."""
    n, differential = stack.size, np.asarray(stack.problem.differential, dtype=bool)
    computed = np.concatenate([~differential, differential])
    own = incidence.keep((incidence.owners < stack.equations) & computed[incidence.indices])
    matching = match(own)
    found = np.zeros(n, dtype=bool)
    if (matching.unknown_of_equation[: stack.equations] < 0).any():
        return found
    reading = (incidence.owners < stack.equations) & (incidence.indices < n)
    reading &= differential[np.where(incidence.indices < n, incidence.indices, 0)]
    row, state = incidence.owners[reading], incidence.indices[reading]
    while True:
        rates = matching.equation_of_unknown[n + np.flatnonzero(differential & ~found)]
        behind = _behind(own, matching.equation_of_unknown, rates)
        needed = np.zeros(n, dtype=bool)
        needed[state[behind[row]]] = True
        more = differential & ~needed & ~found
        if not more.any():
            return found
        found |= more


def _behind(incidence: Incidence, equation_of: np.ndarray, rows: np.ndarray) -> Mask:
    """These rows, and those that compute what they depend on, and so on."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    m = incidence.n_equations
    user, source = incidence.owners, equation_of[incidence.indices]
    user, source = user[source >= 0], source[source >= 0]
    user, source = np.concatenate([user, np.full(len(rows), m)]), np.concatenate([source, rows])
    graph = coo_array((np.ones(len(user), dtype=np.int8), (user, source)), shape=(m + 1, m + 1)).tocsr()
    behind = np.zeros(m + 1, dtype=bool)
    behind[breadth_first_order(graph, m, return_predecessors=False)] = True
    return behind[:m]
