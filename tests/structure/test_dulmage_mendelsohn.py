import numpy as np
import pytest
from hypothesis import given

from acausal.structure import Incidence, conflict, decompose, freedom, match, pieces

from .graphs import ENGINES, dense, incidences, ladder, using


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences())
def test_the_three_parts(engine, incidence):
    with using(engine):
        found = decompose(incidence)
    a = dense(incidence)
    over, square, under = found.over, found.square, found.under
    for masks in ([p.equations for p in (over, square, under)], [p.unknowns for p in (over, square, under)]):
        assert (np.sum(masks, axis=0) == 1).all()
    assert not a[over.equations][:, ~over.unknowns].any()  # Hall: more equations than there are unknowns in them
    assert not a[~under.equations][:, under.unknowns].any()
    assert over.equations.sum() - over.unknowns.sum() == len(found.matching.unmatched_equations)
    assert under.unknowns.sum() - under.equations.sum() == len(found.matching.unmatched_unknowns)
    assert (
        square.equations.sum()
        == square.unknowns.sum()
        == match(incidence.restrict(square.equations, square.unknowns).incidence).size
    )
    assert found.regular == (found.matching.size == incidence.n_equations == incidence.n_unknowns)


@given(incidence=incidences())
def test_an_equation_is_over_determined_just_when_the_rest_determines_as_much_without_it(incidence):
    """A second definition: equations (unknowns) that some maximum matching does without, and what they are joined to."""
    size = match(incidence).size
    spare = [
        match(incidence.restrict(equations=np.arange(incidence.n_equations) != e).incidence).size == size
        for e in range(incidence.n_equations)
    ]
    loose = [
        match(incidence.restrict(unknowns=np.arange(incidence.n_unknowns) != u).incidence).size == size
        for u in range(incidence.n_unknowns)
    ]
    found = decompose(incidence)
    assert found.over.equations.tolist() == spare
    assert found.under.unknowns.tolist() == loose


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences())
def test_pieces_share_nothing_and_each_has_its_own_surplus(engine, incidence):
    with using(engine):
        found = decompose(incidence)
        over, under = pieces(incidence, found.over), pieces(incidence, found.under)
    a = dense(incidence)
    for part, parted in ((found.over, over), (found.under, under)):
        assert sorted(e for p in parted for e in p.equations) == np.flatnonzero(part.equations).tolist()
        assert sorted(u for p in parted for u in p.unknowns) == np.flatnonzero(part.unknowns).tolist()
        for one in parted:
            others = np.setdiff1d(np.flatnonzero(part.unknowns), one.unknowns)
            assert not a[np.ix_(one.equations, others)].any()
    assert all(len(p.equations) > len(p.unknowns) for p in over)
    assert all(len(p.equations) < len(p.unknowns) for p in under)


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences())
def test_any_equation_of_a_conflict_is_the_one_too_many(engine, incidence):
    matching = match(incidence)
    for surplus in matching.unmatched_equations:
        with using(engine):
            found = conflict(incidence, matching, int(surplus))
        assert len(found.equations) == len(found.unknowns) + 1
        for e in found.equations:
            rest = np.isin(np.arange(incidence.n_equations), np.setdiff1d(found.equations, [e]))
            assert match(incidence.restrict(equations=rest).incidence).size == len(found.equations) - 1


@pytest.mark.parametrize("engine", ENGINES)
@given(incidence=incidences())
def test_giving_any_unknown_of_a_freedom_determines_the_rest_of_it(engine, incidence):
    matching = match(incidence)
    for loose in matching.unmatched_unknowns:
        with using(engine):
            found = freedom(incidence, matching, int(loose))
        assert len(found.unknowns) == len(found.equations) + 1
        for u in found.unknowns:
            rest = np.isin(np.arange(incidence.n_unknowns), np.setdiff1d(found.unknowns, [u]))
            assert match(incidence.restrict(unknowns=rest).incidence).size == len(found.unknowns) - 1


def test_one_equation_too_many_and_one_too_few_far_apart():
    """A ladder whose second unknown is given once more, while the last equation is missing: two pieces, not one muddle."""
    n = 1000
    a = ladder(n)
    cut = a.owners != n // 2  # equation n/2 says nothing, so the halves do not know of each other
    pairs = np.concatenate((a.owners[cut], [n // 2])), np.concatenate((a.indices[cut], [1]))
    found = decompose(Incidence.from_pairs(*pairs, n, n))
    assert len(found.matching.unmatched_equations) == 0
    assert found.regular  # the doubled equation takes the place of the missing one through the whole ladder

    separate = (a.owners != n // 2) & ~((a.owners == n // 2 - 1) & (a.indices == n // 2))
    broken = Incidence.from_pairs(np.append(a.owners[separate], n // 2), np.append(a.indices[separate], 1), n, n)
    parts = decompose(broken)
    assert [len(p.equations) - len(p.unknowns) for p in pieces(broken, parts.over)] == [1]
    assert [len(p.unknowns) - len(p.equations) for p in pieces(broken, parts.under)] == [1]
    assert parts.over.equations[: n // 2 + 1].all()
    assert parts.under.unknowns[n // 2 :].all()
