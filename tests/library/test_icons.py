"""Every component of fluids, refrigeration, heat and control has an icon that is a picture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from library.test_catalogue import CLASSES

import acausal as ac
from acausal.library import fluid, icons

DRAWN = ("fluid", "refrigeration", "thermal", "control")
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

    assert icons.drawing(Mine) == icons.drawing(fluid.Valve) != icons.drawing(fluid.Orifice)
    assert icons.drawing(Other) == '<path d="M4 24 H44"/>'
    assert ">P<" in icons.drawing(Plain)
