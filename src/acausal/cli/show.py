"""What the user sees when something is wrong: one layout for every diagnostic, coloured on a terminal, plain when piped.

A place is printed as `file:line` on a line that is never broken, relative to the working folder where that is shorter: terminals
and editors make such text clickable.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Diagnostic, Location

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_UNBROKEN = 100_000  # the width of a pipe: a program that reads lines must not find them broken
_WIDEST = 110  # longer lines of prose are hard to read
_LABEL = 11
_INDENT = 4
_LABELLED = re.compile(r"^(\w[\w ]{0,9}):\s{2,}(?=\S)")  # details that are aligned as `in:        room.heater`


def screen(*, errors: bool = False) -> Console:
    """Standard output (or error) as rich sees it; lines of a pipe are never broken."""
    from rich.console import Console

    console = Console(stderr=errors, highlight=False, emoji=False)
    return console if console.is_terminal else Console(stderr=errors, highlight=False, emoji=False, width=_UNBROKEN)


def show_diagnostics(diagnostics: Sequence[Diagnostic], console: Console | None = None) -> None:
    console = console or screen(errors=True)
    for number, diagnostic in enumerate(diagnostics):
        if number:
            console.print()
        for line in diagnostic_lines(diagnostic, console.width):
            console.print(line, soft_wrap=True)


def diagnostic_lines(diagnostic: Diagnostic, width: int) -> Iterator[Text]:
    """A diagnostic as lines no wider than `width`, except for places and tables, which are never broken."""
    width = width if width == _UNBROKEN else min(width, _WIDEST)
    yield from _marked(diagnostic.what, width)
    if diagnostic.component:
        yield from _labelled("component", diagnostic.component, width)
    if diagnostic.equation:
        yield from _labelled("equation", diagnostic.equation, width, "cyan")
    if diagnostic.location:
        yield from _labelled("at", place(diagnostic.location), _UNBROKEN, "blue")
    for detail in diagnostic.details:
        yield from _detail(shortened(detail), width)
    if diagnostic.remedy:
        yield from _labelled("try", shortened(diagnostic.remedy), width, "green")


def as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic for programs; places keep their whole path."""
    where = diagnostic.location
    return {
        "what": diagnostic.what,
        "component": diagnostic.component,
        "equation": diagnostic.equation,
        "file": where.file if where else "",
        "line": where.line if where else 0,
        "details": list(diagnostic.details),
        "remedy": diagnostic.remedy,
    }


def place(location: Location) -> str:
    return shortened(str(location))


def shortened(text: str) -> str:
    """Paths below the working folder without it."""
    here = os.getcwd().rstrip(os.sep) + os.sep
    return text.replace(here, "") if len(here) > 1 else text


# ---------------------------------------------------------------- lines


def _marked(what: str, width: int) -> Iterator[Text]:
    from rich.text import Text

    for number, line in enumerate(_wrapped(shortened(what), width - 2)):
        yield Text.assemble(("✗ " if number == 0 else "  ", "bold red"), (line, "bold"))


def _labelled(label: str, text: str, width: int, style: str = "") -> Iterator[Text]:
    from rich.text import Text

    for number, line in enumerate(_wrapped(text, width - _INDENT - _LABEL)):
        head = (label if number == 0 else "").ljust(_LABEL)
        yield Text.assemble(" " * _INDENT, (head, "dim"), (line, style))


def _detail(detail: str, width: int) -> Iterator[Text]:
    """A detail may say `label: text`, be a row of a table (indented: kept as it is), or a sentence."""
    from rich.text import Text

    found = _LABELLED.match(detail)
    if found:
        yield from _labelled(found[1], detail[found.end() :], width)
    elif detail.startswith(" "):
        yield Text(" " * _INDENT + detail)
    else:
        yield from (Text(" " * _INDENT + line) for line in _wrapped(detail, width - _INDENT))


def _wrapped(text: str, width: int) -> list[str]:
    lines = text.splitlines() or [""]
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, max(width, 30), break_long_words=False, break_on_hyphens=False) or [""]
    ]
