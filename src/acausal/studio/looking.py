"""What a page asks of a result or a model: columns, values for a diagram, events, states, explanations, the report of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import AcausalError
from .protocol import Band, Column, EventList, EventRow, Explanation, Fact, InitialRow, Part, StateLine

_EVENTS = 2000  # rows of a list; nobody reads more
_BANDS = 5000
_STARTS = 3000


def columns(result: Any, names: Sequence[str]) -> list[tuple[Column, np.ndarray]]:
    """The columns of those names that this run has; an older run may lack some."""
    found = []
    for name, values in zip(names, _many(result, names), strict=True):
        if values is None or values.ndim != 1:
            continue
        found.append((_about(result, name), np.asarray(values, dtype=np.float64)))
    return found


def _many(result: Any, names: Sequence[str]) -> Sequence[np.ndarray | None]:
    """All at once, which is much faster; one after the other where a name is unknown."""
    try:
        if hasattr(result, "many") and names:
            return list(result.many(list(names)))
    except (AcausalError, KeyError):
        pass
    return [_one(result, name) for name in names]


def _one(result: Any, name: str) -> np.ndarray | None:
    try:
        return np.asarray(result[name])
    except (AcausalError, KeyError):
        return None


def _about(result: Any, name: str) -> Column:
    meaning = result.meaning(name)
    return Column(name, result.unit(name), result.description(name), list(meaning.values))


def frames(result: Any, names: Sequence[str], count: int) -> tuple[list[Column], np.ndarray, np.ndarray]:
    """Values of many names at no more than `count` of the run's own points, name by name: what a diagram plays."""
    total = len(result.time)
    rows = np.unique(np.linspace(0, total - 1, min(count, total)).round().astype(int)) if total else np.zeros(0, dtype=int)
    found = columns(result, names)
    table = np.empty((len(found), len(rows)), dtype="<f8")
    for k, (_, values) in enumerate(found):
        table[k] = values[rows]
    return [c for c, _ in found], np.asarray(result.time)[rows], np.ascontiguousarray(table)


def events(result: Any, run: str) -> EventList:
    """What happened, and which component was in which state from when to when."""
    found = result.events
    rows = [_event(found[k]) for k in range(min(len(found), _EVENTS))]
    return EventList(run, len(found), rows, list(_states(result)))


def _event(event: Any) -> EventRow:
    cause = event.causes[0] if event.causes else None
    others = len(event.causes) - 1
    text = "" if cause is None else cause.text + (f"  (and {others} more)" if others > 0 else "")
    component, place = ("", "") if cause is None else (cause.component, cause.place)
    return EventRow(event.time, component, text, str(place or ""), [str(c) for c in event.changes[:12]])


def _states(result: Any) -> Iterator[StateLine]:
    history = result.history
    if history is None:
        return
    for cell in history.named_cells()[:100]:
        name = history.known_as.name(cell)
        try:
            intervals = result.states(name)
        except (AcausalError, KeyError):
            continue
        bands = [Band(i.state, i.start, i.end, str(i.cause) if i.cause else "") for i in intervals[:_BANDS]]
        if len({b.state for b in bands}) <= 12:
            yield StateLine(name, list(dict.fromkeys(b.state for b in bands)), bands)


def initial_values(result: Any, parts: Sequence[Part], changed: Mapping[str, Any]) -> list[InitialRow]:
    """Start values that were declared or set against those with which the run began, the largest differences first."""
    asked = [
        q
        for part in parts
        for q in part.quantities
        if isinstance(q.start, (int, float)) and q.role not in ("parameter", "constant")
    ]
    names = [q.path for q in asked if "*" not in q.path][:_STARTS]
    rows = []
    for q, values in zip([q for q in asked if "*" not in q.path], _many(result, names), strict=False):
        if values is None or values.ndim != 1 or not len(values) or not math.isfinite(values[0]):
            continue
        target = changed.get(q.path, q.start)
        if isinstance(target, str):
            target = _converted(target, q.unit)
        if isinstance(target, (int, float)):
            rows.append(InitialRow(q.path, q.unit, float(target), q.fixed or q.path in changed, float(values[0]), q.difference))
    return sorted(rows, key=lambda row: -abs(row.found - row.target) / (abs(row.target) + abs(row.found) + 1e-300))


def _converted(text: str, unit: str) -> float | None:
    from ..language.units import quantity

    try:
        return float(quantity(text, unit))
    except (AcausalError, TypeError, ValueError):
        return None


def explanation(model: Any, path: str) -> Explanation:
    """`model.explain` with the names in it apart, so that each can be clicked."""
    found = model.explain(path)
    facts: list[Fact] = []
    for label, text in (line for section in found.sections() for line in section.lines):
        named = {"depends on": found.depends_on, "parameters": found.parameters, "influences": found.influences}
        paths = list(named.get(label, ()))[:40]
        if label:
            facts.append(Fact(label, "" if paths else text.strip(), paths))
        elif facts:
            facts.append(Fact("", text.strip(), []))
    return Explanation(path, found.title, facts)


def report(result: Any) -> str:
    """Steps, failures, what limited them: `result.diagnose()` where the run kept a journal."""
    try:
        return str(result.diagnose())
    except (AttributeError, AcausalError) as error:
        return f"This run has no journal of its steps: {error}"
