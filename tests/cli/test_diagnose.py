"""`acausal diagnose`."""

from __future__ import annotations

from pathlib import Path

from acausal.cli.exits import Exit

from .conftest import Call


def test_a_model(call: Call) -> None:
    answer = call("diagnose", "room.py")
    assert answer.code == Exit.FINE
    assert answer.out.startswith("Diagnosis of Room\n") and "Suggested next steps" in answer.out
    assert "of the run" not in answer.out


def test_a_run_and_an_explanation(call: Call, folder: Path) -> None:
    answer = call("diagnose", "room.py", "--until", "1h", "--explain", "Q", "--plot-file", "steps.png")
    assert answer.code == Exit.FINE
    assert "Diagnosis of the run of Room, 0 … 3600 s" in answer.out
    assert answer.out.startswith("Q [W]\n") and "self.Q == 200 * (self.T_set - self.T)" in answer.out
    assert (folder / "steps.png").exists()


def test_a_run_that_stops(call: Call) -> None:
    answer = call("diagnose", "two.py:Explosion", "--until", "2")
    assert answer.code == Exit.STOPPED
    assert "What the solver said at the end" in answer.out


def test_for_programs(call: Call) -> None:
    told = call("diagnose", "room.py", "--json", "--until", "10", "-e", "T").json
    assert told["model"] == "Room" and told["outcome"] == "FINISHED"
    assert told["explained"][0]["role"] == "STATE" and told["counts"]["steps"] > 0
    assert {"name", "share", "failed_tests"} == set(told["limits"][0])


def test_a_name_that_does_not_exist(call: Call) -> None:
    answer = call("diagnose", "room.py", "-e", "room.T")
    assert answer.code != Exit.FINE and "does not exist" in answer.told


def test_a_model_that_does_not_translate(call: Call) -> None:
    assert call("diagnose", "short.py").code == Exit.MODEL
