"""From what is typed to a component, and what is said when that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from acausal.cli.exits import Exit
from acausal.cli.guard import Stop
from acausal.cli.load import load_component, parse


def refused(text: str) -> Stop:
    with pytest.raises(Stop) as caught:
        load_component(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "source", "name", "args", "kwargs"),
    [
        ("a.py", "a.py", "", (), {}),
        ("dir/a.py:House", "dir/a.py", "House", (), {}),
        ("a.py:House(3, heated=True)", "a.py", "House", (3,), {"heated": True}),
        ('a.py:House(name="a:b", sizes=[1, 2.5])', "a.py", "House", (), {"name": "a:b", "sizes": [1, 2.5]}),
        ("package.module:House", "package.module", "House", (), {}),
        ("C:\\models\\a.py:House", "C:\\models\\a.py", "House", (), {}),
    ],
)
def test_what_is_typed_is_taken_apart(text, source, name, args, kwargs) -> None:
    target = parse(text)
    assert (target.source, target.name, target.args, target.kwargs) == (source, name, args, kwargs)


@pytest.mark.parametrize("text", ["a.py:House(open('x'))", "a.py:House(n=1+n)", "a.py:a.b", "a.py:House(", "a.py:House(**{})"])
def test_only_literals_are_arguments_and_nothing_is_executed(text) -> None:
    with pytest.raises(Stop, match="not a class with plain arguments") as caught:
        parse(text)
    assert caught.value.code is Exit.USAGE


def test_the_only_class_needs_no_name(folder: Path) -> None:
    assert type(load_component("room.py")).__name__ == "Room"


def test_the_only_whole_class_needs_no_name(folder: Path) -> None:
    """Mass and Link have connectors: they are parts."""
    assert len(load_component("parts.py:Row(n=7)").mass) == 7
    assert "Row needs `n`" in refused("parts.py").diagnostics[0].what


def test_several_whole_classes_are_listed(folder: Path) -> None:
    problem = refused("two.py").diagnostics[0]
    assert problem.what == "`two.py` has 2 models; which one is meant?"
    assert [d.split() for d in problem.details] == [["two.py:Decay", "Exponential", "decay."], ["two.py:Explosion"]]


def test_a_plant_that_a_script_imports_is_meant_where_it_defines_none(folder: Path) -> None:
    """Parts that it imports are none: they have connectors."""
    plain = "from acausal.library.thermal import HeatCapacitor\n"
    Path("script.py").write_text(f"import acausal as ac\n{plain}from two import Decay\n\nprint(ac.pi)\n")
    assert type(load_component("script.py")).__name__ == "Decay"
    Path("parts_only.py").write_text(f"from acausal import Component\n{plain}")
    assert "defines no component class" in refused("parts_only.py").diagnostics[0].what
    Path("script.py").write_text("from two import Decay, Explosion\n")
    assert "has 2 models; which one is meant?" in refused("script.py").diagnostics[0].what


def test_a_marked_class_is_meant(folder: Path) -> None:
    Path("marked.py").write_text(Path("two.py").read_text() + '__model__ = "Explosion"\n')
    assert type(load_component("marked.py")).__name__ == "Explosion"


def test_functions_and_components_can_be_named(folder: Path) -> None:
    assert type(load_component("two.py:faster(2.0)")).__name__ == "PlainModel"
    Path("made.py").write_text("from two import faster\nmodel = faster(3.0)\n")
    assert type(load_component("made.py")).__name__ == "PlainModel"
    assert "takes no arguments" in refused("made.py:model(1)").diagnostics[0].what


def test_a_model_in_a_module(folder: Path) -> None:
    assert type(load_component("room:Room")).__name__ == "Room"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rom.py", "There is no file `rom.py`. Did you mean `room.py`?"),
        ("nowhere/room.py", "no folder `nowhere` either"),
        ("two.py:Decoy", "`two.py` has no `Decoy`. Did you mean `Decay`?"),
        ("two.py:number", "is 5 of type int, not a component"),
        ("room.py:Room(C=1, D=2)", "no `D`"),
        ("nothing_of_that_name:House", "There is no module `nothing_of_that_name`."),
        ("room.txt:", "There is no module `room.txt`"),
        ("", "names no model"),
    ],
)
def test_a_wrong_name_is_the_command_lines_fault(folder: Path, text: str, said: str) -> None:
    error = refused(text)
    assert error.code is Exit.USAGE
    assert said in str(error.diagnostics[0])


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("import acausal as ac\nclass A(ac.Component:\n    pass\n", 2, "is not valid Python"),
        ("x = 1\nimport nothing_of_that_name\n", 2, "No module named 'nothing_of_that_name'"),
        ("x = 1\n\ny = x / 0\n", 3, "ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(4)\n", 2, "SystemExit: 4"),
        ("import acausal as ac\nac.Variable(unit=3)\n", 2, "A unit is a string"),
        ("import json\njson.loads('{')\n", 2, "JSONDecodeError"),  # the user's line, not that of the library
    ],
)
def test_a_file_that_does_not_import_is_the_models_fault(folder: Path, source: str, line: int, said: str) -> None:
    Path("wrong.py").write_text(source)
    error = refused("wrong.py")
    problem = error.diagnostics[0]
    assert error.code is Exit.MODEL
    assert said in problem.what
    assert problem.location is not None
    assert (Path(problem.location.file).name, problem.location.line) == ("wrong.py", line)


def test_a_class_that_cannot_be_made_names_the_line(folder: Path) -> None:
    Path("wrong.py").write_text("import acausal as ac\nclass A(ac.Component):\n    def __init__(self):\n        self.x = [][1]\n")
    problem = refused("wrong.py").diagnostics[0]
    assert "IndexError" in problem.what
    assert problem.location is not None and problem.location.line == 4


def test_what_a_model_file_prints_stays_out_of_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("loud.py").write_text("print('hello')\n" + Path("room.py").read_text())
    load_component("loud.py")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "hello\n")


def test_a_file_finds_its_neighbours_and_may_be_called_as_a_module(folder: Path) -> None:
    Path("json.py").write_text("import room\nclass Own(room.Room):\n    pass\n")
    assert type(load_component("json.py")).__name__ == "Own"
