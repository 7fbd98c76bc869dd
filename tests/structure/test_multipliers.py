"""Rows that depend on each other: every combination cancels, and there are as many as the rank leaves room for."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.structure.multipliers import dependent_rows


def check(matrix: np.ndarray, order: np.ndarray) -> None:
    rows, columns = np.nonzero(matrix)
    found = dependent_rows(rows, columns, matrix[rows, columns], order)
    rank = np.linalg.matrix_rank(matrix) if matrix.size else 0
    assert found.count == len(matrix) - rank
    weights = np.zeros((found.count, len(matrix)))
    weights[found.number, found.row] = found.weight
    np.testing.assert_allclose(weights @ matrix, 0.0, atol=1e-9 * max(1.0, np.abs(weights).max(initial=0.0)))
    if found.count:  # replacing the pivots by the combinations loses nothing
        assert len(set(found.pivot.tolist())) == found.count
        assert np.linalg.matrix_rank(weights[:, found.pivot]) == found.count
    for k in range(found.count):
        assert order[found.pivot[k]] == order[found.row[found.number == k]].min()


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_random_matrices_of_small_integers(height: int, width: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-2, 3, (height, rank)) @ rng.integers(-1, 2, (rank, width))
    check(matrix.astype(float), rng.integers(0, 3, height))


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 12), st.integers(1, 20), st.booleans(), st.integers(0, 2**32 - 1))
def test_incidence_matrices_of_graphs(nodes: int, edges: int, turned: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.zeros((edges, nodes))
    for k in range(edges):
        matrix[k, rng.integers(nodes)] += 1.0
        matrix[k, rng.integers(nodes)] -= 1.0
    matrix = matrix.T if turned else matrix
    check(matrix, rng.integers(0, 3, len(matrix)))


def test_decimal_literals_count_as_what_was_written() -> None:
    check(np.array([[0.45, -0.09, -0.36], [-0.09, 0.09, 0.0], [-0.36, 0.0, 0.36]]), np.zeros(3, dtype=int))


def test_a_long_ring_is_one_combination_and_takes_no_time() -> None:
    n = 200_000
    rows = np.repeat(np.arange(n), 2)
    columns = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1).ravel()
    found = dependent_rows(rows, columns, np.tile([1.0, -1.0], n), np.zeros(n, dtype=int))
    assert found.count == 1
    assert len(found.row) == n
