"""Pantelides: how often each equation must be differentiated to reach an index-1 system.

Let σ(e, v) be the highest order at which a derivative of variable v occurs in equation e (0: v itself; -∞: not at all). Wanted are
the smallest numbers c(e) ≥ 0 such that, with d(v) = max_e (σ(e, v) + c(e)), the graph of *active* occurrences

    G(c) = { (e, v) : σ(e, v) + c(e) = d(v) }

has a matching of all equations: the c(e)-th derivative of e then determines the d(v)-th derivative of a variable of its own. They
exist just when the occurrences of any order have such a matching, and they are the offsets of Pryce's Σ-method.

Pantelides (1988) takes unmatched equations one by one and differentiates what alternating paths reach from each. Here all are
taken at once: every equation of the over-determined part of G(c) is differentiated once, then the matching grows from where it was,
and so on. This never differentiates too often. Proof: let c ≤ c*, c* any solution, and let S be those equations of the
over-determined part with c = c*. An occurrence of S active in G(c*) is active in G(c), and its variable keeps d = d*; call these
variables T. All occurrences in the part that are active at a variable of T belong to S. The part's variables are all matched
within it, so T is matched into S; G(c*) matches S into T; hence M pairs S and T completely, no unmatched equation is in S, and no
alternating path enters S but through T, that is from S. So S is empty. Pairs of M stay active, as both ends are raised or
neither.

The cost is one matching when nothing is to be done, and for the rest one sweep over the arrays per round of differentiation, not
per equation: a thousand pendulums take as many sweeps as one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..records import dataclass
from .dulmage_mendelsohn import decompose
from .incidence import Incidence, Mask, Numbers
from .matching import Matching, match, reach

_FEW_ORDERS = 3  # for which a pass each is quicker than the largest of all at once


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """What to differentiate.

    `differentiations[e]`: how often equation e is. `orders[v]`: the highest derivative of v that then occurs.
    `matching`: which equation's last derivative determines which variable's highest.
    `singular`: equations that no differentiation makes regular, being too many for their variables whatever the order; if there
    are any, nothing is differentiated.
    """

    differentiations: Numbers
    orders: Numbers
    matching: Matching
    singular: Mask

    @property
    def regular(self) -> bool:
        return not self.singular.any()

    @property
    def freedoms(self) -> int:
        """Number of initial values that can be chosen (of a square, regular system)."""
        return int(self.orders.sum(dtype=np.int64) - self.differentiations.sum(dtype=np.int64))

    @property
    def index(self) -> int:
        """The structural index, as Pryce defines it: 0 for an implicit ODE, and at most 1 wherever nothing is differentiated.

        It can be 1 although something is: x' + 2 y' = f, x + y = g needs the second equation's derivative, and is then an ODE.
        """
        most = int(self.differentiations.max(initial=0))
        return most + bool((self.orders == 0).any())


def reduce_index_of_pairs(
    equations: ArrayLike, variables: ArrayLike, orders: ArrayLike, n_equations: int, n_variables: int
) -> Reduction:
    """Derivative `orders[k]` of variable `variables[k]` occurs in equation `equations[k]`; lower ones may be given or not.

    The pendulum x'' = x f, y'' = y f - g, x² + y² = 1, whose constraint is differentiated twice:

    >>> found = reduce_index_of_pairs([0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 2, 1, 1, 2, 0, 1], [0, 2, 0, 0, 2, 0, 0, 0], 3, 3)
    >>> found.differentiations.tolist(), found.orders.tolist(), found.index, found.freedoms
    ([0, 0, 2], [2, 2, 0], 3, 2)
    """
    incidence, places = Incidence.with_positions(equations, variables, n_equations, n_variables)
    sigma = np.zeros(incidence.size, dtype=np.int32)
    np.maximum.at(sigma, places, np.asarray(orders, dtype=np.int32))
    return reduce_index(incidence, sigma)


def reduce_index(incidence: Incidence, sigma: NDArray[np.int32]) -> Reduction:
    """The same, with `sigma[k]` the highest order at which occurrence k of the incidence appears.

    >>> reduce_index(Incidence.from_pairs([0], [0], 1, 1), np.array([1], dtype=np.int32)).index
    0
    """
    owners = incidence.owners
    c = np.zeros(incidence.n_equations, dtype=np.int32)
    d = _highest(incidence, sigma)
    active = incidence.keep(sigma == d[incidence.indices])
    matching = match(active)
    if len(matching.unmatched_equations):
        singular = decompose(incidence, match(incidence, start=matching)).over.equations
        if singular.any():
            return Reduction(c, d, matching, singular)
    while len(unmatched := matching.unmatched_equations):
        raised, _ = reach(active, matching, unmatched)
        c[raised] += 1
        shifted = sigma + c[owners]
        d = _highest(incidence, shifted)
        active = incidence.keep(shifted == d[incidence.indices])
        matching = match(active, start=matching)
    return Reduction(c, d, matching, np.zeros(incidence.n_equations, dtype=bool))


def _highest(incidence: Incidence, orders: NDArray[np.int32]) -> Numbers:
    """The largest of `orders` for every variable; 0 for one that occurs nowhere."""
    highest, most = np.zeros(incidence.n_unknowns, dtype=np.int32), int(orders.max(initial=0))
    if most > _FEW_ORDERS:
        np.maximum.at(highest, incidence.indices, orders)
        return highest
    for order in range(1, most + 1):  # what is written last stays
        highest[incidence.indices[orders == order]] = order
    return highest
