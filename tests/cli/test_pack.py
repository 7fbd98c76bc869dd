"""`acausal pack` and `acausal unpack`, as they are typed."""

from __future__ import annotations

import json

import pytest

import acausal as ac
from acausal.cli.exits import Exit

from .conftest import Call


def test_classes_are_packed_and_listed(call: Call) -> None:
    answer = call("pack", "parts.py:Mass", "parts.py:Link", "-o", "vendor.acp")
    assert answer.code == Exit.FINE
    assert answer.out == "vendor.acp has Mass, Link.\n"
    told = call("unpack", "--list", "vendor.acp").out
    assert "  connector   port (Port)" in told and "  parameter   C = 100 J/K" in told
    listing = json.loads(call("unpack", "vendor.acp", "--json").out)
    assert [entry["name"] for entry in listing] == ["Mass", "Link"]


def test_variants_are_packed(call: Call) -> None:
    assert call("pack", "parts.py:Row", "--variants", "Row.n=[3, 5]", "-o", "rows.acp", "-q").code == Exit.FINE
    pack = ac.load("rows.acp")
    assert ac.compile(pack.Row(n=5)).simulate(until=1.0)["mass.T"].shape[1] == 5  # type: ignore[union-attr]
    assert "variant     n=3" in call("unpack", "rows.acp").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pack", "parts.py:Nothing", "-o", "x.acp"), "Nothing"),
        (("pack", "parts.py:Row", "-o", "x.acp"), "Row cannot be made of nothing"),
        (("pack", "parts.py:Row", "-v", "Row.n=3", "-o", "x.acp"), "is not a class, a choice and a list"),
        (("pack", "parts.py:Mass", "-v", "Row.n=[3]", "-o", "x.acp"), "names a class that is not packed"),
        (("unpack", "parts.py"), "parts.py"),
        (("unpack", "nowhere.acp"), "nowhere.acp"),
    ],
)
def test_what_cannot_be_is_said(call: Call, arguments: tuple[str, ...], said: str) -> None:
    answer = call(*arguments)
    assert answer.code in (Exit.USAGE, Exit.MODEL)
    assert said in answer.err
