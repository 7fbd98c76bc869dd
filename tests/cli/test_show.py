"""The layout of diagnostics."""

from __future__ import annotations

from pathlib import Path

from acausal.cli.show import as_json, diagnostic_lines, screen
from acausal.errors import Diagnostic, Location


def full(folder: Path) -> Diagnostic:
    return Diagnostic(
        "Something is wrong with this rather long sentence, which does not fit into one line of a narrow terminal.",
        component="house.room",
        equation="C * der(T) == Q",
        location=Location(str(folder / "models" / "house.py"), 12),
        details=("in:        house.wall: Q == 0", "    a  table", "x: 3 times the tolerance"),
        remedy="mend it",
    )


def test_lines_are_no_wider_than_the_terminal(folder: Path) -> None:
    lines = [line.plain for line in diagnostic_lines(full(folder), 60)]
    assert lines == [
        "✗ Something is wrong with this rather long sentence, which",
        "  does not fit into one line of a narrow terminal.",
        "    component  house.room",
        "    equation   C * der(T) == Q",
        "    at         models/house.py:12",
        "    in         house.wall: Q == 0",
        "        a  table",
        "    x: 3 times the tolerance",
        "    try        mend it",
    ]


def test_a_place_is_never_broken(folder: Path) -> None:
    deep = Diagnostic("w", location=Location("/" + "long/" * 30 + "file.py", 3))
    assert [line.plain for line in diagnostic_lines(deep, 40)][1].endswith("file.py:3")


def test_a_pipe_gets_unbroken_lines(folder: Path) -> None:
    lines = [line.plain for line in diagnostic_lines(full(folder), screen().width)]
    assert lines[0].endswith("narrow terminal.")


def test_for_programs_every_field_is_there(folder: Path) -> None:
    told = as_json(full(folder))
    assert (told["line"], told["component"], told["remedy"]) == (12, "house.room", "mend it")
    assert Path(told["file"]).is_absolute()
