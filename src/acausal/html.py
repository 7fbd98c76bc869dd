"""Small pieces of HTML for notebooks: tables and folds that take the notebook's own letters and colours, light or dark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_CELL = "text-align:left;padding:1px 12px 1px 0"


def prose(text: str) -> str:
    """A text as HTML; what stands between backticks is code.

    >>> prose("``a < b``, or `c`")
    '<code>a &lt; b</code>, or <code>c</code>'
    """
    return re.sub(r"(`+)([^`]+)\1", r"<code>\2</code>", escape(text))


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]], more: int = 0) -> str:
    """A table; `more` says how many rows were left out.

    >>> table(["a"], [["<b>"]]).count("&lt;b&gt;")
    1
    """
    head = "".join(f'<th style="{_CELL}">{escape(h)}</th>' for h in headings)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{prose(str(c))}</td>' for c in row) + "</tr>" for row in rows)
    left = f'<tr><td colspan="{len(headings)}" style="{_CELL}">… {more} more</td></tr>' if more > 0 else ""
    return f'<table style="border-collapse:collapse">{"<tr>" + head + "</tr>" if any(headings) else ""}{body}{left}</table>'


def page(title: str, *parts: str) -> str:
    """A heading with what belongs to it."""
    return f'<div class="acausal"><strong>{escape(title)}</strong>{"".join(parts)}</div>'


def fold(summary: str, inside: str, opened: bool = False) -> str:
    """Something that is shown when somebody clicks."""
    return f"<details{' open' if opened else ''}><summary>{escape(summary)}</summary>{inside}</details>"


def paragraph(text: str) -> str:
    return f'<p style="margin:2px 0">{prose(text)}</p>'
