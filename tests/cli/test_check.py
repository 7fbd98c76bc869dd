"""`acausal check`."""

from __future__ import annotations

from acausal.cli.exits import Exit

from .conftest import Call


def test_fine(call: Call) -> None:
    answer = call("check", "parts.py:Row(n=3)")
    assert answer.code == Exit.FINE
    assert answer.out.startswith("✓ Row is fine: 5 components, 3 equations for 3 unknowns, 3 states, 3 computed, translated in ")


def test_everything_that_is_wrong_is_told_at_once(call: Call) -> None:
    answer = call("check", "short.py")
    assert answer.code == Exit.MODEL
    assert answer.out == ""
    assert "Short states too few equations: 1, but it has 2 unknowns of its own (x, y)." in answer.told
    assert "Too few equations: 2 unknowns (x, y) stand in only 1 equation." in answer.told
    assert "at short.py:10" in answer.told
    assert answer.err.count("✗") == 2


def test_for_programs(call: Call) -> None:
    told = call("check", "room.py", "--json").json
    assert told == {"ok": True, "errors": [], "model": "Room", "unknowns": 1, "computed": 0, "states": 1}
    wrong = call("check", "short.py", "--json")
    assert wrong.code == Exit.MODEL
    assert wrong.json["errors"][0]["line"] == 10


def test_quiet(call: Call) -> None:
    assert call("check", "room.py", "-q").out == ""
