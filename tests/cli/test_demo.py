"""`acausal demo`: what a newcomer sees first."""

from __future__ import annotations

from pathlib import Path

import pytest

from acausal.cli.demo_plants import PLANTS
from acausal.cli.exits import Exit
from acausal.cli.load import load_component, parse

from .conftest import Call


@pytest.mark.parametrize(("plant", "pictures"), [("cold-store", ["demo.png", "demo-ph.png"]), ("house", ["demo.png"])])
def test_the_demo_simulates_draws_and_leads_on(call: Call, plant: str, pictures: list[str]) -> None:
    answer = call("demo", plant)
    assert answer.code == Exit.FINE, answer.err
    labels = [line.split("  ")[1] for line in answer.out.splitlines() if line.startswith("  ") and not line.startswith("  acausal")]
    assert labels[:6] == ["plant", "made of", "solved as", "translated", "simulated", "found"]
    for picture in pictures:
        assert Path(picture).stat().st_size > 10_000
        assert f"plotted     {picture}" in answer.out


@pytest.mark.parametrize(("plant", "name"), [("cold-store", "ColdStore"), ("house", "HeatedHouse")])
def test_what_it_proposes_can_be_typed(call: Call, plant: str, name: str) -> None:
    import shlex

    commands = [shlex.split(f"acausal {command.removeprefix('acausal ')}") for command, _ in PLANTS[plant]().next()]
    assert len(commands) == 3
    for command in commands:
        assert len(" ".join(command)) < 80
        assert parse(command[2]).name == name
    assert type(load_component(commands[2][2])).__name__ == name
    for command in commands:
        assert call(*command[1:]).code == Exit.FINE


def test_a_plant_that_does_not_exist(call: Call) -> None:
    answer = call("demo", "hose")
    assert answer.code == Exit.USAGE
    assert "There is no demonstration `hose`. Did you mean `house`?" in answer.err
