"""Icons: a small drawing for a class of components, on a square of 48 by 48, in the colour of the text around it.

A class declares its own, ``icon = '<path d="M4 24 H44"/>'``, or has that of the nearest class above it; a library may keep those of
its classes in one table (`register`). What has none is a box with its initials. The catalogue of a model has the drawing of each
kind, so that whoever draws a plant needs no class at hand.

Drawings come to pages that people open, also from files of others: only shapes and text with plain attributes are drawings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="{0}" height="{0}" fill="none" stroke="currentColor" '
_HEAD += 'stroke-width="2" stroke-linejoin="round" stroke-linecap="round">'
BOX = '<rect x="8" y="8" width="32" height="32"/>'

_SHAPES = "path|circle|ellipse|rect|line|polyline|polygon|text"
_FUNCTIONS = "".join(rf"|(?<={name})\(" for name in ("rotate", "translate", "scale", "matrix", "skewX", "skewY", "rgb", "hsl"))
_VALUE = rf"(?:[^\"<>&\\(]{_FUNCTIONS})*"  # no other function: a page would load what `url(…)` names
_ATTRIBUTE = rf"\s+(?!on|style|class|id=|href|src)[a-z][a-z0-9-]*=\"{_VALUE}\""
_DRAWING = re.compile(rf"\s*(?:<({_SHAPES})(?:{_ATTRIBUTE})*\s*(?:/>|>[^<>]*</\1>)\s*)+")

_registered: dict[str, str] = {}  # drawings by the full names of classes


def register(package: str, drawings: Mapping[str, str]) -> None:
    """Keeps the drawings of a package's classes; each name is that of a class with its module within the package."""
    _registered.update({f"{package}.{name}": drawing for name, drawing in drawings.items()})


def text(letters: str, y: int = 29, size: int = 14) -> str:
    """Letters in the middle of a drawing."""
    style = 'fill="currentColor" stroke="none" text-anchor="middle" font-family="sans-serif"'
    return f'<text x="24" y="{y}" font-size="{size}" {style}>{escape(letters)}</text>'


def boxed(letters: str) -> str:
    """A box with letters, as large as they fit: an icon may be as small as one line of text."""
    size = {1: 24, 2: 19, 3: 15}.get(len(letters), 10)
    return BOX + text(letters, round(24 + 0.36 * size), size)


def initials(name: str) -> str:
    """The drawing of a class that has none: a box with the capitals of its name."""
    return boxed("".join(re.findall(r"[A-Z]", name))[:3] or name[:2])


def is_drawing(declared: object) -> bool:
    """Whether something is a drawing: shapes and text, and nothing that a page would run or load.

    >>> is_drawing('<path d="M4 24 H44"/>'), is_drawing('<path onload="alert(1)"/>'), is_drawing("valve.png")
    (True, False, False)
    """
    return isinstance(declared, str) and _DRAWING.fullmatch(declared) is not None


def drawing(of: type) -> str:
    """What is within the picture of a class: declared as `icon`, of the nearest class above that has one, or its initials."""
    for cls in of.__mro__:
        declared = vars(cls).get("icon")
        if isinstance(declared, str) and is_drawing(declared):
            return declared
        found = _registered.get(f"{cls.__module__}.{cls.__name__}")
        if found is not None:
            return found
    return initials(of.__name__)


def picture(drawn: str, size: int = 48) -> str:
    """A drawing as a whole picture, to be put into a page or a file.

    >>> picture('<path d="M4 24 H44"/>').endswith("</svg>")
    True
    """
    return f"{_HEAD.format(size)}{drawn}</svg>"
