"""Equations: both sides, the place where they were stated, and shapes that must fit."""

from __future__ import annotations

import numpy as np
import pytest
from trees import LEAVES, value_of

from acausal.errors import ShapeError, UsageError
from acausal.language.equation import Equation


def test_the_line_is_the_line_of_the_equation():
    equation = LEAVES.s * 2 == LEAVES.b
    assert isinstance(equation, Equation)
    assert equation.location.file == __file__
    assert str(equation) == "equation = LEAVES.s * 2 == LEAVES.b"
    assert equation.shape == (4,)


def test_the_residual_is_left_minus_right():
    equation = LEAVES.b == LEAVES.s + 1
    np.testing.assert_allclose(value_of(equation.residual), value_of(LEAVES.b) - value_of(LEAVES.s) - 1)


def test_a_number_may_stand_left():
    assert (0 == LEAVES.s).shape == ()


def test_lengths_must_fit():
    with pytest.raises(ShapeError) as found:
        LEAVES.b == np.ones(3)  # noqa: B015
    text = str(found.value)
    assert "(4,)" in text and "(3,)" in text and "test_equation.py" in text and "try:" in text


def test_an_equation_has_no_truth():
    with pytest.raises(UsageError, match="yield"):
        bool(LEAVES.s == 1)


def test_it_can_be_named():
    assert (LEAVES.s == 1).named("energy balance").name == "energy balance"
