"""Where equations bend without an event: what counts as a bend, and that each is looked at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.bends import bends
from acausal.families.template import Family, Template
from acausal.language.expression import Expression, Operation, Slot, transform


def family(make: Callable[..., Any], places: list[list[int]]) -> Family:
    """One output over as many slots as `make` has arguments, at some places in the workspace."""
    slots = np.array(places, dtype=np.int32).T
    output = transform(make(*(Slot(k, "state") for k in range(len(slots)))), _unmarked)
    rows = np.arange(slots.shape[1], dtype=np.int32)[None, :]
    return Family(Template.of((output,)), slots, (1,) * len(slots), rows)


def _unmarked(node: Expression) -> Expression | None:
    """Without the mark `no_event`, which is gone when there are templates."""
    is_mark = isinstance(node, Operation) and node.operator.name == "no_event"
    return transform(node.args[0], _unmarked) if is_mark else None


def count(*families: Family) -> int:
    return bends(list(families), 100)[1]


def clamped(x: Any) -> Any:
    return ac.no_event(ac.min(ac.max(x, 0.0), 1.0))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x: ac.no_event(ac.max(x, 0.0)), 1),
        (lambda x: clamped(x) ** 2, 1),  # flat at 0, not at 1
        (lambda x: clamped(x) * x, 2),  # x goes on where the clamp ends
        (lambda x: ac.smooth_step(x, 0.3, 0.2), 0),
        (lambda x: ac.smooth_step(x, 0.3, 0.2) + ac.no_event(ac.abs(x)), 1),
        (lambda x: ac.smooth_step(x) * clamped(x + 0.5), 1),  # the same clamp, which the product keeps from levelling off at 1
        (lambda x: ac.smooth_switch(x, 1.0, x**2), 0),
        (lambda x: ac.sin(clamped(x) * np.pi) ** 2, 0),  # level at both ends but for rounding
    ],
)
def test_what_levels_off_before_it_ends_is_no_bend(make: Callable[..., Any], expected: int) -> None:
    assert count(family(make, [[3]])) == expected


def test_a_bend_is_looked_at_once_wherever_it_stands() -> None:
    def one(x: Any, y: Any) -> Any:
        return ac.no_event(ac.max(x, y)) + 1

    def other(y: Any, x: Any, z: Any) -> Any:
        return z * ac.no_event(ac.max(x, y)) + ac.no_event(ac.abs(z))

    first = family(one, [[1, 2], [3, 4]])
    assert count(first) == 2
    assert count(first, family(other, [[2, 1, 9]])) == 3  # |z|, and nothing else
    assert count(first, family(other, [[1, 2, 9]])) == 4  # max(2, 1) is not max(1, 2) to somebody who compares
    assert count(first, family(one, [[1, 2], [5, 6]])) == 4  # some were there before: the family is looked at whole


def test_the_signs_of_bends_are_those_of_their_arguments() -> None:
    found, rows = bends([family(lambda x, y: ac.no_event(ac.max(x, 2 * y)), [[0, 1], [2, 3]])], 100)
    assert rows == 2 and [f.count for f in found] == [2]
    assert found[0].slots.tolist() == [[0, 2], [1, 3]]


@pytest.mark.parametrize("spread", [3, 100_000])
def test_places_are_among_others_or_not_however_far_apart_they_lie(spread: int) -> None:
    """Single places close together are looked up in a table, others sorted; an output over one slot bends once at each place."""
    before = family(lambda x: ac.no_event(ac.abs(x)), [[spread * k] for k in (7, 2, 9, 4)])
    within, beyond, between = (
        family(lambda x: ac.no_event(2.0 * ac.abs(x)), [[p] for p in places])
        for places in ([spread * 9, spread * 2], [spread * 2, spread * 12], [spread * 2, spread * 4 + 1])
    )
    assert count(before, within) == 4
    assert count(before, beyond) == 6
    assert count(before, between) == 6
