"""Distributions against scipy's, and what the three ways of drawing promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import acausal as ac
from acausal.errors import UsageError
from acausal.language.distributions import choice, lognormal, normal, triangular, uniform
from acausal.studies.sampling import shares

SHARES = np.linspace(0.01, 0.99, 99)


@pytest.mark.parametrize(
    ("ours", "reference"),
    [
        (uniform(2.0, 5.0), stats.uniform(2.0, 3.0)),
        (normal(20.0, 3.0), stats.norm(20.0, 3.0)),
        (normal(0.0, 1.0, low=-1.0, high=0.5), stats.truncnorm(-1.0, 0.5)),
        (triangular(1.0, 2.0, 4.0), stats.triang(1 / 3, 1.0, 3.0)),
        (lognormal(10.0, 2.0), stats.lognorm(np.log(2.0), scale=10.0)),
    ],
)
def test_values_below_which_shares_lie_are_those_of_scipy(ours, reference):
    np.testing.assert_allclose(ours.at(SHARES), reference.ppf(SHARES), rtol=1e-10, atol=1e-12)


def test_numbers_with_units_become_numbers_in_the_unit_of_the_parameter():
    assert uniform("10 kN/m", 20000.0).in_unit("N/m").numbers == (10000.0, 20000.0)
    mean, deviation, *_ = normal("20 degC", "2 degC").in_unit("K").numbers
    assert (mean, deviation) == (pytest.approx(293.15), pytest.approx(2.0))  # a deviation is a difference


@given(st.integers(1, 200), st.integers(1, 5), st.integers(0, 2**31))
def test_a_latin_hypercube_has_one_point_in_each_stratum(count, columns, seed):
    found = np.sort((shares(count, columns, "latin", seed) * count).astype(int), axis=0)
    np.testing.assert_array_equal(found, np.arange(count)[:, None] * np.ones(columns, dtype=int))


@pytest.mark.parametrize("method", ["random", "latin", "sobol"])
def test_the_same_seed_gives_the_same_draws(method):
    np.testing.assert_array_equal(shares(20, 3, method, seed=5), shares(20, 3, method, seed=5))
    assert not np.array_equal(shares(20, 3, method, seed=5), shares(20, 3, method, seed=6))


def test_correlated_draws_have_that_rank_correlation():
    found = shares(20000, 2, "latin", seed=1, correlation=[[1.0, 0.8], [0.8, 1.0]])
    expected = 6 / np.pi * np.arcsin(0.8 / 2)  # Spearman's of a Gaussian copula
    assert stats.spearmanr(found[:, 0], found[:, 1])[0] == pytest.approx(expected, abs=0.01)
    np.testing.assert_allclose(np.quantile(found[:, 1], [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.01)


def test_choices_are_drawn_evenly():
    drawn = choice("a", "b", "c").at(shares(300, 1, "latin", seed=0)[:, 0]).tolist()
    assert [drawn.count(v) for v in "abc"] == [100, 100, 100]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: uniform(2.0, 1.0), "must be finite and grow"),
        (lambda: normal(1.0, 0.0), "is positive"),
        (lambda: triangular(1.0, 5.0, 2.0), "must be finite and grow"),
        (lambda: lognormal(1.0, 0.5), "greater than 1"),
        (lambda: choice(), "values to choose from"),
        (lambda: shares(10, 2, "halton", 0), '"random", "latin" or "sobol"'),
        (lambda: shares(10, 2, "latin", 0, [[1.0, 2.0], [2.0, 1.0]]), "not positive definite"),
        (lambda: shares(10, 2, "latin", 0, [[1.0]]), "matrix of 2 × 2"),
    ],
)
def test_what_cannot_be_is_said(make, said):
    with pytest.raises(UsageError, match=said):
        make()


def test_a_list_of_choices_will_do():
    assert choice([1, 2]).at(np.array([0.1, 0.9])).tolist() == choice(1, 2).at(np.array([0.1, 0.9])).tolist() == [1, 2]
    with pytest.raises(UsageError, match="values to choose from"):
        choice([])


def test_correlations_by_pairs_are_those_of_a_matrix():
    marginals = {"a": ac.uniform(0.0, 1.0), "b": ac.normal(0.0, 1.0), "c": ac.uniform(2.0, 3.0)}
    matrix = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]]
    by_pairs, by_matrix = (ac.draws(marginals, 50, correlation=c) for c in ({("a", "c"): 0.5}, matrix))
    np.testing.assert_array_equal(by_pairs.shares(list(marginals)), by_matrix.shares(list(marginals)))


@pytest.mark.parametrize(
    ("correlation", "message"),
    [
        ({("a", "bb"): 0.5}, "`bb` is correlated, but not drawn. Did you mean `b`"),
        ({("a", "b"): 1.5}, "The correlation of `a` and `b` is a number between -1 and 1, got 1.5"),
        ({("a", "b"): 0.5, ("b", "a"): -0.5}, "The correlation of `a` and `b` is said twice: 0.5 and -0.5"),
        ({"a": 0.5}, "A correlation is that of two parameters, got 'a'"),
        ("much", "`correlation` is numbers, got 'much'"),
        ([[1.0, 0.5], [0.4, 1.0]], "a symmetric matrix of 2 × 2"),
    ],
)
def test_correlations_that_cannot_be(correlation, message):
    with pytest.raises(ac.AcausalError, match=message):
        ac.draws({"a": ac.uniform(0.0, 1.0), "b": ac.uniform(0.0, 1.0)}, 5, correlation=correlation)
