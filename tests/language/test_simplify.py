"""Simplification changes the form of an expression, never its value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import LEAVES, numbers, read, symbols, trees, value_of

import acausal as ac
from acausal.language.expression import Constant, Expression, Operation, apply, as_expression, rebuild, walk
from acausal.language.operators import OPERATORS


def _unsimplified(node: Expression, seen: dict[Expression, Expression]) -> Expression:
    """The same tree with operations applied as they stand."""
    if node not in seen:
        args = tuple(_unsimplified(a, seen) for a in node.args)
        seen[node] = Operation(node.operator, args) if isinstance(node, Operation) else rebuild(node, args)
    return seen[node]


@given(trees())
def test_simplified_and_plain_forms_have_the_same_value(tree):
    simple = as_expression(read(tree, symbols(), True))
    np.testing.assert_allclose(value_of(simple), np.asarray(read(tree, numbers(), False)), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(value_of(_unsimplified(simple, {})), value_of(simple), rtol=1e-12, atol=1e-12)


@given(st.sampled_from(["s", "b", "A"]), st.sampled_from([-2, -1, 0, 0.5, 1, 2, 3, 4, 5, -0.5, 1.5]))
def test_powers(name, exponent):
    base = ac.abs(getattr(LEAVES, name)) + 0.1
    np.testing.assert_allclose(value_of(base**exponent), (np.abs(numbers()[name]) + 0.1) ** exponent, rtol=1e-13)


NEUTRAL = {
    "x + 0": lambda x: x + 0,
    "0 + x": lambda x: 0 + x,
    "x - 0": lambda x: x - 0,
    "x * 1": lambda x: x * 1,
    "1 * x": lambda x: 1 * x,
    "x / 1": lambda x: x / 1,
    "--x": lambda x: -(-x),  # noqa: B002
    "x ** 1": lambda x: x**1,
    "+x": lambda x: +x,
    "where": lambda x: ac.where(LEAVES.s > 0, x, x),
}


@pytest.mark.parametrize("case", NEUTRAL)
@pytest.mark.parametrize("name", ["s", "b", "A"])
def test_neutral_elements_are_dropped(case, name):
    x = getattr(LEAVES, name)
    assert NEUTRAL[case](x) is x


def test_numbers_are_folded():
    assert as_expression(Constant(2.0) * 3 + 4) is Constant(10.0)
    assert ac.sin(Constant(0.5)) is Constant(float(np.sin(0.5)))


def test_a_division_by_zero_stays_to_be_reported_with_its_place():
    assert isinstance(Constant(1.0) / Constant(0.0), Operation)
    assert isinstance(ac.log(Constant(-1.0)), Operation)


def test_zero_times_an_array_keeps_its_shape():
    assert (0.0 * LEAVES.A).shape == (3, 4)
    assert (LEAVES.A - LEAVES.A).shape == (3, 4)
    assert (LEAVES.A**0).shape == (3, 4)


def test_a_factor_is_not_asked_for_where_it_is_not_chosen():
    """`where(c, 1, 0) * y` must not evaluate to nan where y has no value and is not chosen."""
    product = ac.where(LEAVES.s > 10, 1.0, 0.0) * ac.log(LEAVES.s - 10)
    assert value_of(product) == 0.0


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda o: o.name)
def test_every_operator_keeps_its_value_on_literals(operator):
    args = (0.3, 0.6, 0.9)[: operator.arity]
    assert value_of(apply(operator, *args)) == pytest.approx(float(operator.value(*args)))


def test_simplification_never_leaves_a_double_negation():
    made = -(-(LEAVES.s - LEAVES.b))  # noqa: B002
    negations = [n for n in walk(made) if isinstance(n, Operation) and n.operator.name == "neg"]
    assert not negations
