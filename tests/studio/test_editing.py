"""Edits keep everything else as it is: untouched lines are identical, the file parses, and the class says what was meant."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.studio.drawing import Drawing
from acausal.studio.editing import Locked, Source

from .edits import EXAMPLES, edit_at_random, ends

HOUSE = '''import acausal as ac
from acausal.library.thermal import HeatCapacitor, ThermalConductor, PrescribedTemperature


class House(ac.Component):
    """Ein Häuschen — ünïcode stays."""

    def __init__(self):
        self.room, self.wall = HeatCapacitor(C=5e6), ThermalConductor(G=200.0)  # the masonry
        self.weather = PrescribedTemperature()  # outside

    def connections(self):
        yield self.room.port, self.wall.a
        yield self.wall.b, self.weather.port  # the weather
'''


def test_a_new_part_gets_its_import_and_its_line() -> None:
    source = Source(HOUSE, "House")
    text = source.apply(source.added("clock", "Sine", "acausal.library.signal"))
    expected = HOUSE.replace("PrescribedTemperature\n\n", "PrescribedTemperature\nfrom acausal.library.signal import Sine\n\n")
    assert text == expected.replace("()  # outside\n", "()  # outside\n        self.clock = Sine()\n")
    window = source.apply(source.added("window", "ThermalConductor", "acausal.library.thermal"))
    room = source.apply(source.added("air", "Room", "acausal.library.thermal"))
    assert "import HeatCapacitor, ThermalConductor, PrescribedTemperature, Room\n" in room
    assert "self.window = ThermalConductor()\n" in window and window.count("import") == HOUSE.count("import")
    assert source.free_name("HeatCapacitor") == "heat_capacitor" and Source(window, "House").free_name("Window") == "window2"


def test_a_part_goes_with_its_connections_and_comments_of_others_stay() -> None:
    source = Source(HOUSE, "House")
    text = source.apply(source.removed("room"))
    assert "self.wall = ThermalConductor(G=200.0)  # the masonry\n" in text and "room" not in text
    assert "yield self.wall.b, self.weather.port  # the weather\n" in text
    bare = Source(text, "House")
    empty = bare.apply(bare.removed("wall"))
    assert "def connections(self):\n        yield from ()\n" in empty
    again = Source(empty, "House")
    assert "yield self.weather.port, self.x.y\n" in again.apply(again.connected("weather.port", "x.y"))


def test_values_are_set_in_place_or_added() -> None:
    source = Source(HOUSE, "House")
    assert "ThermalConductor(G=150.0)" in source.apply(source.given("wall", "G", "150.0"))
    assert "PrescribedTemperature(T=268.15)" in source.apply(source.given("weather", "T", "268.15"))
    assert "HeatCapacitor(C=5e6, T=280.0)" in source.apply(source.given("room", "T", "280.0"))


def test_a_wire_of_a_larger_node_goes_alone() -> None:
    text = HOUSE.replace("yield self.room.port, self.wall.a", "yield self.room.port, self.wall.a, self.weather.port")
    source = Source(text, "House")
    line = text[: text.index("yield self.room")].count("\n") + 1
    assert "yield self.room.port, self.weather.port\n" in source.apply(source.disconnected(line, "room.port", "wall.a"))


@pytest.mark.filterwarnings("ignore:.*nothing is connected")
def test_an_empty_class_gets_its_methods() -> None:
    source = Source("import acausal as ac\n\n\nclass New(ac.Component):\n    pass\n", "New")
    text = source.apply(source.added("room", "HeatCapacitor", "acausal.library.thermal"))
    more = Source(text, "New")
    text = more.apply(more.added("wall", "ThermalConductor", "acausal.library.thermal"))
    last = Source(text, "New")
    text = last.apply(last.connected("room.port", "wall.a"))
    scope: dict[str, type[ac.Component]] = {}
    exec(text, scope)
    assert ends(Source(text, "New")) == [["self.room.port", "self.wall.a"]]
    assert ac.compile(scope["New"]()).catalogue()["tree"]["parts"][1]["name"] == "wall"


@pytest.mark.parametrize(
    ("body", "edit", "what"),
    [
        ("        for k in range(3):\n            yield self.room.port, self.wall.a\n", "disconnect", "loop"),
        ("        yield self.room.port, self.wall.a\n", "remove", "line"),
    ],
)
def test_what_is_not_literal_is_locked_and_the_reason_is_told(body: str, edit: str, what: str) -> None:
    text = HOUSE[: HOUSE.index("        yield")] + body + "\n    def equations(self):\n        yield self.room.T == 3.0\n"
    source = Source(text, "House")
    with pytest.raises(Locked, match=what):
        source.disconnected(
            text.count("\n", 0, text.index("yield")) + 1, "room.port", "wall.a"
        ) if edit == "disconnect" else source.removed("room")


@given(st.integers(0, 2**32), st.sampled_from(EXAMPLES))
@settings(max_examples=60)
def test_random_edits_of_all_examples_leave_other_lines_alone(seed: int, example: Path) -> None:
    edit_at_random(example.read_text(encoding="utf-8"), random.Random(seed))


@pytest.mark.parametrize("odd", ["\x0c\n", 'MARK = "a\u2028b\x85c"\n', 'MARK = "\x1c"\n'])
def test_a_line_ends_where_python_says_it_does(odd: str) -> None:
    text = odd + "class House:\n    def __init__(self):\n        self.room = Room(C=1.0)\n        self.wall = Wall(G=2.0)\n"
    source = Source(text, "House")
    assert source.apply(source.given("room", "C", "9.0")) == text.replace("C=1.0", "C=9.0")
    assert source.apply(source.removed("wall")) == text.replace("        self.wall = Wall(G=2.0)\n", "")


@pytest.mark.parametrize(("mark", "end"), [(b"", b"\n"), (b"", b"\r\n"), (b"\xef\xbb\xbf", b"\r\n"), (b"\xef\xbb\xbf", b"\n")])
def test_a_file_keeps_its_line_ends_and_its_mark(tmp_path: Path, mark: bytes, end: bytes) -> None:
    file = tmp_path / "house.py"
    lines = [b"class House:", b"    def __init__(self):", b"        self.room = Room(C=1.0)", b""]
    before = mark + end.join(lines)
    file.write_bytes(before)
    drawing = Drawing(file)
    drawing.edit("House", [{"do": "set", "part": "room", "parameter": "C", "value": 9.0}])
    assert file.read_bytes() == before.replace(b"1.0", b"9.0")
    drawing.undo()
    assert file.read_bytes() == before
    with pytest.raises(ac.ModelError, match="cannot be written"):
        drawing.edit("House", [{"do": "set", "part": "room", "parameter": "C", "value": float("nan")}])
    assert file.read_bytes() == before


def test_parts_are_copied_with_what_they_were_given_and_the_wires_among_them() -> None:
    source = Source(HOUSE, "House")
    edits, called = source.copied(["room", "wall"])
    assert called == {"room": "room2", "wall": "wall2"}
    now = Source(source.apply(edits), "House")
    assert ast.unparse(now.parts()["room2"].call) == ast.unparse(source.parts()["room"].call)
    assert [e for e in ends(now) if "self.room2.port" in e] == [["self.room2.port", "self.wall2.a"]]
    again, called = now.copied(["room2"])
    assert called == {"room2": "room3"} and "self.room3 = " in now.apply(again)


@pytest.mark.parametrize(
    "call, many",
    [
        ("Cell()", "ac.array(Cell, 4)"),
        ("Cell(C=2.0, n=[1, 2])", "ac.array(Cell, 4, C=2.0, n=[1, 2])"),
        ("library.Cell(3, C=2.0)", "ac.array(library.Cell, 4, 3, C=2.0)"),
        ("Cell(\n            C=2.0,  # why\n        )", "ac.array(Cell, 4, \n            C=2.0,  # why\n        )"),
    ],
)
def test_one_part_becomes_many_and_one_again(call: str, many: str) -> None:
    text = f"import acausal as ac\n\nclass P(ac.Component):\n    def __init__(self):\n        self.c = {call}  # cells\n"
    after = Source(text, "P").apply(Source(text, "P").arrayed("c", 4))
    assert after == text.replace(f"self.c = {call}", f"self.c = {many}")
    more = Source(after, "P")
    assert "4" not in more.apply(more.arrayed("c", 12)).split("self.c")[1].replace("12", "")
    back = more.apply(more.arrayed("c", 0))
    assert ast.dump(ast.parse(back)) == ast.dump(ast.parse(text)) and Source(text, "P").arrayed("c", 0) == []
