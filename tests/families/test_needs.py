"""When values matter: what one branch of a choice needs alone is computed under its condition."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.families.needs import needs
from acausal.language.expression import Call, Slot, apply, walk

_f = ac.several(lambda x: (x, 2 * x), results=("a", "b"))
_x, _cell, _other = Slot(0, "variable"), Slot(1, "variable"), Slot(2, "variable")


def _of(root: object) -> list[object]:
    nodes = list(walk(root))
    found = needs(nodes, (root,))
    return [found[n] for n in nodes if isinstance(n, Call)]


def test_a_call_in_one_branch_is_needed_under_its_condition() -> None:
    a, b = _f(_x)
    assert _of(apply("where", _cell, a, _other)) == [(_cell, True)]
    assert _of(apply("where", _cell, _other, b)) == [(_cell, False)]


def test_a_call_in_both_branches_or_beside_them_is_needed_always() -> None:
    a, b = _f(_x)
    assert _of(apply("where", _cell, a, b)) == [None, None]  # one evaluation
    assert _of(apply("add", apply("where", _cell, a, _other), b)) == [None, None]


def test_the_outer_condition_counts_and_a_condition_that_is_computed_does_not() -> None:
    a, _ = _f(_x)
    assert _of(apply("where", _cell, apply("where", _other, a, _x), _x)) == [(_cell, True)]
    assert _of(apply("where", apply("lt", a, _x), _x, _other)) == [None]
    assert _of(apply("where", apply("lt", _x, _other), a, _other)) == [None]


def test_a_call_under_two_conditions_is_needed_always() -> None:
    a, b = _f(_x)
    third = Slot(3, "variable")
    assert _of(apply("add", apply("where", _cell, a, _other), apply("where", third, a, _other))) == [None]
    assert _of(apply("add", apply("where", _cell, a, _x), apply("where", third, b, _x))) == [None, None]


class _Switched(ac.Component):
    """What one function gives goes through two switches."""

    on, off = ac.Boolean(False), ac.Boolean(False)
    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self):
        a, b = _f(self.x + 1.0)
        yield ac.der(self.x) == ac.where(self.on, a, 1.0) + ac.where(self.off, 0.0, b)
        yield self.y == ac.where(self.on, a, b) + ac.where(self.off, a, 0.0)
        yield ac.when(ac.time > 1.0, ac.assign(self.on, True))


def test_two_switches_behind_one_function() -> None:
    result = ac.compile(_Switched()).simulate(2.0, rtol=1e-9)
    first = 1.5 * np.exp(2.0) - 1.5  # x' = 1 + 2 (x + 1)
    assert result["x"][-1] == pytest.approx((first + 1.0) * np.exp(3.0) - 1.0, rel=1e-6)  # x' = 3 (x + 1)
