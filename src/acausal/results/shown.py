"""Results and events as a notebook shows them."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from .. import html
from .events import HEADINGS, Events, event_cells

MOST = 40


def result_html(result: Any) -> str:
    """How the run went, and its variables from beginning to end."""
    time = result.time
    facts = [("outcome", result.outcome.value if result.outcome is not None else ""), ("points", len(time))]
    if len(time):
        facts.insert(0, ("time", f"{time[0]:g} … {time[-1]:g} {result.unit('time') or 's'}"))
    if len(result.events):
        facts.append(("events", len(result.events)))
    names = getattr(result, "stored_names", None) or list(islice(result.names(), 10_000))
    rows = [_row(result, name) for name in names[:MOST]] if len(time) else []
    headings = ["variable", "unit", "first", "last", "smallest", "largest"]
    counted = f"{len(names)} variable{'' if len(names) == 1 else 's'}"
    values = html.fold(counted, html.table(headings, rows, more=len(names) - len(rows)), opened=len(names) <= 12)
    told = "".join(html.paragraph(str(d.what)) for d in getattr(result, "diagnostics", ()))
    return html.page(f"Result of {result.title}", html.table(["", ""], facts), told, values)


def _row(result: Any, name: str) -> tuple[str, ...]:
    values = np.asarray(result[name], dtype=float)
    text = result.meaning(name).text
    finite = values[np.isfinite(values)]
    ends = (text(float(values[0])), text(float(values[-1])))
    reach = (text(float(finite.min())), text(float(finite.max()))) if finite.size else ("", "")
    return (name, result.unit(name), *ends, *reach)


def events_html(events: Events) -> str:
    """One row an event, the first ones."""
    rows = [event_cells(f"{time:.8g} {events.unit}", events[k]) for k, time in enumerate(events.times[:MOST].tolist())]
    return html.page(f"{len(events)} events", html.table(HEADINGS, rows, more=len(events) - MOST))
