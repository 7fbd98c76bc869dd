import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acausal.structure import Incidence

from .graphs import ENGINES, dense, incidences, using

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=30)


@pytest.mark.parametrize("engine", ENGINES)
@given(pairs=pairs)
def test_pairs_become_distinct_ascending_rows(engine, pairs):
    with using(engine):
        found, places = Incidence.with_positions([e for e, _ in pairs], [u for _, u in pairs], 5, 7)
    assert sorted(set(pairs)) == list(zip(found.owners.tolist(), found.indices.tolist(), strict=True))
    assert [(found.owners[p], found.indices[p]) for p in places] == pairs
    assert (found.indptr.dtype, found.indices.dtype, places.dtype) == (np.int64, np.int32, np.int64)
    assert found.shape == (5, 7)


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences())
def test_transpose(engine, incidence):
    with using(engine):
        found = incidence.transpose()
    assert (dense(found) == dense(incidence).T).all()
    assert found.shape == incidence.shape[::-1]
    again = Incidence.from_pairs(found.owners, found.indices, *found.shape)
    assert (again.indices == found.indices).all()


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences())
def test_what_is_known_of_occurrences_follows_them_into_the_transpose(engine, incidence):
    with using(engine):
        found, places = incidence.turned()
    assert (found.indptr == incidence.transpose().indptr).all() and (found.indices == incidence.transpose().indices).all()
    assert sorted(places.tolist()) == list(range(incidence.size)) and places.dtype == np.int32
    assert (found.indices[places] == incidence.owners).all() and (found.owners[places] == incidence.indices).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_long_rows_are_in_order_and_say_where_each_pair_went(engine):
    rng = np.random.default_rng(0)
    e, u = rng.integers(3, size=1000), rng.integers(200, size=1000)
    with using(engine):
        found, places = Incidence.with_positions(e, u, 3, 200)
    assert (found.owners[places] == e).all() and (found.indices[places] == u).all()
    assert all((np.diff(found.unknowns_of(k)) > 0).all() for k in range(3))


@given(incidence=incidences(), data=st.data())
def test_restriction_is_the_submatrix(incidence, data):
    m, n = incidence.shape
    equations = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)), dtype=bool)
    unknowns = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    part = incidence.restrict(equations, unknowns)
    assert (dense(part.incidence) == dense(incidence)[np.ix_(equations, unknowns)]).all()
    assert (part.equations == np.flatnonzero(equations)).all()
    assert (part.unknowns == np.flatnonzero(unknowns)).all()
    assert (dense(incidence.restrict().incidence) == dense(incidence)).all()


@given(incidence=incidences(), data=st.data())
def test_keep_leaves_out_single_occurrences(incidence, data):
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=incidence.size, max_size=incidence.size)), dtype=bool)
    expected = Incidence.from_pairs(incidence.owners[kept], incidence.indices[kept], *incidence.shape)
    assert (dense(incidence.keep(kept)) == dense(expected)).all()


def test_rows_that_are_unsorted_or_doubled_are_put_in_order():
    found = Incidence.from_rows([0, 3, 3, 4], [2, 0, 2, 1], 3)
    assert found.indptr.tolist() == [0, 2, 2, 3]
    assert found.indices.tolist() == [0, 2, 1]
    ordered = Incidence.from_rows(found.indptr, found.indices, 3)
    assert (dense(ordered) == dense(found)).all()


@pytest.mark.parametrize(
    ("equations", "unknowns", "error", "message"),
    [
        ([0, 2], [0, 0], IndexError, "equation numbers reach from 0 to 2, but must lie in 0 … 1"),
        ([0], [-1], IndexError, "unknown numbers reach from -1"),
        ([0, 1], [0], ValueError, "2 equation numbers were paired with 1 unknown"),
        ([0.5], [0], TypeError, "must be integers, not float64"),
    ],
)
def test_wrong_numbers_never_reach_native_code(equations, unknowns, error, message):
    with pytest.raises(error, match=message):
        Incidence.from_pairs(equations, unknowns, 2, 2)


def test_pointers_must_fit():
    with pytest.raises(ValueError, match="rise from 0"):
        Incidence.from_rows([0, 3], [0, 1], 2)
