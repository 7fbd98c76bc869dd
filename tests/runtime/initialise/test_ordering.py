"""Levels and choices."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.runtime.initialise.ordering import block_order, choose
from acausal.structure import Incidence


def test_blocks_of_one_level_do_not_see_each_other() -> None:
    """0 and 1 alone; 2 and 3 need 0 and each other; 4 needs 1 and 2."""
    pairs = [(0, 0), (1, 1), (2, 2), (2, 0), (2, 3), (3, 3), (3, 2), (4, 4), (4, 1), (4, 2)]
    order = block_order(Incidence.from_pairs(*np.array(pairs).T, 5, 5))
    assert order is not None
    assert np.diff(order.levels).tolist() == [2, 1, 1]
    assert np.diff(order.offsets).tolist() == [1, 1, 2, 1]
    assert order.rows[-1] == 4 and sorted(order.rows[2:4].tolist()) == [2, 3]
    assert order.after(np.array([0])).tolist() == [False, False, True, True]


def test_a_singular_structure_has_no_order() -> None:
    assert block_order(Incidence.from_pairs([0, 1], [0, 0], 2, 2)) is None


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 15), st.integers(0, 10**6))
def test_every_block_comes_after_what_it_needs(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    dense = random.uniform(size=(n, n)) < 0.2
    dense[np.arange(n), random.permutation(n)] = True
    order = block_order(Incidence.from_pairs(*np.nonzero(dense), n, n))
    assert order is not None
    permuted = dense[np.ix_(order.rows, order.columns)]
    block = np.repeat(np.arange(order.count), np.diff(order.offsets))
    level = np.repeat(np.arange(len(order.levels) - 1), np.diff(order.levels))[block]
    uses_row, uses_column = np.nonzero(permuted)
    other = block[uses_row] != block[uses_column]
    assert (level[uses_row][other] > level[uses_column][other]).all()
    assert permuted.diagonal().all()


def test_equations_of_the_model_come_before_initial_equations() -> None:
    """Rows 0 (model) and 1 (initial) both need column 0."""
    found = choose(Incidence.from_pairs([0, 1], [0, 0], 2, 2), np.array([0, -1]), np.array([True, False]))
    assert found.unknown_of_equation.tolist() == [0, -1]
