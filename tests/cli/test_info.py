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
    assert told["computed"] == "3, assigned from others instead of being solved for"
    assert told["unknowns"] == "3 solved for: 3 states, 0 algebraic"
    assert told["equations"] == "3 in 1 family"
    assert told["kernels"].endswith("for 1 family of equations, 3 families of assignments")
    assert told["blocks"] == "3, the largest of 1: everything follows from the states one by one"
    assert "reduction" not in told


def test_index_reduction(call: Call) -> None:
    answer = call("info", "pendulum.py")
    assert "4 equations differentiated, 6 derivatives added as variables, 4 of them dummies" in answer.out


def test_for_programs(call: Call) -> None:
    told = call("info", "parts.py:Row(n=3)", "--json").json
    assert (told["title"], told["components"], told["unknowns"], told["computed"], told["states"]) == ("Row", 5, 3, 3, 3)
    assert set(told["seconds"]) == {"families", "structure", "kernels"}
