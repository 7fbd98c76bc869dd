"""State selection: the chosen block is nearly the best of all, and wishes are heard."""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acausal as ac
from acausal.families.selection import _alike, _pivots, _pivots_by_qr


def largest(matrix: np.ndarray) -> float:
    m, n = matrix.shape
    return max(abs(float(np.linalg.det(matrix[:, list(c)]))) for c in combinations(range(n), m))


def random_matrix(rows: int, columns: int, seed: int) -> np.ndarray:
    """Sizes over many decades, some zeros, but of full rank."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-3, 4, size=columns)
    matrix[rng.random(size=matrix.shape) < 0.25] = 0.0
    matrix[np.arange(rows), np.arange(rows)] += 1.0
    return matrix


@given(st.integers(1, 4), st.integers(0, 4), st.integers(0, 10_000))
def test_pivots_against_all_subsets(rows: int, more: int, seed: int) -> None:
    """Greedy choice of columns is within m! of the largest determinant."""
    matrix = random_matrix(rows, rows + more, seed)
    best = largest(matrix)
    if best < 1e-12:
        return
    scaled = matrix / np.abs(matrix).max(axis=1, keepdims=True)
    for chosen in (_pivots(scaled[None], np.ones((1, rows + more)))[0], _pivots_by_qr(scaled, rows)):
        assert len(set(chosen.tolist())) == rows
        assert abs(np.linalg.det(matrix[:, chosen])) >= 0.999 * best / factorial(rows)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2)), min_size=1, max_size=6), st.integers(0, 1000))
def test_blocks_are_chosen_from_one_by_one(sizes: list[tuple[int, int]], seed: int) -> None:
    """Blocks of many sizes, in any order, have the columns that each of them has alone."""
    rng = np.random.default_rng(seed)
    blocks = [random_matrix(m, m + k, seed + n) for n, (m, k) in enumerate(sizes)]
    row_label = np.concatenate([np.full(m, n) for n, (m, _) in enumerate(sizes)])
    column_label = np.concatenate([np.full(m + k, n) for n, (m, k) in enumerate(sizes)])
    rows, columns = rng.permutation(len(row_label)), rng.permutation(len(column_label))
    whole = np.zeros((len(row_label), len(column_label)))
    for n, block in enumerate(blocks):
        whole[np.ix_(row_label == n, column_label == n)] = block
    whole, row_label, column_label = whole[np.ix_(rows, columns)], row_label[rows], column_label[columns]
    r, c = np.nonzero(whole)
    chosen = np.zeros(len(column_label), dtype=bool)
    for alike in _alike(row_label, column_label):
        matrices = alike.matrices(r, c, whole[r, c])
        picked = _pivots(matrices, np.ones(alike.columns.shape))
        chosen[np.take_along_axis(alike.columns, picked, axis=1)] = True
    for n in range(len(sizes)):
        own = whole[np.ix_(row_label == n, column_label == n)]
        alone = _pivots(own[None], np.ones((1, own.shape[1])))[0]
        assert set(np.flatnonzero(chosen[column_label == n])) == set(alone.tolist())


def constrained(matrix: np.ndarray, wishes: dict[int, str]) -> ac.Component:
    """der(x) = -x + Aᵀ·pull with A·x + sin(t) = 0: as many multipliers as constraints, index 2."""
    m, n = matrix.shape

    def equations(self: Any) -> Any:
        x = [getattr(self, f"x{k}") for k in range(n)]
        pull = [getattr(self, f"pull{k}") for k in range(m)]
        for j in range(n):
            yield ac.der(x[j]) == -x[j] + sum((float(matrix[i, j]) * pull[i] for i in range(m)), 0.0 * x[j])
        for i in range(m):
            yield sum((float(matrix[i, j]) * x[j] for j in range(n)), ac.sin(ac.time)) == 0

    body: dict[str, Any] = {f"x{k}": ac.Variable(state=wishes.get(k, "default")) for k in range(n)}
    body |= {f"pull{k}": ac.Variable() for k in range(m)}
    return type("Constrained", (ac.Component,), {**body, "equations": equations})()


def chosen_states(model: Any) -> set[str]:
    return {model.system.name_of_unknown(int(u)) for u in model.problem.states[:, 0]}


@pytest.mark.parametrize("seed", range(4))
def test_states_leave_a_regular_block(seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(2, 5))
    model = ac.compile(constrained(matrix, {}))
    states = chosen_states(model)
    assert len(states) == 3
    dummies = [k for k in range(5) if f"x{k}" not in states]
    assert abs(np.linalg.det(matrix[:, dummies])) >= largest(matrix) / 2
    assert model.selection is not None
    assert model.selection.selector.constant.all()


@pytest.mark.parametrize("wish, is_state", [("prefer", True), ("always", True), ("avoid", False), ("never", False)])
def test_wishes_are_heard(wish: str, is_state: bool) -> None:
    matrix = np.array([[1.0, 0.7, 0.9, 1.1, 0.8], [0.2, 1.0, -0.6, 0.5, -1.0]])
    for pair in combinations(range(5), 2):
        states = chosen_states(ac.compile(constrained(matrix, dict.fromkeys(pair, wish))))
        assert all((f"x{k}" in states) == is_state for k in pair)


def test_a_wish_does_not_win_over_a_singular_block() -> None:
    """Without x0 the two constraints do not determine the rest: it cannot be a state, however much it is wanted."""
    matrix = np.array([[1.0, 1.0, 2.0], [0.5, 1.0, 2.0]])
    assert chosen_states(ac.compile(constrained(matrix, {0: "always"}))) in ({"x1"}, {"x2"})
