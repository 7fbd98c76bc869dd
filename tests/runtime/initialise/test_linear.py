"""Sparse factorisation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import random_array

from acausal.runtime.initialise import linear
from acausal.runtime.initialise.linear import SparseFactor, damped_least_squares


@pytest.fixture(params=["native", "scipy"])
def kind(request, monkeypatch) -> str:
    if request.param == "scipy":
        monkeypatch.setattr(linear, "_native", lambda *a: None)
    else:
        pytest.importorskip("acausal._core")
    return str(request.param)


def test_solves_as_numpy_does(kind: str) -> None:
    matrix = (random_array((40, 40), density=0.1, rng=np.random.default_rng(5)) + 3.0 * np.eye(40)).copy()
    from scipy.sparse import csc_array

    sparse = csc_array(matrix)
    right = np.arange(40.0)
    lu = SparseFactor(sparse.indptr, sparse.indices)
    assert lu.factor(sparse.data)
    np.testing.assert_allclose(lu.solve(right), np.linalg.solve(sparse.toarray(), right), rtol=1e-10)
    assert lu.factor(sparse.data.copy()) and lu.factorisations == 1
    assert lu.factor(2.0 * sparse.data) and lu.factorisations == 2
    np.testing.assert_allclose(lu.solve(right), np.linalg.solve(2.0 * sparse.toarray(), right), rtol=1e-10)


def test_singular_matrices_are_told(kind: str) -> None:
    dense = np.ones((2, 2))
    lu = SparseFactor(np.array([0, 2, 4]), np.array([0, 1, 0, 1]))
    assert not lu.factor(dense.ravel())
    assert lu.factor(np.array([1.0, 2.0, 3.0, 4.0]))


def test_least_squares_step_is_the_shortest_solution_of_a_singular_system() -> None:
    indptr, indices = np.array([0, 2, 4], np.int32), np.array([0, 1, 0, 1], np.int32)
    step = damped_least_squares(indptr, indices, np.ones(4), np.array([2.0, 2.0]), 1e-10, np.ones(2, bool))
    np.testing.assert_allclose(step, [1.0, 1.0], rtol=1e-6)
    held = damped_least_squares(indptr, indices, np.ones(4), np.array([2.0, 2.0]), 1e-10, np.array([True, False]))
    np.testing.assert_allclose(held, [2.0, 0.0], atol=1e-6)
