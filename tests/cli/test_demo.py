"""`acausal demo`: what a newcomer sees first."""

from __future__ import annotations

from pathlib import Path

from acausal.cli.exits import Exit
from acausal.cli.load import load_component, parse

from .conftest import Call


def test_the_demo_simulates_draws_and_leads_on(call: Call) -> None:
    answer = call("demo")
    assert answer.code == Exit.FINE, answer.err
    labels = [line.split("  ")[1] for line in answer.out.splitlines() if line.startswith("  ") and not line.startswith("  acausal")]
    assert labels[:6] == ["plant", "made of", "solved as", "translated", "simulated", "found"]
    assert Path("demo.png").stat().st_size > 10_000
    assert "plotted     demo.png" in answer.out


def test_what_it_proposes_can_be_typed(call: Call) -> None:
    import shlex

    commands = [
        shlex.split(line) for line in call("demo", "--plot-file", "d.svg").out.splitlines() if line.startswith("  acausal ")
    ]
    assert len(commands) == 3
    for command in commands:
        assert len(" ".join(command)) < 80
        assert parse(command[2]).name == "HeatedHouse"
    assert type(load_component(commands[2][2])).__name__ == "HeatedHouse"
    for command in commands:
        assert call(*command[1:]).code == Exit.FINE
