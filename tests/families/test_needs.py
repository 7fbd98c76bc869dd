"""When values matter: what one branch of a choice needs alone is computed under its condition."""

from __future__ import annotations

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
