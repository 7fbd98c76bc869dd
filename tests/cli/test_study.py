"""`acausal study`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("study", "cases.csv", "-m", "room.py", "-o", "T"), "How long shall the runs be?"),
        (("study", "cases.csv", "-o", "T", "-u", "1"), "lacks a model"),
        (("study", "cases.csv", "-m", "room.py", "-u", "1"), "lacks a column"),
        (("study", "nowhere.toml"), "There is no file `nowhere.toml`"),
        (("study", "cases.csv", "-m", "room.py", "-u", "1", "-o", "T", "--executor", "moon"), "`executor` cannot be 'moon'"),
    ],
)
def test_what_is_missing_is_said(call: Call, arguments: tuple[str, ...], said: str) -> None:
    Path("cases.csv").write_text("G\n50\n", encoding="utf-8")
    answer = call(*arguments)
    assert answer.code == Exit.USAGE
    assert said in answer.err


def test_a_failed_case_is_told_and_the_exit_code_says_so(call: Call) -> None:
    Path("cases.csv").write_text("G\n50\n-1\n", encoding="utf-8")
    answer = call("study", "cases.csv", "-m", "room.py", "-u", "10", "-o", "T")
    assert answer.code == Exit.STOPPED
    assert "case 2: `G` = -1 W/K is out of its range" in answer.out
