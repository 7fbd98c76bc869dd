"""`der` follows the chain rule: compared with central differences along a trajectory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from trees import LEAVES, NOW, read, symbols, trees, value_of

import acausal as ac
from acausal.errors import UsageError
from acausal.language.expression import Constant, Reference, as_expression


def _difference(expression, h=2.0**-8):
    coarse = (value_of(expression, NOW + h) - value_of(expression, NOW - h)) / (2 * h)
    fine = (value_of(expression, NOW + h / 2) - value_of(expression, NOW - h / 2)) / h
    return (4 * fine - coarse) / 3


@given(trees(smooth=True))
def test_chain_rule_against_differences(tree):
    expression = as_expression(read(tree, symbols(), True))
    slope = np.broadcast_to(value_of(ac.der(expression)), expression.shape)
    expected = _difference(expression)
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max(initial=0.0)))


def test_of_a_variable_it_is_a_reference_of_order_one():
    slope = ac.der(LEAVES.A[1])
    assert isinstance(slope, Reference) and slope.order == 1 and slope.shape == (4,)


def test_of_time_and_of_parameters():
    class WithParameter(ac.Component):
        k = ac.Parameter(2.0)

    assert ac.der(ac.time) is Constant(1.0)
    assert ac.der(WithParameter().k) is Constant(0.0)
    assert ac.der(3.0) is Constant(0.0)


def test_of_a_sum_whose_summands_change_alike():
    """The change of `A + b + t` has fewer axes than the summand: it counts once for each element summed."""
    for expression, factor in ((ac.sum(0 * LEAVES.A + ac.time), 12), (ac.sum(0 * LEAVES.A + ac.time, axis=0), 3)):
        np.testing.assert_allclose(np.broadcast_to(value_of(ac.der(expression)), expression.shape), factor)
    both = ac.sum(0 * LEAVES.A + LEAVES.b)
    np.testing.assert_allclose(value_of(ac.der(both)), _difference(both), rtol=1e-8)


def test_second_derivatives_are_refused_with_the_way_out():
    with pytest.raises(UsageError, match="second derivative of `s`") as found:
        ac.der(ac.der(LEAVES.s))
    assert "first derivative as a variable" in str(found.value)


def test_in_a_class_body_it_is_refused():
    with pytest.raises(UsageError, match="belongs in `equations`"):

        class Wrong(ac.Component):
            x = ac.Variable()
            y = ac.Parameter(ac.der(x))
