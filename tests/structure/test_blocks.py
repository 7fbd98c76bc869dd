import numpy as np
import pytest
from hypothesis import given

from acausal.structure import Incidence, block_form, match

from .graphs import ENGINES, dense, incidences, ladder, network, regular_incidences, using


def strongly_connected(adjacency: np.ndarray) -> bool:
    reached = adjacency.astype(int) + np.eye(len(adjacency), dtype=int)
    for _ in range(4):
        reached = ((reached @ reached) > 0).astype(int)
    return bool(reached.all())


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=regular_incidences())
def test_block_triangular_with_full_diagonal_and_irreducible_blocks(engine, incidence):
    with using(engine):
        form = block_form(incidence)
    permuted = dense(incidence)[np.ix_(form.equations, form.unknowns)]
    assert sorted(form.equations) == sorted(form.unknowns) == list(range(incidence.n_equations))
    assert permuted.diagonal().all()
    for k in range(form.count):
        first, end = form.pointers[k], form.pointers[k + 1]
        assert not permuted[first:end, end:].any()
        assert strongly_connected(permuted[first:end, first:end])
        assert (np.diff(form.block(k)[0]) > 0).all()
    assert form.simultaneous.tolist() == sorted((s for s in form.sizes.tolist() if s > 1), reverse=True)


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences())
def test_unmatched_equations_are_left_out_and_unmatched_unknowns_given(engine, incidence):
    matching = match(incidence)
    with using(engine):
        form = block_form(incidence, matching)
    assert sorted(form.equations) == np.flatnonzero(matching.unknown_of_equation >= 0).tolist()
    assert (form.unknowns == matching.unknown_of_equation[form.equations]).all()
    permuted = dense(incidence)[np.ix_(form.equations, form.unknowns)]
    block = np.repeat(np.arange(form.count), form.sizes)
    assert not permuted[block[:, None] < block[None, :]].any()
    of_equation = form.block_of_equation(incidence.n_equations)
    assert (of_equation[form.equations] == block).all()
    assert (of_equation[matching.unmatched_equations] == -1).all()


@given(incidence=regular_incidences())
def test_the_blocks_are_those_of_any_perfect_matching(incidence):
    one = block_form(incidence, match(incidence))
    other = block_form(incidence, match(incidence, last=np.arange(incidence.n_unknowns)[::-1] % 3))
    sets = [{frozenset(form.block(k)[0].tolist()) for k in range(form.count)} for form in (one, other)]
    assert sets[0] == sets[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_long_chains_do_not_overflow(engine):
    n = 100_000
    k = np.arange(n)
    chain = Incidence.from_pairs(np.concatenate((k, k[:-1])), np.concatenate((k, k[1:])), n, n)  # each needs the next one
    with using(engine):
        form = block_form(chain)
        assert form.equations.tolist() == list(range(n - 1, -1, -1))
        assert form.count == n
        assert block_form(ladder(n)).simultaneous.tolist() == [n]


def test_a_closed_network_is_one_block():
    a = network(20, seed=3)
    assert block_form(a).simultaneous.tolist() == [a.n_equations]
