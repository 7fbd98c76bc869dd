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
            return cls.__name__, _line(cls, _stated(first))
    for cls in type(component).__mro__:  # declared in `__init__`
        found = _line(cls, _stated(f"self.{first}"))
        if found is not None:
            return cls.__name__, found
    return type(component).__name__, None


def member_place(connector: Connector, member: str) -> tuple[str, Location | None]:
    """The connector class that declares a potential or flow, and the line."""
    for cls in type(connector).__mro__:
        if member in vars(cls):
            return cls.__name__, _line(cls, _stated(member))
    return type(connector).__name__, None


def _stated(name: str) -> str:
    """A line that assigns to a name, perhaps among others: `x, y = …`, `x = …; y = …`, `x: Any = …`."""
    return rf"(?:^|;)\s*(?:[\w.]+\s*,\s*)*{re.escape(name)}\s*(?:,[\w.,\s]*|:[^=]*)?=(?!=)"


def _line(cls: type, pattern: str) -> Location | None:
    try:
        lines, first = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls) or ""
    except (OSError, TypeError):  # typed into an interpreter, or built in
        return None
    wanted = re.compile(pattern)
    for number, text in enumerate(lines):
        if wanted.search(text):
            return Location(file, first + number)
    return None
