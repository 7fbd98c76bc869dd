"""`acausal study`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from acausal.cli.exits import Exit

from .conftest import Call

PLAN = """
model = "room.py"
steady = true
outputs = ["T", "Q"]
[grid]
G = [25, 50, 100]
T_set = ["20 degC", "21 degC"]
"""


def test_a_plan_makes_a_table(call: Call) -> None:
    Path("study.toml").write_text(PLAN, encoding="utf-8")
    answer = call("study", "study.toml", "--table", "table.csv")
    assert answer.code == Exit.FINE
    heading, _, *rows = answer.out.splitlines()
    assert heading.split("  ")[-1].strip() == "outcome"
    assert len([row for row in rows if row.endswith("finished")]) == 6
    assert Path("table.csv").read_text(encoding="utf-8").startswith("case,G [W/K],T_set [K],T [K],Q [W],outcome")


def test_cases_from_a_file_as_json(call: Call) -> None:
    Path("cases.csv").write_text("case,G [kW/K],T_out [degC]\nmild,0.05,10\ncold,0.05,-10\n", encoding="utf-8")
    answer = call("study", "cases.csv", "-m", "room.py", "--until", "1day", "-o", "T", "-o", "max Q", "--json")
    found = json.loads(answer.out)
    assert found["ok"] and [row["case"] for row in found["cases"]] == ["mild", "cold"]
    for row, outside in zip(found["cases"], (283.15, 263.15), strict=True):
        assert row["T"] == pytest.approx((200 * 294.15 + 50 * outside) / 250, abs=1e-3)


WALL = """
import acausal as ac

class Wall(ac.Component):
    def __init__(self, n=4, start=20.0):
        if n < 2:
            raise ValueError("a wall has two layers at least")
        self.G, self.T = ac.Parameter(2.0), ac.Variable(shape=n, start=start, fixed=True)

    def equations(self):
        yield ac.der(self.T) == self.G * (30.0 - self.T)
"""


def test_arguments_of_the_class_are_cases_too(call: Call) -> None:
    Path("wall.py").write_text(WALL, encoding="utf-8")
    Path("cases.csv").write_text("n,G\n3,2\n1,2\n4,3\n", encoding="utf-8")
    answer = call("study", "cases.csv", "-m", "wall.py:Wall(start=10.0)", "-u", "1", "-o", "T[0]", "--json")
    assert answer.code == Exit.STOPPED
    rows = json.loads(answer.out)["cases"]
    assert rows[0]["T[0]"] == pytest.approx(30 - 20 * np.exp(-2.0), abs=1e-2)
    assert rows[1]["T[0]"] is None and "cannot be made with n = 1: ValueError: a wall has two layers" in rows[1]["message"]
    assert rows[2]["T[0]"] == pytest.approx(30 - 20 * np.exp(-3.0), abs=1e-2) and rows[2]["n"] == 4
    assert "not run" in call("study", "cases.csv", "-m", "wall.py", "-u", "1", "-o", "T[0]").out
    Path("cases.csv").write_text("n,G\n3,2\n2,3\n", encoding="utf-8")
    given = json.loads(call("study", "cases.csv", "-m", "wall.py:Wall(4, 10.0)", "-u", "1", "-o", "T[1]", "--json").out)
    assert given["ok"] and [row["n"] for row in given["cases"]] == [3, 2]
    assert given["cases"][0]["T[1]"] == pytest.approx(30 - 20 * np.exp(-2.0), abs=1e-2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("study", "cases.csv", "-m", "room.py", "-u", "1", "-o", "maxx T"), "`maxx` is nothing that is taken of a quantity"),
        (("study", "cases.csv", "-m", "room.py", "-u", "1", "-o", "time of T > 3 kg"), "`kg` cannot be converted to `K`"),
        (("study", "cases.csv", "-m", "room.py", "-u", "1", "-o", "T", "-t", "nowhere/x.csv"), "there is no folder"),
        (("study", "cases.csv", "-m", "room.py", "-u", "1", "-o", "T", "-t", "x.pdf"), "not to `x.pdf`"),
        (("study", "words.csv", "-m", "room.py", "-u", "1", "-o", "T"), "Case 2: `G` cannot be 'thick'"),
        (("study", "cases.csv", "-m", "room.py", "-o", "T"), "How long shall the runs be?"),
        (("study", "cases.csv", "-o", "T", "-u", "1"), "lacks a model"),
        (("study", "cases.csv", "-m", "room.py", "-u", "1"), "lacks a column"),
        (("study", "nowhere.toml"), "There is no file `nowhere.toml`"),
        (("study", "cases.csv", "-m", "room.py", "-u", "1", "-o", "T", "--executor", "moon"), "`executor` cannot be 'moon'"),
    ],
)
def test_what_is_missing_is_said(call: Call, arguments: tuple[str, ...], said: str) -> None:
    Path("cases.csv").write_text("G\n50\n", encoding="utf-8")
    Path("words.csv").write_text("G\n50\nthick\n", encoding="utf-8")
    answer = call(*arguments)
    assert answer.code == Exit.USAGE
    assert said in " ".join(answer.err.split())


def test_a_failed_case_is_told_and_the_exit_code_says_so(call: Call) -> None:
    Path("cases.csv").write_text("G\n50\n-1\n", encoding="utf-8")
    answer = call("study", "cases.csv", "-m", "room.py", "-u", "10", "-o", "T")
    assert answer.code == Exit.STOPPED
    assert "case 2: `G` = -1 W/K is out of its range" in answer.out


@pytest.mark.parametrize(("keep", "said"), [("--keep=kept", "1 cases are kept in `kept`"), ("--json", "nothing is left")])
def test_an_interrupted_study_says_what_is_kept(call: Call, monkeypatch: pytest.MonkeyPatch, keep: str, said: str) -> None:
    from acausal.studies import case_run

    Path("cases.csv").write_text("G\n25\n50\n", encoding="utf-8")
    command = ("study", "cases.csv", "-m", "room.py", "--steady", "-o", "T", "--executor", "serial", keep)
    ran = case_run.run_case

    def stopped(job: object, number: int, *rest: object) -> object:
        if number:
            raise KeyboardInterrupt
        return ran(job, number, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(case_run, "run_case", stopped)
    answer = call(*command)
    assert answer.code == Exit.INTERRUPTED and said in answer.err + answer.out
    monkeypatch.setattr(case_run, "run_case", ran)
    assert call(*command).code == Exit.FINE
