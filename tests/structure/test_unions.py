import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acausal.structure import components, native, signed_components

from .graphs import ENGINES, using


@st.composite
def signed_graphs(draw):
    n = draw(st.integers(0, 12))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node, st.sampled_from([1, -1])), max_size=16)) if n else []
    return n, np.array(edges, dtype=np.int32).reshape(-1, 3).T


def closure(n, i, j):
    """Which nodes are connected, by squaring the adjacency matrix until it stays the same."""
    reached = np.eye(n, dtype=int)
    reached[i, j] = reached[j, i] = 1
    for _ in range(5):
        reached = ((reached @ reached) > 0).astype(int)
    return reached.astype(bool)


@pytest.mark.parametrize("engine", ENGINES)
@given(graph=signed_graphs())
def test_every_edge_holds(engine, graph):
    n, (i, j, sign) = graph
    with using(engine):
        r, s, conflict = signed_components(n, i, j, sign)
    together = closure(n, i, j)
    assert r.tolist() == [int(np.flatnonzero(row)[0]) for row in together]
    assert (r[i] == r[j]).all()
    assert ((s[i] == sign * s[j]) | conflict[i]).all()
    assert (s[r] == 1).all()
    assert (conflict == conflict[r]).all()
    assert (r.dtype, s.dtype, conflict.dtype) == (np.int32, np.int8, np.bool_)


@pytest.mark.parametrize("engine", ENGINES)
@given(graph=signed_graphs())
def test_a_conflict_is_told_just_when_only_zero_solves_the_edges(engine, graph):
    n, (i, j, sign) = graph
    with using(engine):
        r, _, conflict = signed_components(n, i, j, sign)
    equations = np.zeros((len(i), n))
    np.add.at(equations, (np.arange(len(i)), i), 1.0)
    np.add.at(equations, (np.arange(len(i)), j), -sign.astype(float))
    solutions = n - (np.linalg.matrix_rank(equations) if len(i) else 0)
    assert solutions == np.count_nonzero((r == np.arange(n)) & ~conflict)


@pytest.mark.skipif(native.find("graph_components") is None, reason="the native extension is not built")
@given(graph=signed_graphs())
def test_both_implementations_agree(graph):
    n, (i, j, sign) = graph
    mine = (*signed_components(n, i, j, sign), components(n, i, j))
    with native.portable():
        others = (*signed_components(n, i, j, sign), components(n, i, j))
    assert all(np.array_equal(a, b) for a, b in zip(mine, others, strict=True))


@pytest.mark.parametrize("engine", ENGINES)
@given(graph=signed_graphs())
def test_components_are_numbered_by_first_appearance(engine, graph):
    n, (i, j, _) = graph
    with using(engine):
        label = components(n, i, j)
    assert ((label[:, None] == label[None, :]) == closure(n, i, j)).all()
    assert list(dict.fromkeys(label.tolist())) == list(range(label.max(initial=-1) + 1))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_long_chain_of_turning_signs(engine):
    n = 100_000
    k = np.random.default_rng(0).permutation(n - 1)
    with using(engine):
        found = signed_components(n, k, k + 1, -1)
    assert (found.representative == 0).all()
    assert (found.sign == np.where(np.arange(n) % 2, -1, 1)).all()
    assert not found.conflict.any()


def test_a_sign_is_one_or_minus_one():
    with pytest.raises(ValueError, match=r"\+1 or -1"):
        signed_components(2, [0], [1], [0])
