"""Lists, equations and reports as people read them in a terminal."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import html
from .errors import Diagnostic

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

WIDTH = 110
_LABEL = 14


def listed(names: Sequence[str], most: int = 6, total: int | None = None) -> str:
    """
    >>> listed(["a", "b", "c"], 2)
    'a, b, … 1 more'
    """
    total = len(names) if total is None else total
    shown = list(names[:most])
    return ", ".join(shown) + (f", … {total - len(shown)} more" if total > len(shown) else "")


def equation_line(found: Any) -> str:
    """Component, equation and place in one line."""
    component, equation, place = (getattr(found, name, None) for name in ("component", "equation", "location"))
    text = f"{component}: {equation}" if component else str(equation or "an equation")
    return f"{text}  ({place})" if place else text


def count(number: int, one: str, many: str = "") -> str:
    """
    >>> count(1, "step"), count(12345, "step"), count(2, "class", "classes")
    ('1 step', '12 345 steps', '2 classes')
    """
    return f"{number:,}".replace(",", " ") + " " + (one if number == 1 else many or f"{one}s")


@dataclass(slots=True)
class Section:
    """A heading with `label  text` lines below it; a line without a label stands as it is."""

    heading: str
    lines: list[tuple[str, str]] = field(default_factory=list)


class Readable(ABC):
    """Something that prints well: plainly with `print`, coloured where rich prints it. A subclass gives `title` and `sections`."""

    title: str

    @abstractmethod
    def sections(self) -> Iterator[Section]:
        """What is told, part by part."""

    def __str__(self) -> str:
        return "\n".join(text for text, _ in self._lines(WIDTH))

    def _lines(self, width: int) -> Iterator[tuple[str, str]]:
        """Each line with its style."""
        yield self.title, "bold"
        for section in self.sections():
            if section.heading:
                yield "", ""
                yield section.heading, "bold"
            for label, text in section.lines:
                yield from _line(label, text, width)

    def _repr_html_(self) -> str:
        parts = [html.fold(s.heading, _rows(s), opened=True) if s.heading else _rows(s) for s in self.sections()]
        return html.page(self.title, *parts)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        from rich.text import Text

        for text, style in self._lines(min(options.max_width, WIDTH)):
            yield Text(text, style, no_wrap=True, overflow="ignore")


def _rows(section: Section) -> str:
    return html.table(["", ""], [(label.strip(), text.strip()) for label, text in section.lines])


def _line(label: str, text: str, width: int) -> Iterator[tuple[str, str]]:
    """Prose goes on below itself; a line without a label (a table, a place) is never broken."""
    if not label:
        yield text, ""
        return
    numbered = label[0] == "[" or label[-1] == "."
    head = f"  {label:<4}" if numbered else f"  {label:<{_LABEL}}" if len(label) < _LABEL else f"  {label}  "
    parts = textwrap.wrap(text, max(width - len(head), 30), break_long_words=False, break_on_hyphens=False) or [""]
    for k, part in enumerate(parts):
        yield (head if k == 0 else " " * len(head)) + part, ""


def warning_lines(number: int, found: Diagnostic) -> list[tuple[str, str]]:
    """A diagnostic as lines of a section."""
    lines = [(f"[{number}]", found.what)]
    for label, text in (("component", found.component), ("equation", found.equation)):
        lines += [(f"    {label}", text)] if text else []
    lines += [("", f"      {'at':<10}{found.location}")] if found.location else []
    lines += [("", f"      {detail}") for detail in found.details]
    return lines + ([("    try", found.remedy)] if found.remedy else [])
