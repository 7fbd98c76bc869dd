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


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_random_matrices_of_numbers_that_were_chosen(height: int, width: int, rank: int, seed: int) -> None:
    """Whatever the scales of rows and columns are."""
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(0.5, 2.0, (height, rank)) @ rng.uniform(0.5, 2.0, (rank, width))
    scaled = 10.0 ** rng.integers(-6, 7, (height, 1)) * matrix * 10.0 ** rng.integers(-6, 7, width)
    rows, columns = np.nonzero(scaled)
    found = dependent_rows(rows, columns, scaled[rows, columns], np.zeros(height, dtype=np.int64), chosen=True)
    assert found.count == height - np.linalg.matrix_rank(matrix)
    weights = np.zeros((found.count, height))
    weights[found.number, found.row] = found.weight
    assert (np.abs(weights @ scaled) <= 1e-12 * (np.abs(weights) @ np.abs(scaled))).all()


def test_a_leak_beside_large_numbers_is_there() -> None:
    """Two nodes and a leak of 1e-12: a singular value alone would not tell it from nothing, what is left of the sum does."""
    for leak, count in ((1e-12, 0), (0.0, 1)):
        values = [1.0 + leak, -1.0, -1.0, 1.0]
        assert dependent_rows([0, 0, 1, 1], [0, 1, 0, 1], values, [0, 0], chosen=True).count == count


def test_units_of_equations_and_unknowns_do_not_matter() -> None:
    assert dependent_rows([0, 0, 1, 1], [0, 1, 0, 1], [2, 1e-11, 3, -2.5e-11], [0, 0]).count == 0
    found = dependent_rows([0, 0, 1, 1], [0, 1, 0, 1], [-1e5, 1e5, 2e-6, -2e-6], [0, 0])
    assert found.row.tolist() == [0, 1]
    E = np.array([[2.0, -2, 1], [2, 0, 1], [-4, 5, -2]]) * np.array([[0.02], [700.0], [1e-4]]) * np.array([0.1, 10.0, 0.1])
    rows, columns = np.nonzero(E)
    assert dependent_rows(rows, columns, E[rows, columns], [0, 0, 0], chosen=True).count == 1


def test_a_large_part_that_is_surely_regular() -> None:
    n = 26
    k = np.arange(n * n).reshape(n, n)
    pairs = [(k, k, 4.0), *((a, b, -1.0) for p, q in ((k[1:], k[:-1]), (k[:, 1:], k[:, :-1])) for a, b in ((p, q), (q, p)))]
    row, column = (np.concatenate([pair[j].ravel() for pair in pairs]) for j in (0, 1))
    value = np.concatenate([np.full(pair[0].size, pair[2]) for pair in pairs])
    assert dependent_rows(row, column, value, np.zeros(n * n, int)).count == 0
