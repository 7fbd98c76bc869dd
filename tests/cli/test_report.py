"""`acausal report`."""

from __future__ import annotations

from pathlib import Path

from acausal.cli.exits import Exit

from .conftest import Call

STORE = "from acausal.library.refrigeration import ColdStore\n\n\nclass Store(ColdStore):\n    pass\n"


def test_a_page_about_a_plant(call: Call) -> None:
    Path("store.py").write_text(STORE)
    ports = "compressor.a,compressor.b,valve.a,valve.b"
    answer = call("report", "store.py:Store", "--until", "20 min", "--at", "10min", "--cycle", ports, "-p", "room.T")
    assert answer.code == Exit.FINE, answer.err
    assert answer.out.strip() == "✓ Store.html"
    text = Path("Store.html").read_text(encoding="utf-8")
    assert "Rating point at 600 s" in text and "compressor.b" in text


def test_what_is_wrong_is_told_without_a_traceback(call: Call) -> None:
    answer = call("report", "room.py", "--until", "10", "--at", "20")
    assert answer.code == Exit.USAGE
    assert "there is nothing to draw at 20 s" in answer.told
    answer = call("report", "room.py", "--until", "10", "-o", "room.pdf")
    assert answer.code == Exit.USAGE
    assert "A report is a page of HTML" in answer.told
