"""Signed unions: which quantities are the same, up to a sign.

Given nodes 0 … n-1 and edges (i, j, s) with s = ±1, each saying x_i = s x_j. Wanted for every node k: the representative r(k),
the smallest node of its connected component; the sign σ(k) with x_k = σ(k) x_r(k) for every solution of the edges; and whether
the component holds a *conflict*, a cycle whose signs multiply to -1. There x = -x, so every member is zero (and σ = +1 says so).

Aliases and two-pin connections become edges (WinDali 6.1); the representatives are the unknowns that remain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import native
from .incidence import Mask, Numbers, numbers_below

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class SignedUnions(NamedTuple):
    """x[k] = sign[k] * x[representative[k]], and 0 where `conflict[k]`."""

    representative: Numbers
    sign: NDArray[np.int8]
    conflict: Mask


def signed_components(n: int, i: ArrayLike, j: ArrayLike, sign: ArrayLike) -> SignedUnions:
    """Unite x[i] = sign * x[j], edge by edge.

    >>> found = signed_components(5, [1, 2, 3], [0, 1, 4], [-1, -1, 1])
    >>> found.representative.tolist(), found.sign.tolist(), found.conflict.any()
    ([0, 0, 0, 3, 3], [1, -1, 1, 1, 1], np.False_)
    """
    a, b = _edges(n, i, j)
    s = np.ascontiguousarray(np.broadcast_to(np.asarray(sign), a.shape), dtype=np.int8)
    if not (np.abs(s) == 1).all():
        raise ValueError("the sign of a union is +1 or -1")
    unite = native.find("graph_signed_components") or _signed_components
    representative, signs, conflict = unite(n, a, b, s)
    return SignedUnions(representative, signs, conflict.view(bool))


def components(n: int, i: ArrayLike, j: ArrayLike) -> Numbers:
    """The connected component of every node in the undirected graph with edges (i, j), numbered 0, 1, … by first appearance.

    >>> components(4, [3], [1]).tolist()
    [0, 1, 2, 1]
    """
    label: Numbers = (native.find("graph_components") or _components)(n, *_edges(n, i, j))
    return label


def _edges(n: int, i: ArrayLike, j: ArrayLike) -> tuple[Numbers, Numbers]:
    a, b = numbers_below(i, n, "node"), numbers_below(j, n, "node")
    if len(a) != len(b):
        raise ValueError(f"{len(a)} first ends of edges were paired with {len(b)} second ends")
    return a, b


def _components(n: int, a: Numbers, b: Numbers) -> Numbers:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if n == 0:
        return np.zeros(0, dtype=np.int32)
    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n)).tocsr()
    count, label = connected_components(graph, directed=False)
    first = np.full(count, n, dtype=np.int64)
    np.minimum.at(first, label, np.arange(n))
    number = np.empty(count, dtype=np.int32)
    number[np.argsort(first)] = np.arange(count, dtype=np.int32)
    labels: Numbers = number[label]
    return labels


def _signed_components(n: int, a: Numbers, b: Numbers, sign: NDArray[np.int8]) -> SignedUnions:
    """On the double cover: node k stands for +x_k, node n + k for -x_k. A conflict joins the two."""
    turned = np.where(sign < 0, np.int32(n), np.int32(0))
    label = _components(2 * n, np.concatenate((a, a + np.int32(n))), np.concatenate((b + turned, b + np.int32(n) - turned)))
    plus, minus = label[:n], label[n:]
    first = np.full(2 * n, n, dtype=np.int32)  # the smallest node of a component shows itself on either sheet
    np.minimum.at(first, plus, np.arange(n, dtype=np.int32))
    np.minimum.at(first, minus, np.arange(n, dtype=np.int32))
    representative = first[plus]
    conflict = plus == minus
    same = (plus == plus[representative]) | conflict
    return SignedUnions(representative, np.where(same, 1, -1).astype(np.int8), conflict)
