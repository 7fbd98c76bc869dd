"""Near matches: what a user most likely meant."""

from __future__ import annotations

import pytest

from acausal.errors import near_matches

NAMES = ["R", "C", "T_set", "Q_flow", "max_step", "max_steps", "rtol"]


@pytest.mark.parametrize(
    "name, meant",
    [
        ("r", "`R`"),
        ("t_SET", "`T_set`"),
        ("maxstep", "`max_step` or `max_steps`"),
        ("rtoll", "`rtol`"),
        ("Q", "`Q_flow`"),
        ("T", "`T_set`"),
    ],
)
def test_what_was_meant(name: str, meant: str) -> None:
    assert near_matches(name, NAMES) == f"Did you mean {meant}?"


def test_names_that_differ_in_capitals_only_are_both_offered() -> None:
    assert near_matches("tt", ["T", "t"]) == "Did you mean `T` or `t`?"


@pytest.mark.parametrize("name", ["", "zebra"])
def test_nothing_near_is_said_by_saying_nothing(name: str) -> None:
    assert near_matches(name, NAMES) == ""


def test_no_message_has_an_article_before_a_name_that_is_filled_in():
    """`a {name}` is wrong for every second name: `errors.an` knows which."""
    import re
    from pathlib import Path

    import acausal

    found = re.compile(r"\b[Aa]n? (?!\{an\()\{(?!'model')[a-z_.]+(?:\([^)]*\))?(?:\.__name__|\.class_name|\.kind|)\}")
    root = Path(acausal.__file__).parent
    files = [file for file in root.rglob("*.py") if "static" not in file.parts]
    assert [
        f"{file.relative_to(root)}: {line.strip()}"
        for file in files
        for line in file.read_text().splitlines()
        if found.search(line)
    ] == []
