"""`acausal info`."""

from __future__ import annotations

from acausal.cli.exits import Exit

from .conftest import Call


def test_the_numbers_of_a_translation_log(call: Call) -> None:
    answer = call("info", "parts.py:Row(n=3)")
    assert answer.code == Exit.FINE
    lines = dict(line.strip().split("  ", 1) for line in answer.out.splitlines()[1:])
    told = {label: text.strip() for label, text in lines.items()}
    assert answer.out.splitlines()[0] == "Row  n masses in a row."
    assert told["components"] == "5 of 2 classes"
    assert told["unknowns"] == "6: 3 states, 3 algebraic"
    assert told["equations"].startswith("6 in ")
    assert told["blocks"] == "6, the largest of 1: everything follows from the states one by one"


def test_for_programs(call: Call) -> None:
    told = call("info", "parts.py:Row(n=3)", "--json").json
    assert (told["title"], told["components"], told["unknowns"], told["states"]) == ("Row", 5, 6, 3)
    assert set(told["seconds"]) == {"families", "structure", "kernels"}
