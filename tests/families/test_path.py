"""Paths: numpy's indices in text, resolved as numpy resolves them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plants import Mass

import acausal as ac
from acausal.errors import NameNotFound
from acausal.families.census import Census
from acausal.families.path import resolve, split


class Rack(ac.Component):
    grid = ac.Variable(shape=(3, 4))

    def __init__(self):
        self.cells = ac.array(Mass, 5)


class Hall(ac.Component):
    def __init__(self):
        self.racks = ac.array(Rack, (2, 3))


PLANT = Census(Hall()).plant
WHOLE = {"grid": resolve(PLANT, "racks.grid").flat, "T": resolve(PLANT, "racks.cells.T").flat}


def _key(n):
    whole = st.integers(-n, n - 1)
    part = st.slices(n)
    return st.one_of(whole, part)


def _text(key):
    if isinstance(key, slice):
        return ":".join("" if b is None else str(b) for b in (key.start, key.stop, key.step))
    return str(key)


@given(_key(2), _key(3), _key(5))
def test_indices_of_arrays_in_arrays(i, j, k):
    found = resolve(PLANT, f"racks[{_text(i)}, {_text(j)}].cells[{_text(k)}].T").flat
    np.testing.assert_array_equal(found, WHOLE["T"][i, j][..., k])


@given(_key(3), _key(4))
def test_indices_of_array_variables(i, j):
    np.testing.assert_array_equal(resolve(PLANT, f"racks[1, -1].grid[{_text(i)}, {_text(j)}]").flat, WHOLE["grid"][1, -1][i, j])
    np.testing.assert_array_equal(resolve(PLANT, f"racks[1][-1].grid[{_text(i)}][{_text(j)}]").flat, WHOLE["grid"][1, -1][i, j])


def test_the_whole_has_the_axes_of_everything_on_the_way():
    assert WHOLE["grid"].shape == (2, 3, 3, 4) and WHOLE["T"].shape == (2, 3, 5)
    assert len(np.unique(WHOLE["grid"])) == WHOLE["grid"].size


def test_parts():
    assert split("a[1].b[2:, 0]") == [("a", [1]), ("b", [slice(2, None), 0])]
    assert split(" room . T ") == [("room", []), ("T", [])]
    assert split("pumpe_ä.η[1]") == [("pumpe_ä", []), ("η", [1])]


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "racks",
        "racks[0,0",
        "racks[2, 0].grid",
        "racks[0, 0].grid[3]",
        "racks[a].grid",
        "1x",
        "racks.cells",
        "racks[0,0].cells.T.x",
        "racks[0, 0, 0].grid",
        "racks.grid[0,0,0]",
        "racks[].grid",
    ],
)
def test_wrong_paths_are_refused(wrong):
    with pytest.raises(NameNotFound):
        resolve(PLANT, wrong)
