"""Cases from everything a user may give."""

from __future__ import annotations

import pandas as pd
import pytest

from acausal.errors import UsageError
from acausal.language.distributions import uniform
from acausal.studies.cases import cases_of, draws, grid, one_at_a_time, read_cases


def cases(given):
    return [dict(c) for c in cases_of(given, lambda path: "")]


def test_a_grid_has_every_combination():
    assert [tuple(c.values()) for c in grid({"a": [1, 2], "b": ["x", "y"]})] == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


def test_one_at_a_time_begins_with_the_model_as_it_is():
    found = one_at_a_time({"a": [1, 2], "b": [3]})
    assert [dict(c) for c in found] == [{}, {"a": 1}, {"a": 2}, {"b": 3}]
    assert found.names == ("base", "a = 1", "a = 2", "b = 3")


def test_lists_columns_and_frames_say_the_same():
    rows = [{"a": 1.0, "b": 2.0}, {"a": 3.0}]
    assert cases(rows) == rows
    assert cases({"a": [1.0, 3.0]}) == [{"a": 1.0}, {"a": 3.0}]
    assert cases(pd.DataFrame(rows)) == rows  # an empty cell is the model as it is


@pytest.mark.parametrize(
    "text",
    ["case,room.T [degC],wall[2].G\nwarm,22.5,1\ncold,18,2\n", "case;room.T [degC];wall[2].G\nwarm;22,5;1\ncold;18;2\n"],
)
def test_a_csv_file_has_units_in_its_heading_and_perhaps_decimal_commas(tmp_path, text):
    file = tmp_path / "cases.csv"
    file.write_text(text, encoding="utf-8-sig")
    found = cases_of(file, lambda path: "")
    assert found.names == ("warm", "cold")
    assert [dict(c) for c in found] == [{"room.T": "22.5 degC", "wall[2].G": 1.0}, {"room.T": "18.0 degC", "wall[2].G": 2.0}]


def test_cases_can_be_added():
    both = one_at_a_time({"a": [1]}) + cases_of([{"name": "other", "b": 2}], lambda path: "")
    assert [dict(c) for c in both] == [{}, {"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: grid({"a": 3}), "a list of values was expected"),
        (lambda: cases({"a": [1, 2], "b": [1]}), "as long as there are cases"),
        (lambda: cases([{"name": "x", "a": 1}, {"name": "x", "a": 2}]), "Two cases are called `x`"),
        (lambda: cases(5), "Cases are changes by name"),
        (lambda: cases({"a": uniform(0.0, 1.0)}), "How many cases"),
        (lambda: cases("nowhere.csv"), "There is no file"),
        (lambda: draws({"a": 3.0}, 10), "`a` has no distribution"),
        (lambda: draws({"a": uniform(0.0, 1.0)}, 0), "at least 1"),
    ],
)
def test_what_cannot_be_a_case_is_said(make, said):
    with pytest.raises(UsageError, match=said):
        make()


def test_a_ragged_file_names_the_row(tmp_path):
    file = tmp_path / "cases.csv"
    file.write_text("a,b\n1,2\n3\n")
    with pytest.raises(UsageError, match=r"Row 3 of .* has 1 cells; its heading has 2"):
        cases(file)


@pytest.mark.parametrize("heading", ["G,G", "G,G [kW/K]"])
def test_two_columns_of_one_name(tmp_path, heading):
    place = tmp_path / "cases.csv"
    place.write_text(f"{heading}\n1,2\n")
    with pytest.raises(UsageError, match="Two columns of the cases are called `G`"):
        read_cases(place)
