"""Gray's code of the pieces of a table."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.language.table_sides import bits


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=40, unique=True))
def test_every_place_is_the_zero_of_one_function_and_all_pieces_differ(numbers: list[int]) -> None:
    places = np.array(sorted(numbers), dtype=float)
    functions = [ac.Table(x, y, method="linear", extrapolation="linear") for x, y in bits(places)]
    inside = np.concatenate([[places[0] - 0.5], places + 0.5])
    signs = np.sign([[f(float(t)) for f in functions] for t in inside])
    assert (signs != 0).all()
    assert len(np.unique(signs, axis=0)) == len(inside)
    assert (np.abs(np.diff(signs, axis=0)).sum(axis=1) == 2).all()
    assert [sum(f(float(t)) == 0 for f in functions) for t in places] == [1] * len(places)


def test_a_table_of_one_slope_has_no_sides_and_others_have_those_of_their_corners() -> None:
    assert ac.Table([0.0, 1.0, 2.0], [0.0, 1.0, 2.5], method="linear", extrapolation="linear").bits == ((),)
    clamped = ac.Table([0.0, 1.0], [0.0, 1.0]).bits[0]
    assert clamped[0](0.0) == clamped[1](1.0) == 0.0
    ((one,), ()) = ac.Table2D(
        [0.0, 1.0, 2.0], [0.0, 1.0], [[0.0, 1.0], [1.0, 2.0], [50.0, 51.0]], method="linear", extrapolation="linear"
    ).bits
    assert one(1.0) == 0.0
