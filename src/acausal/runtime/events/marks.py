"""What a hybrid run is given from outside, and what it gives: numbers that change in the middle of it, and where it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...errors import Diagnostic
from ...families.moments import is_kept
from ...records import dataclass
from ..inputs import Signal
from ..problem import Floats, Mask
from .chatter import Rhythm

if TYPE_CHECKING:
    from .handler import Handler


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Parameters and inputs that change in the middle of a run."""

    cells: np.ndarray  # known cells of parameters …
    values: Floats
    inputs: Mapping[int, Signal]  # … all inputs from now on …
    changed: np.ndarray  # … all cells that change, inputs' too …
    schedule: bool  # … and whether times of clocks and corners may change


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """Where a run was: arrays and numbers only."""

    t: float
    y: Floats
    yp: Floats
    steps: tuple[float, float]  # the last one, and the pace of restarts
    w: Floats
    relations: tuple[np.ndarray, ...]
    timed: tuple[Floats, Floats]
    rhythm: Rhythm
    counts: dict[str, int]
    told: tuple[list[Diagnostic], set[int]]
    record: tuple[str, int, int]  # whose, rows, events
    tied: Mask | None  # unknowns that keep states tied (see `tying`), where some do


def drifted(handler: Handler, t: float, y: Floats, yp: Floats, assigned: Floats) -> bool:
    """Whether what was assigned after a step changed by little, as a mean or a maximum does, and nobody acts because of it: no
    jump to begin anew for. The new values are in place then."""
    w, stepped = handler.w, handler.stepped
    before = w[stepped]
    if not (np.abs(assigned - before) <= 0.05 * np.maximum(np.abs(before), 1.0)).all():
        return False
    handler.load(t, y, yp)
    here, sides, rules = _acts(handler), handler.relations.side(w), handler.rules
    w[stepped] = assigned
    handler.assign()
    crossed = sides * rules.values("relation", w) < 0
    crossed[handler.relations.resting] = False
    if crossed.any() or not np.array_equal(here, _acts(handler), equal_nan=True):
        w[stepped] = before
        return False
    w[handler.partners] = w[handler.cells]
    handler.timed.look(w)
    return True


def _acts(handler: Handler) -> Floats:
    """What is done only where something happens, as far as values before and after differ at present."""
    part, rules, w = handler.hybrid.parts["update"], handler.rules, handler.w
    waits = np.zeros(part.count, dtype=bool)
    for block in part.blocks:
        own = block.rule.target is not None and block.rule.target.declaration.auxiliary
        waits[block.start : block.start + block.count] = own or is_kept(block.rule)
    found = [rules.values("update", w)[waits], *(rules.values(role, w) for role in ("reinit", "stop", "assertion"))]
    return np.concatenate(found)
