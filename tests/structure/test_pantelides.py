from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acausal.structure import match, reduce_index, reduce_index_of_pairs

from .graphs import ENGINES, ladder, using


def reduce_matrix(sigma):
    """From Pryce's signature matrix; -1: does not occur."""
    e, v = np.nonzero(np.array(sigma) >= 0)
    return reduce_index_of_pairs(e, v, np.array(sigma)[e, v], *np.array(sigma).shape)


def pryce(sigma: np.ndarray) -> tuple[list[int], list[int]] | None:
    """Offsets by the Σ-method: a transversal of largest weight, then its smallest dual, by fixed-point iteration."""
    from scipy.optimize import linear_sum_assignment

    weight = np.where(sigma < 0, -1e6, sigma)
    rows, columns = linear_sum_assignment(weight, maximize=True)
    if (sigma[rows, columns] < 0).any():
        return None
    c = np.zeros(len(sigma), dtype=int)
    while True:
        d = np.where(sigma < 0, -1, sigma + c[:, None]).max(axis=0, initial=-1)
        raised = d[columns] - sigma[rows, columns]
        if (raised == c).all():
            return c.tolist(), d.tolist()
        c = raised


@st.composite
def signatures(draw):
    n = draw(st.integers(1, 6))
    order = st.sampled_from([-1, -1, -1, 0, 0, 1, 2])
    return np.array(draw(st.lists(st.lists(order, min_size=n, max_size=n), min_size=n, max_size=n)))


@pytest.mark.parametrize("engine", ENGINES)
@given(sigma=signatures())
def test_offsets_of_the_sigma_method(engine, sigma):
    with using(engine):
        found = reduce_matrix(sigma)
    expected = pryce(sigma)
    assert found.regular == (expected is not None)
    if expected is None:
        return
    assert (found.differentiations.tolist(), found.orders.tolist()) == expected
    e = np.arange(len(sigma))
    v = found.matching.unknown_of_equation
    assert (np.sort(v) == e).all()
    assert (sigma[e, v] + found.differentiations == found.orders[v]).all()


PENDULUM = [[2, -1, 0], [-1, 2, 0], [0, 0, -1]]


def test_pendulum_of_first_order():
    """x' = u, y' = v, u' = x f, v' = y f - g, x² + y² = 1 for x, y, u, v, f: x' = u and y' = v are differentiated too."""
    x, y, u, v, f = range(5)
    equations = [
        (0, x, 1),
        (0, u, 0),
        (1, y, 1),
        (1, v, 0),
        (2, u, 1),
        (2, x, 0),
        (2, f, 0),
        (3, v, 1),
        (3, y, 0),
        (3, f, 0),
        (4, x, 0),
        (4, y, 0),
    ]
    found = reduce_index_of_pairs(*np.array(equations).T, 5, 5)
    assert found.differentiations.tolist() == [1, 1, 0, 0, 2]
    assert found.orders.tolist() == [2, 2, 1, 1, 0]
    assert (found.index, found.freedoms) == (3, 2)


def test_capacitors_in_a_loop():
    """C1 v1' = i1, C2 v2' = i2, v1 = v2, i1 + i2 = source: one voltage is free, the loop is differentiated."""
    found = reduce_matrix([[1, -1, 0, -1], [-1, 1, -1, 0], [0, 0, -1, -1], [-1, -1, 0, 0]])
    assert found.differentiations.tolist() == [0, 0, 1, 0]
    assert (found.index, found.freedoms) == (2, 1)


def test_capacitor_across_a_prescribed_voltage():
    """C v' = i, v = source(t): no state at all."""
    found = reduce_matrix([[1, 0], [0, -1]])
    assert found.differentiations.tolist() == [0, 1]
    assert (found.index, found.freedoms) == (2, 0)


@pytest.mark.parametrize(
    ("sigma", "differentiations", "index", "freedoms"),
    [
        ([[1, 0], [0, 1]], [0, 0], 0, 2),  # ordinary
        ([[1, 0], [0, 0]], [0, 0], 1, 1),  # semi-explicit
        ([[0, 0], [0, -1]], [0, 0], 1, 0),  # algebraic
        ([[1, 1], [0, 0]], [0, 1], 1, 1),  # x' + 2 y' = f, x + y = g
        ([[1, 0], [-1, 1], [0, -1]], [0, 0, 0], 1, 0),  # one equation too many
    ],
)
def test_small_systems(sigma, differentiations, index, freedoms):
    found = reduce_matrix(sigma)
    assert found.differentiations.tolist() == differentiations
    assert found.regular == (len(sigma) == len(sigma[0]))
    if found.regular:
        assert (found.index, found.freedoms) == (index, freedoms)


def test_a_chain_of_integrators_driven_backwards():
    """x1' = x2, x2' = x3, …, x1 given: each link differentiated once more than the next."""
    n = 30
    k = np.arange(n - 1)
    equations, variables = np.concatenate((k, k, [n - 1])), np.concatenate((k, k + 1, [0]))
    found = reduce_index_of_pairs(equations, variables, np.concatenate((np.ones(n - 1), np.zeros(n))).astype(int), n, n)
    assert found.differentiations.tolist() == [*range(n - 2, -1, -1), n - 1]
    assert (found.index, found.freedoms) == (n, 0)


def test_too_many_equations_for_some_variables_are_named_and_nothing_is_differentiated():
    found = reduce_matrix([[0, -1, -1], [1, -1, -1], [-1, 0, 1]])
    assert not found.regular
    assert found.singular.tolist() == [True, True, False]
    assert not found.differentiations.any()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_thousand_pendulums_reduce_as_one(engine):
    one = np.array(PENDULUM)
    e, v = np.nonzero(one >= 0)
    many = 3 * np.arange(1000)[:, None]
    with using(engine):
        found = reduce_index_of_pairs((many + e).ravel(), (many + v).ravel(), np.tile(one[e, v], 1000), 3000, 3000)
    assert (found.differentiations.reshape(-1, 3) == [0, 0, 2]).all()
    assert (found.orders.reshape(-1, 3) == [2, 2, 0]).all()
    assert found.freedoms == 2000


def test_a_regular_system_costs_one_matching(monkeypatch):
    module = import_module("acausal.structure.pantelides")
    calls = []
    monkeypatch.setattr(module, "match", lambda *a, **k: calls.append(a) or match(*a, **k))
    a = ladder(1000)
    found = reduce_index(a, (a.owners == a.indices).astype(np.int32))
    assert (len(calls), found.index, found.freedoms) == (1, 0, 1000)
