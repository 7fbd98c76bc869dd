"""Every component of fluids, refrigeration, heat and control has an icon that is a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from library.test_catalogue import CLASSES

import acausal as ac
from acausal.language.icons import is_drawing
from acausal.library import fluid, icons, thermal

COMPONENTS = [c for c in CLASSES if issubclass(c, ac.Component)]


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda c: f"{c.__module__.rpartition('.')[2]}.{c.__name__}")
def test_an_icon_is_a_picture(component: type) -> None:
    picture = ElementTree.fromstring(icons.svg(component))
    assert picture.tag.endswith("svg") and len(picture) >= 1


def test_no_name_is_mistyped() -> None:
    known = {f"{c.__module__.removeprefix('acausal.library.')}.{c.__name__}" for cls in COMPONENTS for c in cls.__mro__}
    assert set(icons.ICONS) <= known


def test_an_icon_is_inherited_or_declared() -> None:
    class Mine(fluid.Valve):
        pass

    class Other(fluid.Valve):
        icon = '<path d="M4 24 H44"/>'

    class Plain(ac.Component):
        pass

    class Wrong(fluid.Valve):
        icon = "valve.png"

    assert icons.drawing(Wrong) == icons.drawing(fluid.Valve)
    with pytest.raises(ac.UsageError, match=r"The icon of Wrong is not a drawing: 'valve.png'(.|\n)*try: .*<path d="):
        icons.svg(Wrong)
    assert icons.drawing(Mine) == icons.drawing(fluid.Valve) != icons.drawing(fluid.Orifice)
    assert icons.drawing(Other) == '<path d="M4 24 H44"/>'
    assert ">P<" in icons.drawing(Plain)


def test_the_catalogue_has_the_icon_of_each_kind_and_files_and_packed_classes_keep_it(tmp_path: Path) -> None:
    class Loop(ac.Component):
        icon = '<circle cx="24" cy="24" r="20"/>'

        def __init__(self) -> None:
            self.store, self.loss, self.end = thermal.HeatCapacitor(), thermal.ThermalConductor(), thermal.FixedTemperature()

        def connections(self) -> Iterator[Any]:
            yield self.store.port, self.loss.a
            yield self.loss.b, self.end.port

    model = ac.compile(Loop())
    found = {kind["class"]: kind["icon"] for kind in model.catalogue()["kinds"]}
    assert found == {c.__name__: icons.drawing(c) for c in (Loop, type(Loop().store), type(Loop().loss), type(Loop().end))}
    assert all("icon" not in name for kind in model.catalogue()["kinds"] for name in kind["structural"])
    model.save(tmp_path / "loop.acm")
    assert {kind["class"]: kind["icon"] for kind in ac.load(tmp_path / "loop.acm").catalogue()["kinds"]} == found


@pytest.mark.parametrize(
    "text",
    [
        '<script>alert(1)</script>', '<path d="M0 0" onclick="alert(1)"/>', '<image href="x"/>', '<path d="M0 0"/><b>', "", "<path",
        '<path d="M0 0"></circle>', "<text>a<script></text>", '<path style="a"b"/>', '<path style="d: none"/>',
        '<rect fill="url(//example.org/a#b)"/>', "<rect mask=\"image-set('//example.org' 1x)\"/>", r'<rect fill="u\72l(//a)"/>',
    ],
)  # fmt: skip
def test_what_a_page_would_run_is_no_drawing(text: str) -> None:
    assert not is_drawing(text)


def test_every_icon_of_the_library_is_a_drawing() -> None:
    assert [name for name, drawn in icons.ICONS.items() if not is_drawing(drawn)] == []
