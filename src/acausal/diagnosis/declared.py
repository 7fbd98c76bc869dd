"""Where a quantity was declared: the class that says so, and the line in its source."""

from __future__ import annotations

import inspect
import re

from ..errors import Location
from ..language.component import Component
from ..language.connector import Connector


def place(component: Component, name: str) -> tuple[str, Location | None]:
    """The class that declares `T` (or the connector of `port.T`) and the line; no line where there is no source at hand."""
    first = name.partition(".")[0]
    for cls in type(component).__mro__:
        if first in vars(cls):
            return cls.__name__, _line(cls, rf"^\s*(?:\w+\s*,\s*)*{re.escape(first)}\s*(?:,|:|=)")
    for cls in type(component).__mro__:  # declared in `__init__`
        found = _line(cls, rf"^\s*self\.{re.escape(first)}\s*(?::[^=]+)?=")
        if found is not None:
            return cls.__name__, found
    return type(component).__name__, None


def member_place(connector: Connector, member: str) -> tuple[str, Location | None]:
    """The connector class that declares a potential or flow, and the line."""
    for cls in type(connector).__mro__:
        if member in vars(cls):
            return cls.__name__, _line(cls, rf"^\s*(?:\w+\s*,\s*)*{re.escape(member)}\s*(?:,|:|=)")
    return type(connector).__name__, None


def _line(cls: type, pattern: str) -> Location | None:
    try:
        lines, first = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls) or ""
    except (OSError, TypeError):  # typed into an interpreter, or built in
        return None
    wanted = re.compile(pattern)
    for number, text in enumerate(lines):
        if wanted.match(text):
            return Location(file, first + number)
    return None
