"""Incidences to test with, and both implementations of each algorithm."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest
from hypothesis import strategies as st

from acausal.structure import Incidence, native

ENGINES = [
    pytest.param(
        "native", marks=pytest.mark.skipif(native.find("graph_match") is None, reason="the native extension is not built")
    ),
    "portable",
]


def using(engine: str) -> AbstractContextManager[None]:
    return native.portable() if engine == "portable" else nullcontext()


@st.composite
def incidences(draw: st.DrawFn, most: int = 8, square: bool = False) -> Incidence:
    """Small and of any density, so that every part of Dulmage and Mendelsohn occurs."""
    m = draw(st.integers(0, most))
    n = m if square else draw(st.integers(0, most))
    pairs = draw(st.lists(st.tuples(st.integers(0, m - 1), st.integers(0, n - 1)), max_size=2 * (m + n))) if m and n else []
    return Incidence.from_pairs([e for e, _ in pairs], [u for _, u in pairs], m, n)


@st.composite
def regular_incidences(draw: st.DrawFn, most: int = 8) -> Incidence:
    """Square, with a perfect matching hidden in them."""
    n = draw(st.integers(0, most))
    hidden = draw(st.permutations(range(n)))
    more = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=2 * n)) if n else []
    return Incidence.from_pairs([*range(n), *(e for e, _ in more)], [*hidden, *(u for _, u in more)], n, n)


def dense(incidence: Incidence) -> np.ndarray:
    found = np.zeros(incidence.shape, dtype=bool)
    found[incidence.owners, incidence.indices] = True
    return found


def ladder(n: int) -> Incidence:
    """Tridiagonal."""
    i = np.arange(n)
    return Incidence.from_pairs(np.concatenate((i, i[1:], i[:-1])), np.concatenate((i, i[:-1], i[1:])), n, n)


def misleading_chain(n: int) -> Incidence:
    """Equation k holds unknowns k, k+1 and k+2, the last two only 0 and 1.

    Taking the first free unknown of each is wrong all along.
    """
    k = np.arange(n - 2)
    equations = np.concatenate((k, k, k, [n - 2, n - 2, n - 1, n - 1]))
    return Incidence.from_pairs(equations, np.concatenate((k, k + 1, k + 2, [0, 1, 0, 1])), n, n)


def network(side: int, seed: int | None = None) -> Incidence:
    """Nodes of a square grid with flow sums, edges with flow laws (a flow and two potentials); shuffled when a seed is given.

    A node's own potential does not occur in its sum, so the diagonal is no matching.
    """
    k = np.arange(side * side)
    right, up = k[k % side < side - 1], k[k < side * (side - 1)]
    a, b = np.concatenate((right, up)), np.concatenate((right + 1, up + side))
    flow = side * side + np.arange(len(a))
    n = side * side + len(a)
    equations, unknowns = np.concatenate((a, b, flow, flow, flow)), np.concatenate((flow, flow, a, b, flow))
    if seed is not None:
        random = np.random.default_rng(seed)
        equations, unknowns = random.permutation(n)[equations], random.permutation(n)[unknowns]
    return Incidence.from_pairs(equations, unknowns, n, n)
