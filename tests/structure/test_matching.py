from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acausal.structure import Incidence, Matching, block_form, match, native, reach

from .graphs import ENGINES, dense, incidences, ladder, misleading_chain, network, using


def assert_matching(incidence: Incidence, found: Matching) -> None:
    equations = np.flatnonzero(found.unknown_of_equation >= 0)
    unknowns = found.unknown_of_equation[equations]
    assert dense(incidence)[equations, unknowns].all()
    assert (found.equation_of_unknown[unknowns] == equations).all()
    assert np.count_nonzero(found.equation_of_unknown >= 0) == len(equations) == found.size
    assert found.unknown_of_equation.dtype == found.equation_of_unknown.dtype == np.int32


def maximum_size(incidence: Incidence) -> int:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return (
        int(np.count_nonzero(maximum_bipartite_matching(csr_array(dense(incidence)), perm_type="column") >= 0))
        if incidence.size
        else 0
    )


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences(most=12))
def test_a_matching_of_largest_size(engine, incidence):
    with using(engine):
        found = match(incidence)
    assert_matching(incidence, found)
    assert found.size == maximum_size(incidence)


@given(incidence=incidences(most=5))
def test_the_size_is_what_koenig_says(incidence):
    """The least number of rows and columns that cover all entries."""
    a = dense(incidence)
    m = len(a)
    sets = [np.isin(np.arange(m), chosen) for k in range(m + 1) for chosen in combinations(range(m), k)]
    assert match(incidence).size == min(int(rows.sum() + a[~rows].any(axis=0).sum()) for rows in sets)


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences(most=10), data=st.data())
def test_unknowns_of_low_rank_are_matched_first(engine, incidence, data):
    n = incidence.n_unknowns
    rank = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)), dtype=int)
    with using(engine):
        found = match(incidence, last=rank)
    assert_matching(incidence, found)
    for limit in (-1, 0, 1, 2):
        matched = np.count_nonzero((found.equation_of_unknown >= 0) & (rank <= limit))
        assert matched == maximum_size(incidence.restrict(unknowns=rank <= limit).incidence)


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences(most=10), data=st.data())
def test_growing_frees_nothing(engine, incidence, data):
    part = incidence.keep(
        np.array(data.draw(st.lists(st.booleans(), min_size=incidence.size, max_size=incidence.size)), dtype=bool)
    )
    with using(engine):
        start = match(part)
        found = match(incidence, start=start)
    assert_matching(incidence, found)
    assert found.size == maximum_size(incidence)
    assert (found.unknown_of_equation[start.unknown_of_equation >= 0] >= 0).all()
    assert (found.equation_of_unknown[start.equation_of_unknown >= 0] >= 0).all()


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences(), data=st.data())
def test_reach_is_closed_and_no_larger_than_needed(engine, incidence, data):
    m = incidence.n_equations
    begin = data.draw(st.lists(st.integers(0, m - 1), max_size=3)) if m else []
    matching = match(incidence)
    with using(engine):
        equations, unknowns = reach(incidence, matching, np.array(begin, dtype=int))
    expected, frontier = set(begin), list(begin)
    while frontier:
        owners = {int(matching.equation_of_unknown[u]) for u in incidence.unknowns_of(frontier.pop())} - {-1}
        frontier += owners - expected
        expected |= owners
    assert set(np.flatnonzero(equations).tolist()) == expected
    assert (unknowns == dense(incidence)[equations].any(axis=0)).all()


LARGE = {
    "ladder": lambda n: ladder(n),
    "misleading chain": lambda n: misleading_chain(n),
    "network": lambda n: network(int((n / 3) ** 0.5)),
    "shuffled network": lambda n: network(int((n / 3) ** 0.5), seed=1),
}


@pytest.mark.parametrize("case", LARGE)
@pytest.mark.parametrize("engine", ENGINES)
def test_large_systems_are_matched_completely(case, engine):
    incidence = LARGE[case](100_000 if engine == "native" else 20_000)
    with using(engine):
        found = match(incidence)
        late = match(incidence, last=np.arange(incidence.n_unknowns) % 3 == 0)
    for matching in (found, late):
        assert matching.size == incidence.n_equations
        assert (np.sort(matching.unknown_of_equation) == np.arange(incidence.n_unknowns)).all()


@pytest.mark.skipif(native.find("graph_match") is None, reason="the native extension is not built")
@pytest.mark.parametrize("case", LARGE)
def test_work_grows_with_size_only(case):
    """Occurrences looked at, per occurrence: about constant, where a search from each equation would make it grow with n."""

    def work(n: int) -> float:
        a = LARGE[case](n)
        return native.find("graph_match")(a.indptr, a.indices, a.n_unknowns, None, None)[2] / a.size

    assert work(100_000) < 30
    assert work(100_000) < 4 * work(1_000)


def test_a_matching_of_another_incidence_is_refused():
    foreign = match(ladder(4))
    for use in (lambda a: match(a, start=foreign), lambda a: reach(a, foreign, [0]), lambda a: block_form(a, foreign)):
        with pytest.raises(ValueError, match=r"4 equations × 4 unknowns .* 3 × 3"):
            use(ladder(3))


def test_ranks_must_be_given_for_every_unknown():
    with pytest.raises(ValueError, match=r"one entry per unknown is needed: \(3,\)"):
        match(ladder(3), last=[True])
