"""The table of a study as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .table import Study


def printed(study: Study, most: int) -> str:
    """A table for the terminal: headings with units, numbers aligned, failed cases with their reason below."""
    heading, rows = _cells(study, most)
    widths = [max(len(row[k]) for row in (heading, *rows)) for k in range(len(heading))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (heading, *rows)]
    lines.insert(1, "  ".join("─" * width for width in widths))
    if len(study) > most:
        lines.append(f"… and {len(study) - most} more cases")
    for row in study.failed[:3]:
        lines.append(f"case {study.cases.names[row.number]}: {row.message.splitlines()[0] if row.message else row.outcome}")
    if len(study.failed) > 3:
        lines.append(f"… and {len(study.failed) - 3} more that failed: `study.failed`")
    return "\n".join(lines)


def html(study: Study, most: int) -> str:
    """The same for a notebook."""
    heading, rows = _cells(study, most)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    more = f"<p>… and {len(study) - most} more cases</p>" if len(study) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cells(study: Study, most: int) -> tuple[list[str], list[list[str]]]:
    names = [*study.changed, *study.outputs]
    heading = ["case", *(f"{n} [{u}]" if (u := study.unit(n)) else n for n in names), "outcome"]
    columns = [study[name] for name in names]
    rows = [
        [study.cases.names[k], *(_text(column[k]) for column in columns), _outcome(row.outcome)]
        for k, row in enumerate(study.rows[:most])
    ]
    return heading, rows


def _outcome(name: str) -> str:
    """The outcome of a run in a word or two; a case that could not be begun has none, but an error."""
    if name.endswith(("Error", "NotFound")):
        return "not run"
    return {"OUTPUT": "no value"}.get(name, name.lower().replace("_", " "))


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
