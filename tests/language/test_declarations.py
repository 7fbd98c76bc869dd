"""Declarations and modifications: attributes are kept, mistakes are refused where they are made."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.language.declarations import as_shape
from acausal.language.expression import Unbound


def test_attributes_are_kept():
    v = ac.Variable(start=1.0, fixed=True, unit="K", nominal=300.0, min=0, max=1e3, doc="d", shape=(2, 3), state="prefer")
    assert (v.start, v.fixed, v.unit, v.nominal, v.min, v.max, v.doc, v.shape, v.state) == (
        1.0, True, "K", 300.0, 0, 1e3, "d", (2, 3), "prefer",
    )  # fmt: skip


@pytest.mark.parametrize("given, shape", [(3, (3,)), ((2, 3), (2, 3)), ([4], (4,)), (np.int32(2), (2,)), ((), ()), (0, (0,))])
def test_shapes(given, shape):
    assert as_shape(given) == shape


@pytest.mark.parametrize("wrong", [2.0, -1, "4", None, (1, -2), (1.5,)])
def test_wrong_shapes(wrong):
    with pytest.raises(UsageError, match="whole number"):
        ac.Variable(shape=wrong)


def test_wrong_attributes():
    with pytest.raises(UsageError, match="'K'"):
        ac.Variable(unit=5)
    with pytest.raises(UsageError, match="always, prefer"):
        ac.Variable(state="sometimes")
    with pytest.raises(UsageError, match=r"`strat` is not an attribute.*`start`"):
        ac.modify(strat=1.0)


def test_start_and_modify():
    assert ac.start(2.0) == {"start": 2.0}
    assert ac.start(2.0, fixed=True, nominal=5.0) == {"start": 2.0, "fixed": True, "nominal": 5.0}
    assert ac.start(2.0, fixed=False)["fixed"] is False
    assert ac.modify(doc="x", unit="m") == {"doc": "x", "unit": "m"}


def test_declarations_are_arithmetic_in_the_class_body():
    class A(ac.Component):
        R = ac.Parameter(2.0)
        G = ac.Parameter(1 / R)

    assert isinstance(A.R.__acausal_expression__(), Unbound)
    assert "R" in str(A.G.value)


def test_a_declaration_belongs_to_its_class_and_is_not_copied():
    one = ac.Parameter(1.0)
    assert copy.deepcopy(one) is one


def test_named_keeps_unit_and_documentation():
    found = ac.named(ac.time * 2, unit="s", doc="twice")
    assert (found.unit, found.doc) == ("s", "twice")
    with pytest.raises(UsageError, match="'x' of type str"):
        ac.named("x")
