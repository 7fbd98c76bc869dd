"""Canonical templates: the same equation over other quantities, in another order or with turned signs is one template."""

from __future__ import annotations

import pytest
from trees import LEAVES

import acausal as ac
from acausal.families.canonical import canonical, slot_kind


class Other(ac.Component):
    x, y, z = ac.Variable(), ac.Variable(), ac.Variable()
    p, q = ac.Parameter(1.0), ac.Parameter(2.0)


O = Other()  # noqa: E741


def template(equation):
    return canonical((equation.residual,))[0]


SAME = {
    "names": (lambda: O.x == O.p * O.y, lambda: O.z == O.q * O.x),
    "sides": (lambda: O.x == O.p * O.y, lambda: O.p * O.y == O.x),
    "factors": (lambda: O.x == O.p * O.y, lambda: O.x == O.y * O.p),
    "signs": (lambda: O.p * ac.der(O.x) == -O.y, lambda: -O.y == O.p * ac.der(O.x)),
    "negated": (lambda: O.x - O.y == 0, lambda: O.y - O.x == 0),
    "summands": (lambda: O.x + ac.sin(O.y) == 0, lambda: ac.sin(O.x) + O.z == 0),
}
DIFFERENT = {
    "parameter for variable": (lambda: O.x == O.p * O.y, lambda: O.x == O.z * O.y),
    "derivative for variable": (lambda: ac.der(O.x) == O.y * O.z, lambda: O.x == O.y * O.z),
    "constants": (lambda: O.x == 2 * O.y, lambda: O.x == 3 * O.y),
    "the same quantity twice": (lambda: O.x == O.y * O.z, lambda: O.x == O.y * O.y),
    "order of a division": (lambda: O.x == O.y / O.z**5, lambda: O.x == O.z**5 / O.y),
}


@pytest.mark.parametrize("case", SAME)
def test_same(case):
    first, second = (template(make()) for make in SAME[case])
    assert first[0] is second[0]


@pytest.mark.parametrize("case", DIFFERENT)
def test_different(case):
    first, second = (template(make()) for make in DIFFERENT[case])
    assert first[0] is not second[0]


def test_the_sign_of_a_summand_is_kept():
    """Other families add to the same residual row, so that -x and x are two different things there."""
    plus, minus = (canonical((e,), summands=True)[0][0] for e in (LEAVES.s * 2, -(LEAVES.s * 2)))
    assert plus is not minus


def test_leaves_are_numbered_and_kinds_known():
    _, leaves = canonical(((O.p * ac.der(O.x) - O.y * ac.time),))
    assert [slot_kind(leaf) for leaf in leaves].count("derivative") == 1
    assert len(leaves) == 4
